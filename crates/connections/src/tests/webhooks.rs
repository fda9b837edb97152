//! Webhooks: what they may send, by whom, and what is refused.

use std::sync::Arc;

use heddle_kernel::{DefinitionKind, Patch, WebhookId};
use heddle_policy::capability::{WebhookCreate, WebhookTest, WebhookUpdate};
use heddle_usecase::StoreError;
use serde_json::json;

use super::*;
use crate::opening::Opening;
use crate::ports::{MockConnectionStore, MockTester, MockWebhookStore, MockWorkflows, Tested};
use crate::records::{PauseReason, Phase, StoredConnection, Subscription, Webhook};
use crate::{NewWebhook, WebhookPatch, WebhookPorts, Webhooks};

const TYPES: &[&str] = &["run.started", "run.completed", "task.created"];

/// Connection 1 is of type webhook, 2 a mail server; the workflows below 10 are there, of which those from 5 on are case
/// types.
fn webhooks(store: MockWebhookStore, tester: MockTester) -> Webhooks {
    let mut connections = MockConnectionStore::new();
    connections.expect_get().returning(|_, id| match id {
        id if id == connection_id(1) => {
            Ok(connection(ConnectionKind::Webhook, json!({"url": "https://a.test"}), &["signingSecret"]))
        }
        id if id == connection_id(2) => Ok(mail()),
        _ => Err(StoreError::NotFound),
    });
    connections.expect_stored().returning(|_, _| {
        let connection = connection(ConnectionKind::Webhook, json!({"url": "https://a.test"}), &[]);
        Ok(StoredConnection { connection, sealed: BTreeMap::new() })
    });
    let mut workflows = MockWorkflows::new();
    workflows.expect_kinds().returning(|_, ids| {
        let kind = |id: &WorkflowId| match *id < workflow_id(5) {
            true => DefinitionKind::Workflow,
            false => DefinitionKind::Case,
        };
        Ok(ids.iter().filter(|id| **id < workflow_id(10)).map(|id| (*id, kind(id))).collect())
    });
    let connections = Arc::new(connections);
    let ports = WebhookPorts {
        webhooks: Arc::new(store),
        connections: connections.clone(),
        workflows: Arc::new(workflows),
        tester: Arc::new(tester),
    };
    Webhooks::new(ports, Opening::new(connections, sealer()), ids(), TYPES)
}

fn new(types: &[&str], workflows: Option<&[u128]>) -> NewWebhook {
    NewWebhook {
        name: "orders".to_owned(),
        connection_id: connection_id(1),
        event_types: types.iter().map(|one| (*one).to_owned()).collect(),
        workflows: workflows.map(|ids| ids.iter().map(|id| workflow_id(*id)).collect()),
        paused: false,
    }
}

#[tokio::test]
async fn a_connection_that_went_meanwhile_is_named() {
    let context = context();
    let mut store = MockWebhookStore::new();
    store.expect_insert().returning(|_, _, _| Err(StoreError::NotFound));
    let made = webhooks(store, MockTester::new())
        .create(&kind::<WebhookCreate>(&context), &context, new(&["*"], None), &nothing)
        .await;
    assert_eq!(made.map_err(told).unwrap_err(), ["connectionId: notFound"]);
}

async fn created(context: &RequestContext, new: NewWebhook) -> Result<Webhook, Vec<String>> {
    let mut store = MockWebhookStore::new();
    store.expect_insert().returning(|_, _, _| Ok(()));
    let made = webhooks(store, MockTester::new())
        .create(&kind::<WebhookCreate>(context), context, new, &nothing)
        .await;
    made.map_err(told)
}

#[tokio::test]
async fn a_webhook_names_what_there_is() {
    let context = context();
    let two = |of: u128| NewWebhook { connection_id: connection_id(of), ..new(&["*"], None) };
    let cases: Vec<(NewWebhook, &[&str])> = vec![
        (new(&["*"], None), &[]),
        (new(&["task.created", "run.started"], Some(&[2, 1])), &[]),
        (new(&[], None), &["eventTypes: empty"]),
        (new(&["*", "run.started"], None), &["eventTypes[0]: notAllowed"]),
        (new(&["run.started", "run.started"], None), &["eventTypes[1]: notUnique"]),
        (new(&["run.*"], None), &["eventTypes[0]: unknownValue"]),
        (new(&["*"], Some(&[])), &["workflows: empty"]),
        (new(&["*"], Some(&[1, 1])), &["workflows[1]: notUnique"]),
        (new(&["*"], Some(&[1, 11])), &["workflows[1]: notFound"]),
        (two(2), &["connectionId: notAllowed"]),
        (two(3), &["connectionId: notFound"]),
    ];
    for (asked, expected) in cases {
        let found = created(&context, asked.clone()).await;
        match found {
            Ok(webhook) => {
                assert!(expected.is_empty() && webhook.event_types.is_sorted(), "{asked:?}");
                assert!(webhook.workflows.is_none_or(|ids| ids.is_sorted()));
            }
            Err(told) => assert_eq!(told, expected, "{asked:?}"),
        }
    }
}

#[tokio::test]
async fn nobody_sends_what_they_may_not_read() {
    let one = workflow_id(1).to_string();
    let (one, connection, run) = (one.as_str(), connection_id(1).to_string(), workflow_id(7).to_string());
    let (only_two, both) = (Some(&[2_u128][..]), Some(&[2_u128, 1][..]));
    let (case, case_type) = (workflow_id(8).to_string(), workflow_id(6).to_string());
    let (type_five, with_six) = (Some(&[5_u128][..]), Some(&[2_u128, 5, 6][..]));
    for (resource, action, selector, workflows, expected) in [
        ("workflow", "*", one, None, Some("workflows: exceedsOwnRights")),
        ("workflow", "*", one, both, Some("workflows[1]: exceedsOwnRights")),
        ("workflow", "*", one, only_two, None),
        ("run", "*", "*", None, Some("eventTypes: exceedsOwnRights")),
        ("run", "read", run.as_str(), only_two, Some("workflows[0]: exceedsOwnRights")),
        ("connection", "*", connection.as_str(), only_two, Some("connectionId: exceedsOwnRights")),
        ("case-type", "*", case_type.as_str(), type_five, None),
        ("case-type", "*", case_type.as_str(), with_six, Some("workflows[2]: exceedsOwnRights")),
        ("case", "read", case.as_str(), type_five, Some("workflows[0]: exceedsOwnRights")),
        ("case", "*", "*", with_six, Some("workflows[1]: exceedsOwnRights")),
        // Who may not read cases sends none of them, and who may not read runs may send cases alone.
        ("case", "*", "*", None, None),
        ("run", "*", "*", type_five, None),
        ("run", "*", "*", with_six, Some("eventTypes: exceedsOwnRights")),
    ] {
        let context = context_denied(resource, action, selector);
        let found = created(&context, new(&["*"], workflows)).await;
        let told = found.err().map(|told| told.join(", "));
        assert_eq!(told.as_deref(), expected, "{resource} {selector} {workflows:?}");
    }
}

/// A webhook of the workflows 1 and 20, of which the latter was deleted.
fn present() -> Webhook {
    Webhook {
        tenant: tenant(),
        id: WebhookId(Uuid::from_u128(7)),
        name: "orders".to_owned(),
        connection_id: connection_id(1),
        event_types: vec!["run.started".to_owned()],
        workflows: Some(vec![workflow_id(1), workflow_id(20)]),
        paused: Some(PauseReason::ReceiverGone),
        last_delivery: None,
        revision: Revision(2),
        created_at: START,
        created_by: UserId(Uuid::from_u128(200)),
        updated_at: START,
        updated_by: UserId(Uuid::from_u128(200)),
    }
}

#[tokio::test]
async fn a_deleted_workflow_stays_named_and_opens_nothing() {
    let all = |ids: &[u128]| Patch::Value(ids.iter().map(|id| workflow_id(*id)).collect::<Vec<_>>());
    type Expected<'t> = Result<&'t [&'t str], &'t [&'t str]>;
    let cases: Vec<(WebhookPatch, Expected<'_>)> = vec![
        (WebhookPatch::default(), Ok(&[])),
        (WebhookPatch { paused: Some(true), ..WebhookPatch::default() }, Ok(&[])),
        (WebhookPatch { paused: Some(false), ..WebhookPatch::default() }, Ok(&["paused"])),
        (WebhookPatch { workflows: all(&[20, 1]), ..WebhookPatch::default() }, Ok(&[])),
        (WebhookPatch { workflows: all(&[20, 2]), ..WebhookPatch::default() }, Ok(&["workflows"])),
        (WebhookPatch { workflows: all(&[21]), ..WebhookPatch::default() }, Err(&["workflows[0]: notFound"])),
        (WebhookPatch { workflows: all(&[]), ..WebhookPatch::default() }, Err(&["workflows: empty"])),
        (WebhookPatch { workflows: Patch::Null, ..WebhookPatch::default() }, Ok(&["workflows"])),
    ];
    for (patch, expected) in cases {
        let mut store = MockWebhookStore::new();
        store.expect_get().returning(|_, _| Ok(present()));
        store.expect_update().returning(|_, _, _| Ok(()));
        let context = context();
        let proof = one::<WebhookUpdate>(&context, present().id);
        let asked = format!("{patch:?}");
        match webhooks(store, MockTester::new()).update(&proof, &context, patch, &nothing).await {
            Ok(updated) => assert_eq!(Ok(&updated.changed[..]), expected, "{asked}"),
            Err(error) => assert_eq!(told(error), expected.expect_err(&asked), "{asked}"),
        }
    }
    let subscription = Subscription::from(&present());
    for (event, workflow, wanted) in
        [("run.started", 1, true), ("run.completed", 1, false), ("run.started", 2, false)]
    {
        assert_eq!(subscription.wants(event, workflow_id(workflow)), wanted);
    }
    let all = Subscription { event_types: vec!["*".to_owned()], workflows: None, ..subscription };
    assert!(all.wants("task.created", workflow_id(9)) && all.paused);
}

#[tokio::test]
async fn a_test_pings_also_while_it_is_paused() {
    let mut store = MockWebhookStore::new();
    store.expect_get().returning(|_, _| Ok(present()));
    store.expect_tested().times(1).returning(|_, _, _| Ok(()));
    let mut tester = MockTester::new();
    tester.expect_test().returning(|_, ping| {
        assert_eq!((ping.webhook, ping.tenant), (Some(present().id), tenant()));
        Tested { ok: true, phase: Phase::Request, latency_ms: 1, message: "taken".to_owned() }
    });
    let context = context();
    let proof = one::<WebhookTest>(&context, present().id);
    assert!(webhooks(store, tester).test(&proof, &context, &nothing).await.unwrap().ok);
}
