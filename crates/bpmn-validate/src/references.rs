//! References from one element to another.

use super::index::{Index, Named};
use super::{Findings, below};
use heddle_bpmn::diagnostic;
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{EventDefinition, GraphRef, LaneSet, Node, WorkflowDefinition};

/// A name of another document's namespace says nothing about this one.
fn foreign(id: &str) -> bool {
    id.contains(':')
}

/// Kind of element that a reference must name.
#[derive(Clone, Copy)]
enum Want {
    Anything,
    Node,
    Message,
    Signal,
    Error,
    Escalation,
    Operation,
    Process,
}

impl Want {
    fn accepts(self, named: Named<'_>) -> bool {
        match self {
            Self::Anything => true,
            Self::Node => matches!(named, Named::Node(..)),
            Self::Message => matches!(named, Named::Message),
            Self::Signal => matches!(named, Named::Signal),
            Self::Error => matches!(named, Named::Error),
            Self::Escalation => matches!(named, Named::Escalation),
            Self::Operation => matches!(named, Named::Operation),
            Self::Process => matches!(named, Named::Process),
        }
    }

    /// The clause that describes what is wanted.
    fn clause(self) -> &'static str {
        match self {
            Self::Anything => "8.3.1",
            Self::Node => "8.4.7",
            Self::Message => "8.4.11",
            Self::Signal => "10.5.5",
            Self::Error => "8.4.3",
            Self::Escalation => "8.4.4",
            Self::Operation => "8.5.3",
            Self::Process => "10.2",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Anything => "element",
            Self::Node => "flow node",
            Self::Message => "message",
            Self::Signal => "signal",
            Self::Error => "error",
            Self::Escalation => "escalation",
            Self::Operation => "operation",
            Self::Process => "process",
        }
    }
}

/// The element that refers, and where findings go.
struct From<'f, 'i> {
    index: &'f Index<'i>,
    findings: &'f mut Findings,
    id: Option<&'f str>,
}

impl From<'_, '_> {
    fn check(&mut self, reference: Option<&str>, want: Want, path: impl FnOnce() -> String) {
        let Some(reference) = reference.filter(|reference| !foreign(reference)) else { return };
        let diagnostic = match self.index.get(reference) {
            Some(named) if want.accepts(named) => return,
            // What is kept as XML has no kind here.
            Some(Named::Other) => return,
            Some(_) => diagnostic::error("wrongReference", format!("{reference:?} is no {}.", want.name())),
            None => diagnostic::error(
                "danglingReference",
                format!("The {} {reference:?} does not exist.", want.name()),
            ),
        };
        self.findings.add(diagnostic.with_clause(want.clause()), self.id, path);
    }
}

/// Checks the references of a graph's nodes, lanes and artifacts.
pub(super) fn check_graph(graph: &GraphRef<'_>, index: &Index<'_>, findings: &mut Findings) {
    for (at, node) in graph.nodes.iter().enumerate() {
        check_node(graph, at, node, index, findings);
    }
    let Some(process) = graph.process else { return };
    for (at, lanes) in process.lane_sets.iter().flatten().enumerate() {
        check_lanes(lanes, index, findings, &|| below(&graph.path, "laneSets", at, ""));
    }
    for (at, artifact) in process.artifacts.iter().flatten().enumerate() {
        let mut from = From { index, findings, id: artifact.id.as_deref() };
        for (member, end) in [("sourceRef", &artifact.source_ref), ("targetRef", &artifact.target_ref)] {
            from.check(end.as_deref(), Want::Anything, || below(&graph.path, "artifacts", at, member));
        }
    }
}

fn check_node(graph: &GraphRef<'_>, at: usize, node: &Node, index: &Index<'_>, findings: &mut Findings) {
    let bpmn = node.bpmn.as_deref();
    let path = |member: &str| below(&graph.path, "nodes", at, member);
    if node.is(ElementKind::BoundaryEvent) {
        let host = bpmn.and_then(|bpmn| bpmn.attached_to_ref.as_deref());
        check_host(graph, node, host, index, findings, &path);
    }
    let Some(bpmn) = bpmn else { return };
    let mut from = From { index, findings, id: node.element_id() };
    from.check(bpmn.message_ref.as_deref(), Want::Message, || path("bpmn.messageRef"));
    from.check(bpmn.operation_ref.as_deref(), Want::Operation, || path("bpmn.operationRef"));
    for (number, definition) in bpmn.event_definitions.iter().flatten().enumerate() {
        check_event(definition, &mut from, &|member| {
            path(&format!("bpmn.eventDefinitions[{number}].{member}"))
        });
    }
    for (number, association) in bpmn.data_associations.iter().flatten().enumerate() {
        let path = |member: &str| path(&format!("bpmn.dataAssociations[{number}].{member}"));
        for source in association.sources.iter().flatten() {
            from.check(Some(source), Want::Anything, || path("sources"));
        }
        from.check(association.target.as_deref(), Want::Anything, || path("target"));
    }
}

fn check_host(
    graph: &GraphRef<'_>,
    node: &Node,
    host: Option<&str>,
    index: &Index<'_>,
    findings: &mut Findings,
    path: &dyn Fn(&str) -> String,
) {
    let Some(host) = host.filter(|host| !host.is_empty()) else {
        let diagnostic = diagnostic::error("required", "A boundary event must be attached to an activity.");
        findings.add(diagnostic.with_clause("10.5.4"), node.element_id(), || path("bpmn.attachedToRef"));
        return;
    };
    let diagnostic = match index.get(host) {
        Some(Named::Node(_, found)) => {
            let here = graph.nodes.as_ptr_range().contains(&std::ptr::from_ref(found));
            let activity = found.kind().is_none_or(ElementKind::is_activity);
            match (here, activity) {
                (true, true) => return,
                (false, _) => format!("The activity {host:?} lies in another process or sub-process."),
                (true, false) => format!("{host:?} is no activity."),
            }
        }
        Some(_) => format!("{host:?} is no activity."),
        None => {
            let diagnostic =
                diagnostic::error("danglingReference", format!("The activity {host:?} does not exist."));
            let diagnostic = diagnostic.with_clause("10.5.4");
            findings.add(diagnostic, node.element_id(), || path("bpmn.attachedToRef"));
            return;
        }
    };
    let diagnostic = diagnostic::error("wrongReference", diagnostic).with_clause("10.5.4");
    findings.add(diagnostic, node.element_id(), || path("bpmn.attachedToRef"));
}

fn check_event(definition: &EventDefinition, from: &mut From<'_, '_>, path: &dyn Fn(&str) -> String) {
    let want = match definition.kind() {
        Some("message") => Want::Message,
        Some("signal") => Want::Signal,
        Some("error") => Want::Error,
        Some("escalation") => Want::Escalation,
        Some("reference") => Want::Anything,
        Some("link" | "timer" | "terminate" | "cancel" | "conditional" | "compensate") => {
            from.check(definition.activity_ref.as_deref(), Want::Node, || path("activityRef"));
            return;
        }
        Some(other) => {
            let message = format!("There is no event definition of the type {other:?}.");
            let diagnostic = diagnostic::error("unknownEventDefinition", message).with_clause("10.5.5");
            from.findings.add(diagnostic, from.id, || path("type"));
            return;
        }
        None => {
            let diagnostic =
                diagnostic::error("required", "An event definition has no type.").with_clause("10.5.5");
            from.findings.add(diagnostic, from.id, || path("type"));
            return;
        }
    };
    from.check(definition.reference.as_deref(), want, || path("reference"));
    from.check(definition.operation_ref.as_deref(), Want::Operation, || path("operationRef"));
}

fn check_lanes(lanes: &LaneSet, index: &Index<'_>, findings: &mut Findings, path: &dyn Fn() -> String) {
    for (at, lane) in lanes.lanes.iter().flatten().enumerate() {
        let path = || format!("{}.lanes[{at}]", path());
        if lane.resources.as_ref().is_some_and(|roles| !roles.is_empty()) {
            let message = "Resource roles of a lane are neither evaluated nor exported.";
            let found = diagnostic::warning("resourceRolesUnused", message).with_clause("10.8");
            findings.add(found, lane.id.as_deref(), || format!("{}.resources", path()));
        }
        let mut from = From { index, findings, id: lane.id.as_deref() };
        for (number, reference) in lane.flow_node_refs.iter().flatten().enumerate() {
            from.check(Some(reference), Want::Anything, || format!("{}.flowNodeRefs[{number}]", path()));
        }
        if let Some(child) = lane.child_lane_set.as_deref() {
            check_lanes(child, index, findings, &|| format!("{}.childLaneSet", path()));
        }
    }
}

/// Checks the references of collaborations and of the model's root.
pub(super) fn check_model(definition: &WorkflowDefinition, index: &Index<'_>, findings: &mut Findings) {
    let Some(bpmn) = definition.bpmn.as_deref() else { return };
    for (at, collaboration) in bpmn.collaborations.iter().flatten().enumerate() {
        for (number, participant) in collaboration.participants.iter().flatten().enumerate() {
            let mut from = From { index, findings, id: participant.id.as_deref() };
            from.check(participant.process_ref.as_deref(), Want::Process, || {
                below("bpmn", "collaborations", at, &format!("participants[{number}].processRef"))
            });
        }
        for (number, flow) in collaboration.message_flows.iter().flatten().enumerate() {
            let mut from = From { index, findings, id: flow.id.as_deref() };
            let path = |member: &str| {
                below("bpmn", "collaborations", at, &format!("messageFlows[{number}].{member}"))
            };
            from.check(flow.source_ref.as_deref(), Want::Anything, || path("sourceRef"));
            from.check(flow.target_ref.as_deref(), Want::Anything, || path("targetRef"));
            from.check(flow.message_ref.as_deref(), Want::Message, || path("messageRef"));
        }
    }
    for (at, interface) in bpmn.interfaces.iter().flatten().enumerate() {
        for (number, operation) in interface.operations.iter().flatten().enumerate() {
            let mut from = From { index, findings, id: operation.id.as_deref() };
            let path =
                |member: &str| below("bpmn", "interfaces", at, &format!("operations[{number}].{member}"));
            from.check(operation.input_message_ref.as_deref(), Want::Message, || path("inputMessageRef"));
            from.check(operation.output_message_ref.as_deref(), Want::Message, || path("outputMessageRef"));
            for error in operation.error_refs.iter().flatten() {
                from.check(Some(error), Want::Error, || path("errorRefs"));
            }
        }
    }
    let primary = bpmn.primary_process_id.as_deref();
    let main = definition.nodes.is_some() && primary == Some(heddle_bpmn::model::MAIN_PROCESS_ID);
    if !main {
        let mut from = From { index, findings, id: primary };
        from.check(primary, Want::Process, || "bpmn.primaryProcessId".to_owned());
    }
}
