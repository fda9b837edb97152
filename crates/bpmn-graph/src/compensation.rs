//! Compensation and transactions: handlers of activities, and what may throw compensation or cancel a transaction
//! (clauses 10.3.5, 10.5.3, 10.5.5.1 and 10.7).

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::compile::{Builder, Raw};
use super::{Compensate, Graph, NodeIx, ROOT, ScopeIx, Start, Throw, Trigger, Work};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{Artifact, Bpmn, Edge, NodeBpmn};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Refusal of what compensates: code, sentence, clause.
type Wrong = (&'static str, String, &'static str);

/// Methods of a transaction that mean what is done: compensation of what has completed.
const METHODS: [&str; 3] = ["", "##Compensate", "compensate"];

/// The ends of the associations that stand in collaborations, by each other.
pub(super) fn collaboration_associations(bpmn: Option<&Bpmn>) -> HashMap<&str, Vec<&str>> {
    let mut found = HashMap::new();
    let collaborations = bpmn.and_then(|bpmn| bpmn.collaborations.as_deref()).unwrap_or_default();
    let artifacts = collaborations.iter().flat_map(|own| own.artifacts.iter().flatten());
    associate(&mut found, artifacts.map(ends_of_artifact));
    found
}

/// Notes the ends of associations, by each other: their direction is a matter of drawing.
pub(super) fn associate<'d>(
    found: &mut HashMap<&'d str, Vec<&'d str>>,
    associations: impl Iterator<Item = Option<[&'d str; 2]>>,
) {
    for [source, target] in associations.flatten() {
        found.entry(source).or_default().push(target);
        found.entry(target).or_default().push(source);
    }
}

/// The ends of an artifact that is an association.
pub(super) fn ends_of_artifact(artifact: &Artifact) -> Option<[&str; 2]> {
    Some([artifact.source_ref.as_deref()?, artifact.target_ref.as_deref()?])
}

/// The ends of an edge that is an association.
pub(super) fn ends_of_edge(edge: &Edge) -> Option<[&str; 2]> {
    let is_one = edge.kind() == Some(ElementKind::Association);
    Some([edge.source.as_deref().filter(|_| is_one)?, edge.target.as_deref()?])
}

impl Builder<'_> {
    /// Work of a transaction.
    pub(super) fn transaction(&mut self, raw: &Raw<'_>, bpmn: &NodeBpmn) -> Work {
        let method = bpmn.transaction_method.as_deref().unwrap_or_default();
        if !METHODS.contains(&method) {
            let id = raw.node.element_id().unwrap_or_default();
            let sentence = format!(
                "the method `{}` has no effect: a cancelled transaction compensates what has completed in it",
                method.chars().take(80).collect::<String>()
            );
            self.warn(id, "transactionMethodUnused", &sentence, "10.3.5");
        }
        Work::Transaction(raw.content.unwrap_or_default())
    }

    /// Finds the handlers of compensation, and checks what stands for it and for transactions.
    pub(super) fn compensations(&mut self, graph: &mut Graph) {
        let mut used = HashSet::new();
        for ix in (0..).take(graph.nodes().len()) {
            if self.broken.contains(&ix) {
                continue;
            }
            let checked = match &graph.node(ix).work {
                Work::Boundary { host, trigger: Trigger::Compensation, .. } => {
                    let host = *host;
                    self.boundary_handler(graph, ix, host).map(|handler| used.extend(handler))
                }
                Work::Boundary { host, trigger: Trigger::Cancel, .. } => self.cancelled(graph, *host),
                Work::EventSubProcess { start, .. } if *start != NodeIx::MAX => {
                    let start = *start;
                    self.event_handler(graph, ix, start).map(|own| used.extend(own.then_some(ix)))
                }
                Work::End(throw) | Work::Throw(throw) => self.thrown(graph, ix, throw),
                Work::Transaction(scope) => {
                    let scope = *scope;
                    self.is_left(graph, ix, scope);
                    Ok(())
                }
                Work::Start(_)
                | Work::Catch(_)
                | Work::Boundary { .. }
                | Work::Pass
                | Work::Receive(_)
                | Work::User(_)
                | Work::Decision(_)
                | Work::Script(_)
                | Work::Job(_)
                | Work::Call(_)
                | Work::SubProcess(_)
                | Work::AdHoc { .. }
                | Work::EventSubProcess { .. } => Ok(()),
            };
            if let Err((code, sentence, clause)) = checked {
                let id = graph.node(ix).id.clone();
                self.refuse(&id, code, sentence, clause);
            }
        }
        self.beside_the_flow(graph, &used);
    }

    /// The activity that a compensation event at a boundary is associated with.
    fn boundary_handler(
        &mut self,
        graph: &mut Graph,
        event: NodeIx,
        host: NodeIx,
    ) -> Result<Option<NodeIx>, Wrong> {
        let wrong = |sentence: String| Err(("compensationHandler", sentence, "10.7.1"));
        if !graph.outgoing(event).is_empty() {
            let sentence = "a compensation event at a boundary has no outgoing flow: an association leads to its handler";
            return Err(("wrongFlow", sentence.to_owned(), "10.7.1"));
        }
        let ends = self.associations.get(&*graph.node(event).id).map_or(&[][..], Vec::as_slice);
        if ends.iter().any(|end| self.refused.contains_key(end)) {
            // The handler is refused itself.
            return Ok(None);
        }
        let mut handlers: Vec<NodeIx> = ends.iter().filter_map(|end| graph.find(end)).collect();
        handlers.retain(|ix| graph.node(*ix).element.is_activity() && *ix != host);
        handlers.sort_unstable();
        handlers.dedup();
        let handler = match handlers.as_slice() {
            [] => {
                return wrong(
                    "no association leads from the event to the activity that compensates".to_owned(),
                );
            }
            [one] => *one,
            several => {
                return wrong(format!(
                    "the event is associated with {} activities where one compensates",
                    several.len()
                ));
            }
        };
        let own = graph.node(handler);
        if !own.for_compensation || matches!(own.work, Work::EventSubProcess { .. }) {
            return wrong(format!("the activity `{}` is not marked as one that compensates", own.id));
        }
        if own.scope != graph.node(host).scope {
            return wrong(format!("the activity `{}` stands in another sub-process than the event", own.id));
        }
        self.set_handler(graph, host, handler)?;
        Ok(Some(handler))
    }

    /// The event sub-process that compensates the sub-process around it; answers whether it does.
    fn event_handler(&mut self, graph: &mut Graph, own: NodeIx, start: NodeIx) -> Result<bool, Wrong> {
        let compensates = matches!(
            &graph.node(start).work,
            Work::Start(Start { trigger: Some(Trigger::Compensation), .. })
        );
        if !compensates {
            return Ok(false);
        }
        match graph.scope(graph.node(own).scope).node {
            Some(host) => self.set_handler(graph, host, own)?,
            None => {
                let id = graph.node(own).id.clone();
                let sentence = "nothing compensates a whole process: the event sub-process never runs";
                self.warn(&id, "compensationUnused", sentence, "10.7");
            }
        }
        Ok(true)
    }

    fn set_handler(&self, graph: &mut Graph, host: NodeIx, handler: NodeIx) -> Result<(), Wrong> {
        if let Some(other) = graph.nodes[host as usize].compensation.replace(handler)
            && other != handler
        {
            let sentence = format!(
                "`{}` has two handlers of its compensation: `{}` and `{}`",
                graph.node(host).id,
                graph.node(other).id,
                graph.node(handler).id
            );
            return Err(("compensationHandler", sentence, "10.7"));
        }
        Ok(())
    }

    /// Checks what a throwing event names.
    fn thrown(&self, graph: &Graph, ix: NodeIx, throw: &Throw) -> Result<(), Wrong> {
        match throw {
            Throw::Compensation(what) => self.compensated(graph, ix, what),
            Throw::Cancel => match graph.scope(graph.node(ix).scope).node {
                Some(owner) if matches!(graph.node(owner).work, Work::Transaction(_)) => Ok(()),
                Some(owner) if self.broken.contains(&owner) => Ok(()),
                _ => {
                    let sentence = "a cancel end event stands in a transaction only";
                    Err(("unsupportedEvent", sentence.to_owned(), "10.5.3"))
                }
            },
            Throw::Several(all) => all.iter().try_for_each(|one| self.thrown(graph, ix, one)),
            Throw::None
            | Throw::Message(_)
            | Throw::Signal(_)
            | Throw::Terminate
            | Throw::Error(_)
            | Throw::Escalation(_)
            | Throw::Link(_)
            | Throw::Job(_) => Ok(()),
        }
    }

    /// Checks that the activity that is to be compensated can be seen from the event: it stands in the same sub-process,
    /// or in the one around the event sub-process of the event.
    fn compensated(&self, graph: &Graph, ix: NodeIx, what: &Compensate) -> Result<(), Wrong> {
        let Some(id) = what.activity.as_deref() else { return Ok(()) };
        let Some(target) = graph.find(id) else {
            if self.refused.contains_key(id) {
                return Ok(());
            }
            return Err((
                "danglingReference",
                format!("there is no activity with the id `{id}`"),
                "10.5.5.1",
            ));
        };
        if !graph.node(target).element.is_activity() {
            return Err(("wrongReference", format!("`{id}` is no activity"), "10.5.5.1"));
        }
        let mut scope = graph.node(ix).scope;
        loop {
            let owner = graph.scope(scope).node;
            // The sub-process around the event is what is compensated without a name, too.
            if graph.node(target).scope == scope || owner == Some(target) {
                return Ok(());
            }
            match owner {
                Some(owner) if matches!(graph.node(owner).work, Work::EventSubProcess { .. }) => {
                    scope = graph.node(owner).scope;
                }
                _ => break,
            }
        }
        let sentence =
            format!("the activity `{id}` cannot be seen from the event: it stands in another sub-process");
        Err(("wrongReference", sentence, "10.5.5.1"))
    }

    fn cancelled(&self, graph: &Graph, host: NodeIx) -> Result<(), Wrong> {
        if matches!(graph.node(host).work, Work::Transaction(_)) || self.broken.contains(&host) {
            return Ok(());
        }
        let sentence = "a cancel boundary event stands on a transaction only";
        Err(("unsupportedEvent", sentence.to_owned(), "10.5.4"))
    }

    /// Warns of a transaction that is cancelled within and has no event for that.
    fn is_left(&mut self, graph: &Graph, ix: NodeIx, scope: ScopeIx) {
        let cancels = |node: &super::Node| {
            node.scope == scope && scope != ROOT && matches!(node.work, Work::End(Throw::Cancel))
        };
        let caught =
            graph.node(ix).boundary.iter().any(|event| {
                matches!(graph.node(*event).work, Work::Boundary { trigger: Trigger::Cancel, .. })
            });
        if !caught && graph.nodes().iter().any(cancels) {
            let id = graph.node(ix).id.clone();
            let sentence = "the transaction has a cancel end event and no cancel event at its boundary: its token ends \
                            with it";
            self.warn(&id, "cancelUncaught", sentence, "10.5.3");
        }
    }

    /// Checks the activities that run for compensation alone.
    fn beside_the_flow(&mut self, graph: &Graph, used: &HashSet<NodeIx>) {
        for (ix, node) in (0..).zip(graph.nodes()) {
            if !node.for_compensation || self.broken.contains(&ix) {
                continue;
            }
            let id: &Arc<str> = &node.id;
            if !graph.incoming(ix).is_empty() || !graph.outgoing(ix).is_empty() {
                let sentence = "an activity that compensates has no incoming and no outgoing flow".to_owned();
                self.refuse(id, "wrongFlow", sentence, "10.7.1");
            } else if !used.contains(&ix) {
                let sentence = "no compensation event leads to the activity: it never runs";
                self.warn(id, "compensationUnused", sentence, "10.7.1");
            }
        }
    }
}
