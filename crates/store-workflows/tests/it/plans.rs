//! Plans by which SQLite finds what lists and reads ask for: by an index in their order, whatever is stored. Without statistics its
//! plans don't depend on the rows.

use std::sync::{Mutex, PoisonError};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use heddle_definitions::DefinitionAccess;
use heddle_kernel::{JobId, PageRequest, RunId, UserId, WorkflowId};
use heddle_policy::{AccessFilter, Person};
use heddle_store::{Db, read};
use heddle_store_workflows::{SqlErrandStore, SqlWorkStore};
use heddle_testkit::db::TestDb;
use heddle_usecase::errand::{ErrandKind, ErrandStore};
use heddle_workflows::ports::{
    DefinitionStore, FeedPosition, JobFilter, JobStore, LetterFilter, Queue, RunFilter, RunSort, RunStore,
    TaskFilter, WorkStore, WorkflowFilter, WorkflowSort,
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
const GROWING: [&str; 16] = [
    "runs",
    "run_events",
    "run_timers",
    "run_subscriptions",
    "human_tasks",
    "human_task_candidates",
    "human_task_people",
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

#[tokio::test]
async fn every_list_is_read_by_an_index_in_its_order() {
    set_default_instrumentation(recorder).unwrap();
    let test_db = TestDb::sqlite().await;
    let db = test_db.db().clone();
    let (workflows, runs) = stores(&db);
    let work = SqlWorkStore::new(db.clone());
    let flow = published(&workflows, tenant(), "a").await;
    let (t, user, of) = (flow.tenant, id(UserId), flow.id);
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
                let sorted = steps.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY"));
                // The first of some streams, and the tasks of few runs, are sorted.
                let few = steps.iter().any(|step| step.contains("UNION") || step.starts_with("MATERIALIZE"));
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
    for (name, filter) in [
        ("all", none()),
        ("oldest", RunFilter { sort: RunSort::Oldest, ..none() }),
        ("state", RunFilter { state: Some(RunState::Failed), ..none() }),
        ("incident", RunFilter { has_incident: Some(true), ..none() }),
        ("no incident", RunFilter { has_incident: Some(false), ..none() }),
        ("version", RunFilter { version: Some(1), ..none() }),
        ("correlation", RunFilter { correlation_key: Some("k".to_owned()), ..none() }),
        ("waiting", RunFilter { waiting_before: Some(at(1)), ..none() }),
        ("node", RunFilter { node_id: Some("n".to_owned()), ..none() }),
        ("state, incident", RunFilter { state: Some(RunState::Waiting), has_incident: Some(true), ..none() }),
        ("state, version", RunFilter { state: Some(RunState::Waiting), version: Some(1), ..none() }),
        (
            "state, waiting",
            RunFilter { state: Some(RunState::Waiting), waiting_before: Some(at(1)), ..none() },
        ),
    ] {
        for (place, cursor) in [("first", None), ("behind", behind_run.clone())] {
            let access = everything.clone();
            read_of!(
                format!("runs {name}, {place}"),
                runs.list(t, of, &filter, &of_runs(&access), &page(cursor))
            );
        }
    }

    let behind_part = Some(heddle_kernel::Cursor::after(&(false, 5_i64, id(RunId))));
    for (name, filter) in [
        ("all", none()),
        ("incidents first", RunFilter { sort: RunSort::Incidents, ..none() }),
        ("workflow", RunFilter { workflow: Some(of), ..none() }),
        ("state", RunFilter { state: Some(RunState::Failed), ..none() }),
        ("incident", RunFilter { has_incident: Some(true), ..none() }),
        ("no incident", RunFilter { has_incident: Some(false), ..none() }),
        ("business key", RunFilter { business_key: Some("b".to_owned()), ..none() }),
        ("correlation", RunFilter { correlation_key: Some("k".to_owned()), ..none() }),
        ("node", RunFilter { node_id: Some("n".to_owned()), ..none() }),
        ("starter", RunFilter { started_by: Some(user), ..none() }),
        ("time", RunFilter { from: Some(at(1)), to: Some(at(2)), ..none() }),
        ("waiting", RunFilter { waiting_before: Some(at(1)), ..none() }),
        ("state, incident", RunFilter { state: Some(RunState::Waiting), has_incident: Some(true), ..none() }),
        ("workflow, state", RunFilter { workflow: Some(of), state: Some(RunState::Waiting), ..none() }),
        (
            "workflow, business key",
            RunFilter { workflow: Some(of), business_key: Some("b".to_owned()), ..none() },
        ),
        ("workflow, starter", RunFilter { workflow: Some(of), started_by: Some(user), ..none() }),
    ] {
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
    let open = Some(TaskState::Open);
    for (name, filter) in [
        ("all", none()),
        ("state", TaskFilter { state: open, ..none() }),
        ("assignee", TaskFilter { state: open, assignee: Some(names()), ..none() }),
        (
            "assignee, workflow",
            TaskFilter { state: open, assignee: Some(names()), workflow: Some(of), ..none() },
        ),
        ("candidate", TaskFilter { state: open, candidate: mine(), ..none() }),
        ("due", TaskFilter { state: open, due_before: Some(at(1)), ..none() }),
        ("follow-up", TaskFilter { state: open, follow_up_before: Some(at(1)), ..none() }),
        ("follow-up in all states", TaskFilter { follow_up_before: Some(at(1)), ..none() }),
        ("workflow", TaskFilter { state: open, workflow: Some(of), ..none() }),
        ("run", TaskFilter { state: open, run: Some(id(RunId)), ..none() }),
        ("candidate, due", TaskFilter { state: open, candidate: mine(), due_before: Some(at(1)), ..none() }),
        ("candidate, workflow", TaskFilter { state: open, candidate: mine(), workflow: Some(of), ..none() }),
        ("candidate, run", TaskFilter { state: open, candidate: mine(), run: Some(id(RunId)), ..none() }),
    ] {
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

    let none = LetterFilter::default;
    for (name, filter) in [
        ("all", none()),
        ("kind", LetterFilter { kind: Some(WorkKind::ALL[0]), ..none() }),
        ("workflow", LetterFilter { workflow: Some(of), ..none() }),
        ("run", LetterFilter { run: Some(id(RunId)), ..none() }),
    ] {
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
    for (name, state) in [
        ("locked", JobState::Locked),
        ("delayed", JobState::Delayed),
        ("failed", JobState::Failed),
        ("suspended", JobState::Suspended),
    ] {
        let filter = JobFilter { state: Some(state), ..JobFilter::default() };
        for (place, cursor) in [("first", None), ("behind", behind_job.clone())] {
            read_of!(
                format!("jobs {name}, {place}"),
                runs.jobs(t, &filter, &AccessFilter::everything(), at(1), &page(cursor))
            );
        }
    }
    let errands = SqlErrandStore::new(db.clone());
    read_of!("lanes of errands", errands.look(ErrandKind::Webhook, at(1), Some(of.0), 100));
    insta::assert_snapshot!("plans", told);
}
