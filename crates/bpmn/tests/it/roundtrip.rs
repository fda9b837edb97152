//! Read, JSON, write: the document says the same afterwards, element by element.

use crate::lines::lines;
use heddle_bpmn::xml::{self, MODEL_NS, element_rows};

/// A document with every element and every attribute of the schema in at least one place, in the schema's order.
const EVERYTHING: &str = include_str!("../../../conformance/src/bpmn/everything.bpmn");

/// What a document becomes on its way through the definition's JSON text.
fn exported(source: &[u8]) -> String {
    let imported = xml::read(source).unwrap_or_else(|error| panic!("{error}"));
    let json = serde_json::to_string(&imported.definition).unwrap();
    let written = xml::write(&serde_json::from_str(&json).unwrap()).unwrap();
    assert_eq!(written.diagnostics, [], "{}", written.xml);
    let again = xml::read(written.xml.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{}", written.xml));
    assert_eq!(again.definition, imported.definition, "{}", written.xml);
    written.xml
}

/// The same document comes out, in the same order.
fn survives(source: &str) -> String {
    let written = exported(source.as_bytes());
    let (before, after) = (lines(source), lines(&written));
    if let Some(at) = before.iter().zip(&after).position(|(before, after)| before != after) {
        panic!("{}\nbecame\n{}\nafter {}\n\n{written}", before[at], after[at], before[..at].join("\n"));
    }
    assert_eq!(before.len(), after.len(), "{written}");
    written
}

fn document(body: &str) -> String {
    format!(
        "<b:definitions xmlns:b=\"{MODEL_NS}\" xmlns:bpmndi=\"http://www.omg.org/spec/BPMN/20100524/DI\" \
         xmlns:di=\"http://www.omg.org/spec/DD/20100524/DI\" xmlns:dc=\"http://www.omg.org/spec/DD/20100524/DC\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:v=\"urn:v\" xmlns:t=\"urn:t\" \
         targetNamespace=\"urn:t\">{body}</b:definitions>"
    )
}

#[test]
fn every_element_and_attribute_of_the_schema_survives() {
    // In the schema these are attributes.
    let attributes = [
        "innerConversationNodeRef",
        "innerMessageFlowRef",
        "outerConversationNodeRef",
        "outerMessageFlowRef",
    ];
    for row in element_rows().iter().filter(|row| !attributes.contains(&row.name)) {
        let found = [' ', '>', '/'].iter().any(|end| EVERYTHING.contains(&format!(":{}{end}", row.name)));
        assert!(found, "the document lacks {}", row.name);
    }
    survives(EVERYTHING);
}

#[test]
fn every_element_survives_under_the_default_namespace() {
    let source = EVERYTHING
        .replace("<bpmn:", "<")
        .replace("</bpmn:", "</")
        .replace("xmlns:bpmn=", "xmlns=")
        .replace("\"bpmn:", "\"");
    survives(&source);
}

#[test]
fn order_comments_and_stray_text_survive() {
    let rows = [
        "<b:process id=\"p\"><b:sequenceFlow id=\"f\" sourceRef=\"a\" targetRef=\"a\"/><b:task id=\"a\"/>\
         <b:textAnnotation id=\"x\"/><b:dataObject id=\"d\"/><b:task id=\"c\"/></b:process>",
        "<b:process id=\"p\"><!-- one --><b:task id=\"a\"><!-- two --></b:task><?pi three?>loose &amp; text</b:process>",
        "<b:process id=\"p\"><b:task><!-- a --></b:task><b:task/><b:task v:x=\"1\"/></b:process>",
        "<b:process id=\"p\"><b:task id=\"a\"><b:extensionElements v:a=\"1\"><!-- a --><v:x/><!-- b --></b:extensionElements>\
         </b:task><b:task id=\"c\"><b:extensionElements><!-- only --></b:extensionElements></b:task></b:process>",
        "<b:process id=\"p\"/><b:message id=\"m\"/><b:collaboration id=\"c\"/><b:process id=\"q\"/>",
        "<b:process id=\"p\"><b:task id=\"a\"><b:documentation>a<!-- c -->b <i>c</i></b:documentation></b:task></b:process>",
        "<b:process id=\"p\"><v:own/><b:startEvent id=\"s\"><b:eventDefinitionRef>r</b:eventDefinitionRef>\
         <b:messageEventDefinition/><b:eventDefinitionRef>r</b:eventDefinitionRef></b:startEvent></b:process>",
    ];
    for row in rows {
        survives(&document(row));
    }
    let around = format!("<?xml version=\"1.0\"?><!-- before --><?pi x?>{}<!-- after -->", document(""));
    survives(&around);
}

#[test]
fn ids_that_several_elements_have_keep_their_own_residue() {
    survives(&document(
        "<b:process id=\"same\" v:a=\"1\"><b:task id=\"same\" v:a=\"2\"/><b:task id=\"same\" v:a=\"3\"/>\
         <b:task id=\"definitions\" v:a=\"4\"/></b:process>",
    ));
}

#[test]
fn prefixes_that_change_their_meaning_survive() {
    let written = survives(&document(
        "<b:process id=\"p\" xmlns:x=\"urn:x\"><b:task id=\"a\" xmlns:y=\"urn:y\" y:z=\"x:w\"/>\
         <c:task xmlns:c=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" xmlns:b=\"urn:other\" id=\"o\" b:z=\"1\"/></b:process>\
         <b:itemDefinition id=\"i\" xmlns:s=\"urn:s\" structureRef=\"s:string\"/>",
    ));
    assert!(written.contains("xmlns:x=\"urn:x\""), "{written}");
    assert!(written.contains("xmlns:s=\"urn:s\""), "{written}");
}

#[test]
fn numbers_keep_their_form() {
    let shape = |x: &str, y: &str| {
        document(&format!(
            "<bpmndi:BPMNDiagram><bpmndi:BPMNPlane><bpmndi:BPMNShape><dc:Bounds x=\"{x}\" y=\"{y}\" width=\"-0\" \
             height=\"1e3\"/></bpmndi:BPMNShape></bpmndi:BPMNPlane></bpmndi:BPMNDiagram>"
        ))
    };
    for (x, y) in [
        ("1.0", "2"),
        ("1", "2.0"),
        ("12.804751171874997", "-3.50"),
        ("1.0", "94.93333333333335"),
        ("007", ""),
    ] {
        survives(&shape(x, y));
    }
    let many = "<di:waypoint x=\"1.0\" y=\"2.0\"/>".repeat(9);
    let body = format!(
        "<bpmndi:BPMNDiagram><bpmndi:BPMNPlane><bpmndi:BPMNEdge>{many}</bpmndi:BPMNEdge>\
                        </bpmndi:BPMNPlane></bpmndi:BPMNDiagram>"
    );
    let definition = xml::read(document(&body).as_bytes()).unwrap().definition;
    let kept = definition.bpmn.unwrap().extension_elements_xml.unwrap();
    assert_eq!(kept.len(), 1, "one note for the document, none for each number: {kept:?}");
}

#[test]
fn white_space_and_line_ends_of_attributes_survive() {
    let source = document(
        "<b:process id=\"p\" name=\"a&#10;b&#9;c&#13;d\" v:x=\"e&#10;f\"><b:task id=\"t\">\
        <b:documentation xml:space=\"preserve\" xml:lang=\"de\">  x  </b:documentation></b:task></b:process>",
    );
    let written = survives(&source);
    let again = xml::read(written.as_bytes()).unwrap().definition.bpmn.unwrap().processes.unwrap();
    assert_eq!(again[0].name.as_deref(), Some("a\nb\tc\rd"));
    let text = again[0].nodes.as_ref().unwrap()[0].bpmn.as_ref().unwrap().documentation.as_ref().unwrap();
    assert_eq!(text[0], "  x  ");
}

#[test]
fn a_new_element_goes_among_its_like() {
    let source = document(
        "<b:process id=\"p\"><b:sequenceFlow id=\"f\" sourceRef=\"a\" targetRef=\"a\"/><b:task id=\"a\"/>\
         <b:textAnnotation id=\"x\"/></b:process>",
    );
    let mut definition = xml::read(source.as_bytes()).unwrap().definition;
    let nodes = definition.bpmn.as_mut().unwrap().processes.as_mut().unwrap()[0].nodes.as_mut().unwrap();
    let mut added = nodes[0].clone();
    added.id = Some("new".to_owned());
    nodes.push(added);
    let written = xml::write(&definition).unwrap().xml;
    let at = |part: &str| written.find(part).unwrap_or_else(|| panic!("{part} is missing in {written}"));
    assert!(at("id=\"f\"") < at("id=\"a\"") && at("id=\"a\"") < at("id=\"new\""), "{written}");
    assert!(at("id=\"new\"") < at("textAnnotation"), "{written}");
}
