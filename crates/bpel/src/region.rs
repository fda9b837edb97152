//! The smallest regions with one entry and one exit in what plain folding leaves over.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::graph::{END, Graph, Kind, START};
use super::links;
use super::structure::Folder;
use std::collections::{HashMap, HashSet, VecDeque};

/// Steps spent on one graph in looking for regions.
const MAX_STEPS: usize = 3_000_000;

#[derive(Debug, Default)]
pub(super) struct Regions {
    steps: usize,
}

impl Regions {
    /// Folds what can be folded; whether there was anything.
    pub(crate) fn fold(&mut self, folder: &mut Folder) -> bool {
        let order = postorder(&folder.graph, START, true);
        self.steps += order.len();
        let closing = post_dominators(&folder.graph);
        let mut found = false;
        for node in order {
            if self.steps > MAX_STEPS {
                return false;
            }
            let of = folder.graph.of(node);
            let Some(exit) = closing.get(&node).copied() else { continue };
            if !of.alive || !matches!(of.kind, Kind::Split(_)) || of.incoming.len() != 1 {
                continue;
            }
            if exit == node || !folder.graph.of(exit).alive {
                continue;
            }
            if let Some(region) = self.region(&folder.graph, node, exit) {
                links::fold(folder, node, &region, exit);
                folder.drain();
                found = true;
            }
        }
        found
    }

    /// The nodes from the entry to the exit in topological order, when they are acyclic and no edge leads in
    /// but at the entry.
    fn region(&mut self, graph: &Graph, entry: u32, exit: u32) -> Option<Vec<u32>> {
        let mut inside = HashSet::from([entry]);
        let mut next = vec![entry];
        while let Some(node) = next.pop() {
            for edge in &graph.of(node).outgoing {
                self.steps += 1;
                let to = graph.edges[*edge as usize].to;
                if to == exit {
                    continue;
                }
                if to == entry || to == END || self.steps > MAX_STEPS {
                    return None;
                }
                if inside.insert(to) {
                    next.push(to);
                }
            }
        }
        let mut open: HashMap<u32, usize> = HashMap::new();
        for node in inside.iter().filter(|node| **node != entry) {
            let incoming = &graph.of(*node).incoming;
            if incoming.iter().any(|edge| !inside.contains(&graph.edges[*edge as usize].from)) {
                return None;
            }
            open.insert(*node, incoming.len());
        }
        let mut order = vec![entry];
        let mut at = 0;
        while at < order.len() {
            for edge in graph.branches(order[at]) {
                let to = graph.edges[edge as usize].to;
                if let Some(count) = open.get_mut(&to) {
                    *count -= 1;
                    if *count == 0 {
                        order.push(to);
                    }
                }
            }
            at += 1;
        }
        (order.len() == inside.len()).then_some(order)
    }
}

fn next(graph: &Graph, node: u32, forward: bool, at: usize) -> Option<u32> {
    let of = graph.of(node);
    let edge = if forward { of.outgoing.get(at) } else { of.incoming.get(at) };
    edge.map(|edge| {
        let edge = &graph.edges[*edge as usize];
        if forward { edge.to } else { edge.from }
    })
}

/// The nodes that can be reached, each after the ones that it leads to.
fn postorder(graph: &Graph, from: u32, forward: bool) -> Vec<u32> {
    let mut seen = HashSet::from([from]);
    let mut stack = vec![(from, 0)];
    let mut order = Vec::new();
    while let Some((node, at)) = stack.last_mut() {
        match next(graph, *node, forward, *at) {
            None => {
                order.push(*node);
                stack.pop();
            }
            Some(to) => {
                *at += 1;
                if seen.insert(to) {
                    stack.push((to, 0));
                }
            }
        }
    }
    order
}

/// The nearest node through which every way to the end leads, for each node that has a way to the end.
fn post_dominators(graph: &Graph) -> HashMap<u32, u32> {
    let order = postorder(graph, END, false);
    let number: HashMap<u32, usize> = order.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let last = order.len() - 1;
    let mut nearest: Vec<Option<usize>> = vec![None; order.len()];
    nearest[last] = Some(last);
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..last).rev() {
            let mut found: Option<usize> = None;
            for edge in &graph.of(order[at]).outgoing {
                let Some(&to) = number.get(&graph.edges[*edge as usize].to) else { continue };
                if nearest[to].is_none() {
                    continue;
                }
                found = Some(match found {
                    None => to,
                    Some(other) => meet(&nearest, to, other),
                });
            }
            if nearest[at] != found {
                nearest[at] = found;
                changed = true;
            }
        }
    }
    let named = |at: usize| nearest[at].map(|to| (order[at], order[to]));
    (0..last).filter_map(named).collect()
}

fn meet(nearest: &[Option<usize>], mut left: usize, mut right: usize) -> usize {
    while left != right {
        while left < right {
            left = nearest[left].unwrap_or(nearest.len() - 1);
        }
        while right < left {
            right = nearest[right].unwrap_or(nearest.len() - 1);
        }
    }
    left
}

/// Refuses what is left: each cycle, else everything.
pub(super) fn refuse_the_rest(folder: &mut Folder) {
    let graph = &folder.graph;
    let mut refusals: Vec<(VecDeque<u32>, &'static str, &'static str)> = Vec::new();
    let after: HashSet<u32> = postorder(graph, START, true).into_iter().collect();
    let before: HashSet<u32> = postorder(graph, END, false).into_iter().collect();
    let alive: Vec<u32> =
        (2..super::graph::place(graph.nodes.len())).filter(|at| graph.of(*at).alive).collect();
    let unreachable: HashSet<u32> = alive.iter().copied().filter(|at| !after.contains(at)).collect();
    let endless: HashSet<u32> =
        alive.iter().copied().filter(|at| after.contains(at) && !before.contains(at)).collect();
    if !unreachable.is_empty() {
        refusals.push((elements(graph, &unreachable), "unreachable", "no start leads here"));
    }
    if !endless.is_empty() {
        refusals.push((elements(graph, &endless), "endlessCycle", "the cycle has no way out to an end"));
    }
    for cycle in cycles(graph, &alive) {
        if cycle.iter().any(|at| unreachable.contains(at) || endless.contains(at)) {
            continue;
        }
        let parallel = cycle.iter().any(|at| {
            matches!(
                graph.of(*at).kind,
                Kind::Split(super::graph::Split::Parallel | super::graph::Split::Inclusive)
                    | Kind::Join(super::graph::Join::Parallel | super::graph::Join::Inclusive)
            )
        });
        let (code, message) = if parallel {
            (
                "parallelCycle",
                "a cycle leads through a parallel or inclusive gateway; links of WS-BPEL must not form cycles",
            )
        } else {
            (
                "unstructuredCycle",
                "the cycle has several entries, or ways out at several places, so that no loop of WS-BPEL says the same",
            )
        };
        refusals.push((elements(graph, &cycle), code, message));
    }
    if refusals.is_empty() {
        let all = alive.into_iter().collect();
        let message = "the region has no single entry and exit, or is too large to be taken apart";
        refusals.push((elements(graph, &all), "unstructured", message));
    }
    for (elements, code, message) in refusals {
        folder.context.refuse(elements, code, message);
    }
}

/// The elements of the nodes and of the edges among them.
fn elements(graph: &Graph, nodes: &HashSet<u32>) -> VecDeque<u32> {
    let mut sorted: Vec<u32> = nodes.iter().copied().collect();
    sorted.sort_unstable();
    let mut found = VecDeque::new();
    for node in sorted {
        let of = graph.of(node);
        found.extend(of.element);
        for edge in &of.outgoing {
            let edge = &graph.edges[*edge as usize];
            if nodes.contains(&edge.to) {
                found.extend(&edge.elements);
            }
        }
    }
    found
}

/// The strongly connected parts with more than one node, or with an edge to themselves (Kosaraju).
fn cycles(graph: &Graph, alive: &[u32]) -> Vec<HashSet<u32>> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for node in alive.iter().filter(|node| graph.of(**node).alive) {
        if !seen.contains(node) {
            collect(graph, *node, true, &mut seen, &mut order);
        }
    }
    let mut assigned = HashSet::from([START]);
    let mut found = Vec::new();
    for node in order.into_iter().rev() {
        if assigned.contains(&node) {
            continue;
        }
        let mut part = Vec::new();
        collect(graph, node, false, &mut assigned, &mut part);
        let own = graph.count_between(node, node) > 0;
        if part.len() > 1 || own {
            found.push(part.into_iter().collect());
        }
    }
    found
}

fn collect(graph: &Graph, from: u32, forward: bool, seen: &mut HashSet<u32>, order: &mut Vec<u32>) {
    seen.insert(from);
    let mut stack = vec![(from, 0)];
    while let Some((node, at)) = stack.last_mut() {
        match next(graph, *node, forward, *at) {
            None => {
                order.push(*node);
                stack.pop();
            }
            Some(to) => {
                *at += 1;
                if seen.insert(to) {
                    stack.push((to, 0));
                }
            }
        }
    }
}
