//! Creating, changing and deleting workflows, and saving drafts.

use heddle_bpmn::diagnostic::Diagnostic;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_validate as validate;
use heddle_kernel::{Patch, Revision, WorkflowId};
use heddle_policy::capability::{WorkflowCreate, WorkflowDelete, WorkflowUpdate};
use heddle_policy::{Authorized, AuthorizedKind, RequestContext};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_usecase::{Problems, has_hidden, length, slug};

use super::{Definitions, claims};
use crate::ports::{Deleted, WorkflowWrite};
use crate::records::{Draft, RunCounts, StartBinding, Workflow, WorkflowState, WorkflowView};
use crate::{JournalFor, Problem, UseCaseError};
use heddle_usecase::{canonical_sha256, check_revision};

/// Properties of a new workflow.
#[derive(Debug, Clone)]
pub struct NewWorkflow {
    /// Unique within the organisation.
    pub slug: String,
    /// Name for people.
    pub display_name: String,
    /// Description, maybe empty.
    pub description: String,
    /// A free label.
    pub folder_id: Patch<String>,
    /// The definition as sent.
    pub draft: Draft,
    /// The typed view of the definition.
    pub definition: Option<WorkflowDefinition>,
}

/// A change of a workflow; absent members stay.
#[derive(Debug, Clone, Default)]
pub struct WorkflowPatch {
    /// New name for people.
    pub display_name: Option<String>,
    /// New description.
    pub description: Option<String>,
    /// New slug.
    pub slug: Option<String>,
    /// New label.
    pub folder_id: Patch<String>,
    /// Move into or out of the archive.
    pub archived: Option<bool>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

impl Definitions {
    /// Creates a workflow. A draft may be incomplete.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule, `Conflict` (`notUnique`) when the slug is taken.
    pub async fn create(
        &self,
        _: &AuthorizedKind<WorkflowCreate>,
        context: &RequestContext,
        new: NewWorkflow,
        record: &JournalFor<'_, WorkflowView>,
    ) -> Result<WorkflowView, UseCaseError> {
        let mut problems = Problems::default();
        slug(&mut problems, "slug", &new.slug);
        title(&mut problems, &new.display_name);
        length(&mut problems, "description", &new.description, 0..=4_000);
        if let Some(folder) = new.folder_id.value() {
            length(&mut problems, "folderId", folder, 1..=200);
        }
        problems.finish()?;
        let now = context.now();
        let workflow = Workflow {
            tenant: context.tenant(),
            id: WorkflowId(self.ids.next(now)),
            slug: new.slug,
            display_name: new.display_name,
            description: new.description,
            folder_id: new.folder_id,
            state: WorkflowState::Draft,
            revision: Revision::FIRST,
            draft_revision: Revision::FIRST,
            draft_hash: new.draft.value().map(canonical_sha256),
            published_version: None,
            published_hash: None,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        let view = WorkflowView { workflow, starred: false, run_counts: RunCounts::default() };
        let journal = record(&view).changing(None, Some(&view.workflow));
        let claims = claims(new.definition.as_ref());
        let write = WorkflowWrite {
            workflow: &view.workflow,
            expected: None,
            draft: Some(&new.draft),
            claims: &claims,
            bindings: None,
        };
        self.store.insert(write, &journal).await.map_err(|error| slug_taken(error, &view.workflow.slug))?;
        Ok(view)
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
        let id = authorized.id();
        let mut view = self.store.get(context.tenant(), id, context.user_id()).await?;
        let before = view.workflow.clone();
        check_revision(patch.revision, before.revision)?;
        apply_patch(&mut view.workflow, patch)?;
        if view.workflow == before {
            // Nothing to write; an audit event of a change that was none would mislead.
            return Ok(view);
        }
        self.touch(&mut view.workflow, context);
        let back = before.state == WorkflowState::Archived && view.workflow.state == WorkflowState::Published;
        let bindings = if back { Some(self.bindings(context, &view.workflow).await?) } else { None };
        let journal = record(&view).changing(Some(&before), Some(&view.workflow));
        let write = WorkflowWrite {
            workflow: &view.workflow,
            expected: Some(before.revision),
            draft: None,
            claims: &[],
            bindings: bindings.as_deref(),
        };
        self.store.update(write, &journal).await.map_err(|error| slug_taken(error, &view.workflow.slug))?;
        self.tell_timers(bindings.as_deref().unwrap_or_default());
        Ok(view)
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
        let id = authorized.id();
        let found = self.store.get(context.tenant(), id, context.user_id()).await;
        let journal = journal.deleting(found.map(|view| view.workflow))?;
        let deleted = match self.store.delete(context.tenant(), id, expected, &journal).await {
            Err(StoreError::Stale) => {
                // The caller is told the present revision, where it is not the one that they saw.
                let present = self.store.get(context.tenant(), id, context.user_id()).await?;
                check_revision(expected, present.workflow.revision)?;
                Err(StoreError::Stale)
            }
            other => other,
        };
        match deleted? {
            Deleted::Now | Deleted::Before => Ok(()),
            Deleted::InUse(runs) => Err(UseCaseError::Conflict(vec![
                Problem::new("inUse", format!("{runs} runs of the workflow are active; cancel them first."))
                    .with("usedBy", serde_json::json!([{ "type": "run", "count": runs }])),
            ])),
        }
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
        let id = authorized.id();
        let mut view = self.store.get(context.tenant(), id, context.user_id()).await?;
        let (before, whole) = (view.workflow.revision, view.workflow.clone());
        check_revision(saved.revision, before)?;
        let diagnostics = saved.definition.as_ref().map(validate::structure).unwrap_or_default();
        view.workflow.draft_hash = saved.draft.value().map(canonical_sha256);
        view.workflow.draft_revision = view.workflow.draft_revision.next();
        self.touch(&mut view.workflow, context);
        let claims = claims(saved.definition.as_ref());
        let result = (view, diagnostics);
        let journal = record(&result).changing(Some(&whole), Some(&result.0.workflow));
        let write = WorkflowWrite {
            workflow: &result.0.workflow,
            expected: Some(before),
            draft: Some(&saved.draft),
            claims: &claims,
            bindings: None,
        };
        self.store.update(write, &journal).await?;
        Ok(result)
    }

    pub(super) fn touch(&self, workflow: &mut Workflow, context: &RequestContext) {
        workflow.revision = workflow.revision.next();
        workflow.updated_at = context.now();
        workflow.updated_by = context.user_id();
    }

    /// Start bindings of the active version.
    async fn bindings(
        &self,
        context: &RequestContext,
        workflow: &Workflow,
    ) -> Result<Vec<StartBinding>, UseCaseError> {
        let Some(number) = workflow.published_version else { return Ok(Vec::new()) };
        let version = self.models.version(context.tenant(), workflow.id, number).await?;
        Ok(super::publish::bindings(workflow, number, &version.processes, context.now()))
    }
}

/// A draft as it was sent.
#[derive(Debug, Clone)]
pub struct SavedDraft {
    /// The definition's JSON, or null.
    pub draft: Draft,
    /// Typed view of the draft.
    pub definition: Option<WorkflowDefinition>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

fn apply_patch(workflow: &mut Workflow, patch: WorkflowPatch) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    if let Some(wanted) = patch.slug {
        slug(&mut problems, "slug", &wanted);
        workflow.slug = wanted;
    }
    if let Some(name) = patch.display_name {
        title(&mut problems, &name);
        workflow.display_name = name;
    }
    if let Some(description) = patch.description {
        length(&mut problems, "description", &description, 0..=4_000);
        workflow.description = description;
    }
    match patch.folder_id {
        Patch::Absent => {}
        Patch::Null => workflow.folder_id = Patch::Null,
        Patch::Value(folder) => {
            length(&mut problems, "folderId", &folder, 1..=200);
            workflow.folder_id = Patch::Value(folder);
        }
    }
    match patch.archived {
        Some(true) => workflow.state = WorkflowState::Archived,
        Some(false) if workflow.state == WorkflowState::Archived => {
            let published = workflow.published_version.is_some();
            workflow.state = if published { WorkflowState::Published } else { WorkflowState::Draft };
        }
        Some(false) | None => {}
    }
    problems.finish()
}

fn slug_taken(error: StoreError, slug: &str) -> UseCaseError {
    match error {
        StoreError::Duplicate(what) if what.contains("slug") => UseCaseError::Conflict(vec![Problem::at(
            "slug",
            "notUnique",
            format!("Another workflow has the slug `{slug}`."),
        )]),
        other => other.into(),
    }
}

/// Checks the name of a workflow: 1 to 200 characters, none of which nobody sees. Lines may end in it, as names in
/// models have it.
fn title(problems: &mut Problems, name: &str) {
    length(problems, "displayName", name, 1..=200);
    if has_hidden(&name.replace(['\n', '\r', '\t'], " ")) {
        let message = "None that turn the direction of writing or can't be seen.";
        problems.add("displayName", "wrongFormat", message);
    }
}
