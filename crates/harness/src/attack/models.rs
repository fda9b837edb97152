//! Definitions that attacks publish, and the honest organisation's.

#![expect(clippy::indexing_slicing, reason = "a definition made here has the members that are set")]

use serde_json::{Map, Value, json};

/// A node: its id, its type, its further members.
pub(crate) type Node<'a> = (&'a str, &'a str, Value);

/// A definition of these nodes and flows, with the message `paid`.
pub(crate) fn model(nodes: &[Node<'_>], flows: &[(&str, &str)]) -> Value {
    let node = |(id, kind, more): &Node<'_>| {
        let mut members: Map<String, Value> = more.as_object().cloned().unwrap_or_default();
        members.extend([("id".to_owned(), json!(id)), ("type".to_owned(), json!(kind))]);
        Value::Object(members)
    };
    let flow = |(number, (from, to)): (usize, &(&str, &str))| json!({"id": format!("f{number}"), "source": from, "target": to});
    json!({
        "nodes": nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": flows.iter().enumerate().map(flow).collect::<Vec<_>>(),
        "bpmn": {"messages": [{"id": "m", "name": "paid"}]},
    })
}

/// A start with these members, these nodes one behind the other, and an end.
pub(crate) fn chain(start: Value, nodes: &[Node<'_>]) -> Value {
    let mut all = vec![("start", "startEvent", start)];
    all.extend(nodes.iter().cloned());
    all.push(("end", "endEvent", json!({})));
    let flows: Vec<(&str, &str)> =
        all.iter().zip(all.iter().skip(1)).map(|(one, next)| (one.0, next.0)).collect();
    model(&all, &flows)
}

/// Start, a human task `work`, end.
pub(crate) fn task() -> Value {
    chain(json!({}), &[("work", "userTask", json!({}))])
}

/// Start, the message `paid`, end.
pub(crate) fn waiting() -> Value {
    chain(json!({}), &[("wait", "receiveTask", json!({"bpmn": {"messageRef": "m"}}))])
}

/// Start, a thrown message `paid` for whoever waits with the run's `key`, end.
pub(crate) fn sending() -> Value {
    let mut thrown = message();
    thrown["configuration"] = json!({"correlationKey": "=key", "payload": {"amount": 3}});
    chain(json!({}), &[("throw", "intermediateThrowEvent", thrown)])
}

/// Members of an event of the message `paid`.
pub(crate) fn message() -> Value {
    json!({"bpmn": {"eventDefinitions": [{"type": "message", "reference": "m"}]}})
}

/// Members of a start by a timer that repeats.
pub(crate) fn every(cycle: &str) -> Value {
    json!({"bpmn": {"eventDefinitions": [{"type": "timer", "timeCycle": cycle}]}})
}

/// Members of a script task.
pub(crate) fn script(source: &str) -> Value {
    json!({"configuration": {"source": source, "resultVariable": "x"}})
}

/// A start with these members, and a script for ever in one step.
pub(crate) fn endless(start: Value, source: &str) -> Value {
    let nodes = [
        ("start", "startEvent", start),
        ("work", "scriptTask", script(source)),
        ("again", "exclusiveGateway", json!({})),
    ];
    model(&nodes, &[("start", "work"), ("work", "again"), ("again", "work")])
}

/// A JSON Schema of little text whose check takes two to the power of `depth`, and which nothing passes.
pub(crate) fn doubling_schema(depth: usize) -> Value {
    let mut parts = Map::new();
    for number in 0..depth {
        let next = json!({"$ref": format!("#/$defs/a{}", number + 1)});
        parts.insert(format!("a{number}"), json!({"anyOf": [next, next]}));
    }
    parts.insert(format!("a{depth}"), json!({"required": ["nope"]}));
    json!({"$ref": "#/$defs/a0", "$defs": parts})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_leads_from_the_start_through_its_nodes_to_the_end() {
        let chain = task();
        let flows: Vec<_> = chain["edges"].as_array().into_iter().flatten().collect();
        assert_eq!(flows.len(), 2);
        assert_eq!((&flows[0]["source"], &flows[1]["target"]), (&json!("start"), &json!("end")));
        assert_eq!(chain["nodes"][1]["type"], "userTask");
    }

    #[test]
    fn each_part_of_the_doubling_schema_names_the_next_twice() {
        let schema = doubling_schema(2);
        assert_eq!(schema["$defs"].as_object().map(Map::len), Some(3));
        assert_eq!(schema["$defs"]["a1"]["anyOf"][1]["$ref"], "#/$defs/a2");
    }
}
