//! Data stores that runs share, sets that a process needs, follow-up dates of tasks and branches of flows.

use heddle_testkit::{TestApp, eventually, with_both};
use serde_json::{Value, json};

/// A process of one human task, with the store `Orders`.
fn process(id: &str, task: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:t">
        <dataStore id="store" name="Orders"/><process id="{id}" isExecutable="true">
        <dataStoreReference id="ref" dataStoreRef="store"/><startEvent id="s"/>
        <sequenceFlow id="f" sourceRef="s" targetRef="t"/><userTask id="t">{task}</userTask>
        <sequenceFlow id="g" sourceRef="t" targetRef="e"/><endEvent id="e"/></process></definitions>"#
    )
}

fn reader() -> String {
    process(
        "reader",
        r#"<ioSpecification><dataInput id="i" name="stock"/><inputSet><dataInputRefs>i</dataInputRefs></inputSet><outputSet/>
        </ioSpecification><dataInputAssociation id="a"><sourceRef>ref</sourceRef><targetRef>i</targetRef></dataInputAssociation>"#,
    )
}

fn writer() -> String {
    process(
        "writer",
        r#"<ioSpecification><dataOutput id="o" name="result"/><inputSet/>
        <outputSet><dataOutputRefs>o</dataOutputRefs></outputSet></ioSpecification>
        <dataOutputAssociation id="a"><sourceRef>o</sourceRef><targetRef>ref</targetRef></dataOutputAssociation>"#,
    )
}

fn id(run: &Value) -> String {
    run["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_data_store_outlives_its_run_and_its_write_wakes_who_waits_for_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let reads = app.admin.publish_bpmn("reader", &reader()).await;
        let writes = app.admin.publish_bpmn("writer", &writer()).await;
        let first = id(&app.admin.run(&reads, json!({})).await);
        assert_eq!(app.admin.run_now(&reads, &first).await["humanTasks"], json!([]));
        let write = id(&app.admin.run(&writes, json!({})).await);
        let values = json!({ "values": { "result": { "pieces": 7 } } });
        let _ = app.admin.complete(&writes, &write, "t", values).await.expect(200);
        eventually("the reader is told", async || {
            let run = app.admin.run_now(&reads, &first).await;
            (run["humanTasks"][0]["nodeId"] == "t").then_some(())
        })
        .await;
        app.restart().await;
        let second = id(&app.admin.run(&reads, json!({})).await);
        assert_eq!(app.admin.run_now(&reads, &second).await["humanTasks"][0]["nodeId"], "t");
        let events = app.admin.events(&reads, &second).await;
        let stock = json!({ "stock": { "pieces": 7 } });
        assert!(events.iter().any(|event| event["data"]["values"] == stock), "{events:?}");
        let events = app.admin.events(&writes, &write).await;
        let written = events.iter().find(|event| event["type"] == "dataStore.written").unwrap();
        assert_eq!(written["data"], json!({ "store": "Orders", "value": { "pieces": 7 } }));

        // Another organisation has a store of its own.
        let (organization, other) = app.second_organization("other").await;
        let other = other.within(&organization);
        let theirs = other.publish_bpmn("reader", &reader()).await;
        let run = id(&other.run(&theirs, json!({})).await);
        assert_eq!(other.run_now(&theirs, &run).await["humanTasks"], json!([]));
        app.stop().await;
    });
}

#[tokio::test]
async fn what_a_process_needs_is_named_when_it_is_not_there() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let process = json!({"id": "p", "executable": true, "dataInputs": [{"id": "i", "name": "amount"}],
            "inputSets": [{"dataInputRefs": ["i"]}], "nodes": [{"id": "s", "type": "startEvent"},
            {"id": "t", "type": "userTask"}], "edges": [{"id": "f", "source": "s", "target": "t"}]});
        let workflow = app.admin.publish("needs", json!({"bpmn": {"processes": [process]}})).await;
        let path = format!("/api/workflows/{workflow}/runs");
        let refused = app.admin.post(&path, json!({ "input": { "other": 1 } })).await;
        assert_eq!(refused.fields(), ["input.amount"]);
        let _ = refused.expect(400);
        let run = app.admin.run(&workflow, json!({ "input": { "amount": 1 } })).await;
        assert_eq!(run["activeNodes"][0]["nodeId"], "t", "{run}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_task_tells_when_to_look_at_it_again_and_its_outcome_takes_its_branch() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let settings = json!({"outcomes": ["yes", "no"], "followUpDate": "2031-01-02T03:04:05Z"});
        let definition = json!({"nodes": [{"id": "s", "type": "startEvent"},
            {"id": "review", "type": "userTask", "configuration": settings}, {"id": "x", "type": "exclusiveGateway"},
            {"id": "a", "type": "userTask"}, {"id": "b", "type": "userTask"}],
            "edges": [{"id": "f", "source": "s", "target": "review"}, {"id": "g", "source": "review", "target": "x"},
            {"id": "y", "source": "x", "target": "a", "branch": "yes"},
            {"id": "n", "source": "x", "target": "b", "branch": "no"}]});
        let workflow = app.admin.publish("branches", definition).await;
        let run = id(&app.admin.run(&workflow, json!({})).await);
        let listed = async |until: &str| -> Vec<Value> {
            let path = format!("/api/human-tasks?runId={run}&followUp={until}");
            let page = app.admin.get(&path).await.expect(200).json();
            page["data"].as_array().unwrap().clone()
        };
        assert_eq!(listed("2031-01-02T03:04:05Z").await, Vec::<Value>::new());
        let found = listed("2031-01-02T03:04:06Z").await;
        assert_eq!(found.len(), 1);
        assert_eq!(
            (&found[0]["nodeId"], &found[0]["followUpAt"]),
            (&json!("review"), &json!("2031-01-02T03:04:05.000Z"))
        );
        let done =
            app.admin.complete(&workflow, &run, "review", json!({ "outcome": "no" })).await.expect(200);
        assert_eq!(done.data()["run"]["activeNodes"][0]["nodeId"], "b", "{}", done.data());
        app.stop().await;
    });
}
