//! Ordering of nodes: a flow is taken apart into chains, each of which stands in one row; chains that branch off stand as
//! near as possible above or below the chain that they come from, with all that branches off them in turn.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::layers::Flow;

/// Nodes in one row.
#[derive(Debug, Default)]
struct Chain {
    nodes: Vec<usize>,
    /// Chain that this one branches off, within the same band.
    parent: Option<usize>,
    /// Columns that the chain keeps clear in its row, those of its branch and join included.
    from: usize,
    to: usize,
    /// Whether it branches off a boundary event, so that it stands below.
    below: bool,
    children: Vec<usize>,
    /// Columns of the chain with all that branches off it.
    least: usize,
    most: usize,
}

/// Upper and lower outline of a chain with all that branches off it, by column from `Chain::least`.
#[derive(Debug)]
struct Outline {
    top: Vec<i32>,
    bottom: Vec<i32>,
}

/// Columns, heights and bands of the nodes, by which chains are placed.
#[derive(Debug)]
pub(super) struct Nodes<'a> {
    pub column: &'a [usize],
    pub height: &'a [usize],
    pub band: &'a [usize],
    /// Whether a flow may reach the node from above and below.
    pub gateway: &'a [bool],
}

/// The row of each node within its band, and the number of rows by band.
pub(super) fn rows(flow: &Flow, nodes: &Nodes<'_>, bands: usize) -> (Vec<usize>, Vec<usize>) {
    let mut chains = chains(flow, nodes);
    for index in (0..chains.len()).rev() {
        let (least, most) = (chains[index].least, chains[index].most);
        if let Some(parent) = chains[index].parent {
            chains[parent].children.push(index);
            chains[parent].least = chains[parent].least.min(least);
            chains[parent].most = chains[parent].most.max(most);
        }
    }
    let mut offset = vec![0; chains.len()];
    let mut outlines: Vec<Option<Outline>> = (0..chains.len()).map(|_| None).collect();
    for index in (0..chains.len()).rev() {
        outlines[index] = Some(pack(&chains, index, &mut outlines, &mut offset));
    }
    let columns = chains.iter().map(|chain| chain.most + 1).max().unwrap_or(0);
    let mut row = vec![0_i32; flow.next.len()];
    let mut counts = vec![0; bands];
    let mut roots: Vec<Vec<usize>> = vec![Vec::new(); bands];
    for (index, chain) in chains.iter().enumerate().filter(|(_, chain)| chain.parent.is_none()) {
        roots[nodes.band[chain.nodes[0]]].push(index);
    }
    for (band, roots) in roots.into_iter().enumerate() {
        let mut bottom = vec![i32::MIN; columns];
        let mut least = i32::MAX;
        for &root in &roots {
            let Some(own) = &outlines[root] else { continue };
            let start = chains[root].least;
            let lower = (0..own.top.len()).filter(|&at| own.top[at] != i32::MAX);
            let needed = lower
                .clone()
                .filter(|&at| bottom[start + at] != i32::MIN)
                .map(|at| bottom[start + at] + 1 - own.top[at])
                .max();
            offset[root] = needed.unwrap_or(0).max(0);
            for at in lower {
                bottom[start + at] = bottom[start + at].max(own.bottom[at] + offset[root]);
                least = least.min(own.top[at] + offset[root]);
            }
        }
        let least = if least == i32::MAX { 0 } else { least };
        roots.iter().for_each(|&root| offset[root] -= least);
        let most = bottom.iter().copied().filter(|&row| row != i32::MIN).max();
        counts[band] = most.map_or(0, |most| (most - least + 1).max(0) as usize);
    }
    for index in 0..chains.len() {
        if let Some(parent) = chains[index].parent {
            offset[index] += offset[parent];
        }
        chains[index].nodes.iter().for_each(|&node| row[node] = offset[index]);
    }
    (row.into_iter().map(|row| row.max(0) as usize).collect(), counts)
}

fn chains(flow: &Flow, nodes: &Nodes<'_>) -> Vec<Chain> {
    let count = flow.next.len();
    let mut starts: Vec<usize> = (0..count).collect();
    starts.sort_by_key(|&node| (nodes.column[node], usize::MAX - nodes.height[node], node));
    let mut of: Vec<Option<usize>> = vec![None; count];
    let mut chains: Vec<Chain> = Vec::new();
    for start in starts {
        if of[start].is_some() {
            continue;
        }
        let index = chains.len();
        let mut chain = Chain { nodes: vec![start], ..Chain::default() };
        of[start] = Some(index);
        let mut last = start;
        loop {
            let free = flow.next[last].iter().filter(|&&(to, boundary)| {
                of[to].is_none() && !boundary && nodes.band[to] == nodes.band[start]
            });
            let Some(&(to, _)) = free.max_by_key(|&&(to, _)| (nodes.height[to], std::cmp::Reverse(to)))
            else {
                break;
            };
            of[to] = Some(index);
            chain.nodes.push(to);
            last = to;
        }
        let before = flow.previous[start].iter().filter(|&&(from, _)| of[from].is_some_and(|of| of < index));
        let before = before.max_by_key(|&&(from, _)| {
            (nodes.band[from] == nodes.band[start], nodes.column[from], std::cmp::Reverse(from))
        });
        (chain.from, chain.to) = (nodes.column[start], nodes.column[last]);
        if let Some(&(from, boundary)) = before {
            let upright = nodes.gateway[from] || boundary;
            if nodes.band[from] == nodes.band[start] {
                chain.parent = of[from];
                chain.below = boundary;
                chain.from = nodes.column[from] + usize::from(!upright);
            } else {
                chain.from = nodes.column[from] + 1;
            }
        }
        let join = flow.next[last].iter().map(|&(to, _)| to).min_by_key(|&to| nodes.column[to]);
        if let Some(join) = join {
            chain.to = chain.to.max(nodes.column[join] - usize::from(!nodes.gateway[join]));
        }
        (chain.least, chain.most) = (chain.from, chain.to);
        chains.push(chain);
    }
    chains
}

/// Puts the children of a chain above and below it: inner branches first, so that outer ones go around them.
fn pack(chains: &[Chain], index: usize, outlines: &mut [Option<Outline>], offset: &mut [i32]) -> Outline {
    let chain = &chains[index];
    let size = chain.most - chain.least + 1;
    let mut own = Outline { top: vec![i32::MAX; size], bottom: vec![i32::MIN; size] };
    for at in chain.from..=chain.to {
        own.top[at - chain.least] = 0;
        own.bottom[at - chain.least] = 0;
    }
    let mut children = chain.children.clone();
    children.sort_by_key(|&child| (usize::MAX - chains[child].from, chains[child].to, child));
    let mut above_next = false;
    for child in children {
        let Some(other) = outlines[child].take() else { continue };
        let start = chains[child].least - chain.least;
        let (mut down, mut up) = (1, -1);
        for at in 0..other.top.len() {
            if other.top[at] == i32::MAX || own.top[start + at] == i32::MAX {
                continue;
            }
            down = down.max(own.bottom[start + at] + 1 - other.top[at]);
            up = up.min(own.top[start + at] - 1 - other.bottom[at]);
        }
        let above = !chains[child].below && (-up < down || (-up == down && above_next));
        above_next = !above;
        let by = if above { up } else { down };
        offset[child] = by;
        for at in (0..other.top.len()).filter(|&at| other.top[at] != i32::MAX) {
            own.top[start + at] = own.top[start + at].min(other.top[at] + by);
            own.bottom[start + at] = own.bottom[start + at].max(other.bottom[at] + by);
        }
    }
    own
}
