//! Starts of the scopes, and flows that would be misunderstood.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::compile::{Builder, Raw, index};
use super::{Element, Graph, NodeIx, Trigger, Work};

impl Builder<'_> {
    /// Finds what starts each scope.
    pub(super) fn starts(&mut self, graph: &mut Graph, raws: &[Raw<'_>], process: &str) {
        for scope in 0..graph.scopes.len() {
            if self.closed.contains(&index(scope)) {
                continue;
            }
            let owner = graph.scopes[scope].node;
            // A node that is refused may be what starts the scope.
            let whole = self.refused.values().all(|at| *at as usize != scope);
            let here = |ix: &NodeIx| raws[*ix as usize].scope as usize == scope;
            let event =
                owner.is_some_and(|owner| matches!(graph.node(owner).work, Work::EventSubProcess { .. }));
            let id = owner.map_or(process.to_owned(), |owner| graph.node(owner).id.to_string());
            let events = graph.scopes[scope].start_events.clone();
            if event {
                if whole || !events.is_empty() {
                    self.event_sub_process(graph, scope, &events, &id);
                }
                continue;
            }
            let none =
                |ix: &NodeIx| matches!(&graph.node(*ix).work, Work::Start(start) if start.trigger.is_none());
            let mut starts: Vec<NodeIx> = events.iter().copied().filter(none).collect();
            if owner.is_some() && starts.len() > 1 {
                let sentence = "a sub-process has at most one start event".to_owned();
                self.refuse(&id, "severalStarts", sentence, "10.5.2");
            }
            self.check_ad_hoc(graph, scope, &id);
            if events.is_empty() {
                let free = |ix: &NodeIx| {
                    let special =
                        matches!(graph.node(*ix).work, Work::Boundary { .. } | Work::EventSubProcess { .. });
                    // What compensates has no incoming flow, and no token begins there; a catching link goes on where another link leads to it.
                    let linked = matches!(graph.node(*ix).work, Work::Catch(Trigger::Link(_)));
                    let instantiates = graph.node(*ix).instantiates.is_some();
                    graph.incoming(*ix).is_empty()
                        && !special
                        && !linked
                        && !instantiates
                        && !graph.node(*ix).for_compensation
                };
                starts = (0..index(raws.len())).filter(here).filter(free).collect();
                let any = (0..index(raws.len())).any(|ix| here(&ix));
                let by_event = !graph.scopes[scope].instantiating.is_empty();
                if whole && starts.is_empty() && !by_event && (any || owner.is_none()) {
                    let sentence = "there is no start event and no node without an incoming flow".to_owned();
                    self.refuse(&id, "noStart", sentence, "13.2");
                }
            }
            graph.scopes[scope].starts = starts;
        }
    }

    pub(super) fn event_sub_process(&mut self, graph: &mut Graph, scope: usize, events: &[NodeIx], id: &str) {
        let (Some(owner), [start]) = (graph.scopes[scope].node, events) else {
            let sentence = "an event sub-process has exactly one start event".to_owned();
            self.refuse(id, "severalStarts", sentence, "10.3.5");
            return;
        };
        if !graph.incoming(owner).is_empty() || !graph.outgoing(owner).is_empty() {
            let sentence = "an event sub-process has no incoming and no outgoing flow".to_owned();
            self.refuse(id, "wrongFlow", sentence, "10.3.5");
        }
        if let Work::EventSubProcess { start: place, .. } = &mut graph.nodes[owner as usize].work {
            *place = *start;
        }
        if let Some(parent) = graph.scopes[scope].parent {
            graph.scopes[parent as usize].listeners.push(*start);
        }
    }

    /// Flows that would be misunderstood.
    pub(super) fn gateways(&mut self, graph: &Graph) {
        for (ix, node) in graph.nodes().iter().enumerate() {
            let (ix, id) = (index(ix), &node.id);
            let (outgoing, incoming) = (graph.outgoing(ix), graph.incoming(ix));
            let conditional = outgoing.iter().any(|flow| graph.flow(*flow).condition.is_some());
            if conditional && node.split.ignores_conditions() {
                self.warn(id, "conditionUnused", "a parallel gateway evaluates no conditions", "10.6.4");
            }
            if node.split.waits() {
                self.waiting(graph, ix);
            }
            if node.element == Element::ComplexGateway && node.activation.is_none() && incoming.len() > 1 {
                let sentence = "without an activation condition the first token activates the gateway, and the others reset it";
                self.warn(id, "activationConditionMissing", sentence, "10.6.5");
            }
            match &node.work {
                Work::Start(_) | Work::Boundary { .. } if !incoming.is_empty() => {
                    let sentence = format!("a {} has no incoming flow", node.element.name());
                    self.refuse(id, "wrongFlow", sentence, "10.5");
                }
                Work::End(_) if !outgoing.is_empty() => {
                    self.refuse(id, "wrongFlow", "an end event has no outgoing flow".to_owned(), "10.5.3");
                }
                _ => {}
            }
        }
    }

    /// Checks the targets of an event-based gateway.
    pub(super) fn waiting(&mut self, graph: &Graph, gateway: NodeIx) {
        let (id, outgoing) = (&graph.node(gateway).id, graph.outgoing(gateway));
        if outgoing.is_empty() && !self.broken.contains(&gateway) {
            self.refuse(id, "wrongFlow", "the gateway waits for nothing".to_owned(), "10.6.6");
        }
        if graph.node(gateway).instantiates.is_some() && !graph.incoming(gateway).is_empty() {
            let sentence = "a gateway that starts an instance has no incoming flow".to_owned();
            self.refuse(id, "wrongFlow", sentence, "10.6.6");
        }
        for flow in outgoing {
            let ix = graph.flow(*flow).target;
            let target = graph.node(ix);
            if graph.node(gateway).instantiates.is_some() && graph.incoming(ix).len() > 1 {
                let sentence = format!(
                    "`{}` stands behind a gateway that starts an instance and has another incoming flow",
                    target.id
                );
                self.refuse(id, "wrongFlow", sentence, "10.6.6");
            }
            let waits = matches!(target.element, Element::IntermediateCatchEvent | Element::ReceiveTask);
            if waits && self.broken.contains(&ix) {
                continue;
            }
            let link = matches!(target.work, Work::Catch(Trigger::Link(_)));
            if link || !matches!(target.work, Work::Catch(_) | Work::Receive(Some(_))) {
                let sentence = format!("`{}` is no event that the gateway can wait for", target.id);
                self.refuse(id, "wrongFlow", sentence, "10.6.6");
            }
        }
    }
}
