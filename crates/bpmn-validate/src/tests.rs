//! One broken rule per row.

use super::structure;
use heddle_bpmn::model::WorkflowDefinition;
use serde_json::{Value, json};

fn findings(definition: Value) -> Vec<(String, String)> {
    let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
    let found = structure(&definition);
    for one in found.iter().filter(|one| one.code != "moreFindings") {
        assert!(one.clause.is_some() && one.remedy.is_some(), "{one:?}");
    }
    found.into_iter().map(|found| (found.code, found.path.unwrap_or_default())).collect()
}

fn edge(id: &str, source: &str, target: &str) -> Value {
    json!({"id": id, "source": source, "target": target})
}

fn nodes() -> Vec<Value> {
    vec![
        json!({"id": "start", "type": "startEvent"}),
        json!({"id": "work", "type": "userTask"}),
        json!({"id": "end", "type": "endEvent"}),
    ]
}

#[test]
fn a_sound_definition_has_no_findings() {
    let definition =
        json!({"nodes": nodes(), "edges": [edge("a", "start", "work"), edge("b", "work", "end")]});
    assert_eq!(findings(definition), []);
}

#[test]
fn broken_edges_and_nodes_are_found() {
    let sub = json!({"id": "sub", "type": "subProcess",
        "bpmn": {"subProcess": {"nodes": [{"id": "inner", "type": "task"}]}}});
    let boundary =
        |host: Value| json!({"id": "late", "type": "boundaryEvent", "bpmn": {"attachedToRef": host}});
    let rows: Vec<(Value, Value, &str, &str)> = vec![
        (json!({"id": "start", "type": "task"}), edge("a", "start", "end"), "duplicateId", "nodes[3]"),
        (json!({"type": "task"}), edge("a", "start", "end"), "missingId", "nodes[3]"),
        (json!({"id": "x"}), edge("a", "start", "end"), "missingType", "nodes[3].type"),
        (
            json!({"id": "x", "type": "task"}),
            edge("a", "start", "gone"),
            "danglingReference",
            "edges[0].target",
        ),
        (
            json!({"id": "x", "type": "task"}),
            json!({"id": "a", "source": "start"}),
            "required",
            "edges[0].target",
        ),
        (sub.clone(), edge("a", "start", "inner"), "flowCrossesBorder", "edges[0].target"),
        (json!({"id": "x", "type": "task"}), edge("a", "work", "start"), "startEventIncoming", "nodes[0]"),
        (json!({"id": "x", "type": "task"}), edge("a", "end", "work"), "endEventOutgoing", "nodes[2]"),
        (boundary(json!("work")), edge("a", "work", "late"), "boundaryEventIncoming", "nodes[3]"),
        (boundary(Value::Null), edge("a", "start", "end"), "required", "nodes[3].bpmn.attachedToRef"),
        (
            boundary(json!("gone")),
            edge("a", "start", "end"),
            "danglingReference",
            "nodes[3].bpmn.attachedToRef",
        ),
        (boundary(json!("end")), edge("a", "start", "end"), "wrongReference", "nodes[3].bpmn.attachedToRef"),
        (
            json!({"id": "x", "type": "exclusiveGateway", "bpmn": {"defaultFlow": "a"}}),
            edge("a", "start", "end"),
            "defaultFlowNotOutgoing",
            "nodes[3].bpmn.defaultFlow",
        ),
        (
            json!({"id": "x", "type": "startEvent", "bpmn": {"eventDefinitions": [{"type": "message", "reference": "m"}]}}),
            edge("a", "start", "end"),
            "danglingReference",
            "nodes[3].bpmn.eventDefinitions[0].reference",
        ),
        (
            json!({"id": "x", "type": "startEvent", "bpmn": {"eventDefinitions": [{"type": "wish"}]}}),
            edge("a", "start", "end"),
            "unknownEventDefinition",
            "nodes[3].bpmn.eventDefinitions[0].type",
        ),
        (
            json!({"id": "x", "type": "receiveTask", "bpmn": {"messageRef": "work"}}),
            edge("a", "start", "end"),
            "wrongReference",
            "nodes[3].bpmn.messageRef",
        ),
        (
            json!({"id": "x", "type": "task", "bpmn": {"subProcess": {}}}),
            edge("a", "start", "end"),
            "unexpectedContent",
            "nodes[3].bpmn.subProcess",
        ),
    ];
    for (node, edge, code, path) in rows {
        let mut nodes = nodes();
        nodes.push(node);
        let found = findings(json!({"nodes": nodes, "edges": [edge]}));
        assert_eq!(found, [(code.to_owned(), path.to_owned())], "{code}");
    }
}

#[test]
fn references_of_the_model_are_checked() {
    let process = json!({"id": "p", "nodes": nodes(), "laneSets": [{"lanes": [{"id": "l", "flowNodeRefs": ["gone"]}]}]});
    let found = findings(json!({"bpmn": {
        "primaryProcessId": "q",
        "processes": [process],
        "collaborations": [{"participants": [{"id": "a", "processRef": "work"}],
            "messageFlows": [{"id": "f", "sourceRef": "start", "targetRef": "nowhere"}]}],
    }}));
    let expected = [
        ("danglingReference", "bpmn.processes[0].laneSets[0].lanes[0].flowNodeRefs[0]"),
        ("wrongReference", "bpmn.collaborations[0].participants[0].processRef"),
        ("danglingReference", "bpmn.collaborations[0].messageFlows[0].targetRef"),
        ("danglingReference", "bpmn.primaryProcessId"),
    ];
    assert_eq!(found, expected.map(|(code, path)| (code.to_owned(), path.to_owned())));
}

#[test]
fn roles_of_a_lane_and_conditions_behind_an_event_gateway_are_told() {
    let lanes = json!([{"lanes": [{"id": "l", "resources": [{"id": "r", "role": "performer"}]}]}]);
    let found = findings(json!({"bpmn": {"processes": [{"id": "p", "nodes": nodes(), "laneSets": lanes}]}}));
    let path = "bpmn.processes[0].laneSets[0].lanes[0].resources";
    assert_eq!(found, [("resourceRolesUnused".to_owned(), path.to_owned())]);
    for (gateway, condition, expected) in [
        ("eventBasedGateway", json!({"left": "a", "operator": "eq", "value": "1"}), true),
        ("eventBasedGateway", json!({"on": "failure"}), true),
        ("eventBasedGateway", json!({"on": "always", "label": "then"}), false),
        ("exclusiveGateway", json!({"left": "a", "operator": "eq", "value": "1"}), false),
    ] {
        let mut edge = edge("a", "g", "work");
        edge["condition"] = condition;
        let mut nodes = nodes();
        nodes.push(json!({"id": "g", "type": gateway}));
        let found = findings(json!({"nodes": nodes, "edges": [edge]}));
        let told = ("eventGatewayCondition".to_owned(), "edges[0].condition".to_owned());
        assert_eq!(found, if expected { vec![told] } else { Vec::new() }, "{gateway}");
    }
}

#[test]
fn findings_are_capped() {
    let nodes: Vec<Value> = (0..5_000).map(|_| json!({"type": "task"})).collect();
    let found = findings(json!({"nodes": nodes}));
    assert_eq!(found.len(), 1_001);
    assert_eq!(found.last().unwrap().0, "moreFindings");
}
