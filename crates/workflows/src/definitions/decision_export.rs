//! Exports of decision models.

use std::collections::HashSet;
use std::io::Write as _;

use heddle_bpmn::Diagnostic;
use heddle_bpmn::model::{Dmn, DmnImportedDocument};
use heddle_definitions::DefinitionKey;
use heddle_dmn::{diagram, xml};
use heddle_policy::capability::WorkflowExport;
use heddle_policy::{Authorized, RequestContext};
use zip::write::SimpleFileOptions;

use super::{Definitions, VersionChoice, decision};
use crate::decisions::finding;
use crate::models::typed;
use crate::records::Workflow;
use crate::{Problem, UseCaseError};
use heddle_usecase::sha256_hex;

/// Request for an export to DMN: the document and its form.
#[derive(Debug, Clone, Default)]
pub struct DmnRequest {
    /// Definition to export.
    pub version: VersionChoice,
    /// Namespace or file name of a document that the model imports; the model itself when absent.
    pub document: Option<String>,
    /// Whether the model and all documents that it imports come in an archive.
    pub archive: bool,
}

/// A document of DMN 1.5, or an archive of all.
#[derive(Debug, Clone)]
pub struct DmnExport {
    /// The workflow, for the file's name.
    pub workflow: Workflow,
    /// The bytes; text unless it is an archive.
    pub bytes: Vec<u8>,
    /// Name of the file.
    pub file_name: String,
    /// SHA-256 (hex) of the bytes.
    pub sha256: String,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
}

/// A document by its name.
struct File {
    name: String,
    text: String,
}

impl Definitions {
    /// The decision model of the chosen definition as DMN 1.5 XML: as it was read, with a diagram when it has none.
    ///
    /// # Errors
    /// `NotFound` also when the definition has no decision model; `Invalid` when no imported document has that namespace or
    /// file name; `Conflict` when a document can't be written, with its place.
    pub async fn export_dmn(
        &self,
        authorized: &Authorized<WorkflowExport>,
        context: &RequestContext,
        request: DmnRequest,
    ) -> Result<DmnExport, UseCaseError> {
        let view = self.store.get(DefinitionKey::of(authorized.key()), context.user_id()).await?;
        let draft = self.shared.chosen(&view, request.version).await?;
        let definition = typed(draft.value().ok_or(UseCaseError::NotFound)?)?;
        let dmn = definition.dmn.as_deref().ok_or(UseCaseError::NotFound)?;
        let mut diagnostics = Vec::new();
        let own_name = format!("{}.dmn", view.definition.slug);
        let file = match &request.document {
            Some(wanted) => imported(dmn, wanted, &mut diagnostics)?,
            None => main(dmn, own_name, &mut diagnostics)?,
        };
        let (bytes, file_name) = if request.archive {
            let mut files = vec![file];
            if request.document.is_none() {
                for (at, document) in dmn.imported_documents.iter().flatten().enumerate() {
                    files.push(written(document, at, &mut diagnostics)?);
                }
            }
            let bytes = archived(&files).map_err(|error| UseCaseError::Internal(error.to_string()))?;
            (bytes, format!("{}.zip", view.definition.slug))
        } else {
            (file.text.into_bytes(), file.name)
        };
        let sha256 = sha256_hex(&bytes);
        Ok(DmnExport { workflow: view.definition, bytes, file_name, sha256, diagnostics })
    }
}

/// The model itself.
fn main(dmn: &Dmn, name: String, diagnostics: &mut Vec<Diagnostic>) -> Result<File, UseCaseError> {
    let read = decision::model(dmn).map_err(|error| malformed("dmn.sourceXml", &error))?;
    let read = read.ok_or(UseCaseError::NotFound)?;
    diagnostics.extend(read.diagnostics.iter().map(|one| finding(one, "dmn.sourceXml")));
    let text = xml::write(&read.model).map_err(|error| unwritable("dmn", &error))?;
    let drawn = diagram::with_diagram(&text, &read.model, &decision::drawn(dmn))
        .map_err(|error| UseCaseError::Internal(format!("what was written cannot be read: {error}")))?;
    let text = drawn.unwrap_or(text);
    let moved = diagram::moved(&text, &decision::drawn(dmn))
        .map_err(|error| UseCaseError::Internal(format!("what was written cannot be read: {error}")))?;
    Ok(File { name, text: moved.unwrap_or(text) })
}

fn imported(dmn: &Dmn, wanted: &str, diagnostics: &mut Vec<Diagnostic>) -> Result<File, UseCaseError> {
    let documents = || dmn.imported_documents.iter().flatten();
    let of = |document: &DmnImportedDocument| {
        document.namespace.as_deref() == Some(wanted) || document.file_name.as_deref() == Some(wanted)
    };
    if let Some((at, document)) = documents().enumerate().find(|(_, document)| of(document)) {
        return written(document, at, diagnostics);
    }
    let known: Vec<&str> =
        documents().filter_map(|own| own.namespace.as_deref().or(own.file_name.as_deref())).collect();
    let sentence = format!("The decision model imports no document `{wanted}`.");
    Err(UseCaseError::Invalid(vec![Problem::at("document", "unknown", sentence).with("known", known)]))
}

/// A document that the model imports.
fn written(
    document: &DmnImportedDocument,
    at: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<File, UseCaseError> {
    let path = format!("dmn.importedDocuments[{at}].sourceXml");
    let source = document.source_xml.as_deref().unwrap_or_default();
    let read = xml::read(source.as_bytes()).map_err(|error| malformed(&path, &error))?;
    diagnostics.extend(read.diagnostics.iter().map(|one| finding(one, &path)));
    let text = xml::write(&read.model).map_err(|error| unwritable(&path, &error))?;
    let drawn = diagram::with_diagram(&text, &read.model, &diagram::Drawing::default())
        .map_err(|error| UseCaseError::Internal(format!("what was written cannot be read: {error}")))?;
    let name = document.file_name.clone().unwrap_or_else(|| format!("imported-{}.dmn", at + 1));
    Ok(File { name, text: drawn.unwrap_or(text) })
}

fn malformed(field: &str, error: &heddle_dmn::XmlError) -> UseCaseError {
    let problem = Problem::at(format!("definition.{field}"), "notExportable", error.to_string())
        .with("cause", error.reason)
        .with("line", error.line)
        .with("column", error.column);
    UseCaseError::Conflict(vec![problem])
}

fn unwritable(field: &str, error: &xml::WriteError) -> UseCaseError {
    let problem = Problem::at(format!("definition.{field}"), "notExportable", error.to_string());
    UseCaseError::Conflict(vec![problem])
}

fn archived(files: &[File]) -> zip::result::ZipResult<Vec<u8>> {
    // The archive of one definition is the same every time, so that its hash can be compared.
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut taken = HashSet::new();
    for file in files {
        archive.start_file(entry(&file.name, &mut taken), options)?;
        archive.write_all(file.text.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

/// A name within an archive: no folders, no other file's.
fn entry(name: &str, taken: &mut HashSet<String>) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let fit = |letter: char| if letter.is_control() || ":*?\"<>|".contains(letter) { '-' } else { letter };
    let last: String = last.chars().take(120).map(fit).collect();
    let stem = last.trim_end_matches(".dmn").trim_matches(['.', ' ']);
    let stem = if stem.is_empty() { "model" } else { stem };
    let mut name = format!("{stem}.dmn");
    let mut number = 1;
    while !taken.insert(name.to_lowercase()) {
        number += 1;
        name = format!("{stem}-{number}.dmn");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_an_archive_are_plain_and_stand_once() {
        let mut taken = HashSet::new();
        let names = ["a.dmn", "../../etc/A.dmn", "C:\\x\\b?.xml", "..", "", "ü.dmn"];
        let made: Vec<String> = names.iter().map(|name| entry(name, &mut taken)).collect();
        assert_eq!(made, ["a.dmn", "A-2.dmn", "b-.xml.dmn", "model.dmn", "model-2.dmn", "ü.dmn"]);
    }
}
