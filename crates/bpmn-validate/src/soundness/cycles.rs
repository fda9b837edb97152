//! Cycles: which nodes lie on one, and which of them neither wait nor are bounded.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::flow::{FlowGraph, Guard, Ix, NONE, Role, index, literal, standard_loop};
use super::net::Net;

/// The strongly connected component of each node, by Tarjan's algorithm without recursion. `next` answers
/// with the successor of a node at a place in its list.
pub(super) fn components(nodes: usize, next: impl Fn(Ix, usize) -> Option<Ix>) -> (Vec<Ix>, usize) {
    let (mut number, mut low) = (vec![NONE; nodes], vec![0; nodes]);
    let mut component = vec![NONE; nodes];
    let (mut stack, mut path) = (Vec::new(), Vec::new());
    let (mut count, mut found) = (0, 0);
    for root in 0..nodes {
        if number[root] != NONE {
            continue;
        }
        path.push((index(root), 0));
        while let Some((node, place)) = path.last_mut() {
            let at = *node as usize;
            if *place == 0 {
                number[at] = count;
                low[at] = count;
                count += 1;
                stack.push(*node);
            }
            let successor = next(*node, *place);
            *place += 1;
            match successor {
                Some(next) if number[next as usize] == NONE => path.push((next, 0)),
                Some(next) => {
                    if component[next as usize] == NONE {
                        low[at] = low[at].min(number[next as usize]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((above, _)) = path.last() {
                        low[*above as usize] = low[*above as usize].min(low[at]);
                    }
                    if low[at] != number[at] {
                        continue;
                    }
                    while let Some(member) = stack.pop() {
                        component[member as usize] = index(found);
                        if member as usize == at {
                            break;
                        }
                    }
                    found += 1;
                }
            }
        }
    }
    (component, found)
}

/// Marks the nodes of a net that lie on a cycle.
pub(super) fn mark(net: &mut Net) {
    let next = |node: Ix, place: usize| {
        let edge = net.node(node).output.get(place)?;
        Some(net.edge(*edge).target)
    };
    let (component, found) = components(net.nodes.len(), next);
    let mut sizes = vec![0u32; found];
    component.iter().for_each(|own| sizes[*own as usize] += 1);
    for (at, own) in component.iter().enumerate() {
        let itself = |edge: &Ix| net.edge(*edge).target as usize == at;
        let cyclic = sizes[*own as usize] > 1 || net.nodes[at].output.iter().any(itself);
        net.nodes[at].cyclic = cyclic;
    }
}

/// A cycle that no wait and no bound holds up.
pub(super) struct Cycle {
    /// Elements of the cycle, in document order.
    pub elements: Vec<Ix>,
    /// Whether a flow leads out of it.
    pub exit: bool,
    /// Elements from a start to the cycle and once round it.
    pub witness: Vec<Ix>,
}

/// The livelocks: cycles of elements without a wait state, along flows without a bound, as far as they are reached.
pub(super) fn livelocks(graph: &FlowGraph<'_>) -> Vec<Cycle> {
    let passes = |ix: Ix| {
        let own = graph.element(ix);
        graph.reached[ix as usize]
            && !own.waits
            && !matches!(own.role, Role::EventBased { .. } | Role::End { .. })
    };
    let mut starts = Vec::with_capacity(graph.elements.len() + 1);
    let mut list = Vec::new();
    for ix in 0..index(graph.elements.len()) {
        starts.push(list.len());
        if !passes(ix) {
            continue;
        }
        let flows = graph.outgoing.of(ix).iter().map(|&flow| graph.flow(flow));
        let free = flows.filter(|flow| !matches!(flow.guard, Guard::False | Guard::Loop));
        list.extend(free.map(|flow| flow.target).filter(|&next| passes(next)));
        // A boundary event that has to wait for its trigger holds a cycle up, an error does not.
        list.extend(graph.boundaries(ix).iter().filter(|&&event| !graph.element(event).waits));
    }
    starts.push(list.len());
    let of = |ix: Ix| &list[starts[ix as usize]..starts[ix as usize + 1]];
    let (component, found) = components(graph.elements.len(), |ix, place| of(ix).get(place).copied());
    let mut members: Vec<Vec<Ix>> = vec![Vec::new(); found];
    component.iter().enumerate().for_each(|(at, own)| members[*own as usize].push(index(at)));
    members.retain(|own| own.len() > 1 || own.iter().any(|ix| of(*ix).contains(ix)));
    members.sort_unstable_by_key(|own| own[0]);
    let mut cycles = Vec::with_capacity(members.len());
    let paths = if members.is_empty() { Paths::default() } else { Paths::new(graph) };
    for elements in members {
        let inside = |ix: Ix| component[ix as usize] == component[elements[0] as usize];
        let exit = elements.iter().any(|&ix| graph.next(ix).any(|next| !inside(next)));
        let first = elements.iter().copied().min_by_key(|ix| paths.depth[*ix as usize]).unwrap_or(NONE);
        let mut witness = paths.to(first);
        witness.extend(round(first, of, &inside));
        cycles.push(Cycle { elements, exit, witness });
    }
    loops(graph, &mut cycles);
    cycles
}

/// Activities with a standard loop that nothing ends.
fn loops(graph: &FlowGraph<'_>, cycles: &mut Vec<Cycle>) {
    let mut paths = None;
    for ix in 0..index(graph.elements.len()) {
        let own = graph.element(ix);
        let Some(of) = standard_loop(own.node) else { continue };
        let bounded = of.loop_maximum.is_some_and(|maximum| maximum >= 0);
        let endless =
            matches!(literal(of.loop_condition.as_deref().unwrap_or_default()), Guard::True | Guard::Free);
        if bounded || !endless || own.waits || !graph.reached[ix as usize] {
            continue;
        }
        let witness = paths.get_or_insert_with(|| Paths::new(graph)).to(ix);
        cycles.push(Cycle { elements: vec![ix], exit: false, witness });
    }
}

/// Shortest paths from the starts.
#[derive(Default)]
struct Paths {
    depth: Vec<u32>,
    before: Vec<Ix>,
}

impl Paths {
    fn new(graph: &FlowGraph<'_>) -> Self {
        let size = graph.elements.len();
        let mut paths = Self { depth: vec![u32::MAX; size], before: vec![NONE; size] };
        let mut open = graph.starts.clone();
        open.iter().for_each(|&start| paths.depth[start as usize] = 0);
        let mut at = 0;
        while at < open.len() {
            let ix = open[at];
            at += 1;
            for next in graph.next(ix) {
                if paths.depth[next as usize] == u32::MAX {
                    paths.depth[next as usize] = paths.depth[ix as usize] + 1;
                    paths.before[next as usize] = ix;
                    open.push(next);
                }
            }
        }
        paths
    }

    fn to(&self, mut ix: Ix) -> Vec<Ix> {
        let mut path = Vec::new();
        while ix != NONE {
            path.push(ix);
            ix = self.before[ix as usize];
        }
        path.reverse();
        path
    }
}

/// The elements of a shortest way from an element back to it, without the first.
fn round<'l>(first: Ix, of: impl Fn(Ix) -> &'l [Ix], inside: &impl Fn(Ix) -> bool) -> Vec<Ix> {
    let mut before = std::collections::HashMap::new();
    let mut open = vec![first];
    let mut at = 0;
    while at < open.len() && !before.contains_key(&first) {
        let ix = open[at];
        at += 1;
        for &next in of(ix) {
            if inside(next) && !before.contains_key(&next) {
                before.insert(next, ix);
                open.push(next);
            }
        }
    }
    let mut way = vec![first];
    let mut ix = before.get(&first).copied().unwrap_or(first);
    while ix != first && way.len() <= before.len() {
        way.push(ix);
        ix = before.get(&ix).copied().unwrap_or(first);
    }
    way.reverse();
    way
}
