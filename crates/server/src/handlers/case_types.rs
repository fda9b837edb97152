//! Case types: wire types to domain types and back, around the use cases.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_cases::definitions::{ImportRequest, ImportedDefinition, PublishRequest, Published, SavedDraft};
use heddle_definitions::records::{DefinitionView, Draft, Version};
use heddle_kernel::Diagnostic;
use serde_json::json;

use super::drafted::{changed, draft_of, filter_of, new_of, patch_of, told, told_version};
use super::workflows::version_choice;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/case-types
pub(crate) async fn list(call: Call<ops::ListCaseTypes>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = filter_of!(query, starred: None);
    let found = call.app.case_types.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |view| case_type(&view, &Draft::Absent))
}

/// POST /api/case-types
pub(crate) async fn create(call: Call<ops::CreateCaseType>) -> HandlerResult {
    let draft = draft_of(&call.body.definition, |sent| &sent.json);
    let new = new_of!(call.body, draft.clone());
    let answer = |view: &DefinitionView| created(view, case_type(view, &draft));
    let record = |view: &DefinitionView| call.journal(&view.definition.id.to_string(), || answer(view));
    let view = call.app.case_types.create(&call.authorized, &call.context, new, &record).await?;
    answer(&view)
}

/// POST /api/case-types/import/cmmn
pub(crate) async fn import(call: Call<ops::ImportCaseType>) -> HandlerResult {
    let request = match &call.body {
        wire::case_types::ImportCmmnBody::Xml(bytes) => {
            ImportRequest { bytes: bytes.clone(), ..ImportRequest::default() }
        }
        wire::case_types::ImportCmmnBody::Json(body) => ImportRequest {
            bytes: body.content.clone().into_bytes(),
            file_name: body.file_name.clone(),
            slug: body.slug.clone(),
            display_name: body.display_name.clone(),
            description: body.description.clone(),
            folder_id: body.folder_id.clone(),
        },
    };
    let answer = |made: &ImportedDefinition| {
        let draft = Draft::Value(made.file.document.clone());
        let data = wire::case_types::ImportedCaseType {
            case_type: case_type(&made.view, &draft),
            diagnostics: told_of(&made.file.diagnostics),
        };
        created(&made.view, data)
    };
    let record =
        |made: &ImportedDefinition| call.journal(&made.view.definition.id.to_string(), || answer(made));
    let made = call.app.case_types.import(&call.authorized, &call.context, request, &record).await?;
    answer(&made)
}

/// POST /api/case-types/import/cmmn/preview
pub(crate) async fn preview(call: Call<ops::PreviewCaseTypeImport>) -> HandlerResult {
    let (bytes, file_name) = match &call.body {
        wire::case_types::PreviewCmmnBody::Xml(bytes) => (bytes.as_slice(), None),
        wire::case_types::PreviewCmmnBody::Json(body) => (body.content.as_bytes(), body.file_name.as_deref()),
    };
    let previewed = call.app.case_types.preview(&call.authorized, bytes, file_name)?;
    let (read, names) = (previewed.read, previewed.names);
    let definition = serde_json::to_value(&read.definition);
    Response::data(
        200,
        wire::case_types::CmmnPreview {
            slug: names.slug,
            display_name: names.display_name,
            definition: definition.map_err(|error| Failure::internal(error.to_string()))?,
            items: read.items,
            executable: !read.diagnostics.iter().any(Diagnostic::is_error),
            diagnostics: told_of(&read.diagnostics),
        },
    )
}

/// GET /api/case-types/{caseTypeId}
pub(crate) async fn get(call: Call<ops::GetCaseType>) -> HandlerResult {
    let choice = version_choice(call.query.version.as_deref())?;
    let shown = call.app.case_types.get(&call.authorized, &call.context, choice).await?;
    let definition = shown.document.map(wire::envelope::Document::from);
    let told = wire::case_types::CaseType { definition, ..case_type(&shown.view, &Draft::Absent) };
    Ok(Response::data(200, told)?.tagged(shown.view.definition.revision))
}

/// PATCH /api/case-types/{caseTypeId}
pub(crate) async fn patch(call: Call<ops::UpdateCaseType>) -> HandlerResult {
    let body = &call.body;
    let patch = patch_of!(body, call.seen(body.revision)?);
    let id = call.authorized.id();
    let answer = |view: &DefinitionView| {
        Ok(Response::data(200, case_type(view, &Draft::Absent))?.tagged(view.definition.revision))
    };
    let record = |view: &DefinitionView| call.journal_with(&id.to_string(), changed!(body), || answer(view));
    let view = call.app.case_types.patch(&call.authorized, &call.context, patch, &record).await?;
    answer(&view)
}

/// DELETE /api/case-types/{caseTypeId}
pub(crate) async fn delete(call: Call<ops::DeleteCaseType>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    call.app.case_types.delete(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

/// PUT /api/case-types/{caseTypeId}/draft
pub(crate) async fn save_draft(call: Call<ops::SaveCaseTypeDraft>) -> HandlerResult {
    if call.body.definition.is_absent() {
        return Err(Failure::at("definition", "required", "The whole definition is needed, or null."));
    }
    let draft = draft_of(&call.body.definition, |sent| &sent.json);
    let saved = SavedDraft { draft: draft.clone(), revision: call.seen(call.body.revision)? };
    let id = call.authorized.id();
    let answer = |(view, diagnostics): &(DefinitionView, Vec<Diagnostic>)| {
        let case_type = case_type(view, &draft);
        let data = wire::case_types::SavedCaseTypeDraft { case_type, diagnostics: told_of(diagnostics) };
        Ok(Response::data(200, data)?.tagged(view.definition.revision))
    };
    let record = |saved: &(DefinitionView, Vec<Diagnostic>)| call.journal(&id.to_string(), || answer(saved));
    let result = call.app.case_types.save_draft(&call.authorized, &call.context, saved, &record).await?;
    answer(&result)
}

/// POST /api/case-types/{caseTypeId}/validate
pub(crate) async fn validate(call: Call<ops::ValidateCaseType>) -> HandlerResult {
    let definition = call.body.definition.map(|definition| definition.json);
    let report = call.app.case_types.validate(&call.authorized, &call.context, definition).await?;
    Response::data(
        200,
        wire::case_types::CaseValidation {
            valid: report.valid,
            executable: report.executable,
            diagnostics: told_of(&report.diagnostics),
        },
    )
}

/// POST /api/case-types/{caseTypeId}/publish
pub(crate) async fn publish(call: Call<ops::PublishCaseType>) -> HandlerResult {
    let revision = call.seen(call.body.revision)?;
    let request = PublishRequest { change_note: call.body.change_note.clone(), revision };
    let id = call.authorized.id();
    let answer = |published: &Published| {
        let diagnostics = Some(told_of(&published.diagnostics));
        let told = wire::case_types::CaseTypeVersion { diagnostics, ..version(&published.version) };
        Ok(Response::data(200, told)?.tagged(published.view.definition.revision))
    };
    let record = |published: &Published| {
        let details = json!({ "version": published.version.number });
        call.journal_with(&id.to_string(), details, || answer(published))
    };
    let published = call.app.case_types.publish(&call.authorized, &call.context, request, &record).await?;
    answer(&published)
}

/// GET /api/case-types/{caseTypeId}/versions
pub(crate) async fn versions(call: Call<ops::ListCaseTypeVersions>) -> HandlerResult {
    let page = page(call.query.limit, call.query.cursor);
    let found = call.app.case_types.versions(&call.authorized, &call.context, &page).await?;
    Response::list(found, page.limit, |found| version(&found))
}

/// GET /api/case-types/{caseTypeId}/export/cmmn
pub(crate) async fn export(call: Call<ops::ExportCmmn>) -> HandlerResult {
    let choice = version_choice(call.query.version.as_deref())?;
    let exported = call.app.case_types.export(&call.authorized, &call.context, choice).await?;
    super::transform::exported(&call.meta, exported, "cmmn")
}

fn created<T: serde::Serialize>(view: &DefinitionView, data: T) -> HandlerResult {
    let location = format!("/api/case-types/{}", view.definition.id);
    Ok(Response::data(201, data)?.with("location", location).tagged(view.definition.revision))
}

fn told_of(diagnostics: &[Diagnostic]) -> Vec<wire::definition::Diagnostic> {
    diagnostics.iter().cloned().map(Into::into).collect()
}

/// A case type for the caller; the definition stands in it as it was sent.
fn case_type(view: &DefinitionView, draft: &Draft) -> wire::case_types::CaseType {
    let counts = view.counts;
    told!(case_types::CaseType, view, draft, {
        case_counts: wire::case_types::CaseTypeCounts {
            active: counts.active,
            incidents: counts.incidents,
            completed: counts.completed,
            failed: counts.failed,
            terminated: counts.cancelled,
        },
    })
}

fn version(version: &Version) -> wire::case_types::CaseTypeVersion {
    told_version!(case_types::CaseTypeVersion, version)
}
