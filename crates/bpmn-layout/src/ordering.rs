//! Ordering within the layers: the grid of a scope, which column and row each item stands in.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::chains::{self, Nodes};
use super::graph::{EdgeKind, End, Kind, Scope};
use super::layers::Flow;
use super::{MOST_EDGES, MOST_ITEMS};
use std::collections::HashSet;

/// Columns and rows of a scope.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub columns: usize,
    /// Band of each row.
    pub rows: Vec<usize>,
}

/// Rows of one band while they are collected; items by row in the end.
#[derive(Debug, Default)]
struct Band {
    /// Main rows, each with the rows for satellites above and below it.
    rows: Vec<Row>,
    /// Rows for items without flows.
    rest: Vec<Vec<usize>>,
}

#[derive(Debug, Default)]
struct Row {
    main: Vec<usize>,
    above: Vec<Extra>,
    below: Vec<Extra>,
}

#[derive(Debug, Default)]
struct Extra {
    items: Vec<usize>,
    taken: HashSet<usize>,
}

/// Narrowest gap between two columns.
pub(super) const COLUMN_GAP: i32 = 50;

/// Assigns columns and rows to all items.
pub(super) fn assign(scope: &mut Scope<'_>, kinds: &[EdgeKind]) -> Grid {
    if scope.pools {
        for (row, item) in scope.items.iter_mut().enumerate() {
            item.row = row;
        }
        return Grid { columns: 1, rows: vec![0; scope.items.len()] };
    }
    if scope.items.len() > MOST_ITEMS || scope.parts.len() > MOST_EDGES {
        return square(scope);
    }
    let (members, edges) = flow_edges(scope, kinds);
    let flow = Flow::acyclic(members.len(), &edges);
    let order = flow.order();
    let column = flow.columns(&order);
    let height = flow.heights(&order);
    let band: Vec<usize> = members.iter().map(|&item| scope.items[item].band).collect();
    let gateway: Vec<bool> = members.iter().map(|&item| scope.items[item].kind == Kind::Gateway).collect();
    let nodes = Nodes { column: &column, height: &height, band: &band, gateway: &gateway };
    let (row, counts) = chains::rows(&flow, &nodes, scope.bands);
    let mut bands: Vec<Band> = counts
        .iter()
        .map(|&count| Band { rows: (0..count).map(|_| Row::default()).collect(), rest: Vec::new() })
        .collect();
    for (node, &item) in members.iter().enumerate() {
        scope.items[item].column = column[node];
        bands[band[node]].rows[row[node]].main.push(item);
    }
    let columns = column.iter().map(|column| column + 1).max().unwrap_or(0);
    let mut placed = vec![None; scope.items.len()];
    for (node, &item) in members.iter().enumerate() {
        placed[item] = Some(row[node]);
    }
    satellites(scope, &mut bands, &mut placed, columns);
    let columns = rest(scope, &mut bands, &placed, columns);
    Grid { columns, rows: number(scope, bands) }
}

/// All items in document order, each band in as many columns.
fn square(scope: &mut Scope<'_>) -> Grid {
    let columns = scope.items.len().isqrt() + 1;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); scope.bands];
    for (index, item) in scope.items.iter().enumerate() {
        members[item.band].push(index);
    }
    let mut rows = Vec::new();
    for (band, members) in members.into_iter().enumerate() {
        let first = rows.len();
        for (number, index) in members.iter().enumerate() {
            scope.items[*index].column = number % columns;
            scope.items[*index].row = first + number / columns;
        }
        rows.extend(std::iter::repeat_n(band, members.len().div_ceil(columns).max(1)));
    }
    Grid { columns, rows }
}

/// Items with sequence flows, and these flows between them.
fn flow_edges(scope: &Scope<'_>, kinds: &[EdgeKind]) -> (Vec<usize>, Vec<(usize, usize, bool)>) {
    let mut index = vec![None; scope.items.len()];
    let mut found = Vec::new();
    for part in scope.parts.iter().filter(|part| kinds[part.edge] == EdgeKind::Sequence) {
        if let (End::Node { item: from, boundary, .. }, End::Node { item: to, .. }) = (part.from, part.to) {
            found.push((from, to, boundary.is_some()));
            index[from] = Some(0);
            index[to] = Some(0);
        }
    }
    let members: Vec<usize> = (0..index.len()).filter(|&item| index[item].is_some()).collect();
    for (node, &item) in members.iter().enumerate() {
        index[item] = Some(node);
    }
    let node = |item: usize| index[item].unwrap_or_default();
    let edges = found.into_iter().map(|(from, to, boundary)| (node(from), node(to), boundary)).collect();
    (members, edges)
}

/// Puts what is associated with one placed item near it: data, annotations, compensation handlers.
fn satellites(scope: &mut Scope<'_>, bands: &mut [Band], placed: &mut [Option<usize>], columns: usize) {
    let mut host: Vec<Option<(usize, bool)>> = vec![None; scope.items.len()];
    for part in &scope.parts {
        let (Some(from), Some(to)) = (part.from.item(), part.to.item()) else { continue };
        let boundary = matches!(part.from, End::Node { boundary: Some(_), .. });
        for (own, other) in [(from, to), (to, from)] {
            let fits = own != other && placed[own].is_none() && placed[other].is_some();
            if fits && host[own].is_none() {
                host[own] = Some((other, boundary));
            }
        }
    }
    // Branches leave gateways upwards and downwards.
    let mut busy: HashSet<(usize, usize, usize)> = HashSet::new();
    for (item, row) in scope.items.iter().zip(placed.iter()) {
        if let (Kind::Gateway, Some(row)) = (item.kind, row) {
            busy.insert((item.band, *row, item.column));
        }
    }
    for (own, host) in host.iter().enumerate() {
        let Some((other, boundary)) = *host else { continue };
        let Some(row) = placed[other] else { continue };
        if scope.items[own].kind == Kind::Group {
            continue;
        }
        let data = scope.items[own].kind == Kind::Data && scope.items[other].boundary.is_empty();
        let below = data || boundary || matches!(scope.items[own].kind, Kind::Activity | Kind::Container(_));
        let band = scope.items[other].band;
        let centre = scope.items[other].column;
        let free = |column: &usize| !busy.contains(&(band, row, *column));
        let row = &mut bands[band].rows[row];
        let sides = if below { [&mut row.below, &mut row.above] } else { [&mut row.above, &mut row.below] };
        let near = [Some(centre), centre.checked_add(1).filter(|&at| at < columns), centre.checked_sub(1)];
        let column = seat(sides, near.into_iter().flatten().filter(free), centre, own);
        scope.items[own].column = column;
        scope.items[own].band = band;
    }
    for (own, host) in host.iter().enumerate() {
        if scope.items[own].kind != Kind::Group
            && let Some((other, _)) = host
        {
            placed[own] = placed[*other];
        }
    }
}

/// A free seat in the rows next to the main row, or one in a new row.
fn seat(
    sides: [&mut Vec<Extra>; 2],
    near: impl Iterator<Item = usize> + Clone,
    centre: usize,
    own: usize,
) -> usize {
    let [first, second] = sides;
    if first.is_empty() {
        first.push(Extra::default());
    }
    for rows in [&mut *first, second] {
        let Some(row) = rows.last_mut() else { continue };
        if let Some(column) = near.clone().find(|column| !row.taken.contains(column)) {
            row.taken.insert(column);
            row.items.push(own);
            return column;
        }
    }
    first.push(Extra { items: vec![own], taken: HashSet::from([centre]) });
    centre
}

/// Puts items without any flow below the flow of their band, side by side.
fn rest(scope: &mut Scope<'_>, bands: &mut [Band], placed: &[Option<usize>], columns: usize) -> usize {
    let left: Vec<usize> = (0..scope.items.len()).filter(|&item| placed[item].is_none()).collect();
    if left.is_empty() {
        return columns.max(1);
    }
    // Without any flow the items form a square of their own.
    let side = (1..).find(|side| side * side >= left.len()).unwrap_or(1);
    let columns = columns.max(usize::min(left.len(), side));
    let mut widths = vec![0; columns];
    for (item, row) in scope.items.iter().zip(placed) {
        if row.is_some() {
            widths[item.column] = i32::max(widths[item.column], item.width);
        }
    }
    let mut ends = vec![columns; bands.len()];
    let mut order = left;
    order.sort_by_key(|&item| (matches!(scope.items[item].kind, Kind::Container(_)), item));
    for own in order {
        let item = &mut scope.items[own];
        let band = &mut bands[item.band];
        let start = if ends[item.band] >= columns { 0 } else { ends[item.band] };
        let (start, span) = match span(&widths, start, item.width) {
            Some(span) => (start, span),
            None => (0, span(&widths, 0, item.width).unwrap_or(columns)),
        };
        if start == 0 {
            band.rest.push(Vec::new());
        }
        if let Some(row) = band.rest.last_mut() {
            row.push(own);
        }
        (item.column, item.span) = (start, span);
        if span == 1 {
            widths[start] = widths[start].max(item.width);
        } else if start + span == columns {
            let inner: i32 = widths[start..].iter().sum::<i32>() + COLUMN_GAP * (span as i32 - 1);
            widths[columns - 1] += i32::max(item.width - inner, 0);
        }
        ends[item.band] = start + span;
    }
    columns
}

/// Number of columns from `start` that an item takes; none where it does not fit beside the ones before.
fn span(widths: &[i32], start: usize, width: i32) -> Option<usize> {
    let mut sum = -COLUMN_GAP;
    for (at, own) in widths.iter().enumerate().skip(start) {
        sum += own + COLUMN_GAP;
        // A column that nothing stands in yet becomes as wide as needed.
        if sum >= width || (at == start && *own == 0) {
            return Some(at + 1 - start);
        }
    }
    None
}

/// Numbers the rows of all bands from above; each band has one at least.
fn number(scope: &mut Scope<'_>, bands: Vec<Band>) -> Vec<usize> {
    let mut rows = Vec::new();
    for (band, content) in bands.into_iter().enumerate() {
        let before = rows.len();
        for row in content.rows {
            let extras = |extras: Vec<Extra>| extras.into_iter().map(|extra| extra.items);
            let lists = extras(row.above).rev().chain([row.main]).chain(extras(row.below));
            for items in lists {
                items.into_iter().for_each(|item| scope.items[item].row = rows.len());
                rows.push(band);
            }
        }
        for items in content.rest {
            items.into_iter().for_each(|item| scope.items[item].row = rows.len());
            rows.push(band);
        }
        if rows.len() == before {
            rows.push(band);
        }
    }
    rows
}
