//! Workflows: wire types to domain types and back, around the use cases.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_kernel::Diagnostic;
use heddle_workflows::definitions::{PublishRequest, SavedDraft, ValidationProfile, VersionChoice};
use heddle_workflows::records::{Draft, Version, WorkflowView};
use serde_json::json;

use super::drafted::{changed, draft_of, filter_of, new_of, patch_of, told, told_version};
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/workflows
pub(crate) async fn list(call: Call<ops::ListWorkflows>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = filter_of!(query, starred: query.starred);
    let found = call.app.definitions.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |view| workflow(&view, &Draft::Absent))
}

/// POST /api/workflows
pub(crate) async fn create(call: Call<ops::CreateWorkflow>) -> HandlerResult {
    let body = &call.body;
    let draft = draft_of(&body.definition, |sent| &sent.json);
    let new = new_of!(body, draft.clone());
    let answer = |view: &WorkflowView| created(view, &draft);
    let record = |view: &WorkflowView| call.journal(&view.definition.id.to_string(), || answer(view));
    let view = call.app.definitions.create(&call.authorized, &call.context, new, &record).await?;
    answer(&view)
}

fn created(view: &WorkflowView, draft: &Draft) -> HandlerResult {
    let location = format!("/api/workflows/{}", view.definition.id);
    Ok(Response::data(201, workflow(view, draft))?
        .with("location", location)
        .tagged(view.definition.revision))
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
    let patch = patch_of!(body, call.seen(body.revision)?);
    let id = call.authorized.id();
    let answer = |view: &WorkflowView| plain(view);
    let record = |view: &WorkflowView| call.journal_with(&id.to_string(), changed!(body), || answer(view));
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
    let draft = draft_of(&call.body.definition, |sent| &sent.json);
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

fn plain(view: &WorkflowView) -> HandlerResult {
    Ok(Response::data(200, workflow(view, &Draft::Absent))?.tagged(view.definition.revision))
}

/// A workflow for the caller; the definition stands in it as it was sent.
fn workflow(view: &WorkflowView, draft: &Draft) -> wire::workflows::Workflow {
    let counts = view.counts;
    told!(workflows::Workflow, view, draft, {
        starred: view.starred,
        run_counts: wire::workflows::RunCounts {
            active: counts.active,
            incidents: counts.incidents,
            completed: counts.completed,
            failed: counts.failed,
            cancelled: counts.cancelled,
        },
    })
}

fn version(version: &Version) -> wire::workflows::WorkflowVersion {
    told_version!(workflows::WorkflowVersion, version)
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
