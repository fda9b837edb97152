//! The laid-out graph as diagram interchange.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::graph::{EVENT, Edge, EdgeKind, Item, Kind, LayoutGraph, Point};
use heddle_bpmn::model::{
    self, Bounds, Diagram, DiagramEdge, DiagramLabel, DiagramShape, WorkflowDefinition, graphs,
};
use std::collections::{HashMap, HashSet};

/// Origin of the outermost scope in its diagram.
const ORIGIN: Point = Point { x: 150, y: 80 };

/// Ids that are taken.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

fn in_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

fn begins_name(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

/// Whether an id is one that XML allows, so that a diagram can refer to it.
pub(super) fn is_id(id: &str) -> bool {
    id.starts_with(begins_name) && id.chars().all(in_name)
}

impl Names {
    /// The ids of a definition that a new diagram's ids could meet.
    pub(super) fn of(definition: &WorkflowDefinition) -> Self {
        let mut taken = HashSet::new();
        let mut keep = |id: Option<&str>| {
            if let Some(id) = id {
                taken.insert(id.to_owned());
            }
        };
        for graph in graphs(definition) {
            keep(graph.id);
            graph.nodes.iter().for_each(|node| keep(node.element_id()));
            graph.edges.iter().for_each(|edge| keep(edge.id.as_deref()));
            let process = graph.process;
            process
                .iter()
                .flat_map(|own| own.artifacts.iter().flatten())
                .for_each(|own| keep(own.id.as_deref()));
            let lists =
                |own: &'_ heddle_bpmn::model::Process| [own.data_objects.clone(), own.data_stores.clone()];
            for data in process.iter().flat_map(|own| lists(own)).flatten().flatten() {
                keep(data.id.as_deref());
            }
        }
        let diagrams = definition.bpmn.iter().flat_map(|bpmn| bpmn.diagrams.iter().flatten());
        for diagram in diagrams {
            keep(diagram.id.as_deref());
            keep(diagram.plane_id.as_deref());
            diagram.shapes.iter().flatten().for_each(|shape| keep(shape.id.as_deref()));
            diagram.edges.iter().flatten().for_each(|edge| keep(edge.id.as_deref()));
        }
        Self { taken }
    }

    /// A new id: the element's with `_di`, and a number where that is taken. An element's own id may be none that XML
    /// allows (`xsd:ID`); the new one is.
    fn fresh(&mut self, wish: String) -> String {
        let mut wish = wish.replace(|letter| !in_name(letter), "_");
        if !wish.starts_with(begins_name) {
            wish.insert(0, '_');
        }
        let mut id = wish.clone();
        let mut number = 1;
        while self.taken.contains(&id) {
            number += 1;
            id = format!("{wish}_{number}");
        }
        self.taken.insert(id.clone());
        id
    }
}

/// The diagram of a solved graph.
pub(super) fn diagram(graph: &LayoutGraph<'_>, element: Option<&str>, names: &mut Names) -> Diagram {
    let base = element.unwrap_or("plane");
    let id = names.fresh(format!("{base}_diagram"));
    let plane_id = names.fresh(format!("{base}_plane"));
    let origins = origins(graph);
    let busy = busy_sides(graph);
    let mut shapes = Vec::new();
    // Scopes stand in an order in which containers come before their content.
    for (index, scope) in graph.scopes.iter().enumerate() {
        let origin = origins[index];
        for lane in &scope.lanes {
            let Some(element) = lane.id else { continue };
            let [x, y, width, height] = lane.bounds;
            let mut shape = shape(names, element, [x + origin.x, y + origin.y, width, height]);
            shape.horizontal = Some(true);
            shapes.push(shape);
        }
        let (mut items, mut events) = (Vec::new(), Vec::new());
        for (number, item) in scope.items.iter().enumerate() {
            let sides = busy.get(&(index, number)).copied().unwrap_or_default();
            if !item.id.is_empty() {
                items.push(item_shape(names, item, origin, sides));
            }
            for (at, event) in item.boundary.iter().enumerate().filter(|(_, event)| !event.id.is_empty()) {
                let x = origin.x + item.x + item.boundary_at(at) - EVENT / 2;
                let y = origin.y + item.y + item.height - EVENT / 2;
                let mut shape = shape(names, event.id, [x, y, EVENT, EVENT]);
                let name = event.name.filter(|name| !name.trim().is_empty());
                shape.label = name.map(|name| label(name, x - 4, y + EVENT + 2, true));
                events.push(shape);
            }
        }
        shapes.extend(items);
        shapes.extend(events);
    }
    let edges = graph.edges.iter().filter_map(|edge| drawn(graph, edge, &origins, names)).collect();
    Diagram {
        edges: Some(edges),
        element_ref: element.map(str::to_owned),
        id: Some(id),
        plane_id: Some(plane_id),
        shapes: Some(shapes),
        ..Diagram::default()
    }
}

/// Upper left corner of each scope.
fn origins(graph: &LayoutGraph<'_>) -> Vec<Point> {
    let mut origins = vec![ORIGIN; graph.scopes.len()];
    for (index, scope) in graph.scopes.iter().enumerate() {
        if let Some((outer, item)) = scope.owner {
            let item = &graph.scopes[outer].items[item];
            origins[index] = Point { x: origins[outer].x + item.x, y: origins[outer].y + item.y };
        }
    }
    origins
}

/// Sides of an item at which an edge ends, so that no label can stand there.
#[derive(Debug, Clone, Copy, Default)]
struct Busy {
    top: bool,
    bottom: bool,
}

/// Items with an edge at the upper side, and at the lower side.
fn busy_sides(graph: &LayoutGraph<'_>) -> HashMap<(usize, usize), Busy> {
    let mut busy: HashMap<(usize, usize), Busy> = HashMap::new();
    for (index, scope) in graph.scopes.iter().enumerate() {
        for part in &scope.parts {
            for (end, point) in [(part.from, part.points.first()), (part.to, part.points.last())] {
                let (Some(number), Some(point)) = (end.item(), point) else { continue };
                let item = &scope.items[number];
                let sides = busy.entry((index, number)).or_default();
                sides.top |= point.y == item.y;
                sides.bottom |= point.y == item.y + item.height;
            }
        }
    }
    busy
}

fn shape(names: &mut Names, element: &str, bounds: [i32; 4]) -> DiagramShape {
    DiagramShape {
        bounds: Some(rectangle(bounds)),
        element_ref: Some(element.to_owned()),
        id: Some(names.fresh(format!("{element}_di"))),
        ..DiagramShape::default()
    }
}

fn item_shape(names: &mut Names, item: &Item<'_>, origin: Point, busy: Busy) -> DiagramShape {
    let (x, y) = (origin.x + item.x, origin.y + item.y);
    let mut shape = shape(names, item.id, [x, y, item.width, item.height]);
    match item.kind {
        Kind::Container(_) => shape.expanded = Some(true),
        Kind::Pool(_) => shape.horizontal = Some(true),
        Kind::Gateway => shape.marker_visible = item.marker.then_some(true),
        _ => {}
    }
    if let (Kind::Event | Kind::Gateway | Kind::Data, Some(name)) = (item.kind, item.name) {
        let middle = x + item.width / 2;
        let below = y + item.height + 5;
        shape.label = Some(match busy {
            Busy { top: false, bottom: true } => {
                let above = label(name, middle, y - 5, false);
                let height = above.bounds.as_ref().and_then(|bounds| bounds.height).unwrap_or_default();
                lifted(above, height)
            }
            Busy { top: true, bottom: true } => {
                let beside = label(name, middle, y + 5, false);
                let bounds = beside.bounds.as_ref();
                let height = bounds.and_then(|bounds| bounds.height).unwrap_or_default();
                let width = bounds.and_then(|bounds| bounds.width).unwrap_or_default();
                shifted(lifted(beside, height), width / 2.0 + 6.0)
            }
            Busy { bottom: false, .. } => label(name, middle, below, false),
        });
    }
    shape
}

fn lifted(mut label: DiagramLabel, by: f64) -> DiagramLabel {
    if let Some(y) = label.bounds.as_mut().and_then(|bounds| bounds.y.as_mut()) {
        *y -= by;
    }
    label
}

fn shifted(mut label: DiagramLabel, by: f64) -> DiagramLabel {
    if let Some(x) = label.bounds.as_mut().and_then(|bounds| bounds.x.as_mut()) {
        *x = (*x - by).max(0.0).floor();
    }
    label
}

/// A label of at most 90 by some lines of 14; `x` is its middle, or its left side.
fn label(name: &str, x: i32, y: i32, left: bool) -> DiagramLabel {
    let letters = name.chars().take(400).count() as i32;
    let width = (letters * 6).clamp(12, 90);
    let height = 14 * ((letters * 6 + 89) / 90).max(1);
    let x = if left { x } else { x - width / 2 };
    DiagramLabel { bounds: Some(rectangle([x.max(0), y.max(0), width, height])), id: None }
}

fn rectangle([x, y, width, height]: [i32; 4]) -> Bounds {
    Bounds {
        height: Some(f64::from(height)),
        width: Some(f64::from(width)),
        x: Some(f64::from(x)),
        y: Some(f64::from(y)),
    }
}

fn drawn(
    graph: &LayoutGraph<'_>,
    edge: &Edge<'_>,
    origins: &[Point],
    names: &mut Names,
) -> Option<DiagramEdge> {
    let mut points: Vec<Point> = Vec::new();
    for &(scope, part) in &edge.parts {
        let origin = origins[scope];
        for point in &graph.scopes[scope].parts[part].points {
            push(&mut points, Point { x: point.x + origin.x, y: point.y + origin.y });
        }
    }
    if points.len() < 2 || edge.id.is_empty() {
        return None;
    }
    Some(DiagramEdge {
        element_ref: Some(edge.id.to_owned()),
        id: Some(names.fresh(format!("{}_di", edge.id))),
        label: edge.name.map(|name| edge_label(name, &points, edge.kind)),
        waypoints: Some(points.into_iter().map(waypoint).collect()),
        ..DiagramEdge::default()
    })
}

/// Adds a point; one in the middle of a straight line goes.
fn push(points: &mut Vec<Point>, point: Point) {
    if points.last() == Some(&point) {
        return;
    }
    if let [.., before, last] = points.as_slice() {
        let upright = before.x == last.x && last.x == point.x;
        let level = before.y == last.y && last.y == point.y;
        if upright || level {
            points.pop();
        }
    }
    points.push(point);
}

fn waypoint(point: Point) -> model::Point {
    model::Point { x: Some(f64::from(point.x)), y: Some(f64::from(point.y)) }
}

/// A flow's name stands above the first horizontal stretch that it does not share with other branches; a
/// message flow's, beside its first vertical one.
fn edge_label(name: &str, points: &[Point], kind: EdgeKind) -> DiagramLabel {
    let mut pairs = points.windows(2).take(2).map(|pair| (pair[0], pair[1]));
    let mut others = pairs.clone();
    let forked = points.len() == 4 && points[0].y == points[1].y;
    let first = pairs.find(|(first, second)| first.y == second.y);
    let level = if forked { Some((points[2], points[3])) } else { first };
    if let Some((first, second)) = level.filter(|_| kind == EdgeKind::Sequence) {
        let label = label(name, first.x + 4, first.y - 4, true);
        let bounds = label.bounds.as_ref();
        let height = bounds.and_then(|bounds| bounds.height).unwrap_or_default();
        let width = bounds.and_then(|bounds| bounds.width).unwrap_or_default();
        let label = if second.x < first.x { shifted(label, width + 8.0) } else { label };
        return lifted(label, height);
    }
    let upright = others.find(|(first, second)| first.x == second.x);
    let (first, second) = upright.unwrap_or((points[0], points[1]));
    let down = second.y > first.y;
    label(name, first.x + 5, if down { first.y + 4 } else { first.y - 20 }, true)
}
