//! Where the elements of a model stand in its diagrams (DMN 1.5, clause 13).

use heddle_xml::{Document, El, Limits, XmlError};

use crate::xml::{MAX_DEPTH, MAX_ELEMENTS};

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
    /// Its points.
    pub waypoints: Vec<[f64; 2]>,
}

/// What the diagrams of a document show.
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
