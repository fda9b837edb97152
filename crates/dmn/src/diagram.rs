//! Diagrams of a model: places of its elements (DMN 1.5, clause 13).

use std::collections::{HashMap, HashSet};

use heddle_xml::{Document, El, Limits, XmlError};

use crate::layout::{drawn, lay_out};
use crate::model::DecisionModel;
use crate::xml::{DC_NS, DI_NS, DMNDI_NS, MAX_DEPTH, MAX_ELEMENTS};

/// A shape of an element, in diagram units.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Id of the element that it shows.
    pub element_id: String,
    /// Left edge, upper edge, width, height.
    pub bounds: [f64; 4],
}

/// A line of a requirement, in diagram units.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Id of the requirement that it shows.
    pub element_id: String,
    /// Points of the line in order, each as x and y.
    pub waypoints: Vec<[f64; 2]>,
}

/// Shapes and lines in the diagrams of a document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Drawing {
    /// Shapes.
    pub shapes: Vec<Shape>,
    /// Lines.
    pub edges: Vec<Edge>,
}

/// Reads the diagrams of a document: DMNDI, or, in documents of DMN 1.1, which has none, the bounds that editors keep
/// as extensions.
///
/// # Errors
///
/// When the document is no well-formed XML or exceeds a limit.
pub fn drawing(source: &str) -> Result<Drawing, XmlError> {
    let document = Document::parse(source, Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS })?;
    let mut drawing = Drawing::default();
    for child in document.children(document.root()) {
        if document.local(child) == "DMNDI" {
            let shown = document.children(child).flat_map(|diagram| document.children(diagram));
            shown.for_each(|el| read(&document, el, &mut drawing));
        } else if let Some(id) = document.attribute(child, "id") {
            let extensions =
                document.children(child).filter(|own| document.local(*own) == "extensionElements");
            let mut kept = extensions.flat_map(|own| document.children(own));
            if let Some(el) = kept.find(|own| document.local(*own) == "bounds") {
                drawing.shapes.extend(shape(&document, el, id.into_owned()));
            }
        }
    }
    Ok(drawing)
}

/// A document of DMN 1.5 with a diagram of its model when it has no DMNDI at all.
///
/// Where `known` has the bounds of every element that a diagram can show, those are taken with the lines known; else what
/// an editor keeps in extensions of a document of DMN 1.1; else the model is laid out ([`lay_out`]).
///
/// # Errors
///
/// When the document is no well-formed XML or exceeds a limit.
pub fn with_diagram(text: &str, model: &DecisionModel, known: &Drawing) -> Result<Option<String>, XmlError> {
    let document = Document::parse(text, Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS })?;
    let root = document.root();
    if document.children(root).any(|child| document.local(child) == "DMNDI") {
        return Ok(None);
    }
    let kept = self::drawing(text)?;
    let drawing = drawn(model, known).or_else(|| drawn(model, &kept)).unwrap_or_else(|| lay_out(model));
    if drawing.shapes.is_empty() {
        return Ok(None);
    }
    let ids: HashSet<String> = ids(&document);
    let end = document.span(root).end;
    let name = document.part(root).name;
    let mut out = text.get(..end).unwrap_or_default().to_owned();
    let closed = format!("</{name}>");
    if out.ends_with("/>") {
        out.truncate(out.len() - 2);
        out.push('>');
    } else if let Some(at) = out.rfind("</") {
        out.truncate(at);
    }
    let services: HashSet<&str> =
        model.decision_services.iter().filter_map(|own| own.id.as_deref()).collect();
    write(&drawing, &services, &ids, &mut out);
    out.push_str(&closed);
    out.push_str(text.get(end..).unwrap_or_default());
    Ok(Some(out))
}

/// A document without the shapes and lines of what it no longer has; none when it shows nothing that is missing. What a
/// reference with a prefix names, an element of another document, is left alone.
///
/// # Errors
///
/// When the document is no well-formed XML or exceeds a limit.
pub fn without_missing(text: &str) -> Result<Option<String>, XmlError> {
    let document = Document::parse(text, Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS })?;
    let there = ids(&document);
    let shown = document.children(document.root()).filter(|child| document.local(*child) == "DMNDI");
    let shown =
        shown.flat_map(|child| document.children(child)).flat_map(|diagram| document.children(diagram));
    let is_missing = |el: &El| {
        let reference = document.attribute(*el, "dmnElementRef");
        matches!(document.local(*el), "DMNShape" | "DMNEdge")
            && reference.is_some_and(|id| !id.contains(':') && !there.contains(id.trim()))
    };
    let missing: Vec<El> = shown.filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for el in missing {
        let span = document.span(el);
        // With the blanks before it, so that no empty line stays.
        out.push_str(text.get(at..span.start).unwrap_or_default().trim_end());
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Ok(Some(out))
}

/// A document whose shapes and lines have moved to where they are known to be; none when all stand there already. What is
/// shown more than once stays where it is, since it has no one place, and so does a line whose number of points is another.
///
/// # Errors
///
/// When the document is no well-formed XML or exceeds a limit.
pub fn moved(text: &str, known: &Drawing) -> Result<Option<String>, XmlError> {
    let document = Document::parse(text, Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS })?;
    let shapes = known.shapes.iter().map(|own| (own.element_id.as_str(), vec![own.bounds.to_vec()]));
    let lines = known.edges.iter().map(|own| {
        let points = own.waypoints.iter().map(|point| point.to_vec());
        (own.element_id.as_str(), points.collect())
    });
    let known: HashMap<&str, Vec<Vec<f64>>> = shapes.chain(lines).collect();
    let shown = document.children(document.root()).filter(|child| document.local(*child) == "DMNDI");
    let shown =
        shown.flat_map(|child| document.children(child)).flat_map(|diagram| document.children(diagram));
    let mut places: HashMap<String, Vec<Vec<El>>> = HashMap::new();
    for el in shown {
        let part = if document.local(el) == "DMNEdge" { "waypoint" } else { "Bounds" };
        let parts = document.children(el).filter(|own| document.local(*own) == part).collect();
        if let Some(id) = document.attribute(el, "dmnElementRef") {
            places.entry(id.into_owned()).or_default().push(parts);
        }
    }
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for (id, shown) in &places {
        let (Some(wanted), [parts]) = (known.get(id.as_str()), shown.as_slice()) else { continue };
        if wanted.len() != parts.len() {
            continue;
        }
        for (el, values) in parts.iter().zip(wanted) {
            for attribute in document.attributes(*el) {
                let place = ["x", "y", "width", "height"].iter().position(|name| *name == attribute.name);
                let Some(value) = place.and_then(|at| values.get(at)) else { continue };
                if number(&document, *el, attribute.name) != Some(*value) {
                    let start = attribute.raw.as_ptr() as usize - text.as_ptr() as usize;
                    edits.push((start, start + attribute.raw.len(), value.to_string()));
                }
            }
        }
    }
    if edits.is_empty() {
        return Ok(None);
    }
    edits.sort_by_key(|edit| edit.0);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (from, to, value) in edits {
        out.push_str(text.get(at..from).unwrap_or_default());
        out.push_str(&value);
        at = to;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Ok(Some(out))
}

/// Ids of the document's elements.
fn ids(document: &Document<'_>) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut left = vec![document.root()];
    while let Some(el) = left.pop() {
        found.extend(document.attribute(el, "id").map(std::borrow::Cow::into_owned));
        left.extend(document.children(el));
    }
    found
}

/// Writes the drawing as the last child of `definitions`.
fn write(drawing: &Drawing, closed: &HashSet<&str>, taken: &HashSet<String>, out: &mut String) {
    let mut names = Names { taken, made: HashSet::new() };
    out.push_str(&format!(
        "\n  <dmndi:DMNDI xmlns:dmndi=\"{DMNDI_NS}\" xmlns:dc=\"{DC_NS}\" xmlns:di=\"{DI_NS}\">\n    <dmndi:DMNDiagram id=\"{}\">",
        names.free("DMNDiagram")
    ));
    for shape in &drawing.shapes {
        let [x, y, width, height] = shape.bounds;
        let id = names.free(&format!("DMNShape_{}", shape.element_id));
        let collapsed = if closed.contains(shape.element_id.as_str()) { " isCollapsed=\"true\"" } else { "" };
        out.push_str(&format!(
            "\n      <dmndi:DMNShape id=\"{id}\" dmnElementRef=\"{}\"{collapsed}>\n        <dc:Bounds x=\"{x}\" y=\"{y}\" \
             width=\"{width}\" height=\"{height}\"/>\n      </dmndi:DMNShape>",
            shape.element_id
        ));
    }
    for edge in &drawing.edges {
        let id = names.free(&format!("DMNEdge_{}", edge.element_id));
        out.push_str(&format!("\n      <dmndi:DMNEdge id=\"{id}\" dmnElementRef=\"{}\">", edge.element_id));
        for [x, y] in &edge.waypoints {
            out.push_str(&format!("\n        <di:waypoint x=\"{x}\" y=\"{y}\"/>"));
        }
        out.push_str("\n      </dmndi:DMNEdge>");
    }
    out.push_str("\n    </dmndi:DMNDiagram>\n  </dmndi:DMNDI>\n");
}

/// Ids that the document does not have yet.
struct Names<'d> {
    taken: &'d HashSet<String>,
    made: HashSet<String>,
}

impl Names<'_> {
    fn free(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.taken.contains(&name) || !self.made.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

fn read(document: &Document<'_>, el: El, drawing: &mut Drawing) {
    let Some(shown) = document.attribute(el, "dmnElementRef") else { return };
    let element_id = shown.rsplit(':').next().unwrap_or_default().to_owned();
    match document.local(el) {
        "DMNShape" => {
            let bounds = document.children(el).find(|own| document.local(*own) == "Bounds");
            drawing.shapes.extend(bounds.and_then(|bounds| shape(document, bounds, element_id)));
        }
        "DMNEdge" => {
            let points = document.children(el).filter(|own| document.local(*own) == "waypoint");
            let point = |own: El| Some([number(document, own, "x")?, number(document, own, "y")?]);
            drawing.edges.push(Edge { element_id, waypoints: points.filter_map(point).collect() });
        }
        _ => {}
    }
}

fn shape(document: &Document<'_>, el: El, element_id: String) -> Option<Shape> {
    let number = |name| number(document, el, name);
    Some(Shape { element_id, bounds: [number("x")?, number("y")?, number("width")?, number("height")?] })
}

fn number(document: &Document<'_>, el: El, name: &str) -> Option<f64> {
    document.attribute(el, name)?.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r##"<?xml version="1.0"?><d:definitions xmlns:d="https://www.omg.org/spec/DMN/20230324/MODEL/"
        id="DMNDiagram" name="m" namespace="urn:m"><d:inputData id="i" name="i"/><d:decision id="a" name="a">
        <d:informationRequirement id="r"><d:requiredInput href="#i"/></d:informationRequirement></d:decision>
        <d:decisionService id="s" name="s"/></d:definitions><!-- end -->"##;

    #[test]
    fn a_document_without_a_diagram_gets_one_that_is_read_again() {
        let model = crate::xml::read(PLAIN.as_bytes()).unwrap().model;
        let text = with_diagram(PLAIN, &model, &Drawing::default()).unwrap().unwrap();
        let drawn = drawing(&text).unwrap();
        assert_eq!((drawn.shapes.len(), drawn.edges.len()), (3, 1));
        assert!(
            text.contains(r#"<dmndi:DMNDiagram id="DMNDiagram_">"#) && text.ends_with("<!-- end -->"),
            "{text}"
        );
        assert_eq!(text.matches("isCollapsed").count(), 1);
        let again = crate::xml::read(text.as_bytes()).unwrap();
        assert_eq!((again.diagnostics.len(), again.model.decisions), (0, model.decisions.clone()));
        assert_eq!(with_diagram(&text, &model, &Drawing::default()).unwrap(), None, "it has one");
        // Bounds that are known for all are taken, and a line that is not is drawn.
        let bounds = |id: &str, x: f64| Shape { element_id: id.to_owned(), bounds: [x, 10.0, 20.0, 20.0] };
        let known = Drawing {
            shapes: vec![bounds("a", 0.5), bounds("i", 100.0), bounds("s", 300.0)],
            edges: Vec::new(),
        };
        let drawn = drawing(&with_diagram(PLAIN, &model, &known).unwrap().unwrap()).unwrap();
        assert_eq!(drawn.shapes[0].bounds, [0.5, 10.0, 20.0, 20.0]);
        assert_eq!(drawn.edges[0].waypoints, [[100.0, 20.0], [20.5, 20.0]]);
    }

    #[test]
    fn shapes_stand_where_they_were_moved_to() {
        let model = crate::xml::read(PLAIN.as_bytes()).unwrap().model;
        let text = with_diagram(PLAIN, &model, &Drawing::default()).unwrap().unwrap();
        let mut known = drawing(&text).unwrap();
        assert_eq!(moved(&text, &known).unwrap(), None);
        known.shapes[0].bounds = [7.5, 8.0, 90.0, 40.0];
        known.edges[0].waypoints[1] = [50.0, 48.0];
        let again = drawing(&moved(&text, &known).unwrap().unwrap()).unwrap();
        assert_eq!(again, known);
        // Shown twice, it has no one place.
        let twice = text.replace(
            "</dmndi:DMNDI>",
            &format!("{}</dmndi:DMNDI>", {
                let from = text.find("<dmndi:DMNDiagram").unwrap();
                &text[from..text.find("</dmndi:DMNDI>").unwrap()]
            }),
        );
        assert_eq!(moved(&twice, &known).unwrap(), None);
    }

    #[test]
    fn what_is_gone_is_no_longer_shown() {
        let model = crate::xml::read(PLAIN.as_bytes()).unwrap().model;
        let text = with_diagram(PLAIN, &model, &Drawing::default()).unwrap().unwrap();
        assert_eq!(without_missing(&text).unwrap(), None);
        let gone = text.replace(r#"<d:inputData id="i" name="i"/>"#, "");
        let gone = gone.replace(
            r##"<d:informationRequirement id="r"><d:requiredInput href="#i"/></d:informationRequirement>"##,
            "",
        );
        let left = drawing(&without_missing(&gone).unwrap().unwrap()).unwrap();
        let shown: Vec<&str> = left.shapes.iter().map(|shape| shape.element_id.as_str()).collect();
        assert_eq!((shown, left.edges.len()), (vec!["a", "s"], 0));
    }

    #[test]
    fn a_document_with_nothing_to_show_stays_as_it_is() {
        let empty = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" name="m" namespace="urn:m"/>"#;
        let mut model = crate::xml::read(empty.as_bytes()).unwrap().model;
        assert_eq!(with_diagram(empty, &model, &Drawing::default()).unwrap(), None);
        model.decisions.push(crate::model::Decision { id: Some("a".to_owned()), ..Default::default() });
        let text = with_diagram(empty, &model, &Drawing::default()).unwrap().unwrap();
        assert!(text.ends_with("</definitions>") && drawing(&text).unwrap().shapes.len() == 1, "{text}");
    }

    #[test]
    fn diagrams_and_editors_bounds_are_read() {
        let source = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="m">
            <decision id="a"/>
            <decision id="b"><extensionElements><biodi:bounds xmlns:biodi="http://bpmn.io/schema/dmn/biodi/1.0"
              x="1" y="2" width="180" height="80"/></extensionElements></decision>
            <dmndi:DMNDI xmlns:dmndi="https://www.omg.org/spec/DMN/20230324/DMNDI/"
              xmlns:dc="http://www.omg.org/spec/DMN/20180521/DC/" xmlns:di="http://www.omg.org/spec/DMN/20180521/DI/">
             <dmndi:DMNDiagram><dmndi:DMNShape dmnElementRef="t:a"><dc:Bounds x="5" y="6.5" width="10" height="20"/>
             </dmndi:DMNShape><dmndi:DMNEdge dmnElementRef="r"><di:waypoint x="1" y="2"/><di:waypoint x="3" y="4"/>
             </dmndi:DMNEdge></dmndi:DMNDiagram></dmndi:DMNDI></definitions>"##;
        let drawing = drawing(source).unwrap();
        let shape = |id: &str, bounds| Shape { element_id: id.to_owned(), bounds };
        assert_eq!(drawing.shapes, [shape("b", [1.0, 2.0, 180.0, 80.0]), shape("a", [5.0, 6.5, 10.0, 20.0])]);
        assert_eq!(
            drawing.edges,
            [Edge { element_id: "r".to_owned(), waypoints: vec![[1.0, 2.0], [3.0, 4.0]] }]
        );
    }
}
