//! The DMN side of a definition.

use super::{Bounds, Point};

shape! {
    /// A DMN model.
    struct Dmn {
        /// Elements of the decision requirements graph.
        elements: Vec<DmnElement>,
        /// File the model came from.
        file_name: String,
        /// Documents that the model imports.
        imported_documents: Vec<DmnImportedDocument>,
        /// Namespace.
        namespace: String,
        /// Requirements of the decision requirements graph.
        requirements: Vec<DmnRequirement>,
        /// SHA-256 of the source, hexadecimal.
        source_sha256: String,
        /// The model's XML.
        source_xml: String,
        /// Version of DMN.
        version: String,
    }

    /// An element of a decision requirements graph.
    struct DmnElement {
        /// Bounds in the diagram.
        bounds: Bounds,
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Id of the node of the definition that uses it.
        node_id: String,
        /// DMN element name.
        r#type: String,
        /// Type of the value.
        type_ref: String,
        /// Name of the variable.
        variable_name: String,
    }

    /// A document that a DMN model imports.
    struct DmnImportedDocument {
        /// File name.
        file_name: String,
        /// Namespace.
        namespace: String,
        /// SHA-256 of the source, hexadecimal.
        source_sha256: String,
        /// The document's XML.
        source_xml: String,
    }

    /// A requirement of a decision requirements graph.
    struct DmnRequirement {
        /// Id.
        id: String,
        /// Id of the element required.
        source_ref: String,
        /// Id of the element that requires.
        target_ref: String,
        /// DMN element name.
        r#type: String,
        /// Way points in the diagram.
        waypoints: Vec<Point>,
    }
}
