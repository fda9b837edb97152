//! Content of one diagram: scopes of items, and the edges between them.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use heddle_bpmn::element::{ElementKind, Splitting};
use heddle_bpmn::model::{self, Artifact, Collaboration, DataItem, LaneSet, Node, Process};
use std::collections::{HashMap, HashSet};

/// Width of the title bars of pools and lanes.
pub(super) const TITLE: i32 = 30;
/// Side of an event.
pub(super) const EVENT: i32 = 36;

/// Kind of an item, as far as its place and form depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Event,
    Gateway,
    Activity,
    /// An expanded sub-process: its content is a scope.
    Container(usize),
    Data,
    Note,
    Group,
    /// A pool; with a scope unless it is a black box.
    Pool(Option<usize>),
    Conversation,
}

/// An event on the border of an item.
#[derive(Debug, Clone)]
pub(super) struct Boundary<'a> {
    pub id: &'a str,
    pub name: Option<&'a str>,
}

/// Something with a shape.
#[derive(Debug, Clone)]
pub(super) struct Item<'a> {
    pub id: &'a str,
    pub name: Option<&'a str>,
    pub kind: Kind,
    /// Whether an exclusive gateway shows its marker, for such a gateway.
    pub marker: bool,
    /// Index of the band of rows: a leaf lane, or the band of what no lane holds.
    pub band: usize,
    pub boundary: Vec<Boundary<'a>>,
    pub width: i32,
    pub height: i32,
    pub column: usize,
    /// Columns that the item takes up.
    pub span: usize,
    pub row: usize,
    /// Place within the scope.
    pub x: i32,
    pub y: i32,
}

impl Item<'_> {
    /// Centre of a boundary event, from the left of the item: packed towards the right.
    pub(super) fn boundary_at(&self, index: usize) -> i32 {
        let after = self.boundary.len().saturating_sub(index + 1) as i32;
        self.width - 28 - 46 * after
    }
}

/// A lane, flattened; its bands are a range.
#[derive(Debug, Clone)]
pub(super) struct LaneBox<'a> {
    pub id: Option<&'a str>,
    pub depth: i32,
    pub first: usize,
    pub last: usize,
    pub bounds: [i32; 4],
}

/// Upper or lower border.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Top,
    Bottom,
    Left,
    Right,
}

/// End of a part of an edge within its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// At an item, or an event on its border; the port is known where an edge comes out of an item's content.
    Node { item: usize, boundary: Option<usize>, port: Option<(Side, i32)> },
    /// At the border of the scope.
    Border(Side),
}

impl End {
    pub(super) fn item(self) -> Option<usize> {
        match self {
            Self::Node { item, .. } => Some(item),
            Self::Border(_) => None,
        }
    }
}

/// A point within a scope or a diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub x: i32,
    pub y: i32,
}

/// The part of an edge within one scope.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub edge: usize,
    pub from: End,
    pub to: End,
    pub points: Vec<Point>,
}

/// A graph of items in a frame.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    /// Scope and item around.
    pub owner: Option<(usize, usize)>,
    pub depth: usize,
    pub items: Vec<Item<'a>>,
    pub lanes: Vec<LaneBox<'a>>,
    pub bands: usize,
    pub parts: Vec<Part>,
    /// Whether the items are pools, one below the other.
    pub pools: bool,
    pub lane_depth: i32,
    pub width: i32,
    pub height: i32,
}

/// Kind of connection that an edge stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EdgeKind {
    Sequence,
    Message,
    Association,
}

/// Something that is drawn as an edge.
#[derive(Debug, Clone)]
pub(super) struct Edge<'a> {
    pub id: &'a str,
    pub name: Option<&'a str>,
    pub kind: EdgeKind,
    /// Scope and index of its parts, from source to target.
    pub parts: Vec<(usize, usize)>,
}

/// An edge whose ends are still ids.
#[derive(Debug, Clone, Copy)]
struct LooseEdge<'a> {
    id: Option<&'a str>,
    name: Option<&'a str>,
    kind: EdgeKind,
    source: Option<&'a str>,
    target: Option<&'a str>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    scope: usize,
    item: usize,
    boundary: Option<usize>,
}

/// The layout graph of one diagram: its scopes with their items, and the edges between them.
#[derive(Debug, Default)]
pub(super) struct LayoutGraph<'a> {
    pub scopes: Vec<Scope<'a>>,
    pub edges: Vec<Edge<'a>>,
    places: HashMap<&'a str, Place>,
    /// Edges to be resolved.
    loose: Vec<LooseEdge<'a>>,
    connected: HashSet<&'a str>,
    alias: HashMap<&'a str, &'a str>,
}

/// The element of a member that names one.
fn of(name: &Option<String>) -> Option<ElementKind> {
    name.as_deref().and_then(ElementKind::named)
}

/// The nodes and edges of a graph, with the process around them where there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'a> {
    pub nodes: &'a [Node],
    pub edges: &'a [model::Edge],
    pub process: Option<&'a Process>,
}

impl<'a> Content<'a> {
    pub(super) fn of(process: &'a Process) -> Self {
        let nodes = process.nodes.as_deref().unwrap_or_default();
        Self { nodes, edges: process.edges.as_deref().unwrap_or_default(), process: Some(process) }
    }
}

impl<'a> LayoutGraph<'a> {
    /// The graph of one process.
    pub(super) fn of_process(content: Content<'a>) -> Self {
        let mut graph = Self::default();
        graph.scopes.push(Scope::default());
        graph.fill(vec![(0, content)]);
        graph.connect();
        graph
    }

    /// The graph of a collaboration.
    pub(super) fn of_collaboration(
        collaboration: &'a Collaboration,
        content: impl Fn(&str) -> Option<Content<'a>>,
        without_pool: &[Content<'a>],
    ) -> Self {
        let mut graph = Self::default();
        graph.scopes.push(Scope { pools: true, bands: 1, ..Scope::default() });
        let mut todo = Vec::new();
        let mut drawn = HashSet::new();
        for participant in collaboration.participants.iter().flatten() {
            let Some(id) = participant.id.as_deref() else { continue };
            let process = participant.process_ref.as_deref().filter(|process| drawn.insert(*process));
            let inner = process.and_then(&content).filter(|content| !is_empty(content)).map(|content| {
                let scope = graph.open(0);
                todo.push((scope, content));
                scope
            });
            if let (Some(process), Some(_)) = (process, inner) {
                graph.alias.insert(process, id);
            }
            graph.add(0, item(id, participant.name.as_deref(), Kind::Pool(inner), 0));
        }
        for content in without_pool {
            todo.push((graph.open(0), *content));
            let inner = Kind::Pool(Some(graph.scopes.len() - 1));
            graph.add(0, item("", None, inner, 0));
        }
        let mut conversations: Vec<_> = collaboration.conversations.iter().flatten().collect();
        while let Some(conversation) = conversations.pop() {
            if let Some(id) = conversation.id.as_deref() {
                graph.add(0, item(id, conversation.name.as_deref(), Kind::Conversation, 0));
                for participant in conversation.participant_refs.iter().flatten() {
                    graph.connected.insert(participant);
                }
            }
            conversations.extend(conversation.conversations.iter().flatten());
        }
        for flow in collaboration.message_flows.iter().flatten() {
            graph.loosen(LooseEdge {
                id: flow.id.as_deref(),
                name: flow.name.as_deref(),
                kind: EdgeKind::Message,
                source: flow.source_ref.as_deref(),
                target: flow.target_ref.as_deref(),
            });
        }
        for link in collaboration.conversation_links.iter().flatten() {
            graph.loosen(LooseEdge {
                id: link.id.as_deref(),
                name: link.name.as_deref(),
                kind: EdgeKind::Association,
                source: link.source_ref.as_deref(),
                target: link.target_ref.as_deref(),
            });
        }
        graph.artifacts(0, collaboration.artifacts.as_deref().unwrap_or_default());
        graph.fill(todo);
        graph.connect();
        graph
    }

    /// A scope within another one; its item must be the next one that is added there.
    fn open(&mut self, parent: usize) -> usize {
        let owner = (parent, self.scopes[parent].items.len());
        let depth = self.scopes[parent].depth + 1;
        self.scopes.push(Scope { owner: Some(owner), depth, ..Scope::default() });
        self.scopes.len() - 1
    }

    fn add(&mut self, scope: usize, item: Item<'a>) {
        let place = Place { scope, item: self.scopes[scope].items.len(), boundary: None };
        if !item.id.is_empty() {
            self.places.entry(item.id).or_insert(place);
        }
        self.scopes[scope].items.push(item);
    }

    fn loosen(&mut self, edge: LooseEdge<'a>) {
        if let (Some(source), Some(target)) = (edge.source, edge.target) {
            self.connected.insert(source);
            self.connected.insert(target);
            self.loose.push(edge);
        }
    }

    fn fill(&mut self, mut todo: Vec<(usize, Content<'a>)>) {
        while let Some((scope, content)) = todo.pop() {
            let bands = self.lanes(scope, content.process);
            let rest = self.scopes[scope].bands;
            let mut attached = Vec::new();
            for node in content.nodes {
                // A node without an id has a place, and perhaps content, but no shape.
                let id = node.element_id().unwrap_or_default();
                let host = node.bpmn.as_deref().and_then(|bpmn| bpmn.attached_to_ref.as_deref());
                if let (Some(host), true) = (host, node.is(ElementKind::BoundaryEvent)) {
                    attached.push((host, id, node));
                } else {
                    let band = bands.get(id).copied().unwrap_or(rest);
                    self.node(scope, node, id, band, &mut todo);
                }
                self.data_associations(node, id);
            }
            for (host, id, node) in attached {
                self.attach(scope, host, id, node, bands.get(id).copied().unwrap_or(rest));
            }
            for edge in content.edges {
                self.flow(edge);
            }
            if let Some(process) = content.process {
                self.artifacts(scope, process.artifacts.as_deref().unwrap_or_default());
                self.data(scope, process);
            }
            let items = &self.scopes[scope].items;
            if self.scopes[scope].bands == 0 || items.iter().any(|item| item.band == rest) {
                self.scopes[scope].bands = rest + 1;
            }
        }
    }

    fn node(
        &mut self,
        scope: usize,
        node: &'a Node,
        id: &'a str,
        band: usize,
        todo: &mut Vec<(usize, Content<'a>)>,
    ) {
        let content = node.bpmn.as_deref().and_then(|bpmn| bpmn.sub_process.as_deref()).map(Content::of);
        let element = node.kind();
        let kind = match content.filter(|content| !is_empty(content)) {
            _ if element.is_some_and(ElementKind::is_event) => Kind::Event,
            _ if element.is_some_and(ElementKind::is_gateway) => Kind::Gateway,
            Some(content) => {
                let inner = self.open(scope);
                todo.push((inner, content));
                Kind::Container(inner)
            }
            None => Kind::Activity,
        };
        let mut new = item(id, node.display_name.as_deref(), kind, band);
        new.marker = node.token_rules().1 == Splitting::First;
        self.add(scope, new);
    }

    /// Puts an event on its host's border; one whose host is missing stands by itself.
    fn attach(&mut self, scope: usize, host: &str, id: &'a str, node: &'a Node, band: usize) {
        let name = node.display_name.as_deref();
        let place = self.places.get(host).copied().filter(|place| {
            let kind = self.scopes[place.scope].items[place.item].kind;
            place.scope == scope && matches!(kind, Kind::Activity | Kind::Container(_))
        });
        let Some(place) = place else { return self.add(scope, item(id, name, Kind::Event, band)) };
        let events = &mut self.scopes[scope].items[place.item].boundary;
        let own = Place { boundary: Some(events.len()), ..place };
        events.push(Boundary { id, name });
        self.places.entry(id).or_insert(own);
    }

    fn flow(&mut self, edge: &'a model::Edge) {
        let kind = match edge.kind() {
            Some(
                ElementKind::Association
                | ElementKind::DataInputAssociation
                | ElementKind::DataOutputAssociation,
            ) => EdgeKind::Association,
            Some(ElementKind::MessageFlow) => EdgeKind::Message,
            _ => EdgeKind::Sequence,
        };
        let name = edge.bpmn.as_deref().and_then(|bpmn| bpmn.name.as_deref()).or(edge.branch.as_deref());
        let (id, source, target) = (edge.id.as_deref(), edge.source.as_deref(), edge.target.as_deref());
        self.loosen(LooseEdge { id, name, kind, source, target });
    }

    fn data_associations(&mut self, node: &'a Node, id: &'a str) {
        let associations = node.bpmn.as_deref().and_then(|bpmn| bpmn.data_associations.as_deref());
        for association in associations.unwrap_or_default() {
            let gives = of(&association.element_type) == Some(ElementKind::DataOutputAssociation);
            let source = association.sources.iter().flatten().next().map(String::as_str);
            self.loosen(LooseEdge {
                id: association.id.as_deref(),
                name: None,
                kind: EdgeKind::Association,
                source: if gives { Some(id) } else { source },
                target: if gives { association.target.as_deref() } else { Some(id) },
            });
        }
    }

    fn artifacts(&mut self, scope: usize, artifacts: &'a [Artifact]) {
        let band = self.scopes[scope].bands.saturating_sub(1);
        for artifact in artifacts {
            let Some(id) = artifact.id.as_deref() else { continue };
            match of(&artifact.element_type) {
                Some(ElementKind::Association) => self.loosen(LooseEdge {
                    id: Some(id),
                    name: artifact.name.as_deref(),
                    kind: EdgeKind::Association,
                    source: artifact.source_ref.as_deref(),
                    target: artifact.target_ref.as_deref(),
                }),
                Some(ElementKind::Group) => self.add(scope, item(id, None, Kind::Group, band)),
                _ => self.add(scope, item(id, artifact.text.as_deref(), Kind::Note, band)),
            }
        }
    }

    /// Data that is shown: references, objects without a reference, and inputs and outputs with an edge.
    fn data(&mut self, scope: usize, process: &'a Process) {
        let band = self.scopes[scope].bands.saturating_sub(1);
        let objects = process.data_objects.as_deref().unwrap_or_default();
        let mut hidden: HashSet<&str> = HashSet::new();
        for reference in objects {
            if let (Some(original), Some(id)) = (reference.original_ref.as_deref(), reference.id.as_deref()) {
                self.alias.entry(original).or_insert(id);
                hidden.insert(original);
            }
        }
        let show = |graph: &mut Self, data: &'a DataItem, store: bool| {
            let Some(id) = data.id.as_deref().filter(|id| !hidden.contains(id)) else { return };
            let mut new = item(id, data.name.as_deref(), Kind::Data, band);
            if store {
                new.width = 50;
            }
            graph.add(scope, new);
        };
        objects.iter().for_each(|data| show(self, data, false));
        process.data_stores.iter().flatten().for_each(|data| show(self, data, true));
        for data in process.data_inputs.iter().chain(&process.data_outputs).flatten() {
            if data.id.as_deref().is_some_and(|id| self.connected.contains(id)) {
                show(self, data, false);
            }
        }
    }

    /// Flattens the lane sets and says which band each node belongs to. A further lane set is shown only
    /// when it claims no node of the ones before, because a node can stand in one place only.
    fn lanes(&mut self, scope: usize, process: Option<&'a Process>) -> HashMap<&'a str, usize> {
        let mut all = Lanes::default();
        for set in process.and_then(|process| process.lane_sets.as_deref()).unwrap_or_default() {
            let mut own = Lanes { next: all.next, ..Lanes::default() };
            own.flatten(set, 0);
            if !own.bands.keys().any(|node| all.bands.contains_key(node)) {
                all.boxes.extend(own.boxes);
                all.bands.extend(own.bands);
                all.next = own.next;
            }
        }
        let scope = &mut self.scopes[scope];
        scope.lane_depth = all.boxes.iter().map(|lane| lane.depth + 1).max().unwrap_or(0);
        scope.lanes = all.boxes;
        scope.bands = all.next;
        all.bands
    }

    /// Turns loose edges into parts within scopes.
    fn connect(&mut self) {
        for LooseEdge { id, name, kind, source, target } in std::mem::take(&mut self.loose) {
            let place = |id: Option<&str>| id.and_then(|id| self.place_of(id));
            let (Some(source), Some(target)) = (place(source), place(target)) else {
                continue;
            };
            let edge = self.edges.len();
            let parts = self.parts(edge, source, target);
            if !parts.is_empty() {
                // A flow without an id has a place but no edge, because an edge names its element.
                let (id, name) = (id.unwrap_or_default(), name.filter(|name| !name.is_empty()));
                self.edges.push(Edge { id, name, kind, parts });
            }
        }
    }

    fn place_of(&self, id: &str) -> Option<Place> {
        let other = || self.alias.get(id).and_then(|other| self.places.get(other));
        self.places.get(id).or_else(other).copied()
    }

    fn outer(&self, place: Place) -> Option<Place> {
        let (scope, item) = self.scopes[place.scope].owner?;
        Some(Place { scope, item, boundary: None })
    }

    fn parts(&mut self, edge: usize, source: Place, target: Place) -> Vec<(usize, usize)> {
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        let (mut from, mut to) = (source, target);
        while from.scope != to.scope {
            let deeper = self.scopes[from.scope].depth >= self.scopes[to.scope].depth;
            let place = if deeper { &mut from } else { &mut to };
            let Some(outer) = self.outer(*place) else { return Vec::new() };
            if deeper {
                head.push(*place)
            } else {
                tail.push(*place)
            }
            *place = outer;
        }
        let downwards = to.item > from.item;
        let pools = self.scopes[from.scope].pools;
        let side = |graph: &Self, outer: Place, first: bool| {
            let boundary = graph.scopes[outer.scope].items[outer.item].boundary.is_empty();
            let down = if pools { downwards == first } else { boundary };
            if down { Side::Bottom } else { Side::Top }
        };
        let ports = [side(self, from, true), side(self, to, false)];
        let mut list = Vec::new();
        for place in head {
            list.push(self.part(edge, place.scope, node_end(place), End::Border(ports[0])));
        }
        // An item and something within it meet at the item's border.
        if from.item != to.item || (from.boundary != to.boundary) || list.is_empty() && tail.is_empty() {
            list.push(self.part(edge, from.scope, node_end(from), node_end(to)));
        }
        for place in tail.into_iter().rev() {
            list.push(self.part(edge, place.scope, End::Border(ports[1]), node_end(place)));
        }
        list
    }

    fn part(&mut self, edge: usize, scope: usize, from: End, to: End) -> (usize, usize) {
        self.scopes[scope].parts.push(Part { edge, from, to, points: Vec::new() });
        (scope, self.scopes[scope].parts.len() - 1)
    }
}

fn node_end(place: Place) -> End {
    End::Node { item: place.item, boundary: place.boundary, port: None }
}

fn is_empty(content: &Content<'_>) -> bool {
    let lanes = content.process.and_then(|process| process.lane_sets.as_deref()).unwrap_or_default();
    content.nodes.is_empty() && lanes.iter().all(|set| set.lanes.iter().flatten().next().is_none())
}

/// An item of the usual size of its kind.
fn item<'a>(id: &'a str, name: Option<&'a str>, kind: Kind, band: usize) -> Item<'a> {
    let (width, height) = match kind {
        Kind::Event => (EVENT, EVENT),
        Kind::Gateway => (50, 50),
        Kind::Activity | Kind::Container(_) => (100, 80),
        Kind::Data => (36, 50),
        Kind::Note => note_size(name.unwrap_or_default()),
        Kind::Group => (300, 160),
        Kind::Pool(_) => (600, 60),
        Kind::Conversation => (60, 52),
    };
    Item {
        id,
        name: name.filter(|name| !name.trim().is_empty()),
        kind,
        marker: false,
        band,
        boundary: Vec::new(),
        width,
        height,
        column: 0,
        span: 1,
        row: 0,
        x: 0,
        y: 0,
    }
}

/// Room for the text of an annotation, at 7 units a letter and 15 a line.
fn note_size(text: &str) -> (i32, i32) {
    let letters = text.chars().take(2_000).count() as i32;
    let width = if letters > 60 { 200 } else { 100 };
    let lines =
        text.lines().take(20).map(|line| 1 + line.chars().take(2_000).count() as i32 * 7 / width).sum();
    (width, (10 + 15 * i32::max(lines, 1)).clamp(30, 300))
}

/// Deepest nesting of lanes that is shown; a JSON document cannot nest deeper.
const LANE_DEPTH: i32 = 64;

/// Boxes and bands of lane sets.
#[derive(Debug, Default)]
struct Lanes<'a> {
    boxes: Vec<LaneBox<'a>>,
    bands: HashMap<&'a str, usize>,
    next: usize,
}

impl<'a> Lanes<'a> {
    /// Gives each leaf lane a band; nodes that only an outer lane claims have a band below its inner lanes.
    fn flatten(&mut self, set: &'a LaneSet, depth: i32) {
        for lane in set.lanes.iter().flatten() {
            let index = self.boxes.len();
            let first = self.next;
            self.boxes.push(LaneBox { id: lane.id.as_deref(), depth, first, last: first, bounds: [0; 4] });
            if let Some(inner) = lane.child_lane_set.as_deref().filter(|_| depth < LANE_DEPTH) {
                self.flatten(inner, depth + 1);
            }
            let nodes = lane.flow_node_refs.iter().flatten().map(String::as_str);
            let own: Vec<&str> = nodes.filter(|node| !self.bands.contains_key(node)).collect();
            if !own.is_empty() || self.next == first {
                self.bands.extend(own.into_iter().map(|node| (node, self.next)));
                self.next += 1;
            }
            self.boxes[index].last = self.next - 1;
        }
    }
}
