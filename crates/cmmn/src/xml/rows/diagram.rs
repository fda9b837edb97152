//! Diagram interchange.

use crate::model::{
    Bounds, CaseDefinition, CaseDiagram, CaseDiagramEdge, CaseDiagramLabel, CaseDiagramShape,
    CaseDiagramStyle, Color, Dimension, Point,
};
use crate::xml::names::kind;
use crate::xml::vocabulary::{Reader, Row, Writer};
use crate::xml::{XmlError, read, write};
use heddle_xml::El;

/// The element around all diagrams and styles.
pub(super) static CMMNDI: Row<CaseDefinition> = Row {
    attributes: &[&[attr!(Text "id" diagram_interchange_id)]],
    children: &[&[
        many!(CaseDefinition: "CMMNDiagram" DIAGRAM diagrams),
        many!(CaseDefinition: "CMMNStyle" STYLE styles),
    ]],
};

/// Reads the diagrams; a second element around diagrams is kept.
pub(super) fn read_interchange(
    reader: &mut Reader<'_>,
    definition: &mut CaseDefinition,
    el: El,
) -> Result<bool, XmlError> {
    if definition.diagrams.is_some() {
        return Ok(false);
    }
    definition.diagrams = Some(Vec::new());
    reader.read(&CMMNDI, definition, el)?;
    Ok(true)
}

/// Writes the diagrams.
pub(super) fn write_interchange(
    writer: &mut Writer<'_>,
    row: &'static Row<CaseDefinition>,
    definition: &CaseDefinition,
) {
    let CaseDefinition { diagrams, styles, diagram_interchange_id, .. } = definition;
    if diagrams.is_some() || styles.is_some() || diagram_interchange_id.is_some() {
        writer.element(const { kind("CMMNDI") }, row, definition);
    }
}

static DIAGRAM: Row<CaseDiagram> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "documentation" documentation),
        attr!(Number "resolution" resolution),
        attr!(Reference "sharedStyle" shared_style),
        attr!(Reference "cmmnElementRef" cmmn_element_ref),
    ]],
    children: &[&[
        kept!("extension"),
        one!(CaseDiagram: "CMMNStyle" STYLE style),
        one!(CaseDiagram: "Size" SIZE size),
        many!(CaseDiagram: "CMMNShape" SHAPE shapes),
        many!(CaseDiagram: "CMMNEdge" EDGE edges),
    ]],
};

static SHAPE: Row<CaseDiagramShape> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Reference "sharedStyle" shared_style),
        attr!(Reference "cmmnElementRef" cmmn_element_ref),
        attr!(Typed "isCollapsed" is_collapsed),
        attr!(Typed "isPlanningTableCollapsed" is_planning_table_collapsed),
    ]],
    children: &[&[
        kept!("extension"),
        one!(CaseDiagramShape: "CMMNStyle" STYLE style),
        one!(CaseDiagramShape: "Bounds" BOUNDS bounds),
        one!(CaseDiagramShape: "CMMNLabel" LABEL label),
    ]],
};

static EDGE: Row<CaseDiagramEdge> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Reference "sharedStyle" shared_style),
        attr!(Reference "cmmnElementRef" cmmn_element_ref),
        attr!(Reference "sourceCMMNElementRef" source_cmmn_element_ref),
        attr!(Reference "targetCMMNElementRef" target_cmmn_element_ref),
        attr!(Typed "isStandardEventVisible" is_standard_event_visible),
    ]],
    children: &[&[
        kept!("extension"),
        one!(CaseDiagramEdge: "CMMNStyle" STYLE style),
        child!("waypoint", read_waypoint, write_waypoints),
        one!(CaseDiagramEdge: "CMMNLabel" LABEL label),
    ]],
};

static LABEL: Row<CaseDiagramLabel> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Reference "sharedStyle" shared_style)]],
    children: &[&[
        kept!("extension"),
        one!(CaseDiagramLabel: "CMMNStyle" STYLE style),
        one!(CaseDiagramLabel: "Bounds" BOUNDS bounds),
    ]],
};

static STYLE: Row<CaseDiagramStyle> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "fontFamily" font_family),
        attr!(Number "fontSize" font_size),
        attr!(Typed "fontItalic" font_italic),
        attr!(Typed "fontBold" font_bold),
        attr!(Typed "fontUnderline" font_underline),
        attr!(Typed "fontStrikeThrough" font_strike_through),
        attr!(Text "labelHorizontalAlignement" label_horizontal_alignment),
        attr!(Text "labelVerticalAlignment" label_vertical_alignment),
    ]],
    children: &[&[
        kept!("extension"),
        one!(CaseDiagramStyle: "FillColor" COLOR fill_color),
        one!(CaseDiagramStyle: "StrokeColor" COLOR stroke_color),
        one!(CaseDiagramStyle: "FontColor" COLOR font_color),
    ]],
};

static COLOR: Row<Color> = Row {
    attributes: &[&[attr!(Typed "red" red), attr!(Typed "green" green), attr!(Typed "blue" blue)]],
    children: &[],
};

static SIZE: Row<Dimension> =
    Row { attributes: &[&[attr!(Number "width" width), attr!(Number "height" height)]], children: &[] };

static BOUNDS: Row<Bounds> = Row {
    attributes: &[&[
        attr!(Number "x" x),
        attr!(Number "y" y),
        attr!(Number "width" width),
        attr!(Number "height" height),
    ]],
    children: &[],
};

static POINT: Row<Point> = Row { attributes: &[&[attr!(Number "x" x), attr!(Number "y" y)]], children: &[] };

/// The type that all way points of a document usually share is noted once, at the root.
fn read_waypoint(reader: &mut Reader<'_>, edge: &mut CaseDiagramEdge, el: El) -> Result<bool, XmlError> {
    let mut point = Point::default();
    reader.enter(el, false);
    read::waypoint_type(reader, el);
    reader.fill(&POINT, &mut point, el)?;
    reader.leave();
    edge.waypoints.get_or_insert_default().push(point);
    Ok(true)
}

fn write_waypoints(writer: &mut Writer<'_>, edge: &CaseDiagramEdge) {
    for point in edge.waypoints.iter().flatten() {
        writer.enter(const { kind("waypoint") }, None);
        write::waypoint_type(writer);
        writer.contents(&POINT, point);
        writer.leave();
    }
}
