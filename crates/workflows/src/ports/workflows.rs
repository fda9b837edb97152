//! Stores of workflows, drafts, versions, stars and imported files.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use heddle_kernel::{Page, PageRequest, Revision, TenantId, Timestamp, UserId, WorkflowId};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use serde_json::Value;

use crate::records::{
    Draft, ImportSource, ShownWorkflow, StartBinding, Version, VersionChoice, Workflow, WorkflowState,
    WorkflowView,
};

/// The order of a list of workflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkflowSort {
    /// Last created first.
    #[default]
    CreatedDescending,
    /// First created first.
    CreatedAscending,
    /// Display name ascending, then id.
    DisplayName,
    /// Display name descending.
    DisplayNameDescending,
    /// Last changed first.
    UpdatedDescending,
    /// First changed first.
    UpdatedAscending,
}

/// Filter for workflows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkflowFilter {
    /// A part of slug, display name or description; letters of either case.
    pub q: Option<String>,
    /// State of the workflows.
    pub state: Option<WorkflowState>,
    /// Starred ones alone (or only others).
    pub starred: Option<bool>,
    /// Folder of the workflows.
    pub folder_id: Option<String>,
    /// The order.
    pub sort: WorkflowSort,
}

/// A change of a workflow.
#[derive(Debug, Clone)]
pub struct WorkflowWrite<'a> {
    /// The workflow as it shall be.
    pub workflow: &'a Workflow,
    /// The revision it must have now; none for a new one.
    pub expected: Option<Revision>,
    /// The draft as it shall be; none leaves it.
    pub draft: Option<&'a Draft>,
    /// Hashes (hex) of previewed files that the draft names: claimed for good, if they are there. The last one that
    /// is there becomes the workflow's import source.
    pub claims: &'a [String],
    /// Start bindings from now on; none leaves the present ones. An archived workflow has none in any case.
    pub bindings: Option<&'a [StartBinding]>,
}

/// A publication.
#[derive(Debug, Clone)]
pub struct PublishWrite<'a> {
    /// The workflow with its new version.
    pub workflow: &'a Workflow,
    /// The revision it must have now.
    pub expected: Revision,
    /// The version.
    pub version: &'a Version,
    /// Definition of the version.
    pub definition: &'a Value,
    /// Start bindings of the version; these replace the former version's.
    pub bindings: &'a [StartBinding],
}

/// Published workflows that a call may mean by a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Callable {
    /// Those that have a process of that id.
    pub processes: Vec<WorkflowId>,
    /// The one whose slug it is.
    pub slug: Option<WorkflowId>,
}

/// Outcome of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// Deletion by this call.
    Now,
    /// Deletion by an earlier call.
    Before,
    /// Refusal: so many runs are active; nothing was deleted.
    InUse(i64),
}

/// Quota of the unclaimed files of an organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceQuota {
    /// Most files.
    pub files: usize,
    /// Most bytes of all of them.
    pub bytes: u64,
}

impl Default for SourceQuota {
    fn default() -> Self {
        Self { files: 1_000, bytes: 256 << 20 }
    }
}

/// Keeps workflows. All methods answer `Unavailable` when the database does not.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait WorkflowStore: Send + Sync {
    /// Writes a new workflow. `Duplicate("slug")` when the slug is taken.
    async fn insert<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError>;
    /// Writes a change. `Stale` when the revision is another, `NotFound`, `Duplicate("slug")`. All of it
    /// is written in one transaction, the start bindings too.
    async fn update<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError>;
    /// A workflow as the user sees it.
    async fn get(&self, tenant: TenantId, id: WorkflowId, user: UserId) -> Result<WorkflowView, StoreError>;
    /// A workflow as the user sees it, with the text of a definition. `NotFound` also when there is no such version. On
    /// the path of every reader: what has not changed is not built anew, and what has is read at once.
    async fn shown(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        user: UserId,
        choice: VersionChoice,
    ) -> Result<ShownWorkflow, StoreError>;
    /// Lifecycle state of a workflow and its active version's number: the short way for a start of a run.
    async fn standing(
        &self,
        tenant: TenantId,
        id: WorkflowId,
    ) -> Result<(WorkflowState, Option<i32>), StoreError>;
    /// Draft of a workflow.
    async fn draft(&self, tenant: TenantId, id: WorkflowId) -> Result<Draft, StoreError>;
    /// A page of workflows that `access` lets through.
    async fn list(
        &self,
        tenant: TenantId,
        user: UserId,
        filter: &WorkflowFilter,
        access: &AccessFilter<resource::Workflow>,
        page: &PageRequest,
    ) -> Result<Page<WorkflowView>, StoreError>;
    /// Deletes a workflow with its versions and ended runs; leaves a tombstone. `Stale` when `expected` is another.
    async fn delete(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        expected: Option<Revision>,
        unit: &Journal,
    ) -> Result<Deleted, StoreError>;
    /// Writes a version, makes it the active one and moves the start bindings to it, in one transaction.
    async fn publish<'a>(&self, write: PublishWrite<'a>, unit: &Journal) -> Result<(), StoreError>;
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
    /// Versions, newest first.
    async fn versions(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        page: &PageRequest,
    ) -> Result<Page<Version>, StoreError>;
    /// One version with its definition.
    async fn version(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        number: i32,
    ) -> Result<(Version, Value), StoreError>;
    /// Sets or takes away a user's star; done twice is done once. Returns whether anything changed; the unit is
    /// written only then.
    async fn star(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        user: UserId,
        starred: bool,
        unit: &Journal,
    ) -> Result<bool, StoreError>;
    /// Keeps a previewed file until it is claimed or the time is over. What an organisation has unclaimed beyond the
    /// quota goes, the oldest first; the file itself stays in any case.
    async fn keep_source(
        &self,
        tenant: TenantId,
        source: &ImportSource,
        expires_at: Timestamp,
        quota: SourceQuota,
    ) -> Result<(), StoreError>;
    /// The file that a workflow was imported from.
    async fn source(&self, tenant: TenantId, id: WorkflowId) -> Result<ImportSource, StoreError>;
}
