//! Routes of the edges through a scope's grid.
//!
//! Between two columns and between two rows there is a gap that no item stands in, so that an edge can always
//! leave its item into a gap and reach any other item through gaps alone; through cells it goes only where
//! these are empty. A route is a sequence of lines, horizontal and vertical in turn: centre lines of rows,
//! tracks in gaps, and the lines of ports at the upper and lower side of items.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::graph::{EdgeKind, End, Item, Kind, Part, Scope, Side};
use super::ordering::Grid;
use std::cell::Cell;
use std::collections::HashMap;

/// Ports of one side that are kept apart.
const MOST_PORTS: usize = 256;
/// Items that may cover gaps at which the search for a clear gap looks, over all edges of a scope.
const MOST_LOOKS: usize = 20_000_000;

/// A line that an edge follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Centre line of a row.
    Row(usize),
    /// Vertical line through an item, at a distance from its left side; within the item's column.
    Port { item: usize, at: i32 },
    /// A track in the gap left of a column.
    Column { gap: usize, track: usize },
    /// A track in the gap above a row.
    Between { gap: usize, track: usize },
}

/// Start or end of a route: a side of an item, or of the scope's border.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dock {
    pub end: End,
    pub side: Side,
}

/// A route: its lines, and where it starts and ends.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub lines: Vec<Line>,
    pub start: Dock,
    pub end: Dock,
}

impl Route {
    /// The route of a part of an edge that leaves its source and enters its target at these sides.
    const fn of(part: &Part, lines: Vec<Line>, out: Side, into: Side) -> Self {
        let (start, end) = (Dock { end: part.from, side: out }, Dock { end: part.to, side: into });
        Self { lines, start, end }
    }
}

/// The items at the ends of a route.
#[derive(Debug, Clone, Copy)]
struct Ends {
    source: usize,
    target: usize,
}

/// Cell of a grid with the ends of the route that passes it.
type Passed = HashMap<(usize, usize), Ends>;

/// Use of a port: its position on the side, and whether the edge goes out.
#[derive(Debug, Clone, Copy)]
struct Taken {
    at: i32,
    outgoing: bool,
}

/// Finds routes, one after the other.
#[derive(Debug)]
pub(super) struct Router<'s, 'a> {
    scope: &'s Scope<'a>,
    columns: usize,
    rows: usize,
    /// Columns that are not empty, by row, and rows by column.
    in_row: Vec<Vec<usize>>,
    in_column: Vec<Vec<usize>>,
    /// Rows where an item covers the gap.
    blocked: HashMap<usize, Vec<usize>>,
    across: Passed,
    along: HashMap<(usize, usize), Vec<i32>>,
    ports: HashMap<(usize, Side), Vec<Taken>>,
    /// Looks for clear gaps that are left; without any the nearest gap serves.
    looks: Cell<usize>,
}

/// Way from an end of an edge into the gaps.
#[derive(Debug, Clone, Copy)]
enum Access {
    /// Through the side into a gap between columns.
    Beside { gap: usize, row: usize },
    /// Through the top or bottom into a gap between rows.
    Across { gap: usize, item: usize, at: i32 },
}

impl<'s, 'a> Router<'s, 'a> {
    pub(super) fn new(scope: &'s Scope<'a>, grid: &Grid) -> Self {
        let rows = grid.rows.len();
        let mut in_row = vec![Vec::new(); rows];
        let mut in_column = vec![Vec::new(); grid.columns];
        let mut blocked: HashMap<usize, Vec<usize>> = HashMap::new();
        for item in &scope.items {
            let columns = item.column..item.column + item.span;
            in_column[columns.clone()].iter_mut().for_each(|rows| rows.push(item.row));
            for column in columns {
                in_row[item.row].push(column);
                if column > item.column {
                    blocked.entry(column).or_default().push(item.row);
                }
            }
        }
        in_row.iter_mut().for_each(|list| list.sort_unstable());
        in_column.iter_mut().for_each(|list| list.sort_unstable());
        let (across, along, ports) = (HashMap::new(), HashMap::new(), HashMap::new());
        let looks = Cell::new(MOST_LOOKS);
        Self { scope, columns: grid.columns, rows, in_row, in_column, blocked, across, along, ports, looks }
    }

    /// The routes of all parts of the scope, in their order.
    pub(super) fn routes(&mut self, kinds: &[EdgeKind]) -> Vec<Route> {
        let parts = &self.scope.parts;
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&part| (self.rank(&parts[part], kinds[parts[part].edge]), part));
        let mut routes: Vec<Option<Route>> = vec![None; parts.len()];
        for index in order {
            let route = self.route(&parts[index]);
            routes[index] = Some(route);
        }
        routes.into_iter().flatten().collect()
    }

    fn item(&self, index: usize) -> &'s Item<'a> {
        &self.scope.items[index]
    }

    /// Straight flows come first, then short ones, then those that lead back, then everything else.
    fn rank(&self, part: &Part, kind: EdgeKind) -> (usize, usize) {
        let (Some(from), Some(to)) = (part.from.item(), part.to.item()) else { return (5, 0) };
        let (from, to) = (self.item(from), self.item(to));
        let distance = from.column.abs_diff(to.column) + from.row.abs_diff(to.row);
        if kind != EdgeKind::Sequence {
            return (4, distance);
        }
        if to.column <= from.column {
            return (3, distance);
        }
        (usize::from(from.row != to.row), distance)
    }

    fn route(&mut self, part: &Part) -> Route {
        let (start, end) = (part.from, part.to);
        match (fixed(self.scope, start), fixed(self.scope, end)) {
            (None, None) => {}
            (from, to) => return self.bound(part, from, to),
        }
        let (Some(from), Some(to)) = (start.item(), end.item()) else { return self.border_way(part) };
        let direct = self.beside_one_another(part, from, to).or_else(|| self.forward(part, from, to));
        direct.unwrap_or_else(|| self.through_gaps(part, from, to))
    }

    fn row_free(&self, row: usize, from: usize, to: usize, ends: Ends) -> bool {
        empty(&self.in_row[row], from, to)
            && (from..to).all(|column| {
                let passed = self.across.get(&(row, column));
                passed.is_none_or(|passed| passed.source == ends.source || passed.target == ends.target)
            })
    }

    fn column_free(&self, column: usize, from: usize, to: usize, line: i32) -> bool {
        empty(&self.in_column[column], from, to)
            && (from..to).all(|row| {
                let passed = self.along.get(&(row, column));
                passed.is_none_or(|passed| passed.iter().all(|other| (other - line).abs() >= 8))
            })
    }

    fn gap_free(&self, gap: usize, from: usize, to: usize) -> bool {
        let (low, high) = (from.min(to), from.max(to));
        let Some(rows) = self.blocked.get(&gap) else { return true };
        let Some(left) = self.looks.get().checked_sub(rows.len()) else { return true };
        self.looks.set(left);
        !rows.iter().any(|&row| row >= low && row < high)
    }

    /// Items in one column with empty cells between, for edges without a direction of their own.
    fn beside_one_another(&mut self, part: &Part, from: usize, to: usize) -> Option<Route> {
        let (above, below) = (self.item(from), self.item(to));
        let apart = self.scope.pools && above.width != below.width;
        if apart || above.column != below.column || above.row == below.row || above.span + below.span > 2 {
            return None;
        }
        let down = below.row > above.row;
        let (low, high) = (above.row.min(below.row) + 1, above.row.max(below.row));
        let sides = if down { [Side::Bottom, Side::Top] } else { [Side::Top, Side::Bottom] };
        let at = above.width / 2;
        let ready = self.port_free(from, sides[0], true) && self.port_free(to, sides[1], false);
        if !ready || !self.column_free(above.column, low, high, at - above.width / 2) {
            return None;
        }
        (low..high).for_each(|row| self.along.entry((row, above.column)).or_default().push(0));
        self.take(from, sides[0], at, true);
        self.take(to, sides[1], below.width / 2, false);
        let lines = vec![Line::Port { item: from, at }];
        Some(Route::of(part, lines, sides[0], sides[1]))
    }

    /// Whether the middle of an upper or lower side is free, or taken by flows of the same direction.
    fn port_free(&self, item: usize, side: Side, outgoing: bool) -> bool {
        if side == Side::Bottom && !self.item(item).boundary.is_empty() {
            return false;
        }
        let middle = self.item(item).width / 2;
        let taken = self.ports.get(&(item, side)).map(Vec::as_slice).unwrap_or_default();
        let own_kind = self.item(item).kind == Kind::Gateway;
        taken.iter().all(|taken| (taken.at - middle).abs() > 8 || (own_kind && taken.outgoing == outgoing))
    }

    fn take(&mut self, item: usize, side: Side, at: i32, outgoing: bool) {
        let taken = self.ports.entry((item, side)).or_default();
        // A side has no room for more; looking at each for each edge would take the square of their number.
        if taken.len() < MOST_PORTS {
            taken.push(Taken { at, outgoing });
        }
    }

    fn pass(&mut self, row: usize, columns: std::ops::Range<usize>, ends: Ends) {
        for column in columns {
            self.across.entry((row, column)).or_insert(ends);
        }
    }

    /// Routes to the right with two bends at most.
    fn forward(&mut self, part: &Part, from: usize, to: usize) -> Option<Route> {
        let (source, target) = (self.item(from), self.item(to));
        let (right, left) = (source.column + source.span, target.column);
        let ends = Ends { source: from, target: to };
        if left < right {
            return None;
        }
        if source.row == target.row {
            if !self.row_free(source.row, right, left, ends) {
                return None;
            }
            self.pass(source.row, right..left, ends);
            return Some(Route::of(part, vec![Line::Row(source.row)], Side::Right, Side::Left));
        }
        if let Some(route) = self.around_corner(part, from, to) {
            return Some(route);
        }
        let (low, high) = (source.row.min(target.row), source.row.max(target.row) + 1);
        for gap in [right, left] {
            let free = self.gap_free(gap, low, high)
                && self.row_free(target.row, gap, left, ends)
                && self.row_free(source.row, right, gap, ends);
            if free {
                self.pass(target.row, gap..left, ends);
                self.pass(source.row, right..gap, ends);
                let track = Line::Column { gap, track: 0 };
                let lines = vec![Line::Row(source.row), track, Line::Row(target.row)];
                return Some(Route::of(part, lines, Side::Right, Side::Left));
            }
        }
        None
    }

    /// Out of a gateway's upper or lower corner, or into one.
    fn around_corner(&mut self, part: &Part, from: usize, to: usize) -> Option<Route> {
        let (source, target) = (self.item(from), self.item(to));
        let down = target.row > source.row;
        let (low, high) = (source.row.min(target.row), source.row.max(target.row));
        let (right, left) = (source.column + source.span, target.column);
        let ends = Ends { source: from, target: to };
        let side = if down { Side::Bottom } else { Side::Top };
        let rows = if down { (low + 1, high + 1) } else { (low, high) };
        let clear = source.kind == Kind::Gateway
            && self.port_free(from, side, true)
            && empty(&self.in_column[source.column], rows.0, rows.1)
            && self.row_free(target.row, right - 1, left, ends);
        if clear {
            self.take(from, side, source.width / 2, true);
            self.pass(target.row, right - 1..left, ends);
            self.fall(right - 1, rows.0..rows.1, 0);
            let lines = vec![Line::Port { item: from, at: source.width / 2 }, Line::Row(target.row)];
            return Some(Route::of(part, lines, side, Side::Left));
        }
        let side = if down { Side::Top } else { Side::Bottom };
        let rows = if down { (low, high) } else { (low + 1, high + 1) };
        let clear = target.kind == Kind::Gateway
            && self.port_free(to, side, false)
            && empty(&self.in_column[left], rows.0, rows.1)
            && self.row_free(source.row, right, left + 1, ends);
        if clear {
            self.take(to, side, target.width / 2, false);
            self.pass(source.row, right..left + 1, ends);
            self.fall(left, rows.0..rows.1, 0);
            let lines = vec![Line::Row(source.row), Line::Port { item: to, at: target.width / 2 }];
            return Some(Route::of(part, lines, Side::Right, side));
        }
        None
    }

    /// A route that always exists: out into a gap, through gaps, and in.
    fn through_gaps(&mut self, part: &Part, from: usize, to: usize) -> Route {
        let (source, target) = (self.item(from), self.item(to));
        let back = target.column < source.column + source.span;
        let up = target.row < source.row || (target.row == source.row && back);
        let (mut out, mut into) = (Side::Right, Side::Left);
        let data = |item: &Item<'_>| matches!(item.kind, Kind::Data | Kind::Note | Kind::Group);
        let upright = |kind: Kind| kind == Kind::Gateway;
        // Edges of data and annotations keep off the flow: activities have room for several of them.
        let bare = data(source) || data(target);
        let roomy = |item: &Item<'_>| {
            bare && item.span == 1 && matches!(item.kind, Kind::Activity | Kind::Container(_))
        };
        if back || upright(source.kind) || data(source) || data(target) {
            let side = if up { Side::Top } else { Side::Bottom };
            let spare = if up { Side::Bottom } else { Side::Top };
            out = if self.port_free(from, side, true) || roomy(source) {
                side
            } else if target.row == source.row && self.port_free(from, spare, true) {
                spare
            } else {
                Side::Right
            };
        }
        let level = target.row == source.row && out != Side::Right;
        if level || data(source) || data(target) || (upright(target.kind) && !back) {
            let away = if up { Side::Bottom } else { Side::Top };
            let side = if level { out } else { away };
            if self.port_free(to, side, false) || roomy(target) {
                into = side;
            }
        }
        if source.span > 1 && out == Side::Right {
            out = Side::Top;
        }
        if target.span > 1 && into == Side::Left {
            into = Side::Top;
        }
        let start = self.access(from, out, None, true);
        let end = self.access(to, into, None, false);
        Route::of(part, self.joined(start, end), out, into)
    }

    /// A route with a given port at one end or at both.
    fn bound(&mut self, part: &Part, from: Option<(Side, i32)>, to: Option<(Side, i32)>) -> Route {
        let (Some(source), Some(target)) = (part.from.item(), part.to.item()) else {
            return self.border_way(part);
        };
        if let Some(route) = self.plumb(part, from, to).or_else(|| self.drop(part, from, to)) {
            return route;
        }
        let (one, other) = (self.item(source), self.item(target));
        let towards = |this: &Item<'_>, that: &Item<'_>| {
            if this.row < that.row { Side::Bottom } else { Side::Top }
        };
        let free = |own: &Item<'_>, side: Side| {
            !matches!(own.kind, Kind::Pool(_))
                && own.span == 1
                && !matches!(own.kind, Kind::Data | Kind::Note | Kind::Group)
                && side != Side::Top
        };
        let out = from.map_or_else(|| towards(one, other), |(side, _)| side);
        let into = match to {
            Some((side, _)) => side,
            None if free(other, Side::Left) => Side::Left,
            None => towards(other, one),
        };
        let start = self.access(source, out, from.map(|(_, at)| at), true);
        let end = self.access(target, into, to.map(|(_, at)| at), false);
        Route::of(part, self.joined(start, end), out, into)
    }

    /// Straight down or up between two items of one column, where one of them has room for the port.
    fn plumb(&mut self, part: &Part, from: Option<(Side, i32)>, to: Option<(Side, i32)>) -> Option<Route> {
        let (source, target) = (part.from.item()?, part.to.item()?);
        let (one, other) = (self.item(source), self.item(target));
        if one.column != other.column || one.row == other.row || one.span + other.span > 2 {
            return None;
        }
        let wide = |item: &Item<'_>| matches!(item.kind, Kind::Pool(None));
        let down = other.row > one.row;
        let (out, into) = if down { (Side::Bottom, Side::Top) } else { (Side::Top, Side::Bottom) };
        let (given, at) = match (from, to) {
            (Some((side, at)), None) if wide(other) && side == out => (source, at),
            (None, Some((side, at))) if wide(one) && side == into => (target, at),
            (Some((side, at)), Some((end, other))) if at == other && side == out && end == into => {
                (source, at)
            }
            _ => return None,
        };
        // Pools share their left side.
        let (low, high) = (one.row.min(other.row) + 1, one.row.max(other.row));
        if at > one.width.min(other.width) - 10 || !self.column_free(one.column, low, high, at) {
            return None;
        }
        self.take(source, out, at, true);
        self.take(target, into, at, false);
        let lines = vec![Line::Port { item: given, at }];
        Some(Route::of(part, lines, out, into))
    }

    /// From a boundary event down into the row of the target, and right to it.
    fn drop(&mut self, part: &Part, from: Option<(Side, i32)>, to: Option<(Side, i32)>) -> Option<Route> {
        let (source, target) = (part.from.item()?, part.to.item()?);
        let ((Side::Bottom, at), None) = (from?, to) else { return None };
        let (one, other) = (self.item(source), self.item(target));
        let ends = Ends { source, target };
        let line = at - one.width / 2;
        let below = other.row > one.row && one.span == 1;
        if below && other.column > one.column && other.span == 1 {
            let free = self.column_free(one.column, one.row + 1, other.row + 1, line)
                && self.row_free(other.row, one.column, other.column, ends);
            if free {
                self.pass(other.row, one.column..other.column, ends);
                self.fall(one.column, one.row + 1..other.row + 1, line);
                let lines = vec![Line::Port { item: source, at }, Line::Row(other.row)];
                return Some(Route::of(part, lines, Side::Bottom, Side::Left));
            }
        }
        // Straight down into something right below.
        let inset = line + other.width / 2;
        let under = below && other.column == one.column && other.span == 1 && inset >= 8;
        if under && inset <= other.width - 8 && matches!(other.kind, Kind::Activity | Kind::Container(_)) {
            let mut clear = self.column_free(one.column, one.row + 1, other.row, line);
            clear &= self
                .ports
                .get(&(target, Side::Top))
                .is_none_or(|taken| taken.iter().all(|taken| (taken.at - inset).abs() > 8));
            if clear {
                self.take(target, Side::Top, inset, false);
                self.fall(one.column, one.row + 1..other.row, line);
                let lines = vec![Line::Port { item: source, at }];
                return Some(Route::of(part, lines, Side::Bottom, Side::Top));
            }
        }
        None
    }

    fn fall(&mut self, column: usize, rows: std::ops::Range<usize>, line: i32) {
        for row in rows {
            let lines = self.along.entry((row, column)).or_default();
            if lines.last() != Some(&line) {
                lines.push(line);
            }
        }
    }

    /// A route between an item and the border of the scope.
    fn border_way(&mut self, part: &Part) -> Route {
        let (end, side, outgoing) = match (part.from, part.to) {
            (end, End::Border(side)) => (end, side, true),
            (End::Border(side), end) => (end, side, false),
            (end, _) => (end, Side::Bottom, true),
        };
        let (lines, port) = match end.item() {
            Some(item) => self.escape(end, item, side, outgoing),
            None => (vec![Line::Column { gap: 0, track: 0 }], side),
        };
        let (inner, outer) = (Dock { end, side: port }, Dock { end: End::Border(side), side });
        if outgoing {
            return Route { lines, start: inner, end: outer };
        }
        Route { lines: lines.into_iter().rev().collect(), start: outer, end: inner }
    }

    fn escape(&mut self, end: End, item: usize, side: Side, outgoing: bool) -> (Vec<Line>, Side) {
        let own = self.item(item);
        let given = fixed(self.scope, end);
        let port = given.map_or(side, |(port, _)| port);
        let at = given.map_or_else(|| self.free_port(item, port), |(_, at)| at);
        let rows = if side == Side::Bottom { (own.row + 1, self.rows) } else { (0, own.row) };
        let line = at - own.width / 2;
        if own.span == 1 && port == side && self.column_free(own.column, rows.0, rows.1, line) {
            self.take(item, port, at, outgoing);
            self.fall(own.column, rows.0..rows.1, line);
            return (vec![Line::Port { item, at }], port);
        }
        let start = self.access(item, port, Some(at), outgoing);
        let Access::Across { gap, .. } = start else { return (Vec::new(), port) };
        let rows = if side == Side::Bottom { (gap, self.rows) } else { (0, gap) };
        let column = self.near_gap(own.column, rows.0, rows.1);
        let mut lines = self.leave(start);
        lines.extend([Line::Between { gap, track: 0 }, Line::Column { gap: column, track: 0 }]);
        (lines, port)
    }

    /// The gap between columns nearest to a column that is clear through these rows; the outer ones always are.
    fn near_gap(&self, column: usize, from: usize, to: usize) -> usize {
        if self.blocked.is_empty() {
            return column + 1;
        }
        let right = (column + 1..=self.columns).find(|&gap| self.gap_free(gap, from, to));
        let left = (0..=column).rev().find(|&gap| self.gap_free(gap, from, to));
        match (left, right) {
            (Some(left), Some(right)) if column - left < right - column - 1 => left,
            (_, Some(right)) => right,
            (left, None) => left.unwrap_or(0),
        }
    }

    /// A place for a port that is as far as possible from the middle ones that are taken.
    fn free_port(&self, item: usize, side: Side) -> i32 {
        let own = self.item(item);
        let taken = self.ports.get(&(item, side)).map(Vec::as_slice).unwrap_or_default();
        let middle = own.width / 2;
        let (start, step) = match own.kind {
            Kind::Activity | Kind::Container(_) | Kind::Pool(_) => (middle, 15),
            Kind::Note | Kind::Group => (middle, 15),
            Kind::Event | Kind::Gateway | Kind::Data | Kind::Conversation => return middle,
        };
        let edge = match (side, own.boundary.len() as i32) {
            (Side::Bottom, count) if count > 0 => own.boundary_at(0) - 26,
            _ => own.width - 10,
        };
        let mut places = (0..200).flat_map(|number| [start + number * step, start - number * step]);
        let free = |at: &i32| *at >= 10 && *at <= edge && taken.iter().all(|taken| (taken.at - at).abs() > 7);
        places.find(free).unwrap_or_else(|| middle.min(edge).max(8))
    }

    fn access(&mut self, item: usize, side: Side, at: Option<i32>, outgoing: bool) -> Access {
        let own = self.item(item);
        match side {
            Side::Right => Access::Beside { gap: own.column + own.span, row: own.row },
            Side::Left => Access::Beside { gap: own.column, row: own.row },
            Side::Top | Side::Bottom => {
                let middle = own.width / 2;
                let at = at.unwrap_or_else(|| {
                    if self.port_free(item, side, outgoing) { middle } else { self.free_port(item, side) }
                });
                self.take(item, side, at, outgoing);
                Access::Across { gap: own.row + usize::from(side == Side::Bottom), item, at }
            }
        }
    }

    fn leave(&self, access: Access) -> Vec<Line> {
        match access {
            Access::Beside { row, .. } => vec![Line::Row(row)],
            Access::Across { item, at, .. } => vec![Line::Port { item, at }],
        }
    }

    /// Lines from one access to another through gaps.
    fn joined(&self, start: Access, end: Access) -> Vec<Line> {
        let beside = |gap| Line::Column { gap, track: 0 };
        let across = |gap| Line::Between { gap, track: 0 };
        let mut lines = self.leave(start);
        match (start, end) {
            (Access::Beside { gap: one, row: from }, Access::Beside { gap: other, row: to }) => {
                let (low, high) = (from.min(to), from.max(to) + 1);
                if one == other && self.gap_free(one, low, high) {
                    lines.push(beside(one));
                } else {
                    let near = if to > from { to } else { to + 1 };
                    lines.extend(self.bridge(one, from, near).into_iter().chain([beside(other)]));
                }
            }
            (Access::Beside { gap, row }, Access::Across { gap: level, .. }) => {
                lines.extend(self.bridge(gap, row, level));
            }
            (Access::Across { gap: level, .. }, Access::Beside { gap, row }) => {
                lines.extend(self.bridge(gap, row, level).into_iter().rev());
            }
            (Access::Across { gap: one, item, .. }, Access::Across { gap: other, .. }) => {
                lines.push(across(one));
                if one != other {
                    let column = self.item(item).column;
                    let gap = self.near_gap(column, one.min(other), one.max(other));
                    lines.extend([beside(gap), across(other)]);
                }
            }
        }
        lines.extend(self.leave(end));
        lines
    }

    /// From a row, in a gap between columns, to a gap between rows.
    fn bridge(&self, gap: usize, row: usize, level: usize) -> Vec<Line> {
        let beside = |gap| Line::Column { gap, track: 0 };
        let across = |gap| Line::Between { gap, track: 0 };
        let (low, high) = if level > row { (row, level) } else { (level, row + 1) };
        if self.gap_free(gap, low, high) {
            return vec![beside(gap), across(level)];
        }
        let near = if level > row { row + 1 } else { row };
        let other = self.near_gap(gap.min(self.columns - 1), low.min(near), high.max(near));
        vec![beside(gap), across(near), beside(other), across(level)]
    }
}

/// The port of an end that is given: of a boundary event, or where an edge comes out of the item's content.
fn fixed(scope: &Scope<'_>, end: End) -> Option<(Side, i32)> {
    match end {
        End::Node { port: Some(port), .. } => Some(port),
        End::Node { item, boundary: Some(index), .. } => {
            Some((Side::Bottom, scope.items[item].boundary_at(index)))
        }
        _ => None,
    }
}

/// Whether a sorted list has nothing in a range.
fn empty(sorted: &[usize], from: usize, to: usize) -> bool {
    let start = sorted.partition_point(|&at| at < from);
    sorted.get(start).is_none_or(|&at| at >= to)
}
