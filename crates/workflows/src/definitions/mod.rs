//! Workflows: create, list, change, draft, validate, publish, versions, stars, transforms and exports.

mod bpel;
mod calls;
mod decision;
mod decision_export;
mod decision_items;
mod decision_logic;
mod deployments;
mod kind;
mod people;
mod publish;
mod transform;

pub use crate::records::VersionChoice;
pub use bpel::{BpelExport, BpelRequest};
pub use decision_export::{DmnExport, DmnRequest};
pub use decision_logic::{DecisionLogic, LogicSource, SavedLogic};
pub use deployments::KnownDeployments;
pub use heddle_definitions::{
    DefinitionPatch as WorkflowPatch, Exported, NewDefinition as NewWorkflow, PublishRequest, Published,
    SavedDraft,
};
pub use kind::{TimerBell, WorkflowKind};
pub use publish::{ValidationProfile, ValidationReport};
pub use transform::{PreviewRequest, Previewed, SourceFormat, TransformTarget};

use std::sync::Arc;

use heddle_definitions::kind::Kind;
use heddle_definitions::{DefinitionKey, Definitions as Shared};
use heddle_engine::Budget;
use heddle_kernel::{Diagnostic, IdSource, Page, PageRequest, Revision};
use heddle_policy::capability::{
    WorkflowCreate, WorkflowDelete, WorkflowExport, WorkflowList, WorkflowPublish, WorkflowRead,
    WorkflowStar, WorkflowUpdate,
};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext};
use heddle_usecase::Journal;

use crate::models::CompiledVersions;
use crate::ports::{DefinitionStore, Directory, Notifier, SourceQuota, WorkflowFilter};
use crate::records::{ShownWorkflow, Version, WorkflowView};
use crate::{JournalFor, UseCaseError};

/// The use cases of workflow definitions.
pub struct Definitions {
    shared: Shared,
    store: Arc<dyn DefinitionStore>,
    directory: Arc<dyn Directory>,
    previews: SourceQuota,
    budget: Budget,
    deployments: Option<Arc<dyn KnownDeployments>>,
}

impl std::fmt::Debug for Definitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Definitions").finish_non_exhaustive()
    }
}

impl Definitions {
    /// Builds the use cases on their ports.
    #[must_use]
    pub fn new(
        store: Arc<dyn DefinitionStore>,
        ids: Arc<dyn IdSource>,
        models: &CompiledVersions,
        hub: Arc<dyn Notifier>,
        directory: Arc<dyn Directory>,
    ) -> Self {
        let budget = Budget::DEFAULT;
        let (known, named) = (Arc::clone(&store), Arc::clone(&directory));
        let kind: Arc<dyn Kind> = Arc::new(WorkflowKind::new(known, named, budget, None));
        let bell = Arc::new(TimerBell::new(hub));
        let shared = Shared::new(Arc::clone(&store), kind, ids, bell).with_compute(models.compute());
        Self { shared, store, directory, previews: SourceQuota::default(), budget, deployments: None }
    }

    /// The same with a quota of its own for previewed files.
    #[must_use]
    pub fn with_previews(self, previews: SourceQuota) -> Self {
        Self { previews, ..self }
    }

    /// The same within other budgets of steps and runs.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        let known = self.deployments.clone();
        let (store, directory) = (Arc::clone(&self.store), Arc::clone(&self.directory));
        let kind: Arc<dyn Kind> = Arc::new(WorkflowKind::new(store, directory, budget, known));
        Self { shared: self.shared.with_kind(kind), budget, ..self }
    }

    /// The same with those who know which deployments of models there are.
    #[must_use]
    pub fn with_deployments(self, known: Arc<dyn KnownDeployments>) -> Self {
        let budget = self.budget;
        Self { deployments: Some(known), ..self }.with_budget(budget)
    }

    /// A page of the workflows that the caller may read.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<WorkflowList>,
        context: &RequestContext,
        filter: &WorkflowFilter,
        page: &PageRequest,
    ) -> Result<Page<WorkflowView>, UseCaseError> {
        self.shared.list(authorized, context, filter, page).await
    }

    /// One workflow with the chosen definition.
    ///
    /// # Errors
    /// `NotFound` also when the chosen version is not there, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<WorkflowRead>,
        context: &RequestContext,
        choice: VersionChoice,
    ) -> Result<ShownWorkflow, UseCaseError> {
        self.shared.get(DefinitionKey::of(authorized.key()), context, choice).await
    }

    /// Versions, newest first.
    ///
    /// # Errors
    /// `NotFound`, `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn versions(
        &self,
        authorized: &Authorized<WorkflowRead>,
        context: &RequestContext,
        page: &PageRequest,
    ) -> Result<Page<Version>, UseCaseError> {
        self.shared.versions(DefinitionKey::of(authorized.key()), context, page).await
    }

    /// Sets or takes away the caller's star.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn star(
        &self,
        authorized: &Authorized<WorkflowStar>,
        context: &RequestContext,
        starred: bool,
        journal: &Journal,
    ) -> Result<WorkflowView, UseCaseError> {
        self.shared.star(DefinitionKey::of(authorized.key()), context, starred, journal).await
    }

    /// Creates a workflow. A draft may be incomplete.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule, `Conflict` (`notUnique`) when the slug is taken.
    pub async fn create(
        &self,
        authorized: &AuthorizedKind<WorkflowCreate>,
        context: &RequestContext,
        new: NewWorkflow,
        record: &JournalFor<'_, WorkflowView>,
    ) -> Result<WorkflowView, UseCaseError> {
        self.shared.create(authorized, context, new, record).await
    }

    /// Changes what the patch names.
    ///
    /// # Errors
    /// `NotFound`, `Invalid`, `Conflict` (`revisionMismatch`, `notUnique`).
    pub async fn patch(
        &self,
        authorized: &Authorized<WorkflowUpdate>,
        context: &RequestContext,
        patch: WorkflowPatch,
        record: &JournalFor<'_, WorkflowView>,
    ) -> Result<WorkflowView, UseCaseError> {
        self.shared.patch(DefinitionKey::of(authorized.key()), context, patch, record).await
    }

    /// Deletes a workflow with its versions and its ended runs.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` (`inUse`) while runs are active, `Conflict` (`revisionMismatch`).
    pub async fn delete(
        &self,
        authorized: &Authorized<WorkflowDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        self.shared.delete(DefinitionKey::of(authorized.key()), context, expected, journal).await
    }

    /// Replaces the draft as a whole.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` (`revisionMismatch`).
    pub async fn save_draft(
        &self,
        authorized: &Authorized<WorkflowUpdate>,
        context: &RequestContext,
        saved: SavedDraft,
        record: &JournalFor<'_, (WorkflowView, Vec<Diagnostic>)>,
    ) -> Result<(WorkflowView, Vec<Diagnostic>), UseCaseError> {
        self.shared.save_draft(DefinitionKey::of(authorized.key()), context, saved, record).await
    }

    /// Publishes the draft as a new version, or answers with the active one when nothing changed: neither the definition
    /// nor who its tasks are offered to.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` with every reason why the draft can't be executed; `Conflict` (`revisionMismatch`,
    /// `archived`).
    pub async fn publish(
        &self,
        authorized: &Authorized<WorkflowPublish>,
        context: &RequestContext,
        request: PublishRequest,
        record: &JournalFor<'_, Published>,
    ) -> Result<Published, UseCaseError> {
        self.shared.publish(DefinitionKey::of(authorized.key()), context, request, record).await
    }

    /// The chosen definition as BPMN 2.0 XML.
    ///
    /// # Errors
    /// `NotFound` also when there is no definition; `Conflict` when it can't be written as BPMN.
    pub async fn export_bpmn(
        &self,
        authorized: &Authorized<WorkflowExport>,
        context: &RequestContext,
        choice: VersionChoice,
    ) -> Result<Exported, UseCaseError> {
        self.shared.export(DefinitionKey::of(authorized.key()), context, choice).await
    }
}
