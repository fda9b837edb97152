//! Connections: what is written, what is refused, and what never shows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use heddle_kernel::{DefinitionKind, Patch, Revision, WebhookId};
use heddle_policy::capability::{ConnectionCreate, ConnectionDelete, ConnectionTest, ConnectionUpdate};
use heddle_usecase::StoreError;
use serde_json::{Value, json};

use super::*;
use crate::ports::{Deleted, MockConnectionStore, MockTester, MockWorkflows, SealError, Tested, Use};
use crate::records::{Phase, StoredConnection, Subscription, TestResult};
use crate::{ConnectionPatch, Connections, NewConnection};

/// Every id is a workflow's.
fn workflows() -> Arc<MockWorkflows> {
    let mut workflows = MockWorkflows::new();
    workflows
        .expect_kinds()
        .returning(|_, ids| Ok(ids.iter().map(|id| (*id, DefinitionKind::Workflow)).collect()));
    Arc::new(workflows)
}

fn connections(store: MockConnectionStore, tester: MockTester) -> Connections {
    Connections::new(Arc::new(store), sealer(), Arc::new(tester), workflows(), ids())
}

fn new(of: ConnectionKind, config: Value, secrets: &[(&str, &str)]) -> NewConnection {
    NewConnection {
        name: "one".to_owned(),
        kind: of,
        description: None,
        labels: BTreeMap::new(),
        config: object(config),
        secrets: secrets.iter().map(|(name, text)| ((*name).to_owned(), Secret::new(*text))).collect(),
    }
}

#[tokio::test]
async fn a_secret_is_written_sealed_and_shown_by_its_end() {
    let written = Arc::new(Mutex::new(Vec::new()));
    let mut store = MockConnectionStore::new();
    let seen = written.clone();
    store.expect_insert().returning(move |write, most, _| {
        assert_eq!(most, 1_000);
        seen.lock().unwrap().extend(write.sealed.clone());
        Ok(())
    });
    let context = context();
    let config = json!({"baseUrl": "https://a.test", "authentication": "bearer"});
    let made = connections(store, MockTester::new())
        .create(
            &kind::<ConnectionCreate>(&context),
            &context,
            new(ConnectionKind::Http, config, &[("token", CANARY)]),
            &nothing,
        )
        .await
        .unwrap();
    assert_eq!(made.secrets["token"].hint.as_deref(), Some("…a1b2"));
    assert!(!format!("{made:?}").contains(CANARY));
    let written = written.lock().unwrap();
    let (name, sealed) = &written[0];
    assert_eq!(name, "token");
    assert!(!sealed.as_ref().unwrap().text.contains(CANARY));
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once() {
    let context = context();
    let mut wrong = new(
        ConnectionKind::Http,
        json!({"baseUrl": "https://a.test", "authentication": "bearer", "x": 1}),
        &[("password", "p"), ("secret", "s")],
    );
    wrong.name = " ".to_owned();
    wrong.labels = BTreeMap::from([("a b".to_owned(), "v".to_owned())]);
    let error = connections(MockConnectionStore::new(), MockTester::new())
        .create(&kind::<ConnectionCreate>(&context), &context, wrong, &nothing)
        .await
        .unwrap_err();
    assert_eq!(
        told(error),
        [
            "name: required",
            "labels.a b: wrongFormat",
            "config.x: unknownField",
            "secrets.secret: unknownField",
            "secrets.password: notAllowed",
            "secrets.token: required",
        ]
    );
}

struct Change {
    name: &'static str,
    config: Value,
    secrets: Vec<(&'static str, Patch<Secret>)>,
    expected: Result<&'static [&'static str], &'static [&'static str]>,
}

fn changes() -> Vec<Change> {
    let sent = || Patch::Value(Secret::new("another"));
    let one = |name, config, secrets, expected| Change { name, config, secrets, expected };
    vec![
        one("nothing", json!({}), vec![], Ok(&[])),
        one("what is there already", json!({"host": "mx.test", "port": null}), vec![], Ok(&[])),
        one("no target", json!({"from": "a@b.test"}), vec![], Ok(&["config.from"])),
        one("a secret", json!({}), vec![("password", sent())], Ok(&["secrets.password"])),
        one("elsewhere", json!({"host": "evil.test"}), vec![], Err(&["secrets.password: secretNeeded"])),
        one("another port", json!({"port": 25}), vec![], Err(&["secrets.password: secretNeeded"])),
        one("another user", json!({"username": "eve"}), vec![], Err(&["secrets.password: secretNeeded"])),
        one(
            "another trust",
            json!({"certificateAuthority": "-----BEGIN CERTIFICATE-----"}),
            vec![],
            Err(&["secrets.password: secretNeeded"]),
        ),
        one(
            "elsewhere, with an absent secret",
            json!({"host": "evil.test"}),
            vec![("password", Patch::Absent)],
            Err(&["secrets.password: secretNeeded"]),
        ),
        one(
            "elsewhere, with the secret",
            json!({"host": "b.test"}),
            vec![("password", sent())],
            Ok(&["config.host", "secrets.password"]),
        ),
        one(
            "without the user",
            json!({"username": null}),
            vec![("password", Patch::Null)],
            Ok(&["config.username", "secrets.password"]),
        ),
        one(
            "without the secret alone",
            json!({}),
            vec![("password", Patch::Null)],
            Err(&["secrets.password: required"]),
        ),
        one(
            "an unknown secret",
            json!({}),
            vec![("token", Patch::Null)],
            Err(&["secrets.token: unknownField"]),
        ),
        one("an unknown member", json!({"x": null}), vec![], Err(&["config.x: unknownField"])),
    ]
}

#[tokio::test]
async fn a_connection_is_pointed_elsewhere_with_its_secrets_alone() {
    for change in changes() {
        let mut store = MockConnectionStore::new();
        store.expect_get().returning(|_, _| Ok(mail()));
        store.expect_update().returning(|_, expected, _| {
            assert_eq!(expected, Revision(4));
            Ok(())
        });
        let context = context();
        let patch = ConnectionPatch {
            config: object(change.config),
            secrets: change.secrets.into_iter().map(|(name, secret)| (name.to_owned(), secret)).collect(),
            ..ConnectionPatch::default()
        };
        let proof = one::<ConnectionUpdate>(&context, connection_id(1));
        let found = connections(store, MockTester::new()).update(&proof, &context, patch, &nothing).await;
        match (found, change.expected) {
            (Ok(updated), Ok(names)) => {
                assert_eq!(updated.changed, names, "{}", change.name);
                let revision = if names.is_empty() { 4 } else { 5 };
                assert_eq!(updated.connection.revision, Revision(revision), "{}", change.name);
            }
            (Err(error), Err(expected)) => assert_eq!(told(error), expected, "{}", change.name),
            (found, _) => panic!("{}: {found:?}", change.name),
        }
    }
}

#[tokio::test]
async fn events_are_sent_elsewhere_only_by_who_may_read_them() {
    let of_one = workflow_id(1).to_string();
    for (config, held_back, expected) in [
        (json!({"url": "https://b.test"}), true, Some("config.url: exceedsOwnRights")),
        (json!({"url": "https://b.test"}), false, None),
        (json!({"url": "https://a.test"}), true, None),
    ] {
        let mut store = MockConnectionStore::new();
        let there =
            || connection(ConnectionKind::Webhook, json!({"url": "https://a.test"}), &["signingSecret"]);
        store.expect_get().returning(move |_, _| Ok(there()));
        store.expect_update().returning(|_, _, _| Ok(()));
        store.expect_subscriptions_over().returning(|_, id| {
            let of = |workflow| Subscription {
                id: WebhookId(Uuid::from_u128(7)),
                connection_id: id,
                event_types: vec!["*".to_owned()],
                workflows: Some(vec![workflow_id(workflow)]),
                paused: false,
            };
            Ok(vec![of(2), of(1)])
        });
        let context = if held_back { context_denied("workflow", "*", &of_one) } else { context() };
        let signing = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let patch = ConnectionPatch {
            config: object(config),
            secrets: BTreeMap::from([("signingSecret".to_owned(), Patch::Value(signing))]),
            ..ConnectionPatch::default()
        };
        let proof = one::<ConnectionUpdate>(&context, connection_id(1));
        let found = connections(store, MockTester::new()).update(&proof, &context, patch, &nothing).await;
        assert_eq!(found.err().map(|error| told(error).join(", ")).as_deref(), expected);
    }
}

#[tokio::test]
async fn a_change_of_what_was_changed_meanwhile_is_a_conflict() {
    let mut store = MockConnectionStore::new();
    store.expect_get().returning(|_, _| Ok(mail()));
    let context = context();
    let patch = ConnectionPatch { revision: Some(Revision(3)), ..ConnectionPatch::default() };
    let proof = one::<ConnectionUpdate>(&context, connection_id(1));
    let error =
        connections(store, MockTester::new()).update(&proof, &context, patch, &nothing).await.unwrap_err();
    assert_eq!(told(error), ["revision: revisionMismatch"]);
}

#[tokio::test]
async fn what_uses_a_connection_is_told_as_far_as_the_caller_may_read_it() {
    let [orders, secret] = [1, 2].map(|number| uuid::Uuid::from_u128(number).to_string());
    let shown = json!({"type": "webhook", "id": orders, "name": "orders"});
    for (context, expected) in [
        (context(), json!([shown, {"type": "webhook", "id": secret, "name": "secret"}])),
        (context_denied("webhook", "read", &secret), json!([shown, {"type": "webhook", "count": 1}])),
        (context_denied("webhook", "read", "*"), json!([{"type": "webhook", "count": 2}])),
    ] {
        let mut store = MockConnectionStore::new();
        let uses = [(orders.clone(), "orders"), (secret.clone(), "secret")];
        let uses = uses.map(|(id, name)| Use { kind: "webhook", id, name: name.to_owned() }).to_vec();
        store.expect_get().returning(|_, _| Err(StoreError::NotFound));
        store.expect_delete().returning(move |_, _, _, _| Ok(Deleted::InUse(uses.clone())));
        let proof = one::<ConnectionDelete>(&context, connection_id(1));
        let deleted =
            connections(store, MockTester::new()).delete(&proof, &context, None, &Journal::default()).await;
        let found = problems(deleted.unwrap_err());
        assert_eq!(found[0].reason, "inUse");
        assert_eq!(found[0].extra["usedBy"], expected);
    }
}

fn stored() -> StoredConnection {
    let sealed = SealedSecret { key: "k1".to_owned(), text: "dessap".to_owned() };
    StoredConnection { connection: mail(), sealed: BTreeMap::from([("password".to_owned(), sealed)]) }
}

#[tokio::test]
async fn a_test_opens_the_secrets_and_keeps_its_result() {
    let mut store = MockConnectionStore::new();
    store.expect_stored().returning(|_, _| Ok(stored()));
    store
        .expect_tested()
        .withf(|_, _, result, _| !result.ok && result.tested_at == START)
        .returning(|_, _, _, _| Ok(()));
    let mut tester = MockTester::new();
    tester.expect_test().returning(|opened, ping| {
        assert_eq!(opened.secret("password").map(Secret::expose), Some("passed"));
        assert_eq!((opened.port("port"), opened.text("security")), (Some(587), Some("starttls")));
        assert!(ping.webhook.is_none() && ping.message_id.starts_with("msg_"));
        assert!(!format!("{opened:?}").contains("passed"));
        Tested { ok: false, phase: Phase::Auth, latency_ms: 7, message: "refused".to_owned() }
    });
    let context = context();
    let proof = one::<ConnectionTest>(&context, connection_id(1));
    let result = connections(store, tester).test(&proof, &context, &nothing).await.unwrap();
    assert_eq!((result.phase, result.latency_ms), (Phase::Auth, 7));
}

#[tokio::test]
async fn a_secret_that_does_not_open_is_sent_nowhere() {
    let mut store = MockConnectionStore::new();
    store.expect_stored().returning(|_, _| Ok(stored()));
    let mut sealer = MockSealer::new();
    sealer.expect_open().returning(|_, _| Err(SealError::DoesNotOpen));
    let tester = Arc::new(MockTester::new());
    let connections = Connections::new(Arc::new(store), Arc::new(sealer), tester, workflows(), ids());
    let context = context();
    let proof = one::<ConnectionTest>(&context, connection_id(1));
    let error = connections.test(&proof, &context, &nothing::<TestResult>).await.unwrap_err();
    assert_eq!(told(error), ["secrets.password: secretUnreadable"]);
}

#[tokio::test]
async fn a_taken_name_is_told_at_the_name() {
    let mut store = MockConnectionStore::new();
    store.expect_insert().returning(|_, _, _| Err(StoreError::Duplicate("connections.name".to_owned())));
    let context = context();
    let config = json!({"host": "mx.test"});
    let error = connections(store, MockTester::new())
        .create(
            &kind::<ConnectionCreate>(&context),
            &context,
            new(ConnectionKind::Smtp, config, &[]),
            &nothing,
        )
        .await
        .unwrap_err();
    assert_eq!(told(error), ["name: notUnique"]);
}
