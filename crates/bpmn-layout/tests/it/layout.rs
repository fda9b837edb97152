//! Checks the geometry of automatic layouts: over every model of the suites without its diagrams, and over
//! random flows.

use crate::folders::{models, suites};
use heddle_bpmn::model::{
    Diagram, DiagramShape, Edge, Lane, LaneSet, Node, NodeBpmn, Process, WorkflowDefinition, graphs,
};
use heddle_bpmn::xml;
use heddle_bpmn_layout::lay_out;
use std::collections::{HashMap, HashSet};

type Rect = (i64, i64, i64, i64);

fn rect(shape: &DiagramShape) -> Rect {
    let bounds = shape.bounds.as_ref().unwrap();
    let whole = |value: Option<f64>| {
        let value = value.unwrap();
        assert!(value >= 0.0 && value.fract() == 0.0, "{value} in {:?}", shape.id);
        value as i64
    };
    let (x, y) = (whole(bounds.x), whole(bounds.y));
    (x, y, x + whole(bounds.width), y + whole(bounds.height))
}

fn contains(outer: Rect, inner: Rect) -> bool {
    outer.0 <= inner.0 && outer.1 <= inner.1 && outer.2 >= inner.2 && outer.3 >= inner.3
}

fn overlap(one: Rect, other: Rect) -> bool {
    one.0 < other.2 && other.0 < one.2 && one.1 < other.3 && other.1 < one.3
}

/// What is wrong with the layout of a definition.
fn check(definition: &WorkflowDefinition) -> Vec<String> {
    let mut wrong = Vec::new();
    let diagrams = lay_out(definition);
    assert_eq!(diagrams, lay_out(definition), "the layout differs from run to run");
    let mut hosts: HashMap<&str, &str> = HashMap::new();
    let mut expected: HashSet<&str> = HashSet::new();
    for graph in graphs(definition) {
        for node in graph.nodes {
            let id = node.element_id().unwrap_or_default();
            if !id.is_empty() {
                expected.insert(id);
            }
            if let Some(host) = node.bpmn.as_ref().and_then(|bpmn| bpmn.attached_to_ref.as_deref()) {
                hosts.insert(id, host);
            }
        }
    }
    let bpmn = definition.bpmn.as_deref();
    for collaboration in bpmn.iter().flat_map(|bpmn| bpmn.collaborations.iter().flatten()) {
        expected.extend(collaboration.participants.iter().flatten().filter_map(|own| own.id.as_deref()));
    }
    let shown: HashSet<&str> = diagrams
        .iter()
        .flat_map(|diagram| diagram.shapes.iter().flatten())
        .filter_map(|shape| shape.element_ref.as_deref())
        .collect();
    wrong.extend(expected.iter().filter(|id| !shown.contains(*id)).map(|id| format!("{id} has no shape")));
    missing_edges(definition, &diagrams, &shown, &mut wrong);
    for diagram in &diagrams {
        shapes(diagram, &hosts, &mut wrong);
        edges(diagram, &hosts, definition, &mut wrong);
        lanes(diagram, definition, &mut wrong);
    }
    wrong
}

fn missing_edges(
    definition: &WorkflowDefinition,
    diagrams: &[Diagram],
    shown: &HashSet<&str>,
    wrong: &mut Vec<String>,
) {
    let drawn: HashSet<&str> = diagrams
        .iter()
        .flat_map(|diagram| diagram.edges.iter().flatten())
        .filter_map(|edge| edge.element_ref.as_deref())
        .collect();
    for graph in graphs(definition) {
        for edge in graph.edges {
            let known = |end: &Option<String>| end.as_deref().is_some_and(|id| shown.contains(id));
            let id = edge.id.as_deref().unwrap_or_default();
            if known(&edge.source) && known(&edge.target) && !id.is_empty() && !drawn.contains(id) {
                wrong.push(format!("{id} has no edge"));
            }
        }
    }
    for bpmn in definition.bpmn.iter() {
        let flows = bpmn.collaborations.iter().flatten().flat_map(|own| own.message_flows.iter().flatten());
        for flow in flows {
            let known = |end: &Option<String>| end.as_deref().is_some_and(|id| shown.contains(id));
            let id = flow.id.as_deref().unwrap_or_default();
            if known(&flow.source_ref) && known(&flow.target_ref) && !id.is_empty() && !drawn.contains(id) {
                wrong.push(format!("{id} has no edge"));
            }
        }
    }
}

fn shapes(diagram: &Diagram, hosts: &HashMap<&str, &str>, wrong: &mut Vec<String>) {
    let list: Vec<(&str, Rect)> = diagram
        .shapes
        .iter()
        .flatten()
        .map(|shape| (shape.element_ref.as_deref().unwrap(), rect(shape)))
        .collect();
    for (at, &(one, first)) in list.iter().enumerate() {
        for &(other, second) in &list[at + 1..] {
            let attached = hosts.get(one) == Some(&other) || hosts.get(other) == Some(&one);
            let nested = contains(first, second) || contains(second, first);
            if overlap(first, second) && !attached && !nested {
                wrong.push(format!("{one} {first:?} overlaps {other} {second:?}"));
            }
        }
    }
}

fn edges(
    diagram: &Diagram,
    hosts: &HashMap<&str, &str>,
    definition: &WorkflowDefinition,
    wrong: &mut Vec<String>,
) {
    let rects: HashMap<&str, Rect> = diagram
        .shapes
        .iter()
        .flatten()
        .map(|shape| (shape.element_ref.as_deref().unwrap(), rect(shape)))
        .collect();
    let ends = ends(definition);
    let lanes = lane_ids(definition);
    for edge in diagram.edges.iter().flatten() {
        let id = edge.element_ref.as_deref().unwrap();
        let points: Vec<(i64, i64)> = edge
            .waypoints
            .iter()
            .flatten()
            .map(|point| (point.x.unwrap() as i64, point.y.unwrap() as i64))
            .collect();
        let Some(&(source, target)) = ends.get(id) else { continue };
        for (end, point) in [(source, points[0]), (target, points[points.len() - 1])] {
            if let Some(&(x, y, right, bottom)) = rects.get(end) {
                let on = (point.0 == x || point.0 == right) && (y..=bottom).contains(&point.1)
                    || (point.1 == y || point.1 == bottom) && (x..=right).contains(&point.0);
                if !on {
                    wrong.push(format!("{id} docks at {point:?} off {end} {:?}", (x, y, right, bottom)));
                }
            }
        }
        for pair in points.windows(2) {
            if pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1 {
                wrong.push(format!("{id} is not orthogonal: {points:?}"));
            }
            let (left, right) = (pair[0].0.min(pair[1].0), pair[0].0.max(pair[1].0));
            let (top, bottom) = (pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1));
            for (&shape, &bounds) in rects.iter().filter(|(shape, _)| !lanes.contains(*shape)) {
                // A container of one of the ends is passed by way of its border.
                let through = left < bounds.2
                    && bounds.0 < right.max(left + 1)
                    && right > bounds.0
                    && top < bounds.3
                    && bottom > bounds.1
                    && bounds.1 < bottom.max(top + 1);
                let own = |end: &str| rects.get(end).is_some_and(|rect| contains(bounds, *rect));
                let host = hosts.get(source) == Some(&shape) || hosts.get(target) == Some(&shape);
                let is_end = shape == source || shape == target;
                if !through || (!is_end && (own(source) || own(target))) {
                    continue;
                }
                // Within an end lies only what docks at something inside it.
                let inner = rects.get(source).zip(rects.get(target));
                if is_end
                    && inner.is_some_and(|(one, other)| contains(*one, *other) || contains(*other, *one))
                {
                    continue;
                }
                let note = if host { " (its host)" } else { "" };
                wrong.push(format!("{id} {points:?} passes through {shape}{note} {bounds:?}"));
            }
        }
    }
}

/// Lanes are no obstacles: flows of a pool go from lane to lane, and no other wire may cross the pool.
fn lane_ids(definition: &WorkflowDefinition) -> HashSet<&str> {
    let mut found = HashSet::new();
    for graph in graphs(definition) {
        let sets = graph.process.and_then(|process| process.lane_sets.as_deref()).unwrap_or_default();
        let mut stack: Vec<&LaneSet> = sets.iter().collect();
        while let Some(set) = stack.pop() {
            for lane in set.lanes.iter().flatten() {
                found.extend(lane.id.as_deref());
                stack.extend(lane.child_lane_set.as_deref());
            }
        }
    }
    found
}

fn ends(definition: &WorkflowDefinition) -> HashMap<&str, (&str, &str)> {
    let mut ends = HashMap::new();
    let mut put = |id: &'_ Option<String>, source: &'_ Option<String>, target: &'_ Option<String>| {
        if let (Some(id), Some(source), Some(target)) = (id, source, target) {
            ends.insert(id.clone(), (source.clone(), target.clone()));
        }
    };
    for graph in graphs(definition) {
        graph.edges.iter().for_each(|edge| put(&edge.id, &edge.source, &edge.target));
        for artifact in graph.process.iter().flat_map(|process| process.artifacts.iter().flatten()) {
            put(&artifact.id, &artifact.source_ref, &artifact.target_ref);
        }
    }
    for bpmn in definition.bpmn.iter() {
        for flow in bpmn.collaborations.iter().flatten().flat_map(|own| own.message_flows.iter().flatten()) {
            put(&flow.id, &flow.source_ref, &flow.target_ref);
        }
    }
    ends.into_iter().map(|(id, (source, target))| (leak(id), (leak(source), leak(target)))).collect()
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn lanes(diagram: &Diagram, definition: &WorkflowDefinition, wrong: &mut Vec<String>) {
    let rects: HashMap<&str, Rect> = diagram
        .shapes
        .iter()
        .flatten()
        .map(|shape| (shape.element_ref.as_deref().unwrap(), rect(shape)))
        .collect();
    for graph in graphs(definition) {
        let sets = graph.process.and_then(|process| process.lane_sets.as_deref()).unwrap_or_default();
        let mut stack: Vec<&Lane> = sets.iter().take(1).flat_map(|set| set.lanes.iter().flatten()).collect();
        while let Some(lane) = stack.pop() {
            stack.extend(lane.child_lane_set.iter().flat_map(|set| set.lanes.iter().flatten()));
            let Some(bounds) = lane.id.as_deref().and_then(|id| rects.get(id)) else {
                if graph.nodes.iter().any(|node| node.element_id().is_some_and(|id| rects.contains_key(id))) {
                    wrong.push(format!("lane {:?} has no shape", lane.id));
                }
                continue;
            };
            for id in lane.flow_node_refs.iter().flatten() {
                let boundary = graph.nodes.iter().any(|node| {
                    node.element_id() == Some(id) && node.element_type() == Some("boundaryEvent")
                });
                if let Some(rect) = rects.get(id.as_str())
                    && !boundary
                    && !contains(*bounds, *rect)
                {
                    wrong.push(format!("lane {:?} {bounds:?} does not hold {id} {rect:?}", lane.id));
                }
            }
        }
    }
}

#[test]
fn the_suites_models_have_a_sound_layout() {
    let Some(suites) = suites() else { return };
    let (mut count, mut failures) = (0, Vec::new());
    for folder in ["bpmn/miwg", "bpmn/pool", "bpmn/execution"] {
        for path in models(&suites.join(folder)) {
            let mut definition = xml::read(&std::fs::read(&path).unwrap()).unwrap().definition;
            if let Some(bpmn) = definition.bpmn.as_mut() {
                bpmn.diagrams = None;
                // No diagram could refer to a process whose id XML does not allow, such as `my{0}`: it is left out.
                let allowed = |id: &str| id.chars().all(|one| one.is_alphanumeric() || "_-.".contains(one));
                for process in bpmn.processes.iter_mut().flatten() {
                    process.id = process.id.take().map(|id| if allowed(&id) { id } else { "p".to_owned() });
                }
            }
            count += 1;
            let wrong = check(&definition);
            if !wrong.is_empty() {
                let name = path.strip_prefix(&suites).unwrap().display().to_string();
                failures.push(format!("{name}: {}", wrong[..wrong.len().min(4)].join("\n    ")));
            }
        }
    }
    assert!(count > 0, "no model found");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

/// A number below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// A process with branches, cycles, boundary events, sub-processes and, at the top, lanes.
fn random(random: &mut Random, prefix: &str, count: usize, depth: usize) -> Process {
    let kinds = ["task", "userTask", "exclusiveGateway", "parallelGateway", "intermediateThrowEvent"];
    let mut process = Process { id: Some(format!("{prefix}process")), ..Process::default() };
    let mut nodes = Vec::new();
    let mut sources = Vec::new();
    for number in 0..count {
        let id = format!("{prefix}n{number}");
        let mut node = Node { id: Some(id.clone()), ..Node::default() };
        if depth > 0 && random.below(15) == 0 {
            let size = 2 + random.below(8);
            let content = self::random(random, &format!("{id}_"), size, depth - 1);
            node.r#type = Some("subProcess".to_owned());
            node.bpmn =
                Some(Box::new(NodeBpmn { sub_process: Some(Box::new(content)), ..NodeBpmn::default() }));
        } else {
            node.r#type = Some(kinds[random.below(kinds.len())].to_owned());
        }
        let activity =
            node.r#type.as_deref().is_some_and(|kind| kind.contains("ask") || kind == "subProcess");
        for event in 0..if activity { random.below(8).saturating_sub(5) } else { 0 } {
            let own = format!("{id}_b{event}");
            let bpmn = NodeBpmn { attached_to_ref: Some(id.clone()), ..NodeBpmn::default() };
            nodes.push(Node {
                id: Some(own.clone()),
                r#type: Some("boundaryEvent".to_owned()),
                bpmn: Some(Box::new(bpmn)),
                ..Node::default()
            });
            sources.push(own);
        }
        sources.push(id);
        nodes.push(node);
    }
    let targets: Vec<String> = (0..count).map(|number| format!("{prefix}n{number}")).collect();
    let mut edges = Vec::new();
    for number in 0..count * 3 / 2 {
        let source = sources[random.below(sources.len())].clone();
        edges.push(Edge {
            id: Some(format!("{prefix}e{number}")),
            source: Some(source),
            target: Some(targets[random.below(targets.len())].clone()),
            ..Edge::default()
        });
    }
    if depth == 2 && random.below(2) == 0 {
        let lane = |number: usize| Lane {
            id: Some(format!("{prefix}lane{number}")),
            flow_node_refs: Some(targets.iter().skip(number).step_by(4).cloned().collect()),
            ..Lane::default()
        };
        let set = LaneSet { lanes: Some((0..3).map(lane).collect()), ..LaneSet::default() };
        process.lane_sets = Some(vec![set]);
    }
    process.nodes = Some(nodes);
    process.edges = Some(edges);
    process
}

#[test]
fn random_flows_have_a_sound_layout() {
    for seed in 0..120 {
        let mut source = Random(seed);
        let count = if seed % 40 == 0 { 150 } else { 1 + source.below(40) };
        let process = random(&mut source, "", count, 2);
        let bpmn = heddle_bpmn::model::Bpmn { processes: Some(vec![process]), ..Default::default() };
        let definition = WorkflowDefinition { bpmn: Some(Box::new(bpmn)), ..WorkflowDefinition::default() };
        let wrong = check(&definition);
        assert!(wrong.is_empty(), "seed {seed}: {}", wrong[..wrong.len().min(6)].join("\n"));
    }
}

#[test]
fn what_has_a_diagram_is_exported_as_it_is() {
    let Some(suites) = suites() else { return };
    let mut kept = 0;
    for folder in ["bpmn/miwg", "bpmn/pool", "bpmn/execution"] {
        for path in models(&suites.join(folder)) {
            let definition = xml::read(&std::fs::read(&path).unwrap()).unwrap().definition;
            let diagrams = definition.bpmn.iter().flat_map(|bpmn| bpmn.diagrams.iter().flatten());
            if diagrams.flat_map(|diagram| diagram.shapes.iter().flatten()).next().is_some() {
                kept += 1;
                assert_eq!(
                    heddle_bpmn_layout::export(&definition).unwrap(),
                    xml::write(&definition).unwrap()
                );
            }
        }
    }
    assert!(kept > 0);
}

#[test]
fn an_export_without_diagrams_reads_back_with_them() {
    let process = random(&mut Random(5), "", 30, 2);
    let bpmn = heddle_bpmn::model::Bpmn { processes: Some(vec![process]), ..Default::default() };
    let definition = WorkflowDefinition { bpmn: Some(Box::new(bpmn)), ..WorkflowDefinition::default() };
    let again =
        xml::read(heddle_bpmn_layout::export(&definition).unwrap().xml.as_bytes()).unwrap().definition;
    assert_eq!(again.bpmn.as_ref().unwrap().diagrams.as_ref(), Some(&lay_out(&definition)));
    assert_eq!(lay_out(&again), Vec::new(), "what has a diagram gets no other");
    assert_eq!(heddle_bpmn_layout::export(&again).unwrap(), xml::write(&again).unwrap());
}

#[test]
fn ids_of_the_diagram_avoid_those_of_the_model() {
    let node =
        |id: &str| Node { id: Some(id.to_owned()), r#type: Some("task".to_owned()), ..Node::default() };
    let nodes = Some(vec![node("a"), node("a_di")]);
    let definition = WorkflowDefinition { nodes, ..WorkflowDefinition::default() };
    let diagrams = lay_out(&definition);
    let ids: Vec<_> = diagrams[0].shapes.iter().flatten().filter_map(|shape| shape.id.as_deref()).collect();
    assert_eq!(ids, ["a_di_2", "a_di_di"]);
    assert_eq!(diagrams[0].element_ref.as_deref(), Some("main"));
}

#[test]
fn a_hundred_thousand_nodes_have_a_layout() {
    let mut source = Random(9);
    let node = |number: usize| Node { id: Some(format!("n{number}")), ..Node::default() };
    let edge = |number: usize, to: usize| Edge {
        id: Some(format!("e{number}")),
        source: Some(format!("n{number}")),
        target: Some(format!("n{to}")),
        ..Edge::default()
    };
    let count = 100_000;
    let definition = WorkflowDefinition {
        nodes: Some((0..count).map(node).collect()),
        edges: Some((0..count).map(|number| edge(number, source.below(count))).collect()),
        ..WorkflowDefinition::default()
    };
    let diagrams = lay_out(&definition);
    assert_eq!(diagrams[0].shapes.as_ref().map(Vec::len), Some(count));
    assert_eq!(diagrams[0].edges.as_ref().map(Vec::len), Some(count));
}

/// New ids are ids of XML, whatever the elements' own are; what no diagram could refer to is left out.
#[test]
fn a_diagram_of_odd_ids_has_plain_ones() {
    let document = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:x">
        <process id="my{0}"><task id="b"/></process><process id="my.0"><task id="1 a"/></process></definitions>"#;
    let definition = heddle_bpmn::xml::read(document.as_bytes()).unwrap().definition;
    let diagrams = heddle_bpmn_layout::lay_out(&definition);
    assert_eq!(diagrams.len(), 1);
    assert_eq!(diagrams[0].id.as_deref(), Some("my.0_diagram"));
    assert_eq!(diagrams[0].shapes.as_ref().unwrap()[0].id.as_deref(), Some("_1_a_di"));
}
