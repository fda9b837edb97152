//! A BPMN document as a definition: what the reader of the mapping engine leaves to the format.

use super::definition_data::DefinitionData;
use super::names::{Kind, kind, ns};
use super::tree::{El, Tree};
use super::vocabulary::{Reader, group};
use super::{Group, Imported, MODEL_NS, XmlError, extensions, rows};
use crate::diagnostic::{self, Diagnostic};
use crate::model::{Bpmn, ImportItem, Process, WorkflowDefinition};
use heddle_xml::hash::HashMap;
use heddle_xml::mapping::Bindings;
use std::borrow::Cow;

pub(super) mod flows;

use flows::Flows;

/// Most import items and findings of one document.
const MAX_ITEMS: usize = 10_000;
const MAX_DIAGNOSTICS: usize = 1_000;

/// State of the reading of one document.
pub(crate) struct Reading<'s> {
    /// The flows of the graphs that are being read.
    flows: Vec<Flows<'s>>,
    /// Flow references of the nodes that are being read: the node, the reference.
    flow_refs: Vec<(El, El)>,
    omit_flow_refs: bool,
    waypoint_type: Option<Option<&'s str>>,
    /// Whether the way point that is being read has the type that all share.
    pub(super) same_waypoint_type: bool,
    /// The event definitions of the root by id.
    pub(super) root_events: HashMap<Cow<'s, str>, El>,
    items: Vec<ImportItem>,
    diagnostics: Vec<Diagnostic>,
    /// Items and findings beyond the most.
    more: usize,
    pub(super) data: DefinitionData,
    pub(super) top_level: Option<Process>,
    /// Whether the process that is being read is the top-level graph.
    pub(super) top_level_next: bool,
    /// Content that extensions keep beside the nodes.
    pub(super) extensions: extensions::Context,
}

impl<'s> Reading<'s> {
    fn of(tree: &'s Tree<'s>) -> Self {
        let root_events = tree.parts_of(0).filter(|&el| group(tree.part(el).kind) == Group::EventDefinition);
        let root_events = root_events.filter_map(|el| Some((tree.attribute(el, "id")?, el)));
        Self {
            flows: Vec::new(),
            flow_refs: Vec::new(),
            omit_flow_refs: has(tree, kind("sequenceFlow"))
                && !has(tree, kind("incoming"))
                && !has(tree, kind("outgoing")),
            waypoint_type: None,
            same_waypoint_type: false,
            root_events: root_events.collect(),
            items: Vec::new(),
            diagnostics: Vec::new(),
            more: 0,
            data: DefinitionData::default(),
            top_level: None,
            top_level_next: false,
            extensions: extensions::Context::read(tree),
        }
    }

    /// Records what became of an element.
    pub(super) fn push_item(&mut self, item: ImportItem) {
        if self.items.len() < MAX_ITEMS {
            self.items.push(item);
        } else {
            self.more += 1;
        }
    }
}

/// Whether the document holds an element of the kind.
fn has(tree: &Tree<'_>, kind: Kind) -> bool {
    tree.all().any(|el| tree.part(el).kind == kind)
}

/// Notes a finding, unless what is read now was read before.
pub(super) fn note(reader: &mut Reader<'_>, diagnostic: Diagnostic) {
    if reader.is_muted() {
        return;
    }
    if reader.state.diagnostics.len() < MAX_DIAGNOSTICS {
        reader.state.diagnostics.push(diagnostic);
    } else {
        reader.state.more += 1;
    }
}

/// Reads a tree as a definition.
pub(super) fn definition(tree: &Tree<'_>) -> Result<Imported, XmlError> {
    let root = tree.part(0);
    if root.ns != ns::MODEL || root.local() != "definitions" {
        let message = format!(
            "The root element is {{{}}}{}; a BPMN 2.0 document starts with {{{MODEL_NS}}}definitions.",
            tree.uri(root.ns),
            root.local()
        );
        return Err(tree.error_at(0, "notBpmn", message));
    }
    let bindings = Bindings::of(tree);
    let mut reader = Reader::new(tree, &bindings, Reading::of(tree));
    let mut bpmn = Box::<Bpmn>::default();
    reader.root(&rows::DEFINITIONS, &mut *bpmn, |reader| {
        if reader.state.omit_flow_refs {
            reader.mark("flowRefs", "omit".to_owned());
        }
        if let Some(Some(kind)) = reader.state.waypoint_type {
            reader.mark("waypointType", kind.to_owned());
        }
    })?;
    let (preserved, mut reading) = reader.finish();
    if !preserved.is_empty() {
        bpmn.extension_elements_xml.get_or_insert_default().extend(preserved);
    }
    if reading.more > 0 {
        let message = format!("{} more items and findings are left out.", reading.more);
        reading.diagnostics.push(diagnostic::info("moreFindings", message));
    }
    let Reading { items, diagnostics, data, top_level, .. } = reading;
    bpmn.conformance_profile = data.conformance_profile;
    bpmn.conversations = data.conversations;
    bpmn.primary_process_id = data.primary_process_id;
    bpmn.namespaces = Some(bindings.namespaces);
    let top = top_level.unwrap_or_default();
    let definition = WorkflowDefinition {
        bpmn: Some(bpmn),
        nodes: top.nodes,
        edges: top.edges,
        layout: data.layout,
        protection: data.protection,
        schema_version: data.schema_version,
        ..WorkflowDefinition::default()
    };
    Ok(Imported { definition, items, diagnostics })
}
