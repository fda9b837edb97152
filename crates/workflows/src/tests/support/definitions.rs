//! Small definitions.

use serde_json::{Value, json};

use crate::records::{Draft, ShownWorkflow};

/// The definition of a workflow as it is shown.
pub(crate) fn shown(read: &ShownWorkflow) -> Draft {
    match read.document.as_deref().map(|text| serde_json::from_str(text.get()).unwrap()) {
        None => Draft::Absent,
        Some(Value::Null) => Draft::Null,
        Some(value) => Draft::Value(value),
    }
}

/// A definition of these nodes and flows, with the message `paid`, the signal `stock` and the error `lost`. A node's
/// display name is its id; a flow is named by its ends.
pub(crate) fn model(nodes: &[(&str, &str, Value)], flows: &[(&str, &str)]) -> Value {
    let node = |(id, kind, more): &(&str, &str, Value)| {
        let mut node = json!({ "id": id, "type": kind, "displayName": id });
        node.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        node
    };
    let flow =
        |(from, to): &(&str, &str)| json!({ "id": format!("{from}-{to}"), "source": from, "target": to });
    json!({
        "nodes": nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": flows.iter().map(flow).collect::<Vec<_>>(),
        "bpmn": { "messages": [{ "id": "m", "name": "paid" }], "signals": [{ "id": "sig", "name": "stock" }],
            "errors": [{ "id": "err", "name": "lost", "code": "LOST" }] }
    })
}

/// A start, these nodes one behind the other, and an end.
pub(crate) fn chain(nodes: &[(&str, &str, Value)]) -> Value {
    let mut all = vec![("start", "startEvent", json!({}))];
    all.extend(nodes.iter().cloned());
    all.push(("end", "endEvent", json!({})));
    let flows: Vec<_> = all.windows(2).map(|pair| (pair[0].0, pair[1].0)).collect();
    model(&all, &flows)
}

/// Event definition to wait for or throw: `message m`, `signal sig`, `timer PT1H`, `cycle R3/PT1H`.
pub(crate) fn event(text: &str) -> Value {
    let (kind, rest) = text.split_once(' ').unwrap();
    let definition = match kind {
        "timer" => json!({ "type": "timer", "timeDuration": rest }),
        "cycle" => json!({ "type": "timer", "timeCycle": rest }),
        _ => json!({ "type": kind, "reference": rest }),
    };
    json!({ "bpmn": { "eventDefinitions": [definition] } })
}

/// start → review (user task of the buyers with outcomes and a form) → end.
pub(crate) fn review() -> Value {
    chain(&[(
        "review",
        "userTask",
        json!({ "displayName": "Review", "configuration": { "candidateGroups": ["buyers"],
            "outcomes": ["approve", "reject"], "form": { "type": "object", "required": ["amount"] } } }),
    )])
}

/// start → wait for the message `paid` → end.
pub(crate) fn receive() -> Value {
    chain(&[("wait", "receiveTask", json!({ "bpmn": { "messageRef": "m" } }))])
}
