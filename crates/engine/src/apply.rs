//! The only place where a state changes.

use crate::event::{Event, EventKind, Resolution, RunStarted, TaskCreated};
use crate::state::{
    IncidentState, Life, NodeInstance, ScopeState, State, SubscriptionState, TaskState, TimerState, Token,
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
            state.tokens.push(Token { flow: flow_id.clone(), scope, since: event.at, target });
        }
        EventKind::TokensWithdrawn { flows } => withdraw(state, flows, scope),
        EventKind::ScopeOpened {} => {
            let parent = state.instance(scope).map(|owner| owner.scope);
            state.scopes.push(ScopeState {
                id: scope,
                node: event.node_id.clone(),
                parent,
                variables: Map::new(),
            });
        }
        EventKind::ScopeClosed {} => {
            state.scopes.retain(|own| own.id != scope);
            state.incidents.retain(|incident| incident.scope != scope);
        }
        EventKind::VariablesSet { values } => {
            if let Some(own) = state.scopes.iter_mut().find(|own| own.id == scope) {
                own.variables.extend(values.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
        }
        EventKind::NodeActivated { .. }
        | EventKind::NodeCompleted { .. }
        | EventKind::NodeCancelled { .. } => {
            node(state, event, scope);
        }
        EventKind::TimerScheduled { .. }
        | EventKind::TimerFired { .. }
        | EventKind::TimerCancelled { .. }
        | EventKind::SubscriptionOpened { .. }
        | EventKind::SubscriptionClosed { .. } => wait(state, event, scope),
        EventKind::TaskCreated(_)
        | EventKind::TaskAssigned { .. }
        | EventKind::TaskCompleted { .. }
        | EventKind::TaskCancelled { .. } => task(state, event),
        EventKind::MessageReceived { payload, .. } | EventKind::SignalReceived { payload, .. } => {
            output(state, event, payload.clone(), None);
        }
        EventKind::DecisionEvaluated(evaluated) => {
            let value = evaluated.result.as_ref().unwrap_or(&evaluated.output);
            output(state, event, value.clone(), None);
        }
        EventKind::ScriptEvaluated { result, .. } => output(state, event, result.clone(), None),
        EventKind::MessageSent { .. } | EventKind::SignalSent { .. } | EventKind::DecisionTaken { .. } => {}
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
    state.tokens.clear();
    state.active.clear();
    state.timers.clear();
    state.subscriptions.clear();
    state.incidents.clear();
}

fn withdraw(state: &mut State, flows: &[std::sync::Arc<str>], scope: LocalId) {
    for flow in flows {
        if let Some(place) = state.tokens.iter().position(|token| token.flow == *flow && token.scope == scope)
        {
            state.tokens.remove(place);
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
        EventKind::NodeActivated { element, via, .. } => {
            count(state, id);
            withdraw(state, via, scope);
            state.active.push(NodeInstance {
                id,
                node: node.clone(),
                element: *element,
                scope,
                since: event.at,
                attempt: event.attempt.unwrap_or(1),
                task: None,
            });
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
    if let Some(place) = state.place(id) {
        state.active.remove(place);
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

fn task(state: &mut State, event: &Event) {
    let Some(instance) = event.node_instance_id.and_then(|id| state.instance_mut(id)) else { return };
    match &event.kind {
        EventKind::TaskCreated(created) => instance.task = Some(Box::new(open(created))),
        EventKind::TaskAssigned { assignee, .. } => {
            if let Some(task) = &mut instance.task {
                task.assignee.clone_from(assignee);
            }
        }
        EventKind::TaskCompleted { outcome, values, .. } => {
            instance.task = None;
            output(state, event, Value::Object(values.clone()), outcome.as_deref());
        }
        _ => instance.task = None,
    }
}

fn open(created: &TaskCreated) -> TaskState {
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
