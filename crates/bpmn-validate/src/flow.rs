//! Rules of connection within one graph.

use super::index::{Index, Named};
use super::{Findings, Map, below};
use heddle_bpmn::diagnostic;
use heddle_bpmn::element::{ElementKind, Group};
use heddle_bpmn::model::{Edge, GraphRef, Node};

/// Checks the edges of a graph, and the nodes against them.
pub(super) fn check(number: usize, graph: &GraphRef<'_>, index: &Index<'_>, findings: &mut Findings) {
    let mut degrees: Map<&str, (usize, usize)> = Map::default();
    for (at, edge) in graph.edges.iter().enumerate() {
        let sequence = !edge.is_no_flow();
        for (member, end) in [("source", &edge.source), ("target", &edge.target)] {
            let path = || below(&graph.path, "edges", at, member);
            check_end(number, edge, member, end.as_deref(), sequence, index, findings, path);
        }
        if sequence {
            check_condition(number, edge, index, findings, || below(&graph.path, "edges", at, "condition"));
            if let Some(source) = edge.source.as_deref() {
                degrees.entry(source).or_default().1 += 1;
            }
            if let Some(target) = edge.target.as_deref() {
                degrees.entry(target).or_default().0 += 1;
            }
        }
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        let path = |member: &str| below(&graph.path, "nodes", at, member);
        if node.element_type().is_none_or(str::is_empty) {
            let diagnostic = diagnostic::error("missingType", "A node has no type.").with_clause("8.4.7");
            findings.add(diagnostic, node.element_id(), || path("type"));
        }
        let (incoming, outgoing) =
            node.element_id().and_then(|id| degrees.get(id)).copied().unwrap_or_default();
        check_degree(node, incoming, outgoing, findings, &path);
        check_default(number, node, index, findings, &path);
        check_content(graph, node, findings, &path);
    }
}

#[expect(clippy::too_many_arguments, reason = "one end of one edge, with all that the messages name")]
fn check_end(
    number: usize,
    edge: &Edge,
    member: &str,
    end: Option<&str>,
    sequence: bool,
    index: &Index<'_>,
    findings: &mut Findings,
    path: impl Fn() -> String,
) {
    let id = edge.id.as_deref();
    let Some(end) = end.filter(|end| !end.is_empty()) else {
        let message = format!("The edge has no {member}.");
        findings.add(diagnostic::error("required", message).with_clause("8.4.13"), id, path);
        return;
    };
    match index.get(end) {
        None => {
            let message = format!("The {member} {end:?} does not exist.");
            findings.add(diagnostic::error("danglingReference", message).with_clause("8.4.13"), id, path);
        }
        Some(Named::Node(graph, _)) if graph == number => {}
        Some(Named::Node(..)) if sequence => {
            let message = format!("The {member} {end:?} lies in another process or sub-process.");
            findings.add(diagnostic::error("flowCrossesBorder", message).with_clause("8.4.13"), id, path);
        }
        Some(_) if sequence => {
            let message = format!("The {member} {end:?} is no flow node.");
            findings.add(diagnostic::error("wrongReference", message).with_clause("8.4.13"), id, path);
        }
        Some(_) => {}
    }
}

/// A condition of the definition's own, which no document shows, leaves no event-based gateway.
fn check_condition(
    number: usize,
    edge: &Edge,
    index: &Index<'_>,
    findings: &mut Findings,
    path: impl Fn() -> String,
) {
    let Some(own) = &edge.condition else { return };
    let plain = matches!(own.on.as_deref(), None | Some("" | "success" | "always"));
    if plain && own.left.is_none() && own.operator.is_none() {
        return;
    }
    let source = match edge.source.as_deref().and_then(|source| index.get(source)) {
        Some(Named::Node(graph, node)) if graph == number => node,
        _ => return,
    };
    if source.is(ElementKind::EventBasedGateway) {
        let message = "A flow out of an event-based gateway must not have a condition.";
        let found = diagnostic::error("eventGatewayCondition", message).with_clause("10.6.6");
        findings.add(found, edge.id.as_deref(), path);
    }
}

fn check_degree(
    node: &Node,
    incoming: usize,
    outgoing: usize,
    findings: &mut Findings,
    path: &dyn Fn(&str) -> String,
) {
    let broken = match node.kind() {
        Some(ElementKind::StartEvent) if incoming > 0 => {
            Some(("startEventIncoming", "A start event must not have an incoming sequence flow.", "10.5.2"))
        }
        Some(ElementKind::EndEvent) if outgoing > 0 => {
            Some(("endEventOutgoing", "An end event must not have an outgoing sequence flow.", "10.5.3"))
        }
        Some(ElementKind::BoundaryEvent) if incoming > 0 => Some((
            "boundaryEventIncoming",
            "A boundary event must not have an incoming sequence flow.",
            "10.5.4",
        )),
        _ => None,
    };
    if let Some((code, message, clause)) = broken {
        findings.add(diagnostic::error(code, message).with_clause(clause), node.element_id(), || path(""));
    }
}

/// The default flow must leave the node that names it.
fn check_default(
    number: usize,
    node: &Node,
    index: &Index<'_>,
    findings: &mut Findings,
    path: &dyn Fn(&str) -> String,
) {
    let Some(bpmn) = node.bpmn.as_deref() else { return };
    let activity = bpmn.activity.as_ref().and_then(|activity| activity.default_flow.as_deref());
    let named = [("bpmn.defaultFlow", bpmn.default_flow.as_deref()), ("bpmn.activity.defaultFlow", activity)];
    for (member, flow) in named {
        let Some(flow) = flow else { continue };
        let diagnostic = match index.get(flow) {
            Some(Named::Edge(graph, source)) if graph == number && source == node.element_id() => continue,
            None => {
                diagnostic::error("danglingReference", format!("The default flow {flow:?} does not exist."))
            }
            Some(_) => diagnostic::error(
                "defaultFlowNotOutgoing",
                format!("The default flow {flow:?} does not leave this node."),
            ),
        };
        findings.add(diagnostic.with_clause("8.4.13"), node.element_id(), || path(member));
    }
}

/// Content stands in sub-processes only, and no sub-process lies within itself.
fn check_content(graph: &GraphRef<'_>, node: &Node, findings: &mut Findings, path: &dyn Fn(&str) -> String) {
    if node.bpmn.as_ref().is_none_or(|bpmn| bpmn.sub_process.is_none()) {
        return;
    }
    if node.kind().is_some_and(|kind| kind.group() != Group::SubProcess) {
        let message = "Only a sub-process, an ad-hoc sub-process or a transaction has content.";
        let diagnostic = diagnostic::error("unexpectedContent", message).with_clause("10.3.5");
        findings.add(diagnostic, node.element_id(), || path("bpmn.subProcess"));
    }
    let around = graph.owner.and_then(Node::element_id);
    if around.is_some() && around == node.element_id() {
        let message = "The sub-process lies within itself.";
        let diagnostic = diagnostic::error("cyclicNesting", message).with_clause("10.3.5");
        findings.add(diagnostic, node.element_id(), || path("bpmn.subProcess"));
    }
}
