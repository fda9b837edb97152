//! Files of vector databases: wire types to domain types and back, around the use cases.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use heddle_api::operations::{DEFINITION_LIMIT, ops};
use heddle_api::wire;
use heddle_api::wire::vector_files::{StagedFile, UploadBody, UploadFile};
use heddle_api::{ApiError, Detail};
use heddle_faces::literals::{file_state, file_state_of, stage};
use heddle_kernel::Patch;
use heddle_usecase::UseCaseError;
use heddle_vectors::ports::{Blobs as _, FieldCondition, FileFilter, StoredBlob};
use heddle_vectors::records::{FieldType, File, FileError, MetadataSchema};
use heddle_vectors::{Come, FilePatch, Filter, NewFile, UploadPolicy, Uploaded};
use heddle_workflows::ports::Notifier as _;
use serde_json::{Value, json};

use super::vector_databases::sort_of;
use super::vector_jobs;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};
use crate::upload::{discard, too_many, unstored_within};

/// GET /api/vector-databases/upload-policy
pub(crate) async fn policy(call: Call<ops::GetUploadPolicy>) -> HandlerResult {
    let found = call.app.vectors.files.policy(&call.authorized, &call.context).await?;
    Response::data(200, policy_shown(found))
}

/// GET /api/vector-databases/{name}/files
pub(crate) async fn list(call: Call<ops::ListVectorFiles>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let files = &call.app.vectors.files;
    let metadata = match query.metadata {
        None => Vec::new(),
        Some(wanted) => {
            let database = files.database_of_list(&call.authorized, &call.context).await?;
            conditions(&wanted, &database.schema)?
        }
    };
    let filter = FileFilter {
        sort: query.sort.map(sort_of),
        q: query.q,
        name: None,
        state: query.state.map(file_state_of),
        media_type: query.media_type,
        metadata,
    };
    let found = files.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |file| shown(&file))
}

/// POST /api/vector-databases/{name}/files
pub(crate) async fn upload(call: Call<ops::UploadVectorFiles>) -> HandlerResult {
    let new: Vec<NewFile> = match &call.body {
        UploadBody::Staged(files) => files.iter().map(of_staged).collect(),
        UploadBody::Json(sent) => kept(&call, &sent.files).await?,
    };
    let answer = |made: &Uploaded| {
        let data = wire::vector_files::AcceptedUpload {
            job: vector_jobs::shown(&made.job, call.context.now()),
            files: made.files.iter().map(shown).collect(),
        };
        let location = format!("/api/vector-databases/ingestion-jobs/{}", made.job.id);
        Ok(Response::data(202, data)?.with("location", location))
    };
    let record = |made: &Uploaded| {
        let ids: Vec<String> = made.files.iter().map(|file| file.id.to_string()).collect();
        let details = json!({
            "vectorDatabase": made.job.database_name.as_str(), "jobId": made.job.id.to_string(), "files": ids,
        });
        // An upload of one file is about that file, one of several about the first of them; the details name all.
        let about = ids.first().cloned().unwrap_or_default();
        call.journal_with(&about, details, || answer(made))
    };
    let made = call.app.vectors.files.upload(&call.authorized, &call.context, new, &record).await;
    let made = made.map_err(|error| once_only(error.into()))?;
    call.app.hub.errand_asked();
    answer(&made)
}

/// The stored bytes of an upload that was not taken are gone: the same call can't be decided anew with them.
fn once_only(failure: Failure) -> Failure {
    if !failure.is_race() {
        return failure;
    }
    let message = "The database was changed while the files came; upload them again.";
    Failure::because(heddle_api::ErrorCode::StateConflict, "databaseChanged", message)
}

/// PATCH /api/vector-databases/{name}/files/{fileId}
pub(crate) async fn patch(call: Call<ops::UpdateVectorFile>) -> HandlerResult {
    let body = &call.body;
    let patch = FilePatch {
        title: body.title.clone(),
        metadata: body.metadata.clone(),
        enabled: body.enabled,
        reprocess: body.reprocess,
        options: body.methodology_options.clone(),
        revision: call.seen(body.revision)?,
    };
    let may_work = patch.reprocess == Some(true) || patch.options != Patch::Absent;
    let answer = |made: &File| Ok(Response::data(200, shown(made))?.tagged(made.revision));
    let record = |made: &File| call.journal(&made.id.to_string(), || answer(made));
    let made = call.app.vectors.files.update(&call.authorized, &call.context, patch, &record).await?;
    if may_work {
        call.app.hub.errand_asked();
    }
    answer(&made)
}

/// DELETE /api/vector-databases/{name}/files/{fileId}
pub(crate) async fn delete(call: Call<ops::DeleteVectorFile>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    let files = &call.app.vectors.files;
    files.delete(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    call.app.vectors.left_behind();
    Ok(Response::none())
}

/// A file that came as a part and is stored.
fn of_staged(file: &StagedFile) -> NewFile {
    let blob = StoredBlob { key: file.key.clone(), sha256: file.sha256.clone(), bytes: file.bytes };
    NewFile {
        name: file.name.clone(),
        media_type: file.media_type.clone(),
        title: file.title.clone(),
        metadata: file.metadata.clone(),
        blob,
    }
}

/// Stores files that came as JSON, as far as there is room for them. Nothing stays of what fails.
async fn kept(call: &Call<ops::UploadVectorFiles>, files: &[UploadFile]) -> Result<Vec<NewFile>, Failure> {
    let (app, tenant) = (&*call.app, call.context.tenant());
    let most = app.config.vectors.bounds.files;
    if files.len() > most as usize {
        return Err(too_many(most));
    }
    let (mut contents, mut faults) = (Vec::new(), Vec::new());
    for (place, file) in files.iter().enumerate() {
        match content(place, file) {
            Ok(bytes) => contents.push(bytes),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(ApiError::invalid(faults).into());
    }
    let policy = app.vectors.files.before_upload(&call.authorized, &call.context).await?;
    let mut kept = Vec::new();
    let mut come = Come::default();
    for (file, bytes) in files.iter().zip(contents) {
        let stored = match policy.next_file(come) {
            Ok(most) => {
                let stream = Box::pin(futures::stream::iter([Ok(bytes)]));
                let stored = app.blobs.put(tenant, most, stream).await;
                stored.map_err(|error| unstored_within(&policy, come, error))
            }
            Err(error) => Err(error.into()),
        };
        match stored {
            Ok(blob) => {
                come = Come { files: come.files + 1, bytes: come.bytes.saturating_add(blob.bytes) };
                kept.push(NewFile {
                    name: file.name.clone(),
                    media_type: declared_type(file),
                    title: file.title.clone(),
                    metadata: file.metadata.clone().unwrap_or_default(),
                    blob,
                });
            }
            Err(failure) => {
                let keys: Vec<String> = kept.into_iter().map(|file| file.blob.key).collect();
                discard(app, tenant, &keys).await;
                return Err(failure);
            }
        }
    }
    Ok(kept)
}

/// Media type that a file which came as JSON is declared to have: a text is kept as UTF-8, whatever charset it had before.
fn declared_type(file: &UploadFile) -> Option<String> {
    let declared = file.media_type.clone()?;
    match (&file.text, declared.split_once(';')) {
        (Some(_), Some((bare, _))) => Some(bare.to_owned()),
        (Some(_) | None, _) => Some(declared),
    }
}

/// Content of a file that came as JSON.
fn content(place: usize, file: &UploadFile) -> Result<Bytes, Detail> {
    let path = format!("files[{place}]");
    match (&file.text, &file.content_base64) {
        (Some(text), None) => Ok(Bytes::from(text.clone())),
        (None, Some(encoded)) => STANDARD.decode(encoded).map(Bytes::from).map_err(|error| {
            let message = format!("The content is not in base64: {error}.");
            Detail::at(format!("{path}.contentBase64"), "malformed", message)
        }),
        (Some(_), Some(_)) => {
            Err(Detail::at(path, "contradiction", "Either `text` or `contentBase64` is needed, not both."))
        }
        (None, None) => Err(Detail::at(path, "required", "Either `text` or `contentBase64` is needed.")),
    }
}

/// Conditions of the members that a list names, each in the type that the database declares for it.
fn conditions(
    wanted: &BTreeMap<String, String>,
    schema: &MetadataSchema,
) -> Result<Vec<FieldCondition>, Failure> {
    let typed = |name: &str, text: &str| {
        let kind = schema.get(name).map(|field| field.kind);
        match kind {
            Some(FieldType::Number) => text.parse::<f64>().map_or_else(|_| json!(text), |value| json!(value)),
            Some(FieldType::Boolean) => text.parse::<bool>().map_or_else(|_| json!(text), Value::Bool),
            Some(FieldType::String | FieldType::DateTime) | None => json!(text),
        }
    };
    let each = wanted
        .iter()
        .map(|(name, text)| json!({ "field": format!("metadata.{name}"), "eq": typed(name, text) }));
    let filter = Filter::read(&json!({ "and": each.collect::<Vec<_>>() }), schema);
    let filter = filter.map_err(|error| as_parameters(error, wanted))?;
    let needed = || Failure::internal("equalities in a row are no conjunction");
    filter.conjunction().ok_or_else(needed)
}

/// Problems of a filter, told of the parameters of which it was made.
fn as_parameters(error: UseCaseError, wanted: &BTreeMap<String, String>) -> UseCaseError {
    let UseCaseError::Invalid(mut problems) = error else { return error };
    for problem in &mut problems {
        let place =
            problem.field.as_deref().and_then(|field| field.strip_prefix("filter.and[")?.split(']').next());
        let name = place.and_then(|place| wanted.keys().nth(place.parse().ok()?));
        problem.field = Some(name.map_or_else(|| "metadata".to_owned(), |name| format!("metadata.{name}")));
    }
    UseCaseError::Invalid(problems)
}

/// A failure of a file or a job, on the wire.
pub(super) fn error_shown(error: &FileError) -> wire::vector_jobs::IngestionError {
    wire::vector_jobs::IngestionError {
        code: error.code.as_str().to_owned(),
        message: error.message.clone(),
        retryable: error.retryable,
    }
}

/// A file on the wire.
fn shown(file: &File) -> wire::vector_files::VectorFile {
    wire::vector_files::VectorFile {
        id: file.id.to_string(),
        name: file.name.clone(),
        title: file.title.clone(),
        media_type: file.media_type.clone(),
        charset: file.charset.clone(),
        bytes: file.bytes,
        sha256: file.sha256.clone(),
        state: file_state(file.state),
        stage: stage(file.stage),
        progress: wire::vector_files::VectorFileProgress {
            pages: file.progress.pages.map(u64::from),
            passages_done: file.progress.passages_done,
            passages_total: file.progress.passages_total,
        },
        passages: file.passages,
        language: file.language.clone(),
        metadata: file.metadata.clone(),
        enabled: file.enabled,
        methodology_options: file.options.as_ref().map(|own| own.options.clone()),
        error: file.error.as_ref().map(error_shown),
        warnings: file.warnings.clone(),
        job_id: Some(file.job.to_string()),
        generation: file.generation,
        revision: file.revision.0,
        created_at: file.created_at,
        created_by: file.created_by.to_string(),
        updated_at: file.updated_at,
        indexed_at: file.indexed_at,
    }
}

fn policy_shown(policy: UploadPolicy) -> wire::vector_files::UploadPolicy {
    use wire::vector_files::{AllowedType, DuplicateHandling, OcrPolicy, UploadQuota};
    let allowed = |one: heddle_vectors::ports::UploadType| AllowedType {
        media_type: one.media_type,
        extensions: one.extensions,
        parser: one.parser,
        ocr: if one.ocr { OcrPolicy::Auto } else { OcrPolicy::Off },
    };
    wire::vector_files::UploadPolicy {
        max_file_bytes: policy.bounds.file_bytes,
        max_files_per_request: policy.bounds.files,
        allowed_types: policy.types.into_iter().map(allowed).collect(),
        quota: UploadQuota {
            max_bytes: policy.quotas.bytes,
            used_bytes: policy.usage.bytes,
            max_files: policy.quotas.files,
            used_files: policy.usage.files,
            max_passages: policy.quotas.passages,
            used_passages: policy.usage.passages,
            max_waiting_files: policy.quotas.waiting,
            used_waiting_files: policy.usage.waiting,
        },
        duplicate_handling: DuplicateHandling::Reject,
        max_json_bytes: DEFINITION_LIMIT as u64,
        max_metadata_bytes: policy.bounds.metadata_bytes,
        max_pages: policy.pages.into(),
        max_passages_per_file: policy.bounds.file_passages,
        scanning: false,
    }
}
