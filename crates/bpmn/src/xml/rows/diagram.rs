//! Diagram interchange.

use crate::model::{Bounds, Bpmn, Diagram, DiagramEdge, DiagramLabel, DiagramShape, Point};
use crate::xml::XmlError;
use crate::xml::names::kind;
use crate::xml::read;
use crate::xml::tree::El;
use crate::xml::vocabulary::{Child, Reader, Row};
use crate::xml::write;
use heddle_xml::mapping::Match;

pub(super) static DIAGRAM: Row<Diagram> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[&[
        child!(
            "BPMNPlane",
            |reader, diagram: &mut Diagram, el| {
                if has_plane(diagram) {
                    return Ok(false);
                }
                reader.read(&PLANE, diagram, el)?;
                if !has_plane(diagram) {
                    diagram.shapes = Some(Vec::new());
                }
                Ok(true)
            },
            |writer, diagram: &Diagram| {
                if has_plane(diagram) || !writer.marked("noPlane") {
                    writer.element(const { kind("BPMNPlane") }, &PLANE, diagram);
                }
            }
        ),
        kept!("BPMNLabelStyle"),
    ]],
};

fn has_plane(diagram: &Diagram) -> bool {
    let Diagram { plane_id, element_ref, shapes, edges, .. } = diagram;
    plane_id.is_some() || element_ref.is_some() || shapes.is_some() || edges.is_some()
}

/// Reads a diagram; one without a plane, which the schema wants, is marked.
pub(super) fn read_diagram(reader: &mut Reader<'_>, bpmn: &mut Bpmn, el: El) -> Result<bool, XmlError> {
    let mut diagram = Diagram::default();
    reader.enter(el, true);
    reader.fill(&DIAGRAM, &mut diagram, el)?;
    if !has_plane(&diagram) {
        reader.mark("noPlane", "true".to_owned());
    }
    reader.leave();
    bpmn.diagrams.get_or_insert_default().push(diagram);
    Ok(true)
}

static PLANE: Row<Diagram> = Row {
    attributes: &[&[attr!(Text "id" plane_id), attr!(Reference "bpmnElement" element_ref)]],
    children: &[&[many!(Diagram: "BPMNShape" SHAPE shapes), many!(Diagram: "BPMNEdge" EDGE edges)]],
};

static SHAPE: Row<DiagramShape> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Reference "bpmnElement" element_ref),
        attr!(Typed "isHorizontal" horizontal),
        attr!(Typed "isExpanded" expanded),
        attr!(Typed "isMarkerVisible" marker_visible),
        attr!(Text "participantBandKind" participant_band_kind),
        attr!(Reference "choreographyActivityShape" choreography_activity_shape),
    ]],
    children: &[&[one!(DiagramShape: "Bounds" BOUNDS bounds), one!(DiagramShape: "BPMNLabel" LABEL label)]],
};

static BOUNDS: Row<Bounds> = Row {
    attributes: &[&[
        attr!(Number "x" x),
        attr!(Number "y" y),
        attr!(Number "width" width),
        attr!(Number "height" height),
    ]],
    children: &[],
};

static LABEL: Row<DiagramLabel> =
    Row { attributes: &[&[attr!(Text "id" id)]], children: &[&[one!(DiagramLabel: "Bounds" BOUNDS bounds)]] };

static EDGE: Row<DiagramEdge> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Reference "bpmnElement" element_ref),
        attr!(Reference "sourceElement" source_element),
        attr!(Reference "targetElement" target_element),
        attr!(Text "messageVisibleKind" message_visible_kind),
    ]],
    children: &[&[
        Child {
            matches: Match::Kind(kind("waypoint")),
            read: Some(read_waypoint),
            write: Some(|writer, edge: &DiagramEdge| {
                for point in edge.waypoints.iter().flatten() {
                    writer.enter(const { kind("waypoint") }, None);
                    write::flows::waypoint_type(writer);
                    writer.contents(&POINT, point);
                    writer.leave();
                }
            }),
        },
        one!(DiagramEdge: "BPMNLabel" LABEL label),
    ]],
};

static POINT: Row<Point> = Row { attributes: &[&[attr!(Number "x" x), attr!(Number "y" y)]], children: &[] };

/// The type that all way points of a document usually share is noted once, at the root.
fn read_waypoint(reader: &mut Reader<'_>, edge: &mut DiagramEdge, el: El) -> Result<bool, XmlError> {
    let mut point = Point::default();
    reader.enter(el, false);
    read::flows::waypoint_type(reader, el);
    reader.fill(&POINT, &mut point, el)?;
    reader.leave();
    edge.waypoints.get_or_insert_default().push(point);
    Ok(true)
}
