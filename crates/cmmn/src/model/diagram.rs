//! Diagram interchange (clause 7).

shape! {
    /// A diagram.
    struct CaseDiagram {
        /// Id of the case shown.
        cmmn_element_ref: String,
        /// Documentation.
        documentation: String,
        /// Edges.
        edges: Vec<CaseDiagramEdge>,
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Resolution in units per inch.
        resolution: f64,
        /// Shapes.
        shapes: Vec<CaseDiagramShape>,
        /// Id of the style that is shared.
        shared_style: String,
        /// Size of the whole.
        size: Dimension,
        /// Style of its own.
        style: CaseDiagramStyle,
    }

    /// A shape of a diagram.
    struct CaseDiagramShape {
        /// Bounds.
        bounds: Bounds,
        /// Id of the element shown.
        cmmn_element_ref: String,
        /// Id.
        id: String,
        /// Whether a stage or a plan fragment is shown without its content.
        is_collapsed: bool,
        /// Whether a planning table is shown without its content.
        is_planning_table_collapsed: bool,
        /// Label.
        label: CaseDiagramLabel,
        /// Id of the style that is shared.
        shared_style: String,
        /// Style of its own.
        style: CaseDiagramStyle,
    }

    /// An edge of a diagram.
    struct CaseDiagramEdge {
        /// Id of the element shown.
        cmmn_element_ref: String,
        /// Id.
        id: String,
        /// Whether the standard event is shown.
        is_standard_event_visible: bool,
        /// Label.
        label: CaseDiagramLabel,
        /// Id of the style that is shared.
        shared_style: String,
        /// Id of the element at the source.
        #[serde(rename = "sourceCMMNElementRef")]
        source_cmmn_element_ref: String,
        /// Style of its own.
        style: CaseDiagramStyle,
        /// Id of the element at the target.
        #[serde(rename = "targetCMMNElementRef")]
        target_cmmn_element_ref: String,
        /// Way points.
        waypoints: Vec<Point>,
    }

    /// A label of a shape or an edge.
    struct CaseDiagramLabel {
        /// Bounds.
        bounds: Bounds,
        /// Id.
        id: String,
        /// Id of the style that is shared.
        shared_style: String,
        /// Style of its own.
        style: CaseDiagramStyle,
    }

    /// A style of diagram elements.
    struct CaseDiagramStyle {
        /// Colour of the area.
        fill_color: Color,
        /// Whether the font is bold.
        font_bold: bool,
        /// Colour of the font.
        font_color: Color,
        /// Names of fonts.
        font_family: String,
        /// Whether the font is italic.
        font_italic: bool,
        /// Size of the font.
        font_size: f64,
        /// Whether the text is struck through.
        font_strike_through: bool,
        /// Whether the text is underlined.
        font_underline: bool,
        /// Id.
        id: String,
        /// `start`, `end` or `center`; the attribute's own spelling in the schema is `labelHorizontalAlignement`.
        label_horizontal_alignment: String,
        /// `start`, `end` or `center`.
        label_vertical_alignment: String,
        /// Colour of the lines.
        stroke_color: Color,
    }

    /// A colour.
    struct Color {
        /// Blue, 0 to 255.
        blue: i64,
        /// Green, 0 to 255.
        green: i64,
        /// Red, 0 to 255.
        red: i64,
    }

    /// A size in diagram units.
    struct Dimension {
        /// Height.
        height: f64,
        /// Width.
        width: f64,
    }

    /// A point in diagram units.
    #[cfg_attr(feature = "schema", schema(as = CasePoint))]
    struct Point {
        /// Distance from the left.
        x: f64,
        /// Distance from the top.
        y: f64,
    }

    /// A rectangle in diagram units.
    #[cfg_attr(feature = "schema", schema(as = CaseBounds))]
    struct Bounds {
        /// Height.
        height: f64,
        /// Width.
        width: f64,
        /// Left edge.
        x: f64,
        /// Upper edge.
        y: f64,
    }
}
