//! Ports to the rows: what callers see, what indexes follow, and what ingestion writes.

use async_trait::async_trait;
use heddle_kernel::{
    BuildId, DatabaseName, FileId, IngestionJobId, Page, PageRequest, Revision, TenantId, Timestamp, UserId,
    VectorDatabaseId,
};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::{Journal, StoreError};
use uuid::Uuid;

use crate::records::{
    Build, DatabaseState, File, FileError, FileState, Job, JobKind, JobServer, JobState, NextGeneration,
    Passage, PassageId, PassageRange, Stage, VectorDatabase,
};

/// Order of databases and of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Order of the names, ascending.
    Name,
    /// Order of creation, the newest first.
    Newest,
}

/// Filter for databases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatabaseFilter {
    /// The order; by name where none is said.
    pub sort: Option<Sort>,
    /// A part of the name, the display name or the description, in any case.
    pub q: Option<String>,
    /// The state.
    pub state: Option<DatabaseState>,
}

/// Value of a metadata member, in the order of its type.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// A text.
    Text(String),
    /// A number, never one that is none.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// An instant.
    Instant(Timestamp),
}

/// Test of a member.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldTest {
    /// One of these values; of a list, any of it.
    In(Vec<FieldValue>),
    /// Greater than this, or equal where it is said.
    Above(FieldValue, bool),
    /// Less than this, or equal where it is said.
    Below(FieldValue, bool),
    /// The member is there.
    Exists,
    /// A text that holds this one.
    Contains(String),
}

/// Condition of one member: `metadata.<name>`, `mediaType`, `createdAt`, `fileId`.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldCondition {
    /// The member.
    pub field: String,
    /// The test.
    pub test: FieldTest,
}

/// Filter for files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileFilter {
    /// The order; the newest first where none is said.
    pub sort: Option<Sort>,
    /// A part of the name or the title, in any case.
    pub q: Option<String>,
    /// The whole name.
    pub name: Option<String>,
    /// The state.
    pub state: Option<FileState>,
    /// The media type.
    pub media_type: Option<String>,
    /// Conditions, which all must hold.
    pub metadata: Vec<FieldCondition>,
}

/// Filter for jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFilter {
    /// The database.
    pub database: Option<DatabaseName>,
    /// The state.
    pub state: Option<JobState>,
    /// The kind.
    pub kind: Option<JobKind>,
    /// Created at this instant or later.
    pub since: Option<Timestamp>,
}

/// Quotas of an organisation; none is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quotas {
    /// Vector databases of the installation, by the licence.
    pub licensed_databases: Option<u64>,
    /// Vector databases of the organisation.
    pub databases: Option<u64>,
    /// Files.
    pub files: Option<u64>,
    /// Passages.
    pub passages: Option<u64>,
    /// Bytes of files.
    pub bytes: Option<u64>,
    /// Files that wait or are worked on.
    pub waiting: Option<u64>,
}

/// Usage of an organisation: what it has in its databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Vector databases.
    pub databases: u64,
    /// Files.
    pub files: u64,
    /// Passages.
    pub passages: u64,
    /// Bytes of files.
    pub bytes: u64,
    /// Files that wait or are worked on.
    pub waiting: u64,
}

/// Change of a database.
#[derive(Debug, Clone)]
pub struct DatabaseUpdate<'a> {
    /// The database as it shall be; counts, sequence, generation and state are not taken from it.
    pub database: &'a VectorDatabase,
    /// Generation to build, with the job that does it; its builds are made by [`IngestStore::spread`], for which an errand of
    /// the job's id is written.
    pub reindex: Option<(&'a NextGeneration, &'a Job)>,
}

/// Files to add.
#[derive(Debug, Clone)]
pub struct FileUpload<'a> {
    /// The database.
    pub database: VectorDatabaseId,
    /// The files, in the order of the call. `blob` of each is what was kept for it.
    pub files: &'a [File],
    /// The job.
    pub job: &'a Job,
    /// Builds: one of each file, for the generation that serves. While another is built, the file gets one for that when it
    /// can be found.
    pub builds: &'a [Build],
    /// Quotas of the organisation.
    pub quotas: Quotas,
}

/// Change of a file.
#[derive(Debug, Clone)]
pub struct FilePatchWrite<'a> {
    /// The file as it shall be.
    pub file: &'a File,
    /// Whether its title is another by the caller's word: what ingestion finds while the change is made is kept else.
    pub names_title: bool,
    /// Whether its options are others by the caller's word: a generation that begins to serve takes those of another
    /// methodology away.
    pub names_options: bool,
    /// Declared members of the metadata whose values are kept for filters: names with their values.
    pub fields: &'a [(String, FieldValue)],
    /// Passages to be made anew.
    pub reprocess: Option<Reprocess<'a>>,
}

/// Passages of a file to be made anew.
#[derive(Debug, Clone, Copy)]
pub struct Reprocess<'a> {
    /// The job.
    pub job: &'a Job,
    /// The build.
    pub build: &'a Build,
}

/// Outcome of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// Deletion by this call.
    Now,
    /// Deletion by an earlier call.
    Before,
}

/// Databases, files and jobs as callers see them.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait VectorStore: Send + Sync {
    /// A page of the databases within reach, by name.
    async fn list_databases(
        &self,
        tenant: TenantId,
        filter: &DatabaseFilter,
        access: &AccessFilter<resource::VectorDatabase>,
        page: &PageRequest,
    ) -> Result<Page<VectorDatabase>, StoreError>;

    /// A database by its name.
    async fn database(&self, tenant: TenantId, name: &DatabaseName) -> Result<VectorDatabase, StoreError>;

    /// Those of some names that are taken.
    async fn taken(&self, tenant: TenantId, names: &[DatabaseName]) -> Result<Vec<DatabaseName>, StoreError>;

    /// Adds a database. `QuotaExceeded`, with the limit `licensedDatabases` for that of the licence; `Duplicate` for a name that is taken, `NotFound` when the organisation was
    /// deleted.
    async fn insert_database(
        &self,
        database: &VectorDatabase,
        quotas: &Quotas,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Writes a database over the expected revision. `Stale` also when it is being built anew and shall be again.
    async fn update_database<'a>(
        &self,
        update: DatabaseUpdate<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes a database with all that is in it; leaves a tombstone of its name. `Stale` when `expected` is another
    /// revision. Jobs that run are cancelled, rows of passages and bytes of files go in the background.
    async fn delete_database(
        &self,
        tenant: TenantId,
        name: &DatabaseName,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError>;

    /// Usage of an organisation.
    async fn usage(&self, tenant: TenantId) -> Result<Usage, StoreError>;

    /// Number of the databases of all organisations together, from counts that are kept.
    async fn databases_in_all(&self) -> Result<u64, StoreError>;

    /// A page of the files of a database within reach, the newest first.
    async fn list_files(
        &self,
        database: &VectorDatabase,
        filter: &FileFilter,
        access: &AccessFilter<resource::Document>,
        page: &PageRequest,
    ) -> Result<Page<File>, StoreError>;

    /// A file of a database.
    async fn file(&self, tenant: TenantId, database: &DatabaseName, file: FileId)
    -> Result<File, StoreError>;

    /// Ids of the files of a database that have this content, with it.
    async fn same_content(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        sha256: &[String],
    ) -> Result<Vec<(String, FileId)>, StoreError>;

    /// Adds files with their job and builds: all or none. Gives the keys of blobs that are not needed, since the same
    /// content was there. `QuotaExceeded`; `Duplicate` with `sha256` for a content that is there; `NotFound` when the
    /// database is gone; `Stale` when it serves another generation by now.
    async fn insert_files<'a>(
        &self,
        upload: FileUpload<'a>,
        fields: &'a [Vec<(String, FieldValue)>],
        journal: &Journal,
    ) -> Result<Vec<String>, StoreError>;

    /// Writes a file over the expected revision. When it is disabled or enabled, its passages go from the index and come to
    /// it by commits of this transaction.
    async fn update_file<'a>(
        &self,
        write: FilePatchWrite<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes a file of the expected revision; leaves a tombstone in the name of its database, by which a repeat is known
    /// also after the database is gone. From this commit on no passage of it is found; what works on it is cancelled; rows
    /// of its passages and its bytes go in the background.
    async fn delete_file(
        &self,
        tenant: TenantId,
        database: &DatabaseName,
        file: FileId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError>;

    /// A page of the jobs within reach, the newest first.
    async fn list_jobs(
        &self,
        tenant: TenantId,
        filter: &JobFilter,
        access: &AccessFilter<resource::IngestionJob>,
        page: &PageRequest,
    ) -> Result<Page<Job>, StoreError>;

    /// A job.
    async fn job(&self, tenant: TenantId, job: IngestionJobId) -> Result<Job, StoreError>;

    /// Whether a job has to do with one of these files.
    async fn job_has(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        files: &[FileId],
    ) -> Result<bool, StoreError>;

    /// The servers of a job.
    async fn job_servers(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        now: Timestamp,
    ) -> Result<Vec<JobServer>, StoreError>;

    /// Cancels a job: what waits ends at once, what runs ends at its next commit. Gives the job as it is then; one that is
    /// over stays as it is, and nothing is journalled.
    async fn cancel_job(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        journal: &Journal,
    ) -> Result<Job, StoreError>;
}

/// A commit that changed what can be found in one generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Number of the commit.
    pub sequence: i64,
    /// The generation.
    pub generation: i64,
    /// Passages that went.
    pub removed: Option<PassageRange>,
    /// Passages that came.
    pub added: Option<PassageRange>,
}

/// Commits behind a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangesSince {
    /// The commits, without a gap, in their order; at most as many as were asked for.
    All(Vec<Change>),
    /// The first of them are not kept any more: an index must be built anew.
    Gap,
}

/// File whose passages can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveFile {
    /// The file.
    pub file: FileId,
    /// Passages of the file.
    pub passages: PassageRange,
}

/// Passage that was found, with what its citation needs. It could be found when it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPassage {
    /// The passage; its vector only where it was asked for.
    pub passage: Passage,
    /// Name of the file.
    pub file_name: String,
    /// Title of the file, or its name.
    pub title: String,
    /// Metadata of the file.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// Passages of its build.
    pub of: PassageRange,
}

/// Passages beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbours {
    /// The passage.
    pub of: PassageId,
    /// Passages of its build.
    pub within: PassageRange,
    /// Number before and behind it.
    pub each: u32,
}

/// Place at which a database stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Number of the last commit that changed what can be found.
    pub sequence: i64,
    /// The generation that serves.
    pub generation: i64,
    /// Number of the last commit that changed what filters find.
    pub fields: i64,
}

/// Passages as indexes and queries read them.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait PassageStore: Send + Sync {
    /// Place at which a database stands. `NotFound` when it is gone.
    async fn position(&self, tenant: TenantId, database: VectorDatabaseId) -> Result<Position, StoreError>;

    /// Commits behind a number, at most so many.
    async fn changes(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        since: i64,
        most: u32,
    ) -> Result<ChangesSince, StoreError>;

    /// Stored passages of some ids, with vectors, in their order; those that are gone are left out.
    async fn passages(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        ids: PassageRange,
    ) -> Result<Vec<Passage>, StoreError>;

    /// Files of a generation whose passages can be found, behind one of them and in the order of their ids, disabled ones
    /// left out; at most so many.
    async fn live(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        generation: i64,
        after: Option<FileId>,
        most: u32,
    ) -> Result<Vec<LiveFile>, StoreError>;

    /// Those of these files whose passages can be found in a generation, disabled ones left out.
    async fn live_of(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        generation: i64,
        files: &[FileId],
    ) -> Result<Vec<LiveFile>, StoreError>;

    /// Files of a database for which a condition holds.
    async fn files_where(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        condition: &FieldCondition,
    ) -> Result<Vec<FileId>, StoreError>;

    /// Those of some passages that can be found now in a generation: their file is there, enabled and has this build.
    async fn found(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        generation: i64,
        ids: &[PassageId],
        with_vectors: bool,
    ) -> Result<Vec<FoundPassage>, StoreError>;

    /// Texts beside passages, by the passage and in the order of the file.
    async fn neighbours(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        of: &[Neighbours],
    ) -> Result<Vec<(PassageId, Vec<Passage>)>, StoreError>;
}

/// A node that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeIdentity {
    /// Id of the node.
    pub id: Uuid,
    /// Name of its host.
    pub host_name: String,
    /// Version of its program.
    pub version: String,
}

/// A build that was taken, with what it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The build.
    pub build: Build,
    /// The file.
    pub file: File,
    /// The database.
    pub database: VectorDatabase,
    /// User who asked for its job.
    pub asked_by: UserId,
}

/// Result of a cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Passages in all.
    pub passages: u64,
    /// SHA-256 over the recipe and all texts.
    pub digest: String,
    /// Pages of the file, where it has such.
    pub pages: Option<u32>,
    /// Language of the file.
    pub language: Option<String>,
    /// Title that the file itself says; taken where it has none.
    pub title: Option<String>,
    /// Omissions of the text with their reasons; those of the file once these passages can be found.
    pub warnings: Vec<String>,
    /// The most passages of the organisation.
    pub most: Option<u64>,
}

/// End of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildEnd {
    /// All passages are written: they can be found from this commit on, in place of those of the build before.
    Ready,
    /// Failure for good; what could be found before still can.
    Failed(FileError),
}

/// Leftovers in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purge {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the leftover.
    pub id: Uuid,
    /// The database.
    pub database: VectorDatabaseId,
    /// Passages whose rows go.
    pub passages: Option<PassageRange>,
    /// Bytes that go.
    pub blob: Option<String>,
    /// Generation whose index goes.
    pub generation: Option<i64>,
}

/// Ingestion as its workers write it. What is said of a build that is over, or whose file, job or database is gone, is
/// `NotFound`: the worker drops what it did.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait IngestStore: Send + Sync {
    /// Takes a build for a node, or goes on with it. None when there is nothing to do: it is over, or cancelled by now; one of
    /// a generation that is gone is cancelled by it.
    async fn claim(
        &self,
        tenant: TenantId,
        build: BuildId,
        node: &NodeIdentity,
        now: Timestamp,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Tells the stage of a build, and that its node lives.
    async fn reached(
        &self,
        build: &Build,
        stage: Stage,
        node: Uuid,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Keeps what a file was cut into, and gives it ids; when the build was cut the same before, what it wrote counts, else
    /// that goes and it begins anew. Gives the build as it is then. `QuotaExceeded` for the passages.
    async fn cut(&self, build: &Build, cut: &Cut, now: Timestamp) -> Result<Build, StoreError>;

    /// Writes the passages of a build that come next: the first of them has the id behind what is written. `Stale` when
    /// it is another.
    async fn write_passages(
        &self,
        build: &Build,
        passages: &[Passage],
        node: Uuid,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Ends a build, and with the last one its job and, where the job built another generation, makes that the one that
    /// serves. `Ready` is `Stale` while passages are missing.
    async fn end(&self, build: &Build, end: &BuildEnd, node: Uuid, now: Timestamp) -> Result<(), StoreError>;

    /// Tells that a try of a build failed and another follows.
    async fn failed_try(&self, build: &Build, error: &FileError, now: Timestamp) -> Result<(), StoreError>;

    /// Makes builds for files that can be found now and have none in the generation that a job builds, at most so many, each
    /// with its errand; gives whether there may be more. With none left the job is over once its builds are, and those for the
    /// generation that serves: a file that comes to be found meanwhile has a build in this job as well.
    async fn spread(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        builds: &[BuildId],
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends a job that builds another generation as failed, and gives that up: the one before serves on.
    async fn fail_reindex(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        error: &FileError,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Ends what is open and has no errand any more, so that nobody works on it, as failed with an error: builds, and jobs that
    /// build another generation. At most so many of each organisation; gives their number.
    async fn end_unattended(&self, error: &FileError, most: u32, now: Timestamp) -> Result<u64, StoreError>;

    /// Leftovers, at most so many.
    async fn purges(&self, most: u32) -> Result<Vec<Purge>, StoreError>;

    /// Removes rows of a leftover, at most so many; gives whether it is all gone. With none of them left the leftover goes.
    async fn purge(&self, purge: &Purge, most: u32) -> Result<bool, StoreError>;

    /// Those of some keys of blobs that a file has.
    async fn kept_blobs(&self, tenant: TenantId, keys: &[String]) -> Result<Vec<String>, StoreError>;

    /// Forgets commits that are older than the last so many of each database; gives their number.
    async fn trim_changes(&self, keep: u32, most: u32) -> Result<u64, StoreError>;
}
