//! Workflows: create, list, change, draft, validate, publish, versions, stars, transforms and exports.

mod bpel;
mod change;
mod decision;
mod decision_export;
mod decision_items;
mod decision_logic;
mod people;
mod publish;
mod transform;

pub use crate::records::VersionChoice;
pub use bpel::{BpelExport, BpelRequest};
pub use change::{NewWorkflow, SavedDraft, WorkflowPatch};
pub use decision_export::{DmnExport, DmnRequest};
pub use decision_logic::{DecisionLogic, LogicSource, SavedLogic};
pub use publish::{PublishRequest, Published, ValidationProfile, ValidationReport};
pub use transform::{Exported, PreviewRequest, Previewed, SourceFormat, TransformTarget};

use std::sync::Arc;

use heddle_bpmn::diagnostic::{Diagnostic, Severity};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_engine::Budget;
use heddle_kernel::{IdSource, Page, PageRequest};
use heddle_policy::capability::{WorkflowList, WorkflowRead, WorkflowStar};
use heddle_policy::{Authorized, AuthorizedList, RequestContext};
use heddle_usecase::Journal;

use crate::models::CompiledVersions;
use crate::ports::{Directory, Notifier, SourceQuota, WorkflowFilter, WorkflowStore};
use crate::records::{Draft, ShownWorkflow, StartBinding, Version, WorkflowView};
use crate::told::Star;
use crate::{Problem, UseCaseError};

/// The use cases of workflow definitions.
pub struct Definitions {
    store: Arc<dyn WorkflowStore>,
    ids: Arc<dyn IdSource>,
    models: Arc<CompiledVersions>,
    hub: Arc<dyn Notifier>,
    directory: Arc<dyn Directory>,
    previews: SourceQuota,
    budget: Budget,
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
        store: Arc<dyn WorkflowStore>,
        ids: Arc<dyn IdSource>,
        models: Arc<CompiledVersions>,
        hub: Arc<dyn Notifier>,
        directory: Arc<dyn Directory>,
    ) -> Self {
        Self { store, ids, models, hub, directory, previews: SourceQuota::default(), budget: Budget::DEFAULT }
    }

    /// The same with a quota of its own for previewed files.
    #[must_use]
    pub fn with_previews(self, previews: SourceQuota) -> Self {
        Self { previews, ..self }
    }

    /// The same within other budgets of steps and runs.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
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
        Ok(self.store.list(context.tenant(), context.user_id(), filter, authorized.filter(), page).await?)
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
        Ok(self.store.shown(context.tenant(), authorized.id(), context.user_id(), choice).await?)
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
        let id = authorized.id();
        self.store.get(context.tenant(), id, context.user_id()).await?;
        Ok(self.store.versions(context.tenant(), id, page).await?)
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
        let id = authorized.id();
        let before = self.store.get(context.tenant(), id, context.user_id()).await?;
        let journal = journal.clone().changing(Some(&Star(before.starred)), Some(&Star(starred)));
        self.store.star(context.tenant(), id, context.user_id(), starred, &journal).await?;
        Ok(self.store.get(context.tenant(), id, context.user_id()).await?)
    }

    /// Tells those who wait for timers of start bindings that were just written.
    fn tell_timers(&self, bindings: &[StartBinding]) {
        if let Some(due) = bindings.iter().filter_map(|binding| binding.next_due_at).min() {
            self.hub.timer_set(due);
        }
    }

    async fn chosen(
        &self,
        context: &RequestContext,
        view: &WorkflowView,
        choice: VersionChoice,
    ) -> Result<Draft, UseCaseError> {
        let id = view.workflow.id;
        let number = match choice {
            VersionChoice::Draft => return Ok(self.store.draft(context.tenant(), id).await?),
            VersionChoice::Published => view.workflow.published_version.ok_or(UseCaseError::NotFound)?,
            VersionChoice::Number(number) => number,
        };
        let (_, definition) = self.store.version(context.tenant(), id, number).await?;
        Ok(Draft::Value(definition))
    }
}

/// Hashes of imported files that a definition names.
fn claims(definition: Option<&WorkflowDefinition>) -> Vec<String> {
    let imports = definition.and_then(|definition| definition.imports.as_deref()).unwrap_or_default();
    imports.iter().filter_map(|import| import.source_sha256.clone()).collect()
}

/// A diagnostic as a problem of the request, with the element it is about.
fn problem(diagnostic: &Diagnostic) -> Problem {
    let field = diagnostic.path.as_ref().map_or_else(
        || "definition".to_owned(),
        |path| match path.as_str() {
            path if path.starts_with("definition") => path.to_owned(),
            path => format!("definition.{path}"),
        },
    );
    let mut problem = Problem::at(field, "notExecutable", diagnostic.message.clone())
        .with("code", diagnostic.code.clone())
        .with("severity", "error");
    if let Some(element) = &diagnostic.element_id {
        problem = problem.with("elementId", element.clone());
    }
    for (name, told) in
        [("clause", &diagnostic.clause), ("rule", &diagnostic.rule), ("remedy", &diagnostic.remedy)]
    {
        if let Some(text) = told {
            problem = problem.with(name, text.clone());
        }
    }
    for (name, place) in [("line", diagnostic.line), ("column", diagnostic.column)] {
        if let Some(place) = place {
            problem = problem.with(name, place);
        }
    }
    if let Some(at) = diagnostic.expression {
        problem = problem.with("expression", serde_json::json!({"line": at.line, "column": at.column}));
    }
    problem
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}
