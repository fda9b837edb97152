//! The Common Executable conformance sub-class (clause 2.2): its elements, their attributes, and what lies outside.

use crate::diagnostic::Diagnostic;
use crate::model::{Node, WorkflowDefinition, nodes};
use crate::xml::element_row;
use serde::Serialize;
use serde_json::{Value, json};

/// An attribute or part of an element of the sub-class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProfileAttribute {
    /// Its name in the standard's table.
    pub name: &'static str,
    /// Whether the element must have it.
    pub required: bool,
}

/// An element of the sub-class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProfileElement {
    /// Its name in the standard's table.
    pub feature: &'static str,
    /// The BPMN element.
    pub element: &'static str,
    /// The standard's table.
    pub table: &'static str,
    /// Its attributes and parts.
    pub attributes: Vec<ProfileAttribute>,
    /// Whether the reader has a place for it.
    pub readable: bool,
    /// Whether the writer has.
    pub writable: bool,
}

/// Feature, element, attributes; one in parentheses may be absent.
const ELEMENTS: &[(&str, &str, &str)] = &[
    ("sequenceFlow (unconditional)", "sequenceFlow", "id (name) sourceRef targetRef"),
    ("sequenceFlow (conditional)", "sequenceFlow", "id (name) sourceRef targetRef (conditionExpression)"),
    ("sequenceFlow (default)", "sequenceFlow", "id (name) sourceRef targetRef (default)"),
    ("subProcess (expanded)", "subProcess", "id name flowElement (loopCharacteristics) (boundaryEventRefs)"),
    ("exclusiveGateway", "exclusiveGateway", "id name gatewayDirection (default)"),
    ("parallelGateway", "parallelGateway", "id name gatewayDirection"),
    ("startEvent (none)", "startEvent", "id name"),
    ("endEvent (none)", "endEvent", "id name"),
    ("eventBasedGateway", "eventBasedGateway", "id name gatewayDirection eventGatewayType"),
    (
        "userTask",
        "userTask",
        "id name (renderings) implementation resources (ioSpecification) (dataInputAssociations) \
         (dataOutputAssociations) (loopCharacteristics) (boundaryEventRefs)",
    ),
    (
        "serviceTask",
        "serviceTask",
        "id name implementation operationRef (ioSpecification) (dataInputAssociations) (dataOutputAssociations) \
         (loopCharacteristics) (boundaryEventRefs)",
    ),
    (
        "callActivity",
        "callActivity",
        "id name calledElement (ioSpecification) (dataInputAssociations) (dataOutputAssociations) \
         (loopCharacteristics) (boundaryEventRefs)",
    ),
    ("dataObject", "dataObject", "id name isCollection itemSubjectRef"),
    ("textAnnotation", "textAnnotation", "id text"),
    ("dataAssociation", "dataInputAssociation", "id (name) sourceRef targetRef (assignment)"),
    ("dataAssociation", "dataOutputAssociation", "id (name) sourceRef targetRef (assignment)"),
    (
        "messageStartEvent",
        "startEvent",
        "id name messageEventDefinition (dataOutput) (dataOutputAssociations)",
    ),
    ("messageEndEvent", "endEvent", "id name messageEventDefinition (dataInput) (dataInputAssociations)"),
    ("terminateEndEvent", "endEvent", "terminateEventDefinition"),
    (
        "catching message intermediateEvent",
        "intermediateCatchEvent",
        "id name messageEventDefinition (dataOutput) (dataOutputAssociations)",
    ),
    (
        "throwing message intermediateEvent",
        "intermediateThrowEvent",
        "id name messageEventDefinition (dataInput) (dataInputAssociations)",
    ),
    ("catching timer intermediateEvent", "intermediateCatchEvent", "id name timerEventDefinition"),
    (
        "boundary error intermediateEvent",
        "boundaryEvent",
        "id name attachedToRef errorEventDefinition (dataOutput) (dataOutputAssociations)",
    ),
];

/// Supporting classes.
const SUPPORTING: &[(&str, &str, &str)] = &[
    ("StandardLoopCharacteristics", "standardLoopCharacteristics", "id loopCondition"),
    (
        "MultiInstanceLoopCharacteristics",
        "multiInstanceLoopCharacteristics",
        "id isSequential loopDataInput inputDataItem",
    ),
    ("Rendering", "rendering", ""),
    ("Resource", "resource", "id name"),
    ("ResourceRole", "resourceRole", "id resourceRef resourceAssignmentExpression"),
    ("InputOutputSpecification", "ioSpecification", "id dataInputs dataOutputs"),
    ("DataInput", "dataInput", "id name isCollection itemSubjectRef"),
    ("DataOutput", "dataOutput", "id name isCollection itemSubjectRef"),
    ("ItemDefinition", "itemDefinition", "id (structure) (import)"),
    ("Operation", "operation", "id name inMessageRef (outMessageRef) (errorRefs)"),
    ("Message", "message", "id name structureRef"),
    ("Error", "error", "id structureRef"),
    ("Assignment", "assignment", "id from to"),
    ("MessageEventDefinition", "messageEventDefinition", "id messageRef operationRef"),
    ("TerminateEventDefinition", "terminateEventDefinition", "id"),
    ("TimerEventDefinition", "timerEventDefinition", "id timeDate"),
];

/// The elements of Tables 2.3 and 2.4.
pub fn common_executable() -> Vec<ProfileElement> {
    let tables = [("2.3", ELEMENTS), ("2.4", SUPPORTING)];
    let rows = tables.into_iter().flat_map(|(table, rows)| rows.iter().map(move |row| (table, row)));
    let element = |(table, (feature, element, attributes)): (
        &'static str,
        &(&'static str, &'static str, &'static str),
    )| {
        let known = element_row(element).is_some();
        let attribute = |word: &'static str| ProfileAttribute {
            name: word.trim_start_matches('(').trim_end_matches(')'),
            required: !word.starts_with('('),
        };
        ProfileElement {
            feature,
            element,
            table,
            attributes: attributes.split_whitespace().map(attribute).collect(),
            readable: known,
            writable: known,
        }
    };
    rows.map(element).collect()
}

/// The triggers and results that the sub-class has by element; an empty word is an event without one.
const EVENTS: &[(&str, &[&str])] = &[
    ("startEvent", &["", "message"]),
    ("endEvent", &["", "message", "terminate"]),
    ("intermediateCatchEvent", &["message", "timer"]),
    ("intermediateThrowEvent", &["message"]),
    ("boundaryEvent", &["error"]),
];

/// Nodes that stand beside the flow.
const BESIDE: &[&str] = &["dataObject", "textAnnotation"];

fn is_inside(element: &str) -> bool {
    BESIDE.contains(&element) || ELEMENTS.iter().any(|(_, own, _)| *own == element)
}

/// Nodes that the sub-class does not have, and events that it does not have at their place.
pub fn outside_common_executable(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for at in nodes(definition) {
        let element = at.node.element_type().unwrap_or_default();
        let message = if !is_inside(element) {
            format!("`{element}` is no element of the Common Executable sub-class.")
        } else if let Some(kind) = foreign_event(element, at.node) {
            let kind = if kind.is_empty() { "none" } else { kind };
            format!("A {element} with the event `{kind}` is outside the Common Executable sub-class.")
        } else {
            continue;
        };
        let id = at.node.element_id().unwrap_or_default();
        found.push(
            Diagnostic::error("outsideProfile", message)
                .with_clause("2.2")
                .with_element(id)
                .with_path(at.path)
                .with_remedy(
                    "Model the step with the elements of the sub-class, or ask for another profile.",
                ),
        );
    }
    found
}

fn foreign_event<'n>(element: &str, node: &'n Node) -> Option<&'n str> {
    let (_, allowed) = EVENTS.iter().find(|(own, _)| *own == element)?;
    let definitions =
        node.bpmn.as_ref().and_then(|bpmn| bpmn.event_definitions.as_deref()).unwrap_or_default();
    if definitions.is_empty() {
        return (!allowed.contains(&"")).then_some("");
    }
    let kinds = definitions.iter().map(|one| one.r#type.as_deref().unwrap_or_default());
    // What a reference leads to is judged where it stands.
    kinds.into_iter().find(|kind| *kind != "reference" && !allowed.contains(kind))
}

/// A JSON Schema (draft 2020-12) for definitions that keep to the elements of the sub-class.
pub fn common_executable_schema() -> Value {
    let flow: Vec<&str> = {
        let mut names: Vec<&str> = ELEMENTS.iter().map(|(_, element, _)| *element).collect();
        names.extend(BESIDE);
        names.retain(|name| {
            !matches!(*name, "sequenceFlow" | "dataInputAssociation" | "dataOutputAssociation")
        });
        names.sort_unstable();
        names.dedup();
        names
    };
    let event = |(element, kinds): &(&str, &[&str])| {
        let named: Vec<&str> = kinds.iter().copied().filter(|kind| !kind.is_empty()).collect();
        let least = usize::from(!kinds.contains(&""));
        json!({
            "if": {"properties": {"type": {"const": element}}, "required": ["type"]},
            "then": {"properties": {"bpmn": {"properties": {"eventDefinitions": {
                "minItems": least, "maxItems": 1,
                "items": {"properties": {"type": {"enum": named}}}
            }}}}}
        })
    };
    let events: Vec<Value> = EVENTS.iter().map(event).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A workflow definition of the Common Executable sub-class of BPMN 2.0.2",
        "type": "object",
        "properties": {
            "nodes": {"$ref": "#/$defs/nodes"},
            "bpmn": {"type": ["object", "null"], "properties": {
                "processes": {"type": ["array", "null"], "items": {"$ref": "#/$defs/content"}},
                "choreographies": {"maxItems": 0}
            }}
        },
        "$defs": {
            "nodes": {"type": ["array", "null"], "items": {"$ref": "#/$defs/node"}},
            "content": {"type": "object", "properties": {"nodes": {"$ref": "#/$defs/nodes"}}},
            "node": {
                "type": "object",
                "required": ["id", "type"],
                "properties": {
                    "type": {"enum": flow},
                    "bpmn": {"type": ["object", "null"], "properties": {
                        "gatewayDirection": {"enum": ["Converging", "Diverging", null]},
                        "subProcess": {"$ref": "#/$defs/content"},
                        "isTransaction": {"enum": [false, null]},
                        "triggeredByEvent": {"enum": [false, null]}
                    }}
                },
                "allOf": events
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml;

    fn outside(content: &str) -> Vec<String> {
        let text = format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:x">
            <process id="p" isExecutable="true">{content}</process></definitions>"#
        );
        let imported = xml::read(text.as_bytes()).unwrap();
        let found = outside_common_executable(&imported.definition);
        found.into_iter().filter_map(|one| one.element_id).collect()
    }

    #[test]
    fn what_the_tables_lack_lies_outside() {
        let inside = r#"<startEvent id="s"/><userTask id="u"/><endEvent id="e"><terminateEventDefinition/></endEvent>
            <intermediateCatchEvent id="c"><timerEventDefinition/></intermediateCatchEvent>"#;
        assert!(outside(inside).is_empty());
        let beyond = r#"<startEvent id="s"><timerEventDefinition/></startEvent><scriptTask id="x"/>
            <subProcess id="sp"><inclusiveGateway id="g"/></subProcess>
            <boundaryEvent id="b" attachedToRef="x"><messageEventDefinition/></boundaryEvent>
            <intermediateThrowEvent id="t"/>"#;
        assert_eq!(outside(beyond), ["s", "x", "b", "t", "g"]);
    }

    #[test]
    fn every_element_of_the_tables_is_read_and_written() {
        let all = common_executable();
        assert_eq!(all.iter().filter(|one| one.table == "2.3").count(), 23);
        assert!(all.iter().all(|one| one.readable && one.writable), "{all:?}");
        let flow = all.iter().find(|one| one.feature == "sequenceFlow (conditional)").unwrap();
        let names: Vec<_> = flow.attributes.iter().map(|one| (one.name, one.required)).collect();
        assert_eq!(names[0], ("id", true));
        assert_eq!(names[4], ("conditionExpression", false));
    }
}
