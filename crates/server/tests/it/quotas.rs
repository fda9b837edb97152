//! Quotas of what an organisation has stored.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

/// A process that the message `begin` starts, with a task.
fn started_by_message() -> Value {
    json!({
        "nodes": [
            { "id": "s", "type": "startEvent", "displayName": "s",
              "bpmn": { "eventDefinitions": [{ "type": "message", "reference": "m" }] } },
            { "id": "work", "type": "userTask", "displayName": "Work" },
            { "id": "e", "type": "endEvent", "displayName": "e" },
        ],
        "edges": [
            { "id": "f1", "source": "s", "target": "work" },
            { "id": "f2", "source": "work", "target": "e" },
        ],
        "bpmn": { "messages": [{ "id": "m", "name": "begin" }] },
    })
}

fn told(error: &Value) -> Value {
    let details = error["details"].as_array().unwrap();
    let detail = details.iter().find(|detail| detail["reason"] == "quotaExceeded").unwrap();
    json!([detail["limit"], detail["most"], detail["used"]])
}

#[tokio::test]
async fn a_full_organisation_begins_nothing_more_and_ends_what_is_there() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.quotas.runs = 3).await;
        let admin = app.admin.clone();
        let flow = admin.publish_bpmn("flow", &models::task()).await;
        let listening = admin.publish("listening", started_by_message()).await;
        let event = |key: &str| json!({ "correlationKey": "c", "eventType": "begin", "idempotencyKey": key, "payload": {} });
        let _ = admin.post("/api/case-events", event("k1")).await.expect(202);
        let first = admin.run(&flow, json!({})).await["id"].as_str().unwrap().to_owned();
        let second = admin.run(&flow, json!({})).await["id"].as_str().unwrap().to_owned();

        let runs = format!("/api/workflows/{flow}/runs");
        let error = admin.post(&runs, json!({})).await.refused(409, "quotaExceeded");
        assert_eq!(told(&error), json!(["runs", 3, 3]));
        let error = admin.post("/api/case-events", event("k2")).await.refused(409, "quotaExceeded");
        assert_eq!(told(&error), json!(["runs", 3, 3]));
        let counts = admin.get(&format!("/api/workflows/{listening}")).await.expect(200).data();
        assert_eq!(counts["runCounts"]["active"], 1, "{counts}");

        let _ = admin.complete(&flow, &first, "work", json!({})).await.expect(200);
        let _ = admin.run_in(&flow, &first, "completed").await;
        let _ = admin.post(&runs, json!({})).await.refused(409, "quotaExceeded");
        let _ = admin.delete(&format!("{runs}/{first}?purge=true")).await.expect(204);
        let _ = admin.post(&runs, json!({})).await.expect(201);
        let _ = admin.complete(&flow, &second, "work", json!({})).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_full_store_takes_no_more_definitions() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.quotas.stored_bytes = 30_000).await;
        // Nothing that packs small.
        let text: String = (1..6_000_u32)
            .map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761).rotate_left(n % 31)))
            .collect();
        let large = json!({ "nodes": [{ "id": "n", "type": "task", "configuration": { "text": text } }], "edges": [] });
        let _ = app.admin.create("first", large).await;
        let body = json!({ "slug": "more", "displayName": "More", "description": "",
            "definition": { "nodes": [], "edges": [] } });
        let error = app.admin.post("/api/workflows", body).await.refused(409, "quotaExceeded");
        assert_eq!(told(&error)[0], "storedBytes", "{error}");
        app.stop().await;
    });
}
