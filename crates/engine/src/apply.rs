//! The only place where a state changes.

use crate::event::{Event, EventKind, Resolution, RunStarted, TaskCreated};
use crate::state::{
    BodyState, CallState, IncidentState, JobState, Life, NodeInstance, ScopeState, State, SubscriptionState,
    TaskState, TimerState, Token,
};
use crate::{LocalId, size};
use serde_json::{Map, Value};

/// Applies one event. Events come in the order of their sequence, each once; an event about something that is
/// not there changes nothing but the sequence.
pub fn apply(state: &mut State, event: &Event) {
    state.sequence = event.sequence;
    state.stored = state.stored.saturating_add(size::of_event(&event.kind));
    let scope = event.scope_id.unwrap_or(LocalId::ROOT);
    match &event.kind {
        EventKind::RunStarted(started) => start(state, started, event),
        EventKind::RunCompleted { .. } => end(state, Life::Completed, event),
        EventKind::RunFailed { error } => {
            state.error = Some(error.clone());
            end(state, Life::Failed, event);
        }
        EventKind::RunCancelled { .. } => end(state, Life::Cancelled, event),
        EventKind::RunSuspended { .. } => state.life = Life::Suspended,
        EventKind::RunResumed { .. } => state.life = Life::Active,
        EventKind::FlowTaken { flow_id, target_id } => {
            let target = Some(target_id.clone());
            state.flow.tokens.push(Token { flow: flow_id.clone(), scope, since: event.at, target });
        }
        EventKind::TokensWithdrawn { flows } => withdraw(state, flows, scope),
        EventKind::ScopeOpened {} => {
            let parent = state.instance(scope).map(|owner| owner.scope);
            let own = ScopeState { id: scope, node: event.node_id.clone(), parent, variables: Map::new() };
            // A scope may be opened long after the node instance that it belongs to came to be.
            let place = state.scopes.partition_point(|other| other.id < scope);
            state.scopes.insert(place, own);
        }
        EventKind::ScopeClosed {} => {
            state.scopes.retain(|own| own.id != scope);
            state.incidents.retain(|incident| incident.scope != scope);
        }
        EventKind::VariablesSet { values } => {
            if let Some(own) = state.scope_mut(scope) {
                own.variables.extend(values.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
        }
        EventKind::NodeActivated { .. }
        | EventKind::NodeRestored { .. }
        | EventKind::NodeCompensated { .. }
        | EventKind::NodeStaged { .. }
        | EventKind::BodyOpened { .. }
        | EventKind::BodyAdvanced { .. }
        | EventKind::NodeCompleted { .. }
        | EventKind::NodeCancelled { .. } => {
            node(state, event, scope);
        }
        EventKind::CompensationRecorded { snapshot } => {
            if let Some(id) = event.node_instance_id {
                state.record(id, *snapshot);
            }
        }
        EventKind::CompensationStarted { compensation_id, steps, waits } => {
            count(state, *compensation_id);
            state.begin_compensation(event, *compensation_id, steps, *waits);
        }
        EventKind::CompensationEnded { compensation_id, .. } => state.end_compensation(*compensation_id),
        EventKind::TimerScheduled { .. }
        | EventKind::TimerFired { .. }
        | EventKind::TimerCancelled { .. }
        | EventKind::SubscriptionOpened { .. }
        | EventKind::SubscriptionClosed { .. } => wait(state, event, scope),
        EventKind::TaskCreated(_)
        | EventKind::TaskAssigned { .. }
        | EventKind::TaskCompleted { .. }
        | EventKind::TaskCancelled { .. } => task(state, event),
        EventKind::JobCreated(_)
        | EventKind::JobCompleted { .. }
        | EventKind::JobFailed { .. }
        | EventKind::JobErrorThrown { .. }
        | EventKind::JobRetriesSet { .. }
        | EventKind::JobCancelled { .. } => job(state, event),
        EventKind::RunCalled(_)
        | EventKind::CallCompleted { .. }
        | EventKind::CallFailed { .. }
        | EventKind::CallCancelled { .. } => call(state, event),
        EventKind::MessageReceived { payload, .. } | EventKind::SignalReceived { payload, .. } => {
            output(state, event, payload.clone(), None);
        }
        EventKind::DecisionEvaluated(evaluated) => {
            let value = evaluated.result.as_ref().unwrap_or(&evaluated.output);
            output(state, event, value.clone(), None);
        }
        EventKind::ScriptEvaluated { result, .. } => output(state, event, result.clone(), None),
        EventKind::MessageSent { .. }
        | EventKind::SignalSent { .. }
        | EventKind::EscalationThrown { .. }
        | EventKind::DecisionTaken { .. } => {}
        EventKind::IncidentRaised { .. } | EventKind::IncidentResolved { .. } => {
            incident(state, event, scope)
        }
    }
}

fn start(state: &mut State, started: &RunStarted, event: &Event) {
    state.process = started.process_id.clone();
    state.life = Life::Active;
    state.correlation_key.clone_from(&started.correlation_key);
    state.started_at = Some(event.at);
    let variables = started.input.clone();
    state.scopes.push(ScopeState { id: LocalId::ROOT, node: None, parent: None, variables });
}

fn end(state: &mut State, life: Life, event: &Event) {
    state.life = life;
    state.ended_at = Some(event.at);
    state.scopes.truncate(1);
    state.flow = Default::default();
    state.tasks.clear();
    state.jobs.clear();
    state.calls.clear();
    state.timers.clear();
    state.subscriptions.clear();
    state.incidents.clear();
}

fn withdraw(state: &mut State, flows: &[std::sync::Arc<str>], scope: LocalId) {
    for flow in flows {
        if let Some(place) =
            state.flow.tokens.iter().position(|token| token.flow == *flow && token.scope == scope)
        {
            state.flow.tokens.remove(place);
        }
    }
}

/// Counts an id that the event brings.
fn count(state: &mut State, id: LocalId) {
    state.counter = state.counter.max(id.0);
}

fn node(state: &mut State, event: &Event, scope: LocalId) {
    let (Some(id), Some(node)) = (event.node_instance_id, &event.node_id) else { return };
    match &event.kind {
        EventKind::NodeActivated { element, via, iteration, compensates, .. } => {
            count(state, id);
            withdraw(state, via, scope);
            let mut own = NodeInstance::new(id, node.clone(), *element, scope, event.at);
            own.attempt = event.attempt.unwrap_or(1);
            own.iteration = *iteration;
            own.compensates = *compensates;
            state.flow.active.push(own);
            if let Some(record) = *compensates {
                state.take_step(record, node, id);
            }
        }
        EventKind::NodeRestored { element, compensates } => {
            count(state, id);
            let mut own = NodeInstance::new(id, node.clone(), *element, scope, event.at);
            own.compensates = Some(*compensates);
            own.restored = true;
            state.restore(own, *compensates);
        }
        EventKind::NodeStaged { stage } => {
            if let Some(own) = state.instance_mut(id) {
                own.stage = *stage;
            }
        }
        EventKind::BodyOpened { total, items } => {
            if let Some(own) = state.instance_mut(id) {
                let body = BodyState { items: items.clone(), total: *total, ..BodyState::default() };
                own.body = Some(Box::new(body));
            }
        }
        EventKind::BodyAdvanced { iteration, completed, output } => {
            if let Some(body) = state.instance_mut(id).and_then(|own| own.body.as_deref_mut()) {
                advance(body, *iteration, *completed, output.as_ref());
            }
        }
        EventKind::NodeCompleted { output: value, .. } => {
            if let Some(value) = value {
                output(state, event, value.clone(), None);
            }
            remove(state, id);
        }
        _ => remove(state, id),
    }
}

fn remove(state: &mut State, id: LocalId) {
    let Some(place) = state.place(id) else { return };
    let own = state.flow.active.remove(place);
    if !state.flow.compensations.is_empty() {
        state.step_done(id);
    }
    // What completed in a scope goes with it, unless the whole of it can be compensated.
    let holds = own.element.is_sub_process() || own.body.is_some() || own.restored;
    if holds && !state.flow.records.is_empty() && state.recorded(id).is_none() {
        state.forget(id);
    }
}

fn wait(state: &mut State, event: &Event, scope: LocalId) {
    // What a scope's event sub-processes wait for belongs to the scope itself.
    let host = event.node_instance_id.unwrap_or(scope);
    let Some(node) = event.node_id.clone() else { return };
    match &event.kind {
        EventKind::TimerScheduled { timer_id, due_at, cycle } => {
            count(state, *timer_id);
            state.timers.push(TimerState {
                id: *timer_id,
                node,
                host,
                due_at: *due_at,
                cycle: cycle.clone(),
            });
        }
        EventKind::TimerFired { timer_id, .. } | EventKind::TimerCancelled { timer_id } => {
            // Timers are appended with rising ids.
            match state.timers.binary_search_by_key(timer_id, |timer| timer.id) {
                Ok(place) => drop(state.timers.remove(place)),
                Err(_) => state.timers.retain(|timer| timer.id != *timer_id),
            }
        }
        EventKind::SubscriptionOpened { subscription_id, kind, name, correlation_key } => {
            count(state, *subscription_id);
            state.subscriptions.push(SubscriptionState {
                id: *subscription_id,
                node,
                host,
                kind: *kind,
                name: name.clone(),
                key: correlation_key.clone(),
            });
        }
        EventKind::SubscriptionClosed { subscription_id } => {
            match state.subscriptions.binary_search_by_key(subscription_id, |own| own.id) {
                Ok(place) => drop(state.subscriptions.remove(place)),
                Err(_) => state.subscriptions.retain(|own| own.id != *subscription_id),
            }
        }
        _ => {}
    }
}

fn advance(body: &mut BodyState, iteration: u64, completed: bool, output: Option<&Value>) {
    body.completed += u64::from(completed);
    let (Some(output), Ok(place)) = (output, usize::try_from(iteration)) else { return };
    if body.outputs.len() <= place {
        body.outputs.resize(place + 1, Value::Null);
    }
    if let Some(own) = body.outputs.get_mut(place) {
        own.clone_from(output);
    }
}

fn task(state: &mut State, event: &Event) {
    let Some(owner) = event.node_instance_id else { return };
    match &event.kind {
        EventKind::TaskCreated(created) => {
            let place = state.tasks.partition_point(|own| own.owner < owner);
            state.tasks.insert(place, open(created, owner));
        }
        EventKind::TaskAssigned { task_id, assignee, .. } => {
            if let Some(task) = state.tasks.iter_mut().find(|own| own.id == *task_id) {
                task.assignee.clone_from(assignee);
            }
        }
        EventKind::TaskCompleted { task_id, outcome, values, .. } => {
            state.tasks.retain(|own| own.id != *task_id);
            output(state, event, Value::Object(values.clone()), outcome.as_deref());
        }
        EventKind::TaskCancelled { task_id } => state.tasks.retain(|own| own.id != *task_id),
        _ => {}
    }
}

fn job(state: &mut State, event: &Event) {
    let Some(owner) = event.node_instance_id else { return };
    match &event.kind {
        EventKind::JobCreated(created) => {
            count(state, created.number);
            let place = state.jobs.partition_point(|own| own.owner < owner);
            let job = JobState {
                id: created.job_id,
                owner,
                kind: created.kind,
                job_type: created.job_type.clone(),
                retries: created.retries,
                priority: created.priority,
                headers: created.headers.clone(),
                not_before: None,
                attempt: 1,
                created_at: event.at,
            };
            state.jobs.insert(place, job);
        }
        EventKind::JobFailed { job_id, retries, not_before, .. } => {
            if let Some(job) = state.jobs.iter_mut().find(|own| own.id == *job_id) {
                job.retries = *retries;
                job.not_before = *not_before;
                job.attempt = job.attempt.saturating_add(1);
            }
        }
        EventKind::JobRetriesSet { job_id, retries } => {
            if let Some(job) = state.jobs.iter_mut().find(|own| own.id == *job_id) {
                job.retries = *retries;
            }
        }
        EventKind::JobCompleted { job_id, variables } => {
            let kind = state.job(*job_id).map(|own| own.kind);
            state.jobs.retain(|own| own.id != *job_id);
            if kind.is_some_and(|kind| kind.is_task()) {
                output(state, event, Value::Object(variables.clone()), None);
            }
        }
        EventKind::JobErrorThrown { job_id, .. } | EventKind::JobCancelled { job_id } => {
            state.jobs.retain(|own| own.id != *job_id);
        }
        _ => {}
    }
}

fn call(state: &mut State, event: &Event) {
    let Some(owner) = event.node_instance_id else { return };
    match &event.kind {
        EventKind::RunCalled(called) => {
            count(state, called.number);
            let place = state.calls.partition_point(|own| own.owner < owner);
            state.calls.insert(place, CallState { run: called.run_id, owner });
        }
        EventKind::CallCompleted { run_id, output: given } => {
            state.calls.retain(|own| own.run != *run_id);
            output(state, event, Value::Object(given.clone()), None);
        }
        EventKind::CallFailed { run_id, .. } | EventKind::CallCancelled { run_id } => {
            state.calls.retain(|own| own.run != *run_id);
        }
        _ => {}
    }
}

fn open(created: &TaskCreated, owner: LocalId) -> TaskState {
    let TaskCreated {
        task_id,
        name,
        assignee,
        candidate_users,
        candidate_groups,
        due_at,
        priority,
        form,
        outcomes,
        outcome_values,
        reasons: _,
    } = created.clone();
    TaskState {
        id: task_id,
        owner,
        name,
        assignee,
        candidate_users,
        candidate_groups,
        due_at,
        priority,
        form,
        outcomes,
        outcome_values,
    }
}

/// Keeps what a node gave: `nodes.<id>.output` and `nodes.<id>.outcome`.
fn output(state: &mut State, event: &Event, value: Value, outcome: Option<&str>) {
    let (Some(node), Value::Object(outputs)) = (&event.node_id, &mut state.outputs) else { return };
    let mut entry = Map::new();
    entry.insert("output".to_owned(), value);
    if let Some(outcome) = outcome {
        entry.insert("outcome".to_owned(), outcome.into());
    }
    outputs.insert(node.to_string(), Value::Object(entry));
}

fn incident(state: &mut State, event: &Event, scope: LocalId) {
    match &event.kind {
        EventKind::IncidentRaised { incident_id, code, message, phase } => {
            count(state, *incident_id);
            state.incidents.push(IncidentState {
                id: *incident_id,
                node: event.node_id.clone(),
                instance: event.node_instance_id,
                scope,
                code: *code,
                message: message.clone(),
                phase: *phase,
                at: event.at,
                attempt: event.attempt.unwrap_or(1),
            });
        }
        EventKind::IncidentResolved { incident_id, resolution, .. } => {
            state.incidents.retain(|own| own.id != *incident_id);
            if *resolution == Resolution::Retry
                && let Some(active) = event.node_instance_id.and_then(|id| state.instance_mut(id))
            {
                active.attempt = active.attempt.saturating_add(1);
            }
        }
        _ => {}
    }
}
