//! Workflows: wire types to domain types and back, around the use cases.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_kernel::{Diagnostic, Patch};
use heddle_workflows::definitions::{
    NewWorkflow, PublishRequest, SavedDraft, ValidationProfile, VersionChoice, WorkflowPatch,
};
use heddle_workflows::ports::{WorkflowFilter, WorkflowSort};
use heddle_workflows::records::{Draft, Version, WorkflowView};
use serde_json::{Value, json};

use super::changes;
use super::literals::{workflow_state, workflow_state_of};
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/workflows
pub(crate) async fn list(call: Call<ops::ListWorkflows>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = WorkflowFilter {
        q: query.q,
        state: query.state.map(workflow_state_of),
        starred: query.starred,
        folder_id: query.folder_id,
        sort: query.sort.map(sort_of).unwrap_or_default(),
    };
    let found = call.app.definitions.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |view| workflow(&view, &Draft::Absent))
}

/// POST /api/workflows
pub(crate) async fn create(call: Call<ops::CreateWorkflow>) -> HandlerResult {
    let body = &call.body;
    let draft = draft_of(body.definition.clone());
    let new = NewWorkflow {
        slug: body.slug.clone(),
        display_name: body.display_name.clone(),
        description: body.description.clone(),
        folder_id: body.folder_id.clone(),
        draft: draft.clone(),
    };
    let answer = |view: &WorkflowView| created(view, &draft);
    let record = |view: &WorkflowView| call.journal(&view.definition.id.to_string(), || answer(view));
    let view = call.app.definitions.create(&call.authorized, &call.context, new, &record).await?;
    answer(&view)
}

fn created(view: &WorkflowView, draft: &Draft) -> HandlerResult {
    let location = format!("/api/workflows/{}", view.definition.id);
    Ok(Response::data(201, workflow(view, draft))?.with("location", location).tagged(view.definition.revision))
}

/// GET /api/workflows/{workflowId}
pub(crate) async fn get(call: Call<ops::GetWorkflow>) -> HandlerResult {
    let choice = version_choice(call.query.version.as_deref())?;
    let shown = call.app.definitions.get(&call.authorized, &call.context, choice).await?;
    let definition = shown.document.map(wire::envelope::Document::from);
    let told = wire::workflows::Workflow { definition, ..workflow(&shown.view, &Draft::Absent) };
    Ok(Response::data(200, told)?.tagged(shown.view.definition.revision))
}

/// PATCH /api/workflows/{workflowId}
pub(crate) async fn patch(call: Call<ops::UpdateWorkflow>) -> HandlerResult {
    let body = &call.body;
    let patch = WorkflowPatch {
        display_name: body.display_name.clone(),
        description: body.description.clone(),
        slug: body.slug.clone(),
        folder_id: body.folder_id.clone(),
        archived: body.archived,
        revision: call.seen(body.revision)?,
    };
    let id = call.authorized.id();
    let answer = |view: &WorkflowView| plain(view);
    let record =
        |view: &WorkflowView| call.journal_with(&id.to_string(), changes::workflow(body), || answer(view));
    let view = call.app.definitions.patch(&call.authorized, &call.context, patch, &record).await?;
    answer(&view)
}

/// DELETE /api/workflows/{workflowId}
pub(crate) async fn delete(call: Call<ops::DeleteWorkflow>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app.definitions.delete(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

/// PUT /api/workflows/{workflowId}/draft
pub(crate) async fn save_draft(call: Call<ops::SaveDraft>) -> HandlerResult {
    if call.body.definition.is_absent() {
        return Err(Failure::at("definition", "required", "The whole definition is needed, or null."));
    }
    let draft = draft_of(call.body.definition.clone());
    let saved = SavedDraft { draft: draft.clone(), revision: call.seen(call.body.revision)? };
    let id = call.authorized.id();
    let answer = |(view, diagnostics): &(WorkflowView, Vec<Diagnostic>)| {
        let data = wire::workflows::SavedDraft {
            workflow: workflow(view, &draft),
            diagnostics: diagnostics.iter().cloned().map(Into::into).collect(),
        };
        Ok(Response::data(200, data)?.tagged(view.definition.revision))
    };
    let record = |result: &(WorkflowView, Vec<Diagnostic>)| call.journal(&id.to_string(), || answer(result));
    let result = call.app.definitions.save_draft(&call.authorized, &call.context, saved, &record).await?;
    answer(&result)
}

/// POST /api/workflows/{workflowId}/validate
pub(crate) async fn validate(call: Call<ops::ValidateWorkflow>) -> HandlerResult {
    let profile = match call.body.profile {
        Some(wire::workflows::Profile::Structural) => ValidationProfile::Structural,
        None => ValidationProfile::Executable,
        Some(wire::workflows::Profile::Full) => ValidationProfile::Full,
        Some(wire::workflows::Profile::Bpel) => ValidationProfile::Bpel,
        Some(wire::workflows::Profile::CommonExecutable) => ValidationProfile::CommonExecutable,
    };
    let definition = call.body.definition.map(|definition| definition.typed);
    let report = call.app.definitions.validate(&call.authorized, &call.context, definition, profile).await?;
    Response::data(
        200,
        wire::workflows::Validation {
            valid: report.valid,
            executable: report.executable,
            diagnostics: report.diagnostics.into_iter().map(Into::into).collect(),
            soundness: report.soundness,
        },
    )
}

/// POST /api/workflows/{workflowId}/publish
pub(crate) async fn publish(call: Call<ops::PublishWorkflow>) -> HandlerResult {
    let request = PublishRequest {
        change_note: call.body.change_note.clone(),
        revision: call.seen(call.body.revision)?,
    };
    let id = call.authorized.id();
    let answer = |published: &heddle_workflows::definitions::Published| {
        let revision = published.view.definition.revision;
        let diagnostics = published.diagnostics.iter().cloned().map(Into::into).collect();
        let told = wire::workflows::WorkflowVersion {
            diagnostics: Some(diagnostics),
            ..version(&published.version)
        };
        Ok(Response::data(200, told)?.tagged(revision))
    };
    let record = |published: &heddle_workflows::definitions::Published| {
        let details = json!({ "version": published.version.number });
        call.journal_with(&id.to_string(), details, || answer(published))
    };
    let published = call.app.definitions.publish(&call.authorized, &call.context, request, &record).await?;
    answer(&published)
}

/// GET /api/workflows/{workflowId}/versions
pub(crate) async fn versions(call: Call<ops::ListVersions>) -> HandlerResult {
    let page = page(call.query.limit, call.query.cursor);
    let found = call.app.definitions.versions(&call.authorized, &call.context, &page).await?;
    Response::list(found, page.limit, |found| version(&found))
}

/// PUT /api/workflows/{workflowId}/star
pub(crate) async fn star(call: Call<ops::StarWorkflow>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    let view = call.app.definitions.star(&call.authorized, &call.context, true, &journal).await?;
    Response::data(200, wire::workflows::Star { workflow_id: id.to_string(), starred: view.starred })
}

/// DELETE /api/workflows/{workflowId}/star
pub(crate) async fn unstar(call: Call<ops::UnstarWorkflow>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app.definitions.star(&call.authorized, &call.context, false, &journal).await?;
    Ok(Response::none())
}

/// `draft`, `published` or a number.
pub(super) fn version_choice(text: Option<&str>) -> Result<VersionChoice, Failure> {
    match text {
        None | Some("draft") => Ok(VersionChoice::Draft),
        Some("published") => Ok(VersionChoice::Published),
        Some(number) => match number.parse() {
            Ok(number) if number > 0 => Ok(VersionChoice::Number(number)),
            _ => Err(Failure::at(
                "version",
                "notAllowed",
                "`draft`, `published` or a version's number is needed.",
            )),
        },
    }
}

fn draft_of(sent: Patch<wire::definition::Definition>) -> Draft {
    match sent {
        Patch::Absent => Draft::Absent,
        Patch::Null => Draft::Null,
        Patch::Value(definition) => Draft::Value(definition.json),
    }
}

const fn sort_of(word: wire::workflows::WorkflowSort) -> WorkflowSort {
    match word {
        wire::workflows::WorkflowSort::CreatedAt => WorkflowSort::CreatedAscending,
        wire::workflows::WorkflowSort::CreatedAtDescending => WorkflowSort::CreatedDescending,
        wire::workflows::WorkflowSort::UpdatedAt => WorkflowSort::UpdatedAscending,
        wire::workflows::WorkflowSort::UpdatedAtDescending => WorkflowSort::UpdatedDescending,
        wire::workflows::WorkflowSort::DisplayName => WorkflowSort::DisplayName,
        wire::workflows::WorkflowSort::DisplayNameDescending => WorkflowSort::DisplayNameDescending,
    }
}

fn plain(view: &WorkflowView) -> HandlerResult {
    Ok(Response::data(200, workflow(view, &Draft::Absent))?.tagged(view.definition.revision))
}

/// A workflow for the caller; the definition stands in it as it was sent.
fn workflow(view: &WorkflowView, draft: &Draft) -> wire::workflows::Workflow {
    let workflow = &view.definition;
    let counts = view.counts;
    wire::workflows::Workflow {
        id: workflow.id.to_string(),
        slug: workflow.slug.clone(),
        display_name: workflow.display_name.clone(),
        description: workflow.description.clone(),
        folder_id: match &workflow.folder_id {
            Patch::Absent => None,
            Patch::Null => Some(None),
            Patch::Value(folder) => Some(Some(folder.clone())),
        },
        state: workflow_state(workflow.state),
        starred: view.starred,
        revision: workflow.revision.0,
        draft_revision: workflow.draft_revision.0,
        published_version: workflow.published_version,
        has_unpublished_changes: workflow.has_unpublished_changes(),
        definition: match draft {
            Draft::Absent => None,
            Draft::Null => Some(Value::Null.into()),
            Draft::Value(definition) => Some(definition.clone().into()),
        },
        run_counts: wire::workflows::RunCounts {
            active: counts.active,
            incidents: counts.incidents,
            completed: counts.completed,
            failed: counts.failed,
            cancelled: counts.cancelled,
        },
        created_at: workflow.created_at,
        created_by: workflow.created_by.to_string(),
        updated_at: workflow.updated_at,
        updated_by: workflow.updated_by.to_string(),
    }
}

fn version(version: &Version) -> wire::workflows::WorkflowVersion {
    wire::workflows::WorkflowVersion {
        number: version.number,
        hash: version.hash.clone(),
        published_at: version.published_at,
        published_by: version.published_by.to_string(),
        change_note: version.change_note.clone(),
        state: if version.active {
            wire::workflows::VersionState::Active
        } else {
            wire::workflows::VersionState::Superseded
        },
        diagnostics: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_named_by_a_word_or_a_number() {
        assert_eq!(version_choice(None).unwrap(), VersionChoice::Draft);
        assert_eq!(version_choice(Some("7")).unwrap(), VersionChoice::Number(7));
        for wrong in ["0", "-1", "latest", "1.5", ""] {
            assert!(version_choice(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
