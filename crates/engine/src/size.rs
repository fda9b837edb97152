//! Estimated sizes of what a run keeps.

use crate::event::{BodyKind, DecisionEvaluated, EventKind, TaskCreated, Trigger};
use crate::state::{BodyState, CaseState, State};
use crate::{Command, LocalId};
use heddle_feel::size_of_json;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Bytes that an event counts beside its values.
pub(crate) const EVENT: u64 = 160;
/// Bytes that a step of a compensation counts.
pub(crate) const COMPENSATION_STEP: u64 = 64;
/// Bytes that a token of a choreography's monitor counts.
const CHOREOGRAPHY_TOKEN: u64 = 16;
/// Bytes that a message counts that a choreography expected.
const EXPECTED_EXCHANGE: u64 = 160;
/// Bytes that a token, a node instance or a wait counts in the state.
const PLACE: u64 = 96;

/// Bytes of named values.
pub(crate) fn of_members(values: &Map<String, Value>) -> u64 {
    values.iter().map(|(name, value)| of_member(name, value)).sum()
}

pub(crate) fn of_member(name: &str, value: &Value) -> u64 {
    name.len() as u64 + size_of_json(value)
}

fn of_text<T: AsRef<str>>(text: Option<&T>) -> u64 {
    text.map_or(0, |text| text.as_ref().len() as u64)
}

fn of_texts<T: AsRef<str>>(texts: &[T]) -> u64 {
    texts.iter().map(|text| 16 + text.as_ref().len() as u64).sum()
}

/// Bytes of an event.
pub(crate) fn of_event(kind: &EventKind) -> u64 {
    EVENT
        + match kind {
            EventKind::RunStarted(started) => {
                let name = match &started.trigger {
                    Trigger::Message { name, .. } | Trigger::Signal { name, .. } => name.len() as u64,
                    Trigger::Manual { .. } | Trigger::Timer { .. } => 0,
                };
                name + of_members(&started.input) + of_text(started.correlation_key.as_ref())
            }
            EventKind::RunCompleted { output } => of_members(output),
            EventKind::VariablesSet { values } => of_members(values),
            EventKind::NodeCompleted { output, .. } | EventKind::BodyClosed { output, .. } => {
                output.as_ref().map_or(0, size_of_json)
            }
            EventKind::MessageReceived { payload, correlation_key, .. }
            | EventKind::MessageSent { payload, correlation_key, .. } => {
                size_of_json(payload) + of_text(correlation_key.as_ref())
            }
            EventKind::SignalReceived { payload, .. } | EventKind::SignalSent { payload, .. } => {
                size_of_json(payload)
            }
            EventKind::ChoreographyAdvanced { state, .. } => state.size() as u64 * CHOREOGRAPHY_TOKEN,
            EventKind::ChoreographyViolated(violated) => {
                violated.violation.expected.len() as u64 * EXPECTED_EXCHANGE
            }
            EventKind::SubscriptionOpened { correlation_key, .. } => of_text(correlation_key.as_ref()),
            EventKind::TaskCreated(created) => of_task(created),
            EventKind::TaskAssigned { assignee, .. } => of_text(assignee.as_ref()),
            EventKind::TaskCompleted { values, comment, .. } => {
                of_members(values) + of_text(comment.as_ref())
            }
            EventKind::BodyOpened { items, .. } => items.iter().map(size_of_json).sum(),
            EventKind::BodyAdvanced { output, .. } => output.as_ref().map_or(0, size_of_json),
            EventKind::JobCreated(created) => created.job_type.len() as u64 + of_members(&created.headers),
            EventKind::JobCompleted { variables, .. } => of_members(variables),
            EventKind::JobFailed { message, details, notes, .. } => {
                message.len() as u64 + of_text(details.as_ref()) + notes.as_ref().map_or(0, size_of_json)
            }
            EventKind::JobErrorThrown { code, message, variables, .. } => {
                code.len() as u64 + of_text(message.as_ref()) + of_members(variables)
            }
            EventKind::JobKept { end, .. } => end.bytes(),
            EventKind::ProtectionViolated(violated) => {
                violated.message.len() as u64 + violated.spans.iter().map(size_of_json).sum::<u64>()
            }
            EventKind::CompensationStarted { steps, .. } => steps.len() as u64 * COMPENSATION_STEP,
            EventKind::EscalationThrown { code, values, .. } => code.len() as u64 + of_members(values),
            EventKind::RunCalled(called) => called.called.len() as u64 + of_members(&called.input),
            EventKind::CallCompleted { output, .. } => of_members(output),
            EventKind::CallFailed { message, .. } => message.len() as u64,
            EventKind::DecisionEvaluated(evaluated) => of_decision(evaluated),
            EventKind::ScriptEvaluated { result, reasons } => size_of_json(result) + of_texts(reasons),
            EventKind::IncidentRaised { message, failure, .. } => {
                message.len() as u64 + failure.as_ref().map_or(0, size_of_json)
            }
            EventKind::DataStoreWritten { store, value } => store.len() as u64 + size_of_json(value),
            EventKind::DecisionTaken { feedback, .. } => feedback.len() as u64,
            EventKind::RunCancelled { reason, .. } | EventKind::RunCancelling { reason, .. } => {
                of_text(reason.as_ref())
            }
            EventKind::TokensWithdrawn { flows } => of_texts::<Arc<str>>(flows),
            EventKind::CaseOpened { people } => people.values().map(|names| of_texts(names)).sum(),
            EventKind::CaseFileChanged { item, path, value, .. } => {
                item.len() as u64 + path.iter().map(size_of_json).sum::<u64>() + size_of_json(value)
            }
            EventKind::RoundPending { left } => left.len() as u64 * PLACE,
            EventKind::CaseReactivated { .. }
            | EventKind::CaseClosed { .. }
            | EventKind::ItemCreated(_)
            | EventKind::ItemTransitioned { .. }
            | EventKind::SentrySatisfied { .. }
            | EventKind::SentryReset { .. }
            | EventKind::OnPartOccurred { .. }
            | EventKind::CallDetached { .. }
            | EventKind::RunFailed { .. }
            | EventKind::RunSuspended { .. }
            | EventKind::RunResumed { .. }
            | EventKind::NodeActivated { .. }
            | EventKind::NodeRestored { .. }
            | EventKind::NodeCompensated { .. }
            | EventKind::CompensationRecorded { .. }
            | EventKind::CompensationEnded { .. }
            | EventKind::NodeCancelled { .. }
            | EventKind::FlowTaken { .. }
            | EventKind::ScopeOpened {}
            | EventKind::ScopeClosed {}
            | EventKind::TimerScheduled { .. }
            | EventKind::TimerFired { .. }
            | EventKind::TimerCancelled { .. }
            | EventKind::SubscriptionClosed { .. }
            | EventKind::ConditionChanged { .. }
            | EventKind::TaskCancelled { .. }
            | EventKind::NodeStaged { .. }
            | EventKind::JobRetriesSet { .. }
            | EventKind::JobCancelled { .. }
            | EventKind::CallCancelled { .. }
            | EventKind::IncidentResolved { .. } => 0,
        }
}

pub(crate) fn of_decision(evaluated: &DecisionEvaluated) -> u64 {
    let lists = evaluated.hits.iter().chain(&evaluated.decisions).chain(&evaluated.reasons);
    of_members(&evaluated.inputs)
        + lists.map(size_of_json).sum::<u64>()
        + size_of_json(&evaluated.output)
        + evaluated.result.as_ref().map_or(0, size_of_json)
}

fn of_task(created: &TaskCreated) -> u64 {
    of_text(created.assignee.as_ref())
        + of_texts(&created.candidate_users)
        + of_texts(&created.candidate_groups)
        + of_texts(&created.reasons)
        + created.outcome_values.values().map(|values| of_members(values)).sum::<u64>()
        + created.form.as_ref().map_or(0, |form| size_of_json(form))
}

/// Bytes of what a node gave by this event.
fn of_output(kind: &EventKind) -> Option<u64> {
    match kind {
        EventKind::NodeCompleted { output, .. } | EventKind::BodyClosed { output, .. } => {
            output.as_ref().map(size_of_json)
        }
        EventKind::MessageReceived { payload, .. } | EventKind::SignalReceived { payload, .. } => {
            Some(size_of_json(payload))
        }
        EventKind::DecisionEvaluated(evaluated) => {
            Some(size_of_json(evaluated.result.as_ref().unwrap_or(&evaluated.output)))
        }
        EventKind::ScriptEvaluated { result, .. } => Some(size_of_json(result)),
        EventKind::TaskCompleted { values, .. } => Some(of_members(values)),
        EventKind::JobCompleted { variables, .. } => Some(of_members(variables)),
        EventKind::CallCompleted { output, .. } => Some(of_members(output)),
        EventKind::CaseOpened { .. }
        | EventKind::RoundPending { .. }
        | EventKind::CaseFileChanged { .. }
        | EventKind::CaseReactivated { .. }
        | EventKind::CaseClosed { .. }
        | EventKind::ItemCreated(_)
        | EventKind::ItemTransitioned { .. }
        | EventKind::SentrySatisfied { .. }
        | EventKind::SentryReset { .. }
        | EventKind::OnPartOccurred { .. }
        | EventKind::CallDetached { .. }
        | EventKind::RunStarted(_)
        | EventKind::RunCompleted { .. }
        | EventKind::RunFailed { .. }
        | EventKind::RunCancelled { .. }
        | EventKind::RunCancelling { .. }
        | EventKind::RunSuspended { .. }
        | EventKind::RunResumed { .. }
        | EventKind::NodeActivated { .. }
        | EventKind::NodeRestored { .. }
        | EventKind::NodeStaged { .. }
        | EventKind::NodeCompensated { .. }
        | EventKind::NodeCancelled { .. }
        | EventKind::BodyOpened { .. }
        | EventKind::BodyAdvanced { .. }
        | EventKind::CompensationRecorded { .. }
        | EventKind::CompensationStarted { .. }
        | EventKind::CompensationEnded { .. }
        | EventKind::FlowTaken { .. }
        | EventKind::TokensWithdrawn { .. }
        | EventKind::ScopeOpened {}
        | EventKind::ScopeClosed {}
        | EventKind::VariablesSet { .. }
        | EventKind::TimerScheduled { .. }
        | EventKind::TimerFired { .. }
        | EventKind::TimerCancelled { .. }
        | EventKind::SubscriptionOpened { .. }
        | EventKind::SubscriptionClosed { .. }
        | EventKind::ConditionChanged { .. }
        | EventKind::MessageSent { .. }
        | EventKind::SignalSent { .. }
        | EventKind::EscalationThrown { .. }
        | EventKind::TaskCreated(_)
        | EventKind::TaskAssigned { .. }
        | EventKind::TaskCancelled { .. }
        | EventKind::JobCreated(_)
        | EventKind::JobFailed { .. }
        | EventKind::JobErrorThrown { .. }
        | EventKind::JobKept { .. }
        | EventKind::ProtectionViolated(_)
        | EventKind::JobRetriesSet { .. }
        | EventKind::JobCancelled { .. }
        | EventKind::RunCalled(_)
        | EventKind::CallFailed { .. }
        | EventKind::CallCancelled { .. }
        | EventKind::IncidentRaised { .. }
        | EventKind::IncidentResolved { .. }
        | EventKind::ChoreographyAdvanced { .. }
        | EventKind::ChoreographyViolated(_)
        | EventKind::DataStoreWritten { .. }
        | EventKind::DecisionTaken { .. } => None,
    }
}

/// Place of an event that is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'e> {
    pub scope: LocalId,
    pub node: Option<&'e str>,
    pub instance: Option<LocalId>,
}

/// Bytes of the values in a state: of its variables, of the nodes' outputs, and of the items and outputs of bodies of
/// several instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub variables: u64,
    pub outputs: u64,
    pub bodies: u64,
}

/// Whether the node instance of an event is gone with it.
const fn ends_instance(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::NodeCompleted { .. }
            | EventKind::BodyClosed { .. }
            | EventKind::NodeCompensated { .. }
            | EventKind::NodeCancelled { .. }
    )
}

fn of_items(body: &BodyState) -> u64 {
    body.items.iter().map(size_of_json).sum()
}

/// Bytes of the values that a case keeps beside its variables: its file with the references. What work gave is counted
/// where it is left behind.
fn of_case(case: &CaseState) -> u64 {
    size_of_json(&case.file) + case.references.values().flatten().map(size_of_json).sum::<u64>()
}

impl Held {
    pub(crate) fn of(state: &State) -> Self {
        let bodies = state.flow.active.iter().filter_map(|own| own.body.as_deref());
        Self {
            variables: state.scopes.iter().map(|scope| of_members(&scope.variables)).sum::<u64>()
                + state.flow.records.iter().map(|record| of_members(&record.variables)).sum::<u64>()
                + state.case.as_deref().map_or(0, of_case),
            outputs: size_of_json(&state.outputs),
            bodies: bodies.map(|body| of_items(body) + body.bytes).sum(),
        }
    }

    /// Bytes of all of them.
    pub(crate) const fn whole(self) -> u64 {
        self.variables + self.outputs + self.bodies
    }

    /// Follows the items and outputs of bodies.
    fn follow_bodies(&mut self, state: &State, kind: &EventKind, place: Place<'_>) {
        let body_of = |id: LocalId| state.instance(id).and_then(|own| own.body.as_deref());
        // The items of a body go when its last instance begins.
        let done_with = |id: LocalId, iteration: u64| {
            let body = body_of(id).filter(|body| body.kind == BodyKind::Instances && !body.items.is_empty());
            let body = body.filter(|body| body.total.is_some_and(|total| total <= iteration + 1));
            body.map_or(0, of_items)
        };
        if let EventKind::BodyOpened { items, .. } = kind {
            self.bodies += items.iter().map(size_of_json).sum::<u64>();
        } else if let EventKind::BodyAdvanced { iteration, output, .. } = kind {
            self.bodies += output.as_ref().map_or(0, size_of_json);
            let gone = place.instance.map_or(0, |id| done_with(id, *iteration));
            self.bodies = self.bodies.saturating_sub(gone);
        } else if let EventKind::NodeActivated { iteration: Some(iteration), .. } = kind {
            self.bodies = self.bodies.saturating_sub(done_with(place.scope, *iteration));
        } else if ends_instance(kind) {
            let body = place.instance.and_then(body_of);
            let gone = body.map_or(0, |body| of_items(body) + body.bytes);
            self.bodies = self.bodies.saturating_sub(gone);
        }
    }

    /// Follows an event that is about to be applied to the state.
    pub(crate) fn follow(&mut self, state: &State, kind: &EventKind, place: Place<'_>) {
        self.follow_bodies(state, kind, place);
        let Place { scope: at, node, instance: own } = place;
        match kind {
            EventKind::VariablesSet { values } => {
                let Some(own) = state.scope(at) else { return };
                for (name, value) in values {
                    let before = own.variables.get(name).map_or(0, |before| of_member(name, before));
                    self.variables = (self.variables + of_member(name, value)).saturating_sub(before);
                }
            }
            EventKind::CompensationRecorded { snapshot: true } => {
                // The scope closes next: what it holds is kept for its compensation.
                let kept = own.and_then(|id| state.scope(id)).map_or(0, |own| of_members(&own.variables));
                self.variables += kept;
            }
            EventKind::ScopeClosed {} => {
                let gone = state.scope(at).map_or(0, |own| of_members(&own.variables));
                self.variables = self.variables.saturating_sub(gone);
            }
            other => {
                if let (Some(given), Some(node)) = (of_output(other), node) {
                    let before = output_before(state, node);
                    self.outputs = (self.outputs + given).saturating_sub(before);
                }
            }
        }
    }
}

/// Bytes of what the node gave before.
pub(crate) fn output_before(state: &State, node: &str) -> u64 {
    state.outputs.get(node).and_then(|entry| entry.get("output")).map_or(0, size_of_json)
}

/// Bytes of a state's tokens, node instances and waits.
pub(crate) fn of_places(state: &State) -> u64 {
    let case = state.case.as_deref();
    let places = state.flow.tokens.len()
        + case.map_or(0, |case| case.places())
        + state.flow.active.len()
        + state.timers.len()
        + state.subscriptions.len()
        + state.jobs.len()
        + state.calls.len()
        + state.flow.records.len()
        + state.flow.compensations.iter().map(|own| 1 + own.steps.len()).sum::<usize>();
    places as u64 * PLACE
}

/// Bytes of a state, as far as its values, waits and tokens tell.
pub(crate) fn of_state(state: &State) -> u64 {
    Held::of(state).whole() + of_places(state)
}

impl State {
    /// Estimated bytes of it, as far as its values, waits and tokens tell.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        of_state(self)
    }
}

/// Bytes of the data that a command brings.
pub(crate) fn of_command(command: &Command) -> u64 {
    match command {
        Command::DeliverMessage { payload, .. }
        | Command::DeliverSignal { payload, .. }
        | Command::RaiseEvent { payload, .. }
        | Command::Continue { payload, .. } => size_of_json(payload),
        Command::SetFile { value, .. } => size_of_json(value),
        Command::FailJob { message, details, notes, .. } => {
            message.len() as u64 + of_text(details.as_ref()) + notes.as_ref().map_or(0, size_of_json)
        }
        Command::Guarded { then, .. } => of_command(then),
        Command::EndJob { end, .. } => end.bytes(),
        other => members_of(other).map_or(0, of_members),
    }
}

/// The variables that a command sets.
pub(crate) fn members_of(command: &Command) -> Option<&Map<String, Value>> {
    match command {
        Command::Start { input, .. } => Some(input),
        Command::CompleteTask { values, .. } | Command::SetVariables { values, .. } => Some(values),
        Command::Retry { variables, .. }
        | Command::CompleteJob { variables, .. }
        | Command::ThrowJobError { variables, .. }
        | Command::EscalateCall { variables, .. } => Some(variables),
        Command::CompleteCall { output, .. } | Command::FailCall { output, .. } => Some(output),
        Command::Skip { output, .. } => Some(output),
        Command::Guarded { then, .. } => members_of(then),
        Command::EndJob { end, .. } => end.variables(),
        Command::DeliverMessage { payload, .. }
        | Command::DeliverSignal { payload, .. }
        | Command::RaiseEvent { payload, .. }
        | Command::Continue { payload, .. } => payload.as_object(),
        Command::AssignTask { .. }
        | Command::FailJob { .. }
        | Command::SetJobRetries { .. }
        | Command::FireTimer { .. }
        | Command::Cancel { .. }
        | Command::CancelCompensating { .. }
        | Command::Suspend
        | Command::Resume
        | Command::Transition { .. }
        | Command::PlanItem { .. }
        | Command::SetFile { .. }
        | Command::CompleteCase
        | Command::CloseCase
        | Command::ReactivateCase
        | Command::Move { .. } => None,
    }
}
