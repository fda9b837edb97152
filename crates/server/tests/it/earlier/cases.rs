//! Workflows, and runs in every state with the way on to their end.

use heddle_testkit::{Client, eventually};
use serde_json::{Value, json};

use super::{Record, folder};

/// What is done with a run.
pub(crate) enum Step {
    /// The task of a node is completed with this body.
    Complete(&'static str, Value),
    /// The completion is refused.
    NotComplete(&'static str, Value),
    /// A message by name and key.
    Message(&'static str, &'static str),
    /// A decision.
    Decide(Value),
    /// The run is cancelled.
    Cancel,
}

/// A run: how it came to where it stands in the fixture, and how it goes on.
pub(crate) struct Case {
    /// Its name.
    pub name: &'static str,
    /// Its workflow's slug.
    pub workflow: &'static str,
    /// The body of its start.
    pub start: Value,
    /// What was done with it by the earlier program.
    pub before: Vec<Step>,
    /// The state in which it was left.
    pub state: &'static str,
    /// What is done with it by the present program at once.
    pub now: Vec<Step>,
    /// What is done with it when days have passed.
    pub later: Vec<Step>,
    /// The state in which it ends.
    pub ends: &'static str,
    /// Members of its output.
    pub output: Value,
}

fn case(name: &'static str, workflow: &'static str, start: Value) -> Case {
    let (before, now, later) = (Vec::new(), Vec::new(), Vec::new());
    Case { name, workflow, start, before, state: "waiting", now, later, ends: "completed", output: json!({}) }
}

fn done(node: &'static str) -> Step {
    Step::Complete(node, json!({}))
}

fn values(node: &'static str, values: Value) -> Step {
    Step::Complete(node, json!({ "values": values }))
}

/// Every case. Some end by what others throw.
pub(crate) fn all() -> Vec<Case> {
    [ended(), tasks(), tokens(), events(), times()].into_iter().flatten().collect()
}

fn ended() -> Vec<Case> {
    vec![
        Case { before: vec![done("work")], state: "completed", ..case("completed", "task", json!({})) },
        Case {
            before: vec![Step::Cancel],
            state: "cancelled",
            ends: "cancelled",
            ..case("cancelled", "task", json!({}))
        },
        Case {
            state: "failed",
            ends: "failed",
            ..case("failed", "failing", json!({ "businessKey": "b-1" }))
        },
        Case {
            state: "completed",
            output: json!({ "Fee": 5 }),
            ..case("decided", "fees", json!({ "input": { "Amount": 50 } }))
        },
    ]
}

fn tasks() -> Vec<Case> {
    let me = json!({ "input": { "who": "admin@demo.local", "list": [1, 2.5, { "a": null }] }, "businessKey": "b-2" });
    let retry = json!({ "decision": "retry", "variables": { "way": "b" } });
    vec![
        Case { now: vec![done("work")], ..case("unassigned", "task", json!({})) },
        Case {
            now: vec![
                Step::NotComplete("work", json!({ "values": { "amount": "many" } })),
                values("work", json!({ "amount": 5, "kind": "a" })),
            ],
            output: json!({ "amount": 5, "list": [1, 2.5, { "a": null }] }),
            ..case("assigned", "assigned", me)
        },
        Case {
            before: vec![Step::Decide(json!({ "decision": "suspend" }))],
            state: "suspended",
            now: vec![Step::Decide(json!({ "decision": "resume" })), done("work")],
            ..case("suspended", "task", json!({}))
        },
        Case {
            now: vec![Step::Decide(retry)],
            ..case("incident", "incident", json!({ "input": { "way": "c" } }))
        },
        Case {
            now: vec![Step::Complete("work", json!({ "outcome": "approve", "values": { "note": "good" } }))],
            output: json!({ "fee": 7.5, "double": 15, "day": "2026-11-23", "note": "good" }),
            ..case("computed", "decide", json!({ "input": { "Amount": 250 } }))
        },
        Case {
            now: vec![done("first"), done("second")],
            ..case("old-version", "versions", json!({ "version": 1 }))
        },
        Case { now: vec![done("third")], ..case("new-version", "versions", json!({})) },
        Case {
            now: vec![values("review", json!({ "approved": true }))],
            ..case("demo", "purchase-approval", json!({ "input": { "amount": 900 } }))
        },
    ]
}

fn tokens() -> Vec<Case> {
    let no = json!({ "accepted": false });
    vec![
        Case { before: vec![done("one")], now: vec![done("two")], ..case("parallel", "parallel", json!({})) },
        Case {
            before: vec![done("a")],
            now: vec![done("b")],
            ..case("inclusive", "inclusive", json!({ "input": { "amount": 200 } }))
        },
        Case {
            now: vec![done("c")],
            ..case("inclusive-default", "inclusive", json!({ "input": { "amount": 1 } }))
        },
        Case {
            now: vec![values("decide", json!({ "accepted": true }))],
            ..case("nested", "nested", json!({}))
        },
        Case {
            now: vec![values("decide", no.clone()), done("apologise")],
            ..case("nested-error", "nested", json!({}))
        },
        Case {
            before: vec![values("decide", no)],
            now: vec![done("apologise")],
            ..case("error-caught", "nested", json!({}))
        },
        Case {
            before: vec![Step::Message("asked", "n-1")],
            now: vec![values("decide", json!({ "accepted": true })), done("reply")],
            ..case("event-sub-process", "nested", json!({ "correlationKey": "n-1" }))
        },
    ]
}

fn events() -> Vec<Case> {
    let order =
        |id: &str| json!({ "input": { "order": { "id": id } }, "correlationKey": format!("key-{id}") });
    vec![
        Case {
            now: vec![Step::Message("paid", "o-1"), Step::Message("packed", "key-o-1")],
            ..case("messages", "messages", order("o-1"))
        },
        Case {
            before: vec![Step::Message("paid", "o-2")],
            now: vec![Step::Message("packed", "key-o-2")],
            ..case("half-joined", "messages", order("o-2"))
        },
        Case {
            now: vec![Step::Message("withdrawn", "key-o-3")],
            ..case("message-at-boundary", "messages", order("o-3"))
        },
        // Paid by the message, let go by the signal that `thrower` throws.
        Case { now: vec![Step::Message("packed", "key-o-4")], ..case("thrown-at", "messages", order("o-4")) },
        case("signalled", "signals", json!({})),
        Case { now: vec![done("work")], ..case("thrower", "throws", json!({ "correlationKey": "o-4" })) },
        Case { now: vec![done("work")], ..case("kept-for", "later", json!({ "correlationKey": "l-1" })) },
        Case {
            now: vec![Step::Message("offer", "r-1")],
            ..case("race-message", "race", json!({ "correlationKey": "r-1" }))
        },
    ]
}

fn times() -> Vec<Case> {
    let pause = json!({ "input": { "pause": "PT5H" } });
    vec![
        Case { later: vec![done("escalate")], ..case("timers", "timers", pause.clone()) },
        Case { now: vec![done("answer")], ..case("timers-answered", "timers", pause) },
        case("race-timer", "race", json!({ "correlationKey": "r-2" })),
        Case { later: vec![done("escalate")], ..case("demo-deadline", "answer-deadline", json!({})) },
        Case {
            state: "suspended",
            before: vec![Step::Decide(json!({ "decision": "suspend" }))],
            now: vec![Step::Decide(json!({ "decision": "resume" }))],
            ..case("race-held", "race", json!({ "correlationKey": "r-3" }))
        },
    ]
}

/// Takes one step; `number` makes the keys of events its own.
pub(crate) async fn take(client: &Client, (workflow, run): (&str, &str), step: &Step, number: &str) {
    let path = format!("/api/workflows/{workflow}/runs/{run}");
    match step {
        Step::Complete(node, body) => {
            // What a message, signal or timer opens is there a moment after it was answered.
            eventually(&format!("a task {node} of {path}"), async || {
                let now = client.run_now(workflow, run).await;
                let tasks = now["humanTasks"].as_array().cloned().unwrap_or_default();
                tasks.iter().any(|task| task["nodeId"] == *node).then_some(())
            })
            .await;
            let _ = client.complete(workflow, run, node, body.clone()).await.expect(200);
        }
        Step::NotComplete(node, body) => {
            let _ = client.complete(workflow, run, node, body.clone()).await.expect(400);
        }
        Step::Message(name, key) => {
            let body = json!({ "correlationKey": key, "eventType": name, "payload": { "at": number },
                "idempotencyKey": format!("{name}-{key}-{number}") });
            let sent = client.post("/api/case-events", body).await.expect(202).data();
            assert_eq!(sent["workflowRunIds"], json!([run]), "{name} {key}: {sent}");
        }
        Step::Decide(body) => {
            let _ = client.decide(workflow, run, body.clone()).await.expect(200);
        }
        Step::Cancel => {
            let _ = client.delete(&format!("{path}?reason=mistake")).await.expect(204);
        }
    }
}

/// A model's file.
pub(crate) fn model(file: &str) -> String {
    std::fs::read_to_string(folder("models").join(file)).unwrap()
}

/// The definition that decides, computes and asks a person, as an editor of the product's own writes it.
pub(crate) fn deciding() -> Value {
    json!({
        "schemaVersion": 1,
        "nodes": [
            { "id": "s", "type": "startEvent", "displayName": "Begin" },
            { "id": "rule", "type": "businessRuleTask",
                "configuration": { "kind": "dmn", "decisionRef": "Fee", "resultVariable": "fee" } },
            { "id": "twice", "type": "scriptTask",
                "configuration": { "kind": "feel", "source": "=fee * 2", "resultVariable": "double" } },
            { "id": "day", "type": "scriptTask", "configuration": { "kind": "feel",
                "source": "=date(\"2026-11-22\") + duration(\"P1D\")", "resultVariable": "day" } },
            { "id": "work", "type": "human.review", "displayName": "Review",
                "bpmn": { "elementType": "userTask", "documentation": ["Look at the fee"] },
                "configuration": { "candidateUsers": "=[\"bob@example.com\"]", "candidateGroups": "worker, designer",
                    "dueDate": "P2D", "priority": 30, "outcomes": ["approve", "reject"], "own": { "kept": [1, null] },
                    "form": { "type": "object", "properties": { "note": { "type": "string" } }, "required": ["note"] } } },
            { "id": "e", "type": "endEvent" },
        ],
        "edges": [
            { "id": "f1", "source": "s", "target": "rule" }, { "id": "f2", "source": "rule", "target": "twice" },
            { "id": "f3", "source": "twice", "target": "day", "branch": "main" },
            { "id": "f4", "source": "day", "target": "work" },
            { "id": "f5", "source": "work", "target": "e" },
        ],
        "layout": { "arrangementVersion": 2, "nodes": { "s": { "x": 10, "y": 20 } }, "collapsedGroups": { "g": true },
            "notes": [{ "id": "n", "text": "A note", "x": 1.5, "y": 2, "collapsed": true }] },
        "protection": { "preset": "basic", "customChecks": ["a"] },
        "dmn": { "fileName": "fees.dmn", "sourceXml": model("fees.dmn"),
            "elements": [{ "id": "fee", "type": "decision", "nodeId": "rule" }] },
    })
}

/// A definition with so many tasks one after the other.
pub(crate) fn chain(tasks: &[&str]) -> Value {
    let mut nodes = vec![json!({ "id": "s", "type": "startEvent" })];
    nodes.extend(tasks.iter().map(|id| json!({ "id": id, "type": "userTask" })));
    nodes.push(json!({ "id": "e", "type": "endEvent" }));
    let edge = |(number, pair): (usize, &[Value])| json!({ "id": format!("f{number}"), "source": pair[0]["id"], "target": pair[1]["id"] });
    let edges: Vec<Value> = nodes.windows(2).enumerate().map(edge).collect();
    json!({ "nodes": nodes, "edges": edges })
}

impl Record {
    /// Workflow and run of a case.
    pub(crate) fn run(&self, name: &str) -> (&str, &str) {
        let [workflow, run] = &self.runs[name];
        (workflow, run)
    }
}
