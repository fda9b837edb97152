//! The main job: from a BPMN file to a finished run, and back to the file.

use std::collections::BTreeSet;

use heddle_testkit::sse::{Event, Stream};
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

pub(crate) const APPROVAL: &str = include_str!("../../demo/approval.bpmn");

#[tokio::test]
async fn from_a_file_to_a_finished_run_and_back() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let definition = admin.preview("approval.bpmn", APPROVAL).await;
        assert_eq!(definition["imports"][0]["executable"], true, "{definition}");
        let workflow = admin.create("approval", definition).await;
        let saved = admin.get(&format!("/api/workflows/{workflow}")).await.expect(200).data();
        assert_eq!(saved["state"], "draft");
        let version = admin.post(&format!("/api/workflows/{workflow}/publish"), json!({})).await.expect(200);
        assert_eq!(version.data()["number"], 1);

        let run = admin.run(&workflow, json!({ "input": { "amount": 900 } })).await;
        let id = run["id"].as_str().unwrap().to_owned();
        assert_eq!(run["state"], "waiting", "{run}");
        assert_eq!(run["humanTasks"][0]["nodeId"], "review", "{run}");
        let work = admin.get(&format!("/api/human-tasks?runId={id}&state=open")).await.expect(200).data();
        assert_eq!(work.as_array().map(Vec::len), Some(1), "{work}");

        // What is shown before the interruption, live, and after it, is one history.
        let mut stream = Stream::open(&admin, &workflow, &id, None).await;
        let mut seen = stream.until("task.created").await;
        drop(stream);
        app.restart().await;
        let last = seen.last().and_then(|event| event.id).unwrap();
        let mut stream = Stream::open(&admin, &workflow, &id, Some(last)).await;
        let done = admin.complete(&workflow, &id, "review", json!({ "values": { "approved": true } })).await;
        assert_eq!(done.expect(200).data()["run"]["state"], "completed");
        seen.extend(stream.rest().await);
        let end = seen.pop().unwrap();
        assert_eq!((end.event.as_str(), end.id), ("end", None));
        history_is_whole(&admin, (&workflow, &id), &seen).await;

        // Who comes with the last id has seen everything.
        let last = seen.last().and_then(|event| event.id);
        let again = Stream::open(&admin, &workflow, &id, last).await.rest().await;
        assert_eq!(again.iter().map(|event| event.event.as_str()).collect::<Vec<_>>(), ["end"]);
        let _ = admin.complete(&workflow, &id, "review", json!({})).await.expect(409);
        exported_again(&admin, &workflow).await;
        app.stop().await;
    });
}

/// The stream's events are those of the list, without a gap and without a repeat.
async fn history_is_whole(client: &Client, (workflow, run): (&str, &str), seen: &[Event]) {
    let ids: Vec<u64> = seen.iter().filter_map(|event| event.id).collect();
    let expected: Vec<u64> = (1..=ids.len() as u64).collect();
    assert_eq!(ids, expected);
    let listed = client.events(workflow, run).await;
    let streamed: Vec<Value> = seen.iter().map(|event| event.data.clone()).collect();
    assert_eq!(listed, streamed);
    assert_eq!(seen.last().unwrap().event, "run.completed");
}

/// The exported file, previewed again, has the same nodes and edges; the source is what was sent.
async fn exported_again(client: &Client, workflow: &str) {
    let definition =
        client.get(&format!("/api/workflows/{workflow}")).await.expect(200).data()["definition"].take();
    let exported = client.get(&format!("/api/workflows/{workflow}/export/bpmn")).await.expect(200);
    assert_eq!(exported.header("content-type"), "application/xml");
    assert!(exported.header("content-disposition").contains(".bpmn"), "{:?}", exported.headers);
    let again = client.preview("again.bpmn", &exported.text()).await;
    assert_eq!(ids(&definition), ids(&again));
    let wrapped = client.with("accept", "application/json");
    let wrapped = wrapped.get(&format!("/api/workflows/{workflow}/export/bpmn")).await.expect(200).data();
    assert_eq!(wrapped["content"], exported.text());
}

/// The ids of all nodes and edges, wherever they stand.
fn ids(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(value, &mut found);
    assert!(found.len() > 2, "{value}");
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            for (name, member) in members {
                if let ("nodes" | "edges", Value::Array(items)) = (name.as_str(), member) {
                    found.extend(items.iter().filter_map(|item| item["id"].as_str()).map(str::to_owned));
                }
                collect(member, found);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn a_file_of_the_model_interchange_group_keeps_its_ids_and_bytes() {
    let place = heddle_testkit::suites("bpmn/miwg/C.1.0.bpmn");
    let Some(file) = place else { return };
    let bytes = std::fs::read(&file).unwrap();
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let raw =
            admin.request("POST", "/api/workflows/transform/preview").body("application/xml", bytes.clone());
        let preview = raw.send().await.expect(200).data();
        let mut definition = preview["definition"].clone();
        definition["imports"] = json!([preview["import"]]);
        let workflow = admin.create("miwg", definition).await;
        let source = admin.get(&format!("/api/workflows/{workflow}/import-source")).await.expect(200);
        assert!(source.bytes == bytes, "byte for byte");
        assert_eq!(source.header("content-type"), "application/xml");
        exported_again(admin, &workflow).await;
        let other = admin.create("by-hand", json!({ "nodes": [], "edges": [] })).await;
        let _ = admin.get(&format!("/api/workflows/{other}/import-source")).await.expect(404);
        app.stop().await;
    });
}
