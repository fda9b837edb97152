//! Findings about decision models, as preview and validation have them.

use heddle_bpmn::diagnostic::Diagnostic;
use heddle_bpmn::model::{Dmn, DmnImportedDocument, WorkflowDefinition};

/// Diagnostics on a DMN document and on those that it imports, which follow it: of reading, compiling, and of the
/// analysis of its tables. The path of each says which document it is about.
#[must_use]
pub fn decision_findings(documents: &[String]) -> Vec<Diagnostic> {
    let [first, imported @ ..] = documents else { return Vec::new() };
    let imported = imported
        .iter()
        .map(|text| DmnImportedDocument { source_xml: Some(text.clone()), ..DmnImportedDocument::default() });
    let dmn = Dmn {
        source_xml: Some(first.clone()),
        imported_documents: Some(imported.collect()),
        ..Dmn::default()
    };
    let definition = WorkflowDefinition { dmn: Some(Box::new(dmn)), ..WorkflowDefinition::default() };
    heddle_workflows::decisions::findings(&definition)
}
