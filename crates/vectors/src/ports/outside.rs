//! Ports to the bytes of files, to the reading and cutting of them, and to what uses a database.

use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures::Stream;
use heddle_kernel::{CaseTypeId, DatabaseName, TenantId, Timestamp, WorkflowId, literals};
use heddle_usecase::StoreError;
use serde_json::{Map, Value};

use crate::records::{Chunking, FileFault, Locator};

/// Bytes that come one part behind the other.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, BlobError>> + Send>>;

/// Reason for which bytes were not kept or given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// There are more bytes than may be.
    #[error("more than {most} bytes")]
    TooLarge {
        /// The most bytes.
        most: u64,
    },
    /// The sender stopped, or sent what does not read.
    #[error("the sender stopped: {0}")]
    Interrupted(String),
    /// There are no such bytes.
    #[error("the bytes are not there")]
    Missing,
    /// The place does not answer, or is full.
    #[error("the blob store is not available: {0}")]
    Unavailable(String),
}

/// Bytes that were kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBlob {
    /// Key: another one for each keeping, never given twice, so that what is removed under it was nobody else's.
    pub key: String,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// Number of the bytes.
    pub bytes: u64,
}

/// Keeps the bytes of files. Those of an organisation are apart from all others'.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Keeps bytes as they come, and counts and hashes them; nothing stays of what failed.
    ///
    /// # Errors
    /// `TooLarge` at the first byte beyond `most`, `Interrupted`, `Unavailable`.
    async fn put(&self, tenant: TenantId, most: u64, bytes: ByteStream) -> Result<StoredBlob, BlobError>;

    /// Gives bytes.
    ///
    /// # Errors
    /// `Missing`, `Unavailable`.
    async fn get(&self, tenant: TenantId, key: &str) -> Result<ByteStream, BlobError>;

    /// Removes bytes; those that are not there are no fault.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn delete(&self, tenant: TenantId, key: &str) -> Result<(), BlobError>;

    /// Keys behind one of them, in their order, of what was kept before an instant; at most so many.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn kept_before(
        &self,
        before: Timestamp,
        after: Option<(TenantId, String)>,
        limit: u32,
    ) -> Result<Vec<(TenantId, String)>, BlobError>;
}

/// File whose text is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileToExtract {
    /// The organisation.
    pub tenant: TenantId,
    /// Key of its bytes.
    pub blob: String,
    /// Name of the file.
    pub name: String,
    /// Type that was declared.
    pub media_type: String,
    /// Number of its bytes.
    pub bytes: u64,
}

literals! {
    /// Kind of a part of a document.
    pub enum PartKind {
        /// A page.
        Page = "page",
        /// A sheet of a workbook.
        Sheet = "sheet",
        /// A slide.
        Slide = "slide",
        /// Any other part.
        Section = "section",
    }
}

/// Part of a document, by characters of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPart {
    /// Kind.
    pub kind: PartKind,
    /// Number, from 1.
    pub number: u32,
    /// Name, where it has one.
    pub name: Option<String>,
    /// First character.
    pub start: u64,
    /// Character behind the last one.
    pub end: u64,
}

/// Heading of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Level, from 1.
    pub level: u8,
    /// Text.
    pub text: String,
    /// Offset of its first character.
    pub start: u64,
}

/// Text that was taken out of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentText {
    /// Title, where the file says one.
    pub title: Option<String>,
    /// Code of the language, where it was recognised.
    pub language: Option<String>,
    /// Text: Markdown, or plain.
    pub text: String,
    /// Whether the text is Markdown; in a plain one no character has a meaning of its own.
    pub is_markdown: bool,
    /// Pages, sheets, slides.
    pub parts: Vec<DocumentPart>,
    /// Headings.
    pub headings: Vec<Heading>,
    /// Omissions of the text with their reasons, one sentence each.
    pub warnings: Vec<String>,
}

/// Reason for which no text was taken out of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// The file itself is the reason: another try ends the same.
    #[error("{message}")]
    File {
        /// The machine word.
        fault: FileFault,
        /// A sentence for people.
        message: String,
    },
    /// Something else is the reason (no process, no memory, no bytes for the moment): another try may do.
    #[error("{0}")]
    Unavailable(String),
}

/// Type of file that is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadType {
    /// Media type.
    pub media_type: String,
    /// Endings of names, without the dot.
    pub extensions: Vec<String>,
    /// Name of the reader.
    pub parser: String,
    /// Whether text of pictures is recognised.
    pub ocr: bool,
}

/// Takes the text out of files, apart from this process.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Extractor: Send + Sync {
    /// Types of files that it reads here.
    fn types(&self) -> Vec<UploadType>;

    /// Whether a file of a name is read that was declared to be of a type, which need not be that of its ending: clients
    /// give some to files of several types.
    fn reads(&self, name: &str, declared: &str) -> bool;

    /// Whether texts of a charset are read, by one of its names.
    fn knows_charset(&self, charset: &str) -> bool;

    /// The most pages of a file.
    fn most_pages(&self) -> u32;

    /// The text of a file.
    ///
    /// # Errors
    /// `File`, `Unavailable`.
    async fn extract(&self, file: &FileToExtract) -> Result<DocumentText, ExtractError>;
}

literals! {
    /// Kind of a methodology.
    pub enum MethodologyKind {
        /// Methodology that cuts texts.
        Chunking = "chunking",
        /// Methodology that finds passages.
        Retrieval = "retrieval",
    }
}

/// Methodology that can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Methodology {
    /// Id.
    pub id: String,
    /// Kind.
    pub kind: MethodologyKind,
    /// Name for people.
    pub display_name: String,
    /// Description for people.
    pub description: String,
    /// Whether it is taken where none is named.
    pub is_default: bool,
    /// Whether it needs an embedding model.
    pub requires_embedding: bool,
    /// JSON Schema of its options.
    pub options_schema: Value,
    /// Presets of its options.
    pub defaults: Map<String, Value>,
}

/// Option that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionFault {
    /// Path of the option within the options.
    pub path: String,
    /// The machine word.
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// Settings of a cut.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkSettings {
    /// The methodology.
    pub chunking: Chunking,
    /// Id of the model whose tokens count; none: words are counted.
    pub model: Option<String>,
    /// The most passages.
    pub most: u64,
}

/// Passage that a text was cut into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkedPassage {
    /// Text.
    pub text: String,
    /// Title and headings, in front of it where it is embedded.
    pub prefix: String,
    /// Text that is given instead of it; passages of one piece share it.
    pub context: Option<std::sync::Arc<str>>,
    /// Tokens.
    pub tokens: u32,
    /// Place.
    pub locator: Locator,
}

/// Cuts texts into passages. Each call is computation alone, and ends the same for the same input: a build that is resumed
/// rests on that.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait Chunker: Send + Sync {
    /// Methodologies of cutting, the preset one first.
    fn methodologies(&self) -> Vec<Methodology>;

    /// Checks options and fills in what was left out.
    ///
    /// # Errors
    /// With every option that does not fit; one with the empty path when there is no such methodology.
    fn check(&self, id: &str, options: &Map<String, Value>) -> Result<Chunking, Vec<OptionFault>>;

    /// Passages of a document, in the order of its text.
    ///
    /// # Errors
    /// `File` with `LimitExceeded` beyond the most passages, `NoText` when there is none.
    fn chunk(
        &self,
        document: &DocumentText,
        title: &str,
        settings: &ChunkSettings,
    ) -> Result<Vec<ChunkedPassage>, ExtractError>;
}

/// Kind and id of a definition that uses a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseKind {
    /// A workflow.
    Workflow(WorkflowId),
    /// A case type.
    CaseType(CaseTypeId),
}

impl UseKind {
    /// Type of the definition, as it is told.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Workflow(_) => "workflow",
            Self::CaseType(_) => "case-type",
        }
    }

    /// Id of the definition, as it is told.
    #[must_use]
    pub fn id(self) -> String {
        match self {
            Self::Workflow(id) => id.to_string(),
            Self::CaseType(id) => id.to_string(),
        }
    }
}

/// A definition that uses a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// Kind and id.
    pub kind: UseKind,
    /// Name of it.
    pub name: String,
}

/// The definitions that name vector databases.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait DatabaseUses: Send + Sync {
    /// Published definitions that name a database, at most 20. Those whose expressions give the name are not among them.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn uses(&self, tenant: TenantId, name: &DatabaseName) -> Result<Vec<Use>, StoreError>;
}
