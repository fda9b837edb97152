//! Plans by which SQLite finds what lists and reads ask for: by an index in their order, whatever is stored.

use std::sync::{Mutex, PoisonError};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use heddle_connections::ConnectionKind;
use heddle_connections::ports::{ConnectionFilter, ConnectionStore, KeyStore, WebhookFilter, WebhookStore};
use heddle_connections::secret::SecretPlace;
use heddle_kernel::{Cursor, PageRequest, WebhookId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{Db, read};
use heddle_store_connections::{SqlConnectionStore, SqlWebhookStore};
use heddle_testkit::db::TestDb;

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

/// The statements about the tables of this area since the last call: other tests of the process may speak as well.
fn recorded() -> Vec<String> {
    let all = std::mem::take(&mut *STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner));
    let reads = |text: &String| {
        text.starts_with("SELECT") && (text.contains("connection") || text.contains("webhook"))
    };
    all.into_iter().filter(reads).collect()
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
    steps.into_iter().map(|step| step.detail).collect()
}

#[tokio::test]
async fn every_read_goes_by_an_index_in_its_order() {
    set_default_instrumentation(recorder).unwrap();
    let test_db = TestDb::sqlite().await;
    let db = test_db.db().clone();
    let (connections, webhooks) = (SqlConnectionStore::new(db.clone()), SqlWebhookStore::new(db.clone()));
    let tenant = organization(&db).await;
    let made = inserted(&connections, tenant, "one").await;
    let everything = AccessFilter::<resource::Connection>::everything();
    let next = PageRequest { limit: 50, cursor: Some(Cursor::after(&"a")) };
    let filter = ConnectionFilter { q: Some("x".to_owned()), kind: Some(ConnectionKind::Http) };
    let of_connection = WebhookFilter { connection: Some(made.id), ..WebhookFilter::default() };
    let place = SecretPlace { tenant, connection: made.id, field: "password".to_owned() };
    recorded();
    macro_rules! read_of {
        ($name:expr, $call:expr) => {{
            let _ = $call.await;
            for statement in recorded() {
                for step in plan(&db, &statement).await {
                    // The keys in use and the secrets of a rotation are counted and read whole, by an index.
                    let scans = step.starts_with("SCAN") && !step.contains("USING");
                    let sorts =
                        step.contains("TEMP B-TREE FOR ORDER BY") && !$name.starts_with("the webhooks of");
                    assert!(
                        !scans && !sorts && !step.contains("AUTOMATIC"),
                        "{}: {step}\n{statement}",
                        $name
                    );
                }
            }
        }};
    }
    read_of!("connections", connections.list(tenant, &ConnectionFilter::default(), &everything, &page(50)));
    read_of!("connections behind one", connections.list(tenant, &filter, &everything, &next));
    read_of!("a connection", connections.get(tenant, made.id));
    read_of!("a connection with its secrets", connections.stored(tenant, made.id));
    read_of!(
        "webhooks",
        webhooks.list(tenant, &WebhookFilter::default(), &AccessFilter::everything(), &next)
    );
    read_of!(
        "the webhooks of a connection",
        webhooks.list(tenant, &of_connection, &AccessFilter::everything(), &next)
    );
    read_of!("a webhook", webhooks.get(tenant, id(WebhookId)));
    read_of!("subscriptions", webhooks.subscriptions(tenant));
    read_of!("the keys in use", connections.keys_in_use());
    read_of!("the first secrets of a rotation", connections.sealed_under_others("k2", None, 50));
    read_of!("the next secrets of a rotation", connections.sealed_under_others("k2", Some(&place), 50));
}
