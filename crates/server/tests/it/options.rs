//! Decisions: what `waitingFor.options` tells is what is taken, and nothing is taken that it does not tell.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

/// A wait of a run: its definition, its input, the node that waits, and what happens before it is decided.
struct Wait {
    name: &'static str,
    definition: Value,
    node: &'static str,
    before: Option<&'static str>,
}

fn event(definition: Value) -> Value {
    json!({ "bpmn": { "eventDefinitions": [definition] } })
}

/// Nodes with their types and further members, and flows as `from > to`.
fn model(nodes: &[(&str, &str, Value)], flows: &str) -> Value {
    let node = |(id, kind, more): &(&str, &str, Value)| {
        let mut node = json!({ "id": id, "type": kind, "displayName": id });
        node.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        node
    };
    let flow = |text: &str| {
        let (from, to) = text.trim().split_once(" > ").unwrap();
        json!({ "id": format!("{from}-{to}"), "source": from, "target": to })
    };
    json!({
        "nodes": nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": flows.split(';').map(flow).collect::<Vec<_>>(),
        "bpmn": { "messages": [{ "id": "m", "name": "paid" }] },
    })
}

/// start, the node `x`, end.
fn single(kind: &str, more: Value) -> Value {
    model(&[("s", "startEvent", json!({})), ("x", kind, more), ("e", "endEvent", json!({}))], "s > x; x > e")
}

fn waits() -> Vec<Wait> {
    let wait = |name, definition| Wait { name, definition, node: "x", before: None };
    let outcomes = |names: Value| json!({ "configuration": { "outcomes": names } });
    let timer = || event(json!({ "type": "timer", "timeDuration": "P1D" }));
    let message = || event(json!({ "type": "message", "reference": "m" }));
    let (start, end) = (("s", "startEvent", json!({})), ("e", "endEvent", json!({})));
    let mut gate = model(
        &[start.clone(), ("x", "exclusiveGateway", json!({})), ("a", "task", json!({})), end.clone()],
        "s > x; x > a; x > e; a > e",
    );
    gate["nodes"][1]["bpmn"] = json!({ "defaultFlow": "x-e" });
    gate["edges"][1]["bpmn"] = json!({ "conditionExpression": "amount > 500" });
    let first = model(
        &[
            start.clone(),
            ("g", "eventBasedGateway", json!({})),
            ("x", "intermediateCatchEvent", message()),
            ("y", "intermediateCatchEvent", timer()),
            end.clone(),
        ],
        "s > g; g > x; g > y; x > e; y > e",
    );
    let fork = ("f", "parallelGateway", json!({}));
    let join = |before: &'static str| {
        model(
            &[
                start.clone(),
                fork.clone(),
                ("a", "userTask", json!({})),
                ("b", before, json!({})),
                ("x", "parallelGateway", json!({})),
                end.clone(),
            ],
            "s > f; f > a; f > b; a > x; b > x; x > e",
        )
    };
    let mut dead = model(
        &[
            start.clone(),
            ("f", "exclusiveGateway", json!({})),
            ("a", "task", json!({})),
            ("b", "task", json!({})),
            ("x", "parallelGateway", json!({})),
            end.clone(),
        ],
        "s > f; f > a; f > b; a > x; b > x; x > e",
    );
    dead["nodes"][1]["bpmn"] = json!({ "defaultFlow": "f-b" });
    dead["edges"][1]["bpmn"] = json!({ "conditionExpression": "1 > 2" });
    vec![
        wait("a task without outcomes", single("userTask", json!({}))),
        wait("a task with outcomes", single("userTask", outcomes(json!(["approved", "later"])))),
        wait("a task with others", single("userTask", outcomes(json!(["ship"])))),
        Wait { before: Some("suspend"), ..wait("a suspended run", single("userTask", json!({}))) },
        wait("a receive task", single("receiveTask", json!({}))),
        wait("a message", single("intermediateCatchEvent", message())),
        wait("a timer", single("intermediateCatchEvent", timer())),
        wait("the first of several events", first),
        wait("a gateway without an answer", gate),
        wait(
            "a task that nobody may do",
            single("userTask", json!({ "configuration": { "assignee": "=who" } })),
        ),
        wait("a join", join("task")),
        wait("a join that waits for ever", dead),
    ]
}

const DECISIONS: [&str; 9] =
    ["approve", "reject", "revise", "retry", "skip", "continue", "resume", "suspend", "move"];

async fn begin(client: &Client, workflow: &str, wait: &Wait) -> (String, Vec<String>) {
    let run = client.run(workflow, json!({})).await;
    let id = run["id"].as_str().unwrap().to_owned();
    if let Some(decision) = wait.before {
        let _ = client.decide(workflow, &id, json!({ "decision": decision })).await.expect(200);
    }
    let now = client.run_now(workflow, &id).await;
    let nodes = now["activeNodes"].as_array().unwrap();
    let node = nodes.iter().find(|node| node["nodeId"] == wait.node);
    let node = node.unwrap_or_else(|| panic!("{}: {now}", wait.name));
    let options = node["waitingFor"]["options"].as_array().unwrap().iter();
    (id, options.map(|option| option.as_str().unwrap().to_owned()).collect())
}

#[tokio::test]
async fn the_options_are_exactly_what_is_taken() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        for (number, wait) in waits().iter().enumerate() {
            let workflow = admin.publish(&format!("wait-{number}"), wait.definition.clone()).await;
            for decision in DECISIONS {
                let (run, options) = begin(admin, &workflow, wait).await;
                let mut body = json!({ "decision": decision });
                if !matches!(decision, "suspend" | "resume") {
                    body["nodeId"] = json!(wait.node);
                }
                if decision == "move" {
                    body["target"] = json!("e");
                }
                let answer = admin.decide(&workflow, &run, body).await;
                let told = options.iter().any(|option| option == decision);
                assert_eq!(
                    answer.status == 200,
                    told,
                    "{}: {decision} of {options:?}: {}",
                    wait.name,
                    answer.text()
                );
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_said_to_a_decision_is_kept_and_what_it_does_not_take_is_refused() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let workflow = admin.publish("work", single("userTask", json!({}))).await;
        let run = admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
        let foreign =
            json!({ "decision": "suspend", "nodeId": "nope", "incidentId": "nope", "target": "nope" });
        let refused = admin.decide(&workflow, &run, foreign).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        for member in ["nodeId", "incidentId", "target"] {
            assert!(refused.fields().contains(&member.to_owned()), "{}", refused.text());
        }
        let approve = json!({ "decision": "approve", "incidentId": "n1" });
        assert_eq!(admin.decide(&workflow, &run, approve).await.expect(400).fields(), ["incidentId"]);
        let skip = json!({ "decision": "skip", "nodeId": "nope" });
        let _ = admin.decide(&workflow, &run, skip).await.refused(400, "unknownNode");
        for (decision, members) in [
            ("suspend", json!({})),
            ("resume", json!({})),
            ("move", json!({ "nodeId": "x", "target": "x" })),
            ("skip", json!({ "nodeId": "x" })),
        ] {
            let mut body = json!({ "decision": decision, "feedback": format!("said of {decision}") });
            body.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
            let _ = admin.decide(&workflow, &run, body).await.expect(200);
        }
        let events = admin.events(&workflow, &run).await;
        let said: Vec<_> = events.iter().filter(|event| event["type"] == "decision.taken").collect();
        let told: Vec<_> = said.iter().map(|event| event["data"]["feedback"].as_str().unwrap()).collect();
        assert_eq!(told, ["said of suspend", "said of resume", "said of move", "said of skip"]);
        assert_eq!((&said[0]["nodeId"], &said[3]["nodeId"]), (&Value::Null, &json!("x")));
        let audit = admin.get("/api/audit-events?limit=200").await.expect(200).text();
        assert!(audit.contains("said of suspend") && audit.contains("said of skip"), "{audit}");
        let path = format!("/api/workflows/{workflow}/runs/{run}?compensate=true");
        let _ = admin.delete(&format!("{path}&purge=true")).await.refused(400, "notSupported");
        let _ = admin.delete(&path).await.expect(204);
        app.stop().await;
    });
}
