//! Sequence flows, message flows, gateways and links.

use super::{Doc, Out};
use heddle_bpmn::element::ElementKind as K;
use heddle_bpmn::elements::El;
use std::borrow::Cow;
use std::collections::HashMap;

const ARTIFACTS: &[K] = &[K::TextAnnotation, K::Group, K::Association];
const GATEWAYS: &[K] =
    &[K::ExclusiveGateway, K::ParallelGateway, K::InclusiveGateway, K::ComplexGateway, K::EventBasedGateway];

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    for &flow in doc.all(K::SequenceFlow) {
        sequence_flow(doc, flow, out);
    }
    for &flow in doc.all(K::MessageFlow) {
        message_flow(doc, flow, out);
    }
    for gateway in doc.each(GATEWAYS) {
        direction(doc, gateway, out);
    }
    for &gateway in doc.all(K::EventBasedGateway) {
        event_based(doc, gateway, out);
    }
    for node in doc.nodes() {
        default_flow(doc, node, out);
        connected(doc, node, out);
    }
    for container in doc.each(&[K::Process, K::SubProcess, K::Transaction]) {
        starts_and_ends(doc, container, out);
    }
    links(doc, out);
}

fn sequence_flow(doc: &Doc<'_>, flow: El, out: &mut Out) {
    let ends = doc.ends(flow);
    let in_process = doc.process(flow).is_some();
    for (end, rules) in ends.into_iter().zip([["EXT007", "EXT021"], ["EXT006", "EXT022"]]) {
        let Some(node) = end else { continue };
        if doc.is(node, ARTIFACTS) {
            out.add(rules[0], flow);
        }
        if !doc.is_flow_node(node) || (in_process && doc.is_event_sub_process(node)) {
            out.add(rules[1], flow);
        }
    }
    if let Some(target) = ends[1].filter(|target| doc.is_flow_node(*target))
        && !doc.lists(target, flow)
    {
        out.add("EXT023", target);
    }
    if doc.untrue(flow, "isImmediate") && doc.executable(flow) {
        out.add("EXT024", flow);
    }
    if doc.kid(flow, K::ConditionExpression).is_some()
        && let Some(source) = ends[0]
    {
        match doc.kind(source) {
            Some(K::ParallelGateway) => out.add("STD007", flow),
            Some(kind) if kind.is_event() => out.add("STD008", flow),
            _ => {}
        }
    }
    let [Some(source), Some(target)] = ends else { return };
    if doc.process(source) != doc.process(target) {
        out.add("EXT028", flow);
    } else if doc.is_flow_node(source) && doc.is_flow_node(target) && doc.parent(source) != doc.parent(target)
    {
        out.add("EXT152", flow);
    }
}

fn message_flow(doc: &Doc<'_>, flow: El, out: &mut Out) {
    let (source, target) = (doc.refers(flow, "sourceRef"), doc.refers(flow, "targetRef"));
    if source.is_some_and(|source| doc.is(source, ARTIFACTS)) {
        out.add("EXT009", flow);
    }
    if target.is_some_and(|target| doc.is(target, ARTIFACTS)) {
        out.add("EXT008", flow);
    }
    let pool = |end: El| {
        if doc.is_a(end, K::Participant) {
            return Some(doc.refers(end, "processRef").unwrap_or(end));
        }
        doc.process(end)
    };
    if let (Some(source), Some(target)) = (source.and_then(pool), target.and_then(pool))
        && source == target
    {
        out.add("EXT031", flow);
    }
}

fn direction(doc: &Doc<'_>, gateway: El, out: &mut Out) {
    let (incoming, outgoing) = (doc.incoming(gateway).len(), doc.outgoing(gateway).len());
    match doc.attr(gateway, "gatewayDirection").as_deref() {
        Some("Converging") if outgoing > 1 => out.add("EXT017", gateway),
        Some("Diverging") if incoming > 1 => out.add("EXT018", gateway),
        Some("Mixed") if incoming < 2 || outgoing < 2 => out.add("EXT019", gateway),
        _ => {}
    }
    if !doc.is_a(gateway, K::EventBasedGateway) && incoming < 2 && outgoing < 2 {
        out.add("EXT135", gateway);
    }
}

fn event_based(doc: &Doc<'_>, gateway: El, out: &mut Out) {
    if doc.outgoing(gateway).len() < 2 {
        out.add("EXT136", gateway);
    }
    if doc.truth(gateway, "instantiate") && !doc.incoming(gateway).is_empty() {
        out.add("EXT142", gateway);
    }
    let (mut receives, mut catches) = (false, false);
    for &flow in doc.outgoing(gateway) {
        if doc.kid(flow, K::ConditionExpression).is_some() {
            out.add("EXT137", flow);
        }
        let [_, Some(target)] = doc.ends(flow) else { continue };
        if doc.incoming(target).len() > 1 {
            out.add("EXT141", target);
        }
        match doc.kind(target) {
            Some(K::ReceiveTask) => {
                receives = true;
                if !doc.attached(target).is_empty() {
                    out.add("EXT140", target);
                }
            }
            Some(K::IntermediateCatchEvent) => {
                catches |= doc.defines(target, K::MessageEventDefinition);
                let allowed = [
                    K::MessageEventDefinition,
                    K::SignalEventDefinition,
                    K::TimerEventDefinition,
                    K::ConditionalEventDefinition,
                ];
                if !doc.has_definition(target) || !doc.defines_only(target, &allowed) {
                    out.add("EXT138", target);
                }
            }
            _ => out.add("EXT138", target),
        }
    }
    if receives && catches {
        out.add("EXT139", gateway);
    }
}

fn default_flow(doc: &Doc<'_>, node: El, out: &mut Out) {
    if let Some(flow) = doc.refers(node, "default")
        && doc.is_a(flow, K::SequenceFlow)
        && doc.ends(flow)[0] != Some(node)
    {
        out.add("EXT026", node);
    }
}

/// Whether the node takes part in the flow only by an event or a compensation.
fn beside_the_flow(doc: &Doc<'_>, node: El) -> bool {
    doc.is_event_sub_process(node)
        || doc.truth(node, "isForCompensation")
        || doc.parent(node).is_some_and(|parent| doc.is_a(parent, K::AdHocSubProcess))
}

/// Finds nodes without an incoming flow in a container with start events, and nodes without an outgoing flow
/// in one with end events.
fn connected(doc: &Doc<'_>, node: El, out: &mut Out) {
    if beside_the_flow(doc, node) {
        return;
    }
    let Some(container) = doc.parent(node) else { return };
    let [starts, ends] = doc.bounds(container);
    let open_in = starts && doc.incoming(node).is_empty();
    let open_out = ends && doc.outgoing(node).is_empty();
    if !open_in && !open_out {
        return;
    }
    let is = |kind: K| doc.is_a(node, kind);
    let link = doc.defines(node, K::LinkEventDefinition);
    let compensation = is(K::BoundaryEvent) && doc.defines(node, K::CompensateEventDefinition);
    let begins = doc.is(node, &[K::StartEvent, K::BoundaryEvent])
        || doc.truth(node, "instantiate")
        || (link && is(K::IntermediateCatchEvent));
    if open_in && !begins {
        out.add("EXT150", node);
    }
    if open_out && !(is(K::EndEvent) || compensation || (link && is(K::IntermediateThrowEvent))) {
        out.add("EXT151", node);
    }
}

fn starts_and_ends(doc: &Doc<'_>, container: El, out: &mut Out) {
    let [start, end] = doc.bounds(container);
    let instantiates = || {
        let mut nodes =
            doc.children(container).filter(|node| doc.is(*node, &[K::ReceiveTask, K::EventBasedGateway]));
        nodes.any(|node| doc.truth(node, "instantiate"))
    };
    if end && !start && !instantiates() {
        out.add("EXT097", container);
    }
    if start && !end {
        out.add("EXT105", container);
    }
}

/// A link event, with what makes it one of a pair.
struct Link<'t> {
    definition: El,
    event: El,
    level: Option<El>,
    throws: bool,
    name: Cow<'t, str>,
}

impl<'t> Link<'t> {
    fn new(doc: &Doc<'t>, definition: El) -> Option<Self> {
        let event = doc.parent(definition)?;
        let throws = match doc.kind(event) {
            Some(K::IntermediateThrowEvent) => true,
            Some(K::IntermediateCatchEvent) => false,
            _ => return None,
        };
        let name = doc.attr(definition, "name").unwrap_or_default();
        Some(Self { definition, event, level: doc.parent(event), throws, name })
    }
}

/// Links are paired by their names, or by the references between them.
fn links(doc: &Doc<'_>, out: &mut Out) {
    let all = doc.all(K::LinkEventDefinition).iter().filter_map(|el| Link::new(doc, *el));
    let all: Vec<Link<'_>> = all.collect();
    let mut near: HashMap<(bool, Option<El>, &str), usize> = HashMap::new();
    let mut anywhere: HashMap<(bool, &str), usize> = HashMap::new();
    for link in &all {
        *near.entry((link.throws, link.level, &*link.name)).or_default() += 1;
        *anywhere.entry((link.throws, &*link.name)).or_default() += 1;
    }
    for link in &all {
        let refer = if link.throws { K::Target } else { K::Source };
        let referred = || doc.referred(link.definition, refer).flatten();
        let (here, elsewhere) = if referred().next().is_none() {
            let here = near.get(&(!link.throws, link.level, &*link.name)).copied().unwrap_or_default();
            (here, anywhere.get(&(!link.throws, &*link.name)).is_some_and(|count| *count > here))
        } else {
            let level = |one: El| doc.parent(one).and_then(|event| doc.parent(event));
            let here = referred().filter(|one| level(*one) == link.level).count();
            let is_link = |one: &El| doc.is_a(*one, K::LinkEventDefinition);
            (here, referred().filter(is_link).any(|one| level(one) != link.level))
        };
        self::link(doc, link, here, elsewhere, out);
        if referred().any(|other| !answers(doc, link, other)) {
            out.add("STD004", link.event);
        }
    }
}

/// Whether the other end of a link names it, or names nothing. Two ends of one direction are no pair.
fn answers(doc: &Doc<'_>, link: &Link<'_>, other: El) -> bool {
    let Some(other) = Link::new(doc, other) else { return true };
    let refer = if other.throws { K::Target } else { K::Source };
    let mut named = doc.referred(other.definition, refer).flatten().peekable();
    other.throws != link.throws && (named.peek().is_none() || named.any(|one| one == link.definition))
}

/// One link, with how many partners it has on its level, and whether it has one on another.
fn link(doc: &Doc<'_>, link: &Link<'_>, here: usize, elsewhere: bool, out: &mut Out) {
    let event = link.event;
    if !doc.incoming(event).is_empty() && !doc.outgoing(event).is_empty() {
        out.add("EXT117", event);
    }
    if elsewhere && here == 0 {
        out.add("EXT126", event);
    }
    if link.throws && here != 1 {
        out.add("EXT125", event);
    }
    if here == 0 {
        out.add(if link.throws { "EXT118" } else { "EXT124" }, event);
    }
}
