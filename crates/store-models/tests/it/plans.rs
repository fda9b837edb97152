//! Plans by which SQLite finds what lists and reads ask for: by an index in their order, whatever is stored.

use std::sync::{Mutex, PoisonError};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use heddle_kernel::{Cursor, PageRequest};
use heddle_models::ports::{
    CatalogueFilter, ConnectionFilter, DeploymentFilter, KeyStore, ModelStore, UsageQuery, UsageStore,
};
use heddle_models::records::{DeploymentState, UsageAxis};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{Db, read};
use heddle_store_models::SqlModelStore;
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
    let reads = |text: &String| text.starts_with("SELECT") && text.contains("model_");
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
    let store = SqlModelStore::new(db.clone());
    let tenant = organization(&db).await;
    let over = connection(&store, tenant, "one").await;
    let of = deployment(&over, "a");
    inserted(&store, std::slice::from_ref(&of)).await;
    let connections = AccessFilter::<resource::ModelConnection>::everything();
    let deployments = AccessFilter::<resource::Deployment>::everything();
    let next = PageRequest { limit: 50, cursor: Some(Cursor::after(&"a")) };
    let by_state = DeploymentFilter { state: Some(DeploymentState::Ready), ..DeploymentFilter::default() };
    let by_connection = DeploymentFilter { connection: Some(over.id), ..DeploymentFilter::default() };
    let usage = |by| UsageQuery { by, from_day: 0, to_day: 99_999, deployment: None };
    recorded();
    macro_rules! read_of {
        ($name:expr, $call:expr) => {{
            let _ = $call.await;
            for statement in recorded() {
                for step in plan(&db, &statement).await {
                    let scans = step.starts_with("SCAN") && !step.contains("USING");
                    // The fallbacks of a page are some rows, which are put in order.
                    let sorts = step.contains("TEMP B-TREE") && !statement.contains("model_fallbacks");
                    assert!(
                        !scans && !sorts && !step.contains("AUTOMATIC"),
                        "{}: {step}\n{statement}",
                        $name
                    );
                }
            }
        }};
    }
    read_of!("connections", store.connections(tenant, &ConnectionFilter::default(), &connections, &next));
    read_of!("a connection with its key", store.stored(tenant, over.id));
    read_of!("a catalogue", store.catalogue(tenant, over.id, &CatalogueFilter::default(), &next));
    read_of!("deployments", store.deployments(tenant, &DeploymentFilter::default(), &deployments, &next));
    read_of!("deployments in a state", store.deployments(tenant, &by_state, &deployments, &next));
    read_of!("deployments of a connection", store.deployments(tenant, &by_connection, &deployments, &next));
    read_of!("a deployment", store.deployment(tenant, of.id));
    read_of!("a deployment by its alias", store.by_alias(tenant, "a"));
    read_of!("those that are looked after", store.resident(Some((tenant, of.id)), 50));
    read_of!("those inside the service", store.inside(Some((tenant, of.id)), 50));
    read_of!("usage by day", store.usage(tenant, &usage(UsageAxis::Day), &deployments, &page(50)));
    read_of!("usage by user", store.usage(tenant, &usage(UsageAxis::User), &deployments, &page(50)));
    read_of!("the keys of a rotation", store.sealed_under_others("k2", Some((tenant, over.id)), 50));
    read_of!("the state of a budget", store.reserve(&reservation(&of, 100, 1, 1)));
    read_of!("what expired", store.expire(at(0), 50));
}
