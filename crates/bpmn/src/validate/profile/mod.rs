//! The Common Executable conformance sub-class (clause 2.2): its elements, their attributes, and what lies outside.

mod check;
mod schema;
#[cfg(test)]
mod tests;
mod trials;

pub use check::outside_common_executable;
pub use schema::common_executable_schema;

use crate::conformance::Extent;
use serde::Serialize;
use std::sync::OnceLock;

/// An attribute or part of an element of the sub-class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProfileAttribute {
    /// Its name in the standard's table.
    pub name: &'static str,
    /// Whether the element must have it.
    pub required: bool,
    /// Whether the reader has a member for it.
    pub readable: bool,
    /// Whether it is written as it was read.
    pub writable: bool,
    /// How much of it is executed: whether a process with it runs, and runs in another way than one without it.
    pub executed: Extent,
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
    /// Whether the reader has members for all of it.
    pub readable: bool,
    /// Whether all of it is written as it was read.
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
    ("eventBasedGateway", "eventBasedGateway", "id name gatewayDirection (eventGatewayType)"),
    (
        "userTask",
        "userTask",
        "id name (renderings) implementation (resources) (ioSpecification) (dataInputAssociations) \
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
    ("dataObject", "dataObject", "id name (isCollection) itemSubjectRef"),
    ("textAnnotation", "textAnnotation", "id text"),
    ("dataAssociation (input)", "dataInputAssociation", "id (name) sourceRef targetRef (assignment)"),
    ("dataAssociation (output)", "dataOutputAssociation", "id (name) sourceRef targetRef (assignment)"),
    (
        "messageStartEvent",
        "startEvent",
        "id name messageEventDefinition (dataOutput) (dataOutputAssociations)",
    ),
    ("messageEndEvent", "endEvent", "id name messageEventDefinition (dataInput) (dataInputAssociations)"),
    ("terminateEndEvent", "endEvent", "id name terminateEventDefinition"),
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
        "id (isSequential) loopDataInput inputDataItem",
    ),
    ("Rendering", "rendering", ""),
    ("Resource", "resource", "id name"),
    ("ResourceRole", "resourceRole", "id (resourceRef) (resourceAssignmentExpression)"),
    ("InputOutputSpecification", "ioSpecification", "id (dataInputs) (dataOutputs)"),
    ("DataInput", "dataInput", "id name (isCollection) itemSubjectRef"),
    ("DataOutput", "dataOutput", "id name (isCollection) itemSubjectRef"),
    ("ItemDefinition", "itemDefinition", "id (structure) (import)"),
    ("Operation", "operation", "id name inMessageRef (outMessageRef) (errorRefs)"),
    ("Message", "message", "id name structureRef"),
    ("Error", "error", "id structureRef"),
    ("Assignment", "assignment", "id from to"),
    ("MessageEventDefinition", "messageEventDefinition", "id messageRef operationRef"),
    ("TerminateEventDefinition", "terminateEventDefinition", "id"),
    ("TimerEventDefinition", "timerEventDefinition", "id timeDate"),
];

/// The attributes and parts of a row: name, and whether the element must have it.
fn words(attributes: &'static str) -> impl Iterator<Item = (&'static str, bool)> {
    let word =
        |word: &'static str| (word.trim_start_matches('(').trim_end_matches(')'), !word.starts_with('('));
    attributes.split_whitespace().map(word)
}

fn attribute(feature: &str, (name, required): (&'static str, bool)) -> ProfileAttribute {
    let tried = trials::attribute(feature, name);
    ProfileAttribute {
        name,
        required,
        readable: tried.read,
        writable: tried.written,
        executed: tried.executed,
    }
}

/// The elements of Tables 2.3 and 2.4, each attribute tried with a model; made once.
pub fn common_executable() -> Vec<ProfileElement> {
    static MADE: OnceLock<Vec<ProfileElement>> = OnceLock::new();
    MADE.get_or_init(tables).clone()
}

fn tables() -> Vec<ProfileElement> {
    let tables = [("2.3", ELEMENTS), ("2.4", SUPPORTING)];
    let rows = tables.into_iter().flat_map(|(table, rows)| rows.iter().map(move |row| (table, row)));
    let element = |(table, (feature, element, attributes)): (
        &'static str,
        &(&'static str, &'static str, &'static str),
    )| {
        let attributes: Vec<_> = words(attributes).map(|word| attribute(feature, word)).collect();
        ProfileElement {
            feature,
            element,
            table,
            readable: attributes.iter().all(|one| one.readable),
            writable: attributes.iter().all(|one| one.writable),
            attributes,
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

/// Languages that the sub-class demands of types and of data access (clause 2.2), by their URIs.
const TYPE_LANGUAGE: &str = "http://www.w3.org/2001/XMLSchema";
const EXPRESSION_LANGUAGE: &str = "http://www.w3.org/1999/XPath";
const SERVICE_LANGUAGES: &[&str] = &["http://schemas.xmlsoap.org/wsdl/", "http://www.w3.org/ns/wsdl"];
