//! The Common Executable conformance sub-class (clause 2.2): its elements, their attributes, and what lies outside.

mod check;
pub mod models;
mod schema;
#[cfg(test)]
mod tests;

pub use check::outside_common_executable;
pub use schema::common_executable_schema;

use heddle_bpmn::element::ElementKind as K;

/// Feature, element, attributes; one in parentheses may be absent.
pub type Row = (&'static str, K, &'static str);

/// Elements of Table 2.3.
pub const ELEMENTS: &[Row] = &[
    ("sequenceFlow (unconditional)", K::SequenceFlow, "id (name) sourceRef targetRef"),
    ("sequenceFlow (conditional)", K::SequenceFlow, "id (name) sourceRef targetRef (conditionExpression)"),
    ("sequenceFlow (default)", K::SequenceFlow, "id (name) sourceRef targetRef (default)"),
    ("subProcess (expanded)", K::SubProcess, "id name flowElement (loopCharacteristics) (boundaryEventRefs)"),
    ("exclusiveGateway", K::ExclusiveGateway, "id name gatewayDirection (default)"),
    ("parallelGateway", K::ParallelGateway, "id name gatewayDirection"),
    ("startEvent (none)", K::StartEvent, "id name"),
    ("endEvent (none)", K::EndEvent, "id name"),
    ("eventBasedGateway", K::EventBasedGateway, "id name gatewayDirection (eventGatewayType)"),
    (
        "userTask",
        K::UserTask,
        "id name (renderings) implementation (resources) (ioSpecification) (dataInputAssociations) \
         (dataOutputAssociations) (loopCharacteristics) (boundaryEventRefs)",
    ),
    (
        "serviceTask",
        K::ServiceTask,
        "id name implementation operationRef (ioSpecification) (dataInputAssociations) (dataOutputAssociations) \
         (loopCharacteristics) (boundaryEventRefs)",
    ),
    (
        "callActivity",
        K::CallActivity,
        "id name calledElement (ioSpecification) (dataInputAssociations) (dataOutputAssociations) \
         (loopCharacteristics) (boundaryEventRefs)",
    ),
    ("dataObject", K::DataObject, "id name (isCollection) itemSubjectRef"),
    ("textAnnotation", K::TextAnnotation, "id text"),
    ("dataAssociation (input)", K::DataInputAssociation, "id (name) sourceRef targetRef (assignment)"),
    ("dataAssociation (output)", K::DataOutputAssociation, "id (name) sourceRef targetRef (assignment)"),
    (
        "messageStartEvent",
        K::StartEvent,
        "id name messageEventDefinition (dataOutput) (dataOutputAssociations)",
    ),
    ("messageEndEvent", K::EndEvent, "id name messageEventDefinition (dataInput) (dataInputAssociations)"),
    ("terminateEndEvent", K::EndEvent, "id name terminateEventDefinition"),
    (
        "catching message intermediateEvent",
        K::IntermediateCatchEvent,
        "id name messageEventDefinition (dataOutput) (dataOutputAssociations)",
    ),
    (
        "throwing message intermediateEvent",
        K::IntermediateThrowEvent,
        "id name messageEventDefinition (dataInput) (dataInputAssociations)",
    ),
    ("catching timer intermediateEvent", K::IntermediateCatchEvent, "id name timerEventDefinition"),
    (
        "boundary error intermediateEvent",
        K::BoundaryEvent,
        "id name attachedToRef errorEventDefinition (dataOutput) (dataOutputAssociations)",
    ),
];

/// Supporting classes of Table 2.4.
pub const SUPPORTING: &[Row] = &[
    ("StandardLoopCharacteristics", K::StandardLoopCharacteristics, "id loopCondition"),
    (
        "MultiInstanceLoopCharacteristics",
        K::MultiInstanceLoopCharacteristics,
        "id (isSequential) loopDataInput inputDataItem",
    ),
    ("Rendering", K::Rendering, ""),
    ("Resource", K::Resource, "id name"),
    ("ResourceRole", K::ResourceRole, "id (resourceRef) (resourceAssignmentExpression)"),
    ("InputOutputSpecification", K::IoSpecification, "id (dataInputs) (dataOutputs)"),
    ("DataInput", K::DataInput, "id name (isCollection) itemSubjectRef"),
    ("DataOutput", K::DataOutput, "id name (isCollection) itemSubjectRef"),
    ("ItemDefinition", K::ItemDefinition, "id (structure) (import)"),
    ("Operation", K::Operation, "id name inMessageRef (outMessageRef) (errorRefs)"),
    ("Message", K::Message, "id name structureRef"),
    ("Error", K::Error, "id structureRef"),
    ("Assignment", K::Assignment, "id from to"),
    ("MessageEventDefinition", K::MessageEventDefinition, "id messageRef operationRef"),
    ("TerminateEventDefinition", K::TerminateEventDefinition, "id"),
    ("TimerEventDefinition", K::TimerEventDefinition, "id timeDate"),
];

/// The attributes and parts of a row: name, and whether the element must have it.
pub fn words(attributes: &'static str) -> impl Iterator<Item = (&'static str, bool)> {
    let word =
        |word: &'static str| (word.trim_start_matches('(').trim_end_matches(')'), !word.starts_with('('));
    attributes.split_whitespace().map(word)
}

/// The triggers and results that the sub-class has by element; an empty word is an event without one.
const EVENTS: &[(K, &[&str])] = &[
    (K::StartEvent, &["", "message"]),
    (K::EndEvent, &["", "message", "terminate"]),
    (K::IntermediateCatchEvent, &["message", "timer"]),
    (K::IntermediateThrowEvent, &["message"]),
    (K::BoundaryEvent, &["error"]),
];

/// Languages that the sub-class demands of types and of data access (clause 2.2), by their URIs.
const TYPE_LANGUAGE: &str = "http://www.w3.org/2001/XMLSchema";
const EXPRESSION_LANGUAGE: &str = "http://www.w3.org/1999/XPath";
const SERVICE_LANGUAGES: &[&str] = &["http://schemas.xmlsoap.org/wsdl/", "http://www.w3.org/ns/wsdl"];
