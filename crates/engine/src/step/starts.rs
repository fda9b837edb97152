//! Starts of a process: its start events, receive tasks and event-based gateways that start an instance (clause 13.2).

use super::leave::Completion;
use super::wait::Wait;
use super::{Machine, StepFault};
use crate::event::{IncidentCode, Phase, Trigger};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{self as graph, Instantiates, NodeIx, ROOT};
use serde_json::{Map, Value};

/// A node at which a run begins, and the trigger of its that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beginning {
    pub node: NodeIx,
    /// Number of the trigger that has come; none where all of them count as come, since a caller named the node.
    pub came: Option<u32>,
}

impl Machine<'_> {
    /// The nodes that a trigger activates.
    pub(super) fn starts(
        &self,
        trigger: &Trigger,
        input: &Map<String, Value>,
    ) -> Result<Vec<Beginning>, Rejection> {
        let root = self.graph.scope(ROOT);
        let (wanted, fits): (&str, fn(&graph::Trigger, &str) -> bool) = match trigger {
            Trigger::Manual { start_node: None } => return self.plain_starts(input),
            Trigger::Manual { start_node: Some(id) } => (id, |_, _| true),
            Trigger::Message { node_id, .. } => (
                node_id,
                |own, name| matches!(own, graph::Trigger::Message(message) if *message.name == *name),
            ),
            Trigger::Signal { node_id, .. } => {
                (node_id, |own, name| matches!(own, graph::Trigger::Signal(signal) if **signal == *name))
            }
            Trigger::Timer { node_id } => (node_id, |own, _| matches!(own, graph::Trigger::Timer(_))),
        };
        let name = match trigger {
            Trigger::Message { name, .. } | Trigger::Signal { name, .. } => name,
            Trigger::Manual { .. } | Trigger::Timer { .. } => "",
        };
        let unknown = || Rejection::UnknownStart(wanted.to_owned());
        let node = self.graph.find(wanted).ok_or_else(unknown)?;
        if matches!(trigger, Trigger::Manual { .. }) {
            let known = root.starts.contains(&node) || self.graph.start_nodes().contains(&node);
            return if known { Ok(vec![Beginning { node, came: None }]) } else { Err(unknown()) };
        }
        let own = self.graph.start_trigger(node).ok_or_else(unknown)?;
        let came = (0..).zip(own.parts()).find(|(_, part)| fits(part, name)).map(|(number, _)| number);
        Ok(vec![Beginning { node, came: Some(came.ok_or_else(unknown)?) }])
    }

    /// The nodes that a start without a trigger activates: the none start event, all nodes without an incoming flow where
    /// there is no start event, or the first event whose condition holds for the input.
    fn plain_starts(&self, input: &Map<String, Value>) -> Result<Vec<Beginning>, Rejection> {
        let root = self.graph.scope(ROOT);
        let events = self.graph.start_nodes();
        let several = root.starts.len() != 1 && !events.is_empty();
        if !several && !root.starts.is_empty() {
            return Ok(root.starts.iter().map(|&node| Beginning { node, came: None }).collect());
        }
        let names = |of: &[NodeIx]| of.iter().map(|ix| self.graph.node(*ix).id.to_string()).collect();
        let mut conditional = Vec::new();
        for &node in &events {
            let Some(trigger) = self.graph.start_trigger(node) else { continue };
            for (number, part) in (0..).zip(trigger.parts()) {
                let graph::Trigger::Conditional(condition) = part else { continue };
                conditional.push(node);
                match self.starts_by_condition(condition, input) {
                    Ok(true) => return Ok(vec![Beginning { node, came: Some(number) }]),
                    Ok(false) => {}
                    Err(StepFault::Rejected(rejection)) => return Err(rejection),
                    Err(StepFault::Incident(IncidentCode::ExpressionError, message)) => {
                        let node = self.graph.node(node).id.to_string();
                        return Err(Rejection::WrongCondition { node, message });
                    }
                    Err(StepFault::Incident(..)) => {
                        let (budget, most) = ("steps", self.cx.budget.steps);
                        return Err(Rejection::TooLarge { budget, most, value: most.saturating_add(1) });
                    }
                }
            }
        }
        conditional.dedup();
        if conditional.is_empty() {
            return Err(Rejection::StartNotDetermined(names(&events)));
        }
        Err(Rejection::NoConditionHolds(names(&conditional)))
    }

    /// Activates the node at which the run begins, as if what it waits for had come.
    pub(super) fn begin_at(&mut self, beginning: Beginning) -> Result<(), Rejection> {
        let Beginning { node, came } = beginning;
        if let Some(gateway) = self.graph.instantiating_gateway(node) {
            return self.begin_behind(gateway, beginning);
        }
        let starts_by_message = self.graph.node(node).instantiates.is_some();
        if came.is_none() && !starts_by_message {
            return self.activate(node, LocalId::ROOT, &[]);
        }
        let id = self.create(node, LocalId::ROOT, &[]);
        self.begin_event(id, beginning)
    }

    /// Lets an event of which a trigger has come occur, or wait for the others that it needs.
    fn begin_event(&mut self, id: LocalId, beginning: Beginning) -> Result<(), Rejection> {
        let Beginning { node, came } = beginning;
        let trigger = self.trigger_of(node).filter(|own| own.needs_all());
        let (Some(trigger), Some(came)) = (trigger, came) else { return self.arrived(node, id) };
        match self.wait_for(node, &trigger, LocalId::ROOT) {
            Ok(mut waits) => {
                waits.retain(|wait| wait.trigger != Some(came));
                if waits.is_empty() {
                    return self.arrived(node, id);
                }
                self.open(waits, id);
                Ok(())
            }
            Err(fault) => self.fault(id, fault, Phase::Enter),
        }
    }

    /// Begins at an event behind a gateway that starts an instance. A parallel one waits for its other events, too.
    fn begin_behind(&mut self, gateway: NodeIx, beginning: Beginning) -> Result<(), Rejection> {
        let graph = self.graph;
        let scope = LocalId::ROOT;
        let outgoing = graph.outgoing(gateway).iter().copied();
        let flow = outgoing.clone().find(|flow| graph.flow(*flow).target == beginning.node);
        let flow = flow.ok_or_else(|| Rejection::UnknownStart(graph.node(beginning.node).id.to_string()))?;
        let id = self.create(gateway, scope, &[]);
        if graph.node(gateway).instantiates == Some(Instantiates::All) {
            let mut waits: Vec<Wait> = Vec::new();
            for other in outgoing.filter(|other| *other != flow) {
                let target = graph.flow(other).target;
                let Some(trigger) = self.trigger_of(target) else { continue };
                match self.wait_for(target, &trigger, scope) {
                    Ok(own) => waits.extend(own),
                    Err(fault) => return self.fault(id, fault, Phase::Enter),
                }
            }
            self.open(waits, id);
        } else {
            self.finish(id, Completion::default())?;
        }
        self.put(flow, scope);
        let event = self.create(beginning.node, scope, &[flow]);
        self.begin_event(event, beginning)
    }

    /// Whether a run that has just begun was interrupted before anything in it could begin.
    pub(super) fn is_over_at_once(&self) -> bool {
        self.is_interrupted(LocalId::ROOT) || self.state.scope(LocalId::ROOT).is_none()
    }
}
