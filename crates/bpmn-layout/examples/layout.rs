//! Lays out the models given as arguments and writes each as `NAME.svg` into the folder of `--out`; without
//! arguments, prints the time that flows of 100, 500 and 1,500 nodes take.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people at a terminal")]

use heddle_bpmn::model::{Diagram, Edge, Node, WorkflowDefinition};
use heddle_bpmn::xml;
use heddle_bpmn_layout::lay_out;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() {
    let mut out = PathBuf::from(".");
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--out" {
            out = PathBuf::from(arguments.next().unwrap());
        } else {
            files.push(PathBuf::from(argument));
        }
    }
    for file in &files {
        draw(file, &out);
    }
    if files.is_empty() {
        for count in [100, 500, 1_500, 20_000] {
            let definition = flow(count);
            let start = Instant::now();
            let diagrams = lay_out(&definition);
            println!(
                "{count} nodes: {:.1} ms, {} diagram",
                start.elapsed().as_secs_f64() * 1e3,
                diagrams.len()
            );
        }
    }
}

fn draw(file: &Path, out: &Path) {
    let mut definition = xml::read(&std::fs::read(file).unwrap()).unwrap().definition;
    if let Some(bpmn) = definition.bpmn.as_mut() {
        bpmn.diagrams = None;
    }
    let names = names(&xml::write(&definition).unwrap().xml);
    for (number, diagram) in lay_out(&definition).iter().enumerate() {
        let stem = file.file_stem().unwrap().to_string_lossy();
        std::fs::write(out.join(format!("{stem}.{number}.svg")), svg(diagram, &names)).unwrap();
    }
}

/// Names and element names by id, out of the document's text.
fn names(xml: &str) -> HashMap<String, (String, String)> {
    let mut found = HashMap::new();
    for tag in xml.split('<').skip(1) {
        let value = |key: &str| {
            let start = tag.find(key)? + key.len();
            tag[start..].split('"').next().map(str::to_owned)
        };
        if let Some(id) = value(" id=\"") {
            let kind = tag.split([' ', '>', '/']).next().unwrap_or_default();
            let kind = kind.rsplit(':').next().unwrap_or_default();
            found.insert(id, (kind.to_owned(), value(" name=\"").unwrap_or_default()));
        }
    }
    found
}

fn svg(diagram: &Diagram, names: &HashMap<String, (String, String)>) -> String {
    let (mut body, mut right, mut bottom) = (String::new(), 0.0_f64, 0.0_f64);
    for shape in diagram.shapes.iter().flatten() {
        let bounds = shape.bounds.as_ref().unwrap();
        let (x, y) = (bounds.x.unwrap(), bounds.y.unwrap());
        let (w, h) = (bounds.width.unwrap(), bounds.height.unwrap());
        (right, bottom) = (right.max(x + w), bottom.max(y + h));
        let (kind, name) = names.get(shape.element_ref.as_deref().unwrap()).cloned().unwrap_or_default();
        let (cx, cy) = (x + w / 2.0, y + h / 2.0);
        if kind.ends_with("Gateway") {
            write!(body, "<polygon points='{x},{cy} {cx},{y} {},{cy} {cx},{}' fill='white' stroke='black'/>", x + w, y + h)
        } else {
            let rx = if kind.ends_with("Event") { 18 } else { i32::from(kind.contains("ask")) * 10 };
            write!(body, "<rect x='{x}' y='{y}' width='{w}' height='{h}' rx='{rx}' fill='white' fill-opacity='0.5' stroke='black'/>")
        }
        .unwrap();
        let text: String = name.chars().take(if shape.label.is_some() { 40 } else { 18 }).collect();
        let (tx, ty, anchor) = match shape.label.as_ref().and_then(|label| label.bounds.as_ref()) {
            Some(at) => (at.x.unwrap(), at.y.unwrap() + 10.0, "start"),
            None if shape.horizontal == Some(true) => (x + 3.0, cy, "start"),
            None if shape.expanded == Some(true) => (x + 5.0, y + 14.0, "start"),
            None => (cx, cy, "middle"),
        };
        write!(body, "<text x='{tx}' y='{ty}' font-size='10' text-anchor='{anchor}'>{text}</text>").unwrap();
    }
    for edge in diagram.edges.iter().flatten() {
        let points: Vec<String> = edge
            .waypoints
            .iter()
            .flatten()
            .map(|point| {
                let (x, y) = (point.x.unwrap(), point.y.unwrap());
                (right, bottom) = (right.max(x), bottom.max(y));
                format!("{x},{y}")
            })
            .collect();
        let (kind, name) = names.get(edge.element_ref.as_deref().unwrap()).cloned().unwrap_or_default();
        let colour = match kind.as_str() {
            "sequenceFlow" => "black",
            "messageFlow" => "blue",
            _ => "#999",
        };
        write!(
            body,
            "<polyline points='{}' fill='none' stroke='{colour}' marker-end='url(#a)'/>",
            points.join(" ")
        )
        .unwrap();
        if let Some(at) = edge.label.as_ref().and_then(|label| label.bounds.as_ref()) {
            let (x, y) = (at.x.unwrap(), at.y.unwrap() + 10.0);
            write!(body, "<text x='{x}' y='{y}' font-size='10' fill='#a00'>{name}</text>").unwrap();
        }
    }
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}'><defs><marker id='a' markerWidth='8' \
         markerHeight='8' refX='8' refY='4' orient='auto'><path d='M0,0 L8,4 L0,8 z'/></marker></defs>\
         <rect width='{0}' height='{1}' fill='white'/>{body}</svg>",
        right + 50.0,
        bottom + 50.0
    )
}

/// A flow of tasks and gateways with branches, joins and cycles.
fn flow(count: usize) -> WorkflowDefinition {
    let mut seed = 7_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    };
    let node = |number: usize, kind: usize| Node {
        id: Some(format!("n{number}")),
        r#type: Some(["userTask", "task", "exclusiveGateway"][kind].to_owned()),
        ..Node::default()
    };
    let nodes = (0..count).map(|number| node(number, next(3))).collect();
    let edge = |from: usize, to: usize, number: usize| Edge {
        id: Some(format!("e{number}")),
        source: Some(format!("n{from}")),
        target: Some(format!("n{to}")),
        ..Edge::default()
    };
    let mut edges: Vec<Edge> = (1..count).map(|to| edge(to - 1 - next(to.min(4)), to, to)).collect();
    for number in 0..count / 2 {
        let from = next(count);
        let to =
            if number % 5 == 0 { from.saturating_sub(next(20)) } else { (from + next(20)).min(count - 1) };
        edges.push(edge(from, to, count + number));
    }
    WorkflowDefinition { nodes: Some(nodes), edges: Some(edges), ..WorkflowDefinition::default() }
}
