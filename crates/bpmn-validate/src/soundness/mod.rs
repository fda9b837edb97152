//! Soundness: whether a definition's flow can get stuck, run twice where it should run once, miss elements, or
//! livelock: a cycle without a wait state.
//!
//! Each scope (process, sub-process, event sub-process, the top-level graph) is judged by itself, with a
//! sub-process as one activity. Its elements become a net of joins and splits ([`build`]); parts in which
//! nothing can go wrong become single edges ([`reduce`]); the markings that the tokens of what is left can reach
//! are visited, nearest first, within a budget ([`explore`]). So every finding has a witness: a sequence of
//! elements that leads to it.
//!
//! What is judged:
//! * exclusive, parallel and inclusive gateways with the joins of clauses 13.4.1 to 13.4.3, event-based
//!   gateways, forks and merges without a gateway, conditional and default flows out of activities, boundary
//!   events of both kinds, links, end events that terminate, error and cancel end events, start and completion
//!   quantities, several start events (each starts a run of its own), starts without a start event, and
//!   bounded loops along edges.
//!
//! What is not:
//! * Data. Any flow of a choice may be taken, but for the literal conditions `true` and `false`. A choice of
//!   which no condition holds is a matter of data too, so that a missing default flow is no finding here.
//! * Whether a trigger ever comes: messages, signals, timers, errors and boundary events may occur. A
//!   non-interrupting boundary event occurs at most once while its activity runs.
//! * A complex gateway's activation condition: it joins and splits like an inclusive gateway.
//! * The order of an ad-hoc sub-process's activities, and the instances of a multi-instance activity.
//! * What lies behind a lack of synchronization: markings with two tokens on one flow are not followed.
//!
//! The findings are warnings. The field's engines run models that are not sound, some on purpose, and so does
//! this one: a run that gets stuck says so itself.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

mod build;
mod cycles;
mod explore;
mod flow;
mod judge;
mod net;
mod reduce;
#[cfg(test)]
mod tests;

use explore::Budget;
use flow::FlowGraph;
use heddle_bpmn::diagnostic::{self, Diagnostic, Severity};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{GraphRef, Node, WorkflowDefinition, graphs};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Most findings of a kind that are told.
const MAX_FINDINGS: usize = 1_000;

/// Soundness of the flow of a definition: findings by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Soundness {
    /// Deadlocks: a token waits for others that can no longer come, or can reach no end.
    pub deadlocks: Vec<Finding>,
    /// Lack of synchronisation: tokens meet on one flow because nothing joined them.
    pub lack_of_synchronization: Vec<Finding>,
    /// Elements that no run reaches.
    pub unreachable: Vec<Finding>,
    /// Livelocks: cycles without a wait state and without a bound.
    pub unbounded_cycles: Vec<Finding>,
    /// Whether every scope was judged to its end.
    pub complete: bool,
    /// The scopes that were too large to judge to their end.
    pub unjudged: Vec<Unjudged>,
    /// Number of findings beyond those listed.
    pub more: usize,
}

/// One place where the flow goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SoundnessFinding))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The ids of the elements that it is about, the foremost first.
    pub element_ids: Vec<String>,
    /// Id of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// JSON path of the first element.
    pub path: String,
    /// One sentence for people.
    pub message: String,
    /// Remedy, as one sentence for people.
    pub remedy: String,
    /// The elements that fire, in order from a start, until it happens; empty for what is never reached.
    pub witness: Vec<String>,
}

/// A scope that was too large to judge to its end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = UnjudgedScope))]
#[serde(rename_all = "camelCase")]
pub struct Unjudged {
    /// Id of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// Id of the process or of the sub-process that is the scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element_id: Option<String>,
    /// JSON path of the scope; empty for the top-level graph.
    pub path: String,
}

impl Soundness {
    /// The findings as diagnostics, all of them warnings; what could not be judged is an information.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let kinds = [
            ("deadlock", &self.deadlocks),
            ("lackOfSynchronization", &self.lack_of_synchronization),
            ("unreachable", &self.unreachable),
            ("unboundedCycle", &self.unbounded_cycles),
        ];
        let mut found = Vec::new();
        for (code, list) in kinds {
            found.extend(list.iter().map(|finding| finding.diagnostic(code)));
        }
        for scope in &self.unjudged {
            let message = "The flow has too many states to judge all of them.";
            let mut diagnostic =
                diagnostic::info("soundnessUnknown", message).with_path(&scope.path).with_clause("13.4");
            diagnostic.element_id.clone_from(&scope.element_id);
            found.push(
                diagnostic
                    .with_remedy("Move parts of the flow into sub-processes, which are judged one by one."),
            );
        }
        if self.more > 0 {
            let message = format!("{} more findings about the flow are left out.", self.more);
            found.push(diagnostic::info("moreFindings", message));
        }
        found
    }

    fn add(list: &mut Vec<Finding>, more: &mut usize, finding: impl FnOnce() -> Finding) {
        if list.len() < MAX_FINDINGS {
            list.push(finding());
        } else {
            *more += 1;
        }
    }
}

impl Finding {
    fn diagnostic(&self, code: &str) -> Diagnostic {
        // What is never reached is a matter of how a process is begun, the rest of how its gateways join.
        let clause = if code == "unreachable" { "13.2" } else { "13.4" };
        let mut diagnostic = diagnostic::new(Severity::Warning, code, &self.message).with_clause(clause);
        diagnostic.element_id = self.element_ids.first().cloned();
        diagnostic.with_path(&self.path).with_remedy(&self.remedy)
    }
}

/// Judges the flow of every scope of a definition. The work is bounded: what is too large stands in
/// [`Soundness::unjudged`].
pub fn soundness(definition: &WorkflowDefinition) -> Soundness {
    judge_all(definition, &mut Budget { states: 50_000, work: 10_000_000 }, true)
}

fn judge_all(definition: &WorkflowDefinition, budget: &mut Budget, reduced: bool) -> Soundness {
    let graphs = graphs(definition);
    let resting = resting(&graphs);
    let interrupted = interrupted(&graphs);
    let mut found = Soundness { complete: true, ..Soundness::default() };
    let mut escapes = vec![false; graphs.len()];
    for (at, graph) in graphs.iter().enumerate() {
        escapes[at] = graph.parent.is_some_and(|parent| escapes[parent]) || escape(graph, &interrupted);
        let flow = FlowGraph::new(graph, &resting);
        let scope =
            judge::Scope { graph, flow: &flow, process: process_of(&graphs, at), escapes: escapes[at] };
        judge::judge(&scope, budget, reduced, &mut found);
    }
    found
}

/// Id of the outermost graph around a graph.
fn process_of<'a>(graphs: &[GraphRef<'a>], mut at: usize) -> Option<&'a str> {
    while let Some(parent) = graphs[at].parent {
        at = parent;
    }
    graphs[at].id
}

/// The sub-processes in which a run can rest.
fn resting(graphs: &[GraphRef<'_>]) -> HashSet<*const Node> {
    let mut found = HashSet::new();
    for graph in graphs.iter().rev() {
        let Some(owner) = graph.owner else { continue };
        let waits = |node: &Node| flow::waits(node) || found.contains(&std::ptr::from_ref(node));
        if graph.nodes.iter().any(waits) {
            found.insert(std::ptr::from_ref(owner));
        }
    }
    found
}

/// The activities with an interrupting boundary event: graph and id.
fn interrupted<'a>(graphs: &[GraphRef<'a>]) -> HashSet<(usize, &'a str)> {
    let mut found = HashSet::new();
    for (at, graph) in graphs.iter().enumerate() {
        let bpmn = graph.nodes.iter().filter_map(|node| node.bpmn.as_deref());
        let interrupting = bpmn.filter(|own| own.cancel_activity != Some(false));
        found.extend(interrupting.filter_map(|own| Some((at, own.attached_to_ref.as_deref()?))));
    }
    found
}

/// Whether something outside the flow can end the scope: an interrupting event sub-process in it, or an
/// interrupting boundary event on the sub-process that it is.
fn escape(graph: &GraphRef<'_>, interrupted: &HashSet<(usize, &str)>) -> bool {
    let interrupts = |node: &Node| {
        let bpmn = node.bpmn.as_deref();
        let content = bpmn.filter(|own| own.triggered_by_event == Some(true));
        let content = content.and_then(|own| own.sub_process.as_deref());
        content.is_some_and(|content| {
            let nodes = content.nodes.iter().flatten();
            let mut starts = nodes.filter(|node| node.is(ElementKind::StartEvent));
            starts.any(|start| start.bpmn.as_deref().is_none_or(|own| own.is_interrupting != Some(false)))
        })
    };
    let owner = graph.owner.and_then(Node::element_id);
    let on_owner = graph.parent.zip(owner).is_some_and(|owner| interrupted.contains(&owner));
    on_owner || graph.nodes.iter().any(interrupts)
}
