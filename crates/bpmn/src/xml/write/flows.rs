//! Writing of flow references and way point types, which graphs and diagrams give beside their members.

use crate::element::ElementKind;
use crate::model::{Edge, Node};
use crate::xml::names::kind;
use crate::xml::vocabulary::Writer;
use heddle_xml::hash::HashMap;
use heddle_xml::mapping::Leaf;

/// Incoming and outgoing flows of a node.
type NodeFlows = (Vec<String>, Vec<String>);
/// Incoming and outgoing flows by node.
pub(super) type Flows = HashMap<String, NodeFlows>;

/// Writes the type of a way point.
pub(in crate::xml) fn waypoint_type(writer: &mut Writer<'_>) {
    if let Some(value) = writer.state.waypoint_type.clone()
        && !writer.marked("plain")
    {
        writer.instance_type(&value);
    }
}

/// Whether an event definition of this id stands at the model's root.
pub(in crate::xml) fn at_root(writer: &Writer<'_>, id: &str) -> bool {
    writer.state.root_events.contains(id)
}

/// Starts a graph: collects its flows by node.
pub(in crate::xml) fn enter_graph(writer: &mut Writer<'_>, edges: &[Edge]) {
    let mut flows = Flows::default();
    if !writer.state.omit_flow_refs {
        for edge in edges.iter().filter(|edge| edge.kind() == Some(ElementKind::SequenceFlow)) {
            let Some(id) = edge.id.as_ref() else { continue };
            if let Some(source) = &edge.source {
                flows.entry(source.clone()).or_default().1.push(id.clone());
            }
            if let Some(target) = &edge.target {
                flows.entry(target.clone()).or_default().0.push(id.clone());
            }
        }
    }
    writer.state.flows.push(flows);
}

/// Ends a graph.
pub(in crate::xml) fn leave_graph(writer: &mut Writer<'_>) {
    writer.state.flows.pop();
}

/// Takes the flows of a node out of the graph that is being written.
pub(in crate::xml) fn node_flows(writer: &mut Writer<'_>, node: &Node) -> Option<(String, NodeFlows)> {
    writer.state.flows.last_mut()?.remove_entry(node.element_id()?)
}

/// Gives a sub-process its own flows before its content is written.
pub(in crate::xml) fn with_node_flows(writer: &mut Writer<'_>, flows: Option<(String, NodeFlows)>) {
    if let (Some((id, refs)), Some(graph)) = (flows, writer.state.flows.last_mut()) {
        graph.insert(id, refs);
    }
}

/// Writes which flows go into a node and out of it.
pub(in crate::xml) fn flow_refs(writer: &mut Writer<'_>, node: &Node) {
    if writer.marked("flowRefs") || writer.state.omit_flow_refs {
        return;
    }
    let Some(id) = node.element_id() else { return };
    let Some((incoming, outgoing)) = writer.state.flows.last_mut().and_then(|flows| flows.remove(id)) else {
        return;
    };
    for flow in &incoming {
        writer.leaf(const { kind("incoming") }, Leaf::Text, flow, None);
    }
    for flow in &outgoing {
        writer.leaf(const { kind("outgoing") }, Leaf::Text, flow, None);
    }
}
