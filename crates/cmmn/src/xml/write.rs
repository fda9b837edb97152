//! A definition as a CMMN document: what the writer of the mapping engine leaves to the format.

use super::names::Cmmn;
use super::read::DefinitionData;
use super::vocabulary::Writer;
use super::{MODEL_10_NS, MODEL_NS, VERSION_10, WriteError, Written, rows};
use crate::diagnostic::{self, Diagnostic};
use crate::model::CaseDefinition;
use heddle_xml::mapping::{Origin, collect, surroundings};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// State of the writing of one definition.
pub(crate) struct Writing<'d> {
    /// Whether the document is one of CMMN 1.0.
    pub(super) is_10: bool,
    /// Whether expressions of CMMN 1.0 stand without an element `body`.
    pub(super) plain_expressions: bool,
    waypoint_type: Option<String>,
    pub(super) diagnostics: Vec<Diagnostic>,
    definition: PhantomData<&'d ()>,
}

/// Writes the type of a way point.
pub(super) fn waypoint_type(writer: &mut Writer<'_>) {
    if let Some(value) = writer.state.waypoint_type.clone()
        && !writer.marked("plain")
    {
        writer.instance_type(&value);
    }
}

/// Tells what CMMN 1.0 has no word for.
pub(super) fn lost(writer: &mut Writer<'_>, what: &str, id: Option<&str>) {
    let message = format!("CMMN 1.0 has no {what}; it is not exported.");
    let mut diagnostic = diagnostic::warning("lostInVersion", message);
    diagnostic.element_id = id.map(str::to_owned);
    writer.state.diagnostics.push(diagnostic);
}

/// Writes a definition as a document.
pub(super) fn definition(definition: &CaseDefinition) -> Result<Written, WriteError> {
    let is_10 = definition.cmmn_version.as_deref() == Some(VERSION_10);
    let namespaces = namespaces(definition, is_10);
    let around = surroundings::<Cmmn>(&namespaces);
    let fragments = definition.fragments.as_deref().unwrap_or_default();
    let (preserved, _) = collect::<Cmmn>(fragments, &around)
        .map_err(|source| WriteError::Fragment { path: "fragments".to_owned(), source })?;
    let target_namespace = definition.target_namespace.as_deref().unwrap_or_default();
    let id = definition.id.as_deref();
    let origin = Origin { namespaces: &namespaces, around, preserved, target_namespace, id };
    let writing = Writing {
        is_10,
        plain_expressions: origin.marker::<Cmmn>("plainExpressions").is_some(),
        waypoint_type: origin.marker::<Cmmn>("waypointType").map(str::to_owned),
        diagnostics: Vec::new(),
        definition: PhantomData,
    };
    let data = definition_data(definition);
    let written = Writer::document(origin, writing, &rows::DEFINITIONS, definition, |writer| {
        if let Some(data) = data {
            writer.own_attribute("data", &data);
        }
    })?;
    let mut diagnostics = written.state.diagnostics;
    for address in written.orphaned {
        let message = format!("Nothing is left of {address}, so that what was kept for it is not exported.");
        diagnostics.push(diagnostic::info("residueWithoutElement", message).with_element(address));
    }
    Ok(Written { xml: written.xml, diagnostics })
}

/// The prefixes of the document: those of the definition, the other version's namespace replaced by its own.
fn namespaces(definition: &CaseDefinition, is_10: bool) -> BTreeMap<String, String> {
    let (own, other) = if is_10 { (MODEL_10_NS, MODEL_NS) } else { (MODEL_NS, MODEL_10_NS) };
    let mut namespaces = definition.namespaces.clone().unwrap_or_default();
    if !namespaces.values().any(|uri| uri == own) {
        for uri in namespaces.values_mut().filter(|uri| *uri == other) {
            own.clone_into(uri);
        }
    }
    namespaces
}

/// The definition's own data that CMMN has no place for; the root may have no extension elements.
fn definition_data(definition: &CaseDefinition) -> Option<String> {
    let data = DefinitionData {
        kind: definition.kind.clone(),
        layout: definition.layout.clone(),
        primary_case_id: definition.primary_case_id.clone(),
        schema_version: definition.schema_version,
    };
    if data == DefinitionData::default() { None } else { serde_json::to_string(&data).ok() }
}
