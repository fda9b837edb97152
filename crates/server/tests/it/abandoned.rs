//! Steps that take longer than they may: given up as if they had never begun.

use std::time::Duration;

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

/// Some scripts that compute for long, one behind the other.
fn heavy(start: Value) -> Value {
    let script = json!({ "kind": "feel", "source": "count(for i in 1..1000, j in 1..900 return i * j)",
        "resultVariable": "n" });
    let mut first = json!({ "id": "start", "type": "startEvent", "displayName": "start" });
    first.as_object_mut().unwrap().extend(start.as_object().cloned().unwrap_or_default());
    let mut nodes = vec![first];
    for n in 0..5 {
        let id = format!("script{n}");
        nodes.push(json!({ "id": id, "type": "scriptTask", "displayName": id, "configuration": script }));
    }
    nodes.push(json!({ "id": "end", "type": "endEvent", "displayName": "end" }));
    let ids: Vec<Value> = nodes.iter().map(|node| node["id"].clone()).collect();
    let edges = ids.windows(2).enumerate();
    let edges = edges.map(|(n, pair)| json!({ "id": format!("f{n}"), "source": pair[0], "target": pair[1] }));
    json!({ "nodes": nodes, "edges": edges.collect::<Vec<_>>() })
}

#[tokio::test]
async fn a_caller_is_told_to_come_again_and_nothing_is_kept() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.step_limit = Duration::from_millis(1)).await;
        let admin = app.admin.clone();
        let workflow = admin.publish("heavy", heavy(json!({}))).await;
        let runs = format!("/api/workflows/{workflow}/runs");
        for _ in 0..2 {
            let answer = admin.post(&runs, json!({})).await;
            let seconds: u64 = answer.header("retry-after").parse().unwrap();
            assert!(seconds > 0);
            let error = answer.refused(503, "abandoned");
            assert_eq!(error["details"][0]["limit"], "step_seconds");
        }
        assert_eq!(admin.get(&runs).await.expect(200).data(), json!([]));
        // What is small goes on as ever.
        let small = admin.publish_bpmn("small", &crate::models::task()).await;
        assert_eq!(admin.run(&small, json!({})).await["state"], "waiting");
        app.stop().await;
    });
}

#[tokio::test]
async fn background_work_that_is_given_up_is_tried_again_and_then_set_aside() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.step_limit = Duration::from_millis(1)).await;
        let timer = json!({ "bpmn": { "eventDefinitions": [{ "type": "timer", "timeCycle": "R/PT12H" }] } });
        let workflow = app.admin.publish("heavy", heavy(timer)).await;
        app.advance("PT13H").await;
        app.sign_in_again().await;
        let letters = app.admin.get("/api/dead-letters").await.expect(200).data();
        assert_eq!(letters.as_array().map(Vec::len), Some(1), "{letters}");
        let letter = &letters[0];
        assert_eq!(
            (&letter["workflowId"], &letter["reason"]),
            (&json!(workflow), &json!("failed")),
            "{letter}"
        );
        assert_eq!(letter["attempts"], 10, "{letter}");
        assert!(letter["message"].as_str().unwrap().contains("given up"), "{letter}");
        let runs = app.admin.get(&format!("/api/workflows/{workflow}/runs")).await.expect(200).data();
        assert_eq!(runs, json!([]));
        app.stop().await;
    });
}
