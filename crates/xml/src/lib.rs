//! XML documents as the readers of the standards need them: bytes of any encoding to text, bounded trees that
//! borrow from the text and know their positions, no document type declarations. [`mapping`] reads model types from
//! such trees and writes them.

pub mod decode;
mod document;
pub mod hash;
pub mod mapping;
mod scan;
pub mod tags;
pub mod text;

pub use document::{
    AnyNames, Attribute, COMMENT, Declaration, Document, El, Kind, Limits, Names, Ns, Part, UNKNOWN,
};

/// Error of a document that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct XmlError {
    /// One sentence for people.
    pub message: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Machine word: `empty`, `zipArchive`, `tooLarge`, `unknownEncoding`, `invalidEncoding`, `malformed`,
    /// `unclosed`, `dtdForbidden`, `undefinedEntity`, `unboundPrefix`, `tooDeep`, `tooManyElements`,
    /// `tooManyAttributes`, `tooManyNamespaces`, `nestingTooDeep`, `notBpmn`, `notCmmn`, `notDmn`.
    pub reason: &'static str,
}
