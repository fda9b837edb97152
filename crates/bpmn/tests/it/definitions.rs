//! What becomes of single elements, and definitions that are written by hand.

use heddle_bpmn::model::{Bpmn, WorkflowDefinition};
use heddle_bpmn::xml::{self, Imported};
use serde_json::{Value, json};

const HEAD: &str = "<b:definitions xmlns:b=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" \
    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
    xmlns:camunda=\"http://camunda.org/schema/1.0/bpmn\" xmlns:zeebe=\"http://camunda.org/schema/zeebe/1.0\" \
    xmlns:t=\"urn:x\" id=\"defs\" targetNamespace=\"urn:x\">";

fn read(body: &str) -> Imported {
    xml::read(format!("{HEAD}{body}</b:definitions>").as_bytes()).unwrap()
}

/// The JSON of the model, and that it survives export.
fn stable(body: &str) -> (Value, String) {
    let imported = read(body);
    let written = xml::write(&imported.definition).unwrap();
    assert_eq!(xml::read(written.xml.as_bytes()).unwrap().definition, imported.definition, "{}", written.xml);
    (serde_json::to_value(&imported.definition).unwrap()["bpmn"].take(), written.xml)
}

#[test]
fn elements_become_members() {
    let rows = [
        (
            "<b:boundaryEvent id=\"n\" attachedToRef=\"t:host\" cancelActivity=\"0\"><b:timerEventDefinition id=\"d\">\
             <b:timeDuration xsi:type=\"b:tFormalExpression\" language=\"urn:l\">PT1H</b:timeDuration>\
             </b:timerEventDefinition></b:boundaryEvent>",
            json!({"attachedToRef": "host", "cancelActivity": false, "eventDefinitions":
                [{"id": "d", "type": "timer", "timeDuration": "PT1H", "language": "urn:l"}]}),
        ),
        (
            "<b:endEvent id=\"n\"><b:compensateEventDefinition activityRef=\"a\" waitForCompletion=\"true\"/></b:endEvent>",
            json!({"eventDefinitions": [{"type": "compensate", "activityRef": "a", "waitForCompletion": true,
                "waitForCompletionSpecified": true}]}),
        ),
        (
            "<b:startEvent id=\"n\"><b:eventDefinitionRef>t:shared</b:eventDefinitionRef>\
             <b:eventDefinitionRef>gone</b:eventDefinitionRef></b:startEvent>",
            json!({"eventDefinitions": [{"id": "shared", "type": "message", "reference": "m"},
                {"type": "reference", "reference": "gone"}]}),
        ),
        (
            "<b:scriptTask id=\"n\" scriptFormat=\"text/javascript\" default=\"f\"><b:standardLoopCharacteristics \
             testBefore=\"true\" loopMaximum=\"3\"/><b:script><![CDATA[a < b]]></b:script></b:scriptTask>",
            json!({"activity": {"scriptFormat": "text/javascript", "defaultFlow": "f", "script": "a < b",
                "loop": {"kind": "standard", "testBefore": true, "loopMaximum": 3}}}),
        ),
        (
            "<b:task id=\"n\"><b:multiInstanceLoopCharacteristics isSequential=\"false\"><b:loopCardinality>5\
             </b:loopCardinality><b:inputDataItem id=\"item\" name=\"one\"/></b:multiInstanceLoopCharacteristics></b:task>",
            json!({"activity": {"loop": {"kind": "multiInstance", "sequential": false, "loopCondition": "5",
                "elementVariable": "one"}}}),
        ),
        (
            "<b:userTask id=\"n\"><b:potentialOwner><b:resourceAssignmentExpression><b:formalExpression>anna\
             </b:formalExpression></b:resourceAssignmentExpression></b:potentialOwner></b:userTask>",
            json!({"resources": [{"role": "potentialOwner", "assignmentExpression": "anna"}]}),
        ),
        (
            "<b:complexGateway id=\"n\" gatewayDirection=\"Converging\" default=\"t:f\"><b:activationCondition>x\
             </b:activationCondition></b:complexGateway>",
            json!({"gatewayDirection": "Converging", "defaultFlow": "f", "activationCondition": "x"}),
        ),
        (
            "<b:task id=\"n\"><b:dataInputAssociation id=\"a\"><b:sourceRef>t:s</b:sourceRef><b:targetRef>g\
             </b:targetRef></b:dataInputAssociation></b:task>",
            json!({"dataAssociations": [{"elementType": "dataInputAssociation", "id": "a", "sources": ["s"],
                "target": "g"}]}),
        ),
    ];
    for (element, expected) in rows {
        let shared = "<b:messageEventDefinition id=\"shared\" messageRef=\"m\"/>";
        let (bpmn, _) = stable(&format!("{shared}<b:process id=\"p\">{element}</b:process>"));
        let mut node = bpmn["processes"][0]["nodes"][0].clone();
        assert_eq!(node["bpmn"].take(), expected, "{element}");
    }
}

#[test]
fn what_has_no_member_is_put_back() {
    let body = "<b:globalTask id=\"g\" name=\"G\"/><b:process id=\"p\" isExecutable=\"maybe\" camunda:versionTag=\"1\">\
        <b:documentation textFormat=\"text/html\">see <i>this</i></b:documentation>\
        <b:task id=\"a\" v:color=\"red\" xmlns:v=\"urn:vendor\"><b:extensionElements><v:x>1</v:x></b:extensionElements>\
        <b:categoryValueRef>c</b:categoryValueRef><b:outgoing>other</b:outgoing></b:task>\
        <b:sequenceFlow id=\"f\" sourceRef=\"a\" targetRef=\"a\"><b:extensionElements><v:y xmlns:v=\"urn:w\"/>\
        </b:extensionElements><b:conditionExpression>x</b:conditionExpression></b:sequenceFlow>\
        <b:wish id=\"w\"/></b:process>";
    let (bpmn, written) = stable(body);
    let node = &bpmn["processes"][0]["nodes"][0];
    assert_eq!(node["bpmn"]["extensionXml"], json!(["<v:x xmlns:v=\"urn:vendor\">1</v:x>"]));
    assert_eq!(bpmn["processes"][0]["documentation"], json!(["see this"]));
    for kept in [
        "<b:globalTask id=\"g\" name=\"G\"/>",
        "isExecutable=\"maybe\"",
        "camunda:versionTag=\"1\"",
        "textFormat=\"text/html\">see <i>this</i></b:documentation>",
        "v:color=\"red\"",
        "<b:categoryValueRef>c</b:categoryValueRef>",
        "<b:outgoing>other</b:outgoing>",
        "<v:y xmlns:v=\"urn:w\"/>",
        "<b:conditionExpression>x</b:conditionExpression>",
        "<b:wish id=\"w\"/>",
    ] {
        assert!(written.contains(kept), "{kept} is missing in {written}");
    }
    let fragments = bpmn["extensionElementsXml"].as_array().unwrap();
    let task = "<heddle:residue for=\"a\" xmlns:v=\"urn:vendor\" heddle:flowRefs=\"own\" v:color=\"red\">";
    assert!(fragments.iter().any(|fragment| fragment.as_str().unwrap().starts_with(task)), "{fragments:?}");
    let imported = read(body);
    assert_eq!(
        imported.diagnostics.iter().map(|found| found.code.as_str()).collect::<Vec<_>>(),
        ["invalidValue", "unknownElement"]
    );
    assert!(imported.items.iter().any(|item| item.outcome.as_deref() == Some("unsupported")));
}

#[test]
fn vendors_human_task_settings_are_mapped() {
    let body = "<b:process id=\"p\"><b:userTask id=\"a\" camunda:assignee=\"anna\" camunda:candidateGroups=\"x, y\" \
        camunda:priority=\"7\" camunda:dueDate=\"${due}\" camunda:formKey=\"form\"/>\
        <b:userTask id=\"b\"><b:extensionElements><zeebe:assignmentDefinition assignee=\"=who\" candidateUsers=\"u\"/>\
        </b:extensionElements></b:userTask></b:process>";
    let (bpmn, written) = stable(body);
    let nodes = &bpmn["processes"][0]["nodes"];
    let mapped = json!({"assignee": "anna", "candidateGroups": ["x", "y"], "dueDate": "=due", "priority": 7});
    assert_eq!(nodes[0]["configuration"], mapped);
    assert_eq!(nodes[1]["configuration"], json!({"assignee": "=who", "candidateUsers": ["u"]}));
    assert!(!written.contains("heddle:"), "nothing is added to what the vendor's attributes say: {written}");
    let outcomes: Vec<(String, String)> = read(body)
        .items
        .into_iter()
        .map(|item| (item.source_kind.unwrap_or_default(), item.outcome.unwrap_or_default()))
        .collect();
    let expected = [
        ("camunda:assignee", "mapped"),
        ("camunda:candidateGroups", "mapped"),
        ("camunda:priority", "mapped"),
        ("camunda:dueDate", "mapped"),
        ("camunda:formKey", "preserved"),
        ("zeebe:assignmentDefinition", "mapped"),
    ];
    assert_eq!(outcomes, expected.map(|(kind, outcome)| (kind.to_owned(), outcome.to_owned())));
}

#[test]
fn a_definition_written_by_hand_is_exported_as_the_process_main() {
    let definition: WorkflowDefinition = serde_json::from_value(json!({
        "schemaVersion": 1,
        "protection": {"preset": "basic"},
        "layout": {"nodes": {"start": {"x": 1}}},
        "nodes": [
            {"id": "start", "type": "startEvent", "displayName": "A & \"B\"\n<C>"},
            {"id": "ask", "type": "agent", "configuration": {"model": "m"}, "bpmn": {"elementType": "serviceTask"}},
            {"id": "think", "type": "llm"},
            {"id": "end", "type": "endEvent"},
        ],
        "edges": [
            {"id": "a", "source": "start", "target": "ask", "type": "sequenceFlow"},
            {"id": "b", "source": "ask", "target": "end", "type": "sequenceFlow", "branch": "yes",
             "condition": {"left": "amount", "operator": "greaterThan", "value": "5"}, "loop": {"maximumIterations": 3}},
        ],
        "bpmn": {"name": "By hand", "primaryProcessId": "main", "targetNamespace": "urn:x"},
    }))
    .unwrap();
    let written = xml::write(&definition).unwrap();
    assert!(
        written.xml.contains("<bpmn:process id=\"main\" name=\"By hand\" isExecutable=\"true\">"),
        "{}",
        written.xml
    );
    assert!(written.xml.contains("<bpmn:serviceTask id=\"ask\">"), "{}", written.xml);
    assert_eq!(written.diagnostics, []);
    let mut again = xml::read(written.xml.as_bytes()).unwrap().definition;
    let bpmn: &mut Bpmn = again.bpmn.as_mut().unwrap();
    assert!(bpmn.namespaces.take().is_some_and(|namespaces| namespaces.contains_key("bpmn")));
    assert_eq!(again.nodes.as_ref().unwrap()[1], definition.nodes.as_ref().unwrap()[1]);
    assert_eq!(again.edges, definition.edges);
    assert_eq!(serde_json::to_value(again).unwrap()["layout"], json!({"nodes": {"start": {"x": 1}}}));
}

#[test]
fn a_deleted_element_takes_its_residue_along() {
    let mut definition =
        read("<b:process id=\"p\"><b:task id=\"a\" camunda:x=\"1\"/></b:process>").definition;
    definition.bpmn.as_mut().unwrap().processes.as_mut().unwrap()[0].nodes = None;
    let written = xml::write(&definition).unwrap();
    assert!(!written.xml.contains("camunda:x"));
    assert_eq!(written.diagnostics[0].element_id.as_deref(), Some("a"));
}

#[test]
fn a_changed_member_wins_over_its_lexical_form() {
    let mut definition = read("<b:process id=\"p\" isExecutable=\"1\"/>").definition;
    assert!(xml::write(&definition).unwrap().xml.contains("isExecutable=\"1\""));
    definition.bpmn.as_mut().unwrap().processes.as_mut().unwrap()[0].executable = Some(false);
    assert!(xml::write(&definition).unwrap().xml.contains("isExecutable=\"false\""));
}

#[test]
fn broken_fragments_and_characters_are_refused() {
    let node = |node: Value| serde_json::from_value::<WorkflowDefinition>(json!({"nodes": [node]})).unwrap();
    for xml_text in ["<a>", "a", "<a/><b/>", "<x:a/>", "<!DOCTYPE a><a/>"] {
        let definition = node(json!({"id": "a", "type": "task", "bpmn": {"extensionXml": [xml_text]}}));
        assert!(matches!(xml::write(&definition), Err(xml::WriteError::Fragment { .. })), "{xml_text}");
    }
    let definition = node(json!({"id": "a", "type": "task", "displayName": "\u{0}"}));
    assert!(matches!(xml::write(&definition), Err(xml::WriteError::Character { .. })));
}

#[test]
fn unknown_members_are_refused_and_null_is_absent() {
    assert!(serde_json::from_value::<WorkflowDefinition>(json!({"bpmn": {"wish": 1}})).is_err());
    let definition: WorkflowDefinition = serde_json::from_value(json!({"nodes": null})).unwrap();
    assert_eq!(definition, WorkflowDefinition::default());
}
