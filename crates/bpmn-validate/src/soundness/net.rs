//! The net of a scope: nodes that join or split, and edges on which tokens rest.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::flow::{Ix, NONE, index};

/// Index of a node in [`Net::nodes`].
pub(super) type NodeIx = u32;
/// Index of an edge in [`Net::edges`].
pub(super) type EdgeIx = u32;
/// Index of a rope in [`Ropes`].
pub(super) type RopeIx = u32;

/// Token behaviour of a node of the net.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One edge in, one out.
    Pass,
    /// One edge in; a token for one of the edges out.
    XorSplit,
    /// One edge in; tokens for all edges out.
    AndSplit,
    /// One edge in; tokens for at least one of the edges out.
    OrSplit,
    /// Each token on an edge in goes on.
    XorJoin,
    /// One token of every edge in becomes one token.
    AndJoin,
    /// The tokens that can still arrive become one token (clause 13.4.3).
    OrJoin,
    /// So many tokens of the one edge in become one token.
    Take(u32),
    /// Tokens vanish.
    End,
    /// The token and all others vanish.
    Terminate,
}

impl Kind {
    pub(crate) fn is_join(self) -> bool {
        matches!(self, Self::XorJoin | Self::AndJoin | Self::OrJoin)
    }

    pub(crate) fn is_split(self) -> bool {
        matches!(self, Self::XorSplit | Self::AndSplit | Self::OrSplit)
    }
}

/// A node of the net.
#[derive(Debug)]
pub(super) struct NetNode {
    pub kind: Kind,
    /// The element that it stands for in a witness; one node per element.
    pub element: Ix,
    pub input: Vec<EdgeIx>,
    pub output: Vec<EdgeIx>,
    /// Whether it lies on a cycle.
    pub cyclic: bool,
}

/// An edge of the net: a place for tokens.
#[derive(Debug, Clone)]
pub(super) struct NetEdge {
    /// Node that it comes from; none where nothing ever comes.
    pub source: NodeIx,
    /// Node that it leads to; none when the edge was reduced away.
    pub target: NodeIx,
    /// Place in the target's list of edges in.
    pub slot: u32,
    /// Element whose token it bears.
    pub from: Ix,
    /// Element that the token waits for.
    pub into: Ix,
    /// Last sequence flow along it.
    pub flow: Ix,
    /// Tokens that the source puts on it at once.
    pub weight: u32,
    /// Most tokens that may rest on it.
    pub capacity: u32,
    /// Elements along it, as one firing sequence.
    pub via: RopeIx,
    /// Elements beside that sequence which a token on it can fire as well.
    pub rest: RopeIx,
}

/// Sequences of elements that share their parts.
#[derive(Debug, Default)]
pub(super) struct Ropes(Vec<Rope>);

#[derive(Debug, Clone, Copy)]
enum Rope {
    Leaf(Ix),
    Pair(RopeIx, RopeIx),
}

impl Ropes {
    pub(crate) fn leaf(&mut self, element: Ix) -> RopeIx {
        if element == NONE {
            return NONE;
        }
        self.0.push(Rope::Leaf(element));
        index(self.0.len() - 1)
    }

    pub(crate) fn pair(&mut self, head: RopeIx, tail: RopeIx) -> RopeIx {
        match (head, tail) {
            (NONE, other) | (other, NONE) => other,
            _ => {
                self.0.push(Rope::Pair(head, tail));
                index(self.0.len() - 1)
            }
        }
    }

    /// The number of ropes made so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends the elements of a rope in order, up to a length.
    pub(crate) fn append(&self, rope: RopeIx, most: usize, found: &mut Vec<Ix>) {
        let mut open = vec![rope];
        while let Some(rope) = open.pop() {
            if found.len() >= most {
                return;
            }
            match self.0.get(rope as usize) {
                None => {}
                Some(Rope::Leaf(element)) => found.push(*element),
                Some(Rope::Pair(head, tail)) => open.extend([*tail, *head]),
            }
        }
    }

    /// Visits every element of a rope, and every rope but once.
    pub(crate) fn visit(&self, rope: RopeIx, seen: &mut [bool], mut found: impl FnMut(Ix)) {
        let mut open = vec![rope];
        while let Some(rope) = open.pop() {
            let Some(own) = self.0.get(rope as usize) else { continue };
            if std::mem::replace(&mut seen[rope as usize], true) {
                continue;
            }
            match own {
                Rope::Leaf(element) => found(*element),
                Rope::Pair(head, tail) => open.extend([*head, *tail]),
            }
        }
    }
}

/// The net of one scope.
#[derive(Debug)]
pub(super) struct Net {
    pub nodes: Vec<NetNode>,
    pub edges: Vec<NetEdge>,
    pub ropes: Ropes,
    /// The edge with the first token.
    pub root: EdgeIx,
    /// The one node where tokens vanish.
    pub end: NodeIx,
}

impl Net {
    pub(crate) fn new() -> Self {
        let mut net =
            Self { nodes: Vec::new(), edges: Vec::new(), ropes: Ropes::default(), root: NONE, end: NONE };
        net.end = net.add_node(Kind::End, NONE);
        net
    }

    pub(crate) fn node(&self, ix: NodeIx) -> &NetNode {
        &self.nodes[ix as usize]
    }

    pub(crate) fn node_mut(&mut self, ix: NodeIx) -> &mut NetNode {
        &mut self.nodes[ix as usize]
    }

    pub(crate) fn edge(&self, ix: EdgeIx) -> &NetEdge {
        &self.edges[ix as usize]
    }

    pub(crate) fn edge_mut(&mut self, ix: EdgeIx) -> &mut NetEdge {
        &mut self.edges[ix as usize]
    }

    pub(crate) fn add_node(&mut self, kind: Kind, element: Ix) -> NodeIx {
        self.nodes.push(NetNode { kind, element, input: Vec::new(), output: Vec::new(), cyclic: false });
        index(self.nodes.len() - 1)
    }

    /// Adds an edge; the lists of its two nodes follow, where they keep one.
    pub(crate) fn add_edge(&mut self, mut edge: NetEdge) -> EdgeIx {
        let ix = index(self.edges.len());
        if edge.source != NONE {
            self.node_mut(edge.source).output.push(ix);
        }
        if edge.target != NONE && self.lists_input(edge.target) {
            let list = &mut self.node_mut(edge.target).input;
            edge.slot = index(list.len());
            list.push(ix);
        }
        self.edges.push(edge);
        ix
    }

    /// Whether the node keeps a list of its edges in; a node where tokens vanish has too many to keep.
    pub(crate) fn lists_input(&self, node: NodeIx) -> bool {
        !matches!(self.node(node).kind, Kind::End | Kind::Terminate)
    }

    /// Takes an edge off its target.
    pub(crate) fn detach(&mut self, edge: EdgeIx) {
        let (target, slot) = (self.edge(edge).target, self.edge(edge).slot);
        self.edge_mut(edge).target = NONE;
        if target == NONE || !self.lists_input(target) {
            return;
        }
        let list = &mut self.node_mut(target).input;
        list.swap_remove(slot as usize);
        if let Some(&moved) = list.get(slot as usize) {
            self.edge_mut(moved).slot = slot;
        }
    }

    /// Whether tokens on the edge vanish at once.
    pub(crate) fn vanishes(&self, edge: EdgeIx) -> bool {
        let own = self.edge(edge);
        own.target == self.end && own.via == NONE && own.rest == NONE
    }

    /// Whether one token at a time comes, and one may rest.
    pub(crate) fn is_plain(&self, edge: EdgeIx) -> bool {
        self.edge(edge).weight == 1 && self.edge(edge).capacity == 1
    }
}
