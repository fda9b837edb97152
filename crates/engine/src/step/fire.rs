//! Events from outside: a timer is due, a message or signal has come.

use super::leave::Completion;
use super::{At, Machine};
use crate::event::{CancelReason, EventKind, Phase, SubscriptionKind};
use crate::state::TimerState;
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::choreography::Direction;
use heddle_bpmn_graph::{Instantiates, NodeIx, Schedule, Start, Trigger, Work};
use serde_json::Value;
use std::sync::Arc;

/// Event that has come from outside.
#[derive(Clone)]
pub(super) enum Arrival {
    Timer,
    /// A condition on the data holds.
    Condition,
    /// The last of several triggers has come, and each was noted by itself.
    All,
    Message {
        name: Arc<str>,
        key: Option<String>,
        payload: Value,
    },
    Signal {
        name: Arc<str>,
        payload: Value,
    },
}

/// Trigger of an event that has come for a host.
#[derive(Clone, Copy)]
pub(super) struct Came {
    pub node: NodeIx,
    pub host: LocalId,
    /// The subscription by which it came; none for a timer, which is gone.
    pub subscription: Option<LocalId>,
}

impl Machine<'_> {
    pub(super) fn fire_timer(&mut self, timer_id: LocalId) -> Result<(), Rejection> {
        let found = self.state.timers.iter().find(|timer| timer.id == timer_id);
        let timer = found.ok_or(Rejection::UnknownTimer(timer_id))?.clone();
        if self.now < timer.due_at {
            return Err(Rejection::NotDue(timer.due_at));
        }
        let node = self.node(&timer.node)?;
        let at = self.wait_at(node, timer.host);
        // The timer of a boundary event is none of the host's own.
        let own = self.state.instance(timer.host);
        let continues = own.is_some_and(|own| own.waits_to_continue() && own.node == timer.node);
        let skipped = !continues && self.is_stuck(node, timer.host);
        self.emit(at, EventKind::TimerFired { timer_id, due_at: timer.due_at, skipped });
        if continues {
            return self.continue_stage(timer.host);
        }
        if skipped {
            self.skip_slot(at, timer);
            return Ok(());
        }
        let schedule = Schedule { due_at: timer.due_at, cycle: timer.cycle.map(|cycle| *cycle) };
        // A run that is full keeps no timer that goes on for ever.
        let least = self.cx.budget.least_period_millis;
        let next = schedule.next_after(self.now, least).filter(|_| !self.is_full());
        if matches!(self.graph.node(node).work, Work::User(_)) {
            // The timer of a listener of a human task, which goes on.
            if let Some(next) = next {
                self.schedule_part(at, next, timer.trigger);
            }
            return self.task_timed_out(node, timer.host, timer.trigger);
        }
        let needs_all = self.trigger_of(node).is_some_and(|own| own.needs_all());
        let repeats = match &self.graph.node(node).work {
            Work::Boundary { interrupting, .. } | Work::Start(Start { interrupting, .. }) => !interrupting,
            // A catch event whose timer repeats lets a token go at every slot and completes with the last.
            Work::Catch(Trigger::Timer(_)) => self.instance(timer.host)?.node == timer.node,
            // Any other catch event occurs once.
            Work::Catch(_) => false,
            Work::End(_)
            | Work::Throw(_)
            | Work::Pass
            | Work::Receive(_)
            | Work::User(_)
            | Work::Decision(_)
            | Work::Script(_)
            | Work::Job(_)
            | Work::Call(_)
            | Work::SubProcess(_)
            | Work::Transaction(_)
            | Work::AdHoc { .. }
            | Work::EventSubProcess { .. } => false,
        };
        let came = Came { node, host: timer.host, subscription: None };
        match next.filter(|_| repeats && !needs_all) {
            Some(next) => {
                self.schedule_part(at, next, timer.trigger);
                if matches!(self.graph.node(node).work, Work::Catch(_)) {
                    return self.let_go(node, timer.host);
                }
                self.come(came, Arrival::Timer)
            }
            None => self.come(came, Arrival::Timer),
        }
    }

    /// Whether a catch event could not be left at an earlier slot of its cycle, and nobody has decided about that yet: one
    /// open incident is enough.
    fn is_stuck(&self, node: NodeIx, host: LocalId) -> bool {
        let graph_node = self.graph.node(node);
        matches!(graph_node.work, Work::Catch(_))
            && self.state.instance(host).is_some_and(|own| *own.node == *graph_node.id)
            && self.state.incidents.iter().any(|own| own.instance == Some(host))
    }

    /// Nothing comes of a slot but the next one. The last one leaves the way out to the decision about the incident.
    fn skip_slot(&mut self, at: At, timer: TimerState) {
        let schedule = Schedule { due_at: timer.due_at, cycle: timer.cycle.map(|cycle| *cycle) };
        let least = self.cx.budget.least_period_millis;
        if let Some(next) = schedule.next_after(self.now, least).filter(|_| !self.is_full()) {
            self.schedule(at, next);
        }
    }

    /// The node of a catch event that could not be left at one slot of its cycle and has more of them to come.
    pub(super) fn repeating(&self, id: LocalId) -> Result<Option<NodeIx>, Rejection> {
        let own = self.instance(id)?;
        let node = self.node(&own.node)?;
        let goes_on = || self.state.timers.iter().any(|timer| timer.host == id && timer.node == own.node);
        let repeats = matches!(self.graph.node(node).work, Work::Catch(_)) && !own.waits_to_continue();
        Ok((repeats && goes_on()).then_some(node))
    }

    /// A token leaves a node instance that stays.
    pub(super) fn let_go(&mut self, node: NodeIx, host: LocalId) -> Result<(), Rejection> {
        let scope = self.instance(host)?.scope;
        match self.choose(node, scope) {
            Ok(flows) => {
                for flow in flows {
                    self.take(flow, scope);
                }
                Ok(())
            }
            Err(fault) => self.fault(host, fault, Phase::Leave),
        }
    }

    pub(super) fn deliver(
        &mut self,
        id: LocalId,
        kind: SubscriptionKind,
        payload: Value,
    ) -> Result<(), Rejection> {
        let found = self.state.subscriptions.iter().find(|own| own.id == id && own.kind == kind);
        let own = found.ok_or(Rejection::UnknownSubscription(id))?.clone();
        if self.awaits_store(&own) {
            return Ok(());
        }
        let node = self.node(&own.node)?;
        let arrival = match kind {
            SubscriptionKind::Message => Arrival::Message { name: own.name, key: own.key, payload },
            SubscriptionKind::Signal => Arrival::Signal { name: own.name, payload },
            SubscriptionKind::Condition => Arrival::Condition,
        };
        self.come(Came { node, host: own.host, subscription: Some(id) }, arrival)
    }

    /// A signal reaches what listens for it in the run at the moment of the throw.
    pub(super) fn signal_own(&mut self, name: &str, payload: &Value) -> Result<(), Rejection> {
        let is_it = |own: &&crate::state::SubscriptionState| {
            own.kind == SubscriptionKind::Signal && *own.name == *name
        };
        let listening: Vec<LocalId> =
            self.state.subscriptions.iter().filter(is_it).map(|own| own.id).collect();
        for id in listening {
            // One that interrupts may have withdrawn the next.
            if self.state.subscriptions.iter().any(|own| own.id == id) {
                self.deliver(id, SubscriptionKind::Signal, payload.clone())?;
            }
        }
        Ok(())
    }

    /// An event occurs for the host that waits for it.
    pub(super) fn occur(&mut self, node: NodeIx, host: LocalId, arrival: Arrival) -> Result<(), Rejection> {
        match &self.graph.node(node).work {
            Work::Boundary { interrupting, .. } => {
                let interrupting = *interrupting;
                let scope = self.instance(host)?.scope;
                let event = self.create(node, scope, &[]);
                let values = self.receive(node, event, arrival)?;
                if interrupting {
                    self.cancel(host, CancelReason::Interrupted)?;
                }
                self.merge(scope, values);
                self.arrived(node, event)
            }
            Work::Start(Start { event_sub_process: Some(_), .. }) => {
                self.start_event_sub_process(node, host, |machine, event, _| {
                    machine.receive(node, event, arrival).ok().flatten()
                })
            }
            Work::Start(_)
            | Work::End(_)
            | Work::Throw(_)
            | Work::Catch(_)
            | Work::Receive(_)
            | Work::Pass
            | Work::User(_)
            | Work::Decision(_)
            | Work::Script(_)
            | Work::Job(_)
            | Work::Call(_)
            | Work::SubProcess(_)
            | Work::Transaction(_)
            | Work::AdHoc { .. }
            | Work::EventSubProcess { .. } => {
                if *self.instance(host)?.node != *self.graph.node(node).id {
                    return self.choose_event(node, host, arrival);
                }
                if let Some(Value::Object(values)) = self.receive(node, host, arrival)? {
                    self.give(host, values)?;
                }
                self.leave(host)
            }
        }
    }

    /// Lets an event that has come at its new instance do what stands before and behind its work.
    pub(super) fn arrived(&mut self, node: NodeIx, id: LocalId) -> Result<(), Rejection> {
        if matches!(self.graph.node(node).work, Work::Start(_) | Work::Boundary { .. }) {
            return self.enter(node, id);
        }
        match self.inputs_of(node, id) {
            Ok(()) => self.leave(id),
            Err(fault) => self.fault(id, fault, Phase::Leave),
        }
    }

    /// The first event of an event-based gateway wins and withdraws the others; one that needs all of them stays until
    /// the last has come (clause 10.6.6).
    fn choose_event(&mut self, node: NodeIx, gateway: LocalId, arrival: Arrival) -> Result<(), Rejection> {
        let (ix, at) = self.at(gateway)?;
        let scope = at.scope.unwrap_or(LocalId::ROOT);
        let flow = self.graph.outgoing(ix).iter().copied().find(|flow| self.graph.flow(*flow).target == node);
        let flow = flow.ok_or_else(|| Rejection::WrongGraph(self.graph.node(node).id.to_string()))?;
        if self.graph.node(ix).instantiates == Some(Instantiates::All) {
            self.close_waits_of(node, gateway);
            if self.awaits_nothing(gateway) {
                self.finish(gateway, Completion::default())?;
            }
        } else {
            self.finish(gateway, Completion::default())?;
        }
        self.put(flow, scope);
        let event = self.create(node, scope, &[flow]);
        let values = self.receive(node, event, arrival)?;
        self.merge(scope, values);
        self.arrived(node, event)
    }

    /// Starts an event sub-process in its scope. `receive` notes at the start event what has come and gives
    /// the values to merge.
    pub(super) fn start_event_sub_process(
        &mut self,
        start: NodeIx,
        scope: LocalId,
        receive: impl FnOnce(&mut Self, LocalId, LocalId) -> Option<Value>,
    ) -> Result<(), Rejection> {
        let graph = self.graph;
        let Work::Start(Start { interrupting, event_sub_process: Some(owner), .. }) = graph.node(start).work
        else {
            return Err(Rejection::WrongGraph(graph.node(start).id.to_string()));
        };
        if interrupting {
            self.cancel_contents(scope, CancelReason::Interrupted, None)?;
            self.close_waits(scope, true);
        }
        let id = self.create(owner, scope, &[]);
        self.emit(At { node: Some(owner), ..At::scope(id) }, EventKind::ScopeOpened {});
        self.touched.push(id);
        if let Some(content) = self.content(id)? {
            match self.listeners(content, id) {
                Ok(waits) => self.open(waits, id),
                Err(fault) => self.fault(id, fault, Phase::Enter)?,
            }
        }
        let event = self.create(start, id, &[]);
        let values = receive(self, event, id);
        self.merge(id, values);
        self.arrived(start, event)
    }

    /// Notes what has come at the instance of its event; gives the payload.
    fn receive(&mut self, node: NodeIx, id: LocalId, arrival: Arrival) -> Result<Option<Value>, Rejection> {
        let (_, at) = self.at(id)?;
        Ok(self.note(At { node: Some(node), ..at }, arrival))
    }

    /// Notes what has come; gives the payload.
    pub(super) fn note(&mut self, at: At, arrival: Arrival) -> Option<Value> {
        match arrival {
            Arrival::Timer | Arrival::Condition | Arrival::All => None,
            Arrival::Message { name, key, payload } => {
                let received = EventKind::MessageReceived {
                    name: name.clone(),
                    correlation_key: key,
                    payload: payload.clone(),
                };
                self.emit(at, received);
                self.exchanged(at, Direction::Received, &name);
                Some(payload)
            }
            Arrival::Signal { name, payload } => {
                self.emit(at, EventKind::SignalReceived { name, payload: payload.clone() });
                Some(payload)
            }
        }
    }

    /// Merges an object's members into the variables.
    pub(super) fn merge(&mut self, scope: LocalId, values: Option<Value>) {
        if let Some(Value::Object(values)) = values {
            self.set_values(scope, values);
        }
    }
}
