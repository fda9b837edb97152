//! Ids, expressions, collaborations, choreographies, conversations, and references to what is not there.

use super::doc::FLOW_NODES;
use super::{Doc, Out};
use heddle_bpmn::element::{ElementKind as K, Group};
use heddle_bpmn::elements::El;
use std::collections::HashSet;

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    doc.repeated.iter().for_each(|el| out.add("EXT002", *el));
    for &note in doc.all(K::TextAnnotation) {
        if doc.attr(note, "textFormat").is_some_and(|format| !is_media_type(&format)) {
            out.add("EXT010", note);
        }
    }
    for &text in doc.all(K::Documentation) {
        if doc.attr(text, "textFormat").is_some_and(|format| !is_media_type(&format)) {
            out.add("STD010", text);
        }
    }
    expressions(doc, out);
    collaborations(doc, out);
    processes(doc, out);
    references(doc, out);
}

/// Whether a text is a media type with its parameters (RFC 2045, section 5.1).
pub(super) fn is_media_type(text: &str) -> bool {
    let special = |byte: u8| br#"()<>@,;:\"/[]?="#.contains(&byte);
    let token =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_graphic() && !special(byte));
    let quoted = |part: &str| part.len() > 1 && part.starts_with('"') && part.ends_with('"');
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().and_then(|own| own.split_once('/'));
    let parameter = |part: &str| {
        part.split_once('=').is_some_and(|(name, value)| token(name) && (token(value) || quoted(value)))
    };
    essence.is_some_and(|(kind, sub)| token(kind) && token(sub)) && parts.all(parameter)
}

/// Whether the text has the characters of a URI reference (RFC 3986).
pub(super) fn is_uri(text: &str) -> bool {
    let text = text.trim();
    let escapes = text.match_indices('%').all(|(at, _)| {
        text.get(at + 1..at + 3).is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    let letters = text.chars().all(|letter| !letter.is_whitespace() && !"<>\"{}|\\^`".contains(letter));
    escapes && letters
}

/// Elements of type `tExpression`, formal only where they say so.
const EXPRESSIONS: &[K] = &[
    K::ConditionExpression,
    K::Condition,
    K::ActivationCondition,
    K::CompletionCondition,
    K::LoopCondition,
    K::LoopCardinality,
    K::TimeDate,
    K::TimeCycle,
    K::TimeDuration,
    K::Expression,
    K::From,
    K::To,
];

/// Elements of type `tFormalExpression`.
const FORMAL: &[K] = &[K::FormalExpression, K::Transformation, K::MessagePath, K::DataPath];

const EVENTS: &[K] =
    &[K::StartEvent, K::EndEvent, K::BoundaryEvent, K::IntermediateCatchEvent, K::IntermediateThrowEvent];

fn expressions(doc: &Doc<'_>, out: &mut Out) {
    for expression in doc.each(EXPRESSIONS).filter(|expression| doc.executable(*expression)) {
        self::expression(doc, expression, out);
    }
    // A definition at the root is executed where an event refers to it.
    let events = doc.each(EVENTS).filter(|event| doc.executable(*event));
    let referred = events.flat_map(|event| doc.referred(event, K::EventDefinitionRef).flatten());
    let referred: HashSet<El> = referred.filter(|definition| doc.process(*definition).is_none()).collect();
    for definition in referred {
        let parts = doc.children(definition).filter(|part| doc.is(*part, EXPRESSIONS));
        parts.for_each(|part| expression(doc, part, out));
    }
    let executed = doc.all(K::Process).iter().any(|process| doc.executable(*process));
    for expression in doc.each(FORMAL) {
        // What stands at the root is shared by all processes.
        let binds = if doc.process(expression).is_some() { doc.executable(expression) } else { executed };
        if binds && doc.text(expression).is_empty() {
            out.add("EXT013", expression);
        }
    }
    for expression in doc.each(EXPRESSIONS).chain(doc.each(FORMAL)) {
        if doc.attr(expression, "language").is_some_and(|language| !is_uri(&language)) {
            out.add("EXT014", expression);
        }
    }
    for &root in doc.all(K::Definitions) {
        let languages = ["expressionLanguage", "typeLanguage"];
        if languages.iter().any(|name| doc.attr(root, name).is_some_and(|language| !is_uri(&language))) {
            out.add("EXT014", root);
        }
    }
}

fn expression(doc: &Doc<'_>, expression: El, out: &mut Out) {
    // The schema itself makes this condition formal.
    let typed = doc.parent(expression).is_some_and(|around| doc.is_a(around, K::ComplexBehaviorDefinition));
    if !typed && !doc.formal(expression) {
        out.add("EXT012", expression);
    } else if doc.text(expression).is_empty() {
        out.add("EXT013", expression);
    }
}

fn collaborations(doc: &Doc<'_>, out: &mut Out) {
    for model in doc.each(&[K::Choreography, K::GlobalConversation, K::GlobalChoreographyTask]) {
        if doc.kid(model, K::ChoreographyRef).is_some() {
            out.add("EXT027", model);
        }
    }
    for &multiplicity in doc.all(K::ParticipantMultiplicity) {
        let number =
            |name: &str| doc.attr(multiplicity, name).and_then(|text| text.trim().parse::<i64>().ok());
        let (least, most) = (number("minimum"), number("maximum"));
        if least.is_some_and(|least| least < 0) {
            out.add("EXT029", multiplicity);
        }
        if most.is_some_and(|most| most < 1 || least.is_some_and(|least| most < least)) {
            out.add("EXT030", multiplicity);
        }
    }
    let barred = [
        K::Conversation,
        K::SubConversation,
        K::CallConversation,
        K::ParticipantAssociation,
        K::MessageFlowAssociation,
        K::ConversationAssociation,
        K::TextAnnotation,
        K::Group,
        K::Association,
    ];
    for &model in doc.all(K::GlobalConversation) {
        if doc.children(model).any(|kid| doc.is(kid, &barred)) {
            out.add("EXT032", model);
        }
    }
    for &model in doc.all(K::Collaboration) {
        let closed = doc.truth(model, "isClosed");
        if doc.referred(model, K::ChoreographyRef).flatten().any(|one| doc.truth(one, "isClosed") != closed) {
            out.add("EXT033", model);
        }
    }
}

fn processes(doc: &Doc<'_>, out: &mut Out) {
    let choreography = [K::ChoreographyTask, K::SubChoreography, K::CallChoreography];
    for &process in doc.all(K::Process) {
        let public = doc.attr(process, "processType").is_some_and(|kind| kind.trim() == "Public");
        if public && doc.truth(process, "isExecutable") {
            out.add("EXT035", process);
        }
        if doc.children(process).any(|kid| doc.is(kid, &choreography)) {
            out.add("EXT036", process);
        }
    }
    for sub in doc.each(&[K::SubProcess, K::Transaction, K::AdHocSubProcess]) {
        if doc.children(sub).any(|kid| doc.is(kid, &choreography)) {
            out.add("EXT056", sub);
        }
    }
}

/// Kinds of elements that a reference may lead to.
#[derive(Debug, Clone, Copy)]
enum Set {
    /// Flow nodes.
    Nodes,
    Activities,
    EventDefinitions,
    /// Interaction nodes of a collaboration: participants, conversations, and flow nodes but for gateways.
    Interaction,
    Only(&'static [K]),
}

use Set::{Activities, EventDefinitions, Interaction, Nodes, Only};

/// Attribute or child that holds the id of another element.
#[derive(Debug, Clone, Copy)]
enum Member {
    Attribute(&'static str),
    Child(K),
}

use Member::{Attribute, Child};

/// A reference: the elements that have it, the attribute or child that names another, and what that may be.
struct Reference {
    rule: &'static str,
    elements: &'static [K],
    member: Member,
    targets: Set,
}

const fn reference(rule: &'static str, elements: &'static [K], member: Member, targets: Set) -> Reference {
    Reference { rule, elements, member, targets }
}

const ITEMS: Set = Only(&[
    K::DataObject,
    K::DataObjectReference,
    K::DataStoreReference,
    K::DataStore,
    K::DataInput,
    K::DataOutput,
    K::Property,
    K::InputDataItem,
    K::OutputDataItem,
]);

/// The attributes and children that hold ids. Names in other namespaces (types, called elements) are not among them.
const REFERENCES: &[Reference] = &[
    reference("REF001", &[K::MessageFlow], Attribute("messageRef"), Only(&[K::Message])),
    reference(
        "REF001",
        &[K::SendTask, K::ReceiveTask, K::MessageEventDefinition],
        Attribute("messageRef"),
        Only(&[K::Message]),
    ),
    reference("REF002", &[K::Message], Attribute("itemRef"), Only(&[K::ItemDefinition])),
    reference("REF003", &[K::SequenceFlow], Attribute("sourceRef"), Nodes),
    reference("REF003", &[K::SequenceFlow], Attribute("targetRef"), Nodes),
    reference("REF004", FLOW_NODES, Attribute("default"), Only(&[K::SequenceFlow])),
    reference("REF005", &[K::Participant], Child(K::InterfaceRef), Only(&[K::Interface])),
    reference(
        "REF006",
        &[K::PartnerEntity, K::PartnerRole],
        Child(K::ParticipantRef),
        Only(&[K::Participant]),
    ),
    reference("REF007", &[K::MessageFlow], Attribute("sourceRef"), Interaction),
    reference("REF007", &[K::MessageFlow], Attribute("targetRef"), Interaction),
    reference(
        "REF008",
        &[K::ServiceTask, K::SendTask, K::ReceiveTask],
        Attribute("operationRef"),
        Only(&[K::Operation]),
    ),
    reference("REF009", &[K::InputSet], Child(K::DataInputRefs), Only(&[K::DataInput])),
    reference("REF010", &[K::OutputSet], Child(K::DataOutputRefs), Only(&[K::DataOutput])),
    reference("REF011", &[K::DataInputAssociation, K::DataOutputAssociation], Child(K::SourceRef), ITEMS),
    reference("REF011", &[K::DataInputAssociation, K::DataOutputAssociation], Child(K::TargetRef), ITEMS),
    reference("REF012", FLOW_NODES, Child(K::EventDefinitionRef), EventDefinitions),
    reference("REF013", &[K::BoundaryEvent], Attribute("attachedToRef"), Activities),
    reference("REF014", &[K::LinkEventDefinition], Child(K::Source), Only(&[K::LinkEventDefinition])),
    reference("REF014", &[K::LinkEventDefinition], Child(K::Target), Only(&[K::LinkEventDefinition])),
    reference(
        "REF015",
        &[K::Process],
        Attribute("definitionalCollaborationRef"),
        Only(&[K::Collaboration, K::Choreography]),
    ),
    reference(
        "REF016",
        &[K::CorrelationKey],
        Child(K::CorrelationPropertyRef),
        Only(&[K::CorrelationProperty]),
    ),
    reference("REF017", &[K::Operation], Child(K::ErrorRef), Only(&[K::Error])),
    reference("REF018", &[K::Operation], Child(K::InMessageRef), Only(&[K::Message])),
    reference("REF018", &[K::Operation], Child(K::OutMessageRef), Only(&[K::Message])),
    reference("REF019", &[K::Participant], Attribute("processRef"), Only(&[K::Process])),
    reference("REF020", &[K::SignalEventDefinition], Attribute("signalRef"), Only(&[K::Signal])),
    reference("REF021", &[K::ErrorEventDefinition], Attribute("errorRef"), Only(&[K::Error])),
    reference("REF022", &[K::EscalationEventDefinition], Attribute("escalationRef"), Only(&[K::Escalation])),
    reference("REF023", &[K::CompensateEventDefinition], Attribute("activityRef"), Activities),
    reference("REF024", &[K::DataObjectReference], Attribute("dataObjectRef"), Only(&[K::DataObject])),
    reference("REF025", &[K::DataStoreReference], Attribute("dataStoreRef"), Only(&[K::DataStore])),
    reference("REF026", &[K::Lane], Child(K::FlowNodeRef), Nodes),
    reference("REF027", &[K::Group], Attribute("categoryValueRef"), Only(&[K::CategoryValue])),
    reference(
        "REF028",
        &[K::CorrelationSubscription],
        Attribute("correlationKeyRef"),
        Only(&[K::CorrelationKey]),
    ),
    reference(
        "REF029",
        &[K::CorrelationPropertyBinding],
        Attribute("correlationPropertyRef"),
        Only(&[K::CorrelationProperty]),
    ),
    reference("REF030", &[K::MessageEventDefinition], Child(K::OperationRef), Only(&[K::Operation])),
];

fn references(doc: &Doc<'_>, out: &mut Out) {
    for reference in REFERENCES {
        doc.each(reference.elements).for_each(|el| resolve(doc, reference, el, out));
    }
}

fn resolve(doc: &Doc<'_>, reference: &Reference, el: El, out: &mut Out) {
    let wrong = |named: Option<El>| !named.is_some_and(|named| fits(doc, named, reference.targets));
    let broken = match reference.member {
        Attribute(name) => doc
            .attr(el, name)
            .is_some_and(|id| !id.trim().is_empty() && !elsewhere(&id) && wrong(doc.find(&id))),
        Child(kind) => doc.kids(el, kind).any(|kid| {
            let id = doc.text(kid);
            !id.is_empty() && !elsewhere(&id) && wrong(doc.find(&id))
        }),
    };
    if broken {
        out.add(reference.rule, el);
    }
}

/// Whether a name has a prefix and may thus stand in another document.
fn elsewhere(id: &str) -> bool {
    id.contains(':')
}

fn fits(doc: &Doc<'_>, el: El, targets: Set) -> bool {
    match targets {
        Nodes => doc.is_flow_node(el),
        Activities => doc.is_activity(el),
        EventDefinitions => doc.group(el) == Some(Group::EventDefinition),
        Interaction => {
            doc.is(el, &[K::Participant, K::Conversation, K::SubConversation, K::CallConversation])
                || (doc.is_flow_node(el) && !doc.kind(el).is_some_and(K::is_gateway))
        }
        Only(kinds) => doc.is(el, kinds),
    }
}
