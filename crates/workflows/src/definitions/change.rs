//! Creating, changing and deleting workflows, and saving drafts.

use heddle_bpmn::diagnostic::Diagnostic;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::validate;
use heddle_kernel::{Patch, Revision, WorkflowId};
use heddle_policy::capability::{WorkflowCreate, WorkflowDelete, WorkflowUpdate};
use heddle_policy::journal::Journal;
use heddle_policy::store::StoreError;
use heddle_policy::{Authorized, RequestContext};

use super::{Definitions, check_revision, claims, definition_hash};
use crate::ports::{Deleted, WorkflowWrite};
use crate::records::{Draft, Presence, RunCounts, Workflow, WorkflowState, WorkflowView};
use crate::{JournalFor, Problem, UseCaseError};

/// What a new workflow is made of.
#[derive(Debug, Clone)]
pub struct NewWorkflow {
    /// Unique within the organisation.
    pub slug: String,
    /// Its name.
    pub display_name: String,
    /// Its description, maybe empty.
    pub description: String,
    /// A free label.
    pub folder_id: Presence<String>,
    /// The definition as sent.
    pub draft: Draft,
    /// The typed view of the definition.
    pub definition: Option<WorkflowDefinition>,
}

/// A change of a workflow; absent members stay.
#[derive(Debug, Clone, Default)]
pub struct WorkflowPatch {
    /// Its name.
    pub display_name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its slug.
    pub slug: Option<String>,
    /// Its label.
    pub folder_id: Patch<String>,
    /// Into or out of the archive.
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
        _grant: &Authorized<WorkflowCreate>,
        context: &RequestContext,
        new: NewWorkflow,
        record: &JournalFor<'_, WorkflowView>,
    ) -> Result<WorkflowView, UseCaseError> {
        let mut problems = slug_problems(&new.slug);
        problems.extend(length_problems(&new.display_name, "displayName", 1, 200));
        problems.extend(length_problems(&new.description, "description", 0, 4_000));
        if let Some(folder) = new.folder_id.value() {
            problems.extend(length_problems(folder, "folderId", 1, 200));
        }
        if !problems.is_empty() {
            return Err(UseCaseError::Invalid(problems));
        }
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
            draft_hash: new.draft.value().map(definition_hash),
            published_version: None,
            published_hash: None,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        let view = WorkflowView { workflow, starred: false, run_counts: RunCounts::default() };
        let journal = record(&view);
        let claims = claims(new.definition.as_ref());
        let write = WorkflowWrite {
            workflow: &view.workflow,
            expected: None,
            draft: Some(&new.draft),
            claims: &claims,
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
        _grant: &Authorized<WorkflowUpdate>,
        context: &RequestContext,
        id: WorkflowId,
        patch: WorkflowPatch,
        record: &JournalFor<'_, WorkflowView>,
    ) -> Result<WorkflowView, UseCaseError> {
        let mut view = self.store.get(context.tenant(), id, context.user_id()).await?;
        let before = view.workflow.clone();
        check_revision(patch.revision, before.revision)?;
        apply_patch(&mut view.workflow, patch)?;
        if view.workflow == before {
            // Nothing to write; an audit event of a change that was none would mislead.
            return Ok(view);
        }
        self.touch(&mut view.workflow, context);
        let journal = record(&view);
        let write = WorkflowWrite {
            workflow: &view.workflow,
            expected: Some(before.revision),
            draft: None,
            claims: &[],
        };
        self.store.update(write, &journal).await.map_err(|error| slug_taken(error, &view.workflow.slug))?;
        if before.state == WorkflowState::Archived && view.workflow.state == WorkflowState::Published {
            self.restore_bindings(context, &view.workflow).await?;
        }
        Ok(view)
    }

    /// Deletes a workflow with its versions and its ended runs.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` (`inUse`) while runs are active, `Conflict` (`revisionMismatch`).
    pub async fn delete(
        &self,
        _grant: &Authorized<WorkflowDelete>,
        context: &RequestContext,
        id: WorkflowId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        match self.store.delete(context.tenant(), id, expected, journal).await? {
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
        _grant: &Authorized<WorkflowUpdate>,
        context: &RequestContext,
        id: WorkflowId,
        saved: SavedDraft,
        record: &JournalFor<'_, (WorkflowView, Vec<Diagnostic>)>,
    ) -> Result<(WorkflowView, Vec<Diagnostic>), UseCaseError> {
        let mut view = self.store.get(context.tenant(), id, context.user_id()).await?;
        let before = view.workflow.revision;
        check_revision(saved.revision, before)?;
        let diagnostics = saved.definition.as_ref().map(validate::structure).unwrap_or_default();
        view.workflow.draft_hash = saved.draft.value().map(definition_hash);
        view.workflow.draft_revision = view.workflow.draft_revision.next();
        self.touch(&mut view.workflow, context);
        let claims = claims(saved.definition.as_ref());
        let result = (view, diagnostics);
        let journal = record(&result);
        let write = WorkflowWrite {
            workflow: &result.0.workflow,
            expected: Some(before),
            draft: Some(&saved.draft),
            claims: &claims,
        };
        self.store.update(write, &journal).await?;
        Ok(result)
    }

    pub(super) fn touch(&self, workflow: &mut Workflow, context: &RequestContext) {
        workflow.revision = workflow.revision.next();
        workflow.updated_at = context.now();
        workflow.updated_by = context.user_id();
    }

    async fn restore_bindings(
        &self,
        context: &RequestContext,
        workflow: &Workflow,
    ) -> Result<(), UseCaseError> {
        let Some(number) = workflow.published_version else { return Ok(()) };
        let version = self.models.version(context.tenant(), workflow.id, number).await?;
        let bindings = super::publish::bindings(workflow, number, &version.processes, context.now());
        Ok(self.store.set_bindings(context.tenant(), workflow.id, &bindings).await?)
    }
}

/// A draft as it was sent.
#[derive(Debug, Clone)]
pub struct SavedDraft {
    /// The definition's JSON, or null.
    pub draft: Draft,
    /// Its typed view.
    pub definition: Option<WorkflowDefinition>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

fn apply_patch(workflow: &mut Workflow, patch: WorkflowPatch) -> Result<(), UseCaseError> {
    let mut problems = Vec::new();
    if let Some(slug) = patch.slug {
        problems.extend(slug_problems(&slug));
        workflow.slug = slug;
    }
    if let Some(name) = patch.display_name {
        problems.extend(length_problems(&name, "displayName", 1, 200));
        workflow.display_name = name;
    }
    if let Some(description) = patch.description {
        problems.extend(length_problems(&description, "description", 0, 4_000));
        workflow.description = description;
    }
    match patch.folder_id {
        Patch::Keep => {}
        Patch::Clear => workflow.folder_id = Presence::Null,
        Patch::Set(folder) => {
            problems.extend(length_problems(&folder, "folderId", 1, 200));
            workflow.folder_id = Presence::Value(folder);
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
    if problems.is_empty() { Ok(()) } else { Err(UseCaseError::Invalid(problems)) }
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

/// The rule of slugs: `^[a-z0-9]+(-[a-z0-9]+)*$`, 1 to 100 characters.
fn slug_problems(slug: &str) -> Vec<Problem> {
    let word =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let mut problems = length_problems(slug, "slug", 1, 100);
    if problems.is_empty() && !slug.split('-').all(word) {
        let message = "Small letters and digits, in words joined by single hyphens.";
        problems.push(Problem::at("slug", "pattern", message));
    }
    problems
}

fn length_problems(text: &str, field: &str, least: usize, most: usize) -> Vec<Problem> {
    let length = text.chars().count();
    if length < least {
        vec![Problem::at(field, "tooShort", format!("At least {least} characters."))]
    } else if length > most {
        vec![Problem::at(field, "tooLong", format!("At most {most} characters; these are {length}."))]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_follow_their_rule() {
        for good in ["a", "a-b", "2024-q1-review", &"x".repeat(100)] {
            assert!(slug_problems(good).is_empty(), "{good}");
        }
        for bad in ["", "-", "a-", "-a", "a--b", "A", "a_b", "ä", "a b", &"x".repeat(101)] {
            assert_eq!(slug_problems(bad).len(), 1, "{bad}");
        }
    }
}
