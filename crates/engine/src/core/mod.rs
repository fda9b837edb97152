//! Parts that the machines of processes and of cases share: the state with its history, the evaluation of settings, the
//! budgets, and the plans of human tasks, jobs, calls, decisions and scripts.
//!
//! Nothing here says what happens next: a plan is data, and the machine that asked for it emits its events.

pub(crate) mod budgets;
pub(crate) mod calls;
pub(crate) mod compute;
pub(crate) mod eval;
pub(crate) mod jobs;
pub(crate) mod tasks;

use crate::event::{Event, EventKind, IncidentCode, Phase};
use crate::size::{self, Held};
use crate::state::State;
use crate::{LocalId, Rejection, RunContext, apply};
use heddle_feel::StepBudget;
use heddle_kernel::{Timestamp, UserId, shortened};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Fault that stops a node or an item: an incident of the instance, or a rejection of the whole command.
pub(crate) enum StepFault {
    Rejected(Rejection),
    Incident(IncidentCode, String),
}

impl From<Rejection> for StepFault {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

pub(crate) fn expression(message: impl Into<String>) -> StepFault {
    StepFault::Incident(IncidentCode::ExpressionError, message.into())
}

/// Place of an event in the history.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spot {
    /// Id of the node or item.
    pub node: Option<Arc<str>>,
    pub instance: Option<LocalId>,
    pub scope: Option<LocalId>,
    pub attempt: Option<u32>,
}

/// Failure of an instance that becomes an incident.
pub(crate) struct Trouble<'t> {
    pub code: IncidentCode,
    pub message: &'t str,
    pub phase: Phase,
    pub failure: Option<Value>,
}

/// State of an instance with what one step does to it.
pub(crate) struct Core<'c> {
    pub state: State,
    pub events: Vec<Event>,
    pub cx: &'c RunContext,
    pub now: Timestamp,
    pub activations: u32,
    /// Evaluation steps that are left.
    pub steps: StepBudget,
    /// Bytes of the events before the step.
    pub stored_before: u64,
    /// Bytes of the variables and outputs, counted once the step changes any.
    pub held: Option<Held>,
    /// A budget was exceeded: nothing moves any more in this step.
    pub halted: bool,
}

impl<'c> Core<'c> {
    pub(crate) fn new(state: State, cx: &'c RunContext) -> Self {
        let now = Timestamp::from_micros(cx.now.micros().div_euclid(1000) * 1000);
        Self {
            stored_before: state.stored,
            state,
            events: Vec::with_capacity(16),
            cx,
            now,
            activations: 0,
            steps: StepBudget::new(cx.budget.steps),
            held: None,
            halted: false,
        }
    }

    pub(crate) fn actor(&self) -> Option<UserId> {
        self.cx.actor.as_ref().map(|actor| actor.user_id)
    }

    /// The next id of the instance; the event that carries it counts it.
    pub(crate) const fn next_id(&self) -> LocalId {
        LocalId(self.state.counter + 1)
    }

    /// Adds an event to the history and applies it.
    pub(crate) fn record(&mut self, spot: Spot, kind: EventKind) {
        let event = Event {
            sequence: self.state.sequence + 1,
            kind,
            at: self.now,
            node_id: spot.node,
            node_instance_id: spot.instance,
            scope_id: spot.scope,
            attempt: spot.attempt,
        };
        if let Some(held) = &mut self.held {
            let scope = event.scope_id.unwrap_or(LocalId::ROOT);
            let place =
                size::Place { scope, node: event.node_id.as_deref(), instance: event.node_instance_id };
            held.follow(&self.state, &event.kind, place);
        }
        apply(&mut self.state, &event);
        if matches!(event.kind, EventKind::RunStarted(_) | EventKind::CaseFileChanged { .. }) {
            // What the event brings is among the values from now on.
            self.held = None;
        }
        self.events.push(event);
    }

    /// The event of an incident; of one of a budget nothing moves any more.
    pub(crate) fn incident_event(&mut self, node: Option<&str>, trouble: Trouble<'_>) -> EventKind {
        let Trouble { code, message, phase, failure } = trouble;
        let mut message = shortened(message).into_owned();
        if code == IncidentCode::Limit {
            self.halted = true;
            if let Some(node) = node {
                message = format!("{message}, at `{}`", shortened(node));
            }
        }
        let incident_id = self.next_id();
        EventKind::IncidentRaised { incident_id, code, message, phase, failure }
    }

    /// Variables that are set as seen from a scope, by the scopes that get them: each where it is, new ones outermost.
    pub(crate) fn spread(
        &self,
        scope: LocalId,
        mut values: Map<String, Value>,
    ) -> Vec<(LocalId, Map<String, Value>)> {
        let mut found: Vec<(LocalId, Map<String, Value>)> = Vec::new();
        if scope != LocalId::ROOT {
            let variables = self.variables(scope);
            let mut outer = Map::new();
            for (name, value) in values {
                match variables.owner(&name) {
                    LocalId::ROOT => {
                        outer.insert(name, value);
                    }
                    owner => match found.iter_mut().find(|(own, _)| *own == owner) {
                        Some((_, own)) => {
                            own.insert(name, value);
                        }
                        None => found.push((owner, Map::from_iter([(name, value)]))),
                    },
                }
            }
            values = outer;
        }
        if !values.is_empty() {
            found.push((LocalId::ROOT, values));
        }
        found
    }

    /// Events that withdraw the human task, the jobs and the called run for which an instance waits.
    pub(crate) fn works_of(&self, id: LocalId) -> Vec<EventKind> {
        let task = self.state.task_of(id).map(|task| EventKind::TaskCancelled { task_id: task.id });
        let first = self.state.jobs.partition_point(|job| job.owner < id);
        let jobs = self.state.jobs.iter().skip(first).take_while(|job| job.owner == id);
        let jobs = jobs.map(|job| EventKind::JobCancelled { job_id: job.id });
        let call = self.state.call_of(id).map(|call| EventKind::CallCancelled { run_id: call.run });
        task.into_iter().chain(jobs).chain(call).collect()
    }
}
