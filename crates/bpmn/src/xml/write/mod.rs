//! A definition as a BPMN document: what the writer of the mapping engine leaves to the format.

use super::definition_data::DefinitionData;
use super::names::Bpmn as Vocabulary;
use super::vocabulary::{Writer, group};
use super::{Group, WriteError, Written, extensions, rows};
use crate::diagnostic::{self, Diagnostic};
use crate::model::{Bpmn, MAIN_PROCESS_ID, Process, WorkflowDefinition};
use heddle_xml::hash::HashSet;
use heddle_xml::mapping::{Origin, collect, surroundings};
use std::collections::BTreeMap;

pub(super) mod flows;

use flows::Flows;

/// State of the writing of one definition.
pub(crate) struct Writing<'d> {
    /// The event definitions of the root that are put back.
    root_events: HashSet<String>,
    /// The flows of the graphs that are being written.
    flows: Vec<Flows>,
    omit_flow_refs: bool,
    waypoint_type: Option<String>,
    /// Whether the diagrams are left out.
    pub(super) undrawn: bool,
    /// Fragments of the root's extension elements.
    pub(super) plain: Vec<&'d str>,
    /// The top-level graph as a process.
    pub(super) main: Option<Process>,
    /// Whether the process that is being written is the top-level graph.
    pub(super) writes_main: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Content that extensions keep beside the nodes.
    pub(super) extensions: extensions::Context,
    /// Whether the nodes that are being written stand in an event sub-process.
    pub(super) inner_event: bool,
}

/// Writes a definition as a document, with its diagrams or without them.
pub(super) fn definition(definition: &WorkflowDefinition, undrawn: bool) -> Result<Written, WriteError> {
    let empty = Bpmn::default();
    let bpmn = definition.bpmn.as_deref().unwrap_or(&empty);
    let no_namespaces = BTreeMap::new();
    let namespaces = bpmn.namespaces.as_ref().unwrap_or(&no_namespaces);
    let around = surroundings::<Vocabulary>(namespaces);
    let fragments = bpmn.extension_elements_xml.as_deref().unwrap_or_default();
    let (preserved, plain) = collect::<Vocabulary>(fragments, &around)
        .map_err(|source| WriteError::Fragment { path: "bpmn.extensionElementsXml".to_owned(), source })?;
    let target_namespace = bpmn.target_namespace.as_deref().unwrap_or_default();
    let origin = Origin { namespaces, around, preserved, target_namespace, id: bpmn.id.as_deref() };
    let root_children = origin.root::<Vocabulary>().map(|root| root.children.as_slice()).unwrap_or_default();
    let root_events = root_children.iter().filter(|child| group(child.kind) == Group::EventDefinition);
    let writing = Writing {
        root_events: root_events.filter_map(|child| child.id.clone()).collect(),
        flows: Vec::new(),
        omit_flow_refs: origin.marker::<Vocabulary>("flowRefs") == Some("omit"),
        waypoint_type: origin.marker::<Vocabulary>("waypointType").map(str::to_owned),
        undrawn,
        plain,
        main: main_process(definition, bpmn),
        writes_main: false,
        diagnostics: Vec::new(),
        extensions: extensions::Context::of(bpmn, &origin.preserved, &origin.around),
        inner_event: false,
    };
    let data = definition_data(definition, bpmn);
    let written = Writer::document(origin, writing, &rows::DEFINITIONS, bpmn, |writer| {
        if let Some(data) = data {
            writer.own_attribute("data", &data);
        }
    })?;
    let mut diagnostics = written.state.diagnostics;
    // What is kept for diagrams is not lost when they are left out.
    for address in written.orphaned.into_iter().filter(|_| !undrawn) {
        let message = format!("Nothing is left of {address}, so that what was kept for it is not exported.");
        diagnostics.push(diagnostic::info("residueWithoutElement", message).with_element(address));
    }
    Ok(Written { xml: written.xml, diagnostics })
}

/// The definition's own data that BPMN has no place for; the root may have no extension elements.
fn definition_data(definition: &WorkflowDefinition, bpmn: &Bpmn) -> Option<String> {
    let data = DefinitionData {
        conformance_profile: bpmn.conformance_profile.clone(),
        conversations: bpmn.conversations.clone(),
        layout: definition.layout.clone(),
        primary_process_id: bpmn.primary_process_id.clone(),
        protection: definition.protection.clone(),
        schema_version: definition.schema_version,
    };
    if data == DefinitionData::default() { None } else { serde_json::to_string(&data).ok() }
}

/// The top-level graph as a process.
fn main_process(definition: &WorkflowDefinition, bpmn: &Bpmn) -> Option<Process> {
    if definition.nodes.is_none() && definition.edges.is_none() {
        return None;
    }
    Some(Process {
        id: Some(MAIN_PROCESS_ID.to_owned()),
        name: bpmn.name.clone(),
        executable: Some(true),
        nodes: definition.nodes.clone(),
        edges: definition.edges.clone(),
        ..Process::default()
    })
}
