//! Definitions, workflows and case types, with their drafts, versions, stars and imported files.

mod callable;
mod delete;
mod list;
mod numbers;
mod read;
mod rows;
mod shown;
mod write;

use std::ops::RangeInclusive;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_definitions::{DefinitionAccess, DefinitionKey};
use heddle_kernel::{DefinitionKind, Page, PageRequest, Revision, TenantId, Timestamp, UserId, WorkflowId};
use heddle_store::Db;
use heddle_usecase::{Compute, InPlace, Journal, StoreError};
use heddle_workflows::ports::{
    Callable, DefinitionStore, Deleted, PublishWrite, SourceQuota, WorkflowFilter, WorkflowWrite,
};
use heddle_workflows::quotas::{QuotaSource, Used};
use heddle_workflows::records::{
    Draft, ImportSource, ShownWorkflow, Version, VersionChoice, WorkflowState, WorkflowView,
};
use serde_json::Value;

use crate::kept::Kept;
use crate::named;
use crate::quotas::Guard;

/// Workflows in the database.
#[derive(Clone)]
pub struct SqlWorkflowStore {
    db: Db,
    guard: Guard,
    kept: Arc<Kept>,
    compute: Arc<dyn Compute>,
    listed: Arc<callable::Listed>,
    numbered: Arc<numbers::Numbered>,
}

impl std::fmt::Debug for SqlWorkflowStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlWorkflowStore").finish_non_exhaustive()
    }
}

impl SqlWorkflowStore {
    /// Store in this database, whose schema is up to date.
    #[must_use]
    pub fn new(db: Db) -> Self {
        Self {
            db,
            guard: Guard::default(),
            kept: Arc::default(),
            compute: Arc::new(InPlace),
            listed: Arc::default(),
            numbered: Arc::default(),
        }
    }

    /// The same with quotas of their own, which may change from one call to the next.
    #[must_use]
    pub fn with_quotas(self, quotas: Arc<dyn QuotaSource>) -> Self {
        Self { guard: Guard::new(quotas), ..self }
    }

    /// The same with threads on which large definitions are unpacked.
    #[must_use]
    pub fn with_compute(self, compute: Arc<dyn Compute>) -> Self {
        Self { compute, ..self }
    }

    /// Looks whether the organisation may store more at all: how large one definition is has a bound of its own.
    async fn room(&self, tenant: TenantId) -> Result<(), StoreError> {
        let more = Used { stored_bytes: 1, ..Used::default() };
        // Definitions are large and seldom: what was read before the last one tells little.
        self.guard.forget(tenant);
        self.guard.admit(&self.db, tenant, &[more]).await.pop().unwrap_or(Ok(()))
    }
}

#[async_trait]
impl DefinitionStore for SqlWorkflowStore {
    async fn insert<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        self.room(write.definition.tenant).await?;
        write::insert(&self.db, write, unit).await.map_err(named)
    }

    async fn update<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        write::update(&self.db, write, unit).await.map_err(named)
    }

    async fn get(&self, key: DefinitionKey, user: UserId) -> Result<WorkflowView, StoreError> {
        read::get(&self.db, key, user).await
    }

    async fn standing(&self, key: DefinitionKey) -> Result<(WorkflowState, Option<i32>), StoreError> {
        shown::standing(&self.db, &self.kept, key).await
    }

    async fn shown(
        &self,
        key: DefinitionKey,
        user: UserId,
        choice: VersionChoice,
    ) -> Result<ShownWorkflow, StoreError> {
        let asked = shown::Asked { key, user, choice };
        shown::shown(&self.db, &self.kept, &*self.compute, asked).await
    }

    async fn draft(&self, key: DefinitionKey) -> Result<Draft, StoreError> {
        read::draft(&self.db, key).await
    }

    async fn list<'a>(
        &self,
        tenant: TenantId,
        user: UserId,
        filter: &WorkflowFilter,
        access: DefinitionAccess<'a>,
        page: &PageRequest,
    ) -> Result<Page<WorkflowView>, StoreError> {
        list::list(&self.db, tenant, user, filter, access, page).await
    }

    async fn delete(
        &self,
        key: DefinitionKey,
        expected: Option<Revision>,
        unit: &Journal,
    ) -> Result<Deleted, StoreError> {
        delete::delete(&self.db, key, expected, unit).await
    }

    async fn publish<'a>(&self, write: PublishWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        self.room(write.definition.tenant).await?;
        write::publish(&self.db, write, unit).await.map_err(named)
    }

    async fn callable<'a>(
        &self,
        tenant: TenantId,
        kind: DefinitionKind,
        name: &'a str,
    ) -> Result<Callable, StoreError> {
        callable::named(&self.db, &self.listed, tenant, kind, name).await
    }

    async fn numbered(&self, tenant: TenantId, number: i64) -> Result<Vec<WorkflowId>, StoreError> {
        numbers::numbered(&self.db, &self.numbered, tenant, number).await
    }

    async fn tagged<'a>(
        &self,
        key: DefinitionKey,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError> {
        numbers::tagged(&self.db, key, versions, tag).await
    }

    async fn versions(&self, key: DefinitionKey, page: &PageRequest) -> Result<Page<Version>, StoreError> {
        read::versions(&self.db, key, page).await
    }

    async fn version(&self, key: DefinitionKey, number: i32) -> Result<(Version, Value), StoreError> {
        read::version(&self.db, key, number).await
    }

    async fn star(
        &self,
        key: DefinitionKey,
        user: UserId,
        starred: bool,
        unit: &Journal,
    ) -> Result<bool, StoreError> {
        write::star(&self.db, key, user, starred, unit).await
    }

    async fn keep_source(
        &self,
        tenant: TenantId,
        source: &ImportSource,
        expires_at: Timestamp,
        quota: SourceQuota,
    ) -> Result<(), StoreError> {
        write::keep_source(&self.db, tenant, source, expires_at, quota).await
    }

    async fn source(&self, key: DefinitionKey) -> Result<ImportSource, StoreError> {
        read::source(&self.db, key).await
    }
}
