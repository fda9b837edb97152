//! Ids, expressions, collaborations, choreographies, conversations, and references to what is not there.

use super::{Doc, Out};
use crate::xml::tree::El;
use std::collections::HashSet;

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    doc.repeated.iter().for_each(|el| out.add("EXT002", *el));
    for &note in doc.all("textAnnotation") {
        if doc.attr(note, "textFormat").is_some_and(|format| !is_media_type(&format)) {
            out.add("EXT010", note);
        }
    }
    expressions(doc, out);
    collaborations(doc, out);
    processes(doc, out);
    references(doc, out);
}

fn is_media_type(text: &str) -> bool {
    let token =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    let essence = text.split(';').next().unwrap_or_default().trim();
    essence.split_once('/').is_some_and(|(kind, sub)| token(kind) && token(sub))
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

/// What the schema makes an expression, formal only where it says so.
const EXPRESSIONS: &[&str] = &[
    "conditionExpression",
    "condition",
    "activationCondition",
    "completionCondition",
    "loopCondition",
    "loopCardinality",
    "timeDate",
    "timeCycle",
    "timeDuration",
    "expression",
    "from",
    "to",
];

/// What the schema makes a formal expression.
const FORMAL: &[&str] = &["formalExpression", "transformation", "messagePath", "dataPath"];

const EVENTS: &[&str] =
    &["startEvent", "endEvent", "boundaryEvent", "intermediateCatchEvent", "intermediateThrowEvent"];

fn expressions(doc: &Doc<'_>, out: &mut Out) {
    for expression in doc.each(EXPRESSIONS).filter(|expression| doc.executable(*expression)) {
        self::expression(doc, expression, out);
    }
    // A definition at the root is executed where an event refers to it.
    let events = doc.each(EVENTS).filter(|event| doc.executable(*event));
    let referred = events.flat_map(|event| doc.referred(event, "eventDefinitionRef").flatten());
    let referred: HashSet<El> = referred.filter(|definition| doc.process(*definition).is_none()).collect();
    for definition in referred {
        let parts = doc.children(definition).filter(|part| doc.is(*part, EXPRESSIONS));
        parts.for_each(|part| expression(doc, part, out));
    }
    let executed = doc.all("process").iter().any(|process| doc.executable(*process));
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
    for &root in doc.all("definitions") {
        let languages = ["expressionLanguage", "typeLanguage"];
        if languages.iter().any(|name| doc.attr(root, name).is_some_and(|language| !is_uri(&language))) {
            out.add("EXT014", root);
        }
    }
}

fn expression(doc: &Doc<'_>, expression: El, out: &mut Out) {
    // The schema itself makes this condition formal.
    let typed = doc.parent(expression).is_some_and(|around| doc.name(around) == "complexBehaviorDefinition");
    if !typed && !doc.formal(expression) {
        out.add("EXT012", expression);
    } else if doc.text(expression).is_empty() {
        out.add("EXT013", expression);
    }
}

fn collaborations(doc: &Doc<'_>, out: &mut Out) {
    for model in doc.each(&["choreography", "globalConversation", "globalChoreographyTask"]) {
        if doc.kid(model, "choreographyRef").is_some() {
            out.add("EXT027", model);
        }
    }
    for &multiplicity in doc.all("participantMultiplicity") {
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
        "conversation",
        "subConversation",
        "callConversation",
        "participantAssociation",
        "messageFlowAssociation",
        "conversationAssociation",
        "textAnnotation",
        "group",
        "association",
    ];
    for &model in doc.all("globalConversation") {
        if doc.children(model).any(|kid| doc.is(kid, &barred)) {
            out.add("EXT032", model);
        }
    }
    for &model in doc.all("collaboration") {
        let closed = doc.truth(model, "isClosed");
        if doc.referred(model, "choreographyRef").flatten().any(|one| doc.truth(one, "isClosed") != closed) {
            out.add("EXT033", model);
        }
    }
}

fn processes(doc: &Doc<'_>, out: &mut Out) {
    let choreography = ["choreographyTask", "subChoreography", "callChoreography"];
    for &process in doc.all("process") {
        let public = doc.attr(process, "processType").is_some_and(|kind| kind.trim() == "Public");
        if public && doc.truth(process, "isExecutable") {
            out.add("EXT035", process);
        }
        if doc.children(process).any(|kid| doc.is(kid, &choreography)) {
            out.add("EXT036", process);
        }
    }
    for sub in doc.each(&["subProcess", "transaction", "adHocSubProcess"]) {
        if doc.children(sub).any(|kid| doc.is(kid, &choreography)) {
            out.add("EXT056", sub);
        }
    }
}

/// A reference: the element, the attribute or child that names another, and what that may be.
struct Reference {
    rule: &'static str,
    elements: &'static [&'static str],
    member: &'static str,
    targets: &'static [&'static str],
}

const fn reference(
    rule: &'static str,
    elements: &'static [&'static str],
    member: &'static str,
    targets: &'static [&'static str],
) -> Reference {
    Reference { rule, elements, member, targets }
}

const NODES: &[&str] = &["*node"];
const ITEMS: &[&str] = &[
    "dataObject",
    "dataObjectReference",
    "dataStoreReference",
    "dataStore",
    "dataInput",
    "dataOutput",
    "property",
    "inputDataItem",
    "outputDataItem",
];

/// The attributes and children that hold ids. Names in other namespaces (types, called elements) are not among them.
const REFERENCES: &[Reference] = &[
    reference("REF001", &["messageFlow"], "@messageRef", &["message"]),
    reference("REF001", &["sendTask", "receiveTask", "messageEventDefinition"], "@messageRef", &["message"]),
    reference("REF002", &["message"], "@itemRef", &["itemDefinition"]),
    reference("REF003", &["sequenceFlow"], "@sourceRef", NODES),
    reference("REF003", &["sequenceFlow"], "@targetRef", NODES),
    reference("REF004", NODES, "@default", &["sequenceFlow"]),
    reference("REF005", &["participant"], "interfaceRef", &["interface"]),
    reference("REF006", &["partnerEntity", "partnerRole"], "participantRef", &["participant"]),
    reference("REF007", &["messageFlow"], "@sourceRef", &["*interaction"]),
    reference("REF007", &["messageFlow"], "@targetRef", &["*interaction"]),
    reference("REF008", &["serviceTask", "sendTask", "receiveTask"], "@operationRef", &["operation"]),
    reference("REF009", &["inputSet"], "dataInputRefs", &["dataInput"]),
    reference("REF010", &["outputSet"], "dataOutputRefs", &["dataOutput"]),
    reference("REF011", &["dataInputAssociation", "dataOutputAssociation"], "sourceRef", ITEMS),
    reference("REF011", &["dataInputAssociation", "dataOutputAssociation"], "targetRef", ITEMS),
    reference("REF012", NODES, "eventDefinitionRef", &["*definition"]),
    reference("REF013", &["boundaryEvent"], "@attachedToRef", &["*activity"]),
    reference("REF014", &["linkEventDefinition"], "source", &["linkEventDefinition"]),
    reference("REF014", &["linkEventDefinition"], "target", &["linkEventDefinition"]),
    reference("REF015", &["process"], "@definitionalCollaborationRef", &["collaboration", "choreography"]),
    reference("REF016", &["correlationKey"], "correlationPropertyRef", &["correlationProperty"]),
    reference("REF017", &["operation"], "errorRef", &["error"]),
    reference("REF018", &["operation"], "inMessageRef", &["message"]),
    reference("REF018", &["operation"], "outMessageRef", &["message"]),
    reference("REF019", &["participant"], "@processRef", &["process"]),
    reference("REF020", &["signalEventDefinition"], "@signalRef", &["signal"]),
    reference("REF021", &["errorEventDefinition"], "@errorRef", &["error"]),
    reference("REF022", &["escalationEventDefinition"], "@escalationRef", &["escalation"]),
    reference("REF023", &["compensateEventDefinition"], "@activityRef", &["*activity"]),
    reference("REF024", &["dataObjectReference"], "@dataObjectRef", &["dataObject"]),
    reference("REF025", &["dataStoreReference"], "@dataStoreRef", &["dataStore"]),
    reference("REF026", &["lane"], "flowNodeRef", NODES),
    reference("REF027", &["group"], "@categoryValueRef", &["categoryValue"]),
    reference("REF028", &["correlationSubscription"], "@correlationKeyRef", &["correlationKey"]),
    reference("REF029", &["correlationPropertyBinding"], "@correlationPropertyRef", &["correlationProperty"]),
    reference("REF030", &["messageEventDefinition"], "operationRef", &["operation"]),
];

fn references(doc: &Doc<'_>, out: &mut Out) {
    for reference in REFERENCES {
        if reference.elements == NODES {
            doc.nodes().for_each(|el| resolve(doc, reference, el, out));
        } else {
            doc.each(reference.elements).for_each(|el| resolve(doc, reference, el, out));
        }
    }
}

fn resolve(doc: &Doc<'_>, reference: &Reference, el: El, out: &mut Out) {
    let wrong = |named: Option<El>| !named.is_some_and(|named| fits(doc, named, reference.targets));
    let broken = match reference.member.strip_prefix('@') {
        Some(name) => doc
            .attr(el, name)
            .is_some_and(|id| !id.trim().is_empty() && !elsewhere(&id) && wrong(doc.find(&id))),
        None => doc.kids(el, reference.member).any(|kid| {
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

fn fits(doc: &Doc<'_>, el: El, targets: &[&str]) -> bool {
    targets.iter().any(|target| match *target {
        "*node" => doc.is_flow_node(el),
        "*activity" => doc.is_activity(el),
        "*definition" => doc.group(el) == Some(crate::xml::Group::EventDefinition),
        "*interaction" => {
            doc.is(el, &["participant", "conversation", "subConversation", "callConversation"])
                || (doc.is_flow_node(el)
                    && doc.group(el).is_some_and(|group| group != crate::xml::Group::Gateway))
        }
        name => doc.name(el) == name,
    })
}
