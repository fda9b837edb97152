//! Reductions that keep what is judged: a sequence, a choice, a fork with its join or a simple loop becomes one
//! edge.
//!
//! Each rule replaces a part in which nothing can go wrong by itself, so that deadlocks, unsafe edges and
//! elements never fired are the same before and after. A fork on a cycle is only reduced together with its
//! join: its branches may run ahead of each other.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::flow::NONE;
use super::net::{EdgeIx, Kind, Net, NodeIx};

/// Reduces a net as far as the rules lead, in about linear time; stops after a number of steps that ordinary
/// nets never need.
pub(super) fn reduce(net: &mut Net) {
    let most = 40 * (net.nodes.len() + net.edges.len()) + 10_000;
    let size = net.nodes.len();
    let mut work = Work {
        net,
        queues: Default::default(),
        queued: [vec![false; size], vec![false; size], vec![false; size]],
        seen: vec![NONE; size],
        steps: 0,
    };
    for node in (0..work.net.nodes.len()).rev() {
        work.touch(super::flow::index(node));
    }
    while work.steps < most {
        if let Some(node) = work.pop(PASS) {
            work.pass(node);
        } else if let Some(node) = work.pop(PARALLEL) {
            work.parallel(node);
        } else if let Some(node) = work.pop(NESTED) {
            work.nested(node);
        } else {
            break;
        }
    }
}

const PASS: usize = 0;
const PARALLEL: usize = 1;
const NESTED: usize = 2;

struct Work<'n> {
    net: &'n mut Net,
    /// Nodes to look at, by rule; the cheaper rule goes first.
    queues: [Vec<NodeIx>; 3],
    queued: [Vec<bool>; 3],
    /// The edge that was last seen to lead to each node.
    seen: Vec<EdgeIx>,
    steps: usize,
}

impl Work<'_> {
    fn pop(&mut self, queue: usize) -> Option<NodeIx> {
        let node = self.queues[queue].pop()?;
        self.queued[queue][node as usize] = false;
        Some(node)
    }

    fn push(&mut self, queue: usize, node: NodeIx) {
        if !std::mem::replace(&mut self.queued[queue][node as usize], true) {
            self.queues[queue].push(node);
        }
    }

    /// Queues a node for the rules that may fit it, after making it the simplest kind that it can be.
    fn touch(&mut self, node: NodeIx) {
        if node == NONE {
            return;
        }
        let own = self.net.node_mut(node);
        if (own.kind.is_join() && own.input.len() == 1) || (own.kind.is_split() && own.output.len() == 1) {
            own.kind = Kind::Pass;
        }
        match own.kind {
            Kind::Pass | Kind::XorJoin => self.push(PASS, node),
            kind if kind.is_split() => {
                self.push(PARALLEL, node);
                self.push(NESTED, node);
            }
            _ => {}
        }
    }

    /// Lets an edge lead on past a node that becomes part of it.
    fn extend(&mut self, edge: EdgeIx, node: NodeIx, next: EdgeIx) {
        let element = self.net.node(node).element;
        let after = self.net.edge(next).clone();
        let before = self.net.edge(edge).clone();
        let leaf = self.net.ropes.leaf(element);
        let via = self.net.ropes.pair(before.via, leaf);
        let via = self.net.ropes.pair(via, after.via);
        let rest = self.net.ropes.pair(before.rest, after.rest);
        let own = self.net.edge_mut(edge);
        (own.via, own.rest, own.into) = (via, rest, after.into);
        (own.target, own.slot) = (after.target, after.slot);
        if after.flow != NONE {
            own.flow = after.flow;
        }
    }

    /// A node with one edge in and one out; a merge whose one edge out leads to nowhere.
    fn pass(&mut self, node: NodeIx) {
        self.steps += 1;
        let own = self.net.node(node);
        let kind = own.kind;
        let [out] = own.output[..] else { return };
        if kind == Kind::XorJoin {
            return self.merge_at_end(node, out);
        }
        let [into] = own.input[..] else { return };
        let vanishes = self.net.vanishes(out);
        if kind != Kind::Pass
            || into == out
            || !self.net.is_plain(into)
            || !(self.net.is_plain(out) || vanishes)
        {
            return;
        }
        self.extend(into, node, out);
        let target = self.net.edge(into).target;
        if self.net.lists_input(target) {
            let slot = self.net.edge(into).slot;
            self.net.node_mut(target).input[slot as usize] = into;
        }
        self.forget(node, out);
        self.touch(self.net.edge(into).source);
        self.touch(target);
    }

    /// Tokens that vanish right behind a merge need not be merged.
    fn merge_at_end(&mut self, node: NodeIx, out: EdgeIx) {
        let input = self.net.node(node).input.clone();
        if !self.net.vanishes(out) || !input.iter().all(|&edge| self.net.is_plain(edge)) {
            return;
        }
        self.steps += input.len();
        for &edge in &input {
            self.extend(edge, node, out);
        }
        self.forget(node, out);
        for edge in input {
            self.touch(self.net.edge(edge).source);
        }
    }

    fn forget(&mut self, node: NodeIx, out: EdgeIx) {
        let own = self.net.node_mut(node);
        own.input.clear();
        own.output.clear();
        self.net.edge_mut(out).target = NONE;
    }

    /// Branches of one split that lead to the same join or to the end, branches out of a fork that end, and
    /// the way back of a loop.
    fn parallel(&mut self, node: NodeIx) {
        let kind = self.net.node(node).kind;
        if !kind.is_split() {
            return;
        }
        let output = std::mem::take(&mut self.net.node_mut(node).output);
        self.steps += 1 + output.len();
        let mut kept = Vec::with_capacity(output.len());
        let mut gone: Vec<EdgeIx> = Vec::new();
        for edge in output {
            let target = self.net.edge(edge).target;
            let seen = self.seen[target as usize];
            if seen != NONE && self.joins(kind, seen, edge) {
                self.absorb(kind, seen, edge);
                gone.push(edge);
            } else {
                self.seen[target as usize] = edge;
                kept.push(edge);
            }
        }
        for edge in &kept {
            self.seen[self.net.edge(*edge).target as usize] = NONE;
        }
        self.drop_branches(node, kind, &mut kept, &mut gone);
        self.net.node_mut(node).output = kept;
        if gone.is_empty() {
            return;
        }
        for edge in gone {
            let target = self.net.edge(edge).target;
            self.net.detach(edge);
            self.touch(target);
        }
        self.touch(node);
    }

    /// Whether two branches of a split can be one.
    fn joins(&self, kind: Kind, left: EdgeIx, right: EdgeIx) -> bool {
        let target = self.net.node(self.net.edge(left).target).kind;
        let plain = self.net.is_plain(left) && self.net.is_plain(right);
        plain
            && match kind {
                Kind::XorSplit => {
                    matches!(target, Kind::XorJoin | Kind::OrJoin | Kind::End | Kind::Terminate)
                }
                Kind::AndSplit => matches!(target, Kind::AndJoin | Kind::OrJoin | Kind::End),
                Kind::OrSplit => matches!(target, Kind::OrJoin | Kind::End),
                _ => false,
            }
    }

    /// Puts what lies along one branch into another.
    fn absorb(&mut self, kind: Kind, into: EdgeIx, edge: EdgeIx) {
        let (via, rest) = (self.net.edge(edge).via, self.net.edge(edge).rest);
        let own = self.net.edge(into).clone();
        let (mut new_via, mut new_rest) = (own.via, self.net.ropes.pair(own.rest, rest));
        if kind == Kind::AndSplit {
            new_via = self.net.ropes.pair(own.via, via);
        } else {
            new_rest = self.net.ropes.pair(new_rest, via);
        }
        let own = self.net.edge_mut(into);
        (own.via, own.rest) = (new_via, new_rest);
    }

    fn drop_branches(&mut self, node: NodeIx, kind: Kind, kept: &mut Vec<EdgeIx>, gone: &mut Vec<EdgeIx>) {
        let &[into] = &self.net.node(node).input[..] else { return };
        let source = self.net.edge(into).source;
        let back = source != NONE && self.net.node(source).kind == Kind::XorJoin;
        let cyclic = self.net.node(node).cyclic;
        let mut at = 0;
        while at < kept.len() && kept.len() > 1 {
            let edge = kept[at];
            let target = self.net.edge(edge).target;
            let ends = target == self.net.end && (!cyclic || self.net.vanishes(edge));
            let drop = match kind {
                Kind::AndSplit => ends,
                Kind::XorSplit => {
                    back && target == source
                        && kept.iter().any(|other| self.net.edge(*other).target != source)
                }
                _ => false,
            };
            if !drop || !self.net.is_plain(edge) || !self.net.is_plain(into) {
                at += 1;
                continue;
            }
            let (via, rest) = (self.net.edge(edge).via, self.net.edge(edge).rest);
            let all = self.net.ropes.pair(via, rest);
            let all = self.net.ropes.pair(self.net.edge(into).rest, all);
            self.net.edge_mut(into).rest = all;
            kept.swap_remove(at);
            gone.push(edge);
        }
    }

    /// A choice right after a choice, a fork right after a fork: one of both.
    fn nested(&mut self, node: NodeIx) {
        let kind = self.net.node(node).kind;
        let fits = kind == Kind::XorSplit || (kind == Kind::AndSplit && !self.net.node(node).cyclic);
        if !fits {
            return;
        }
        let mut at = 0;
        let mut changed = false;
        while at < self.net.node(node).output.len() {
            self.steps += 1;
            let edge = self.net.node(node).output[at];
            let inner = self.net.edge(edge).target;
            let own = self.net.node(inner);
            if inner == node || own.kind != kind || own.output.is_empty() || !self.net.is_plain(edge) {
                at += 1;
                continue;
            }
            self.absorb_split(node, at, inner);
            changed = true;
        }
        if changed {
            self.touch(node);
        }
    }

    /// Puts the branches of an inner split in the place of the edge that leads to it.
    fn absorb_split(&mut self, node: NodeIx, at: usize, inner: NodeIx) {
        let edge = self.net.node(node).output[at];
        let branches = std::mem::take(&mut self.net.node_mut(inner).output);
        self.net.node_mut(inner).input.clear();
        let element = self.net.node(inner).element;
        let own = self.net.edge(edge).clone();
        let leaf = self.net.ropes.leaf(element);
        let head = self.net.ropes.pair(own.via, leaf);
        let fork = self.net.node(node).kind == Kind::AndSplit;
        for (place, &branch) in branches.iter().enumerate() {
            self.steps += 1;
            let before = self.net.edge(branch).clone();
            // A fork fires what lies before it once, and first.
            if !fork || place == 0 {
                let via = self.net.ropes.pair(head, before.via);
                let rest = self.net.ropes.pair(own.rest, before.rest);
                let branch = self.net.edge_mut(branch);
                (branch.via, branch.rest) = (via, rest);
            }
            let branch_edge = self.net.edge_mut(branch);
            (branch_edge.source, branch_edge.from) = (node, own.from);
            match place {
                0 => self.net.node_mut(node).output[at] = branch,
                _ => self.net.node_mut(node).output.push(branch),
            }
        }
        self.net.edge_mut(edge).target = NONE;
    }
}
