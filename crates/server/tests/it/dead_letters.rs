//! Dead letters: starts that refuse an event, and what operators do about them.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

/// A process that the message `refused` starts, with a schema for its input.
fn started_by_message(schema: Value) -> Value {
    json!({
        "nodes": [
            { "id": "s", "type": "startEvent", "displayName": "s", "configuration": { "inputSchema": schema },
              "bpmn": { "eventDefinitions": [{ "type": "message", "reference": "m" }] } },
            { "id": "e", "type": "endEvent", "displayName": "e" },
        ],
        "edges": [{ "id": "s-e", "source": "s", "target": "e" }],
        "bpmn": { "messages": [{ "id": "m", "name": "refused" }] },
    })
}

async fn publish(client: &Client, slug: &str, schema: Value) -> String {
    let workflow = client.create(slug, started_by_message(schema)).await;
    let _ = client.post(&format!("/api/workflows/{workflow}/publish"), json!({})).await.expect(200);
    workflow
}

async fn send(client: &Client, key: &str) -> Value {
    let body = json!({ "correlationKey": "c", "eventType": "refused", "idempotencyKey": key, "payload": {} });
    client.post("/api/case-events", body).await.expect(202).data()
}

/// A dead letter of a workflow of its own.
pub(crate) async fn one(client: &Client) -> Value {
    let _ = publish(client, "refuses", json!({ "required": ["nope"] })).await;
    let _ = send(client, "makes-a-dead-letter").await;
    client.get("/api/dead-letters").await.expect(200).data()[0].clone()
}

#[tokio::test]
async fn a_start_that_refuses_an_event_is_a_dead_letter_and_spares_the_others() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let strict = publish(&admin, "strict", json!({ "required": ["nope"] })).await;
        let alone = send(&admin, "k1").await;
        assert_eq!(alone["workflowRunIds"], json!([]), "{alone}");
        let honest = publish(&admin, "honest", json!({})).await;
        let both = send(&admin, "k2").await;
        assert_eq!(both["workflowRunIds"].as_array().map(Vec::len), Some(1), "{both}");
        let started = admin.get(&format!("/api/workflows/{honest}/runs")).await.expect(200).data();
        assert_eq!(started[0]["id"], both["workflowRunIds"][0]);

        let path = format!("/api/dead-letters?workflowId={strict}&kind=start");
        let letters = admin.get(&path).await.expect(200).data();
        assert_eq!(letters.as_array().map(Vec::len), Some(2), "{letters}");
        let letter = &letters[0];
        assert_eq!((&letter["reason"], &letter["nodeId"]), (&json!("refused"), &json!("s")), "{letter}");
        assert!(letter["message"].as_str().unwrap().contains("nope"), "{letter}");
        let none = admin.get("/api/dead-letters?kind=timer").await.expect(200).data();
        assert_eq!(none, json!([]));
        app.stop().await;
    });
}

#[tokio::test]
async fn operators_retry_and_drop_unless_the_workflow_is_denied_to_them() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let letter = one(&admin).await;
        let (id, workflow) = (letter["id"].as_str().unwrap(), letter["workflowId"].as_str().unwrap());
        let retry = format!("/api/dead-letters/{id}/retry");
        let (user, operator) = app.user("operator", &["operator"]).await;
        let (_, viewer) = app.user("viewer", &["viewer"]).await;
        let _ = viewer.get("/api/dead-letters").await.expect(403);
        let listed = async || operator.get("/api/dead-letters").await.expect(200).data();
        assert_eq!(listed().await.as_array().map(Vec::len), Some(1));

        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "workflow",
            "action": "*", "resourceId": workflow, "effect": "deny" });
        let grant = admin.post("/api/grants", deny).await.expect(201).id();
        assert_eq!(listed().await, json!([]));
        let _ = operator.post(&retry, json!({})).await.refused(403, "denied");
        let _ = operator.delete(&format!("/api/dead-letters/{id}")).await.refused(403, "denied");
        let _ = admin.delete(&format!("/api/grants/{grant}")).await.expect(204);

        // The version refuses it still; the next one takes it.
        let _ = operator.post(&retry, json!({})).await.refused(409, "refused");
        let draft = json!({ "definition": started_by_message(json!({})) });
        let _ = admin.put(&format!("/api/workflows/{workflow}/draft"), draft).await.expect(200);
        let _ = admin.post(&format!("/api/workflows/{workflow}/publish"), json!({})).await.expect(200);
        let keyed = operator.with("idempotency-key", "once");
        let done = keyed.post(&retry, json!({})).await.expect(200).data();
        assert_eq!(done["id"], json!(id));
        let runs = admin.get(&format!("/api/workflows/{workflow}/runs")).await.expect(200).data();
        assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
        assert_eq!(listed().await, json!([]));
        let _ = operator.post(&retry, json!({})).await.expect(404);
        // The same call again has its first answer, though the letter is gone; nobody else has it under that key.
        assert_eq!(keyed.post(&retry, json!({})).await.expect(200).data(), done);
        let _ = keyed.post(&retry, json!({ "note": "another" })).await.refused(409, "idempotencyKeyReused");
        let _ = admin.with("idempotency-key", "once").post(&retry, json!({})).await.expect(404);

        let draft = json!({ "definition": started_by_message(json!({ "required": ["nope"] })) });
        let _ = admin.put(&format!("/api/workflows/{workflow}/draft"), draft).await.expect(200);
        let _ = admin.post(&format!("/api/workflows/{workflow}/publish"), json!({})).await.expect(200);
        let _ = send(&admin, "again").await;
        let other = listed().await[0]["id"].as_str().unwrap().to_owned();
        let _ = operator.delete(&format!("/api/dead-letters/{other}")).await.expect(204);
        // A repeat is answered like the first by whom it was done, and tells nobody else that there was one.
        let _ = operator.delete(&format!("/api/dead-letters/{other}")).await.expect(204);
        let _ = operator.post(&format!("/api/dead-letters/{other}/retry"), json!({})).await.expect(404);
        let _ = admin.delete(&format!("/api/dead-letters/{other}")).await.expect(404);
        // One that was retried is back at work, and was dropped by nobody.
        let _ = operator.delete(&format!("/api/dead-letters/{id}")).await.expect(404);
        let events = admin.get("/api/audit-events?limit=200").await.expect(200).data();
        for action in ["dead_letter.retried", "dead_letter.dropped"] {
            let own = |event: &&Value| event["action"] == action && event["outcome"] == "success";
            assert_eq!(events.as_array().unwrap().iter().filter(own).count(), 1, "{action}");
        }
        app.stop().await;
    });
}

/// What once stopped the messages of all organisations for ever.
#[tokio::test]
async fn a_thrown_message_that_its_receiver_refuses_stops_no_other() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let strict = publish(&admin, "strict", json!({ "required": ["nope"] })).await;
        let throwing = json!({
            "nodes": [
                { "id": "s", "type": "startEvent", "displayName": "s" },
                { "id": "t", "type": "intermediateThrowEvent", "displayName": "t",
                  "configuration": { "correlationKey": "c" },
                  "bpmn": { "eventDefinitions": [{ "type": "message", "reference": "m" }] } },
                { "id": "u", "type": "intermediateThrowEvent", "displayName": "u",
                  "bpmn": { "eventDefinitions": [{ "type": "signal", "reference": "g" }] } },
                { "id": "e", "type": "endEvent", "displayName": "e" },
            ],
            "edges": [{ "id": "a", "source": "s", "target": "t" }, { "id": "b", "source": "t", "target": "u" },
                { "id": "c", "source": "u", "target": "e" }],
            "bpmn": { "messages": [{ "id": "m", "name": "refused" }],
                "signals": [{ "id": "g", "name": "heard" }] },
        });
        let hearing = json!({
            "nodes": [
                { "id": "s", "type": "startEvent", "displayName": "s" },
                { "id": "h", "type": "intermediateCatchEvent", "displayName": "h",
                  "bpmn": { "eventDefinitions": [{ "type": "signal", "reference": "g" }] } },
                { "id": "e", "type": "endEvent", "displayName": "e" },
            ],
            "edges": [{ "id": "a", "source": "s", "target": "h" }, { "id": "b", "source": "h", "target": "e" }],
            "bpmn": { "signals": [{ "id": "g", "name": "heard" }] },
        });
        for (slug, definition) in [("throwing", throwing), ("hearing", hearing)] {
            let workflow = admin.create(slug, definition).await;
            let _ = admin.post(&format!("/api/workflows/{workflow}/publish"), json!({})).await.expect(200);
        }
        let hearing = admin.workflow("hearing").await;
        let run = admin.run(&hearing, json!({})).await["id"].as_str().unwrap().to_owned();
        let throwing = admin.workflow("throwing").await;
        let _ = admin.run(&throwing, json!({})).await;
        let _ = admin.run_in(&hearing, &run, "completed").await;
        app.advance("PT1S").await;
        let letters = admin.get("/api/dead-letters").await.expect(200).data();
        assert_eq!(letters[0]["workflowId"], json!(strict), "{letters}");
        app.stop().await;
    });
}
