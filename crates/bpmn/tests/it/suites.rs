//! Reads the models of the suites, writes them, and reads them again.

use heddle_bpmn::model::node_and_edge_ids;
use heddle_bpmn::xml;

use crate::folders::{models, suites};

/// What is lost between two readings, if anything.
fn round_trip(bytes: &[u8]) -> Result<(), String> {
    let first = xml::read(bytes).map_err(|error| format!("read: {} {error}", error.reason))?;
    let written = xml::write(&first.definition).map_err(|error| format!("write: {error}"))?;
    let second =
        xml::read(written.xml.as_bytes()).map_err(|error| format!("read again: {error}\n{}", written.xml))?;
    if node_and_edge_ids(&first.definition) != node_and_edge_ids(&second.definition) {
        return Err("other node or edge ids".to_owned());
    }
    let found = heddle_bpmn_validate::structure(&first.definition);
    if found.iter().any(|found| found.code == "duplicateId") {
        // Residue is addressed by id, so that two elements of one id share theirs.
        return Ok(());
    }
    if !written.diagnostics.is_empty() {
        return Err(format!("the writer says {:?}", written.diagnostics));
    }
    if first.definition == second.definition {
        return Ok(());
    }
    let left = serde_json::to_value(&first.definition).unwrap();
    let right = serde_json::to_value(&second.definition).unwrap();
    Err(difference("", &left, &right))
}

fn difference(path: &str, left: &serde_json::Value, right: &serde_json::Value) -> String {
    use serde_json::Value::{Array, Object};
    match (left, right) {
        (Object(left), Object(right)) => {
            let keys = left.keys().chain(right.keys());
            let differs = keys.into_iter().find(|key| left.get(*key) != right.get(*key));
            let Some(key) = differs else { return String::new() };
            let null = serde_json::Value::Null;
            difference(
                &format!("{path}.{key}"),
                left.get(key).unwrap_or(&null),
                right.get(key).unwrap_or(&null),
            )
        }
        (Array(left), Array(right)) if left.len() == right.len() => {
            let index = left.iter().zip(right).position(|(left, right)| left != right).unwrap_or(0);
            difference(&format!("{path}[{index}]"), &left[index], &right[index])
        }
        _ => format!("{path}: {left} became {right}"),
    }
}

#[test]
fn every_model_reads_and_survives_export() {
    let Some(suites) = suites() else { return };
    let mut failures = Vec::new();
    let mut count = 0;
    for folder in ["bpmn/miwg", "bpmn/pool", "bpmn/execution", "bpmn/constraints"] {
        for path in models(&suites.join(folder)) {
            count += 1;
            if let Err(error) = round_trip(&std::fs::read(&path).unwrap()) {
                failures.push(format!("{}: {error}", path.strip_prefix(&suites).unwrap().display()));
            }
        }
    }
    assert!(count > 0, "no model found");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}
