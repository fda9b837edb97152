//! Workflows with their drafts, versions, stars and imported files.

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
use heddle_kernel::{Page, PageRequest, Revision, TenantId, Timestamp, UserId, WorkflowId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::Db;
use heddle_usecase::{Compute, InPlace, Journal, StoreError};
use heddle_workflows::ports::{
    Callable, Deleted, PublishWrite, SourceQuota, WorkflowFilter, WorkflowStore, WorkflowWrite,
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
impl WorkflowStore for SqlWorkflowStore {
    async fn insert<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        self.room(write.workflow.tenant).await?;
        write::insert(&self.db, write, unit).await.map_err(named)
    }

    async fn update<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        write::update(&self.db, write, unit).await.map_err(named)
    }

    async fn get(&self, tenant: TenantId, id: WorkflowId, user: UserId) -> Result<WorkflowView, StoreError> {
        read::get(&self.db, tenant, id, user).await
    }

    async fn standing(
        &self,
        tenant: TenantId,
        id: WorkflowId,
    ) -> Result<(WorkflowState, Option<i32>), StoreError> {
        shown::standing(&self.db, &self.kept, tenant, id).await
    }

    async fn shown(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        user: UserId,
        choice: VersionChoice,
    ) -> Result<ShownWorkflow, StoreError> {
        let asked = shown::Asked { tenant, workflow: id, user, choice };
        shown::shown(&self.db, &self.kept, &*self.compute, asked).await
    }

    async fn draft(&self, tenant: TenantId, id: WorkflowId) -> Result<Draft, StoreError> {
        read::draft(&self.db, tenant, id).await
    }

    async fn list(
        &self,
        tenant: TenantId,
        user: UserId,
        filter: &WorkflowFilter,
        access: &AccessFilter<resource::Workflow>,
        page: &PageRequest,
    ) -> Result<Page<WorkflowView>, StoreError> {
        list::list(&self.db, tenant, user, filter, access, page).await
    }

    async fn delete(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        expected: Option<Revision>,
        unit: &Journal,
    ) -> Result<Deleted, StoreError> {
        delete::delete(&self.db, tenant, id, expected, unit).await
    }

    async fn publish<'a>(&self, write: PublishWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        self.room(write.workflow.tenant).await?;
        write::publish(&self.db, write, unit).await.map_err(named)
    }

    async fn callable<'a>(&self, tenant: TenantId, name: &'a str) -> Result<Callable, StoreError> {
        callable::named(&self.db, &self.listed, tenant, name).await
    }

    async fn numbered(&self, tenant: TenantId, number: i64) -> Result<Vec<WorkflowId>, StoreError> {
        numbers::numbered(&self.db, &self.numbered, tenant, number).await
    }

    async fn tagged<'a>(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError> {
        numbers::tagged(&self.db, tenant, id, versions, tag).await
    }

    async fn versions(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        page: &PageRequest,
    ) -> Result<Page<Version>, StoreError> {
        read::versions(&self.db, tenant, id, page).await
    }

    async fn version(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        number: i32,
    ) -> Result<(Version, Value), StoreError> {
        read::version(&self.db, tenant, id, number).await
    }

    async fn star(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        user: UserId,
        starred: bool,
        unit: &Journal,
    ) -> Result<bool, StoreError> {
        write::star(&self.db, tenant, id, user, starred, unit).await
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

    async fn source(&self, tenant: TenantId, id: WorkflowId) -> Result<ImportSource, StoreError> {
        read::source(&self.db, tenant, id).await
    }
}
