//! Port by which runs ask about workflows; the store of definitions answers it.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use heddle_definitions::DefinitionKey;
use heddle_definitions::records::{Start, StartKind};
use heddle_kernel::{DefinitionKind, TenantId, Timestamp, UserId, WorkflowId};
use heddle_usecase::StoreError;
use serde_json::Value;

pub use heddle_definitions::ports::{
    Callable, DefinitionFilter as WorkflowFilter, DefinitionSort as WorkflowSort, DefinitionStore,
    DefinitionWrite as WorkflowWrite, Deleted, PublishWrite, SourceQuota,
};

use crate::records::{BindingKind, Draft, StartBinding, Version, Workflow, WorkflowState, WorkflowView};

/// Workflows as runs need them: their standing, their versions, and who is meant by a name. All methods answer
/// `Unavailable` when the database does not; a case type is none of them.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait WorkflowStore: Send + Sync {
    /// A workflow as the user sees it.
    async fn get(&self, tenant: TenantId, id: WorkflowId, user: UserId) -> Result<WorkflowView, StoreError>;
    /// Lifecycle state of a workflow and its active version's number: the short way for a start of a run.
    async fn standing(
        &self,
        tenant: TenantId,
        id: WorkflowId,
    ) -> Result<(WorkflowState, Option<i32>), StoreError>;
    /// Draft of a workflow.
    async fn draft(&self, tenant: TenantId, id: WorkflowId) -> Result<Draft, StoreError>;
    /// Published workflows, archived ones apart, that have a process of this id or this slug.
    async fn callable<'a>(&self, tenant: TenantId, name: &'a str) -> Result<Callable, StoreError>;
    /// Workflows, in whatever state, of which a version of a process may have this number (see
    /// [`crate::runs::process_number`]).
    async fn numbered(&self, tenant: TenantId, number: i64) -> Result<Vec<WorkflowId>, StoreError>;
    /// The last of these versions of a workflow that has a tag.
    async fn tagged<'a>(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError>;
    /// Instant at which a version was published.
    async fn published_at(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        number: i32,
    ) -> Result<Timestamp, StoreError>;
    /// Number of the version that was active at an instant; none before the first.
    async fn version_at(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        at: Timestamp,
    ) -> Result<Option<i32>, StoreError>;
    /// One version with its definition.
    async fn version(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        number: i32,
    ) -> Result<(Version, Value), StoreError>;
}

/// The row by which runs know a start of a version.
#[must_use]
pub fn bound(definition: &Workflow, version: i32, start: &Start) -> StartBinding {
    StartBinding {
        tenant: definition.tenant,
        definition_kind: definition.kind,
        workflow: definition.id,
        version,
        process_id: start.entry.clone(),
        node_id: start.node_id.clone(),
        kind: match start.kind {
            StartKind::Message => BindingKind::Message,
            StartKind::Signal => BindingKind::Signal,
            StartKind::Timer => BindingKind::Timer,
        },
        name: start.name.clone(),
        next_due_at: start.next_due_at,
        timer: start.timer.clone(),
    }
}

/// The key of a workflow that a run, a call or a rule named.
const fn workflow(tenant: TenantId, id: WorkflowId) -> DefinitionKey {
    DefinitionKey::of_stored(tenant, DefinitionKind::Workflow, id)
}

#[async_trait]
impl<S: DefinitionStore + ?Sized> WorkflowStore for S {
    async fn get(&self, tenant: TenantId, id: WorkflowId, user: UserId) -> Result<WorkflowView, StoreError> {
        DefinitionStore::get(self, workflow(tenant, id), user).await
    }

    async fn standing(
        &self,
        tenant: TenantId,
        id: WorkflowId,
    ) -> Result<(WorkflowState, Option<i32>), StoreError> {
        DefinitionStore::standing(self, workflow(tenant, id)).await
    }

    async fn draft(&self, tenant: TenantId, id: WorkflowId) -> Result<Draft, StoreError> {
        DefinitionStore::draft(self, workflow(tenant, id)).await
    }

    async fn callable<'a>(&self, tenant: TenantId, name: &'a str) -> Result<Callable, StoreError> {
        DefinitionStore::callable(self, tenant, DefinitionKind::Workflow, name).await
    }

    async fn numbered(&self, tenant: TenantId, number: i64) -> Result<Vec<WorkflowId>, StoreError> {
        DefinitionStore::numbered(self, tenant, number).await
    }

    async fn tagged<'a>(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError> {
        DefinitionStore::tagged(self, workflow(tenant, id), versions, tag).await
    }

    async fn published_at(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        number: i32,
    ) -> Result<Timestamp, StoreError> {
        DefinitionStore::published_at(self, workflow(tenant, id), number).await
    }

    async fn version_at(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        at: Timestamp,
    ) -> Result<Option<i32>, StoreError> {
        DefinitionStore::version_at(self, workflow(tenant, id), at).await
    }

    async fn version(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        number: i32,
    ) -> Result<(Version, Value), StoreError> {
        DefinitionStore::version(self, workflow(tenant, id), number).await
    }
}
