//! What a page of the audit trail reads of 20,000 events: a few rows of an index, whatever is asked for.

use std::sync::{Mutex, PoisonError};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::sql_types::{BigInt, Text};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{AuditFilter, InstallationStore as _};
use heddle_kernel::{Cursor, PageRequest, Timestamp};
use heddle_policy::AccessFilter;
use heddle_store::{Db, Options, read};
use heddle_store_identity::IdentityStore;
use heddle_testkit::db::TestDb;

use crate::chain::sql;
use crate::world::*;

/// Events of the trail, a millisecond apart.
const EVENTS: u32 = 20_000;
/// Rows of a page, and most rows that it may read.
const LIMIT: u32 = 5;
const FEW: i64 = 300;
/// Milliseconds of the first event.
const BEGIN: i64 = 1_717_200_000_000;

/// The numbers and ids as SQLite and PostgreSQL write them.
const SQLITE: [&str; 5] = [
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < EVENTS)",
    "unhex('TENANT')",
    "unhex(printf('%012x7%03x8%015x', BEGIN + i, i % 4096, i))",
    "(BEGIN + i) * 1000",
    "X'00'",
];
const POSTGRES: [&str; 5] = [
    "WITH n AS (SELECT generate_series(0::bigint, EVENTS - 1) AS i)",
    "'TENANT'::uuid",
    "(lpad(to_hex(BEGIN + i), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '8' || lpad(to_hex(i), 15, '0'))::uuid",
    "to_timestamp(BEGIN / 1000) + i * interval '1 millisecond'",
    "'\\x00'::bytea",
];

/// Of ten events six tell of starts and three of completions; of a thousand one is about a role, the others about sessions.
async fn fill(db: &Db) {
    let [numbers, tenant, id, at, hash] = if db.sqlite().is_some() { SQLITE } else { POSTGRES };
    let of = |started: &str, completed: &str, role: &str, session: &str| {
        format!(
            "CASE WHEN i % 10 < 6 THEN '{started}' WHEN i % 10 < 9 THEN '{completed}' \
             WHEN i % 1000 = 9 THEN '{role}' ELSE '{session}' END"
        )
    };
    let action =
        of("workflow.run_started", "workflow.human_task_completed", "role.updated", "session.created");
    let kind = of("workflow", "run", "role", "session");
    let text = format!(
        "{numbers} INSERT INTO audit_events (organization_id, id, at, actor_kind, actor_id, actor_display, action, \
         resource_type, resource_id, target_type, target_id, outcome, request_id, details, sequence, hash) \
         SELECT {tenant}, {id}, {at}, 'user', 'u' || CAST(i % 2000 AS text), 'U', {action}, {kind}, \
         'r' || CAST(i % 2000 AS text), 'run', 't' || CAST(i % 2000 AS text), 'succeeded', 'r', '{{}}', i + 1, {hash} \
         FROM n"
    );
    let text = text.replace("EVENTS", &EVENTS.to_string()).replace("BEGIN", &BEGIN.to_string());
    sql(db, &text.replace("TENANT", &ACME.0.simple().to_string())).await;
}

fn after(millis: i64) -> Timestamp {
    Timestamp::from_micros((BEGIN + millis) * 1_000)
}

/// Filters, each with the index that SQLite finds its events by, and the columns that bound the walk.
fn filters() -> Vec<(&'static str, AuditFilter, &'static str)> {
    let text = |text: &str| Some(text.to_owned());
    let none = AuditFilter::default;
    let (from, to) = (Some(after(19_990)), Some(after(10)));
    vec![
        ("all", none(), "PRIMARY KEY (organization_id=? AND id<?)"),
        ("from", AuditFilter { from, ..none() }, "PRIMARY KEY (organization_id=? AND id>? AND id<?)"),
        ("to", AuditFilter { to, ..none() }, "PRIMARY KEY (organization_id=? AND id<?)"),
        (
            "action",
            AuditFilter { action: text("role.updated"), ..none() },
            "INDEX audit_events_by_action (organization_id=? AND action=? AND id<?)",
        ),
        (
            "few of several actions",
            AuditFilter { action: text("role.*"), ..none() },
            "INDEX audit_events_by_action (organization_id=? AND action=? AND id<?)",
        ),
        (
            "many of several actions",
            AuditFilter { action: text("workflow.*"), ..none() },
            "INDEX audit_events_by_action (organization_id=? AND action=? AND id<?)",
        ),
        (
            "several actions, to",
            AuditFilter { action: text("session.*"), to, ..none() },
            "INDEX audit_events_by_action (organization_id=? AND action=? AND id<?)",
        ),
        (
            "actor",
            AuditFilter { actor: text("u7"), ..none() },
            "INDEX audit_events_by_actor (organization_id=? AND actor_id=? AND id<?)",
        ),
        (
            "few of a type",
            AuditFilter { resource_type: text("role"), ..none() },
            "INDEX audit_events_by_type (organization_id=? AND resource_type=? AND id<?)",
        ),
        (
            "none of a type",
            AuditFilter { resource_type: text("vector-database"), ..none() },
            "INDEX audit_events_by_type (organization_id=? AND resource_type=? AND id<?)",
        ),
        (
            "many of a type",
            AuditFilter { resource_type: text("run"), ..none() },
            "INDEX audit_events_by_type (organization_id=? AND resource_type=? AND id<?)",
        ),
        (
            "thing",
            AuditFilter { resource_id: text("r7"), ..none() },
            "INDEX audit_events_by_resource (organization_id=? AND resource_id=? AND id<?)",
        ),
        (
            "thing of a type",
            AuditFilter { resource_type: text("run"), resource_id: text("t7"), ..none() },
            "INDEX audit_events_by_target (organization_id=? AND target_id=? AND id<?)",
        ),
    ]
}

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

#[tokio::test]
async fn sqlite_finds_events_by_an_index_in_the_order_of_the_trail() {
    set_default_instrumentation(recorder).unwrap();
    let test_db = TestDb::sqlite().await;
    let db = test_db.db();
    fill(db).await;
    let store = IdentityStore::new(db.clone(), Vec::new());
    for (name, filter, index) in filters() {
        recorded();
        let request = page(LIMIT);
        store.audit_events(Some(ACME), &filter, &AccessFilter::everything(), &request).await.unwrap();
        let mut found = Vec::new();
        for statement in recorded().into_iter().filter(|text| text.contains("`audit_events`")) {
            let explained = format!("EXPLAIN QUERY PLAN {}", statement.split(" -- binds").next().unwrap());
            let steps: Vec<Step> =
                read!(db, |conn| Ok(diesel::sql_query(&explained).load(conn).await?)).unwrap();
            for Step { detail } in steps {
                assert!(detail.starts_with("SEARCH"), "{name}: {detail}\n{statement}");
                assert!(!detail.ends_with("(organization_id=?)"), "{name}: {detail}\n{statement}");
                found.push(detail);
            }
        }
        let wanted = format!("SEARCH audit_events USING {index}");
        assert!(found.contains(&wanted), "{name}: {wanted}\n{found:#?}");
    }
}

/// Rows that were read of the trail, by indexes or without, since it is counted.
async fn rows_read(db: &Db) -> i64 {
    #[derive(diesel::QueryableByName)]
    struct Count {
        #[diesel(sql_type = BigInt)]
        n: i64,
    }
    let counted = "SELECT CAST((SELECT sum(seq_tup_read) FROM pg_stat_user_tables \
         WHERE schemaname = current_schema() AND relname = 'audit_events') \
         + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes \
         WHERE schemaname = current_schema() AND relname = 'audit_events') AS bigint) AS n";
    db.postgres().unwrap().execute_batch("SELECT pg_stat_force_next_flush()").await.unwrap();
    let count: Count = read!(db, |conn| Ok(diesel::sql_query(counted).get_result(conn).await?)).unwrap();
    count.n
}

#[tokio::test]
async fn postgres_reads_few_rows_of_the_trail_for_a_page() {
    let Some(test_db) = TestDb::postgres().await else { return };
    // One connection, which tells what it has read.
    let db = Db::open(test_db.address(), &Options { connections: 1, ..heddle_testkit::db::options() }).await;
    let db = db.unwrap();
    fill(&db).await;
    db.postgres().unwrap().execute_batch("ANALYZE audit_events").await.unwrap();
    let store = IdentityStore::new(db.clone(), Vec::new());
    let middle = Cursor::after(&event_id(after(9_000), 0).0);
    for (name, filter, _) in filters() {
        for cursor in [None, Some(middle.clone())] {
            let before = rows_read(&db).await;
            let request = PageRequest { limit: LIMIT, cursor };
            store.audit_events(Some(ACME), &filter, &AccessFilter::everything(), &request).await.unwrap();
            let read = rows_read(&db).await - before;
            assert!(read <= FEW, "{name}: {read} rows of {EVENTS} for a page of {LIMIT}");
        }
    }
}
