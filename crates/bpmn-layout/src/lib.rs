//! Automatic layout: diagram interchange for what has none.
//!
//! A process is laid out from left to right in layers, in the phases of Sugiyama: layer assignment (`layers`),
//! ordering (`ordering`, `chains`), coordinate assignment (`coordinates`), with orthogonal routes of the edges between
//! (`route`, `tracks`) that pass no shape but their own ends. Flows are taken apart into chains that each stand in one
//! row; branches stand above and below, lanes are bands of rows, sub-processes are laid out first and stand in their
//! process with their size. Edges leave through the gaps between columns and rows, where each has a track of its own.
//!
//! The same definition gives the same layout. A process or sub-process of more than [`MOST_ITEMS`] nodes or
//! [`MOST_EDGES`] edges stands in a square in document order, which takes near-linear time; edges go through the gaps all the same.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

mod chains;
mod coordinates;
mod diagram;
mod graph;
mod layers;
mod ordering;
mod route;
mod tracks;

use graph::{Content, End, Kind, LayoutGraph, Side};
use heddle_bpmn::model::{Bpmn, Collaboration, Diagram, MAIN_PROCESS_ID, Process, WorkflowDefinition};
use heddle_bpmn::xml::{self, WriteError, Written};
use std::collections::HashSet;

/// Most nodes of one process or sub-process that are laid out along their flow: the work may grow with the
/// square of their number.
pub const MOST_ITEMS: usize = 3_000;

/// Most edges of one process or sub-process that are laid out along its flow; each may look at every column and row.
pub const MOST_EDGES: usize = 12_000;

/// Lays out what a definition has no diagram for.
///
/// A definition without shapes gets one diagram per collaboration, and one per process that no collaboration
/// shows. A definition with shapes gets one for each process that neither a shape of its own nor a shape of a
/// participant stands for; the existing diagrams are left alone and are not part of the result. Distances
/// are in diagram units (pixels), whole, and not negative.
///
/// A process whose id is none that XML allows is left out, because nothing could refer to it.
/// Choreographies, and groups' content (which the definition does not name), are not laid out.
pub fn lay_out(definition: &WorkflowDefinition) -> Vec<Diagram> {
    let empty = Bpmn::default();
    let bpmn = definition.bpmn.as_deref().unwrap_or(&empty);
    let mut names = diagram::Names::of(definition);
    let drawn = drawn(bpmn);
    let mut shown: HashSet<&str> = HashSet::new();
    let mut diagrams = Vec::new();
    for collaboration in bpmn.collaborations.iter().flatten() {
        let participants = collaboration.participants.iter().flatten();
        if drawn.is_empty() && !is_bare(collaboration) {
            let without_pool = without_pool(bpmn, collaboration);
            shown.extend(without_pool.iter().filter_map(|process| process.id.as_deref()));
            let bare: Vec<Content<'_>> = without_pool.into_iter().map(Content::of).collect();
            let mut graph =
                LayoutGraph::of_collaboration(collaboration, |id| content(definition, bpmn, id), &bare);
            solve(&mut graph);
            diagrams.push(diagram::diagram(&graph, collaboration.id.as_deref(), &mut names));
            shown.extend(participants.filter_map(|participant| participant.process_ref.as_deref()));
        } else {
            let seen = participants.filter(|own| own.id.as_deref().is_some_and(|id| drawn.contains(id)));
            shown.extend(seen.filter_map(|participant| participant.process_ref.as_deref()));
        }
    }
    let main = (definition.nodes.is_some() || definition.edges.is_some()).then_some(MAIN_PROCESS_ID);
    let processes = bpmn.processes.iter().flatten().filter_map(|process| process.id.as_deref());
    for id in main.into_iter().chain(processes) {
        let Some(content) = content(definition, bpmn, id).filter(|_| !shown.contains(id)) else { continue };
        let known = content.nodes.iter().filter_map(|node| node.element_id());
        let nothing = content.nodes.is_empty() || !diagram::is_id(id);
        if nothing || known.chain([id]).any(|id| drawn.contains(id)) {
            continue;
        }
        shown.insert(id);
        let mut graph = LayoutGraph::of_process(content);
        solve(&mut graph);
        diagrams.push(diagram::diagram(&graph, Some(id), &mut names));
    }
    diagrams
}

/// Writes a definition as a BPMN 2.0 document for others: one that shows nothing in diagrams is laid out first,
/// see [`lay_out`]. One that shows something is written as it is, so that nothing is added to
/// what an author drew.
///
/// # Errors
///
/// As [`xml::write`].
pub fn export(definition: &WorkflowDefinition) -> Result<Written, WriteError> {
    let mut drawn = definition.bpmn.iter().flat_map(|bpmn| bpmn.diagrams.iter().flatten());
    if drawn.any(|diagram| diagram.shapes.as_ref().is_some_and(|shapes| !shapes.is_empty())) {
        return xml::write(definition);
    }
    let diagrams = lay_out(definition);
    if diagrams.is_empty() {
        return xml::write(definition);
    }
    let mut shown = definition.clone();
    shown.bpmn.get_or_insert_default().diagrams.get_or_insert_default().extend(diagrams);
    xml::write(&shown)
}

/// Ids of the elements that the existing diagrams show.
fn drawn(bpmn: &Bpmn) -> HashSet<&str> {
    let diagrams = bpmn.diagrams.iter().flatten();
    let shapes = diagrams.flat_map(|diagram| diagram.shapes.iter().flatten());
    shapes.filter_map(|shape| shape.element_ref.as_deref()).collect()
}

/// Whether a collaboration has nothing to show.
fn is_bare(collaboration: &Collaboration) -> bool {
    let participants = collaboration.participants.iter().flatten().next();
    let conversations = collaboration.conversations.iter().flatten().next();
    participants.is_none() && conversations.is_none()
}

/// Processes that no participant stands for, but that message flows of the collaboration lead to.
fn without_pool<'a>(bpmn: &'a Bpmn, collaboration: &'a Collaboration) -> Vec<&'a Process> {
    let collaborations = bpmn.collaborations.iter().flatten();
    let participants = collaborations.flat_map(|own| own.participants.iter().flatten());
    let pooled: HashSet<&str> = participants.filter_map(|own| own.process_ref.as_deref()).collect();
    let flows = collaboration.message_flows.iter().flatten();
    let ends = flows.flat_map(|flow| [flow.source_ref.as_deref(), flow.target_ref.as_deref()]);
    let ends: HashSet<&str> = ends.flatten().collect();
    let bare = bpmn.processes.iter().flatten().filter(|process| {
        let nodes = process.nodes.iter().flatten().filter_map(|node| node.element_id());
        process.id.as_deref().is_none_or(|id| !pooled.contains(id))
            && nodes.into_iter().any(|id| ends.contains(id))
    });
    bare.collect()
}

fn content<'a>(definition: &'a WorkflowDefinition, bpmn: &'a Bpmn, id: &str) -> Option<Content<'a>> {
    let has_main = definition.nodes.is_some() || definition.edges.is_some();
    if id == MAIN_PROCESS_ID && has_main {
        let nodes = definition.nodes.as_deref().unwrap_or_default();
        return Some(Content {
            nodes,
            edges: definition.edges.as_deref().unwrap_or_default(),
            process: None,
        });
    }
    let mut processes = bpmn.processes.iter().flatten();
    processes.find(|process| process.id.as_deref() == Some(id)).map(Content::of)
}

/// Lays out all scopes, inner ones first, and joins their sizes and ports.
fn solve(graph: &mut LayoutGraph<'_>) {
    let kinds: Vec<_> = graph.edges.iter().map(|edge| edge.kind).collect();
    let named: Vec<bool> = graph.edges.iter().map(|edge| edge.name.is_some()).collect();
    for index in (0..graph.scopes.len()).rev() {
        size(graph, index);
        let owner = graph.scopes[index].owner;
        let in_pool = owner.is_some_and(|(outer, _)| graph.scopes[outer].pools);
        let scope = &mut graph.scopes[index];
        let grid = ordering::assign(scope, &kinds);
        let mut routes = route::Router::new(scope, &grid).routes(&kinds);
        let tracks = tracks::assign(scope, &grid, &mut routes);
        coordinates::assign(scope, &grid, &tracks, &routes, &named, in_pool);
        hand_over(graph, index);
    }
}

/// Sizes of the items that depend on their content or on their boundary events.
fn size(graph: &mut LayoutGraph<'_>, index: usize) {
    // Only the scopes within this one: there may be very many others.
    let items = graph.scopes[index].items.iter();
    let inner = items.map(|item| match item.kind {
        Kind::Container(inner) | Kind::Pool(Some(inner)) => {
            Some((graph.scopes[inner].width, graph.scopes[inner].height))
        }
        Kind::Activity
        | Kind::Event
        | Kind::Gateway
        | Kind::Data
        | Kind::Note
        | Kind::Group
        | Kind::Conversation
        | Kind::Pool(None) => None,
    });
    let sizes: Vec<Option<(i32, i32)>> = inner.collect();
    let scope = &mut graph.scopes[index];
    for (item, size) in scope.items.iter_mut().zip(sizes) {
        if let Some(size) = size {
            (item.width, item.height) = size;
        }
        if !item.boundary.is_empty() {
            item.width = item.width.max(20 + 46 * item.boundary.len() as i32);
        }
    }
    if !scope.pools {
        return;
    }
    // Pools are of one width.
    let pools = |kind: Kind| matches!(kind, Kind::Pool(_));
    let most = scope.items.iter().filter(|item| pools(item.kind)).map(|item| item.width).max().unwrap_or(0);
    let mut stretched = Vec::new();
    for item in scope.items.iter_mut().filter(|item| pools(item.kind)) {
        item.width = most;
        if let Kind::Pool(Some(inner)) = item.kind {
            stretched.push(inner);
        }
    }
    for inner in stretched {
        let scope = &mut graph.scopes[inner];
        let more = most - scope.width;
        scope.width = most;
        scope.lanes.iter_mut().for_each(|lane| lane.bounds[2] += more);
    }
}

/// Tells the scope around where edges come out of this one.
fn hand_over(graph: &mut LayoutGraph<'_>, index: usize) {
    let mut found = Vec::new();
    for (at, part) in graph.scopes[index].parts.iter().enumerate() {
        let list = &graph.edges[part.edge].parts;
        let Some(place) = list.iter().position(|own| *own == (index, at)) else { continue };
        if let (End::Border(side), Some(point), Some(before)) =
            (part.from, part.points.first(), place.checked_sub(1))
        {
            found.push((list[before], false, side, point.x));
        }
        if let (End::Border(side), Some(point), Some(&next)) =
            (part.to, part.points.last(), list.get(place + 1))
        {
            found.push((next, true, side, point.x));
        }
    }
    let owner = graph.scopes[index].owner;
    for ((scope, at), first, side, x) in found {
        let part = &mut graph.scopes[scope].parts[at];
        let end = if first { &mut part.from } else { &mut part.to };
        set_port(end, side, x, owner.map(|(_, item)| item));
    }
}

fn set_port(end: &mut End, side: Side, x: i32, owner: Option<usize>) {
    if let End::Node { item, port, .. } = end
        && Some(*item) == owner
    {
        *port = Some((side, x));
    }
}
