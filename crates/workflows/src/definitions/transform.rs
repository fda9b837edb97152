//! Previews of files, exports, and the imported bytes.

use heddle_bpmn::diagnostic::Diagnostic;
use heddle_bpmn::model::{ImportItem, WorkflowDefinition};
use heddle_bpmn::xml;
use heddle_bpmn_graph::{expression_items, lane_items, settle_items};
use heddle_definitions::DefinitionKey;
use heddle_policy::capability::{WorkflowRead, WorkflowTransform};
use heddle_policy::{Authorized, AuthorizedKind, RequestContext};
use serde_json::Value;

use super::{Definitions, calls, decision};
use crate::records::ImportSource;
use crate::{Problem, UseCaseError};
use heddle_usecase::sha256_hex;

/// Time for which a previewed file waits to be claimed, in seconds.
const UNCLAIMED_SECONDS: i64 = 24 * 3600;

/// Format of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// BPMN 2.0 XML.
    Bpmn,
    /// DMN XML of any version.
    Dmn,
    /// A definition as JSON.
    Json,
}

impl SourceFormat {
    /// The standard of an XML file, by the namespace that its root element names first; BPMN when it names none.
    #[must_use]
    pub fn of_xml(bytes: &[u8]) -> Self {
        // In UTF-16 and UTF-32 the letters of a namespace stand between zeros.
        let head: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).take(16 * 1024).collect();
        let first = |word: &[u8]| head.windows(word.len()).position(|part| part == word);
        match (first(b"/spec/DMN/"), first(b"/spec/BPMN/")) {
            (Some(dmn), Some(bpmn)) if bpmn < dmn => Self::Bpmn,
            (Some(_), _) => Self::Dmn,
            _ => Self::Bpmn,
        }
    }
}

/// Target format of a transformation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransformTarget {
    /// The definition's JSON.
    #[default]
    Definition,
    /// BPMN 2.0 XML.
    Bpmn,
    /// WS-BPEL 2.0: the primary process, or the first.
    Bpel,
    /// DMN 1.5 XML: the decision model of the definition.
    Dmn,
}

/// A file to look at.
#[derive(Debug, Clone)]
pub struct PreviewRequest {
    /// Format of the source.
    pub format: SourceFormat,
    /// Name of the file.
    pub file_name: Option<String>,
    /// Bytes as they came.
    pub bytes: Vec<u8>,
    /// Target format.
    pub target: TransformTarget,
}

/// Result of a preview.
#[derive(Debug, Clone)]
pub struct Previewed {
    /// The definition.
    pub definition: WorkflowDefinition,
    /// The BPMN text, when that was wanted.
    pub content: Option<String>,
    /// Outcome for each element that is not simply BPMN.
    pub items: Vec<ImportItem>,
    /// Version of the standard that the source is written in.
    pub version: Option<&'static str>,
    /// Whether it could be published as it is.
    pub executable: bool,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether nothing was lost on the way to the target.
    pub lossless: bool,
    /// SHA-256 (hex) of the bytes.
    pub sha256: String,
}

impl Definitions {
    /// Looks at a file: nothing is stored but the bytes of one that becomes a definition, for a day and within the
    /// organisation's quota, so that a workflow made from it can claim them.
    ///
    /// # Errors
    /// `Invalid` when the file can't be read, with line and column.
    pub async fn preview(
        &self,
        _: &AuthorizedKind<WorkflowTransform>,
        context: &RequestContext,
        request: PreviewRequest,
    ) -> Result<Previewed, UseCaseError> {
        let read = read(request.format, &request.bytes, request.file_name.as_deref())?;
        let sha256 = sha256_hex(&request.bytes);
        let (mut diagnostics, executable) = match read.executable {
            Some(executable) => (read.diagnostics, executable),
            None => {
                let (mut found, executable) = super::publish::examine(&read.definition, &self.budget);
                found.extend(calls::findings(&*self.store, context.tenant(), None, &read.definition).await?);
                (super::publish::merged(read.diagnostics, found), executable)
            }
        };
        let (content, lossless) = match request.target {
            TransformTarget::Definition => {
                (None, request.format != SourceFormat::Bpmn || is_kept(&read.definition))
            }
            TransformTarget::Dmn => {
                let written = decision::write(&read.definition, &mut diagnostics)?;
                (Some(written.content), written.lossless)
            }
            TransformTarget::Bpmn | TransformTarget::Bpel if request.format == SourceFormat::Dmn => {
                let sentence = "A decision model has no process: it becomes a `definition` or `dmn`.";
                return Err(UseCaseError::invalid("target", "notAllowed", sentence));
            }
            TransformTarget::Bpel => {
                let before = diagnostics.len();
                let content = super::bpel::preview(&read.definition, &mut diagnostics);
                let whole = content.is_some() && diagnostics.len() == before && !is_drawn(&read.definition);
                (content, whole)
            }
            TransformTarget::Bpmn => {
                let kept = is_kept(&read.definition);
                (Some(write_bpmn(&read.definition, &mut diagnostics)?), kept)
            }
        };
        // Only a definition can become a workflow that claims the file.
        if request.target == TransformTarget::Definition {
            let source = ImportSource {
                sha256: sha256.clone(),
                media_type: media_type(request.format).to_owned(),
                file_name: request.file_name,
                bytes: request.bytes,
            };
            let end = context.now().plus_seconds(UNCLAIMED_SECONDS);
            self.store.keep_source(context.tenant(), &source, end, self.previews).await?;
        }
        Ok(Previewed {
            definition: read.definition,
            content,
            lossless,
            items: read.items,
            version: read.version,
            executable,
            diagnostics,
            sha256,
        })
    }

    /// The bytes that the workflow was imported from.
    ///
    /// # Errors
    /// `NotFound` also when it was not imported.
    pub async fn import_source(
        &self,
        authorized: &Authorized<WorkflowRead>,
        context: &RequestContext,
    ) -> Result<ImportSource, UseCaseError> {
        let key = DefinitionKey::of(authorized.key());
        self.store.get(key, context.user_id()).await?;
        Ok(self.store.source(key).await?)
    }
}

/// Whether a document written from the definition says all that the definition does.
fn is_kept(definition: &WorkflowDefinition) -> bool {
    let Ok(written) = xml::write(definition) else { return false };
    let Ok(again) = xml::read(written.xml.as_bytes()) else { return false };
    if *definition == again.definition {
        return true;
    }
    match (serde_json::to_value(definition), serde_json::to_value(&again.definition)) {
        (Ok(own), Ok(again)) => holds(&again, &own),
        _ => false,
    }
}

/// Whether a value has every member of another; what is null or an empty list says nothing.
fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (_, Value::Null) => true,
        (Value::Null, Value::Array(wanted)) => wanted.is_empty(),
        (Value::Object(own), Value::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| holds(own.get(name).unwrap_or(&Value::Null), wanted))
        }
        (Value::Array(own), Value::Array(wanted)) => {
            own.len() == wanted.len() && own.iter().zip(wanted).all(|(own, wanted)| holds(own, wanted))
        }
        _ => value == wanted,
    }
}

/// Whether the definition has a diagram, which WS-BPEL has no place for.
fn is_drawn(definition: &WorkflowDefinition) -> bool {
    let diagrams = definition.bpmn.as_ref().and_then(|bpmn| bpmn.diagrams.as_ref());
    diagrams.is_some_and(|diagrams| !diagrams.is_empty())
}

/// The media type that a format is served with.
const fn media_type(format: SourceFormat) -> &'static str {
    match format {
        SourceFormat::Bpmn | SourceFormat::Dmn => "application/xml",
        SourceFormat::Json => "application/json",
    }
}

/// A file that was read.
pub(super) struct Read {
    pub(super) definition: WorkflowDefinition,
    items: Vec<ImportItem>,
    pub(super) diagnostics: Vec<Diagnostic>,
    version: Option<&'static str>,
    /// Whether it can be executed, where that is known already.
    executable: Option<bool>,
}

/// Reads a file of a format.
pub(super) fn read(
    format: SourceFormat,
    bytes: &[u8],
    file_name: Option<&str>,
) -> Result<Read, UseCaseError> {
    match format {
        SourceFormat::Bpmn => read_bpmn(bytes),
        SourceFormat::Dmn => read_dmn(bytes, file_name),
        SourceFormat::Json => read_json(bytes),
    }
}

fn read_dmn(bytes: &[u8], file_name: Option<&str>) -> Result<Read, UseCaseError> {
    let read = decision::read(bytes, file_name)?;
    Ok(Read {
        definition: read.definition,
        items: read.items,
        diagnostics: read.diagnostics,
        version: Some(read.version),
        executable: Some(read.executable),
    })
}

fn read_bpmn(bytes: &[u8]) -> Result<Read, UseCaseError> {
    match xml::read(bytes) {
        Ok(imported) => {
            let mut items = imported.items;
            items.extend(expression_items(&imported.definition));
            items.extend(lane_items(&imported.definition));
            settle_items(&mut items);
            Ok(Read {
                definition: imported.definition,
                items,
                diagnostics: imported.diagnostics,
                version: Some("2.0"),
                executable: None,
            })
        }
        Err(error) => {
            let mut problem = Problem::at("source.content", "malformedSource", error.to_string());
            problem = problem.with("cause", error.reason.to_string());
            problem = problem.with("line", error.line).with("column", error.column);
            Err(UseCaseError::Invalid(vec![problem]))
        }
    }
}

fn read_json(bytes: &[u8]) -> Result<Read, UseCaseError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = serde::Deserialize::deserialize(&mut reader).and_then(|definition| {
        reader.end()?;
        Ok(definition)
    });
    match read {
        Ok(definition) => Ok(Read {
            definition,
            items: Vec::new(),
            diagnostics: Vec::new(),
            version: None,
            executable: None,
        }),
        Err(error) => {
            let problem = Problem::at("source.content", "malformedSource", error.to_string())
                .with("line", error.line())
                .with("column", error.column());
            Err(UseCaseError::Invalid(vec![problem]))
        }
    }
}

/// The definition as a document, with a diagram.
pub(super) fn write_bpmn(
    definition: &WorkflowDefinition,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<String, UseCaseError> {
    match heddle_bpmn_layout::export(definition) {
        Ok(written) => {
            diagnostics.extend(written.diagnostics);
            Ok(written.xml)
        }
        Err(error) => Err(UseCaseError::conflict("notExportable", error.to_string())),
    }
}
