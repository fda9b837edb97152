//! Activation of nodes (clause 13.3 to 13.5).

use super::correlation::SentKey;
use super::edges::NodeFailure;
use super::wait::Wait;
use super::{At, Machine, StepFault};
use crate::core::Trouble;
use crate::core::tasks::Named;
use crate::event::{CancelReason, EventKind, IncidentCode, Phase};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::choreography::Direction;
use heddle_bpmn_graph::{ListenerPlace, MessageSettings, NodeIx, ScopeIx, Throw, Trigger, Work};
use heddle_feel::size_of_json;
use serde_json::Value;
use std::sync::Arc;

impl Machine<'_> {
    /// Does the node's work, or raises an incident.
    pub(super) fn enter(&mut self, ix: NodeIx, id: LocalId) -> Result<(), Rejection> {
        match self.try_enter(ix, id) {
            Ok(()) => Ok(()),
            Err(fault) => self.fault(id, fault, Phase::Enter),
        }
    }

    /// Turns what stopped a node into an incident.
    pub(super) fn fault(&mut self, id: LocalId, fault: StepFault, phase: Phase) -> Result<(), Rejection> {
        match fault {
            StepFault::Rejected(rejection) => Err(rejection),
            StepFault::Incident(code, message) => {
                let (_, at) = self.at(id)?;
                self.raise(at, code, &message, phase);
                Ok(())
            }
        }
    }

    /// Raises an incident, unless the failure is for a flow out of the node.
    pub(super) fn raise(&mut self, at: At, code: IncidentCode, message: &str, phase: Phase) {
        if let Some(instance) = at.instance.filter(|_| self.fails_along(at, code)) {
            let message = message.to_owned();
            self.failures.push_back(NodeFailure { instance, code, message, phase });
            return;
        }
        self.raise_now(at, code, message, phase);
    }

    /// Raises an incident.
    pub(super) fn raise_now(&mut self, at: At, code: IncidentCode, message: &str, phase: Phase) {
        self.raise_for(at, code, message, phase, None);
    }

    /// The same where the flow for a failure of the node has been taken most often.
    pub(super) fn raise_for(
        &mut self,
        at: At,
        code: IncidentCode,
        message: &str,
        phase: Phase,
        failure: Option<Value>,
    ) {
        let graph = self.graph;
        let node = at.node.map(|node| &*graph.node(node).id);
        let raised = self.incident_event(node, Trouble { code, message, phase, failure });
        self.emit(at, raised);
    }

    fn try_enter(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        let own = self.instance(id)?;
        match &self.graph.node(ix).marker {
            Some(marker) if own.iteration.is_none() => self.open_marker(ix, id, &Arc::clone(marker)),
            Some(_) | None => self.begin_stages(ix, id),
        }
    }

    /// Does the work of a node itself, once its inputs and listeners are done.
    pub(super) fn work(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        let graph = self.graph;
        if self.leaves_by_condition(ix, id)? {
            return Ok(());
        }
        let scope = self.inner(id)?;
        match &graph.node(ix).work {
            Work::Start(_) | Work::Boundary { .. } => Ok(self.leave(id)?),
            Work::Pass if graph.node(ix).split.waits() => self.wait_for_first(ix, id, scope),
            Work::Pass => Ok(self.leave(id)?),
            Work::End(Throw::Terminate) => {
                let around = self.instance(id)?.scope;
                self.cancel_contents(around, CancelReason::Terminated, Some(id))?;
                Ok(self.leave(id)?)
            }
            Work::End(Throw::Error(error)) => self.throw_error(id, error),
            Work::End(Throw::Cancel) => self.cancel_transaction(id),
            Work::Throw(Throw::Job(task)) | Work::End(Throw::Job(task)) | Work::Job(task) => {
                self.open_work(ix, id, task)
            }
            Work::Throw(Throw::Escalation(escalation)) | Work::End(Throw::Escalation(escalation)) => {
                self.throw_escalation(id, escalation)
            }
            Work::Throw(Throw::Compensation(what)) | Work::End(Throw::Compensation(what)) => {
                self.throw_compensation(id, what)
            }
            Work::Throw(Throw::Link(name)) => self.follow_link(ix, id, name),
            Work::Throw(Throw::Several(all)) | Work::End(Throw::Several(all)) => {
                self.throw_several(ix, id, all)
            }
            Work::Throw(throw) | Work::End(throw) => {
                let signal = self.throw(throw, ix, id, scope)?;
                self.leave(id)?;
                if let Some((name, payload)) = signal {
                    self.signal_own(&name, &payload)?;
                }
                Ok(())
            }
            // A token has come here by a throwing link.
            Work::Catch(Trigger::Link(_)) => Ok(self.leave(id)?),
            Work::Catch(trigger) => {
                let waits = self.wait_for(ix, trigger, scope)?;
                self.open(waits, id);
                Ok(())
            }
            Work::Receive(message) => {
                let mut waits = self.boundary(ix, id)?;
                if let Some(message) = message {
                    waits.push(self.message(ix, message, scope)?);
                }
                self.open(waits, id);
                Ok(())
            }
            Work::User(task) => {
                let mut waits = self.boundary(ix, id)?;
                let own = &self.graph.node(ix);
                let named = Named { id: &own.id, name: own.name.clone() };
                let created = self.planned_task(named, task, id, self.inner(id)?)?;
                waits.extend(self.timeouts(ix, id)?);
                self.admit_told(created.form.as_ref().map_or(0, |form| size_of_json(form)))?;
                self.open(waits, id);
                let (_, at) = self.at(id)?;
                let is_assigned = created.assignee.is_some();
                self.emit(at, EventKind::TaskCreated(Box::new(created)));
                if is_assigned {
                    self.task_heard(ix, id, ListenerPlace::Assignment)?;
                }
                Ok(())
            }
            Work::Decision(task) => self.decision(task, id),
            Work::Script(task) => self.script(task, id),
            Work::SubProcess(content) | Work::Transaction(content) => self.open_sub_process(ix, id, *content),
            Work::AdHoc { scope: content, rules } => self.open_ad_hoc(ix, id, *content, rules),
            Work::Call(call) => self.open_call(ix, id, call),
            // Its event has begun it already. What is tried again is what the event sub-processes within it wait for.
            Work::EventSubProcess { scope: content, .. } => {
                let waits = self.listeners(*content, id)?;
                self.open(waits, id);
                self.touched.push(id);
                Ok(())
            }
        }
    }

    /// Waits for what the targets of an event-based gateway wait for.
    fn wait_for_first(&mut self, ix: NodeIx, id: LocalId, scope: LocalId) -> Result<(), StepFault> {
        let graph = self.graph;
        let mut waits = Vec::new();
        for &flow in graph.outgoing(ix) {
            let target = graph.flow(flow).target;
            match &graph.node(target).work {
                Work::Catch(trigger) => waits.extend(self.wait_for(target, trigger, scope)?),
                Work::Receive(Some(message)) => waits.push(self.message(target, message, scope)?),
                // Only events and receive tasks stand behind an event-based gateway (10.6.6); others were refused before.
                Work::Receive(None)
                | Work::Start(_)
                | Work::End(_)
                | Work::Throw(_)
                | Work::Boundary { .. }
                | Work::Pass
                | Work::User(_)
                | Work::Decision(_)
                | Work::Script(_)
                | Work::Job(_)
                | Work::Call(_)
                | Work::SubProcess(_)
                | Work::Transaction(_)
                | Work::AdHoc { .. }
                | Work::EventSubProcess { .. } => {}
            }
        }
        self.open(waits, id);
        Ok(())
    }

    fn open_sub_process(&mut self, ix: NodeIx, id: LocalId, content: ScopeIx) -> Result<(), StepFault> {
        let graph = self.graph;
        self.open_content(ix, id, content)?;
        // A condition that holds from the first interrupts the sub-process before anything in it begins.
        self.settle_conditions()?;
        let listens = !graph.scope(content).listeners.is_empty();
        if self.state.scope(id).is_none() || (listens && self.is_interrupted(id)) {
            return Ok(());
        }
        for &start in &graph.scope(content).starts {
            self.activate(start, id, &[])?;
        }
        Ok(())
    }

    /// Opens the scope of a sub-process, with what its boundary events and event sub-processes wait for.
    pub(super) fn open_content(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        content: ScopeIx,
    ) -> Result<(), StepFault> {
        let scope = self.inner(id)?;
        let outer = self.boundary(ix, id)?;
        let inner = self.listeners(content, scope)?;
        self.open(outer, id);
        self.open_scope(ix, id);
        self.open_data(ix, id, content);
        self.open(inner, id);
        self.touched.push(id);
        Ok(())
    }

    /// Opens the scope of a node instance, unless it is open.
    pub(super) fn open_scope(&mut self, ix: NodeIx, id: LocalId) {
        if self.state.scope(id).is_none() {
            self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::ScopeOpened {});
        }
    }

    /// Sends what a throwing event or a send task sends; gives a signal back, for the run's own listeners.
    pub(super) fn throw(
        &mut self,
        throw: &Throw,
        ix: NodeIx,
        id: LocalId,
        scope: LocalId,
    ) -> Result<Option<(Arc<str>, Value)>, StepFault> {
        let at =
            At { node: Some(ix), instance: Some(id), scope: Some(self.instance(id)?.scope), attempt: None };
        match throw {
            // These are no sending.
            Throw::None
            | Throw::Terminate
            | Throw::Error(_)
            | Throw::Escalation(_)
            | Throw::Compensation(_)
            | Throw::Cancel
            | Throw::Link(_)
            | Throw::Job(_)
            | Throw::Several(_) => {}
            Throw::Message(message) => {
                self.admit_hop()?;
                let payload = self.payload(message, ix, id, scope)?;
                let SentKey { value: correlation_key, id: correlation_key_id } =
                    self.sent_key(message, scope, &payload)?;
                self.admit_told(size_of_json(&payload))?;
                self.emit(
                    at,
                    EventKind::MessageSent {
                        name: message.name.clone(),
                        correlation_key,
                        correlation_key_id,
                        payload,
                    },
                );
                self.exchanged(at, Direction::Sent, &message.name);
            }
            Throw::Signal(signal) => {
                self.admit_hop()?;
                let payload = self.payload(signal, ix, id, scope)?;
                self.admit_signal(&signal.name, &payload)?;
                self.emit(at, EventKind::SignalSent { name: signal.name.clone(), payload: payload.clone() });
                return Ok(Some((signal.name.clone(), payload)));
            }
        }
        Ok(None)
    }

    pub(super) fn payload(
        &self,
        message: &MessageSettings,
        ix: NodeIx,
        id: LocalId,
        scope: LocalId,
    ) -> Result<Value, StepFault> {
        match &message.payload {
            Some(payload) => self.setting(payload, scope),
            None => self.data_payload(ix, id),
        }
    }

    /// Whether an event at the border of a node waits for a condition.
    fn has_condition(&self, ix: NodeIx) -> bool {
        let conditional = |event: &NodeIx| matches!(&self.graph.node(*event).work, Work::Boundary { trigger, .. } if trigger.has_condition());
        self.graph.node(ix).boundary.iter().any(conditional)
    }

    /// Whether a condition at the border of an activity that is about to begin holds already and interrupts it.
    fn leaves_by_condition(&mut self, ix: NodeIx, id: LocalId) -> Result<bool, StepFault> {
        if !self.has_condition(ix) {
            return Ok(false);
        }
        let waits = self.boundary(ix, id)?;
        self.open(waits, id);
        self.settle_conditions()?;
        Ok(self.state.instance(id).is_none())
    }

    /// Waits of an activity's boundary events, as far as they are not open yet. Those of an instance of a body are the body's.
    pub(super) fn boundary(&self, ix: NodeIx, id: LocalId) -> Result<Vec<Wait>, StepFault> {
        let mut waits = Vec::new();
        if self.instance(id)?.iteration.is_some() {
            return Ok(waits);
        }
        let scope = self.inner(id)?;
        let begun = self.has_condition(ix);
        for &event in &self.graph.node(ix).boundary {
            if begun && self.awaits(event, id) {
                continue;
            }
            if let Work::Boundary { trigger, .. } = &self.graph.node(event).work {
                waits.extend(self.wait_for(event, trigger, scope)?);
            }
        }
        Ok(waits)
    }
}
