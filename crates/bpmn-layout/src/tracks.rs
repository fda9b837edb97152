//! Tracks: within a gap each group of stretches gets a line of its own wherever it lies beside another.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::graph::{End, Scope, Side};
use super::ordering::Grid;
use super::route::{Dock, Line, Route};
use std::collections::HashMap;

/// A stretch of a gap that an edge takes. Even positions are gaps of the other direction, odd ones cells.
#[derive(Debug, Clone)]
struct Stretch {
    low: i64,
    high: i64,
    /// Position of the line before and after, and whether that line leads away to the side of lower numbers.
    ends: [(i64, bool); 2],
    /// Stretches of one group may lie on one another: they have the same source or the same target.
    group: (bool, usize),
}

/// Tracks by gap.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    /// Number of tracks in each gap between columns, and between rows.
    pub columns: Vec<usize>,
    pub rows: Vec<usize>,
}

/// Gives each line in a gap its track.
pub(super) fn assign(scope: &Scope<'_>, grid: &Grid, routes: &mut [Route]) -> Tracks {
    let mut columns: Vec<Vec<(Stretch, usize, usize)>> = vec![Vec::new(); grid.columns + 1];
    let mut rows: Vec<Vec<(Stretch, usize, usize)>> = vec![Vec::new(); grid.rows.len() + 1];
    for (index, route) in routes.iter().enumerate() {
        for (at, line) in route.lines.iter().enumerate() {
            match *line {
                Line::Column { gap, .. } => {
                    columns[gap].push((stretch(scope, grid, route, at, index), index, at));
                }
                Line::Between { gap, .. } => {
                    rows[gap].push((stretch(scope, grid, route, at, index), index, at));
                }
                Line::Row(_) | Line::Port { .. } => {}
            }
        }
    }
    let cells = (2 * grid.columns + 3, 2 * grid.rows.len() + 3);
    Tracks {
        columns: columns.iter().map(|list| pack(list, cells.1, routes)).collect(),
        rows: rows.iter().map(|list| pack(list, cells.0, routes)).collect(),
    }
}

/// Position of a line on the axis that it stands upright on: cells have odd numbers, gaps even ones.
fn position(scope: &Scope<'_>, line: Line) -> i64 {
    match line {
        Line::Row(row) => 2 * row as i64 + 1,
        Line::Port { item, .. } => 2 * scope.items[item].column as i64 + 1,
        Line::Column { gap, .. } | Line::Between { gap, .. } => 2 * gap as i64,
    }
}

fn stretch(scope: &Scope<'_>, grid: &Grid, route: &Route, at: usize, index: usize) -> Stretch {
    let own = position(scope, route.lines[at]);
    let border = |side: Side| if side == Side::Top { -1 } else { 2 * grid.rows.len() as i64 + 1 };
    // The line before or after, with the place that it leads on to along this line's cross axis.
    let neighbour = |step: i64, dock: Dock| {
        let next = at as i64 + step;
        let Some(&line) = usize::try_from(next).ok().and_then(|next| route.lines.get(next)) else {
            return (border(dock.side), false);
        };
        let beyond = usize::try_from(next + step).ok().and_then(|next| route.lines.get(next));
        let beyond = match (beyond, dock.end.item(), line) {
            (Some(&line), ..) => position(scope, line),
            (None, Some(item), Line::Row(_)) => 2 * scope.items[item].column as i64 + 1,
            (None, Some(item), _) => 2 * scope.items[item].row as i64 + 1,
            (None, None, _) => border(dock.side),
        };
        (position(scope, line), beyond < own)
    };
    let ends = [neighbour(-1, route.start), neighbour(1, route.end)];
    let (low, high) = (ends[0].0.min(ends[1].0), ends[0].0.max(ends[1].0));
    // Edges merge on their route into the side of a common target.
    let last = at + 2 >= route.lines.len();
    let group = match route.end {
        Dock { end: End::Node { item, boundary: None, port: None }, side: Side::Left } if last => {
            (true, item)
        }
        _ => (false, index),
    };
    Stretch { low, high, ends, group }
}

/// Stretches that lie on one track.
#[derive(Debug)]
struct Group {
    low: i64,
    high: i64,
    ends: Vec<(i64, bool)>,
    members: Vec<(usize, usize)>,
    key: (i64, i64),
}

fn groups(list: &[(Stretch, usize, usize)]) -> Vec<Group> {
    let mut index: HashMap<(bool, usize), usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (stretch, route, line) in list {
        let at = *index.entry(stretch.group).or_insert_with(|| {
            groups.push(Group {
                low: i64::MAX,
                high: i64::MIN,
                ends: Vec::new(),
                members: Vec::new(),
                key: (0, 0),
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.low = group.low.min(stretch.low);
        group.high = group.high.max(stretch.high);
        group.ends.extend(stretch.ends);
        group.members.push((*route, *line));
    }
    for group in &mut groups {
        // A line that comes from the side of lower numbers and leads up goes before one that starts below it.
        let lower = group.ends.iter().filter(|(_, lower)| *lower).map(|(at, _)| *at);
        let upper = group.ends.iter().filter(|(_, lower)| !*lower).map(|(at, _)| *at);
        let (from, to) = (lower.clone().min(), upper.max());
        group.key = match (from, to) {
            (Some(from), Some(to)) if to < from => (1, from),
            (Some(_), Some(_)) => (1, -lower.max().unwrap_or(0)),
            (Some(_), None) => (0, group.high - group.low),
            (None, _) => (2, group.low - group.high),
        };
    }
    groups
}

/// Packs the stretches of one gap and says how many tracks they take.
fn pack(list: &[(Stretch, usize, usize)], cells: usize, routes: &mut [Route]) -> usize {
    let mut groups = groups(list);
    groups.sort_by_key(|group| (group.key, group.low, group.members[0]));
    let order = constrained(&groups);
    let mut filled = vec![0_usize; cells];
    let mut most = 0;
    for index in order {
        let group = &groups[index];
        let low = usize::try_from(group.low + 1).unwrap_or(0);
        let high = usize::try_from(group.high + 1).unwrap_or(0).min(cells - 1);
        let track = filled[low..=high].iter().copied().max().unwrap_or(0);
        filled[low..=high].iter_mut().for_each(|cell| *cell = track + 1);
        most = most.max(track + 1);
        for &(route, line) in &group.members {
            match &mut routes[route].lines[line] {
                Line::Column { track: own, .. } | Line::Between { track: own, .. } => *own = track,
                Line::Row(_) | Line::Port { .. } => {}
            }
        }
    }
    most
}

/// An order in which, at each position, what leads to lower numbers goes before what leads to higher ones,
/// so that ends at one position do not lie on one another; a cycle of such wishes is cut at its first group.
fn constrained(groups: &[Group]) -> Vec<usize> {
    let mut lower: HashMap<i64, Vec<usize>> = HashMap::new();
    for (index, group) in groups.iter().enumerate() {
        for &(at, leads_lower) in &group.ends {
            if leads_lower && at % 2 != 0 {
                lower.entry(at).or_default().push(index);
            }
        }
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    for (index, group) in groups.iter().enumerate() {
        for &(at, leads_lower) in &group.ends {
            if !leads_lower && at % 2 != 0 {
                let others = lower.get(&at).map(Vec::as_slice).unwrap_or_default();
                before[index].extend(others.iter().filter(|&&other| other != index).take(16));
            }
        }
    }
    let mut order = Vec::with_capacity(groups.len());
    let mut seen = vec![false; groups.len()];
    for root in 0..groups.len() {
        let mut stack = vec![(root, 0)];
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((node, at)) = stack.last_mut() {
            let node = *node;
            match before[node].get(*at) {
                Some(&next) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[next], true) {
                        stack.push((next, 0));
                    }
                }
                None => {
                    order.push(node);
                    stack.pop();
                }
            }
        }
    }
    order
}
