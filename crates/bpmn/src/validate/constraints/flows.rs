//! Sequence flows, message flows, gateways and links.

use super::{Doc, Out};
use crate::xml::tree::El;

const ARTIFACTS: &[&str] = &["textAnnotation", "group", "association"];
const GATEWAYS: &[&str] =
    &["exclusiveGateway", "parallelGateway", "inclusiveGateway", "complexGateway", "eventBasedGateway"];

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    for &flow in doc.all("sequenceFlow") {
        sequence_flow(doc, flow, out);
    }
    for &flow in doc.all("messageFlow") {
        message_flow(doc, flow, out);
    }
    for gateway in doc.each(GATEWAYS) {
        direction(doc, gateway, out);
    }
    for &gateway in doc.all("eventBasedGateway") {
        event_based(doc, gateway, out);
    }
    for node in doc.nodes() {
        default_flow(doc, node, out);
        connected(doc, node, out);
    }
    for container in doc.each(&["process", "subProcess", "transaction"]) {
        starts_and_ends(doc, container, out);
    }
    for &link in doc.all("linkEventDefinition") {
        self::link(doc, link, out);
    }
}

fn sequence_flow(doc: &Doc<'_>, flow: El, out: &mut Out) {
    for (end, rules) in [("sourceRef", ["EXT007", "EXT021"]), ("targetRef", ["EXT006", "EXT022"])] {
        let Some(node) = doc.refers(flow, end) else { continue };
        if doc.is(node, ARTIFACTS) {
            out.add(rules[0], flow);
        }
        let in_process = doc.process(flow).is_some();
        if !doc.is_flow_node(node) || (in_process && doc.is_event_sub_process(node)) {
            out.add(rules[1], flow);
        }
    }
    if let Some(target) = doc.refers(flow, "targetRef").filter(|target| doc.is_flow_node(*target)) {
        let own = doc.id(flow);
        let told =
            own.is_some_and(|own| doc.kids(target, "incoming").any(|kid| doc.text(kid).ends_with(&*own)));
        if !told {
            out.add("EXT023", target);
        }
    }
    if doc.executable(flow) && doc.attr(flow, "isImmediate").is_some_and(|value| value.trim() == "false") {
        out.add("EXT024", flow);
    }
    let (Some(source), Some(target)) = (doc.refers(flow, "sourceRef"), doc.refers(flow, "targetRef")) else {
        return;
    };
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
        if doc.name(end) == "participant" {
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
    if doc.name(gateway) != "eventBasedGateway" && incoming < 2 && outgoing < 2 {
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
        if doc.kid(flow, "conditionExpression").is_some() {
            out.add("EXT137", flow);
        }
        let Some(target) = doc.refers(flow, "targetRef") else { continue };
        if doc.incoming(target).len() > 1 {
            out.add("EXT141", target);
        }
        match doc.name(target) {
            "receiveTask" => {
                receives = true;
                let attached = |event: &&El| doc.refers(**event, "attachedToRef") == Some(target);
                if doc.all("boundaryEvent").iter().any(|event| attached(&event)) {
                    out.add("EXT140", target);
                }
            }
            "intermediateCatchEvent" => {
                catches |= doc.defines(target, "messageEventDefinition");
                let allowed = [
                    "messageEventDefinition",
                    "signalEventDefinition",
                    "timerEventDefinition",
                    "conditionalEventDefinition",
                ];
                if doc.definitions(target).is_empty() || !doc.defines_only(target, &allowed) {
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
        && doc.name(flow) == "sequenceFlow"
        && doc.refers(flow, "sourceRef") != Some(node)
    {
        out.add("EXT026", node);
    }
}

/// Whether the node takes part in the flow only by an event or a compensation.
fn beside_the_flow(doc: &Doc<'_>, node: El) -> bool {
    doc.is_event_sub_process(node)
        || doc.truth(node, "isForCompensation")
        || doc.parent(node).is_some_and(|parent| doc.name(parent) == "adHocSubProcess")
}

/// Where the container has start events, every node needs an incoming flow, and where it has end events an outgoing one.
fn connected(doc: &Doc<'_>, node: El, out: &mut Out) {
    if beside_the_flow(doc, node) {
        return;
    }
    let Some(container) = doc.parent(node) else { return };
    let link = doc.defines(node, "linkEventDefinition");
    let compensation = doc.name(node) == "boundaryEvent" && doc.defines(node, "compensateEventDefinition");
    let (name, instantiates) = (doc.name(node), doc.truth(node, "instantiate"));
    let begins = matches!(name, "startEvent" | "boundaryEvent")
        || instantiates
        || (link && name == "intermediateCatchEvent");
    if !begins && doc.incoming(node).is_empty() && doc.kid(container, "startEvent").is_some() {
        out.add("EXT150", node);
    }
    let ends = name == "endEvent" || compensation || (link && name == "intermediateThrowEvent");
    if !ends && doc.outgoing(node).is_empty() && doc.kid(container, "endEvent").is_some() {
        out.add("EXT151", node);
    }
}

fn starts_and_ends(doc: &Doc<'_>, container: El, out: &mut Out) {
    let start = doc.kid(container, "startEvent").is_some();
    let instantiates = ["receiveTask", "eventBasedGateway"]
        .iter()
        .any(|name| doc.kids(container, name).any(|node| doc.truth(node, "instantiate")));
    let end = doc.kid(container, "endEvent").is_some();
    if end && !start && !instantiates {
        out.add("EXT097", container);
    }
    if start && !end {
        out.add("EXT105", container);
    }
}

fn link(doc: &Doc<'_>, link: El, out: &mut Out) {
    let Some(event) = doc.parent(link) else { return };
    let throws = doc.name(event) == "intermediateThrowEvent";
    if !throws && doc.name(event) != "intermediateCatchEvent" {
        return;
    }
    if !doc.incoming(event).is_empty() && !doc.outgoing(event).is_empty() {
        out.add("EXT117", event);
    }
    let (other, refer) =
        if throws { ("intermediateCatchEvent", "target") } else { ("intermediateThrowEvent", "source") };
    let name = doc.attr(link, "name").unwrap_or_default();
    let level = doc.parent(event);
    let pairs = |candidate: &El| {
        let Some(around) = doc.parent(*candidate) else { return false };
        doc.name(around) == other && doc.attr(*candidate, "name").unwrap_or_default() == name
    };
    let named: Vec<El> = doc.all("linkEventDefinition").iter().copied().filter(pairs).collect();
    let referred: Vec<El> = doc.referred(link, refer).flatten().collect();
    let here = |one: &El| doc.parent(*one).and_then(|around| doc.parent(around)) == level;
    let all: Vec<El> = if referred.is_empty() { named } else { referred };
    let near = all.iter().filter(|one| here(one)).count();
    if all.iter().any(|one| doc.name(*one) == "linkEventDefinition" && !here(one)) && near == 0 {
        out.add("EXT126", event);
    }
    if throws {
        if near != 1 {
            out.add("EXT125", event);
        }
        if near == 0 {
            out.add("EXT118", event);
        }
    } else if near == 0 {
        out.add("EXT124", event);
    }
}
