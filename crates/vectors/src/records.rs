//! Records: vector databases, their files, passages, builds and jobs.

use std::collections::BTreeMap;
use std::ops::Range;

use heddle_kernel::{
    BuildId, DatabaseName, FileId, IngestionJobId, Revision, TenantId, Timestamp, UserId, VectorDatabaseId,
    literals,
};
use heddle_usecase::{AuditView, Audited};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

literals! {
    /// State of a vector database.
    pub enum DatabaseState {
        /// Queries are answered over all that is ready.
        Ready = "ready",
        /// Another generation is built beside the one that serves.
        Building = "building",
        /// The last building of another generation failed; the one before serves on.
        Degraded = "degraded",
    }

    /// Keeper of the passage index.
    pub enum Backend {
        /// Files of this server.
        Embedded = "embedded",
        /// The PostgreSQL extension.
        Pgvector = "pgvector",
    }

    /// Type of a declared member of the metadata.
    pub enum FieldType {
        /// A text, or a list of texts.
        String = "string",
        /// A number.
        Number = "number",
        /// True or false.
        Boolean = "boolean",
        /// An instant in RFC 3339.
        DateTime = "dateTime",
    }

    /// Manner of a query.
    pub enum QueryMode {
        /// Meaning and words together.
        Hybrid = "hybrid",
        /// Meaning alone.
        Semantic = "semantic",
        /// Words alone.
        Keyword = "keyword",
    }

    /// State of a file.
    pub enum FileState {
        /// File that waits for its turn.
        Queued = "queued",
        /// File that is worked on.
        Running = "running",
        /// File whose passages can be found.
        Ready = "ready",
        /// File whose passages could not be made.
        Failed = "failed",
        /// File whose ingestion was cancelled.
        Cancelled = "cancelled",
    }

    /// Stage of a file on its way.
    pub enum Stage {
        /// Wait for a turn.
        Queued = "queued",
        /// Fetching of the file's bytes.
        Fetching = "fetching",
        /// Reading of the file's text.
        Parsing = "parsing",
        /// Cutting of the text into passages.
        Chunking = "chunking",
        /// Embedding of the passages: each gets its vector.
        Embedding = "embedding",
        /// Indexing of the passages, which makes them findable.
        Indexing = "indexing",
        /// End of the way: the passages can be found.
        Ready = "ready",
        /// End by a failure.
        Failed = "failed",
        /// End by a cancellation.
        Cancelled = "cancelled",
    }

    /// Reason for which a file has no passages.
    pub enum FileFault {
        /// Type that is not read here, or that the bytes contradict.
        UnsupportedType = "unsupportedType",
        /// Password that is needed and not known.
        Encrypted = "encrypted",
        /// Absence of text.
        NoText = "noText",
        /// Damage of the file.
        ParseFailed = "parseFailed",
        /// Limit that the file exceeds.
        LimitExceeded = "limitExceeded",
        /// Embedding model that does not answer.
        EmbedderUnavailable = "embedderUnavailable",
        /// Bytes that are not there.
        BytesMissing = "bytesMissing",
        /// Cancellation by somebody.
        Cancelled = "cancelled",
    }

    /// Kind of a job.
    pub enum JobKind {
        /// New files.
        Upload = "upload",
        /// Files once more.
        Reprocess = "reprocess",
        /// All files for another generation.
        Reindex = "reindex",
        /// Removal of what was deleted.
        Delete = "delete",
    }

    /// State of a job. It only goes forward.
    pub enum JobState {
        /// Job of which no file has begun.
        Queued = "queued",
        /// Job whose files are worked on.
        Running = "running",
        /// Job that was cancelled and waits for what runs.
        Cancelling = "cancelling",
        /// Job whose files are all ready.
        Completed = "completed",
        /// Job of which some files are ready and others failed.
        CompletedWithErrors = "completedWithErrors",
        /// Job of which no file is ready.
        Failed = "failed",
        /// Job that was cancelled.
        Cancelled = "cancelled",
    }

    /// State of a build.
    pub enum BuildState {
        /// Build that waits for its turn.
        Queued = "queued",
        /// Build that somebody works on.
        Running = "running",
        /// Build whose passages are complete.
        Ready = "ready",
        /// Build that failed.
        Failed = "failed",
        /// Build that was cancelled.
        Cancelled = "cancelled",
    }

    /// State of a server in a job.
    pub enum ServerState {
        /// Server that works on the job.
        Active = "active",
        /// Server that has ended what it took.
        Finished = "finished",
        /// Server that was not heard of for long.
        Lost = "lost",
    }
}

impl JobState {
    /// Whether nothing of the job is left to do.
    #[must_use]
    pub const fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running | Self::Cancelling => false,
            Self::Completed | Self::CompletedWithErrors | Self::Failed | Self::Cancelled => true,
        }
    }
}

impl BuildState {
    /// Whether nothing of the build is left to do.
    #[must_use]
    pub const fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Ready | Self::Failed | Self::Cancelled => true,
        }
    }
}

/// Id of a passage: unique within its database, never given twice there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PassageId(pub u64);

impl std::fmt::Display for PassageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Ids of passages in one row, the last one not in it: the passages of one build always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PassageRange {
    /// The first id.
    pub first: u64,
    /// The id behind the last one.
    pub end: u64,
}

impl PassageRange {
    /// So many ids from one on.
    #[must_use]
    pub const fn of(first: u64, count: u64) -> Self {
        Self { first, end: first + count }
    }

    /// Number of the ids.
    #[must_use]
    pub const fn len(self) -> u64 {
        self.end.saturating_sub(self.first)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.first
    }

    /// The ids.
    #[must_use]
    pub const fn ids(self) -> Range<u64> {
        self.first..self.end
    }

    /// Whether an id is among them.
    #[must_use]
    pub const fn contains(self, id: PassageId) -> bool {
        self.first <= id.0 && id.0 < self.end
    }
}

/// Methodology of cutting texts, with its options in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunking {
    /// Id of the methodology: `recursive`, ...
    pub id: String,
    /// Options, checked, with what was left out filled in.
    pub options: Map<String, Value>,
}

/// Embedding model of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUse {
    /// Id of the model.
    pub id: String,
    /// Dimensions of its vectors.
    pub dimensions: u32,
    /// Revision of the model: vectors of another one are not compared with its.
    pub revision: String,
}

/// Recipe of a generation: how passages are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The model; none: words alone.
    pub model: Option<ModelUse>,
    /// The methodology.
    pub chunking: Chunking,
}

/// Declared member of the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataField {
    /// Type of the values.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// Whether filters may name it.
    #[serde(default = "yes")]
    pub filterable: bool,
}

const fn yes() -> bool {
    true
}

/// Declared members of the metadata of files, by name.
pub type MetadataSchema = BTreeMap<String, MetadataField>;

/// Presets of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QueryDefaults {
    /// Number of passages.
    pub limit: Option<u32>,
    /// Manner of the query.
    pub mode: Option<QueryMode>,
}

/// Counts of a database, kept with the commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Files.
    pub files: u64,
    /// Files whose passages can be found.
    pub ready_files: u64,
    /// Files that failed.
    pub failed_files: u64,
    /// Passages that can be found, of disabled files as well.
    pub passages: u64,
    /// Bytes of the files.
    pub raw_bytes: u64,
    /// Bytes of texts and vectors of the passages.
    pub index_bytes: u64,
}

/// A vector database.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorDatabase {
    /// The organisation.
    pub tenant: TenantId,
    /// Id behind the name: another one for each database of a name.
    pub id: VectorDatabaseId,
    /// Name: the address, which never changes.
    pub name: DatabaseName,
    /// Name for people.
    pub display_name: String,
    /// Purpose.
    pub description: Option<String>,
    /// State.
    pub state: DatabaseState,
    /// Keeper of the index.
    pub backend: Backend,
    /// Generation that serves, from 1.
    pub generation: i64,
    /// Number of the last generation that was begun, whether it ever served or not.
    pub last_generation: i64,
    /// Recipe of the generation that serves.
    pub recipe: Recipe,
    /// Generation that is built beside it, with its recipe and its job.
    pub next: Option<NextGeneration>,
    /// Declared members of the metadata.
    pub schema: MetadataSchema,
    /// Presets of queries.
    pub defaults: QueryDefaults,
    /// Number of the last commit that changed what can be found, in any generation.
    pub sequence: i64,
    /// Counts.
    pub counts: Counts,
    /// Grows with each change of the database itself.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// The user who created it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// The user who changed it last.
    pub updated_by: UserId,
    /// Instant at which a file last became ready.
    pub last_ingested_at: Option<Timestamp>,
}

/// Generation that is built beside the one that serves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextGeneration {
    /// Number of the generation.
    pub generation: i64,
    /// Recipe of the generation.
    pub recipe: Recipe,
    /// The job that builds it.
    pub job: IngestionJobId,
}

impl VectorDatabase {
    /// Key of the index that serves.
    #[must_use]
    pub const fn index_key(&self) -> IndexKey {
        IndexKey { tenant: self.tenant, database: self.id, generation: self.generation }
    }

    /// Recipe of a generation, if it is the one that serves or the one that is built.
    #[must_use]
    pub fn recipe_of(&self, generation: i64) -> Option<&Recipe> {
        if generation == self.generation {
            return Some(&self.recipe);
        }
        self.next.as_ref().filter(|next| next.generation == generation).map(|next| &next.recipe)
    }
}

impl Audited for VectorDatabase {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("name", self.name.as_str())
            .shown("displayName", &self.display_name)
            .shown("description", &self.description)
            .shown("embeddingModelId", self.recipe.model.as_ref().map(|model| &model.id))
            .shown("methodologyId", &self.recipe.chunking.id)
            .shown("next", self.next.as_ref().map(|next| &next.recipe))
            .shown("metadataSchema", &self.schema)
            .shown("defaults", self.defaults)
    }
}

/// Key of an index: one directory, one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexKey {
    /// The organisation.
    pub tenant: TenantId,
    /// The database.
    pub database: VectorDatabaseId,
    /// The generation.
    pub generation: i64,
}

/// Reason for which a file failed, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileError {
    /// The machine word.
    pub code: FileFault,
    /// A sentence for people.
    pub message: String,
    /// Whether another try may succeed.
    pub retryable: bool,
}

/// Progress of a file, from what is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileProgress {
    /// Pages (sheets, slides) of the file, once they are known.
    pub pages: Option<u32>,
    /// Passages that are written.
    pub passages_done: u64,
    /// Passages in all, once they are known.
    pub passages_total: Option<u64>,
}

/// Options of a methodology for one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileOptions {
    /// Methodology that they were given for; none where that was not kept yet.
    pub methodology: Option<String>,
    /// Options, checked, with what was left out filled in.
    pub options: Map<String, Value>,
}

/// A file of a vector database.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    /// The organisation.
    pub tenant: TenantId,
    /// The database.
    pub database: VectorDatabaseId,
    /// Name of the database.
    pub database_name: DatabaseName,
    /// Id of the file.
    pub id: FileId,
    /// Name as it was uploaded.
    pub name: String,
    /// Title for citations.
    pub title: Option<String>,
    /// Type of the content.
    pub media_type: String,
    /// Charset of a text, where the upload declared one.
    pub charset: Option<String>,
    /// Bytes of the content.
    pub bytes: u64,
    /// SHA-256 of the content, in hex.
    pub sha256: String,
    /// Key of the content in the blob store.
    pub blob: String,
    /// State.
    pub state: FileState,
    /// Stage.
    pub stage: Stage,
    /// Progress of the present build.
    pub progress: FileProgress,
    /// Passages that can be found.
    pub passages: u64,
    /// Language that was recognised.
    pub language: Option<String>,
    /// Metadata.
    pub metadata: Map<String, Value>,
    /// Whether its passages can be found.
    pub enabled: bool,
    /// Options of a methodology for this file alone.
    pub options: Option<FileOptions>,
    /// Reason of the last failure.
    pub error: Option<FileError>,
    /// Omissions of what can be found of it with their reasons, one sentence each.
    pub warnings: Vec<String>,
    /// The job that works, or worked last, on it.
    pub job: IngestionJobId,
    /// Times that its passages were made anew.
    pub generation: i64,
    /// Grows with each change by a caller.
    pub revision: Revision,
    /// Instant of the upload.
    pub created_at: Timestamp,
    /// The user who uploaded it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// Instant at which its passages could be found.
    pub indexed_at: Option<Timestamp>,
}

impl File {
    /// Media type with the charset.
    #[must_use]
    pub fn declared_type(&self) -> String {
        match &self.charset {
            Some(charset) => format!("{}; charset={charset}", self.media_type),
            None => self.media_type.clone(),
        }
    }

    /// Title, or the name where it has none.
    #[must_use]
    pub fn shown_title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

impl Audited for File {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("name", &self.name)
            .shown("title", &self.title)
            .shown("mediaType", &self.media_type)
            .shown("bytes", self.bytes)
            .shown("sha256", &self.sha256)
            .shown("enabled", self.enabled)
            .hidden("metadata", &self.metadata)
            .shown("jobId", self.job.to_string())
    }
}

/// Counts of a job's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobFiles {
    /// All.
    pub total: u64,
    /// Those that wait.
    pub queued: u64,
    /// Those that are worked on.
    pub running: u64,
    /// Those that are ready.
    pub ready: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that were cancelled.
    pub cancelled: u64,
}

/// A job that takes files into a database.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the job.
    pub id: IngestionJobId,
    /// The database.
    pub database: VectorDatabaseId,
    /// Name of the database.
    pub database_name: DatabaseName,
    /// Kind.
    pub kind: JobKind,
    /// State.
    pub state: JobState,
    /// Stage that was last reached by a file.
    pub stage: Stage,
    /// Files.
    pub files: JobFiles,
    /// Passages that are written.
    pub passages_done: u64,
    /// Passages in all of the files that are cut.
    pub passages_total: u64,
    /// Files that are cut: of them the passages are known.
    pub files_cut: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Tries of its files that failed and were tried again.
    pub attempts: u64,
    /// Error of the last file that failed.
    pub error: Option<FileError>,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// The user who asked for it.
    pub created_by: UserId,
    /// Instant at which the first file began.
    pub started_at: Option<Timestamp>,
    /// Instant at which a worker was last heard of.
    pub heartbeat_at: Option<Timestamp>,
    /// Instant at which it ended.
    pub finished_at: Option<Timestamp>,
}

impl Job {
    /// Passages in all, once every file is cut.
    #[must_use]
    pub fn passages_known(&self) -> Option<u64> {
        let open = self.files.total.saturating_sub(self.files.failed + self.files.cancelled);
        (self.files_cut >= open).then_some(self.passages_total)
    }

    /// Progress from 0 to 1, of what is committed: a file counts for the part of its passages that is written.
    #[must_use]
    pub fn progress(&self) -> f64 {
        if self.files.total == 0 || self.state.is_over() {
            return 1.0;
        }
        let ended = self.files.ready + self.files.failed + self.files.cancelled;
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        // Of the files at work, the part that is written; those that ended count in full.
        let at_work = self.files.running.min(self.files.total - ended.min(self.files.total));
        let written = share(self.passages_done.min(self.passages_total), self.passages_total);
        ((ended as f64 + at_work as f64 * written * 0.99) / self.files.total as f64).clamp(0.0, 1.0)
    }

    /// Seconds until the end by the pace so far; none while nothing ended.
    #[must_use]
    pub fn eta_seconds(&self, now: Timestamp) -> Option<u64> {
        let progress = self.progress();
        let started = self.started_at?;
        if self.state.is_over() || progress <= 0.0 {
            return None;
        }
        let spent = now.micros().saturating_sub(started.micros()).max(0) as f64 / 1e6;
        let left = spent * (1.0 - progress) / progress;
        Some(left.ceil() as u64)
    }
}

impl Audited for Job {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("vectorDatabase", self.database_name.as_str())
            .shown("kind", self.kind)
            .shown("state", self.state)
    }
}

/// A server's part in a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobServer {
    /// Id of the node.
    pub server: uuid::Uuid,
    /// Name of its host.
    pub host_name: String,
    /// Version of its program.
    pub version: String,
    /// State.
    pub state: ServerState,
    /// Stages that it did.
    pub stages: Vec<Stage>,
    /// Files that it took.
    pub files_claimed: u64,
    /// Files that it made ready.
    pub files_completed: u64,
    /// Files that failed there.
    pub files_failed: u64,
    /// Passages that it wrote.
    pub passages_written: u64,
    /// Instant at which it first took one.
    pub first_seen_at: Timestamp,
    /// Instant at which it was last heard of.
    pub last_heartbeat_at: Timestamp,
    /// File that it works on.
    pub current_file: Option<FileId>,
}

/// Place of a passage in its file. Offsets count characters of the extracted text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Locator {
    /// Page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Name of the sheet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// Slide, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slide: Option<u32>,
    /// Headings above it, the outermost first.
    #[serde(default)]
    pub heading_path: Vec<String>,
    /// First character.
    pub start_char: u64,
    /// Character behind the last one.
    pub end_char: u64,
    /// Place of the larger piece that is answered in its stead; none where it has no such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Span>,
}

/// Characters of the extracted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// First character.
    pub start_char: u64,
    /// Character behind the last one.
    pub end_char: u64,
}

/// A passage as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Id of the passage.
    pub id: PassageId,
    /// The file.
    pub file: FileId,
    /// The build that made it.
    pub build: BuildId,
    /// Place in the order of the file's passages, from 0.
    pub ordinal: u32,
    /// Text.
    pub text: String,
    /// Text in front of it when it is embedded and indexed: title and headings; shown to nobody.
    pub prefix: String,
    /// Text around it that is given instead of it (a window, a parent), where the methodology has such.
    pub context: Option<String>,
    /// Tokens of the embedded text.
    pub tokens: u32,
    /// Place in the file.
    pub locator: Locator,
    /// Vector, of length 1; none where words alone count.
    pub vector: Option<Vec<f32>>,
}

/// Work that makes the passages of one file in one generation. Its errand has the same id.
#[derive(Debug, Clone, PartialEq)]
pub struct Build {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the build.
    pub id: BuildId,
    /// The database.
    pub database: VectorDatabaseId,
    /// Name of the database.
    pub database_name: DatabaseName,
    /// The file.
    pub file: FileId,
    /// The job.
    pub job: IngestionJobId,
    /// Generation of the database for which it is.
    pub generation: i64,
    /// State.
    pub state: BuildState,
    /// Stage.
    pub stage: Stage,
    /// Ids of its passages, once the file is cut.
    pub passages: Option<PassageRange>,
    /// Passages that are written: the first so many.
    pub done: u64,
    /// SHA-256 over the recipe and all texts of its passages, once the file is cut: a resumed build goes on only when it is
    /// the same.
    pub cut: Option<String>,
    /// Reason of the failure.
    pub error: Option<FileError>,
    /// Instant of creation.
    pub created_at: Timestamp,
}
