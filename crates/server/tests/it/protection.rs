//! Protection over HTTP: the catalogue, publishing, and runs whose nodes are protected.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

/// Start, a human task, end, with protection.
fn guarded(protection: &Value) -> Value {
    json!({
        "schemaVersion": 1,
        "protection": protection,
        "nodes": [
            { "id": "s", "type": "startEvent" },
            { "id": "work", "type": "userTask", "displayName": "Work" },
            { "id": "e", "type": "endEvent" }
        ],
        "edges": [
            { "id": "f1", "source": "s", "target": "work" },
            { "id": "f2", "source": "work", "target": "e" }
        ]
    })
}

#[tokio::test]
async fn the_catalogue_has_presets_and_checks_by_which_definitions_can_be_published() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let viewer = app.user("viewer", &["viewer"]).await.1;
        let catalog = viewer.get("/api/workflows/protection/catalog").await.expect(200).data();
        let presets: Vec<&str> =
            catalog["presets"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
        assert_eq!(presets, ["off", "basic", "standard", "strict"]);
        let checks = catalog["checks"].as_array().unwrap();
        let pii = checks.iter().find(|one| one["id"] == "pii").unwrap();
        assert_eq!((&pii["engine"], &pii["actions"][1]), (&json!("deterministic"), &json!("redact")));
        for preset in presets {
            let _ = app.admin.publish(&format!("w-{preset}"), guarded(&json!({ "preset": preset }))).await;
        }
        let wrong = guarded(&json!({ "preset": "standard", "customChecks": ["= 1 +"] }));
        let id = app.admin.create("wrong", wrong).await;
        let refused = app.admin.post(&format!("/api/workflows/{id}/publish"), json!({})).await.expect(400);
        assert!(refused.text().contains("unsupportedProtection"), "{}", refused.text());
        app.stop().await;
    });
}

#[tokio::test]
async fn what_a_run_brings_is_redacted_before_the_next_node_sees_it_and_the_history_says_so() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("w", guarded(&json!({ "preset": "standard" }))).await;
        let input = json!({ "note": "pay with 4111 1111 1111 1111", "amount": 3 });
        let run = app.admin.run(&workflow, json!({ "input": input })).await;
        let run = run["id"].as_str().unwrap().to_owned();
        let now = heddle_testkit::eventually("the task is open", async || {
            let now = app.admin.run_now(&workflow, &run).await;
            let text = now.to_string();
            text.contains("\"nodeId\":\"work\"").then_some(now)
        })
        .await;
        assert_eq!(now["variables"]["note"], "pay with [redacted: card]");
        assert_eq!(now["variables"]["amount"], 3);
        let events = app.admin.events(&workflow, &run).await;
        let told =
            events.iter().find(|one| one["type"] == "protection.violated").expect("an event of the hit");
        assert_eq!(told["data"]["checkId"], "pii");
        assert_eq!(told["data"]["spans"][0]["path"], "/note");
        assert!(!told.to_string().contains("4111"), "{told}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_violation_that_nothing_catches_is_an_incident_and_a_boundary_event_catches_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let check = json!({ "id": "noSecrets", "kind": "keywords", "stage": "input", "action": "block",
            "configuration": { "words": ["top secret"] } });
        let mut definition = guarded(&json!({ "customChecks": [check.to_string()] }));
        let workflow = app.admin.publish("bare", definition.clone()).await;
        let input = json!({ "note": "This is Top\u{200B} SECRET." });
        let run = app.admin.run(&workflow, json!({ "input": input })).await;
        let run = run["id"].as_str().unwrap().to_owned();
        let _ = heddle_testkit::eventually("an incident", async || {
            let now = app.admin.run_now(&workflow, &run).await;
            now.to_string().contains("PROTECTION_VIOLATION").then_some(())
        })
        .await;
        let nodes = definition["nodes"].as_array_mut().unwrap();
        nodes.push(json!({ "id": "caught", "type": "boundaryEvent", "bpmn": {
            "attachedToRef": "work", "eventDefinitions": [{ "id": "d", "type": "error" }] } }));
        nodes.push(json!({ "id": "refused", "type": "endEvent" }));
        let edges = definition["edges"].as_array_mut().unwrap();
        edges.push(json!({ "id": "f3", "source": "caught", "target": "refused" }));
        let workflow = app.admin.publish("caught", definition).await;
        let run = app.admin.run(&workflow, json!({ "input": { "note": "top secret" } })).await;
        let run = run["id"].as_str().unwrap().to_owned();
        let _ = app.admin.run_in(&workflow, &run, "completed").await;
        app.stop().await;
    });
}

#[tokio::test]
async fn no_worker_is_handed_what_the_service_does_itself() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let asked = json!({ "types": ["heddle:protection", "heddle:llm.chat"], "worker": "w", "maxJobs": 8 });
        let workflow = app.admin.publish("w", guarded(&json!({ "preset": "standard" }))).await;
        let _ = app.admin.run(&workflow, json!({ "input": { "a": "b" } })).await;
        let _ = app.admin.post("/api/jobs/activate", asked).await.refused(400, "notAllowed");
        let reserved = json!({ "schemaVersion": 1, "nodes": [
            { "id": "s", "type": "startEvent" },
            { "id": "t", "type": "serviceTask", "configuration": { "jobType": "heddle:llm.chat" } }
        ], "edges": [{ "id": "f", "source": "s", "target": "t" }] });
        let id = app.admin.create("reserved", reserved).await;
        let refused = app.admin.post(&format!("/api/workflows/{id}/publish"), json!({})).await.expect(400);
        assert!(refused.text().contains("heddle:"), "{}", refused.text());
        app.stop().await;
    });
}
