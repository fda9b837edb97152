//! What graphs and diagrams say of flows and way points beside their members.

use super::{Flows, NodeFlows, Writer};
use crate::element::ElementKind;
use crate::model::{Edge, Node};
use crate::xml::names::{kind, ns};
use crate::xml::row::Leaf;

impl Writer<'_> {
    /// Writes the type of a way point.
    pub(in crate::xml) fn waypoint_type(&mut self) {
        if let Some(value) = self.waypoint_type.clone() {
            let name = self.prefixes.xsi_type().to_owned();
            let marked = self.preserved().is_some_and(|preserved| {
                preserved.marker("plain").is_some() || preserved.attribute(&name).is_some()
            });
            if !marked {
                self.use_ns(ns::XSI);
                self.attribute(&name, &value);
            }
        }
    }

    /// Whether an event definition of this id stands at the model's root.
    pub(in crate::xml) fn at_root(&self, id: &str) -> bool {
        self.root_events.contains(id)
    }

    /// Starts a graph: collects its flows by node.
    pub(in crate::xml) fn enter_graph(&mut self, edges: &[Edge]) {
        let mut flows = Flows::default();
        if !self.omit_flow_refs {
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
        self.flows.push(flows);
    }

    pub(in crate::xml) fn leave_graph(&mut self) {
        self.flows.pop();
    }

    /// Takes the flows of a node out of the graph that is being written.
    pub(in crate::xml) fn node_flows(&mut self, node: &Node) -> Option<(String, NodeFlows)> {
        self.flows.last_mut()?.remove_entry(node.element_id()?)
    }

    /// Gives a sub-process its own flows before its content is written.
    pub(in crate::xml) fn with_node_flows(&mut self, flows: Option<(String, NodeFlows)>) {
        if let (Some((id, refs)), Some(graph)) = (flows, self.flows.last_mut()) {
            graph.insert(id, refs);
        }
    }

    /// Writes which flows go into a node and out of it.
    pub(in crate::xml) fn flow_refs(&mut self, node: &Node) {
        let own = self.preserved().is_some_and(|preserved| preserved.marker("flowRefs").is_some());
        if own || self.omit_flow_refs {
            return;
        }
        let Some(id) = node.element_id() else { return };
        let Some((incoming, outgoing)) = self.flows.last_mut().and_then(|flows| flows.remove(id)) else {
            return;
        };
        for flow in &incoming {
            self.leaf(const { kind("incoming") }, Leaf::Text, flow, None);
        }
        for flow in &outgoing {
            self.leaf(const { kind("outgoing") }, Leaf::Text, flow, None);
        }
    }
}
