//! The work list, and the keys of events.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

async fn tasks(client: &Client, query: &str) -> Vec<String> {
    let listed = client.get(&format!("/api/human-tasks?{query}")).await.expect(200).data();
    listed.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_work_list_shows_open_tasks_of_whoever_is_meant() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (ada, _) = app.user("ada", &["worker"]).await;
        let definition = |settings: Value| {
            json!({
                "nodes": [{ "id": "s", "type": "startEvent" },
                    { "id": "work", "type": "userTask", "configuration": settings }, { "id": "e", "type": "endEvent" }],
                "edges": [{ "id": "a", "source": "s", "target": "work" },
                    { "id": "b", "source": "work", "target": "e" }],
            })
        };
        let begin = async |workflow: &str| {
            let run = admin.run(workflow, json!({})).await;
            let task = run["humanTasks"][0]["id"].as_str().unwrap().to_owned();
            (run["id"].as_str().unwrap().to_owned(), task)
        };
        let open = admin.publish("open", definition(json!({}))).await;
        let (done, ended) = begin(&open).await;
        let _ = admin.complete(&open, &done, "work", json!({})).await.expect(200);
        let (_, claimed) = begin(&open).await;
        let assign = format!("/api/human-tasks/{claimed}/assign");
        let _ = admin.post(&assign, json!({ "assignee": "ada@example.com" })).await.expect(200);
        let named = admin.publish("named", definition(json!({ "assignee": "ada@example.com" }))).await;
        let (_, modelled) = begin(&named).await;
        let workers = admin.publish("workers", definition(json!({ "candidateGroups": ["worker"] }))).await;
        let (_, grouped) = begin(&workers).await;

        let all = tasks(&admin, "limit=200").await;
        assert!(!all.contains(&ended), "only open ones unless another state is asked for");
        assert_eq!(all.len(), 3);
        assert_eq!(tasks(&admin, "state=completed").await, [ended]);
        for name in [ada.as_str(), "ada@example.com", "Ada@Example.com"] {
            let mut assigned = tasks(&admin, &format!("assignee={name}")).await;
            assigned.sort();
            let mut expected = vec![claimed.clone(), modelled.clone()];
            expected.sort();
            assert_eq!(assigned, expected, "{name}");
            let candidate = tasks(&admin, &format!("candidate={name}")).await;
            assert!(candidate.contains(&grouped), "{name}: {candidate:?}");
        }
        assert!(!tasks(&admin, "candidate=me").await.contains(&grouped));
        let _ = admin.get("/api/human-tasks?candidate=nobody").await.refused(400, "unknownUser");
        app.stop().await;
    });
}

#[tokio::test]
async fn signals_and_case_events_have_keys_of_their_own() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let event = |key: &str, kind: &str| json!({ "correlationKey": "c", "eventType": kind, "idempotencyKey": key, "payload": {} });
        let signal = |key: &str| json!({ "name": "stock", "payload": {}, "idempotencyKey": key });
        let first = admin.post("/api/case-events", event("signal:k", "paid")).await.expect(202).data();
        let sent = admin.post("/api/signals", signal("k")).await.expect(202).data();
        let _ = admin.post("/api/case-events", event("k", "paid")).await.expect(202);
        let again = admin.post("/api/signals", signal("k")).await.expect(202).data();
        assert_eq!(
            (&again["signal"]["id"], &again["signal"]["idempotencyKey"]),
            (&sent["signal"]["id"], &json!("k"))
        );
        let path = |id: &Value| format!("/api/case-events/{}", id.as_str().unwrap());
        let _ = admin.get(&path(&sent["signal"]["id"])).await.expect(404);
        let kept = admin.get(&path(&first["event"]["id"])).await.expect(200).data();
        assert_eq!(
            (&kept["state"], &kept["event"]["idempotencyKey"]),
            (&json!("buffered"), &json!("signal:k"))
        );
        for key in ["\u{1f}signal:k", "\u{1f}thrown:x"] {
            let _ = admin.post("/api/case-events", event(key, "paid")).await.refused(400, "wrongFormat");
            let _ = admin.post("/api/signals", signal(key)).await.refused(400, "wrongFormat");
        }
        // A kept event is over when its time is.
        app.advance("PT25H").await;
        let over = app.admin.get(&path(&first["event"]["id"])).await.expect(200).data();
        assert_eq!(over["state"], "expired", "{over}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_run_is_found_at_the_join_at_which_it_waits() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let elements = r#"<startEvent id="s"/><parallelGateway id="fork"/><userTask id="a"/><task id="b"/>
            <parallelGateway id="join"/><endEvent id="e"/>
            <sequenceFlow id="f1" sourceRef="s" targetRef="fork"/><sequenceFlow id="f2" sourceRef="fork" targetRef="a"/>
            <sequenceFlow id="f3" sourceRef="fork" targetRef="b"/><sequenceFlow id="f4" sourceRef="a" targetRef="join"/>
            <sequenceFlow id="f5" sourceRef="b" targetRef="join"/><sequenceFlow id="f6" sourceRef="join" targetRef="e"/>"#;
        let workflow = admin.publish_bpmn("sides", &models::process("p", "", elements)).await;
        let run = admin.run(&workflow, json!({})).await;
        let found = async |node: &str| {
            let path = format!("/api/workflows/{workflow}/runs?nodeId={node}");
            admin.get(&path).await.expect(200).data().as_array().unwrap().len()
        };
        assert_eq!((found("a").await, found("join").await, found("b").await), (1, 1, 0));
        let _ = admin.complete(&workflow, run["id"].as_str().unwrap(), "a", json!({})).await.expect(200);
        assert_eq!((found("a").await, found("join").await), (0, 0));
        app.stop().await;
    });
}
