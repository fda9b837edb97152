//! What runs do: gateways, timers, messages, signals, decisions, cancellation.

use heddle_testkit::{Client, TestApp, eventually, with_both};
use serde_json::{Value, json};

use crate::models;

fn id(run: &Value) -> String {
    run["id"].as_str().unwrap().to_owned()
}

async fn completed_nodes(client: &Client, workflow: &str, run: &str) -> Vec<String> {
    let events = client.events(workflow, run).await;
    let done = events.iter().filter(|event| event["type"] == "node.completed");
    done.filter_map(|event| event["nodeId"].as_str().map(str::to_owned)).collect()
}

async fn send(client: &Client, (key, name): (&str, &str), idempotency_key: &str, payload: Value) -> Value {
    let body = json!({
        "correlationKey": key, "eventType": name, "idempotencyKey": idempotency_key, "payload": payload,
    });
    client.post("/api/case-events", body).await.expect(202).data()
}

#[tokio::test]
async fn an_exclusive_gateway_takes_the_way_of_its_condition() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.workflow("purchase-approval").await;
        let small = app.admin.run(&workflow, json!({ "input": { "amount": 500 } })).await;
        assert_eq!(small["state"], "completed", "{small}");
        let done = completed_nodes(&app.admin, &workflow, &id(&small)).await;
        assert!(done.contains(&"order".to_owned()) && !done.contains(&"review".to_owned()), "{done:?}");
        let large = app.admin.run(&workflow, json!({ "input": { "amount": 501 } })).await;
        assert_eq!(large["activeNodes"][0]["nodeId"], "review", "{large}");
        let values = json!({ "values": { "approved": false } });
        let done = app.admin.complete(&workflow, &id(&large), "review", values).await.expect(200).data();
        assert_eq!(done["run"]["state"], "completed");
        let done = completed_nodes(&app.admin, &workflow, &id(&large)).await;
        assert!(done.contains(&"refused".to_owned()) && !done.contains(&"order".to_owned()), "{done:?}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_boundary_timer_takes_the_task_away() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.workflow("answer-deadline").await;
        let run = id(&app.admin.run(&workflow, json!({})).await);
        app.advance("P1DT23H").await;
        let now = app.admin.run_now(&workflow, &run).await;
        assert_eq!(now["humanTasks"][0]["nodeId"], "answer", "{now}");
        app.advance("PT2H").await;
        let now = app.admin.run_now(&workflow, &run).await;
        assert_eq!(now["activeNodes"][0]["nodeId"], "escalate", "{now}");
        let _ = app.admin.complete(&workflow, &run, "answer", json!({})).await.expect(409);
        let _ = app.admin.complete(&workflow, &run, "escalate", json!({})).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_timer_survives_a_restart_and_fires_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("timer", &models::timer("PT1H")).await;
        let run = id(&app.admin.run(&workflow, json!({})).await);
        let soon = app.admin.publish_bpmn("soon", &models::timer("PT1S")).await;
        let soon_run = id(&app.admin.run(&soon, json!({})).await);
        app.restart().await;
        // By the system's clock, without a call that would wake anything.
        let _ = app.admin.run_in(&soon, &soon_run, "completed").await;
        assert_eq!(app.admin.run_now(&workflow, &run).await["state"], "waiting");
        app.advance("PT1H1S").await;
        let _ = app.admin.run_in(&workflow, &run, "completed").await;
        let events = app.admin.events(&workflow, &run).await;
        assert_eq!(events.iter().filter(|event| event["type"] == "timer.fired").count(), 1, "{events:?}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_message_reaches_who_waits_and_is_kept_for_who_will() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let waiting = admin.publish_bpmn("waiting", &models::message(false)).await;
        let run = id(&admin.run(&waiting, json!({ "correlationKey": "order-1" })).await);
        let other = id(&admin.run(&waiting, json!({ "correlationKey": "order-2" })).await);
        let sent = send(&admin, ("order-1", "paid"), "k1", json!({ "amount": 7 })).await;
        assert_eq!(sent["workflowRunIds"], json!([run]), "{sent}");
        let _ = admin.run_in(&waiting, &run, "completed").await;
        assert_eq!(admin.run_now(&waiting, &other).await["state"], "waiting");

        // The same call again is the same event; another body under its key is refused.
        let again = send(&admin, ("order-1", "paid"), "k1", json!({ "amount": 7 })).await;
        assert_eq!(again["event"]["id"], sent["event"]["id"]);
        let body =
            json!({ "correlationKey": "order-2", "eventType": "paid", "idempotencyKey": "k1", "payload": 1 });
        let _ = admin.post("/api/case-events", body).await.refused(409, "idempotencyKeyReused");
        assert_eq!(admin.run_now(&waiting, &other).await["state"], "waiting");

        let later = admin.publish_bpmn("later", &models::message(true)).await;
        let run = id(&admin.run(&later, json!({ "correlationKey": "order-3" })).await);
        let early = send(&admin, ("order-3", "paid"), "k3", json!({})).await;
        let path = format!("/api/case-events/{}", early["event"]["id"].as_str().unwrap());
        assert_eq!(admin.get(&path).await.expect(200).data()["state"], "buffered");
        let _ = admin.complete(&later, &run, "work", json!({})).await.expect(200);
        let _ = admin.run_in(&later, &run, "completed").await;
        let status = admin.get(&path).await.expect(200).data();
        assert_eq!((&status["state"], &status["workflowRunIds"]), (&json!("consumed"), &json!([run])));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_signal_reaches_all_that_listen_and_starts_what_it_can() {
    let signal = r#"<signal id="s" name="stock"/>"#;
    let catch = format!(
        r#"<startEvent id="start"/><intermediateCatchEvent id="wait"><signalEventDefinition id="d" signalRef="s"/>
        </intermediateCatchEvent><endEvent id="end"/>{}"#,
        models::flows(&["start", "wait", "end"])
    );
    let begin = format!(
        r#"<startEvent id="start"><signalEventDefinition id="d" signalRef="s"/></startEvent><endEvent id="end"/>{}"#,
        models::flows(&["start", "end"])
    );
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let send = async |key: &str| {
            let body = json!({ "name": "stock", "payload": {}, "idempotencyKey": key });
            admin.post("/api/signals", body).await.expect(202).data()
        };
        assert_eq!(send("nobody").await["workflowRunIds"], json!([]));
        let starter = models::process("p", signal, &begin);
        let definition = admin.preview("s.bpmn", &starter).await;
        let starts = admin.create("starts", definition).await;
        let _ = admin.post(&format!("/api/workflows/{starts}/publish"), json!({})).await.expect(200);
        let waits = admin.publish_bpmn("waits", &models::process("p", signal, &catch)).await;
        let first = id(&admin.run(&waits, json!({})).await);
        let second = id(&admin.run(&waits, json!({})).await);
        let sent = send("all").await;
        let reached = sent["workflowRunIds"].as_array().unwrap().clone();
        assert_eq!(reached.len(), 3, "two that wait and one that starts: {sent}");
        for run in [&first, &second] {
            assert!(reached.contains(&json!(run)));
            let _ = admin.run_in(&waits, run, "completed").await;
        }
        let started = admin.get(&format!("/api/workflows/{starts}/runs")).await.expect(200).data();
        assert_eq!(started.as_array().map(Vec::len), Some(1), "{started}");
        assert_eq!(started[0]["trigger"]["kind"], "signal", "{started}");
        assert_eq!(send("all").await["signal"]["id"], sent["signal"]["id"]);
        app.stop().await;
    });
}

#[tokio::test]
async fn decisions_hold_let_go_try_again_pass_over_and_move() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let run = id(&admin.run(&work, json!({})).await);
        let held = admin.decide(&work, &run, json!({ "decision": "suspend" })).await.expect(200).data();
        assert_eq!(held["state"], "suspended");
        let _ = admin.complete(&work, &run, "work", json!({})).await.expect(409);
        let goes = admin.decide(&work, &run, json!({ "decision": "resume" })).await.expect(200).data();
        assert_eq!(goes["state"], "waiting");
        let _ = admin.decide(&work, &run, json!({ "decision": "resume" })).await.expect(409);
        let passed = admin.decide(&work, &run, json!({ "decision": "skip", "nodeId": "work" })).await;
        assert_eq!(passed.expect(200).data()["state"], "completed");
        let _ = admin
            .decide(&work, &run, json!({ "decision": "skip", "nodeId": "work" }))
            .await
            .refused(409, "ended");

        let run = id(&admin.run(&work, json!({})).await);
        let nowhere = json!({ "decision": "move", "nodeId": "work", "target": "nowhere" });
        let answer = admin.decide(&work, &run, nowhere).await;
        assert!(matches!(answer.status, 400 | 409), "{}", answer.text());
        let moved =
            admin.decide(&work, &run, json!({ "decision": "move", "nodeId": "work", "target": "end" })).await;
        assert_eq!(moved.expect(200).data()["state"], "completed");

        let ways = admin.publish_bpmn("ways", &models::gateway()).await;
        let stuck = admin.run(&ways, json!({ "input": { "way": "c" } })).await;
        assert_eq!((&stuck["hasIncident"], &stuck["state"]), (&json!(true), &json!("waiting")), "{stuck}");
        let run = id(&stuck);
        let listed =
            admin.get(&format!("/api/workflows/{ways}/runs?hasIncident=true")).await.expect(200).data();
        assert_eq!(listed[0]["id"], json!(run), "{listed}");
        let again = json!({ "decision": "retry", "variables": { "way": "b" } });
        let done = admin.decide(&ways, &run, again).await.expect(200).data();
        assert_eq!(done["state"], "completed", "{done}");
        assert!(completed_nodes(&admin, &ways, &run).await.contains(&"b".to_owned()));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_cancelled_run_ends_and_a_purged_one_is_gone() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let run = id(&admin.run(&work, json!({})).await);
        let path = format!("/api/workflows/{work}/runs/{run}");
        let _ = admin.delete(&format!("{path}?purge=true")).await.refused(409, "active");
        let _ = admin.delete(&format!("/api/workflows/{work}")).await.expect(409);
        let _ = admin.delete(&format!("{path}?reason=mistake")).await.expect(204);
        let ended = admin.run_now(&work, &run).await;
        assert_eq!((&ended["state"], &ended["humanTasks"]), (&json!("cancelled"), &json!([])), "{ended}");
        let events = admin.events(&work, &run).await;
        assert_eq!(events.last().unwrap()["data"]["reason"], "mistake", "{events:?}");
        // Done is done, and nothing is written again.
        let _ = admin.delete(&path).await.expect(204);
        assert_eq!(admin.events(&work, &run).await.len(), events.len());
        let _ = admin.delete(&format!("{path}?purge=true&reason=old")).await.expect(204);
        // Its history is gone; why is told by the audit log.
        let purged = admin.get("/api/audit-events?action=workflow.run_deleted").await.expect(200).data();
        assert_eq!(purged[0]["details"]["reason"], "old", "{purged}");
        let _ = admin.get(&path).await.expect(404);
        let _ = admin.get(&format!("{path}/events")).await.expect(404);
        let _ = admin.delete(&format!("{path}?purge=true")).await.expect(204);
        let _ = admin.delete(&format!("/api/workflows/{work}")).await.expect(204);
        let _ = admin.delete(&format!("/api/workflows/{work}")).await.expect(204);
        let _ = admin.get(&format!("/api/workflows/{work}")).await.expect(404);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_start_that_waits_answers_when_the_run_has_ended() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let starting = {
            let (admin, work) = (admin.clone(), work.clone());
            tokio::spawn(async move {
                admin.run(&work, json!({ "wait": "completion", "timeoutMs": 30000 })).await
            })
        };
        let open = eventually("a run", async || {
            let runs =
                admin.get(&format!("/api/workflows/{work}/runs?state=waiting")).await.expect(200).data();
            runs[0]["id"].as_str().map(str::to_owned)
        })
        .await;
        let _ = admin.complete(&work, &open, "work", json!({})).await.expect(200);
        let ended = starting.await.unwrap();
        assert_eq!((&ended["state"], &ended["id"]), (&json!("completed"), &json!(open)));
        let over = admin.run(&work, json!({ "wait": "completion", "timeoutMs": 50 })).await;
        assert_eq!(over["state"], "waiting");
        // A call that waits for nothing takes no longest time.
        let path = format!("/api/workflows/{work}/runs");
        let before = admin.get(&path).await.expect(200).data();
        for body in [json!({ "timeoutMs": 50 }), json!({ "wait": "firstWait", "timeoutMs": 50 })] {
            let refused = admin.post(&path, body).await;
            assert_eq!(refused.fields(), ["timeoutMs"]);
            let _ = refused.refused(400, "notAllowed");
        }
        assert_eq!(admin.get(&path).await.expect(200).data(), before, "no run is started");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_start_is_refused_with_a_reason() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let draft = admin.create("draft", json!({ "nodes": [], "edges": [] })).await;
        let _ = admin.post(&format!("/api/workflows/{draft}/runs"), json!({})).await.expect(409);
        let work = admin.publish_bpmn("work", &models::task()).await;
        let runs = format!("/api/workflows/{work}/runs");
        for body in
            [json!({ "version": 9 }), json!({ "processId": "other" }), json!({ "startNodeId": "work" })]
        {
            let answer = admin.post(&runs, body.clone()).await;
            assert!(matches!(answer.status, 400 | 404 | 409), "{body}: {}", answer.text());
        }
        let none = admin.get(&runs).await.expect(200).data();
        assert_eq!(none, json!([]));
        app.stop().await;
    });
}
