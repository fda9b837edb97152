//! The state space of a net: every marking that its tokens can reach, within a budget.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::cycles::components;
use super::flow::{NONE, index};
use super::net::{EdgeIx, Kind, Net, NodeIx};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Bounds of the state spaces of one definition, so that the answer stays quick.
#[derive(Debug)]
pub(super) struct Budget {
    /// Markings per scope.
    pub states: usize,
    /// Tokens looked at, in all scopes together.
    pub work: usize,
}

/// A marking: the edges with tokens in order, an edge once per token. Empty: the run has ended.
type Marking = Rc<[EdgeIx]>;

/// Step that first reached a marking: the marking before it, and the node that fired.
#[derive(Debug, Clone, Copy)]
struct Origin {
    before: u32,
    node: NodeIx,
}

/// State space as explored, with the findings in it.
#[derive(Debug, Default)]
pub(super) struct Space {
    markings: Vec<Marking>,
    origins: Vec<Origin>,
    /// Markings with tokens of which none can move.
    pub dead: Vec<u32>,
    /// The edges that hold too many tokens, each with the first such marking.
    pub unsafe_edges: Vec<(EdgeIx, u32)>,
    /// Markings that lead to each other for ever, and to no end, dead or unsafe marking.
    pub trapped: Vec<u32>,
    /// Whether every marking up to the unsafe ones was visited.
    pub complete: bool,
    /// Which edges ever held a token, and which nodes fired.
    pub marked: Vec<bool>,
    pub fired: Vec<bool>,
    /// Nodes that fire in the trapped markings.
    pub circling: Vec<NodeIx>,
    /// Steps between markings with the node that fires, to find what can no longer end.
    steps: Vec<(u32, u32, NodeIx)>,
}

/// Explores the markings of a net, the nearest first.
pub(super) fn explore(net: &Net, budget: &mut Budget) -> Space {
    let mut explorer = Explorer {
        net,
        space: Space {
            marked: vec![false; net.edges.len()],
            fired: vec![false; net.nodes.len()],
            complete: true,
            ..Space::default()
        },
        known: HashMap::new(),
        open: VecDeque::new(),
        unsafe_seen: HashMap::new(),
        upstream: HashMap::new(),
        moved: false,
        room: MOST_TOKENS,
    };
    let first: &[EdgeIx] = if net.vanishes(net.root) { &[] } else { &[net.root] };
    explorer.space.marked[net.root as usize] = true;
    explorer.add(first.into(), Origin { before: NONE, node: NONE }, budget);
    while let Some(state) = explorer.open.pop_front() {
        if explorer.space.markings.len() > budget.states || budget.work == 0 || explorer.room == 0 {
            explorer.space.complete = false;
            break;
        }
        explorer.expand(state, budget);
    }
    if explorer.space.complete {
        explorer.find_trap();
    }
    explorer.space
}

/// Most tokens in all markings of one scope together: what bounds the memory.
const MOST_TOKENS: usize = 4_000_000;

struct Explorer<'n> {
    net: &'n Net,
    space: Space,
    known: HashMap<Marking, u32>,
    open: VecDeque<u32>,
    unsafe_seen: HashMap<EdgeIx, ()>,
    /// Per inclusive join and edge into it, the edges from which a token can still come.
    upstream: HashMap<EdgeIx, Vec<u64>>,
    /// Whether any node could fire in the marking at hand.
    moved: bool,
    room: usize,
}

impl Explorer<'_> {
    fn spend(&mut self, work: usize, budget: &mut Budget) {
        budget.work = budget.work.saturating_sub(work);
    }

    /// Adds a marking that is new.
    fn add(&mut self, marking: Marking, origin: Origin, budget: &mut Budget) {
        self.spend(4 + marking.len(), budget);
        if let Some(&known) = self.known.get(&marking) {
            self.space.steps.push((origin.before, known, origin.node));
            return;
        }
        let state = index(self.space.markings.len());
        self.room = self.room.saturating_sub(marking.len() + 4);
        if origin.before != NONE {
            self.space.steps.push((origin.before, state, origin.node));
        }
        self.space.markings.push(marking.clone());
        self.space.origins.push(origin);
        self.known.insert(marking.clone(), state);
        if !self.overfull(&marking, state) {
            self.open.push_back(state);
        }
    }

    /// Whether an edge holds more tokens than it may; such a marking is not followed.
    fn overfull(&mut self, marking: &[EdgeIx], state: u32) -> bool {
        let mut found = false;
        for same in marking.chunk_by(|left, right| left == right) {
            if same.len() <= self.net.edge(same[0]).capacity as usize {
                continue;
            }
            found = true;
            if self.unsafe_seen.insert(same[0], ()).is_none() {
                self.space.unsafe_edges.push((same[0], state));
            }
        }
        found
    }

    /// All steps out of a marking.
    fn expand(&mut self, state: u32, budget: &mut Budget) {
        let marking = self.space.markings[state as usize].clone();
        self.moved = marking.is_empty();
        for same in marking.chunk_by(|left, right| left == right) {
            let edge = same[0];
            let node = self.net.edge(edge).target;
            match self.net.node(node).kind {
                Kind::AndJoin => self.and_join(state, &marking, edge, node, budget),
                Kind::OrJoin => self.or_join(state, &marking, edge, node, budget),
                Kind::Take(count) => {
                    if same.len() >= count as usize {
                        let taken = vec![edge; count as usize];
                        self.fire(state, &marking, &taken, node, budget);
                    }
                }
                Kind::Terminate => {
                    self.moved = true;
                    self.space.fired[node as usize] = true;
                    self.add([].into(), Origin { before: state, node }, budget);
                }
                _ => self.fire(state, &marking, &[edge], node, budget),
            }
        }
        if !self.moved {
            self.space.dead.push(state);
        }
    }

    fn and_join(&mut self, state: u32, marking: &[EdgeIx], edge: EdgeIx, node: NodeIx, budget: &mut Budget) {
        let net = self.net;
        let input = &net.node(node).input;
        if input.first() != Some(&edge) || input.len() > marking.len() {
            return;
        }
        self.spend(input.len(), budget);
        if input.iter().all(|edge| marking.binary_search(edge).is_ok()) {
            self.fire(state, marking, input, node, budget);
        }
    }

    /// An inclusive join takes one token of each edge that has one, unless a token elsewhere can still come to
    /// an edge that has none and to none that has one (clause 13.4.3).
    fn or_join(&mut self, state: u32, marking: &[EdgeIx], edge: EdgeIx, node: NodeIx, budget: &mut Budget) {
        let net = self.net;
        let input = &net.node(node).input;
        self.spend(input.len(), budget);
        let (full, empty): (Vec<EdgeIx>, Vec<EdgeIx>) =
            input.iter().partition(|edge| marking.binary_search(edge).is_ok());
        if full.iter().min() != Some(&edge) {
            return;
        }
        for &into in &full {
            self.need_upstream(into, budget);
        }
        for &into in &empty {
            self.need_upstream(into, budget);
        }
        self.spend(marking.len() * input.len() / 4, budget);
        let comes = |to: &EdgeIx, token: EdgeIx| {
            let bits = self.upstream.get(to);
            bits.is_some_and(|bits| bits[token as usize / 64] & (1 << (token % 64)) != 0)
        };
        let holds = marking
            .iter()
            .filter(|token| self.net.edge(**token).target != node)
            .any(|&token| empty.iter().any(|to| comes(to, token)) && !full.iter().any(|to| comes(to, token)));
        if !holds {
            self.fire(state, marking, &full, node, budget);
        }
    }

    /// The edges from which a path that does not visit the join leads to the edge into it.
    fn need_upstream(&mut self, into: EdgeIx, budget: &mut Budget) {
        if self.upstream.contains_key(&into) {
            return;
        }
        let join = self.net.edge(into).target;
        let mut bits = vec![0u64; self.net.edges.len().div_ceil(64)];
        let mut open = vec![into];
        let mut visited = 0;
        self.room = self.room.saturating_sub(bits.len() * 2);
        if self.room == 0 {
            return;
        }
        while let Some(edge) = open.pop() {
            let (word, bit) = (edge as usize / 64, 1u64 << (edge % 64));
            if bits[word] & bit != 0 {
                continue;
            }
            bits[word] |= bit;
            visited += 1;
            let source = self.net.edge(edge).source;
            if source != NONE && source != join {
                open.extend(&self.net.node(source).input);
            }
        }
        self.spend(visited, budget);
        self.upstream.insert(into, bits);
    }

    /// Fires a node: takes tokens, and puts others in every way that the node may choose.
    fn fire(&mut self, state: u32, marking: &[EdgeIx], taken: &[EdgeIx], node: NodeIx, budget: &mut Budget) {
        self.moved = true;
        self.space.fired[node as usize] = true;
        let mut rest = marking.to_vec();
        for edge in taken {
            if let Ok(place) = rest.binary_search(edge) {
                rest.remove(place);
            }
        }
        let net = self.net;
        let own = net.node(node);
        match own.kind {
            Kind::XorSplit => {
                for edge in &own.output {
                    self.put(state, &rest, std::slice::from_ref(edge), node, budget);
                }
            }
            Kind::OrSplit => self.some(state, &rest, &own.output, node, budget),
            _ => self.put(state, &rest, &own.output, node, budget),
        }
    }

    /// Every choice of at least one edge.
    fn some(&mut self, state: u32, rest: &[EdgeIx], output: &[EdgeIx], node: NodeIx, budget: &mut Budget) {
        if output.len() > 24 {
            self.space.complete = false;
        }
        let most = output.len().min(24);
        for choice in 1u32..1 << most {
            if budget.work == 0 || self.room == 0 {
                self.space.complete = false;
                return;
            }
            let chosen = output.iter().enumerate().filter(|(at, _)| *at < most && choice & (1 << at) != 0);
            let chosen: Vec<EdgeIx> = chosen.map(|(_, edge)| *edge).collect();
            self.put(state, rest, &chosen, node, budget);
        }
    }

    fn put(&mut self, before: u32, rest: &[EdgeIx], edges: &[EdgeIx], node: NodeIx, budget: &mut Budget) {
        let mut marking = rest.to_vec();
        for &edge in edges {
            self.space.marked[edge as usize] = true;
            if !self.net.vanishes(edge) {
                marking.extend(std::iter::repeat_n(edge, self.net.edge(edge).weight as usize));
            }
        }
        marking.sort_unstable();
        self.add(marking.into(), Origin { before, node }, budget);
    }

    /// Looks for a marking that can go on for ever but never end.
    fn find_trap(&mut self) {
        let count = self.space.markings.len();
        let mut steps = std::mem::take(&mut self.space.steps);
        steps.sort_unstable_by_key(|(_, after, _)| *after);
        let mut ends = vec![false; count];
        let mut open: Vec<u32> = self.space.dead.clone();
        for (state, marking) in self.space.markings.iter().enumerate() {
            let over = |same: &[EdgeIx]| same.len() > self.net.edge(same[0]).capacity as usize;
            if marking.is_empty() || marking.chunk_by(|left, right| left == right).any(over) {
                open.push(index(state));
            }
        }
        while let Some(state) = open.pop() {
            if std::mem::replace(&mut ends[state as usize], true) {
                continue;
            }
            let from = steps.partition_point(|(_, after, _)| *after < state);
            let to = steps[from..].iter().take_while(|(_, after, _)| *after == state);
            open.extend(to.map(|(before, ..)| *before));
        }
        if ends.iter().all(|ends| *ends) {
            return;
        }
        steps.retain(|(before, ..)| !ends[*before as usize]);
        steps.sort_unstable();
        let next = |state: u32, place: usize| {
            let from = steps.partition_point(|(before, ..)| *before < state);
            steps.get(from + place).filter(|(before, ..)| *before == state).map(|(_, after, _)| *after)
        };
        // The first component to be complete is one that nothing leads out of.
        let (component, _) = components(count, next);
        let last = (0..count).filter(|&state| !ends[state]).map(|state| component[state]).min();
        let trapped = (0..count).filter(|&state| Some(component[state]) == last);
        self.space.trapped = trapped.map(index).collect();
        let inside = steps.iter().filter(|(before, ..)| Some(component[*before as usize]) == last);
        self.space.circling = inside.map(|(.., node)| *node).collect();
        self.space.circling.sort_unstable();
        self.space.circling.dedup();
    }
}

impl Space {
    /// The edges with tokens in a marking, an edge once per token.
    pub(crate) fn marking(&self, state: u32) -> &[EdgeIx] {
        &self.markings[state as usize]
    }

    /// The steps that lead to a marking: each node with the edges that it put tokens on.
    pub(crate) fn steps_to(&self, state: u32) -> Vec<(NodeIx, Vec<EdgeIx>)> {
        let mut steps = Vec::new();
        let mut at = state;
        while let Some(origin) = self.origins.get(at as usize) {
            let before = self.markings.get(origin.before as usize);
            let old = before.map_or(&[][..], |marking| marking);
            steps.push((origin.node, added(old, &self.markings[at as usize])));
            at = origin.before;
        }
        steps.reverse();
        steps
    }

    /// Whether some run ends.
    pub(crate) fn ends(&self) -> bool {
        self.markings.iter().any(|marking| marking.is_empty())
    }
}

/// The edges that a marking holds more often than an older one.
fn added(old: &[EdgeIx], new: &[EdgeIx]) -> Vec<EdgeIx> {
    let mut at = 0;
    let mut found = Vec::new();
    for &edge in new {
        while at < old.len() && old[at] < edge {
            at += 1;
        }
        if at < old.len() && old[at] == edge {
            at += 1;
        } else {
            found.push(edge);
        }
    }
    found
}
