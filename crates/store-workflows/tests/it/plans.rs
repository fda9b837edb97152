//! Plans by which SQLite finds what lists and reads ask for, with 20,000 runs: by an index in their order. Without statistics
//! its plans don't depend on the rows. PostgreSQL's do, and it tells how many rows a page has read.

use std::sync::{Mutex, PoisonError};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::sql_types::{BigInt, Text};
use diesel_async::RunQueryDsl;
use heddle_definitions::DefinitionAccess;
use heddle_kernel::{JobId, PageRequest, RunId, UserId, WorkflowId};
use heddle_policy::{AccessFilter, Person};
use heddle_store::{Db, Options, read};
use heddle_store_workflows::{SqlErrandStore, SqlWorkStore};
use heddle_testkit::db::TestDb;
use heddle_usecase::errand::{ErrandKind, ErrandStore};
use heddle_workflows::ports::{
    DefinitionStore, FeedPosition, JobFilter, JobStore, LetterFilter, Queue, RunFilter, RunSort, RunStore,
    RunWrite, TaskChange, TaskFilter, WorkStore, WorkflowFilter, WorkflowSort,
};
use heddle_workflows::records::{BindingKind, JobState, RunState, TaskState, WorkKind};

use crate::support::*;

static STATEMENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Recorder of the statements of every connection that is opened after it was set.
struct Recorder;

impl Instrumentation for Recorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).push(query.to_string());
        }
    }
}

fn recorder() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(Recorder))
}

fn recorded() -> Vec<String> {
    std::mem::take(&mut *STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner))
}

#[derive(diesel::QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// The steps of a statement's plan.
async fn plan(db: &Db, statement: &str) -> Vec<String> {
    let text = statement.split(" -- binds").next().unwrap();
    let explained = format!("EXPLAIN QUERY PLAN {text}");
    let steps: Vec<Step> = read!(db, |conn| Ok(diesel::sql_query(&explained).load(conn).await?)).unwrap();
    recorded();
    steps.into_iter().map(|step| step.detail).collect()
}

/// Tables that grow with what is run.
const GROWING: [&str; 15] = [
    "runs",
    "run_events",
    "run_timers",
    "run_subscriptions",
    "human_tasks",
    "human_task_candidates",
    "run_people",
    "jobs",
    "job_endings",
    "dead_letters",
    "case_events",
    "outbox",
    "errands",
    "head",
    "earliest",
];

/// Whether a step reads all of a growing table, under its name or the short one of the work list. What a run waits for
/// is in an index that has nothing else.
fn scans(step: &str, steps: &[String]) -> bool {
    let of = |name: &str| step == format!("SCAN {name}") || step.starts_with(&format!("SCAN {name} "));
    let materialized = steps.iter().any(|step| step == "MATERIALIZE t");
    let growing = GROWING.iter().any(|table| of(table))
        || ["c", "m", "o", "p", "r"].iter().any(|table| of(table))
        || (of("t") && !materialized);
    (growing && !step.contains("case_events_awaited")) || step.contains("AUTOMATIC")
}

/// Filters of a workflow's runs.
fn run_filters() -> Vec<(&'static str, RunFilter)> {
    let none = RunFilter::default;
    let before = Some(at(20_000_000));
    vec![
        ("all", none()),
        ("oldest", RunFilter { sort: RunSort::Oldest, ..none() }),
        ("state", RunFilter { state: Some(RunState::Failed), ..none() }),
        ("incident", RunFilter { has_incident: Some(true), ..none() }),
        ("no incident", RunFilter { has_incident: Some(false), ..none() }),
        ("version", RunFilter { version: Some(1), ..none() }),
        ("correlation", RunFilter { correlation_key: Some("key-5".to_owned()), ..none() }),
        ("waiting", RunFilter { waiting_before: before, ..none() }),
        ("node", RunFilter { node_id: Some("approve".to_owned()), ..none() }),
        ("state, incident", RunFilter { state: Some(RunState::Waiting), has_incident: Some(true), ..none() }),
        ("state, version", RunFilter { state: Some(RunState::Waiting), version: Some(1), ..none() }),
        (
            "few in a state, version",
            RunFilter { state: Some(RunState::Cancelled), version: Some(1), ..none() },
        ),
        ("state, few of a version", RunFilter { state: Some(RunState::Waiting), version: Some(2), ..none() }),
        ("incident, version", RunFilter { has_incident: Some(true), version: Some(1), ..none() }),
        ("state, waiting", RunFilter { state: Some(RunState::Waiting), waiting_before: before, ..none() }),
    ]
}

/// Filters of all runs.
fn all_run_filters(of: WorkflowId, user: UserId) -> Vec<(&'static str, RunFilter)> {
    let none = RunFilter::default;
    let key = |text: &str| Some(text.to_owned());
    let [early, late] = [at(17_200_002), at(17_200_005)].map(Some);
    vec![
        ("all", none()),
        ("incidents first", RunFilter { sort: RunSort::Incidents, ..none() }),
        ("workflow", RunFilter { workflow: Some(of), ..none() }),
        ("state", RunFilter { state: Some(RunState::Failed), ..none() }),
        ("incident", RunFilter { has_incident: Some(true), ..none() }),
        ("no incident", RunFilter { has_incident: Some(false), ..none() }),
        ("business key", RunFilter { business_key: key("order-5"), ..none() }),
        ("correlation", RunFilter { correlation_key: key("key-5"), ..none() }),
        ("node", RunFilter { node_id: key("approve"), ..none() }),
        ("starter", RunFilter { started_by: Some(user), ..none() }),
        ("time", RunFilter { from: early, to: late, ..none() }),
        ("waiting", RunFilter { waiting_before: Some(at(20_000_000)), ..none() }),
        ("state, incident", RunFilter { state: Some(RunState::Waiting), has_incident: Some(true), ..none() }),
        ("workflow, state", RunFilter { workflow: Some(of), state: Some(RunState::Waiting), ..none() }),
        ("workflow, business key", RunFilter { workflow: Some(of), business_key: key("order-5"), ..none() }),
        ("workflow, starter", RunFilter { workflow: Some(of), started_by: Some(user), ..none() }),
    ]
}

/// Filters of tasks.
fn task_filters(of: WorkflowId, run: RunId) -> Vec<(&'static str, TaskFilter)> {
    let none = TaskFilter::default;
    let names = || vec!["u".to_owned(), "u@x".to_owned()];
    let mine = || Some((names(), vec!["group-7".to_owned()]));
    let open = Some(TaskState::Open);
    let (soon, later) = (Some(at(20_000_000)), Some(at(2_402_444_800)));
    vec![
        ("all", none()),
        ("state", TaskFilter { state: open, ..none() }),
        ("assignee", TaskFilter { state: open, assignee: Some(names()), ..none() }),
        (
            "assignee, workflow",
            TaskFilter { state: open, assignee: Some(names()), workflow: Some(of), ..none() },
        ),
        ("candidate", TaskFilter { state: open, candidate: mine(), ..none() }),
        ("due", TaskFilter { state: open, due_before: soon, ..none() }),
        ("follow-up", TaskFilter { state: open, follow_up_before: soon, ..none() }),
        ("follow-up of many", TaskFilter { state: open, follow_up_before: later, ..none() }),
        ("follow-up in all states", TaskFilter { follow_up_before: soon, ..none() }),
        (
            "follow-up, candidate",
            TaskFilter { state: open, candidate: mine(), follow_up_before: soon, ..none() },
        ),
        ("workflow", TaskFilter { state: open, workflow: Some(of), ..none() }),
        ("run", TaskFilter { state: open, run: Some(run), ..none() }),
        ("candidate, due", TaskFilter { state: open, candidate: mine(), due_before: soon, ..none() }),
        ("candidate, workflow", TaskFilter { state: open, candidate: mine(), workflow: Some(of), ..none() }),
        ("candidate, run", TaskFilter { state: open, candidate: mine(), run: Some(run), ..none() }),
    ]
}

/// Filters of open jobs.
fn job_filters(of: WorkflowId, run: RunId) -> Vec<(&'static str, JobFilter)> {
    let none = JobFilter::default;
    let text = |text: &str| Some(text.to_owned());
    let in_state = |state| JobFilter { state: Some(state), ..JobFilter::default() };
    vec![
        ("all", none()),
        ("ready", in_state(JobState::Ready)),
        ("locked", in_state(JobState::Locked)),
        ("delayed", in_state(JobState::Delayed)),
        ("failed", in_state(JobState::Failed)),
        ("suspended", in_state(JobState::Suspended)),
        ("type", JobFilter { job_type: text("type-7"), ..none() }),
        ("type, ready", JobFilter { job_type: text("type-7"), state: Some(JobState::Ready), ..none() }),
        ("worker", JobFilter { worker: text("worker-3"), ..none() }),
        ("workflow", JobFilter { workflow: Some(of), ..none() }),
        ("run", JobFilter { run: Some(run), ..none() }),
        ("run, ready", JobFilter { run: Some(run), state: Some(JobState::Ready), ..none() }),
    ]
}

/// Filters of dead letters.
fn letter_filters(of: WorkflowId, run: RunId) -> Vec<(&'static str, LetterFilter)> {
    let none = LetterFilter::default;
    vec![
        ("all", none()),
        ("kind", LetterFilter { kind: Some(WorkKind::Message), ..none() }),
        ("few of a kind", LetterFilter { kind: Some(WorkKind::Webhook), ..none() }),
        ("workflow", LetterFilter { workflow: Some(of), ..none() }),
        ("run", LetterFilter { run: Some(run), ..none() }),
    ]
}

/// Runs and as many tasks of a filled database.
const ROWS: u64 = 20_000;

/// A database with 20,000 runs of a workflow, and that workflow. Few are cancelled, few are of another version, few jobs are
/// ready, and few locks have run out.
async fn filled(db: &Db) -> (heddle_workflows::records::Workflow, UserId) {
    let (workflows, runs) = stores(db);
    let flow = published(&workflows, tenant(), "a").await;
    let first = heddle_workflows::records::Run { snapshot: state(&["approve"]), ..run(&flow) };
    let user = first.created_by.unwrap();
    let write = RunWrite { tasks: vec![TaskChange::Open(Box::new(task(&first)))], ..begin(first) };
    commit(&runs, unit_of(write)).await.unwrap();
    crate::fill::fill(db, ROWS, "u").await.unwrap();
    let few = |number: u64| format!("correlation_key IN ('key-{number}', 'key-{}')", number + 1);
    for text in [
        format!(
            "UPDATE runs SET state = 'cancelled', ended_at = created_at, waiting_since = NULL WHERE {}",
            few(1)
        ),
        format!("UPDATE runs SET version = 2 WHERE {}", few(900)),
        "UPDATE jobs SET state = 'failed' WHERE state = 'ready' AND number % 2000 <> 0".to_owned(),
        "UPDATE jobs SET due_at = created_at WHERE state = 'locked' AND number % 1000 < 10".to_owned(),
    ] {
        execute(db, &text).await;
    }
    if let Some(postgres) = db.postgres() {
        postgres.execute_batch("VACUUM ANALYZE").await.unwrap();
    }
    (flow, user)
}

#[tokio::test]
async fn every_list_is_read_by_an_index_in_its_order() {
    set_default_instrumentation(recorder).unwrap();
    let test_db = TestDb::sqlite().await;
    let db = test_db.db().clone();
    let (workflows, runs) = stores(&db);
    let work = SqlWorkStore::new(db.clone());
    let (flow, user) = filled(&db).await;
    let (t, of) = (flow.tenant, flow.id);
    let everything = AccessFilter::everything();
    recorded();
    let mut told = String::new();
    macro_rules! read_of {
        ($name:expr, $call:expr) => {{
            let _ = $call.await;
            told.push_str(&format!("{}\n", $name));
            for statement in recorded() {
                let steps = plan(&db, &statement).await;
                for step in &steps {
                    assert!(!scans(step, &steps), "{}: {step}\n{statement}", $name);
                    told.push_str(&format!("    {step}\n"));
                }
                let sorted = steps.iter().any(|step| step.contains("TEMP B-TREE FOR") && step.contains("ORDER BY"));
                // The tasks of few runs are sorted, the first ready jobs, which three streams have, and what falls due at one
                // instant. Whatever else is put together of streams is merged: a stream that is sorted is read to its end, and
                // one that is sorted by its last terms has a sort for each row.
                let is_merged = steps.iter().any(|step| step.contains("UNION"));
                let few = steps.iter().any(|step| step.starts_with("MATERIALIZE"))
                    || is_merged && $name.starts_with("jobs")
                    || $name.starts_with("work ");
                assert!(few || !sorted, "{}: sorted\n{statement}", $name);
            }
        }};
    }
    let page = |cursor: Option<heddle_kernel::Cursor>| PageRequest { limit: 50, cursor };
    let behind_run = Some(heddle_kernel::Cursor::after(&(5_i64, id(RunId))));
    let behind_task = Some(heddle_kernel::Cursor::after(&(Some(5_i64), 5_i64, id(RunId))));

    read_of!("workflow", workflows.get(key(t, of), user));
    for sort in [
        WorkflowSort::CreatedDescending,
        WorkflowSort::CreatedAscending,
        WorkflowSort::DisplayName,
        WorkflowSort::DisplayNameDescending,
        WorkflowSort::UpdatedDescending,
        WorkflowSort::UpdatedAscending,
    ] {
        let filter = WorkflowFilter { sort, ..WorkflowFilter::default() };
        read_of!(
            format!("workflows {sort:?}"),
            workflows.list(
                t,
                user,
                &filter,
                DefinitionAccess::Workflows(&AccessFilter::everything()),
                &page(None)
            )
        );
    }
    read_of!("versions", workflows.versions(key(t, of), &page(None)));
    read_of!("run", RunStore::load_any(&runs, t, id(RunId)));
    read_of!("events", runs.events(&run(&flow).key(), 1_000, 64));

    let none = RunFilter::default;
    for (name, filter) in run_filters() {
        for (place, cursor) in [("first", None), ("behind", behind_run.clone())] {
            let access = everything.clone();
            read_of!(
                format!("runs {name}, {place}"),
                runs.list(t, of, &filter, &of_runs(&access), &page(cursor))
            );
        }
    }

    let behind_part = Some(heddle_kernel::Cursor::after(&(false, 5_i64, id(RunId))));
    for (name, filter) in all_run_filters(of, user) {
        let behind = if filter.sort == RunSort::Incidents { &behind_part } else { &behind_run };
        for (place, cursor) in [("first", None), ("behind", behind.clone())] {
            let access = everything.clone();
            read_of!(
                format!("all runs {name}, {place}"),
                runs.list_all(t, &filter, &of_runs(&access), &page(cursor))
            );
        }
    }
    let denied = AccessFilter::everything()
        .but([id(RunId)])
        .but_within::<heddle_policy::resource::Workflow>([id(WorkflowId)]);
    read_of!("all runs but some", runs.list_all(t, &none(), &of_runs(&denied), &page(None)));
    let after = FeedPosition { commit: 7, run: id(RunId), sequence: 3 };
    read_of!("stream over all runs", runs.feed(t, None, &[of_runs(&everything)], after, 1_000));
    let person = Person::new(user, "u@x", &["g".to_owned()]);
    let own = AccessFilter::own_of(person.clone());
    let foreign = AccessFilter::everything().but_own_of(person.clone());
    read_of!("whether a run is own", runs.own_among(t, &person, &[id(RunId)]));
    for (name, filter) in [
        ("all", none()),
        ("oldest", RunFilter { sort: RunSort::Oldest, ..none() }),
        ("incidents first", RunFilter { sort: RunSort::Incidents, ..none() }),
        ("state", RunFilter { state: Some(RunState::Waiting), ..none() }),
        ("workflow", RunFilter { workflow: Some(of), ..none() }),
    ] {
        let behind = if filter.sort == RunSort::Incidents { &behind_part } else { &behind_run };
        for (place, cursor) in [("first", None), ("behind", behind.clone())] {
            read_of!(
                format!("own runs {name}, {place}"),
                runs.list_all(t, &filter, &of_runs(&own), &page(cursor.clone()))
            );
            read_of!(
                format!("runs of others {name}, {place}"),
                runs.list_all(t, &filter, &of_runs(&foreign), &page(cursor))
            );
        }
    }
    read_of!("own runs of a workflow", runs.list(t, of, &none(), &of_runs(&own), &page(behind_run.clone())));
    read_of!("stream over own runs", runs.feed(t, None, &[of_runs(&own)], after, 1_000));

    let none = TaskFilter::default;
    let names = || vec!["u".to_owned(), "u@x".to_owned()];
    let mine = || Some((names(), vec!["g".to_owned()]));
    let theirs = || Some((person.names.clone(), person.groups.clone()));
    let open = Some(TaskState::Open);
    for (name, filter) in task_filters(of, id(RunId)) {
        for (place, cursor) in [("first", None), ("behind", behind_task.clone())] {
            let access = everything.clone();
            read_of!(
                format!("tasks {name}, {place}"),
                runs.tasks(t, &filter, &[of_runs(&access)], &page(cursor))
            );
        }
    }
    for (name, filter) in [
        ("all", none()),
        ("state", TaskFilter { state: open, ..none() }),
        ("completed", TaskFilter { state: Some(TaskState::Completed), ..none() }),
        ("candidate", TaskFilter { state: open, candidate: mine(), ..none() }),
        ("theirs", TaskFilter { candidate: theirs(), ..none() }),
        ("theirs, open", TaskFilter { state: open, candidate: theirs(), ..none() }),
        ("theirs, workflow", TaskFilter { candidate: theirs(), workflow: Some(of), ..none() }),
        ("workflow", TaskFilter { state: open, workflow: Some(of), ..none() }),
        ("run", TaskFilter { state: open, run: Some(id(RunId)), candidate: mine(), ..none() }),
    ] {
        for (place, cursor) in [("first", None), ("behind", behind_task.clone())] {
            read_of!(
                format!("own tasks {name}, {place}"),
                runs.tasks(t, &filter, &[of_runs(&own)], &page(cursor.clone()))
            );
            read_of!(
                format!("tasks of others {name}, {place}"),
                runs.tasks(t, &filter, &[of_runs(&foreign)], &page(cursor))
            );
        }
    }
    let listed = AccessFilter::only([id(RunId), id(RunId)]);
    read_of!(
        "tasks of some runs",
        runs.tasks(t, &TaskFilter { state: open, ..none() }, &[of_runs(&listed)], &page(None))
    );
    let denied = AccessFilter::everything()
        .but([id(RunId)])
        .but_within::<heddle_policy::resource::Workflow>([id(WorkflowId)]);
    read_of!(
        "tasks but some",
        runs.tasks(t, &TaskFilter { state: open, ..none() }, &[of_runs(&denied)], &page(None))
    );

    for (name, filter) in letter_filters(of, id(RunId)) {
        read_of!(
            format!("letters {name}"),
            work.letters(t, &filter, &AccessFilter::everything(), &page(behind_run.clone()))
        );
    }
    read_of!("event", runs.inbox_by_key(t, "k"));
    read_of!("kept by key", runs.buffered(t, "paid", Some("k"), at(1)));
    read_of!("kept without a key", runs.buffered(t, "paid", None, at(1)));
    read_of!("waiting runs", runs.matching(t, BindingKind::Message, "paid", Some("k")));
    for queue in Queue::ALL {
        let turn = heddle_workflows::ports::Turn { limit: 128, share: 64, after: None };
        read_of!(format!("work {queue}"), work.pending(*queue, at(1), turn));
        read_of!(format!("next {queue}"), work.next_due(*queue, at(1)));
    }
    let behind_job = Some(heddle_kernel::Cursor::after(&id(JobId)));
    for (name, filter) in job_filters(of, id(RunId)) {
        for (place, cursor) in [("first", None), ("behind", behind_job.clone())] {
            read_of!(
                format!("jobs {name}, {place}"),
                runs.jobs(t, &filter, &AccessFilter::everything(), at(20_000_000), &page(cursor))
            );
        }
    }
    let errands = SqlErrandStore::new(db.clone());
    read_of!("lanes of errands", errands.look(ErrandKind::Webhook, at(1), Some(of.0), 100));
    insta::assert_snapshot!("plans", told);
}

/// Rows of a page, and most rows that it may read: where a time decides, up to 1,000 are counted first.
const LIMIT: u32 = 10;
const FEW: i64 = 1_500;
/// Lists of which PostgreSQL reads more at this size: a whole table of 20,000 rows is as near to it as an index, or the rows of a
/// state are sorted.
const MORE: [&str; 6] = [
    "runs state",
    "runs node",
    "runs state, few of a version",
    "tasks candidate, workflow",
    "jobs worker",
    "own tasks workflow",
];

/// Rows that were read of all tables since it is counted, and how often a table that grows was read as a whole.
async fn rows_read(db: &Db) -> (i64, i64) {
    #[derive(diesel::QueryableByName)]
    struct Count {
        #[diesel(sql_type = BigInt)]
        rows: i64,
        #[diesel(sql_type = BigInt)]
        scans: i64,
    }
    let names = GROWING.map(|name| format!("'{name}'")).join(", ");
    let counted = format!(
        "SELECT CAST((SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = current_schema()) \
         + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = current_schema()) AS bigint) AS rows, \
         CAST((SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE schemaname = current_schema() \
         AND relname IN ({names}) AND relid IN (SELECT oid FROM pg_class WHERE reltuples > 1000)) AS bigint) AS scans"
    );
    db.postgres().unwrap().execute_batch("SELECT pg_stat_force_next_flush()").await.unwrap();
    let count: Count = read!(db, |conn| Ok(diesel::sql_query(&counted).get_result(conn).await?)).unwrap();
    (count.rows, count.scans)
}

#[tokio::test]
async fn postgres_reads_few_rows_for_a_page_of_any_list() {
    let Some(test_db) = TestDb::postgres().await else { return };
    // One connection, which tells what it has read.
    let db = Db::open(test_db.address(), &Options { connections: 1, ..heddle_testkit::db::options() }).await;
    let db = db.unwrap();
    let (flow, user) = filled(&db).await;
    let (t, of) = (flow.tenant, flow.id);
    let (_, runs) = stores(&db);
    let work = SqlWorkStore::new(db.clone());
    let everything = AccessFilter::everything();
    let person = Person::new(user, "u@x", &["group-7".to_owned()]);
    let theirs = Some((person.names.clone(), person.groups.clone()));
    let own = AccessFilter::own_of(person);
    let one = runs.list_all(t, &RunFilter::default(), &of_runs(&everything), &page(1)).await.unwrap();
    let run = one.items.as_slice().first().unwrap().id;
    let mut slow = Vec::new();
    macro_rules! few_for {
        ($name:expr, $page:ident => $call:expr) => {{
            let mut cursor = None;
            for place in ["first", "second"] {
                let $page = PageRequest { limit: LIMIT, cursor };
                let (rows, scans) = rows_read(&db).await;
                let found = $call.await.unwrap();
                let (rows_then, scans_then) = rows_read(&db).await;
                let is_more = rows_then - rows > FEW || scans_then > scans;
                if is_more && !MORE.contains(&$name.to_string().as_str()) {
                    slow.push(format!(
                        "{} {place}: {} rows, {} scans",
                        $name,
                        rows_then - rows,
                        scans_then - scans
                    ));
                }
                cursor = found.next;
                if cursor.is_none() {
                    break;
                }
            }
        }};
    }
    for (name, filter) in run_filters() {
        few_for!(format!("runs {name}"), page => runs.list(t, of, &filter, &of_runs(&everything), &page));
    }
    for (name, filter) in all_run_filters(of, user) {
        few_for!(format!("all runs {name}"), page => runs.list_all(t, &filter, &of_runs(&everything), &page));
    }
    for (name, filter) in task_filters(of, run) {
        few_for!(format!("tasks {name}"), page => runs.tasks(t, &filter, &[of_runs(&everything)], &page));
    }
    for (name, filter) in job_filters(of, run) {
        few_for!(format!("jobs {name}"), page => runs.jobs(t, &filter, &AccessFilter::everything(), at(20_000_000), &page));
    }
    for (name, filter) in letter_filters(of, run) {
        few_for!(format!("letters {name}"), page => work.letters(t, &filter, &AccessFilter::everything(), &page));
    }
    few_for!("own runs", page => runs.list_all(t, &RunFilter::default(), &of_runs(&own), &page));
    for (name, filter) in task_filters(of, run) {
        few_for!(format!("own tasks {name}"), page => runs.tasks(t, &filter, &[of_runs(&own)], &page));
    }
    for state in [None, Some(TaskState::Open), Some(TaskState::Completed)] {
        let filter = TaskFilter { state, candidate: theirs.clone(), ..TaskFilter::default() };
        few_for!(format!("own tasks theirs {state:?}"), page => runs.tasks(t, &filter, &[of_runs(&own)], &page));
    }
    assert!(slow.is_empty(), "for a page of {LIMIT} of {ROWS}:\n{}", slow.join("\n"));
}

/// Ids that a statement finds, as text without hyphens.
async fn ids(db: &Db, conditions: &str) -> Vec<String> {
    #[derive(diesel::QueryableByName)]
    struct Row {
        #[diesel(sql_type = Text)]
        id: String,
    }
    let id = if db.sqlite().is_some() { "lower(hex(x.id))" } else { "replace(CAST(x.id AS text), '-', '')" };
    let text = format!("SELECT {id} AS id FROM {conditions}");
    let rows: Vec<Row> = read!(db, |conn| Ok(diesel::sql_query(&text).load(conn).await?)).unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

/// What is read by two orders, by due times or by follow-up dates is what there is.
#[tokio::test]
async fn lists_that_are_read_in_parts_have_each_row_once_in_its_place() {
    heddle_testkit::on_both!(|db| {
        let (flow, user) = filled(&db).await;
        let (t, of) = (flow.tenant, flow.id);
        let (_, runs) = stores(&db);
        let everything = AccessFilter::everything();
        macro_rules! all_of {
            ($page:ident => $call:expr) => {
                all_of!(37, $page => $call)
            };
            ($limit:literal, $page:ident => $call:expr) => {{
                let (mut found, mut cursor) = (Vec::new(), None);
                loop {
                    let $page = PageRequest { limit: $limit, cursor };
                    let part = $call.await.unwrap();
                    found.extend(part.items.iter().map(|one| one.id.0.simple().to_string()));
                    cursor = part.next;
                    if cursor.is_none() {
                        break found;
                    }
                }
            }};
        }
        for (filter, conditions) in [
            (
                RunFilter { state: Some(RunState::Cancelled), version: Some(1), ..RunFilter::default() },
                "state = 'cancelled' AND version = 1",
            ),
            (
                RunFilter { state: Some(RunState::Waiting), version: Some(2), ..RunFilter::default() },
                "state = 'waiting' AND version = 2",
            ),
            (
                RunFilter { state: Some(RunState::Failed), version: Some(1), ..RunFilter::default() },
                "state = 'failed' AND version = 1",
            ),
            (
                RunFilter { has_incident: Some(true), version: Some(1), ..RunFilter::default() },
                "has_incident AND version = 1",
            ),
        ] {
            let found = all_of!(page => runs.list(t, of, &filter, &of_runs(&everything), &page));
            let wanted =
                ids(&db, &format!("runs AS x WHERE {conditions} ORDER BY created_at DESC, x.id DESC")).await;
            assert!(
                !wanted.is_empty() && found == wanted,
                "{conditions}: {} of {}",
                found.len(),
                wanted.len()
            );
        }
        let soon = TaskFilter {
            state: Some(TaskState::Open),
            follow_up_before: Some(at(20_000_000)),
            ..TaskFilter::default()
        };
        let later = TaskFilter { follow_up_before: Some(at(2_402_444_800)), ..soon.clone() };
        for (filter, conditions) in [
            (
                soon,
                "x.state = 'open' AND follow_up_at IS NOT NULL AND follow_up_at < (SELECT max(created_at) FROM human_tasks)",
            ),
            (later, "x.state = 'open' AND follow_up_at IS NOT NULL"),
        ] {
            let found = all_of!(page => runs.tasks(t, &filter, &[of_runs(&everything)], &page));
            let wanted = ids(
                &db,
                &format!("human_tasks AS x WHERE {conditions} ORDER BY due_order, created_at, x.id"),
            )
            .await;
            assert!(
                !wanted.is_empty() && found == wanted,
                "{conditions}: {} of {}",
                found.len(),
                wanted.len()
            );
        }
        let now = at(20_000_000);
        let over = "due_at IS NOT NULL AND due_at < (SELECT max(created_at) FROM human_tasks)";
        for (filter, conditions) in [
            (
                JobFilter { state: Some(JobState::Ready), ..JobFilter::default() },
                format!("state = 'ready' OR {over}"),
            ),
            (
                JobFilter { state: Some(JobState::Locked), ..JobFilter::default() },
                format!("state = 'locked' AND NOT ({over})"),
            ),
            (
                JobFilter { worker: Some("worker-3".to_owned()), ..JobFilter::default() },
                format!("state = 'locked' AND NOT ({over})"),
            ),
        ] {
            let found = all_of!(page => runs.jobs(t, &filter, &AccessFilter::everything(), now, &page));
            let wanted = ids(&db, &format!("jobs AS x WHERE {conditions} ORDER BY x.id")).await;
            assert!(
                !wanted.is_empty() && found == wanted,
                "{conditions}: {} of {}",
                found.len(),
                wanted.len()
            );
        }

        // What is one's own and for oneself, of somebody who started most runs, and then of few.
        let person = Person::new(user, "u", &["group-7".to_owned()]);
        let own = AccessFilter::own_of(person.clone());
        let starter = "(SELECT created_by FROM runs WHERE created_by IS NOT NULL LIMIT 1)";
        let named = format!(
            "EXISTS (SELECT 1 FROM human_task_candidates AS c WHERE c.task_id = x.id AND (c.kind = 'user' AND c.name IN \
             ('u', '{0}') OR c.kind = 'group' AND c.name = 'group-7'))",
            user.0
        );
        let everyone = "EXISTS (SELECT 1 FROM human_task_candidates AS c WHERE c.task_id = x.id AND c.kind = 'everyone')";
        let assigned = format!("x.assignee IN ('u', '{}')", user.0);
        let theirs = format!(
            "(x.started_by = {starter} OR x.completed_by = {starter} OR x.state = 'open' AND ({assigned} OR x.assignee IS NULL \
             AND {named})) AND ({assigned} OR x.assignee IS NULL AND ({named} OR {everyone}))"
        );
        for (starts, kept) in [
            ("many", "follow_up_at IS NULL"),
            (
                "few",
                "created_at < (SELECT s.created_at FROM human_tasks AS s ORDER BY s.created_at LIMIT 1 OFFSET 300)",
            ),
        ] {
            for text in [
                format!("UPDATE human_tasks SET completed_by = {starter} WHERE state = 'completed' AND due_at IS NULL"),
                format!("UPDATE human_tasks SET started_by = NULL WHERE ({kept}) IS NOT TRUE"),
                format!("UPDATE human_tasks SET started_by = {starter} WHERE {kept}"),
                "UPDATE human_task_candidates SET started_by = (SELECT t.started_by FROM human_tasks AS t WHERE \
                 t.organization_id = human_task_candidates.organization_id AND t.id = human_task_candidates.task_id)"
                    .to_owned(),
            ] {
                execute(&db, &text).await;
            }
            for (state, conditions) in [
                (Some(TaskState::Open), " AND x.state = 'open'"),
                (Some(TaskState::Completed), " AND x.state = 'completed'"),
                (Some(TaskState::Cancelled), " AND x.state = 'cancelled'"),
                (None, ""),
            ] {
                let candidate = Some((person.names.clone(), person.groups.clone()));
                let filter = TaskFilter { state, candidate, ..TaskFilter::default() };
                let found = all_of!(200, page => runs.tasks(t, &filter, &[of_runs(&own)], &page));
                let wanted = format!(
                    "human_tasks AS x WHERE {theirs}{conditions} ORDER BY due_order, created_at, x.id"
                );
                let wanted = ids(&db, &wanted).await;
                assert!(
                    !wanted.is_empty() && found == wanted,
                    "started {starts}, {state:?}: {} of {}",
                    found.len(),
                    wanted.len()
                );
            }
        }
    });
}
