//! Call activities: other workflows are called, and their ends, errors and withdrawals reach who called them.

use heddle_testkit::{Client, TestApp, eventually, with_both};
use serde_json::{Value, json};

use crate::models;

fn id(run: &Value) -> String {
    run["id"].as_str().unwrap().to_owned()
}

/// A process of these elements in a row, between a start and an end.
fn chain(process: &str, root: &str, elements: &str, ids: &[&str]) -> String {
    let mut all = vec!["start"];
    all.extend(ids);
    all.push("end");
    let content = format!(r#"<startEvent id="start"/>{elements}<endEvent id="end"/>{}"#, models::flows(&all));
    models::process(process, root, &content)
}

/// The only run of a workflow, as soon as there is one.
async fn only(client: &Client, workflow: &str) -> Value {
    eventually("called run", async || {
        let runs = client.get(&format!("/api/workflows/{workflow}/runs")).await.expect(200).data();
        runs.as_array().and_then(|all| all.first().cloned())
    })
    .await
}

#[tokio::test]
async fn another_workflow_is_called_and_its_variables_come_back() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let target =
            admin.publish_bpmn("target", &chain("asked", "", r#"<userTask id="ask"/>"#, &["ask"])).await;
        let call = r#"<callActivity id="call" calledElement="asked"/>"#;
        let workflow = admin.publish_bpmn("caller", &chain("calls", "", call, &["call"])).await;
        let body = json!({ "input": { "a": 1 }, "businessKey": "order-7" });
        let parent = id(&admin.run(&workflow, body).await);
        let child = only(&admin, &target).await;
        assert_eq!((&child["parentRunId"], &child["rootRunId"]), (&json!(parent), &json!(parent)), "{child}");
        assert_eq!((&child["trigger"]["kind"], &child["businessKey"]), (&json!("call"), &json!("order-7")));
        let path = format!("/api/workflows/{workflow}/runs/{parent}?include=children");
        let shown = admin.get(&path).await.expect(200).data();
        let expected = json!([
            { "id": child["id"], "workflowId": target, "nodeId": "call", "state": "waiting" }
        ]);
        assert_eq!(shown["children"], expected, "{shown}");
        let _ =
            admin.complete(&target, &id(&child), "ask", json!({ "values": { "x": 2 } })).await.expect(200);
        let ended = admin.run_in(&workflow, &parent, "completed").await;
        assert_eq!(ended["output"], json!({ "a": 1, "x": 2 }), "{ended}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_call_of_nothing_is_an_incident_and_cancelling_a_caller_cancels_what_it_called() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let call = r#"<callActivity id="call" calledElement="asked"/>"#;
        let workflow = admin.publish_bpmn("caller", &chain("calls", "", call, &["call"])).await;
        let parent = id(&admin.run(&workflow, json!({})).await);
        let code = eventually("incident", async || {
            let now = admin.run_now(&workflow, &parent).await;
            now["incidents"][0]["code"].as_str().map(str::to_owned)
        });
        assert_eq!(code.await, "CALL_FAILED");
        let target =
            admin.publish_bpmn("target", &chain("asked", "", r#"<userTask id="ask"/>"#, &["ask"])).await;
        let path = format!("/api/workflows/{workflow}/runs/{parent}/decision");
        let _ = admin.post(&path, json!({ "decision": "retry" })).await.expect(200);
        let child = id(&only(&admin, &target).await);
        let _ = admin.delete(&format!("/api/workflows/{workflow}/runs/{parent}")).await;
        let _ = admin.run_in(&target, &child, "cancelled").await;
        app.stop().await;
    });
}

#[tokio::test]
async fn a_process_and_a_global_task_of_the_same_model_are_called() {
    let model = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:x">
        <globalTask id="shared" name="Shared"/>
        <process id="inner" isExecutable="true"><startEvent id="s2"/><callActivity id="c2" calledElement="shared"/>
        <endEvent id="e2"/><sequenceFlow id="g1" sourceRef="s2" targetRef="c2"/>
        <sequenceFlow id="g2" sourceRef="c2" targetRef="e2"/></process>
        <process id="outer" isExecutable="true"><startEvent id="s1"/><callActivity id="c1" calledElement="inner"/>
        <endEvent id="e1"/><sequenceFlow id="f1" sourceRef="s1" targetRef="c1"/>
        <sequenceFlow id="f2" sourceRef="c1" targetRef="e1"/></process></definitions>"#;
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.publish_bpmn("both", model).await;
        let parent = id(&admin.run(&workflow, json!({ "processId": "outer" })).await);
        let _ = admin.run_in(&workflow, &parent, "completed").await;
        let runs = admin.get(&format!("/api/workflows/{workflow}/runs")).await.expect(200).data();
        let mut processes: Vec<&str> =
            runs.as_array().unwrap().iter().filter_map(|run| run["processId"].as_str()).collect();
        processes.sort_unstable();
        assert_eq!(processes, ["inner", "outer", "shared"]);
        assert!(runs.as_array().unwrap().iter().all(|run| run["rootRunId"] == json!(parent)), "{runs}");
        app.stop().await;
    });
}
