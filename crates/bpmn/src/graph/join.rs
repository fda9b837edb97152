//! Paths into joins: from which nodes a token can still arrive (clauses 13.4.1 and 13.4.3).

use super::{FlowIx, Graph, NodeIx, NodeKind};

/// A set of nodes.
#[derive(Debug, Clone, Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    fn new(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)])
    }

    /// Adds a node; answers whether it is new.
    fn insert(&mut self, ix: NodeIx) -> bool {
        let (word, bit) = (ix as usize / 64, 1 << (ix % 64));
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    /// Whether the node is in the set.
    #[must_use]
    pub fn contains(&self, ix: NodeIx) -> bool {
        self.0.get(ix as usize / 64).is_some_and(|word| word & (1 << (ix % 64)) != 0)
    }
}

/// A gateway that joins: its incoming flows, each with the nodes from which a path that does not visit the
/// gateway leads to the flow.
#[derive(Debug, Clone)]
pub struct Join {
    /// Per incoming flow the nodes upstream of it.
    pub upstream: Vec<(FlowIx, Bits)>,
}

/// The paths into a node of the graph. An activity leads to its boundary events, too.
pub(super) fn of(graph: &Graph, join: NodeIx) -> Join {
    let upstream = graph.incoming(join).iter().map(|&flow| (flow, before(graph, join, flow))).collect();
    Join { upstream }
}

fn before(graph: &Graph, join: NodeIx, flow: FlowIx) -> Bits {
    let mut seen = Bits::new(graph.nodes().len());
    let mut open = vec![graph.flow(flow).source];
    while let Some(ix) = open.pop() {
        if ix == join || !seen.insert(ix) {
            continue;
        }
        open.extend(graph.incoming(ix).iter().map(|&flow| graph.flow(flow).source));
        if let NodeKind::Boundary { host, .. } = graph.node(ix).kind {
            open.push(host);
        }
    }
    seen
}
