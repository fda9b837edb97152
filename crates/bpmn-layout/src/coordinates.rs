//! Coordinate assignment: widths of columns and gaps, places of items, lanes and the points of edges.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::graph::{EVENT, End, Item, Kind, Point, Scope, Side, TITLE};
use super::ordering::{COLUMN_GAP, Grid};
use super::route::{Dock, Line, Route};
use super::tracks::Tracks;

/// Distance between two tracks.
const TRACK: i32 = 10;
/// Least distance between a track and what lies above or left of the gap, and below or right of it.
const MARGIN: i32 = 20;
/// Least height of a gap between rows.
const ROW_GAP: i32 = 40;
/// Distance between a lane's border and the rows on both sides.
const LANE_MARGIN: i32 = 20;

/// Space around the grid of a scope: left, top, right, bottom.
fn frame(scope: &Scope<'_>, in_pool: bool) -> [i32; 4] {
    let titles = scope.lane_depth * TITLE;
    match (scope.owner, in_pool) {
        (Some(_), true) => [TITLE + titles + 20, 20, 20, 20],
        (Some(_), false) => [titles + 20, 40, 20, 20],
        (None, _) if scope.lanes.is_empty() => [0; 4],
        (None, _) => [titles + 20, 20, 20, 20],
    }
}

/// Starts and sizes of cells and gaps along one axis.
#[derive(Debug, Default)]
struct Axis {
    /// Start of each cell.
    cells: Vec<i32>,
    /// Start of the first track in each gap.
    tracks: Vec<i32>,
    end: i32,
}

impl Axis {
    /// Lays out cells and gaps in turn; `least` gives a gap's least size and the margin that it needs
    /// after its tracks.
    fn new(sizes: &[i32], tracks: &[usize], start: i32, least: impl Fn(usize) -> (i32, i32)) -> Self {
        let mut axis = Self { end: start, ..Self::default() };
        for (gap, &count) in tracks.iter().enumerate() {
            let wide = TRACK * i32::try_from(count).unwrap_or(i32::MAX / TRACK).saturating_sub(1).max(0);
            let (least, after) = least(gap);
            let first = gap == 0;
            let last = gap + 1 == tracks.len();
            if first || last {
                let size = if count == 0 { 0 } else { wide + MARGIN };
                axis.tracks.push(axis.end + if first { 0 } else { MARGIN });
                axis.end += size;
            } else {
                let size = i32::max(least, wide + MARGIN + after);
                let lead = i32::max(MARGIN, (size - wide - (after - MARGIN)) / 2);
                axis.tracks.push(axis.end + lead.min(size - wide - after));
                axis.end += size;
            }
            if let Some(size) = sizes.get(gap) {
                axis.cells.push(axis.end);
                axis.end += size;
            }
        }
        axis
    }
}

/// Height of a row above and below its centre line.
fn row_sizes(scope: &Scope<'_>, grid: &Grid) -> Vec<(i32, i32)> {
    let mut sizes = vec![(0, 0); grid.rows.len()];
    for item in &scope.items {
        let (up, mut down) = (item.height / 2, item.height - item.height / 2);
        if !item.boundary.is_empty() {
            down += EVENT / 2 + 20;
        }
        if matches!(item.kind, Kind::Event | Kind::Gateway | Kind::Data) && item.name.is_some() {
            down += 22;
        }
        let size = &mut sizes[item.row];
        *size = (size.0.max(up), size.1.max(down));
    }
    for (size, _) in sizes.iter_mut().zip(&grid.rows).filter(|(size, _)| **size == (0, 0)) {
        *size = (40, 40);
    }
    sizes
}

fn column_sizes(scope: &Scope<'_>, grid: &Grid) -> Vec<i32> {
    let mut sizes = vec![0; grid.columns];
    for item in scope.items.iter().filter(|item| item.span == 1) {
        sizes[item.column] = i32::max(sizes[item.column], item.width);
    }
    for item in scope.items.iter().filter(|item| item.span > 1) {
        let columns = &mut sizes[item.column..item.column + item.span];
        let sum: i32 = columns.iter().sum::<i32>() + COLUMN_GAP * (item.span as i32 - 1);
        if let Some(last) = columns.last_mut() {
            *last += i32::max(item.width - sum, 0);
        }
    }
    sizes
}

/// Places everything in a scope, and sets the scope's size.
pub(super) fn assign(
    scope: &mut Scope<'_>,
    grid: &Grid,
    tracks: &Tracks,
    routes: &[Route],
    named: &[bool],
    in_pool: bool,
) {
    let [left, top, right, bottom] = frame(scope, in_pool);
    let mut wide = vec![false; grid.columns + 1];
    for (part, route) in scope.parts.iter().zip(routes) {
        if named[part.edge]
            && let Dock { end: End::Node { item, .. }, side: Side::Right } = route.start
        {
            let item = &scope.items[item];
            wide[item.column + item.span] = true;
        }
    }
    let columns = Axis::new(&column_sizes(scope, grid), &tracks.columns, left, |gap| {
        (if wide[gap] { COLUMN_GAP + 30 } else { COLUMN_GAP }, MARGIN)
    });
    let rows = row_sizes(scope, grid);
    let heights: Vec<i32> = rows.iter().map(|(up, down)| up + down).collect();
    let pools = scope.pools;
    let lane_gap = |gap: usize| gap > 0 && grid.rows.get(gap) != grid.rows.get(gap - 1);
    let lines = Axis::new(&heights, &tracks.rows, top, |gap| {
        if lane_gap(gap) || pools { (60, MARGIN + LANE_MARGIN) } else { (ROW_GAP, MARGIN) }
    });
    scope.width = columns.end + right;
    scope.height = lines.end + bottom;
    let column_width = column_sizes(scope, grid);
    for item in &mut scope.items {
        let space = if item.span > 1 || pools { 0 } else { column_width[item.column] - item.width };
        item.x = columns.cells[item.column] + space / 2;
        item.y = lines.cells[item.row] + rows[item.row].0 - item.height / 2;
    }
    lanes(scope, grid, &lines, in_pool);
    let centre = |row: usize| lines.cells[row] + rows[row].0;
    let points: Vec<_> = routes.iter().map(|route| points(scope, route, &columns, &lines, &centre)).collect();
    for (part, points) in scope.parts.iter_mut().zip(points) {
        part.points = points;
    }
}

fn lanes(scope: &mut Scope<'_>, grid: &Grid, lines: &Axis, in_pool: bool) {
    let mut starts = vec![0; scope.bands + 1];
    starts[scope.bands] = scope.height;
    for (row, &band) in grid.rows.iter().enumerate().rev() {
        starts[band] = if row == 0 { 0 } else { lines.cells[row] - LANE_MARGIN };
    }
    let base = if in_pool { TITLE } else { 0 };
    for lane in &mut scope.lanes {
        let x = base + lane.depth * TITLE;
        let (y, end) = (starts[lane.first], starts[lane.last + 1]);
        lane.bounds = [x, y, scope.width - x, end - y];
    }
}

/// A straight line: the height of a horizontal one, or the distance of a vertical one from the left.
#[derive(Debug, Clone, Copy)]
enum Straight {
    Level(i32),
    Upright(i32),
}

impl Straight {
    const fn at(self) -> i32 {
        match self {
            Self::Level(at) | Self::Upright(at) => at,
        }
    }

    /// Point at which the next line of a route meets this one: lines are horizontal and vertical in turn.
    const fn crossing(self, next: Self) -> Point {
        match self {
            Self::Level(y) => Point { x: next.at(), y },
            Self::Upright(x) => Point { x, y: next.at() },
        }
    }
}

fn points(
    scope: &Scope<'_>,
    route: &Route,
    columns: &Axis,
    lines: &Axis,
    centre: &impl Fn(usize) -> i32,
) -> Vec<Point> {
    let value = |line: Line| match line {
        Line::Row(row) => Straight::Level(centre(row)),
        Line::Between { gap, track } => Straight::Level(lines.tracks[gap] + TRACK * track as i32),
        Line::Column { gap, track } => Straight::Upright(columns.tracks[gap] + TRACK * track as i32),
        Line::Port { item, at } => Straight::Upright(scope.items[item].x + at),
    };
    let values: Vec<Straight> = route.lines.iter().map(|&line| value(line)).collect();
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return Vec::new() };
    let mut points = vec![docked(scope, route.start, first)];
    for pair in values.windows(2) {
        points.push(pair[0].crossing(pair[1]));
    }
    points.push(docked(scope, route.end, last));
    points
}

/// The point at which the first or last line of a route meets its end.
fn docked(scope: &Scope<'_>, dock: Dock, line: Straight) -> Point {
    let Dock { end, side } = dock;
    let End::Node { item, boundary, .. } = end else {
        return Point { x: line.at(), y: if side == Side::Top { 0 } else { scope.height } };
    };
    let item: &Item<'_> = &scope.items[item];
    let below = if boundary.is_some() { EVENT / 2 } else { 0 };
    match (line, side) {
        (Straight::Level(y), Side::Left) => Point { x: item.x, y },
        (Straight::Level(y), _) => Point { x: item.x + item.width, y },
        (Straight::Upright(x), Side::Top) => Point { x, y: item.y },
        (Straight::Upright(x), _) => Point { x, y: item.y + item.height + below },
    }
}
