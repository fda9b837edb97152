//! CMMN 1.1 and 1.0 XML in and out.
//!
//! One element table ([`names`]) and one row of attributes and children per model type ([`rows`]) drive both the
//! reader and the writer of the mapping engine ([`heddle_xml::mapping`]); [`vocabulary`] is CMMN's part in it. What a
//! model type has no member for is kept as a fragment of preserved content in `fragments`, addressed by the element's
//! id (or, without one, by its path below the nearest element with an id), and the writer puts it back.
//!
//! A document of CMMN 1.0 is written as CMMN 1.0 again, unless `cmmnVersion` is changed: then what the versions write
//! in other words (criteria, roles, parameters, expressions) is written in those of the other.

pub mod extensions;
pub(crate) mod names;
mod read;
mod rows;
mod vocabulary;
mod write;

pub use heddle_xml::XmlError;
pub use heddle_xml::mapping::WriteError;
pub use names::{ElementRow, Group, element_rows};

use crate::diagnostic::Diagnostic;
use crate::model::{CaseDefinition, ImportItem};
use heddle_xml::{Document, Limits, decode};

/// Namespace of the CMMN 1.1 model.
pub const MODEL_NS: &str = "http://www.omg.org/spec/CMMN/20151109/MODEL";
/// Namespace of the CMMN 1.0 model.
pub const MODEL_10_NS: &str = "http://www.omg.org/spec/CMMN/20131201/MODEL";
/// Namespace of CMMN diagram interchange.
pub const CMMNDI_NS: &str = "http://www.omg.org/spec/CMMN/20151109/CMMNDI";
/// Namespace of diagram common.
pub const DC_NS: &str = "http://www.omg.org/spec/CMMN/20151109/DC";
/// Namespace of diagram interchange.
pub const DI_NS: &str = "http://www.omg.org/spec/CMMN/20151109/DI";
/// Namespace of schema instances.
pub const XSI_NS: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// Namespace of this product's own attributes and elements; its prefix is always `heddle`.
pub const HEDDLE_NS: &str = "urn:heddle:cmmn:1";

/// Largest document read, in bytes.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting of elements.
pub const MAX_DEPTH: usize = 256;
/// Most elements.
pub const MAX_ELEMENTS: usize = 250_000;
/// Deepest JSON nesting of a definition read from XML, with room for the two levels a request or an answer
/// puts around it within the API's limit of 64.
pub const MAX_JSON_DEPTH: usize = 62;

/// The version of a definition that is written in CMMN 1.0.
pub const VERSION_10: &str = "1.0";

/// A parsed document.
pub(crate) type Tree<'s> = Document<'s, names::Cmmn>;

pub(crate) const LIMITS: Limits = Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS };

/// A document as a definition: what the preview of an import tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// The definition.
    pub definition: CaseDefinition,
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

/// Reads a CMMN 1.1 or 1.0 document.
///
/// # Errors
///
/// When the bytes are no well-formed CMMN document, carry a document type declaration, or exceed a limit.
pub fn read(bytes: &[u8]) -> Result<Imported, XmlError> {
    let source = decode::decode(bytes, MAX_BYTES)?;
    let tree = parse(&source, &[])?;
    read::definition(&tree)
}

/// Writes a definition as a document of its version of CMMN.
///
/// # Errors
///
/// When the definition holds XML fragments that are not well-formed, or characters that XML cannot express.
pub fn write(definition: &CaseDefinition) -> Result<Written, WriteError> {
    write::definition(definition)
}

/// Parses a document whose surroundings bind these prefixes.
pub(crate) fn parse<'s>(source: &'s str, around: &[(&'s str, &'s str)]) -> Result<Tree<'s>, XmlError> {
    Tree::parse_within(source, around, LIMITS)
}
