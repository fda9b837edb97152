//! Walks over a definition's graphs.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::{Edge, Node, Process, WorkflowDefinition};

/// Id of the process that the top-level nodes and edges form.
pub const MAIN_PROCESS_ID: &str = "main";

/// One graph of a definition: the top-level graph, a process, or the content of a sub-process.
#[derive(Debug, Clone)]
pub struct GraphRef<'a> {
    /// JSON path of the object that holds `nodes` and `edges`; empty for the top-level graph.
    pub path: String,
    /// Id of the process or of the sub-process's node; `main` for the top-level graph.
    pub id: Option<&'a str>,
    /// The process or sub-process content; none for the top-level graph.
    pub process: Option<&'a Process>,
    /// The node of a sub-process.
    pub owner: Option<&'a Node>,
    /// Nodes.
    pub nodes: &'a [Node],
    /// Edges.
    pub edges: &'a [Edge],
    /// Sub-process nesting: 0 for a process.
    pub depth: usize,
    /// Index, in the same walk, of the graph around it.
    pub parent: Option<usize>,
}

/// A node with its place.
#[derive(Debug, Clone)]
pub struct NodeAt<'a> {
    /// JSON path, such as `bpmn.processes[0].nodes[2]`.
    pub path: String,
    /// The node.
    pub node: &'a Node,
    /// Sub-process nesting: 0 in a process.
    pub depth: usize,
}

/// All graphs of a definition, each before the ones nested in it.
pub fn graphs(definition: &WorkflowDefinition) -> Vec<GraphRef<'_>> {
    let mut found = Vec::new();
    if definition.nodes.is_some() || definition.edges.is_some() {
        let top = GraphRef {
            path: String::new(),
            id: Some(MAIN_PROCESS_ID),
            process: None,
            owner: None,
            nodes: definition.nodes.as_deref().unwrap_or_default(),
            edges: definition.edges.as_deref().unwrap_or_default(),
            depth: 0,
            parent: None,
        };
        found.push(top);
    }
    let processes = definition.bpmn.as_ref().and_then(|bpmn| bpmn.processes.as_deref()).unwrap_or_default();
    for (index, process) in processes.iter().enumerate() {
        found.push(of_process(process, format!("bpmn.processes[{index}]")));
    }
    let mut next = 0;
    while next < found.len() {
        let nodes = found[next].nodes;
        for (index, node) in nodes.iter().enumerate() {
            let Some(content) = node.bpmn.as_ref().and_then(|bpmn| bpmn.sub_process.as_deref()) else {
                continue;
            };
            let path = join(&found[next].path, &format!("nodes[{index}].bpmn.subProcess"));
            let mut graph = of_process(content, path);
            graph.id = node.element_id().or(graph.id);
            graph.owner = Some(node);
            graph.depth = found[next].depth + 1;
            graph.parent = Some(next);
            found.push(graph);
        }
        next += 1;
    }
    found
}

fn of_process(process: &Process, path: String) -> GraphRef<'_> {
    GraphRef {
        path,
        id: process.id.as_deref(),
        process: Some(process),
        owner: None,
        nodes: process.nodes.as_deref().unwrap_or_default(),
        edges: process.edges.as_deref().unwrap_or_default(),
        depth: 0,
        parent: None,
    }
}

/// The path `tail` below `head`.
pub fn join(head: &str, tail: &str) -> String {
    if head.is_empty() { tail.to_owned() } else { format!("{head}.{tail}") }
}

/// All nodes of a definition with their JSON paths, outer graphs first.
pub fn nodes(definition: &WorkflowDefinition) -> Vec<NodeAt<'_>> {
    let mut found = Vec::new();
    for graph in graphs(definition) {
        for (index, node) in graph.nodes.iter().enumerate() {
            found.push(NodeAt {
                path: join(&graph.path, &format!("nodes[{index}]")),
                node,
                depth: graph.depth,
            });
        }
    }
    found
}

/// The ids of all nodes and of all edges, outer graphs first, in document order.
pub fn node_and_edge_ids(definition: &WorkflowDefinition) -> (Vec<&str>, Vec<&str>) {
    let mut node_ids = Vec::new();
    let mut edge_ids = Vec::new();
    for graph in graphs(definition) {
        node_ids.extend(graph.nodes.iter().filter_map(Node::element_id));
        edge_ids.extend(graph.edges.iter().filter_map(|edge| edge.id.as_deref()));
    }
    (node_ids, edge_ids)
}
