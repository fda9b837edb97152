//! Rows of a filled database: copies of the runs and cases that are in it, with their tasks, jobs, dead letters and audit
//! events.
//!
//! Of ten copies six wait with an open task, three are completed and one has failed; one of fifty that wait has an
//! incident. A third of the tasks is due at some time, a tenth is somebody's, and the others are for one of fifty groups,
//! for one of ten users or for everyone. A fifth is to be followed up, nearly all of them in many years. Each run that waits
//! has a job, too, of one of fifty types. Ten runs of a workflow have the same correlation key. Each tenth run has a dead
//! letter, and each has an audit event: of ten six tell of starts, three of completions, and one of something else.

use std::error::Error;
use std::fmt::Write as _;

use diesel_async::RunQueryDsl as _;
use heddle_kernel::{RunId, TenantId, Timestamp};
use heddle_store::{Db, write_tx};
use heddle_workflows::records::{DueTimer, Work};

/// Rows of one transaction.
const CHUNK: u64 = 20_000;
/// Rows of the first one.
const FIRST: u64 = 1_000;

/// Words that the databases write differently.
struct Dialect {
    /// An id that rises with the number `i`; the letter tells runs from tasks.
    id: fn(char) -> &'static str,
    /// Id of an audit event, made from its instant.
    event: &'static str,
    /// Text of an id.
    text: fn(&str) -> String,
    /// Document of so many hexadecimal digits.
    document: fn(&str) -> String,
    /// Instant at which few tasks are to be followed up, and that at which all others are that are.
    sooner: &'static str,
    later: &'static str,
    /// Numbers from one placeholder to the other, as `i`.
    numbers: &'static str,
    /// Instant of the number `i`: a millisecond after that of the number before.
    at: &'static str,
    /// Instant at which a third of the tasks is due.
    due: &'static str,
    /// Place of a task that is never due.
    never: &'static str,
    /// An empty document.
    empty: &'static str,
}

const SQLITE: Dialect = Dialect {
    id: |kind| match kind {
        'r' => "unhex(printf('01900000%04x7%03x8%015x', i / 4096, i % 4096, i))",
        _ => "unhex(printf('01900000%04x7%03x9%015x', i / 4096, i % 4096, i))",
    },
    event: "unhex(printf('%012x7%03x8%015x', 1717200000000 + i, i % 4096, i))",
    text: |id| {
        let digits = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)];
        let parts = digits.map(|(from, count)| format!("substr(hex({id}), {from}, {count})"));
        format!("lower({})", parts.join(" || '-' || "))
    },
    document: |hex| format!("X'{hex}'"),
    sooner: "1717200000000000",
    later: "4070908800000000",
    numbers: "WITH RECURSIVE n(i) AS (SELECT FROM_ UNION ALL SELECT i + 1 FROM n WHERE i + 1 < UNTIL)",
    at: "(1717200000000000 + i * 1000)",
    due: "(1717200000000000 + (i * 7919 % 100003) * 3600000000)",
    never: "253402300799000000",
    empty: "X'007B7D'",
};

const POSTGRES: Dialect = Dialect {
    id: |kind| match kind {
        'r' => {
            "('01900000' || lpad(to_hex(i / 4096), 4, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '8' \
             || lpad(to_hex(i), 15, '0'))::uuid"
        }
        _ => {
            "('01900000' || lpad(to_hex(i / 4096), 4, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '9' \
             || lpad(to_hex(i), 15, '0'))::uuid"
        }
    },
    event: "(lpad(to_hex(1717200000000 + i), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '8' \
            || lpad(to_hex(i), 15, '0'))::uuid",
    text: |id| format!("CAST({id} AS text)"),
    document: |hex| format!("'\\x{hex}'::bytea"),
    sooner: "timestamptz '2024-06-01 00:00:00+00'",
    later: "timestamptz '2099-01-01 00:00:00+00'",
    numbers: "WITH n AS (SELECT generate_series(FROM_::bigint, UNTIL - 1) AS i)",
    at: "(timestamptz '2024-06-01 00:00:00+00' + i * interval '1 millisecond')",
    due: "(timestamptz '2024-06-01 00:00:00+00' + (i * 7919 % 100003) * interval '1 hour')",
    never: "timestamptz '9999-12-31 23:59:59+00'",
    empty: "'\\x007b7d'::bytea",
};

/// Numbers that are added: from one to another, in turn over so many templates.
#[derive(Clone, Copy)]
struct Part<'a> {
    from: u64,
    until: u64,
    templates: u64,
    user: &'a str,
}

impl Part<'_> {
    /// State that the copy with the number `i` has: 0 to 5 wait, 6 to 8 are completed, 9 failed.
    fn turn(self) -> String {
        format!("(i / {}) % 10", self.templates)
    }

    /// A number for whom a task is, which depends neither on its workflow nor on its state.
    fn mixed(self) -> String {
        format!("((i * 31 + i / {} * 17) % 1009)", self.templates)
    }
}

impl Dialect {
    /// The statement that adds rows to a table.
    fn insert(&self, part: Part<'_>, table: &str, columns: &str, values: &str) -> String {
        let from = self.numbers.replace("FROM_", &part.from.to_string());
        let numbers = from.replace("UNTIL", &part.until.to_string());
        let source = match table {
            "runs" => "fill_runs",
            "run_events" => "fill_events",
            _ => "fill_tasks",
        };
        let templates = part.templates;
        format!(
            "{numbers} INSERT INTO {table} ({columns}) SELECT {values} FROM n JOIN {source} ON place = i % {templates}"
        )
    }

    /// The statements that add runs with their events.
    fn runs(&self, part: Part<'_>) -> [String; 2] {
        let (at, run, turn, templates) = (self.at, (self.id)('r'), part.turn(), part.templates);
        let states =
            format!("CASE WHEN {turn} < 6 THEN 'waiting' WHEN {turn} < 9 THEN 'completed' ELSE 'failed' END");
        let ended = format!("CASE WHEN {turn} >= 6 THEN {at} END");
        let waiting = format!("CASE WHEN {turn} < 6 THEN {at} END");
        let incident = format!("({turn} < 6 AND (i / {templates}) % 50 = 0)");
        let runs = self.insert(
            part,
            "runs",
            "organization_id, id, kind, workflow_id, version, process_id, state, has_incident, business_key, \
             correlation_key, trigger, input, snapshot, last_sequence, revision, created_at, created_by, updated_at, \
             ended_at, waiting_since, bytes",
            &format!(
                "organization_id, {run}, kind, workflow_id, version, process_id, {states}, {incident}, \
                 'order-' || CAST(i / {templates} / 10 AS text), 'key-' || CAST(i / {templates} / 10 AS text), \
                 trigger, input, snapshot, last_sequence, revision, {at}, created_by, {at}, {ended}, {waiting}, bytes"
            ),
        );
        let events = self.insert(
            part,
            "run_events",
            "organization_id, run_id, first_sequence, last_sequence, events",
            &format!("organization_id, {run}, first_sequence, last_sequence, events"),
        );
        [runs, events]
    }

    /// The statements that add the tasks of these runs with their candidates.
    fn tasks(&self, part: Part<'_>) -> [String; 2] {
        let Self { at, due, never, .. } = self;
        let (run, task, turn, mixed) = ((self.id)('r'), (self.id)('t'), part.turn(), part.mixed());
        let due = format!("CASE WHEN i % 3 = 0 THEN {due} END");
        // So many are to be followed up soon, whatever is stored.
        let Self { sooner, later, .. } = self;
        let follow_up =
            format!("CASE WHEN i % 1000 = 0 AND i < 20000 THEN {sooner} WHEN i % 5 = 0 THEN {later} END");
        let user = format!(
            "CASE WHEN {mixed} / 10 % 10 = 0 THEN '{}' ELSE 'user-' || CAST({mixed} / 10 % 10 AS text) END",
            part.user.replace('\'', "''")
        );
        let assignee = format!("CASE WHEN {mixed} % 10 = 1 THEN {user} END");
        let state =
            format!("CASE WHEN {turn} < 6 THEN 'open' WHEN {turn} < 9 THEN 'completed' ELSE 'cancelled' END");
        let tasks = self.insert(
            part,
            "human_tasks",
            "organization_id, id, instance_kind, run_id, workflow_id, node_id, node_instance_id, name, state, assignee, \
             candidate_users, candidate_groups, due_at, follow_up_at, priority, form, outcomes, created_at, ended_at, \
             completed_by, due_order, started_by",
            &format!(
                "organization_id, {task}, instance_kind, {run}, workflow_id, node_id, node_instance_id, name, {state}, {assignee}, \
                 candidate_users, candidate_groups, {due}, {follow_up}, priority, form, outcomes, {at}, \
                 CASE WHEN {turn} >= 6 THEN {at} END, NULL, coalesce({due}, {never}), started_by"
            ),
        );
        let kind = format!(
            "CASE WHEN {mixed} % 10 = 2 THEN 'everyone' WHEN {mixed} % 10 = 3 THEN 'user' ELSE 'group' END"
        );
        let name = format!(
            "CASE WHEN {mixed} % 10 = 2 THEN '' WHEN {mixed} % 10 = 3 THEN {user} ELSE 'group-' || CAST({mixed} % 50 AS text) END"
        );
        let standing = format!("CASE WHEN {mixed} % 10 = 1 THEN 'assigned' ELSE {state} END");
        let candidates = self.insert(
            part,
            "human_task_candidates",
            "organization_id, task_id, kind, name, instance_kind, workflow_id, standing, due_order, created_at, started_by",
            &format!(
                "organization_id, {task}, {kind}, {name}, instance_kind, workflow_id, {standing}, coalesce({due}, {never}), {at}, \
                 started_by"
            ),
        );
        [tasks, candidates]
    }
}

impl Dialect {
    /// The statement that adds a job to each of these runs that waits: of ten one has failed and one is held.
    fn jobs(&self, part: Part<'_>) -> [String; 1] {
        let Self { at, never, empty, .. } = self;
        let (run, job, turn, mixed) = ((self.id)('r'), (self.id)('t'), part.turn(), part.mixed());
        let held = |yes: &str, no: &str| format!("CASE WHEN {mixed} % 10 = 1 THEN {yes} ELSE {no} END");
        let state =
            format!("CASE WHEN {mixed} % 10 = 0 THEN 'failed' ELSE {} END", held("'locked'", "'ready'"));
        let (due, worker, epoch) = (held(never, "NULL"), held("'worker-3'", "NULL"), held("1", "0"));
        let jobs = self.insert(
            part,
            "jobs",
            "organization_id, id, number, instance_kind, run_id, workflow_id, version, process_id, node_id, node_instance_id, kind, \
             job_type, headers, priority, state, retries, attempt, due_at, epoch, worker, message, place, created_at",
            &format!(
                "organization_id, {job}, i, instance_kind, {run}, workflow_id, 1, 'p', node_id, node_instance_id, 'task', \
                 'type-' || CAST({mixed} % 50 AS text), {empty}, 0, {state}, 3, 1, {due}, {epoch}, {worker}, NULL, \
                 {at}, {at}"
            ),
        );
        [format!("{jobs} WHERE {turn} < 6")]
    }
}

impl Dialect {
    /// The statement that adds a dead letter of each tenth run: a timer that failed, and of a few kinds in turn.
    fn letters(&self, part: Part<'_>) -> [String; 1] {
        let Self { at, .. } = self;
        let (run, letter, mixed) = ((self.id)('r'), (self.id)('t'), part.mixed());
        let work = Work::Timer(DueTimer {
            tenant: TenantId(uuid::Uuid::nil()),
            run: RunId(uuid::Uuid::nil()),
            timer_id: "t".to_owned(),
            node_id: "work".to_owned(),
            due_at: Timestamp::from_micros(0),
        });
        // A document is its JSON behind a zero.
        let mut hex = "00".to_owned();
        for byte in serde_json::to_vec(&work).unwrap_or_default() {
            // A text takes everything.
            let _ = write!(hex, "{byte:02x}");
        }
        let work = (self.document)(&hex);
        let letters = self.insert(
            part,
            "dead_letters",
            "organization_id, id, kind, reason, message, attempts, crashes, instance_kind, workflow_id, run_id, work, \
             created_at",
            &format!(
                "organization_id, {letter}, CASE WHEN {mixed} % 10 = 0 THEN 'message' ELSE 'timer' END, 'failed', 'm', \
                 10, 0, instance_kind, workflow_id, {run}, {work}, {at}"
            ),
        );
        [format!("{letters} WHERE (i / {}) % 10 = 0", part.templates)]
    }

    /// The statement that adds an audit event of each run. They stand before the chain, which goes on from its checkpoint.
    fn events(&self, part: Part<'_>) -> [String; 1] {
        let Self { at, event, .. } = self;
        let (turn, mixed, run) = (part.turn(), part.mixed(), (self.text)((self.id)('r')));
        let of_turn = |started: &str, completed: &str, other: &str| {
            format!("CASE WHEN {turn} < 6 THEN {started} WHEN {turn} < 9 THEN {completed} ELSE {other} END")
        };
        let of_few = |role: &str, user: &str, session: &str| {
            format!(
                "CASE WHEN {mixed} % 10 = 0 THEN {role} WHEN {mixed} % 10 < 4 THEN {user} ELSE {session} END"
            )
        };
        let action = of_turn(
            "'workflow.run_started'",
            "'workflow.human_task_completed'",
            &of_few("'role.updated'", "'user.updated'", "'session.created'"),
        );
        let kind = of_turn("'workflow'", "'run'", &of_few("'role'", "'user'", "'session'"));
        let workflow = (self.text)("workflow_id");
        let thing = of_turn(&workflow, &run, "'thing-' || CAST(i % 100 AS text)");
        let events = self.insert(
            part,
            "audit_events",
            "organization_id, id, at, actor_kind, actor_id, actor_display, action, resource_type, resource_id, \
             target_type, target_id, outcome, request_id, details, sequence, hash",
            &format!(
                "organization_id, {event}, {at}, 'user', 'user-' || CAST({mixed} % 10 AS text), 'U', {action}, {kind}, \
                 {thing}, CASE WHEN {turn} < 6 THEN 'run' END, CASE WHEN {turn} < 6 THEN {run} END, 'succeeded', 'r', \
                 '{{}}', -1 - i, {}",
                (self.document)("00")
            ),
        );
        [events]
    }
}

/// Tables with what is copied: a run of each workflow, with its task and its events.
const TEMPLATES: [&str; 4] = [
    "CREATE TABLE fill_runs AS SELECT (row_number() OVER (ORDER BY workflow_id)) - 1 AS place, r.* FROM runs AS r \
     WHERE EXISTS (SELECT 1 FROM human_tasks AS t WHERE t.organization_id = r.organization_id AND t.run_id = r.id)",
    "CREATE TABLE fill_tasks AS SELECT f.place, t.* FROM human_tasks AS t JOIN fill_runs AS f \
     ON f.organization_id = t.organization_id AND f.id = t.run_id",
    "CREATE TABLE fill_events AS SELECT f.place, e.* FROM run_events AS e JOIN fill_runs AS f \
     ON f.organization_id = e.organization_id AND f.id = e.run_id",
    "CREATE INDEX fill_runs_by_place ON fill_runs (place)",
];

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    n: i64,
}

async fn execute(db: &Db, statements: &[String]) -> Result<(), heddle_usecase::StoreError> {
    write_tx!(db, |conn| {
        for text in statements {
            diesel::sql_query(text).execute(conn).await?;
        }
        Ok(())
    })
}

/// Adds so many rows to what is there, and tells of how many runs they are copies.
pub(crate) async fn fill(db: &Db, rows: u64, user: &str) -> Result<u64, Box<dyn Error>> {
    let dialect = if db.sqlite().is_some() { &SQLITE } else { &POSTGRES };
    execute(db, &TEMPLATES.map(str::to_owned)).await?;
    let count: Number = write_tx!(db, |conn| {
        Ok(diesel::sql_query("SELECT count(*) AS n FROM fill_runs").get_result(conn).await?)
    })?;
    let templates = count.n.unsigned_abs();
    if templates == 0 {
        return Err("there is no run with a task to copy".into());
    }
    let mut from = 0;
    while from < rows {
        let until = rows.min(from + if from == 0 { FIRST } else { CHUNK });
        let part = Part { from, until, templates, user };
        execute(db, &dialect.runs(part)).await?;
        execute(db, &dialect.tasks(part)).await?;
        execute(db, &dialect.jobs(part)).await?;
        execute(db, &dialect.letters(part)).await?;
        execute(db, &dialect.events(part)).await?;
        // PostgreSQL's triggers keep the plans of tables without rows until the statistics of these change.
        if let Some(postgres) = db.postgres().filter(|_| from == 0) {
            postgres.execute_batch("ANALYZE").await?;
        }
        from = until;
    }
    let done = ["DROP TABLE fill_events", "DROP TABLE fill_tasks", "DROP TABLE fill_runs"];
    execute(db, &done.map(str::to_owned)).await?;
    if let Some(postgres) = db.postgres() {
        postgres.execute_batch("VACUUM ANALYZE").await?;
    }
    Ok(templates)
}
