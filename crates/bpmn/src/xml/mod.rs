//! BPMN 2.0.2 XML in and out.
//!
//! One element table ([`names`]) and one row of attributes and children per model type ([`rows`]) drive both the
//! reader and the writer of the mapping engine ([`heddle_xml::mapping`]); [`vocabulary`] is BPMN's part in it. What a model type has no member for is kept as a fragment of preserved content in
//! `bpmn.extensionElementsXml`, addressed by the element's id (or, without one, by its path below the nearest
//! element with an id), and the writer puts it back.

mod definition_data;
pub mod extensions;
pub(crate) mod names;
mod read;
mod rows;
pub(crate) mod tree;
mod vocabulary;
mod write;

pub use heddle_xml::XmlError;
pub use heddle_xml::mapping::WriteError;
pub use names::{ElementRow, Group, element_row, element_rows};

use heddle_xml::decode;

use crate::diagnostic::Diagnostic;
use crate::model::{ImportItem, WorkflowDefinition};

/// Namespace of the BPMN 2.0 model.
pub const MODEL_NS: &str = "http://www.omg.org/spec/BPMN/20100524/MODEL";
/// Namespace of BPMN diagram interchange.
pub const BPMNDI_NS: &str = "http://www.omg.org/spec/BPMN/20100524/DI";
/// Namespace of diagram common.
pub const DC_NS: &str = "http://www.omg.org/spec/DD/20100524/DC";
/// Namespace of diagram interchange.
pub const DI_NS: &str = "http://www.omg.org/spec/DD/20100524/DI";
/// Namespace of schema instances.
pub const XSI_NS: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// Namespace of this product's own attributes and elements; its prefix is always `heddle`.
pub const HEDDLE_NS: &str = "urn:heddle:bpmn:1";

/// Largest document read, in bytes.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting of elements.
pub const MAX_DEPTH: usize = 256;
/// Most elements.
pub const MAX_ELEMENTS: usize = 250_000;
/// Deepest JSON nesting of a definition read from XML, with room for the two levels a request or an answer
/// puts around it within the API's limit of 64.
pub const MAX_JSON_DEPTH: usize = 62;

/// A document as a definition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// The definition.
    pub definition: WorkflowDefinition,
    /// Outcomes for vendors' extensions and for elements without a place.
    pub items: Vec<ImportItem>,
    /// Findings of the reader.
    pub diagnostics: Vec<Diagnostic>,
}

/// A definition as a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// The document, with its declaration, for UTF-8.
    pub xml: String,
    /// Findings of the writer.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a BPMN 2.0 document.
///
/// # Errors
///
/// When the bytes are no well-formed BPMN document, carry a document type declaration, or exceed a limit.
pub fn read(bytes: &[u8]) -> Result<Imported, XmlError> {
    let source = decode::decode(bytes, MAX_BYTES)?;
    let tree = tree::parse(&source, &[])?;
    read::definition(&tree)
}

/// Writes a definition as a BPMN 2.0 document.
///
/// # Errors
///
/// When the definition holds XML fragments that are not well-formed, or characters that XML cannot express.
pub fn write(definition: &WorkflowDefinition) -> Result<Written, WriteError> {
    write::definition(definition, false)
}

/// Writes a definition without its diagrams, for checks of the model itself.
///
/// # Errors
///
/// As [`write`].
pub fn write_undrawn(definition: &WorkflowDefinition) -> Result<Written, WriteError> {
    write::definition(definition, true)
}
