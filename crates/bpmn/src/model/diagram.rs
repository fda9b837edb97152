//! Diagram interchange (clause 12).

shape! {
    /// A diagram with its one plane.
    struct Diagram {
        /// Edges.
        edges: Vec<DiagramEdge>,
        /// Id of the element that the plane shows.
        element_ref: String,
        /// Id.
        id: String,
        /// Label styles.
        labels: Vec<DiagramLabel>,
        /// Name.
        name: String,
        /// Orientation.
        orientation: String,
        /// Id of the plane.
        plane_id: String,
        /// Shapes.
        shapes: Vec<DiagramShape>,
    }

    /// A shape of a diagram.
    struct DiagramShape {
        /// Bounds.
        bounds: Bounds,
        /// Id of the choreography activity's shape that a participant band belongs to.
        choreography_activity_shape: String,
        /// Id of the element shown.
        element_ref: String,
        /// Whether a sub-process is shown with its content.
        expanded: bool,
        /// Whether a pool or lane lies horizontally.
        horizontal: bool,
        /// Id.
        id: String,
        /// Label.
        label: DiagramLabel,
        /// Whether an exclusive gateway shows its marker.
        marker_visible: bool,
        /// Kind of participant band.
        participant_band_kind: String,
    }

    /// An edge of a diagram.
    struct DiagramEdge {
        /// Id of the element shown.
        element_ref: String,
        /// Id.
        id: String,
        /// Label.
        label: DiagramLabel,
        /// Whether the message envelope is shown as `initiating` or `non_initiating`.
        message_visible_kind: String,
        /// Id of the diagram element at the source.
        source_element: String,
        /// Id of the diagram element at the target.
        target_element: String,
        /// Way points.
        waypoints: Vec<Point>,
    }

    /// A label of a shape or an edge.
    struct DiagramLabel {
        /// Bounds.
        bounds: Bounds,
        /// Id.
        id: String,
    }

    /// A rectangle in diagram units.
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

    /// A point in diagram units.
    struct Point {
        /// Distance from the left.
        x: f64,
        /// Distance from the top.
        y: f64,
    }
}
