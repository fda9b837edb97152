//! A diagram for a model that has none: the requirements graph in layers, decisions above what they require.
//!
//! The same model gives the same diagram, in near-linear time. Distances are in diagram units (pixels), whole, and not
//! negative.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use std::collections::HashMap;

use crate::diagram::{Drawing, Edge, Shape};
use crate::model::{AuthorityRequirement, DecisionModel, KnowledgeRequirement};

/// Between the shapes of a layer, and between layers.
const GAP: f64 = 60.0;
/// The height of a layer: that of its highest shape.
const LAYER: f64 = 80.0;
/// Around the whole.
const MARGIN: f64 = 20.0;
/// Number of times that the layers are put in order, alternately by what is below and above.
const SWEEPS: usize = 4;

const DECISION: [f64; 2] = [180.0, 80.0];
const INPUT: [f64; 2] = [126.0, 46.0];
const KNOWLEDGE: [f64; 2] = [136.0, 46.0];
const SOURCE: [f64; 2] = [100.0, 64.0];

struct Node<'m> {
    id: &'m str,
    size: [f64; 2],
    layer: usize,
    /// Places of what it requires.
    needs: Vec<usize>,
    /// Places of what requires it.
    serves: Vec<usize>,
    /// Place within the layer.
    order: usize,
    left: f64,
}

struct Line<'m> {
    id: Option<&'m str>,
    from: usize,
    to: usize,
}

/// Lays out the requirements graph: each element with an id that a diagram can name, and each such requirement between
/// two of them. A decision service is shown closed.
#[must_use]
pub fn lay_out(model: &DecisionModel) -> Drawing {
    let mut graph = Graph::of(model);
    graph.layers();
    graph.order();
    graph.place();
    graph.drawing()
}

/// The same graph with the bounds that are known, when those of every element are; lines that are not known are straight.
pub(crate) fn drawn(model: &DecisionModel, known: &Drawing) -> Option<Drawing> {
    let graph = Graph::of(model);
    let bounds: HashMap<&str, [f64; 4]> =
        known.shapes.iter().map(|shape| (shape.element_id.as_str(), shape.bounds)).collect();
    let lines: HashMap<&str, &Edge> =
        known.edges.iter().map(|edge| (edge.element_id.as_str(), edge)).collect();
    let bounds: Option<Vec<[f64; 4]>> = graph.nodes.iter().map(|node| bounds.get(node.id).copied()).collect();
    Some(graph.shown(&bounds?, &|id| {
        lines.get(id).filter(|edge| edge.waypoints.len() > 1).map(|edge| edge.waypoints.clone())
    }))
}

struct Graph<'m> {
    nodes: Vec<Node<'m>>,
    by_id: HashMap<&'m str, usize>,
    lines: Vec<Line<'m>>,
    rows: Vec<Vec<usize>>,
}

/// Whether a diagram can name an element by this id (an `NCName`).
fn is_name(id: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    id.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_') && id.chars().all(part)
}

impl<'m> Graph<'m> {
    fn of(model: &'m DecisionModel) -> Self {
        let mut graph =
            Self { nodes: Vec::new(), by_id: HashMap::new(), lines: Vec::new(), rows: Vec::new() };
        model.decisions.iter().for_each(|own| graph.node(own.id.as_ref(), DECISION));
        model.decision_services.iter().for_each(|own| graph.node(own.id.as_ref(), DECISION));
        model.business_knowledge_models.iter().for_each(|own| graph.node(own.id.as_ref(), KNOWLEDGE));
        model.input_data.iter().for_each(|own| graph.node(own.id.as_ref(), INPUT));
        model.knowledge_sources.iter().for_each(|own| graph.node(own.id.as_ref(), SOURCE));
        for own in &model.decisions {
            for one in &own.information_requirements {
                let source = one.required_decision.as_ref().or(one.required_input.as_ref());
                graph.line(model, one.id.as_ref(), source, own.id.as_ref());
            }
            graph.knowledge(model, &own.knowledge_requirements, own.id.as_ref());
            graph.authority(model, &own.authority_requirements, own.id.as_ref());
        }
        for own in &model.business_knowledge_models {
            graph.knowledge(model, &own.knowledge_requirements, own.id.as_ref());
            graph.authority(model, &own.authority_requirements, own.id.as_ref());
        }
        for own in &model.knowledge_sources {
            graph.authority(model, &own.authority_requirements, own.id.as_ref());
        }
        graph
    }

    fn node(&mut self, id: Option<&'m String>, size: [f64; 2]) {
        let Some(id) = id.filter(|id| is_name(id) && !self.by_id.contains_key(id.as_str())) else { return };
        self.by_id.insert(id, self.nodes.len());
        let node = Node { id, size, layer: 0, needs: Vec::new(), serves: Vec::new(), order: 0, left: 0.0 };
        self.nodes.push(node);
    }

    fn line(
        &mut self,
        model: &'m DecisionModel,
        id: Option<&'m String>,
        source: Option<&'m String>,
        target: Option<&'m String>,
    ) {
        let (Some(source), Some(target)) = (source, target) else { return };
        // Elements of other documents are not shown.
        let (namespace, source) = source.rsplit_once('#').unwrap_or(("", source));
        if !namespace.is_empty() && model.namespace.as_deref() != Some(namespace) {
            return;
        }
        let (Some(&from), Some(&to)) = (self.by_id.get(source), self.by_id.get(target.as_str())) else {
            return;
        };
        self.lines.push(Line { id: id.map(String::as_str), from, to });
    }

    fn knowledge(
        &mut self,
        model: &'m DecisionModel,
        list: &'m [KnowledgeRequirement],
        target: Option<&'m String>,
    ) {
        for one in list {
            self.line(model, one.id.as_ref(), one.required_knowledge.as_ref(), target);
        }
    }

    fn authority(
        &mut self,
        model: &'m DecisionModel,
        list: &'m [AuthorityRequirement],
        target: Option<&'m String>,
    ) {
        for one in list {
            let source = one.required_decision.as_ref().or(one.required_input.as_ref());
            self.line(model, one.id.as_ref(), source.or(one.required_authority.as_ref()), target);
        }
    }

    /// Gives each element the least layer above all that it requires; a requirement that closes a cycle does not count.
    fn layers(&mut self) {
        let mut wanted: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for line in &self.lines {
            wanted[line.to].push(line.from);
        }
        // 0 is new, 1 is on the path, 2 is done.
        let mut state = vec![0u8; self.nodes.len()];
        for start in 0..self.nodes.len() {
            if state[start] != 0 {
                continue;
            }
            let mut path = vec![(start, 0)];
            state[start] = 1;
            while let Some((at, next)) = path.last_mut() {
                let at = *at;
                let Some(&need) = wanted[at].get(*next) else {
                    state[at] = 2;
                    let below = self.nodes[at].needs.iter().map(|need| self.nodes[*need].layer + 1).max();
                    self.nodes[at].layer = below.unwrap_or(0);
                    path.pop();
                    continue;
                };
                *next += 1;
                if state[need] == 1 {
                    continue;
                }
                self.nodes[at].needs.push(need);
                self.nodes[need].serves.push(at);
                if state[need] == 0 {
                    state[need] = 1;
                    path.push((need, 0));
                }
            }
        }
        let count = self.nodes.iter().map(|node| node.layer + 1).max().unwrap_or(0);
        self.rows = vec![Vec::new(); count];
        for (at, node) in self.nodes.iter_mut().enumerate() {
            node.order = self.rows[node.layer].len();
            self.rows[node.layer].push(at);
        }
    }

    /// Puts each layer in the order of what its elements are tied to, below and above in turn.
    fn order(&mut self) {
        for sweep in 0..SWEEPS {
            let upwards = sweep % 2 == 0;
            let count = self.rows.len();
            for step in 0..count {
                let row = if upwards { step } else { count - 1 - step };
                let mut keyed: Vec<(f64, usize)> = self.rows[row]
                    .iter()
                    .map(|&at| {
                        let node = &self.nodes[at];
                        let tied = if upwards { &node.needs } else { &node.serves };
                        (self.middle(tied).unwrap_or_else(|| self.relative(at)), at)
                    })
                    .collect();
                // Stable, so that equals keep their order.
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                for (order, (_, at)) in keyed.iter().enumerate() {
                    self.nodes[*at].order = order;
                }
                self.rows[row] = keyed.into_iter().map(|(_, at)| at).collect();
            }
        }
    }

    /// Position of an element in its layer, from 0 to 1.
    fn relative(&self, at: usize) -> f64 {
        let node = &self.nodes[at];
        (node.order as f64 + 0.5) / self.rows[node.layer].len().max(1) as f64
    }

    fn middle(&self, tied: &[usize]) -> Option<f64> {
        let sum: f64 = tied.iter().map(|at| self.relative(*at)).sum();
        (!tied.is_empty()).then(|| sum / tied.len() as f64)
    }

    /// Centres the layers over each other.
    fn place(&mut self) {
        let width = |row: &Vec<usize>| -> f64 {
            let shapes: f64 = row.iter().map(|at| self.nodes[*at].size[0]).sum();
            shapes + GAP * row.len().saturating_sub(1) as f64
        };
        let widths: Vec<f64> = self.rows.iter().map(width).collect();
        let widest = widths.iter().copied().fold(0.0, f64::max);
        for (row, width) in self.rows.iter().zip(widths) {
            let mut left = MARGIN + ((widest - width) / 2.0).round();
            for at in row {
                self.nodes[*at].left = left;
                left += self.nodes[*at].size[0] + GAP;
            }
        }
    }

    fn bounds(&self, node: &Node<'_>) -> [f64; 4] {
        let from_top = self.rows.len() - 1 - node.layer;
        let [width, height] = node.size;
        let top = MARGIN + from_top as f64 * (LAYER + GAP) + (LAYER - height) / 2.0;
        [node.left, top, width, height]
    }

    fn drawing(&self) -> Drawing {
        let bounds: Vec<[f64; 4]> = self.nodes.iter().map(|node| self.bounds(node)).collect();
        self.shown(&bounds, &|_| None)
    }

    fn shown(&self, bounds: &[[f64; 4]], known: &dyn Fn(&str) -> Option<Vec<[f64; 2]>>) -> Drawing {
        let shape = |(node, bounds): (&Node<'_>, &[f64; 4])| Shape {
            element_id: node.id.to_owned(),
            bounds: *bounds,
        };
        let edge = |line: &Line<'_>| {
            let id = line.id.filter(|id| is_name(id))?;
            let waypoints = known(id).unwrap_or_else(|| between(bounds[line.from], bounds[line.to]));
            Some(Edge { element_id: id.to_owned(), waypoints })
        };
        Drawing {
            shapes: self.nodes.iter().zip(bounds).map(shape).collect(),
            edges: self.lines.iter().filter_map(edge).collect(),
        }
    }
}

/// A straight line from what is required to what requires it.
fn between(from: [f64; 4], to: [f64; 4]) -> Vec<[f64; 2]> {
    let middle = |[left, _, width, _]: [f64; 4]| (left + width / 2.0).round();
    if from[1] > to[1] + to[3] {
        return vec![[middle(from), from[1]], [middle(to), to[1] + to[3]]];
    }
    if to[1] > from[1] + from[3] {
        return vec![[middle(from), from[1] + from[3]], [middle(to), to[1]]];
    }
    let height = |[_, top, _, height]: [f64; 4]| top + height / 2.0;
    if from[0] < to[0] {
        vec![[from[0] + from[2], height(from)], [to[0], height(to)]]
    } else {
        vec![[from[0], height(from)], [to[0] + to[2], height(to)]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml;

    fn laid(content: &str) -> Drawing {
        let source = format!(
            r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="m" name="m" namespace="urn:m">{content}
            </definitions>"#
        );
        lay_out(&xml::read(source.as_bytes()).unwrap().model)
    }

    fn requires(id: &str, kind: &str, target: &str) -> String {
        format!(r##"<informationRequirement id="{id}"><{kind} href="#{target}"/></informationRequirement>"##)
    }

    #[test]
    fn decisions_stand_above_what_they_require() {
        let top = requires("r1", "requiredDecision", "low") + &requires("r2", "requiredInput", "i");
        let drawing = laid(&format!(
            r##"<inputData id="i" name="i"/><decision id="top" name="t">{top}</decision><decision id="low" name="l">{}
            <authorityRequirement id="r4"><requiredAuthority href="#law"/></authorityRequirement></decision>
            <knowledgeSource id="law" name="law"/><decisionService id="s" name="s"/>"##,
            requires("r3", "requiredInput", "j")
                + r#"</decision><inputData id="j" name="j"/><decision id="free" name="f">"#
        ));
        let top = |id: &str| {
            let shape = drawing.shapes.iter().find(|shape| shape.element_id == id).unwrap();
            (shape.bounds[1], shape.bounds[1] + shape.bounds[3])
        };
        assert_eq!(drawing.shapes.len(), 7);
        for (above, below) in [("top", "low"), ("top", "i"), ("low", "j")] {
            assert!(top(above).1 < top(below).0, "{above} above {below}");
        }
        let edge = drawing.edges.iter().find(|edge| edge.element_id == "r1").unwrap();
        assert_eq!((edge.waypoints[0][1], edge.waypoints[1][1]), (top("low").0, top("top").1));
        let apart = |a: &Shape, b: &Shape| {
            let ([ax, ay, aw, ah], [bx, by, bw, bh]) = (a.bounds, b.bounds);
            ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay
        };
        for (at, a) in drawing.shapes.iter().enumerate() {
            assert!(drawing.shapes[at + 1..].iter().all(|b| apart(a, b)), "{a:?} overlaps");
            assert!(a.bounds.iter().all(|value| *value >= 0.0 && value.fract() == 0.0), "{a:?}");
        }
    }

    #[test]
    fn cycles_and_what_cannot_be_named_do_no_harm() {
        let drawing = laid(&format!(
            r#"<decision id="a" name="a">{}</decision><decision id="b" name="b">{}</decision><decision id="1 b" name="c"/>
            <decision name="d"/><decision id="e" name="e">{}</decision>"#,
            requires("r1", "requiredDecision", "b"),
            requires("r2", "requiredDecision", "a"),
            requires("", "requiredDecision", "gone") + &requires("r5", "requiredDecision", "e")
        ));
        let names: Vec<&str> = drawing.shapes.iter().map(|shape| shape.element_id.as_str()).collect();
        assert_eq!(names, ["a", "b", "e"]);
        assert_eq!(drawing.edges.len(), 3);
        assert_eq!(laid("").shapes, []);
    }

    #[test]
    fn a_long_chain_and_many_neighbours_take_little_time() {
        let mut chain = String::new();
        for at in 0..5_000 {
            let needs = requires(&format!("r{at}"), "requiredDecision", &format!("d{}", at + 1));
            chain += &format!(
                r#"<decision id="d{at}" name="d">{needs}</decision><inputData id="i{at}" name="i"/>"#
            );
        }
        let drawing = laid(&chain);
        assert_eq!((drawing.shapes.len(), drawing.edges.len()), (10_000, 4_999));
    }
}
