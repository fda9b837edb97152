//! Links between events of one scope (clause 10.5.5), and what a receive task needs to start an instance (clause
//! 10.3.3.1).

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::compile::{Builder, Raw};
use super::{Graph, Instantiates, NodeIx, ROOT, ScopeIx, Throw, Trigger, Work};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Builder<'_> {
    /// Finds where each throwing link goes on, and the nodes by which a process starts beside its start events.
    pub(super) fn links(&mut self, graph: &mut Graph, raws: &[Raw<'_>]) {
        let mut catching: HashMap<(ScopeIx, Arc<str>), NodeIx> = HashMap::new();
        let mut throwing: Vec<(NodeIx, Arc<str>)> = Vec::new();
        for (ix, node) in (0..).zip(graph.nodes()) {
            if let Work::Catch(Trigger::Link(name)) = &node.work {
                if !graph.incoming(ix).is_empty() {
                    let sentence = "a catching link has no incoming flow".to_owned();
                    self.refuse(&node.id, "wrongFlow", sentence, "10.5.5");
                }
                if catching.insert((node.scope, name.clone()), ix).is_some() {
                    let sentence = format!("two links of one scope catch `{name}`");
                    self.refuse(&node.id, "severalLinks", sentence, "10.5.5");
                }
            }
            if let Work::Throw(Throw::Link(name)) = &node.work {
                if !graph.outgoing(ix).is_empty() {
                    let sentence = "a throwing link has no outgoing flow".to_owned();
                    self.refuse(&node.id, "wrongFlow", sentence, "10.5.5");
                }
                throwing.push((ix, name.clone()));
            }
        }
        let mut used: HashSet<NodeIx> = HashSet::new();
        for (ix, name) in throwing {
            let node = graph.node(ix);
            match catching.get(&(node.scope, name.clone())) {
                Some(&catch) => {
                    used.insert(catch);
                    graph.links.insert(ix, catch);
                }
                None => {
                    let sentence = format!("no link of the same scope catches `{name}`");
                    self.refuse(&node.id, "danglingReference", sentence, "10.5.5");
                }
            }
        }
        for &catch in catching.values().filter(|catch| !used.contains(catch)) {
            self.warn(&graph.node(catch).id, "linkUnused", "no link of the same scope leads to it", "10.5.5");
        }
        self.instantiating(graph, raws);
    }

    fn instantiating(&mut self, graph: &mut Graph, raws: &[Raw<'_>]) {
        for ix in 0..u32::try_from(raws.len()).unwrap_or(u32::MAX) {
            let node = graph.node(ix);
            let Some(instantiates) = node.instantiates else { continue };
            if node.scope != ROOT {
                let sentence = format!("a {} starts an instance in no sub-process", node.element.name());
                self.refuse(&node.id, "wrongPlace", sentence, "13.2");
                continue;
            }
            let starts = |flow: &u32| matches!(graph.node(graph.flow(*flow).source).work, Work::Start(_));
            if !node.split.waits() && !graph.incoming(ix).iter().all(starts) {
                let sentence =
                    "a receive task that starts an instance has incoming flows from start events alone"
                        .to_owned();
                self.refuse(&node.id, "wrongFlow", sentence, "10.3.3.1");
            }
            if instantiates == Instantiates::All && graph.outgoing(ix).len() < 2 {
                let sentence = "a parallel event-based gateway has two events or more".to_owned();
                self.refuse(&node.id, "wrongFlow", sentence, "10.6.6");
            }
            graph.scopes[ROOT as usize].instantiating.push(ix);
        }
    }
}
