//! Join and split rules of nodes: what arriving tokens do and which flows leaving ones take (clauses 13.4.1 to 13.4.4).

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::{FlowIx, Graph, NodeIx, Trigger, Work};
use heddle_bpmn::element::{Joining, Splitting};

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

/// Per incoming flow of a join the nodes from which a path that does not visit the join leads to the flow.
pub type Upstream = Vec<(FlowIx, Bits)>;

/// Nodes looked at for the paths into all joins of a process. Each join looks at all nodes before it, which is too much
/// only where very many joins stand behind one another.
pub(super) const MAX_WORK: usize = 50_000_000;

/// Reason why a node has no join rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoRule {
    /// The process has too many joins and nodes before them.
    TooMuchWork,
}

/// Rule for tokens that arrive at a node.
#[derive(Debug, Clone)]
pub enum JoinRule {
    /// Activation of the node by each token.
    Pass,
    /// Wait for a token on every other incoming flow.
    All(Upstream),
    /// Wait for the tokens that can still arrive on other incoming flows.
    Inclusive(Upstream),
    /// Wait until the activation condition of a complex gateway holds.
    Complex(Upstream),
    /// Wait for as many tokens as an activity's start quantity asks for, over whichever incoming flows they come.
    Quantity(Upstream),
}

impl JoinRule {
    /// The rule of a node. With one incoming flow there is nothing to wait for. `work` is what looking for the paths
    /// into joins may still take.
    pub(super) fn of(graph: &Graph, ix: NodeIx, work: &mut usize) -> Result<Self, NoRule> {
        let (joining, _) = graph.node(ix).element.kind().token_rules();
        let several = graph.incoming(ix).len() > 1;
        if graph.node(ix).quantities.start > 1 {
            return Ok(Self::Quantity(upstream(graph, ix, work)?));
        }
        Ok(match joining {
            Joining::All if several => Self::All(upstream(graph, ix, work)?),
            Joining::Inclusive if several => Self::Inclusive(upstream(graph, ix, work)?),
            Joining::Pass | Joining::All | Joining::Inclusive => Self::Pass,
            Joining::Complex => Self::Complex(upstream(graph, ix, work)?),
        })
    }

    /// The paths into the node, where tokens can be held at it.
    #[must_use]
    pub const fn upstream(&self) -> Option<&Upstream> {
        match self {
            Self::Pass => None,
            Self::All(upstream)
            | Self::Inclusive(upstream)
            | Self::Complex(upstream)
            | Self::Quantity(upstream) => Some(upstream),
        }
    }
}

/// Rule by which outgoing flows of a node take a token when it completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitRule {
    /// Every flow that holds, of a node that is no gateway; the default flow when no flow with a condition holds.
    Direct,
    /// Every flow that holds; the default flow when there is none.
    Every,
    /// The first flow that holds, else the default flow.
    First,
    /// All flows, whatever their conditions.
    All,
    /// The flow of the event that occurs first.
    Events,
}

impl SplitRule {
    /// The rule of an element.
    pub(super) const fn of(splitting: Splitting) -> Self {
        match splitting {
            Splitting::Direct => Self::Direct,
            Splitting::Every => Self::Every,
            Splitting::First => Self::First,
            Splitting::All => Self::All,
            Splitting::Events => Self::Events,
            Splitting::Complex => Self::Every,
        }
    }

    /// Whether the node waits for events before it takes a flow.
    #[must_use]
    pub const fn waits(self) -> bool {
        match self {
            Self::Events => true,
            Self::Direct | Self::Every | Self::First | Self::All => false,
        }
    }

    /// Whether all flows are taken without a look at their conditions.
    pub(super) const fn ignores_conditions(self) -> bool {
        match self {
            Self::All => true,
            Self::Direct | Self::Every | Self::First | Self::Events => false,
        }
    }
}

/// The paths into a node. An activity leads to its boundary events, too.
fn upstream(graph: &Graph, join: NodeIx, work: &mut usize) -> Result<Upstream, NoRule> {
    let mut found = Vec::new();
    for &flow in graph.incoming(join) {
        // A set counts for the memory that it takes, however few are in it.
        spend(work, graph.nodes().len() / 16)?;
        found.push((flow, before(graph, join, flow, work)?));
    }
    Ok(found)
}

fn before(graph: &Graph, join: NodeIx, flow: FlowIx, work: &mut usize) -> Result<Bits, NoRule> {
    let mut seen = Bits::new(graph.nodes().len());
    let mut open = vec![graph.flow(flow).source];
    while let Some(ix) = open.pop() {
        if ix == join || !seen.insert(ix) {
            continue;
        }
        let incoming = graph.incoming(ix);
        spend(work, 1 + incoming.len())?;
        open.extend(incoming.iter().map(|&flow| graph.flow(flow).source));
        if let Work::Boundary { host, .. } = graph.node(ix).work {
            open.push(host);
        }
        if let Work::Catch(Trigger::Link(_)) = graph.node(ix).work {
            spend(work, graph.nodes().len() / 16)?;
            open.extend(graph.link_sources(ix));
        }
    }
    Ok(seen)
}

/// Takes from what is left; nothing is left once it was too little.
fn spend(work: &mut usize, steps: usize) -> Result<(), NoRule> {
    let left = work.checked_sub(steps);
    *work = left.unwrap_or(0);
    left.map(|_| ()).ok_or(NoRule::TooMuchWork)
}
