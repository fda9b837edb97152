//! DMN XML: 1.1 to 1.5 in, 1.5 out.

mod place;
mod read;
mod upgrade;
mod write;
mod write_context;

use heddle_xml::{Document, Limits, XmlError, decode};

use crate::diagnostic::Diagnostic;
use crate::model::DecisionModel;

/// Namespace of models of DMN 1.5.
pub const MODEL_NS: &str = "https://www.omg.org/spec/DMN/20230324/MODEL/";
/// Namespace of diagrams of DMN 1.5.
pub const DMNDI_NS: &str = "https://www.omg.org/spec/DMN/20230324/DMNDI/";
/// Namespace of FEEL of DMN 1.5.
pub const FEEL_NS: &str = "https://www.omg.org/spec/DMN/20230324/FEEL/";
/// Namespace of diagram common.
pub const DC_NS: &str = "http://www.omg.org/spec/DMN/20180521/DC/";
/// Namespace of diagram interchange.
pub const DI_NS: &str = "http://www.omg.org/spec/DMN/20180521/DI/";

/// Largest document read, in bytes.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting of elements.
pub const MAX_DEPTH: usize = 256;
/// Most elements and comments.
pub const MAX_ELEMENTS: usize = 500_000;
/// Deepest nesting of boxed expressions, or of the components of a type.
pub const MAX_NESTING: usize = 40;

/// A version of DMN, told by its namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// DMN 1.1 (2015-11-01), or before it.
    V1_1,
    /// DMN 1.2 (2018-05-21).
    V1_2,
    /// DMN 1.3 (2019-11-11).
    V1_3,
    /// DMN 1.4 (2021-11-08).
    V1_4,
    /// DMN 1.5 (2023-03-24).
    V1_5,
}

impl Version {
    /// The version whose namespace this is, and whether it is exactly that one's.
    #[must_use]
    pub fn of(namespace: &str) -> Option<(Self, bool)> {
        let rest = namespace.strip_prefix("http://").or_else(|| namespace.strip_prefix("https://"))?;
        let date = rest.strip_prefix("www.omg.org/spec/DMN/")?.get(..8)?;
        if !date.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(match date {
            "20151101" => (Self::V1_1, true),
            "20180521" => (Self::V1_2, true),
            "20191111" => (Self::V1_3, true),
            "20211108" => (Self::V1_4, true),
            "20230324" => (Self::V1_5, true),
            date if date < "20180521" => (Self::V1_1, false),
            date if date < "20191111" => (Self::V1_2, false),
            date if date < "20211108" => (Self::V1_3, false),
            date if date < "20230324" => (Self::V1_4, false),
            _ => (Self::V1_5, false),
        })
    }

    /// Number of the version, such as `1.5`.
    #[must_use]
    pub const fn number(self) -> &'static str {
        match self {
            Self::V1_1 => "1.1",
            Self::V1_2 => "1.2",
            Self::V1_3 => "1.3",
            Self::V1_4 => "1.4",
            Self::V1_5 => "1.5",
        }
    }
}

/// A document as a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The model; its `sourceXml` is the document as text.
    pub model: DecisionModel,
    /// The version of DMN that it was read as.
    pub version: Version,
    /// Diagnostics of the reader.
    pub diagnostics: Vec<Diagnostic>,
}

/// Error of a model that cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The document that the model came from is not well-formed.
    #[error("sourceXml cannot be read: {0}")]
    Source(#[from] XmlError),
    /// A member holds what XML cannot express.
    #[error("`{path}` holds a character that XML 1.0 cannot express")]
    Character {
        /// The XML name of the member.
        path: String,
    },
}

/// Writes a model as a document of DMN 1.5. A model that is as it was read gives its document in the namespaces of DMN
/// 1.5, everything else as it stood; one that was changed is written anew, and what has no member - diagrams
/// and the extensions of elements whose ids are the same - is taken from its `sourceXml`.
///
/// # Errors
///
/// When its `sourceXml` is no DMN document, or a member holds characters that XML cannot express.
pub fn write(model: &DecisionModel) -> Result<String, WriteError> {
    write::model(model)
}

/// Reads a DMN document of any version.
///
/// # Errors
///
/// When the bytes are no well-formed DMN document, carry a document type declaration, or exceed a limit.
pub fn read(bytes: &[u8]) -> Result<Imported, XmlError> {
    let source = decode::decode(bytes, MAX_BYTES)?;
    let document = Document::parse(&source, Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS })?;
    read::model(&document)
}
