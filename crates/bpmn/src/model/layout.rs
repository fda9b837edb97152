//! Editor layout, import records and protection.

use serde_json::{Map, Value};

shape! {
    /// Editor layout of a graph.
    struct Layout {
        /// Version of the automatic arrangement.
        arrangement_version: i64,
        /// Groups that are shown collapsed, by id.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        collapsed_groups: Map<String, Value>,
        /// Places of nodes, by id.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        nodes: Map<String, Value>,
        /// Notes.
        notes: Vec<Note>,
    }

    /// A note in the editor.
    struct Note {
        /// Whether it is shown collapsed.
        collapsed: bool,
        /// Id.
        id: String,
        /// Text.
        text: String,
        /// Distance from the left.
        x: f64,
        /// Distance from the top.
        y: f64,
    }

    /// Record of an import.
    struct Import {
        /// Whether the imported model is executable.
        executable: bool,
        /// Format: `bpmn`, `dmn`, `cmmn` or `json`.
        format: String,
        /// Outcomes for single elements.
        items: Vec<ImportItem>,
        /// Name of the imported file.
        source_file_name: String,
        /// SHA-256 of the imported bytes, hexadecimal.
        source_sha256: String,
        /// Version of the format.
        version: String,
    }

    /// Outcome for one element of an imported file.
    struct ImportItem {
        /// Settings to which it was mapped.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Id of the element of the definition.
        element_id: String,
        /// BPMN element name.
        element_type: String,
        /// One sentence for people.
        message: String,
        /// Name of the element in the source.
        name: String,
        /// `mapped`, `preserved` or `unsupported`.
        outcome: String,
        /// Id or qualified name in the source.
        source_id: String,
        /// Kind in the source, such as `camunda:assignee`.
        source_kind: String,
    }

    /// Protection checks of a workflow.
    struct Protection {
        /// Checks beyond the preset: names of the catalogue, FEEL behind `=`, or the texts of JSON objects.
        custom_checks: Vec<String>,
        /// `off`, `basic`, `standard` or `strict`.
        preset: String,
    }
}
