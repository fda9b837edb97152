//! The store: the ports' methods, each by the module of its subject.

use async_trait::async_trait;
use heddle_kernel::{
    BuildId, DatabaseName, FileId, IngestionJobId, Page, PageRequest, Revision, TenantId, Timestamp,
    VectorDatabaseId,
};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{Db, StoreError, read};
use heddle_usecase::Journal;
use heddle_vectors::ports::{
    BuildEnd, ChangesSince, Claimed, Cut, DatabaseFilter, DatabaseUpdate, Deleted, FieldCondition,
    FieldValue, FileFilter, FilePatchWrite, FileUpload, FoundPassage, IngestStore, JobFilter, LiveFile,
    Neighbours, NodeIdentity, PassageStore, Position, Purge, Quotas, Usage, VectorStore,
};
use heddle_vectors::records::{
    Build, File, FileError, Job, JobServer, Passage, PassageId, PassageRange, Stage, VectorDatabase,
};
use uuid::Uuid;

use crate::key::DatabaseKey;
use crate::{
    builds, counts, databases, ending, file_lists, files, ingestion_jobs, passages, purge, unattended,
};

/// Keeps vector databases, their files, passages and jobs.
#[derive(Clone)]
pub struct SqlVectorStore {
    db: Db,
}

impl std::fmt::Debug for SqlVectorStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlVectorStore").finish_non_exhaustive()
    }
}

impl SqlVectorStore {
    /// Store on a database whose migrations have run.
    #[must_use]
    pub const fn new(db: Db) -> Self {
        Self { db }
    }
}

#[async_trait]
impl VectorStore for SqlVectorStore {
    async fn list_databases(
        &self,
        tenant: TenantId,
        filter: &DatabaseFilter,
        access: &AccessFilter<resource::VectorDatabase>,
        page: &PageRequest,
    ) -> Result<Page<VectorDatabase>, StoreError> {
        databases::list(&self.db, tenant, filter, access, page).await
    }

    async fn database(&self, tenant: TenantId, name: &DatabaseName) -> Result<VectorDatabase, StoreError> {
        databases::one(&self.db, tenant, name).await
    }

    async fn taken(&self, tenant: TenantId, names: &[DatabaseName]) -> Result<Vec<DatabaseName>, StoreError> {
        databases::taken(&self.db, tenant, names).await
    }

    async fn insert_database(
        &self,
        database: &VectorDatabase,
        quotas: &Quotas,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        databases::insert(&self.db, database, quotas, journal).await
    }

    async fn update_database<'a>(
        &self,
        update: DatabaseUpdate<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        databases::change(&self.db, update, expected, journal).await
    }

    async fn delete_database(
        &self,
        tenant: TenantId,
        name: &DatabaseName,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError> {
        databases::remove(&self.db, tenant, name, expected, journal).await
    }

    async fn usage(&self, tenant: TenantId) -> Result<Usage, StoreError> {
        databases::usage(&self.db, tenant).await
    }

    async fn databases_in_all(&self) -> Result<u64, StoreError> {
        read!(&self.db, |conn| Ok(counts::in_all(conn).await?.unsigned_abs()))
    }

    async fn list_files(
        &self,
        database: &VectorDatabase,
        filter: &FileFilter,
        access: &AccessFilter<resource::Document>,
        page: &PageRequest,
    ) -> Result<Page<File>, StoreError> {
        file_lists::list(&self.db, database, filter, access, page).await
    }

    async fn file(
        &self,
        tenant: TenantId,
        database: &DatabaseName,
        file: FileId,
    ) -> Result<File, StoreError> {
        files::one(&self.db, tenant, database, file).await
    }

    async fn same_content(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        sha256: &[String],
    ) -> Result<Vec<(String, FileId)>, StoreError> {
        files::same_content(&self.db, tenant, database, sha256).await
    }

    async fn insert_files<'a>(
        &self,
        upload: FileUpload<'a>,
        fields: &'a [Vec<(String, FieldValue)>],
        journal: &Journal,
    ) -> Result<Vec<String>, StoreError> {
        files::insert(&self.db, upload, fields, journal).await
    }

    async fn update_file<'a>(
        &self,
        write: FilePatchWrite<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        files::change(&self.db, write, expected, journal).await
    }

    async fn delete_file(
        &self,
        tenant: TenantId,
        database: &DatabaseName,
        file: FileId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError> {
        files::remove(&self.db, tenant, database, file, expected, journal).await
    }

    async fn list_jobs(
        &self,
        tenant: TenantId,
        filter: &JobFilter,
        access: &AccessFilter<resource::IngestionJob>,
        page: &PageRequest,
    ) -> Result<Page<Job>, StoreError> {
        ingestion_jobs::list(&self.db, tenant, filter, access, page).await
    }

    async fn job(&self, tenant: TenantId, job: IngestionJobId) -> Result<Job, StoreError> {
        ingestion_jobs::one(&self.db, tenant, job).await
    }

    async fn job_has(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        files: &[FileId],
    ) -> Result<bool, StoreError> {
        ingestion_jobs::has(&self.db, tenant, job, files).await
    }

    async fn job_servers(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        now: Timestamp,
    ) -> Result<Vec<JobServer>, StoreError> {
        ingestion_jobs::servers(&self.db, tenant, job, now).await
    }

    async fn cancel_job(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        journal: &Journal,
    ) -> Result<Job, StoreError> {
        ingestion_jobs::cancel(&self.db, tenant, job, journal).await
    }
}

#[async_trait]
impl PassageStore for SqlVectorStore {
    async fn position(&self, tenant: TenantId, database: VectorDatabaseId) -> Result<Position, StoreError> {
        passages::position(&self.db, tenant, database).await
    }

    async fn changes(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        since: i64,
        most: u32,
    ) -> Result<ChangesSince, StoreError> {
        passages::changes(&self.db, tenant, database, since, most).await
    }

    async fn passages(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        ids: PassageRange,
    ) -> Result<Vec<Passage>, StoreError> {
        passages::passages(&self.db, tenant, database, ids).await
    }

    async fn live(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        generation: i64,
        after: Option<FileId>,
        most: u32,
    ) -> Result<Vec<LiveFile>, StoreError> {
        passages::live(&self.db, tenant, database, generation, after, most).await
    }

    async fn live_of(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        generation: i64,
        files: &[FileId],
    ) -> Result<Vec<LiveFile>, StoreError> {
        passages::live_of(&self.db, DatabaseKey::of(tenant, database), generation, files).await
    }

    async fn files_where(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        condition: &FieldCondition,
    ) -> Result<Vec<FileId>, StoreError> {
        let files = passages::files_where_of(&self.db, DatabaseKey::of(tenant, database), condition).await?;
        Ok(files.into_iter().map(Into::into).collect())
    }

    async fn found(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        generation: i64,
        ids: &[PassageId],
        with_vectors: bool,
    ) -> Result<Vec<FoundPassage>, StoreError> {
        passages::found(&self.db, tenant, database, generation, ids, with_vectors).await
    }

    async fn neighbours(
        &self,
        tenant: TenantId,
        database: VectorDatabaseId,
        of: &[Neighbours],
    ) -> Result<Vec<(PassageId, Vec<Passage>)>, StoreError> {
        passages::neighbours(&self.db, tenant, database, of).await
    }
}

#[async_trait]
impl IngestStore for SqlVectorStore {
    async fn claim(
        &self,
        tenant: TenantId,
        build: BuildId,
        node: &NodeIdentity,
        now: Timestamp,
    ) -> Result<Option<Claimed>, StoreError> {
        builds::claim(&self.db, tenant, build, node, now).await
    }

    async fn reached(
        &self,
        build: &Build,
        stage: Stage,
        node: Uuid,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        builds::reached(&self.db, build, stage, node, now).await
    }

    async fn cut(&self, build: &Build, cut: &Cut, now: Timestamp) -> Result<Build, StoreError> {
        builds::cut(&self.db, build, cut, now).await
    }

    async fn write_passages(
        &self,
        build: &Build,
        passages: &[Passage],
        node: Uuid,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        builds::write_passages(&self.db, build, passages, node, now).await
    }

    async fn end(&self, build: &Build, end: &BuildEnd, node: Uuid, now: Timestamp) -> Result<(), StoreError> {
        ending::end(&self.db, build, end, node, now).await
    }

    async fn failed_try(&self, build: &Build, error: &FileError, now: Timestamp) -> Result<(), StoreError> {
        builds::failed_try(&self.db, build, error, now).await
    }

    async fn spread(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        builds: &[BuildId],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        builds::spread(&self.db, tenant, job, builds, now).await
    }

    async fn fail_reindex(
        &self,
        tenant: TenantId,
        job: IngestionJobId,
        error: &FileError,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        unattended::fail_reindex(&self.db, tenant, job, error, now).await
    }

    async fn end_unattended(&self, error: &FileError, most: u32, now: Timestamp) -> Result<u64, StoreError> {
        unattended::end_all(&self.db, error, most, now).await
    }

    async fn purges(&self, most: u32) -> Result<Vec<Purge>, StoreError> {
        purge::all(&self.db, most).await
    }

    async fn purge(&self, purge: &Purge, most: u32) -> Result<bool, StoreError> {
        purge::step(&self.db, purge, most).await
    }

    async fn kept_blobs(&self, tenant: TenantId, keys: &[String]) -> Result<Vec<String>, StoreError> {
        purge::kept(&self.db, tenant, keys).await
    }

    async fn trim_changes(&self, keep: u32, most: u32) -> Result<u64, StoreError> {
        purge::trim_changes(&self.db, keep, most).await
    }
}
