//! What becomes of the words of other engines' modelers.

use heddle_bpmn::model::{self, WorkflowDefinition};
use heddle_bpmn::xml;
use serde_json::{Value, json};
use std::path::Path;

fn read(name: &str) -> xml::Imported {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vendors").join(name);
    xml::read(&std::fs::read(path).unwrap()).unwrap()
}

/// The settings by node, the items, and what publishing says.
fn outcome(name: &str) -> Value {
    let imported = read(name);
    let settings: serde_json::Map<String, Value> = model::nodes(&imported.definition)
        .into_iter()
        .filter_map(|at| Some((at.node.element_id()?.to_owned(), at.node.configuration.clone()?.into())))
        .collect();
    let items: Vec<String> = imported
        .items
        .iter()
        .map(|item| {
            let text = |member: &Option<String>| member.clone().unwrap_or_default();
            let members = item.configuration.iter().flatten().map(|(member, _)| member.as_str());
            let members = members.collect::<Vec<_>>().join(" ");
            let [id, outcome, message] = [&item.element_id, &item.outcome, &item.message].map(text);
            format!("{id} | {outcome} | {members} | {message}")
        })
        .collect();
    let compiled = heddle_bpmn_graph::compile(&imported.definition);
    let said = compiled.diagnostics.iter().filter(|found| found.code != "danglingReference");
    let said: Vec<String> = said
        .map(|found| {
            format!("{} {}: {}", found.element_id.as_deref().unwrap_or_default(), found.code, found.message)
        })
        .collect();
    json!({"settings": settings, "items": items, "publish": said})
}

#[test]
fn camunda_7() {
    insta::assert_json_snapshot!(outcome("camunda7-order.bpmn"));
}

#[test]
fn camunda_8() {
    insta::assert_json_snapshot!(outcome("camunda8-order.bpmn"));
}

#[test]
fn flowable() {
    insta::assert_json_snapshot!(outcome("flowable-order.bpmn20.xml"));
}

#[test]
fn words_survive_and_settings_are_not_written_twice() {
    for name in ["camunda7-order.bpmn", "camunda8-order.bpmn", "flowable-order.bpmn20.xml"] {
        let first = read(name).definition;
        let written = xml::write(&first).unwrap();
        assert!(!written.xml.contains("heddle:data"), "{name}: {}", written.xml);
        let second: WorkflowDefinition = xml::read(written.xml.as_bytes()).unwrap().definition;
        assert_eq!(first, second, "{name}");
    }
}

#[test]
fn many_words_are_told_in_a_time_that_grows_with_them() {
    // Quadratic work would not end within the limit that every test has.
    let head = "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" \
        xmlns:camunda=\"http://camunda.org/schema/1.0/bpmn\" xmlns:x=\"urn:x\" targetNamespace=\"urn:x\">\
        <process id=\"p\" isExecutable=\"true\"><startEvent id=\"s\"/><callActivity id=\"c\"><extensionElements>";
    let words = "<camunda:in source=\"a\" target=\"b\"/><camunda:in sourceExpression=\"${a.b()}\" target=\"b\"/>\
        <x:field/><camunda:properties/>";
    let tail = "</extensionElements></callActivity></process></definitions>";
    let imported = xml::read(format!("{head}{}{tail}", words.repeat(10_000)).as_bytes()).unwrap();
    assert!(!heddle_bpmn_graph::compile(&imported.definition).is_executable());
    assert!(xml::write(&imported.definition).is_ok());
}

#[test]
fn a_field_with_a_default_is_required_still() {
    let field = "<startEvent id=\"s\"><extensionElements><camunda:formData>\
        <camunda:formField id=\"days\" type=\"long\" defaultValue=\"1\"><camunda:validation>\
        <camunda:constraint name=\"required\"/><camunda:constraint name=\"min\" config=\"1\"/></camunda:validation>\
        </camunda:formField><camunda:formField id=\"half\" type=\"boolean\" defaultValue=\"false\"/>\
        </camunda:formData></extensionElements></startEvent>";
    let xml = format!(
        "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" \
        xmlns:camunda=\"http://camunda.org/schema/1.0/bpmn\" targetNamespace=\"urn:x\">\
        <process id=\"p\" isExecutable=\"true\">{field}</process></definitions>"
    );
    let imported = xml::read(xml.as_bytes()).unwrap();
    let nodes = model::nodes(&imported.definition);
    let schema = Value::from(nodes[0].node.configuration.clone().unwrap())["inputSchema"].take();
    assert_eq!(schema["required"], serde_json::json!(["days"]), "{schema}");
    assert_eq!(schema["properties"]["days"]["default"], 1, "{schema}");
    assert_eq!(schema["properties"]["days"]["minimum"], 1, "{schema}");
    assert_eq!(schema["properties"]["half"]["default"], false, "{schema}");
}
