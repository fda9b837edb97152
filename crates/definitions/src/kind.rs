//! Kinds of definitions, and what each knows of its own: how its JSON is checked, what it starts, and how it is read from
//! and written to files of its standard.

use async_trait::async_trait;
use heddle_kernel::{DefinitionKind, Diagnostic, Timestamp};
use heddle_usecase::UseCaseError;
use serde_json::Value;

use crate::DefinitionKey;
use crate::records::{Start, Version};

/// Judgement on a definition before its publication.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examination {
    /// The findings.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether an instance could be started.
    pub executable: bool,
}

/// Entries beside a version, so that others reach it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entries {
    /// Events that start an instance without a caller.
    pub starts: Vec<Start>,
    /// Ids under which other definitions call it.
    pub callable: Vec<String>,
}

/// A file that was read as a definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The definition.
    pub document: Value,
    /// Name that the file gives it, for people.
    pub name: Option<String>,
    /// Findings of the reader.
    pub diagnostics: Vec<Diagnostic>,
}

/// A definition that was written as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Text of the file.
    pub content: String,
    /// Media type of the file.
    pub media_type: &'static str,
    /// Findings of the writer.
    pub diagnostics: Vec<Diagnostic>,
}

/// A kind of definitions, at the level of their JSON.
///
/// What is stored was held against the kind's schema where it came in; a document that does not read here is a fault
/// of ours (`Internal`).
#[async_trait]
pub trait Kind: Send + Sync {
    /// The kind.
    fn kind(&self) -> DefinitionKind;

    /// Number of the rules under which a version is published now.
    fn edition(&self) -> i32;

    /// Findings about a draft, which may be incomplete.
    ///
    /// # Errors
    /// `Internal`.
    fn structure(&self, document: &Value) -> Result<Vec<Diagnostic>, UseCaseError>;

    /// Everything that a publication asks for.
    ///
    /// # Errors
    /// `Internal`, `Unavailable`.
    async fn examine(&self, key: DefinitionKey, document: &Value) -> Result<Examination, UseCaseError>;

    /// Entries of a version of the text: what it starts, and how it is called.
    ///
    /// # Errors
    /// `Internal`.
    fn entries(&self, document: &Value, version: &Version, now: Timestamp) -> Result<Entries, UseCaseError>;

    /// Whether the same text would mean something else if it was published anew.
    ///
    /// # Errors
    /// `Internal`.
    fn has_changed_meaning(
        &self,
        document: &Value,
        version: &Version,
        diagnostics: &[Diagnostic],
    ) -> Result<bool, UseCaseError>;

    /// Reads a file.
    ///
    /// # Errors
    /// `Invalid` with line and column when it can't be read.
    fn import(&self, bytes: &[u8]) -> Result<Imported, UseCaseError>;

    /// Writes a definition as a file.
    ///
    /// # Errors
    /// `Conflict` when it can't be written.
    fn export(&self, document: &Value) -> Result<Written, UseCaseError>;
}
