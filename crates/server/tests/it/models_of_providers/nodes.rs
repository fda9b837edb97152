//! Nodes that ask deployments: in whose name, how often, and what holds a deployment.

use std::time::Duration;

use heddle_testkit::{eventually, with_both};
use serde_json::{Value, json};

use super::upstream::{Reply, Upstream};
use super::{DEPLOYMENTS, service, small};

/// Start, a question to the deployment `small`, end.
fn asking() -> Value {
    json!({
        "schemaVersion": 1,
        "nodes": [
            { "id": "s", "type": "startEvent" },
            { "id": "ask", "type": "serviceTask", "configuration": {
                "kind": "llm.chat", "model": "small", "prompt": "What is a {{ thing }}?", "resultVariable": "said" } },
            { "id": "e", "type": "endEvent" }
        ],
        "edges": [
            { "id": "f", "source": "s", "target": "ask" }, { "id": "g", "source": "ask", "target": "e" }
        ]
    })
}

#[tokio::test]
async fn a_node_asks_once_and_its_answer_goes_into_the_run() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let deployment = small(&app.admin, &provider).await;
        let workflow = app.admin.publish("asks", asking()).await;
        let run = app.admin.run(&workflow, json!({ "input": { "thing": "loom" } })).await;
        let run = run["id"].as_str().unwrap().to_owned();
        let done = app.admin.run_in(&workflow, &run, "completed").await;
        assert_eq!(done["variables"]["said"]["text"], "It weaves.", "{done}");
        let asked = provider.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].body["messages"][0]["content"], "What is a loom?");
        let refused = app.admin.delete(&format!("{DEPLOYMENTS}/{deployment}")).await.refused(409, "inUse");
        assert!(refused.to_string().contains("\"workflow\""), "{refused}");
        app.stop().await;
    });
}

#[tokio::test]
async fn an_answer_that_comes_while_the_run_is_suspended_is_asked_for_once() {
    with_both!(|db| {
        let mut app = service(db).await;
        let late = Reply::chat("It weaves.").late(Duration::from_secs(2));
        let provider = Upstream::answering(late).await;
        let _ = small(&app.admin, &provider).await;
        let workflow = app.admin.publish("asks", asking()).await;
        let run = app.admin.run(&workflow, json!({ "input": { "thing": "loom" } })).await;
        let run = run["id"].as_str().unwrap().to_owned();
        eventually("a question", async || (provider.asked().len() == 1).then_some(())).await;
        let _ = app.admin.decide(&workflow, &run, json!({ "decision": "suspend" })).await.expect(200);
        eventually("an answer that is kept", async || {
            let events = app.admin.events(&workflow, &run).await;
            events.iter().any(|event| event["type"] == "job.kept").then_some(())
        })
        .await;
        let _ = app.admin.decide(&workflow, &run, json!({ "decision": "resume" })).await.expect(200);
        let done = app.admin.run_in(&workflow, &run, "completed").await;
        assert_eq!(done["variables"]["said"]["text"], "It weaves.", "{done}");
        assert_eq!(provider.asked().len(), 1);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_node_asks_nobody_whom_the_starter_may_not_use() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let _ = small(&app.admin, &provider).await;
        let workflow = app.admin.publish("asks", asking()).await;
        let (_, operator) = app.user("operator", &["operator"]).await;
        let run = operator.run(&workflow, json!({ "input": { "thing": "loom" } })).await;
        let run = run["id"].as_str().unwrap().to_owned();
        eventually("an incident", async || {
            let now = app.admin.run_now(&workflow, &run).await;
            now.to_string().contains("may not use the deployment").then_some(())
        })
        .await;
        assert!(provider.asked().is_empty());
        app.stop().await;
    });
}
