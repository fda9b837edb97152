//! Previews of files, exports, and the imported bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_kernel::Diagnostic;
use heddle_workflows::definitions::{
    BpelRequest, DmnRequest, Exported, PreviewRequest, Previewed, SourceFormat, TransformTarget,
};

use super::workflows::version_choice;
use crate::call::{Call, Meta};
use crate::failure::Failure;
use crate::gate::not_acceptable;
use crate::reply::{HandlerResult, Response};

/// POST /api/workflows/transform/preview
pub(crate) async fn preview(call: Call<ops::PreviewTransform>) -> HandlerResult {
    let (request, format) = match call.body {
        wire::transform::TransformBody::Xml(bytes) => {
            let format = SourceFormat::of_xml(&bytes);
            let word = if format == SourceFormat::Dmn { "dmn" } else { "bpmn" };
            (PreviewRequest { format, file_name: None, bytes, target: TransformTarget::Definition }, word)
        }
        wire::transform::TransformBody::Json(request) => from_json(request)?,
    };
    let (file_name, target) = (request.file_name.clone(), request.target);
    let previewed = call.app.definitions.preview(&call.authorized, &call.context, request).await?;
    Response::data(200, shown(previewed, format, target, file_name)?)
}

fn from_json(request: wire::transform::TransformRequest) -> Result<(PreviewRequest, &'static str), Failure> {
    let (format, word) = match request.source.format {
        wire::transform::SourceFormat::Bpmn => (SourceFormat::Bpmn, "bpmn"),
        wire::transform::SourceFormat::Json => (SourceFormat::Json, "json"),
        wire::transform::SourceFormat::Dmn => (SourceFormat::Dmn, "dmn"),
    };
    let target = match request.target {
        None | Some(wire::transform::TransformTarget::Definition) => TransformTarget::Definition,
        Some(wire::transform::TransformTarget::Bpmn) => TransformTarget::Bpmn,
        Some(wire::transform::TransformTarget::Bpel) => TransformTarget::Bpel,
        Some(wire::transform::TransformTarget::Dmn) => TransformTarget::Dmn,
    };
    let bytes = match (request.source.content, request.source.content_base64) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(encoded)) => STANDARD.decode(encoded.trim()).or(Err(Failure::at(
            "source.contentBase64",
            "wrongType",
            "The text is not base64.",
        )))?,
        (Some(_), Some(_)) => {
            let message = "Either `content` or `contentBase64`, not both.";
            return Err(Failure::at("source", "contradiction", message));
        }
        (None, None) => {
            return Err(Failure::at("source.content", "required", "`content` or `contentBase64` is needed."));
        }
    };
    if format == SourceFormat::Json {
        check_definition(&bytes)?;
    }
    Ok((PreviewRequest { format, file_name: request.source.file_name, bytes, target }, word))
}

/// A definition as a file is held against the same schema as one in a body, so that every problem is told at once.
fn check_definition(bytes: &[u8]) -> Result<(), Failure> {
    let Err(problems) = heddle_api::decode::from_json::<wire::definition::Definition>(bytes) else {
        return Ok(());
    };
    let mut details = problems.0;
    for detail in &mut details {
        let place = detail.field.as_deref().unwrap_or_default();
        let dot = if place.is_empty() || place.starts_with('[') { "" } else { "." };
        detail.field = Some(format!("source.content{dot}{place}"));
    }
    Err(heddle_api::decode::Problems(details).into())
}

fn shown(
    previewed: Previewed,
    format: &str,
    target: TransformTarget,
    file_name: Option<String>,
) -> Result<wire::transform::TransformPreview, Failure> {
    let json = |error: serde_json::Error| Failure::internal(error.to_string());
    // A target without content is told by the diagnostics; the definition is no stand-in for it.
    let definition = match target {
        TransformTarget::Definition => Some(serde_json::to_value(&previewed.definition).map_err(json)?),
        TransformTarget::Bpmn | TransformTarget::Bpel | TransformTarget::Dmn => None,
    };
    Ok(wire::transform::TransformPreview {
        definition,
        content: previewed.content,
        import: heddle_bpmn::model::Import {
            executable: Some(previewed.executable),
            format: Some(format.to_owned()),
            items: Some(previewed.items),
            source_file_name: file_name,
            source_sha256: Some(previewed.sha256),
            version: previewed.version.map(str::to_owned),
        },
        diagnostics: previewed.diagnostics.into_iter().map(Into::into).collect(),
        lossless: previewed.lossless,
    })
}

/// GET /api/workflows/{workflowId}/export/bpmn
pub(crate) async fn export_bpmn(call: Call<ops::ExportBpmn>) -> HandlerResult {
    let choice = version_choice(call.query.version.as_deref())?;
    let exported = call.app.definitions.export_bpmn(&call.authorized, &call.context, choice).await?;
    self::exported(&call.meta, exported, "bpmn")
}

/// A text that was exported, as it is or inside JSON.
pub(super) fn exported(meta: &Meta, exported: Exported, extension: &str) -> HandlerResult {
    let file_name = format!("{}.{extension}", exported.definition.slug);
    if meta.wants_json() {
        return Response::data(
            200,
            wire::definition::ExportedDocument {
                content: Some(exported.content),
                content_base64: None,
                media_type: exported.media_type.to_owned(),
                file_name: Some(file_name),
                sha256: exported.sha256,
                diagnostics: exported.diagnostics.into_iter().map(Into::into).collect(),
            },
        );
    }
    Ok(Response::document(exported.content.into_bytes(), exported.media_type, &file_name))
}

/// GET /api/workflows/{workflowId}/export/bpel
pub(crate) async fn export_bpel(call: Call<ops::ExportBpel>) -> HandlerResult {
    let request = BpelRequest {
        version: version_choice(call.query.version.as_deref())?,
        process: call.query.process,
        archive: matches!(call.query.format, Some(wire::definition::BpelFormat::Zip)),
    };
    let exported = call.app.definitions.export_bpel(&call.authorized, &call.context, request).await?;
    let (extension, media) =
        if exported.archive { ("zip", "application/zip") } else { ("bpel", "application/xml") };
    let file_name = format!("{}.{extension}", exported.workflow.slug);
    let (bytes, sha256, diagnostics) = (exported.bytes, exported.sha256, exported.diagnostics);
    file(&call.meta, ExportedFile { bytes, sha256, diagnostics, media, file_name })
}

/// GET /api/workflows/{workflowId}/export/dmn
pub(crate) async fn export_dmn(call: Call<ops::ExportDmn>) -> HandlerResult {
    let archive = matches!(call.query.format, Some(wire::definition::DmnFormat::Zip));
    let request = DmnRequest {
        version: version_choice(call.query.version.as_deref())?,
        document: call.query.document,
        archive,
    };
    let exported = call.app.definitions.export_dmn(&call.authorized, &call.context, request).await?;
    let media = if archive { "application/zip" } else { "application/xml" };
    let exported = ExportedFile {
        bytes: exported.bytes,
        sha256: exported.sha256,
        diagnostics: exported.diagnostics,
        media,
        file_name: exported.file_name,
    };
    file(&call.meta, exported)
}

/// File that an export gives, with what was lost on the way into it.
struct ExportedFile {
    bytes: Vec<u8>,
    sha256: String,
    diagnostics: Vec<Diagnostic>,
    media: &'static str,
    file_name: String,
}

/// Whether a document goes inside JSON. It has one media type, of those that the operation has; who does not take that
/// may take it in JSON.
fn in_json(meta: &Meta, media: &str) -> Result<bool, Failure> {
    let takes = |media: &str| meta.accept.takes(media);
    if meta.wants_json() || (!takes(media) && takes("application/json")) {
        return Ok(true);
    }
    if takes(media) { Ok(false) } else { Err(not_acceptable(&[media, "application/json"])) }
}

/// A file as it is, or inside JSON.
fn file(meta: &Meta, exported: ExportedFile) -> HandlerResult {
    let ExportedFile { bytes, sha256, diagnostics, media, file_name } = exported;
    if !in_json(meta, media)? {
        return Ok(Response::document(bytes, media, &file_name));
    }
    let (content, content_base64) = match String::from_utf8(bytes) {
        Ok(text) if media == "application/xml" => (Some(text), None),
        Ok(text) => (None, Some(STANDARD.encode(text))),
        Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
    };
    Response::data(
        200,
        wire::definition::ExportedDocument {
            content,
            content_base64,
            media_type: media.to_owned(),
            file_name: Some(file_name),
            sha256,
            diagnostics: diagnostics.into_iter().map(Into::into).collect(),
        },
    )
}

/// GET /api/workflows/{workflowId}/import-source
pub(crate) async fn import_source(call: Call<ops::GetImportSource>) -> HandlerResult {
    let source = call.app.definitions.import_source(&call.authorized, &call.context).await?;
    // A source that is JSON is not to be taken for the operation's own JSON.
    let (media, extension) = match source.media_type.as_str() {
        "application/xml" => ("application/xml", "bpmn"),
        _ => ("application/octet-stream", "json"),
    };
    if in_json(&call.meta, media)? {
        return Response::data(
            200,
            wire::definition::ExportedDocument {
                content: None,
                content_base64: Some(STANDARD.encode(&source.bytes)),
                media_type: source.media_type,
                file_name: source.file_name,
                sha256: source.sha256,
                diagnostics: Vec::new(),
            },
        );
    }
    let name = source
        .file_name
        .unwrap_or_else(|| format!("{}.{extension}", &source.sha256[..12.min(source.sha256.len())]));
    Ok(Response::document(source.bytes, media, &name).with("x-content-sha256", source.sha256))
}
