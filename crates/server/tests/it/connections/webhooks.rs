//! Webhooks as a resource; their deliveries are tried with the runner that makes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{SIGNING_KEY, Service, at, members, receiver_of};
use crate::models;

/// HMAC-SHA-256 (RFC 2104) in base64, as a receiver would compute it.
fn hmac(key: &[u8], text: &[u8]) -> String {
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(key);
    let pad = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
    STANDARD.encode(Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize())
}

#[tokio::test]
async fn a_webhook_is_made_changed_paused_and_deleted() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let over = receiver_of(&admin, "receiver", "https://example.com/hook").await;
        let workflow = admin.publish_bpmn("flow", &models::task()).await;
        let body = json!({ "name": "ledger", "connectionId": over,
            "eventTypes": ["run.failed", "run.completed"], "workflows": [workflow] });
        let made = admin.post("/api/webhooks", body.clone()).await.expect(201);
        let id = made.id();
        let path = format!("/api/webhooks/{id}");
        assert_eq!((made.header("location"), made.header("etag")), (path.as_str(), "\"1\""));
        let shown = made.data();
        assert_eq!(shown["eventTypes"], json!(["run.completed", "run.failed"]));
        assert_eq!(
            (&shown["paused"], &shown["pauseReason"], &shown["lastDelivery"]),
            (&json!(false), &Value::Null, &Value::Null)
        );
        assert_eq!(admin.get(&path).await.expect(200).data(), shown);
        let _ = admin.post("/api/webhooks", body).await.refused(409, "notUnique");
        let paused =
            admin.patch(&path, json!({ "paused": true, "workflows": null })).await.expect(200).data();
        assert_eq!((&paused["pauseReason"], &paused["workflows"]), (&json!("caller"), &Value::Null));
        let listed = admin.get("/api/webhooks?paused=true").await.expect(200).data();
        assert_eq!(members(&listed, "id"), std::slice::from_ref(&id));
        assert_eq!(admin.get("/api/webhooks?paused=false").await.expect(200).data(), json!([]));
        let _ = admin
            .patch(&path, json!({ "paused": false, "revision": 1 }))
            .await
            .refused(409, "revisionMismatch");
        let _ = admin.delete(&path).await.expect(204);
        let _ = admin.delete(&path).await.expect(204);
        let _ = admin.get(&path).await.expect(404);
        let events =
            admin.get(&format!("/api/audit-events?limit=200&resource=webhook/{id}")).await.expect(200);
        assert_eq!(
            members(&events.data(), "action"),
            ["webhook.deleted", "webhook.updated", "webhook.created"]
        );
        app.stop().await;
    });
}

#[tokio::test]
async fn what_a_webhook_may_not_say_is_named() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let over = receiver_of(&app.admin, "receiver", "https://example.com/hook").await;
        let http = super::bearer(&app.admin, "http", "https://example.com").await;
        let good = json!({ "name": "w", "connectionId": over, "eventTypes": ["*"] });
        for (change, field, reason) in [
            (json!({ "eventTypes": [] }), "eventTypes", "tooShort"),
            (json!({ "eventTypes": ["run.exploded"] }), "eventTypes[0]", "unknownValue"),
            (json!({ "eventTypes": ["*", "run.failed"] }), "eventTypes[0]", "notAllowed"),
            (json!({ "eventTypes": ["run.failed", "run.failed"] }), "eventTypes[1]", "notUnique"),
            // An empty list is not every workflow.
            (json!({ "workflows": [] }), "workflows", "tooShort"),
            (json!({ "workflows": [crate::samples::NOBODY] }), "workflows[0]", "notFound"),
            (json!({ "workflows": ["flow"] }), "workflows[0]", "wrongType"),
            (json!({ "connectionId": http }), "connectionId", "notAllowed"),
            (json!({ "connectionId": crate::samples::NOBODY }), "connectionId", "notFound"),
            (json!({ "connectionId": "x" }), "connectionId", "wrongType"),
            (json!({ "name": "" }), "name", "tooShort"),
        ] {
            let mut body = good.clone();
            body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            let refused = app.admin.post("/api/webhooks", body).await.refused(400, reason);
            assert_eq!(refused["details"][0]["field"], field, "{change}: {refused}");
        }
        app.stop().await;
    });
}

/// A webhook sends what its maker may read, and no more.
#[tokio::test]
async fn nobody_sends_what_they_may_not_read() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let over = receiver_of(&app.admin, "receiver", "https://example.com/hook").await;
        let (user, person) = app.user("person", &["administrator"]).await;
        let hidden = app.admin.publish_bpmn("hidden", &models::task()).await;
        let open = app.admin.publish_bpmn("open", &models::task()).await;
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "workflow",
            "action": "*", "resourceId": hidden, "effect": "deny" });
        let _ = app.admin.post("/api/grants", deny).await.expect(201);
        let of = |name: &str, workflows: Value| json!({ "name": name, "connectionId": over, "eventTypes": ["*"], "workflows": workflows });
        let _ = person.post("/api/webhooks", of("all", Value::Null)).await.refused(403, "exceedsOwnRights");
        let _ = person
            .post("/api/webhooks", of("hidden", json!([hidden])))
            .await
            .refused(403, "exceedsOwnRights");
        let made = person.post("/api/webhooks", of("open", json!([open]))).await.expect(201).id();
        let path = format!("/api/webhooks/{made}");
        let _ = person
            .patch(&path, json!({ "workflows": [open, hidden] }))
            .await
            .refused(403, "exceedsOwnRights");
        let _ = app.admin.patch(&path, json!({ "workflows": [open, hidden] })).await.expect(200);
        // Pausing sends nothing more, and is theirs to do.
        let _ = person.patch(&path, json!({ "paused": true })).await.expect(200);

        // Who may list runs and not read them is sent none of what a reader sees, nor points others' events to themselves.
        let (user, lister) = app.user("lister", &["administrator"]).await;
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "run",
            "action": "read", "resourceId": "*", "effect": "deny" });
        let _ = app.admin.post("/api/grants", deny).await.expect(201);
        let _ = lister.post("/api/webhooks", of("none", Value::Null)).await.refused(403, "exceedsOwnRights");
        let _ = lister.post("/api/webhooks", of("one", json!([open]))).await.refused(403, "exceedsOwnRights");
        let moved = json!({ "config": { "url": "https://example.org/hook" }, "secrets": { "signingSecret": SIGNING_KEY } });
        let _ = lister.patch(&at(&over), moved).await.refused(403, "exceedsOwnRights");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_ping_is_signed_as_standard_webhooks_says() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.egress_loopback = true).await;
        let admin = app.admin.clone();
        let service = Service::answering("204 No Content").await;
        let over = receiver_of(&admin, "receiver", &service.url()).await;
        let body = json!({ "name": "w", "connectionId": over, "eventTypes": ["*"], "paused": true });
        let id = admin.post("/api/webhooks", body).await.expect(201).id();
        let tested = admin.post(&format!("/api/webhooks/{id}/test"), json!({})).await.expect(200).data();
        assert_eq!(tested["ok"], true, "{tested}");
        let sent = service.seen().remove(0);
        let (head, payload) = sent.split_once("\r\n\r\n").unwrap();
        let header = |wanted: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            let found = lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.unwrap_or_else(|| panic!("no {wanted} in {head}")).1.to_owned()
        };
        let signed = format!("{}.{}.{payload}", header("webhook-id"), header("webhook-timestamp"));
        let key = STANDARD.decode(SIGNING_KEY.trim_start_matches("whsec_")).unwrap();
        assert_eq!(header("webhook-signature"), format!("v1,{}", hmac(&key, signed.as_bytes())));
        let payload: Value = serde_json::from_str(payload).unwrap();
        assert_eq!(payload["type"], "ping", "{payload}");
        assert!(payload.to_string().contains(&id), "{payload}");

        // While the key changes a message has both signatures.
        let change = json!({ "secrets": { "signingSecret": "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4", "previousSigningSecret": SIGNING_KEY } });
        let _ = admin.patch(&at(&over), change).await.expect(200);
        let _ = admin.post(&format!("/api/webhooks/{id}/test"), json!({})).await.expect(200);
        let sent = service.seen().remove(1);
        let signatures =
            sent.lines().find(|line| line.to_ascii_lowercase().starts_with("webhook-signature")).unwrap();
        assert_eq!(signatures.matches("v1,").count(), 2, "{signatures}");

        let gone = Service::answering("410 Gone").await;
        let moved = json!({ "config": { "url": gone.url() }, "secrets": { "signingSecret": SIGNING_KEY, "previousSigningSecret": null } });
        let _ = admin.patch(&at(&over), moved).await.expect(200);
        let tested = admin.post(&format!("/api/webhooks/{id}/test"), json!({})).await.expect(200).data();
        assert_eq!(tested["ok"], false, "{tested}");
        assert!(!tested.to_string().contains("canary"), "{tested}");
        let events =
            admin.get(&format!("/api/audit-events?action=webhook.tested&resource=webhook/{id}")).await;
        assert_eq!(events.expect(200).data().as_array().map(Vec::len), Some(3));
        app.stop().await;
    });
}
