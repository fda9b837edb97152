//! Processes as executable WS-BPEL 2.0, by the mapping of clause 14 of BPMN 2.0.2.
//!
//! Block-structured parts become structured activities, acyclic parts without blocks become flows with links,
//! and what says the same in neither way is refused with the ids of its elements. [`export`] gives for each
//! process its `.bpel`, the WSDL 1.1 file with port types, messages, partner link types and properties, and,
//! where a payload has no type, the schema of an untyped one.

mod body;
mod context;
mod contract;
mod correlation;
mod data;
mod events;
mod expression;
mod graph;
mod handlers;
mod links;
mod names;
mod region;
mod steps;
mod structure;
mod tree;
mod write;
mod wsdl;

use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::{MAIN_PROCESS_ID, Process, WorkflowDefinition};
use std::borrow::Cow;

/// Namespace of what WS-BPEL has no activity for.
pub const EXTENSION_NS: &str = "urn:heddle:bpel:1";

/// The processes of a definition in WS-BPEL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// Each process's files.
    pub processes: Vec<ProcessFile>,
    /// Changes and additions of the mapping, such as extension activities and generated operations.
    pub diagnostics: Vec<Diagnostic>,
}

/// The files of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessFile {
    /// The process's name as an NCName: the files are called `NAME.bpel`, `NAME.wsdl` and `NAME.xsd`.
    pub name: String,
    /// Id of the process in the model.
    pub process_id: String,
    /// The process.
    pub bpel: String,
    /// WSDL of the process: messages, port types, partner link types and properties.
    pub wsdl: String,
    /// The schema of payloads without a type, where there are any.
    pub xsd: Option<String>,
}

/// Something that has no mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Ids of the elements.
    pub element_ids: Vec<String>,
    /// Machine word of the reason, camelCase.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// JSON path of the first element.
    pub path: Option<String>,
    /// Clause of BPMN 2.0.2.
    pub clause: &'static str,
}

/// Error of an export: regions without a mapping, or no process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} regions have no mapping to WS-BPEL", regions.len())]
pub struct Unmappable {
    /// Every region that has no mapping.
    pub regions: Vec<Region>,
}

impl Unmappable {
    /// Whether there was no process to export at all.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.regions.is_empty()
    }
}

/// The processes that can be exported: the top-level graph as `main`, and each process with nodes, as id and name.
#[must_use]
pub fn process_ids(definition: &WorkflowDefinition) -> Vec<&str> {
    let top = definition.nodes.as_ref().is_some_and(|nodes| !nodes.is_empty()).then_some(MAIN_PROCESS_ID);
    let processes = definition.bpmn.as_ref().and_then(|bpmn| bpmn.processes.as_deref()).unwrap_or_default();
    let with_nodes = |process: &&Process| process.nodes.as_ref().is_some_and(|nodes| !nodes.is_empty());
    top.into_iter()
        .chain(processes.iter().filter(with_nodes).map(|process| process.id.as_deref().unwrap_or_default()))
        .collect()
}

/// Maps the process of this id, or all of them.
///
/// # Errors
/// All regions of the chosen processes that have no mapping; no region when there is no such process.
pub fn export(definition: &WorkflowDefinition, process_id: Option<&str>) -> Result<Exported, Unmappable> {
    let mut exported = Exported::default();
    let mut regions = Vec::new();
    let mut names = names::Names::default();
    for chosen in chosen(definition, process_id) {
        let name = chosen.process.name.as_deref().filter(|name| !name.trim().is_empty());
        let name = names.unique(name.unwrap_or(chosen.id));
        let contract = contract::Contract::new(definition, chosen.id, &name);
        let mut context = context::Context::new(definition, contract);
        let made = body::process(&mut context, &chosen, &name);
        regions.append(&mut context.regions);
        exported.diagnostics.append(&mut context.diagnostics);
        let file = ProcessFile {
            bpel: write::process(&context, &made, &name),
            wsdl: wsdl::definitions(&context.contract),
            xsd: wsdl::schema(&context.contract),
            process_id: chosen.id.to_owned(),
            name,
        };
        exported.processes.push(file);
    }
    if !regions.is_empty() || exported.processes.is_empty() {
        return Err(Unmappable { regions });
    }
    Ok(exported)
}

/// Obstacles to the export, as errors; without any, the diagnostics that the export would give.
#[must_use]
pub fn check(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    match export(definition, None) {
        Ok(exported) => exported.diagnostics,
        Err(unmappable) if unmappable.is_nothing() => {
            vec![
                diagnostic::error("noProcess", "the definition holds no process with nodes")
                    .with_clause("14"),
            ]
        }
        Err(unmappable) => unmappable.regions.into_iter().map(diagnostic).collect(),
    }
}

fn diagnostic(region: Region) -> Diagnostic {
    let mut message = region.message;
    if region.element_ids.len() > 1 {
        message.push_str(&format!(" ({})", region.element_ids.join(", ")));
    }
    let mut found = diagnostic::error(region.code, message).with_clause(region.clause);
    found.element_id = region.element_ids.into_iter().next();
    found.path = region.path;
    found
}

/// A process of the definition with its JSON path.
struct Chosen<'d> {
    id: &'d str,
    path: String,
    process: Cow<'d, Process>,
    nodes: &'d [heddle_bpmn::model::Node],
    edges: &'d [heddle_bpmn::model::Edge],
}

fn chosen<'d>(definition: &'d WorkflowDefinition, wanted: Option<&str>) -> Vec<Chosen<'d>> {
    let mut found = Vec::new();
    let nodes = definition.nodes.as_deref().unwrap_or_default();
    let edges = definition.edges.as_deref().unwrap_or_default();
    if !nodes.is_empty() {
        let name = definition.bpmn.as_ref().and_then(|bpmn| bpmn.name.clone());
        let process = Cow::Owned(Process { name, ..Process::default() });
        found.push(Chosen { id: MAIN_PROCESS_ID, path: String::new(), process, nodes, edges });
    }
    let processes = definition.bpmn.as_ref().and_then(|bpmn| bpmn.processes.as_deref()).unwrap_or_default();
    for (at, process) in processes.iter().enumerate() {
        let nodes = process.nodes.as_deref().unwrap_or_default();
        let edges = process.edges.as_deref().unwrap_or_default();
        if nodes.is_empty() {
            continue;
        }
        let id = process.id.as_deref().unwrap_or_default();
        let path = format!("bpmn.processes[{at}]");
        found.push(Chosen { id, path, process: Cow::Borrowed(process), nodes, edges });
    }
    found.retain(|one| wanted.is_none_or(|wanted| wanted == one.id));
    found
}
