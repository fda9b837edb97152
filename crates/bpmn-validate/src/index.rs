//! All ids of a definition and what they name.

use super::{Findings, Map, below};
use heddle_bpmn::diagnostic;
use heddle_bpmn::model::{
    Bpmn, ChoreographyActivity, Conversation, DataItem, GraphRef, LaneSet, Node, NodeBpmn, WorkflowDefinition,
};
use std::collections::hash_map::Entry;

/// Element that an id names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Named<'a> {
    /// A node of the graph of this number.
    Node(usize, &'a Node),
    /// An edge of the graph of this number, from this source.
    Edge(usize, Option<&'a str>),
    Message,
    Signal,
    Error,
    Escalation,
    Operation,
    Process,
    Participant,
    /// Anything else that a reference may name.
    Other,
}

/// Ids and what they name.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    ids: Map<&'a str, Named<'a>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(
        definition: &'a WorkflowDefinition,
        graphs: &[GraphRef<'a>],
        findings: &mut Findings,
    ) -> Self {
        let mut index = Self::default();
        for (number, graph) in graphs.iter().enumerate() {
            index.add_graph(number, graph, findings);
        }
        if let Some(bpmn) = definition.bpmn.as_deref() {
            index.add_model(bpmn, findings);
            index.add_collaborations(bpmn, findings);
            for fragment in bpmn.extension_elements_xml.iter().flatten() {
                index.add_fragment(fragment);
            }
        }
        index
    }

    pub(super) fn get(&self, id: &str) -> Option<Named<'a>> {
        self.ids.get(id).copied()
    }

    fn add(
        &mut self,
        id: Option<&'a String>,
        named: Named<'a>,
        findings: &mut Findings,
        path: impl FnOnce() -> String,
    ) {
        let Some(id) = id.filter(|id| !id.is_empty()) else { return };
        match self.ids.entry(id) {
            Entry::Vacant(place) => {
                place.insert(named);
            }
            Entry::Occupied(_) => {
                let message = format!("The id {id:?} stands more than once.");
                let diagnostic = diagnostic::error("duplicateId", message).with_clause("8.3.1");
                findings.add(diagnostic, Some(id), path);
            }
        }
    }

    fn add_graph(&mut self, number: usize, graph: &GraphRef<'a>, findings: &mut Findings) {
        if let (Some(process), None) = (graph.process, graph.owner) {
            self.add(process.id.as_ref(), Named::Process, findings, || graph.path.clone());
        }
        for (at, node) in graph.nodes.iter().enumerate() {
            let path = || below(&graph.path, "nodes", at, "");
            let id = node.id.as_ref().or_else(|| node.bpmn.as_ref().and_then(|bpmn| bpmn.id.as_ref()));
            if id.is_none_or(String::is_empty) {
                let sentence = "A node has no id: it is named after its kind and its place.";
                let diagnostic = diagnostic::warning("missingId", sentence).with_clause("8.3.1");
                findings.add(diagnostic, None, path);
            }
            self.add(id, Named::Node(number, node), findings, path);
            if let Some(bpmn) = node.bpmn.as_deref() {
                self.add_parts(bpmn, findings, path);
            }
        }
        for (at, edge) in graph.edges.iter().enumerate() {
            let path = || below(&graph.path, "edges", at, "");
            if edge.id.as_ref().is_none_or(String::is_empty) {
                let diagnostic = diagnostic::warning("missingId", "An edge has no id.").with_clause("8.3.1");
                findings.add(diagnostic, None, path);
            }
            self.add(edge.id.as_ref(), Named::Edge(number, edge.source.as_deref()), findings, path);
        }
        let Some(process) = graph.process else { return };
        let lists = [
            ("dataObjects", &process.data_objects),
            ("dataStores", &process.data_stores),
            ("dataInputs", &process.data_inputs),
            ("dataOutputs", &process.data_outputs),
        ];
        for (name, list) in lists {
            self.add_items(list.as_deref(), findings, |at| below(&graph.path, name, at, ""));
        }
        for (at, property) in process.properties.iter().flatten().enumerate() {
            self.add(property.id.as_ref(), Named::Other, findings, || {
                below(&graph.path, "properties", at, "")
            });
        }
        for (at, artifact) in process.artifacts.iter().flatten().enumerate() {
            self.add(artifact.id.as_ref(), Named::Other, findings, || {
                below(&graph.path, "artifacts", at, "")
            });
        }
        for (at, lanes) in process.lane_sets.iter().flatten().enumerate() {
            self.add_lanes(lanes, findings, &|| below(&graph.path, "laneSets", at, ""));
        }
    }

    fn add_items(
        &mut self,
        items: Option<&'a [DataItem]>,
        findings: &mut Findings,
        path: impl Fn(usize) -> String,
    ) {
        for (at, item) in items.unwrap_or_default().iter().enumerate() {
            self.add(item.id.as_ref(), Named::Other, findings, || path(at));
        }
    }

    fn add_parts(&mut self, bpmn: &'a NodeBpmn, findings: &mut Findings, path: impl Fn() -> String) {
        for (name, list) in [("dataInputs", &bpmn.data_inputs), ("dataOutputs", &bpmn.data_outputs)] {
            self.add_items(list.as_deref(), findings, |at| format!("{}.bpmn.{name}[{at}]", path()));
        }
        for (at, property) in bpmn.properties.iter().flatten().enumerate() {
            let path = || format!("{}.bpmn.properties[{at}]", path());
            self.add(property.id.as_ref(), Named::Other, findings, path);
        }
        // An event definition of the model's root stands in every event that refers to it, under one id.
        for definition in bpmn.event_definitions.iter().flatten() {
            if let Some(id) = &definition.id {
                self.ids.entry(id).or_insert(Named::Other);
            }
        }
    }

    fn add_lanes(&mut self, lanes: &'a LaneSet, findings: &mut Findings, path: &dyn Fn() -> String) {
        self.add(lanes.id.as_ref(), Named::Other, findings, path);
        for (at, lane) in lanes.lanes.iter().flatten().enumerate() {
            let path = || format!("{}.lanes[{at}]", path());
            self.add(lane.id.as_ref(), Named::Other, findings, path);
            if let Some(child) = lane.child_lane_set.as_deref() {
                self.add_lanes(child, findings, &|| format!("{}.childLaneSet", path()));
            }
        }
    }

    fn add_model(&mut self, bpmn: &'a Bpmn, findings: &mut Findings) {
        let references = [
            ("messages", &bpmn.messages, Named::Message),
            ("signals", &bpmn.signals, Named::Signal),
            ("errors", &bpmn.errors, Named::Error),
            ("escalations", &bpmn.escalations, Named::Escalation),
        ];
        for (name, list, named) in references {
            for (at, item) in list.iter().flatten().enumerate() {
                self.add(item.id.as_ref(), named, findings, || below("bpmn", name, at, ""));
            }
        }
        for (at, interface) in bpmn.interfaces.iter().flatten().enumerate() {
            let path = || below("bpmn", "interfaces", at, "");
            self.add(interface.id.as_ref(), Named::Other, findings, path);
            for (inner, operation) in interface.operations.iter().flatten().enumerate() {
                let path = || format!("{}.operations[{inner}]", path());
                self.add(operation.id.as_ref(), Named::Operation, findings, path);
            }
        }
        self.add_items(bpmn.data_stores.as_deref(), findings, |at| below("bpmn", "dataStores", at, ""));
        for (at, item) in bpmn.item_definitions.iter().flatten().enumerate() {
            self.add(item.id.as_ref(), Named::Other, findings, || below("bpmn", "itemDefinitions", at, ""));
        }
        for (at, resource) in bpmn.resources.iter().flatten().enumerate() {
            self.add(resource.id.as_ref(), Named::Other, findings, || below("bpmn", "resources", at, ""));
        }
        for (at, category) in bpmn.categories.iter().flatten().enumerate() {
            let path = || below("bpmn", "categories", at, "");
            self.add(category.id.as_ref(), Named::Other, findings, path);
            for (inner, value) in category.values.iter().flatten().enumerate() {
                self.add(value.id.as_ref(), Named::Other, findings, || format!("{}.values[{inner}]", path()));
            }
        }
    }

    fn add_collaborations(&mut self, bpmn: &'a Bpmn, findings: &mut Findings) {
        for (at, collaboration) in bpmn.collaborations.iter().flatten().enumerate() {
            let path = || below("bpmn", "collaborations", at, "");
            self.add(collaboration.id.as_ref(), Named::Other, findings, path);
            for (inner, participant) in collaboration.participants.iter().flatten().enumerate() {
                let path = || format!("{}.participants[{inner}]", path());
                self.add(participant.id.as_ref(), Named::Participant, findings, path);
            }
            for (inner, flow) in collaboration.message_flows.iter().flatten().enumerate() {
                self.add(flow.id.as_ref(), Named::Other, findings, || {
                    format!("{}.messageFlows[{inner}]", path())
                });
            }
            for (inner, artifact) in collaboration.artifacts.iter().flatten().enumerate() {
                self.add(artifact.id.as_ref(), Named::Other, findings, || {
                    format!("{}.artifacts[{inner}]", path())
                });
            }
            for (inner, key) in collaboration.correlation_keys.iter().flatten().enumerate() {
                let path = || format!("{}.correlationKeys[{inner}]", path());
                self.add(key.id.as_ref(), Named::Other, findings, path);
            }
            for (inner, conversation) in collaboration.conversations.iter().flatten().enumerate() {
                self.add_conversation(conversation, findings, &|| {
                    format!("{}.conversations[{inner}]", path())
                });
            }
        }
        for (at, choreography) in bpmn.choreographies.iter().flatten().enumerate() {
            let path = || below("bpmn", "choreographies", at, "");
            self.add(choreography.id.as_ref(), Named::Other, findings, path);
            for (inner, participant) in choreography.participants.iter().flatten().enumerate() {
                let path = || format!("{}.participants[{inner}]", path());
                self.add(participant.id.as_ref(), Named::Participant, findings, path);
            }
            for (inner, activity) in choreography.activities.iter().flatten().enumerate() {
                self.add_activity(activity, findings, &|| format!("{}.activities[{inner}]", path()));
            }
        }
    }

    fn add_conversation(
        &mut self,
        parent: &'a Conversation,
        findings: &mut Findings,
        path: &dyn Fn() -> String,
    ) {
        self.add(parent.id.as_ref(), Named::Other, findings, path);
        for (at, child) in parent.conversations.iter().flatten().enumerate() {
            self.add_conversation(child, findings, &|| format!("{}.conversations[{at}]", path()));
        }
    }

    fn add_activity(
        &mut self,
        parent: &'a ChoreographyActivity,
        findings: &mut Findings,
        path: &dyn Fn() -> String,
    ) {
        self.add(parent.id.as_ref(), Named::Other, findings, path);
        for (at, child) in parent.activities.iter().flatten().enumerate() {
            self.add_activity(child, findings, &|| format!("{}.activities[{at}]", path()));
        }
    }

    /// Elements that are kept as XML may be referred to.
    fn add_fragment(&mut self, fragment: &'a str) {
        for part in fragment.split(" id=").skip(1) {
            let Some(quote) = part.chars().next().filter(|letter| matches!(letter, '"' | '\'')) else {
                continue;
            };
            if let Some(end) = part[1..].find(quote) {
                self.ids.entry(&part[1..=end]).or_insert(Named::Other);
            }
        }
    }
}
