//! Layer assignment, a column for each node: flows that close a cycle are turned back, then each node stands right of its predecessors.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

/// A directed graph by adjacency; nodes are numbers from 0.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Successors, with whether the flow comes out of a boundary event.
    pub next: Vec<Vec<(usize, bool)>>,
    pub previous: Vec<Vec<(usize, bool)>>,
}

impl Flow {
    /// A graph without the edges that close a cycle.
    pub(super) fn acyclic(count: usize, edges: &[(usize, usize, bool)]) -> Self {
        let mut out: Vec<Vec<(usize, bool)>> = vec![Vec::new(); count];
        let mut entered = vec![false; count];
        for &(from, to, boundary) in edges {
            out[from].push((to, boundary));
            entered[to] |= from != to;
        }
        let mut flow = Self { next: vec![Vec::new(); count], previous: vec![Vec::new(); count] };
        let mut state = vec![State::New; count];
        let sources = (0..count).filter(|&node| !entered[node]).chain(0..count);
        for root in sources {
            if state[root] == State::New {
                flow.search(root, &out, &mut state);
            }
        }
        flow
    }

    fn search(&mut self, root: usize, out: &[Vec<(usize, bool)>], state: &mut [State]) {
        let mut stack = vec![(root, 0)];
        state[root] = State::Open;
        while let Some((node, at)) = stack.last_mut() {
            let from = *node;
            let Some(&(to, boundary)) = out[from].get(*at) else {
                state[from] = State::Done;
                stack.pop();
                continue;
            };
            *at += 1;
            if state[to] == State::Open {
                continue;
            }
            self.next[from].push((to, boundary));
            self.previous[to].push((from, boundary));
            if state[to] == State::New {
                state[to] = State::Open;
                stack.push((to, 0));
            }
        }
    }

    /// Nodes, each after its predecessors.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.previous.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..missing.len()).filter(|&node| missing[node] == 0).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for &(to, _) in &self.next[node] {
                missing[to] -= 1;
                if missing[to] == 0 {
                    order.push(to);
                }
            }
        }
        order
    }

    /// The column of each node: the longest path from a source, and sources right before what they lead to.
    pub(super) fn columns(&self, order: &[usize]) -> Vec<usize> {
        let mut column = vec![0; self.next.len()];
        for &node in order {
            for &(to, _) in &self.next[node] {
                column[to] = usize::max(column[to], column[node] + 1);
            }
        }
        for &node in order.iter().rev() {
            let nearest = self.next[node].iter().map(|&(to, _)| column[to]).min();
            if let Some(nearest) = nearest.filter(|_| self.previous[node].len() < self.next[node].len())
                && self.previous[node].is_empty()
            {
                column[node] = nearest - 1;
            }
        }
        column
    }

    /// The longest path to a sink, in nodes.
    pub(super) fn heights(&self, order: &[usize]) -> Vec<usize> {
        let mut height = vec![1; self.next.len()];
        for &node in order.iter().rev() {
            let most = self.next[node].iter().map(|&(to, _)| height[to] + 1).max();
            height[node] = most.unwrap_or(1);
        }
        height
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}
