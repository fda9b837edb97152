//! Exports to WS-BPEL 2.0.

use heddle_bpel::{self as bpel, ProcessFile, Region};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::{Diagnostic, Severity};
use heddle_definitions::DefinitionKey;
use heddle_policy::capability::WorkflowExport;
use heddle_policy::{Authorized, RequestContext};
use std::io::Write as _;
use zip::write::SimpleFileOptions;

use super::{Definitions, VersionChoice};
use crate::models::typed;
use crate::records::Workflow;
use crate::{Problem, UseCaseError};
use heddle_usecase::sha256_hex;

/// Request for an export to BPEL: the process and its form.
#[derive(Debug, Clone, Default)]
pub struct BpelRequest {
    /// Definition to export.
    pub version: VersionChoice,
    /// Id of the process; absent is every process.
    pub process: Option<String>,
    /// Whether the files come in an archive, with WSDL and schema; else the process alone.
    pub archive: bool,
}

/// A process of WS-BPEL, or an archive of all files.
#[derive(Debug, Clone)]
pub struct BpelExport {
    /// The workflow, for the file's name.
    pub workflow: Workflow,
    /// The bytes; text unless it is an archive.
    pub bytes: Vec<u8>,
    /// Whether they are an archive.
    pub archive: bool,
    /// SHA-256 (hex) of them.
    pub sha256: String,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
}

impl Definitions {
    /// The chosen definition as executable WS-BPEL 2.0.
    ///
    /// # Errors
    /// `NotFound` also when there is no definition; `Invalid` when the process is missing, or must be named because
    /// there are several; `Conflict` with every region that has no mapping.
    pub async fn export_bpel(
        &self,
        authorized: &Authorized<WorkflowExport>,
        context: &RequestContext,
        request: BpelRequest,
    ) -> Result<BpelExport, UseCaseError> {
        let view = self.store.get(DefinitionKey::of(authorized.key()), context.user_id()).await?;
        let draft = self.shared.chosen(&view, request.version).await?;
        let definition = typed(draft.value().ok_or(UseCaseError::NotFound)?)?;
        check_process(&definition, &request)?;
        let (files, diagnostics) = export_bpel(&definition, request.process.as_deref())?;
        let bytes = match files.as_slice() {
            [only] if !request.archive => only.bpel.clone().into_bytes(),
            files => archived(files).map_err(|error| UseCaseError::Internal(error.to_string()))?,
        };
        let sha256 = sha256_hex(&bytes);
        Ok(BpelExport { workflow: view.definition, bytes, archive: request.archive, sha256, diagnostics })
    }
}

fn check_process(definition: &WorkflowDefinition, request: &BpelRequest) -> Result<(), UseCaseError> {
    let known = bpel::process_ids(definition);
    match request.process.as_deref() {
        Some(wanted) if !known.contains(&wanted) => {
            let message = format!("There is no process `{wanted}`.");
            Err(UseCaseError::Invalid(vec![Problem::at("process", "unknown", message).with("known", known)]))
        }
        None if known.is_empty() => Err(UseCaseError::NotFound),
        None if known.len() > 1 && !request.archive => {
            let message = "There are several processes: name one, or ask for `format=zip`.";
            Err(UseCaseError::Invalid(vec![Problem::at("process", "required", message).with("known", known)]))
        }
        _ => Ok(()),
    }
}

/// Maps a definition.
pub(super) fn export_bpel(
    definition: &WorkflowDefinition,
    process: Option<&str>,
) -> Result<(Vec<ProcessFile>, Vec<Diagnostic>), UseCaseError> {
    match bpel::export(definition, process) {
        Ok(exported) => Ok((exported.processes, exported.diagnostics)),
        Err(unmappable) => Err(UseCaseError::Conflict(unmappable.regions.into_iter().map(problem).collect())),
    }
}

fn problem(region: Region) -> Problem {
    let problem = Problem::new(region.code, region.message).with("elementIds", region.element_ids);
    let problem = match region.path {
        Some(path) => problem.with("path", path),
        None => problem,
    };
    problem.with("clause", region.clause)
}

fn archived(files: &[ProcessFile]) -> zip::result::ZipResult<Vec<u8>> {
    // The archive of one definition is the same every time, so that its hash can be compared.
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for file in files {
        let parts = [("bpel", Some(&file.bpel)), ("wsdl", Some(&file.wsdl)), ("xsd", file.xsd.as_ref())];
        for (extension, content) in parts {
            if let Some(content) = content {
                archive.start_file(format!("{}.{extension}", file.name), options)?;
                archive.write_all(content.as_bytes())?;
            }
        }
    }
    Ok(archive.finish()?.into_inner())
}

/// Diagnostics of the mapping on a definition that no rule of BPMN speaks against.
pub(super) fn findings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let mut found = heddle_bpmn_validate::structure(definition);
    if !found.iter().any(|one| one.severity == Severity::Error) {
        found.extend(bpel::check(definition));
    }
    found
}

/// The process that a preview shows, the primary one or the first; what has no mapping becomes a finding.
pub(super) fn preview(definition: &WorkflowDefinition, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    let known = bpel::process_ids(definition);
    let primary = definition.bpmn.as_ref().and_then(|bpmn| bpmn.primary_process_id.as_deref());
    let chosen = known.iter().copied().find(|id| Some(*id) == primary).or(known.first().copied());
    let made = chosen.and_then(|id| bpel::export(definition, Some(id)).ok());
    match made {
        None => {
            diagnostics.extend(bpel::check(definition));
            None
        }
        Some(mut made) => {
            diagnostics.append(&mut made.diagnostics);
            made.processes.pop().map(|file| file.bpel)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Read as _;

    fn definition(value: serde_json::Value) -> WorkflowDefinition {
        serde_json::from_value(value).unwrap()
    }

    fn two_processes() -> WorkflowDefinition {
        let process = |id: &str| {
            json!({"id": id, "nodes": [{"id": format!("{id}-start"), "type": "startEvent"},
                {"id": format!("{id}-end"), "type": "endEvent"}],
                "edges": [{"id": format!("{id}-flow"), "source": format!("{id}-start"), "target": format!("{id}-end")}]})
        };
        definition(json!({"bpmn": {"processes": [process("a"), process("b")]}}))
    }

    #[test]
    fn an_archive_holds_every_file_and_is_the_same_every_time() {
        let (files, _) = export_bpel(&two_processes(), None).unwrap();
        let bytes = archived(&files).unwrap();
        assert_eq!(bytes, archived(&files).unwrap());
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
        assert_eq!(names, ["a.bpel", "a.wsdl", "a.xsd", "b.bpel", "b.wsdl", "b.xsd"]);
        let mut text = String::new();
        archive.by_name("b.bpel").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, files[1].bpel);
    }

    #[test]
    fn of_several_processes_one_must_be_named() {
        let asked = |process: Option<&str>, archive| {
            let request =
                BpelRequest { process: process.map(str::to_owned), archive, ..BpelRequest::default() };
            check_process(&two_processes(), &request)
        };
        assert!(asked(Some("a"), false).is_ok() && asked(None, true).is_ok());
        for wrong in [asked(None, false), asked(Some("c"), true)] {
            let Err(UseCaseError::Invalid(problems)) = wrong else { panic!("{wrong:?}") };
            assert_eq!(problems[0].field.as_deref(), Some("process"));
            assert_eq!(problems[0].extra["known"], json!(["a", "b"]));
        }
        let nothing = check_process(&WorkflowDefinition::default(), &BpelRequest::default());
        assert!(matches!(nothing, Err(UseCaseError::NotFound)));
    }

    #[test]
    fn a_conflict_names_every_region() {
        let wrong = definition(json!({"nodes": [
            {"id": "start", "type": "startEvent"}, {"id": "free", "type": "adHocSubProcess"},
            {"id": "gate", "type": "complexGateway"}, {"id": "end", "type": "endEvent"}],
            "edges": [{"id": "1", "source": "start", "target": "free"}, {"id": "2", "source": "free", "target": "gate"},
            {"id": "3", "source": "gate", "target": "end"}]}));
        let Err(UseCaseError::Conflict(problems)) = export_bpel(&wrong, None) else {
            panic!("it was exported")
        };
        let told: Vec<_> = problems.iter().map(|one| (one.reason, &one.extra["elementIds"])).collect();
        assert_eq!(told, [("adHocSubProcess", &json!(["free"])), ("complexGateway", &json!(["gate"]))]);
        assert_eq!(problems[0].extra["path"], "nodes[1]");
        assert_eq!(findings(&wrong).iter().filter(|one| one.is_error()).count(), 2);
    }
}
