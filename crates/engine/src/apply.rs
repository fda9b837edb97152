//! The only place where a state changes.

use crate::event::{BodyKind, Event, EventKind, Resolution, RunStarted, TaskCreated};
use crate::state::{
    BodyState, CallState, Cancelling, IncidentState, JobState, Life, NodeInstance, ScopeState, Stage, State,
    SubscriptionState, TaskState, TimerState, Token,
};
use crate::{LocalId, size};
use heddle_bpmn_graph::Element;
use heddle_feel::size_of_json;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Applies one event. Events come in the order of their sequence, each once; an event about something that is
/// not there changes nothing but the sequence.
pub fn apply(state: &mut State, event: &Event) {
    state.sequence = event.sequence;
    state.stored = state.stored.saturating_add(size::of_event(&event.kind));
    let scope = event.scope_id.unwrap_or(LocalId::ROOT);
    match &event.kind {
        EventKind::RunStarted(_)
        | EventKind::RunCompleted { .. }
        | EventKind::RunFailed { .. }
        | EventKind::RunCancelling { .. }
        | EventKind::RunCancelled { .. }
        | EventKind::RunSuspended { .. }
        | EventKind::RunResumed { .. } => life(state, event),
        EventKind::FlowTaken { .. }
        | EventKind::TokensWithdrawn { .. }
        | EventKind::ScopeOpened {}
        | EventKind::ScopeClosed {}
        | EventKind::VariablesSet { .. } => scope_content(state, event, scope),
        EventKind::NodeActivated { .. }
        | EventKind::NodeRestored { .. }
        | EventKind::NodeCompensated { .. }
        | EventKind::NodeStaged { .. }
        | EventKind::BodyOpened { .. }
        | EventKind::BodyAdvanced { .. }
        | EventKind::BodyClosed { .. }
        | EventKind::NodeCompleted { .. }
        | EventKind::NodeCancelled { .. } => {
            node(state, event, scope);
        }
        EventKind::CompensationRecorded { .. }
        | EventKind::CompensationStarted { .. }
        | EventKind::CompensationEnded { .. } => compensation(state, event),
        EventKind::TimerScheduled { .. }
        | EventKind::TimerFired { .. }
        | EventKind::TimerCancelled { .. }
        | EventKind::SubscriptionOpened { .. }
        | EventKind::ConditionChanged { .. }
        | EventKind::SubscriptionClosed { .. } => wait(state, event, scope),
        EventKind::TaskCreated(_)
        | EventKind::TaskAssigned { .. }
        | EventKind::TaskCompleted { .. }
        | EventKind::TaskCancelled { .. } => task(state, event),
        EventKind::JobCreated(_)
        | EventKind::JobCompleted { .. }
        | EventKind::JobFailed { .. }
        | EventKind::JobErrorThrown { .. }
        | EventKind::JobKept { .. }
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
        EventKind::MessageSent { correlation_key, correlation_key_id, .. } => {
            if let (Some(id), Some(value)) = (correlation_key_id, correlation_key) {
                // The first message of a conversation sets the key (clause 8.4.2).
                state.keys.entry(id.clone()).or_insert_with(|| value.clone());
            }
        }
        EventKind::ChoreographyAdvanced { choreography_id, state: known, .. } => {
            state.choreographies.insert(choreography_id.clone(), known.clone());
        }
        EventKind::ChoreographyViolated(_)
        | EventKind::ProtectionViolated(_)
        | EventKind::SignalSent { .. }
        | EventKind::EscalationThrown { .. }
        | EventKind::DataStoreWritten { .. }
        | EventKind::DecisionTaken { .. } => {}
        EventKind::IncidentRaised { .. } | EventKind::IncidentResolved { .. } => {
            incident(state, event, scope)
        }
        EventKind::CaseOpened { .. }
        | EventKind::CaseReactivated { .. }
        | EventKind::CaseClosed { .. }
        | EventKind::ItemCreated(_)
        | EventKind::ItemTransitioned { .. }
        | EventKind::SentrySatisfied { .. }
        | EventKind::SentryReset { .. }
        | EventKind::OnPartOccurred { .. }
        | EventKind::CaseFileChanged { .. }
        | EventKind::RoundPending { .. }
        | EventKind::CallDetached { .. } => state.apply_case(event),
    }
    if state.case.is_some() {
        state.apply_work(event);
    }
}

/// Changes what is in a scope: its tokens and variables, or the scope itself.
fn scope_content(state: &mut State, event: &Event, scope: LocalId) {
    match &event.kind {
        EventKind::FlowTaken { flow_id, target_id, iteration } => {
            let target = Some(target_id.clone());
            if let (Some(times), Some(own)) = (iteration, state.scope_mut(scope)) {
                own.loops.insert(flow_id.clone(), *times);
            }
            state.flow.tokens.push_back(Token { flow: flow_id.clone(), scope, since: event.at, target });
        }
        EventKind::TokensWithdrawn { flows } => withdraw(state, flows, scope),
        EventKind::ScopeOpened {} => {
            let parent = state.owner(scope).map(|owner| owner.scope);
            let (node, variables, loops) = (event.node_id.clone(), Map::new(), BTreeMap::new());
            let own = ScopeState { id: scope, node, parent, variables, loops };
            // A scope may be opened long after the node instance that it belongs to came to be.
            let place = state.scopes.partition_point(|other| other.id < scope);
            state.scopes.insert(place, own);
        }
        EventKind::ScopeClosed {} => {
            if let Ok(place) = state.scopes.binary_search_by_key(&scope, |own| own.id) {
                state.scopes.remove(place);
            }
            state.incidents.retain(|incident| incident.scope != scope);
        }
        EventKind::VariablesSet { values } => {
            if let Some(own) = state.scope_mut(scope) {
                own.variables.extend(values.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
        }
        _ => {}
    }
}

fn life(state: &mut State, event: &Event) {
    match &event.kind {
        EventKind::RunStarted(started) => start(state, started, event),
        EventKind::RunCompleted { output } => {
            end(state, Life::Completed, event);
            let differs = state.variables() != Some(output);
            if let Some(case) = state.case.as_deref_mut().filter(|_| differs) {
                case.output = Some(output.clone());
            }
        }
        EventKind::RunFailed { error } => {
            state.error = Some(error.clone());
            end(state, Life::Failed, event);
        }
        EventKind::RunCancelling { reason, by } => {
            state.flow.cancelling = Some(Cancelling { reason: reason.clone(), by: *by });
        }
        EventKind::RunCancelled { .. } => end(state, Life::Cancelled, event),
        EventKind::RunSuspended { .. } => state.life = Life::Suspended,
        EventKind::RunResumed { .. } => state.life = Life::Active,
        _ => {}
    }
}

fn compensation(state: &mut State, event: &Event) {
    match &event.kind {
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
        _ => {}
    }
}

fn start(state: &mut State, started: &RunStarted, event: &Event) {
    state.process = started.process_id.clone();
    state.life = Life::Active;
    state.correlation_key.clone_from(&started.correlation_key);
    state.started_at = Some(event.at);
    let variables = started.input.clone();
    let loops = BTreeMap::new();
    state.scopes.push(ScopeState { id: LocalId::ROOT, node: None, parent: None, variables, loops });
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
    state.choreographies.clear();
    if let Some(case) = state.case.as_deref_mut() {
        case.memories.clear();
        case.given.clear();
        case.pending.clear();
    }
}

fn withdraw(state: &mut State, flows: &[std::sync::Arc<str>], scope: LocalId) {
    for flow in flows {
        if let Some(place) =
            state.flow.tokens.iter().position(|token| token.scope == scope && token.flow == *flow)
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
            if *element == Element::ComplexGateway {
                own.via.clone_from(via);
            }
            state.flow.active.push(own);
            if let Some(iteration) = iteration {
                change_body(state, scope, |body| body.started = body.started.max(iteration + 1));
            }
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
        EventKind::BodyOpened { kind, total, items } => {
            if let Some(own) = state.instance_mut(id) {
                let (items, total) = (items.clone(), *total);
                let body = BodyState { kind: *kind, items, total, ..BodyState::default() };
                own.body = Some(Box::new(body));
            }
            change_body(state, id, |_| ());
        }
        EventKind::BodyAdvanced { iteration, completed, output } => {
            change_body(state, id, |body| advance(body, *iteration, *completed, output.as_ref()));
        }
        EventKind::NodeCancelled { .. } => {
            let inside = state.instance(id).is_some_and(|own| own.iteration.is_some());
            remove(state, id);
            if inside {
                change_body(state, scope, |body| body.withdrawn += 1);
            }
        }
        EventKind::BodyClosed { output: value, .. } | EventKind::NodeCompleted { output: value, .. } => {
            if let Some(value) = value {
                output(state, event, value.clone(), None);
            }
            remove(state, id);
        }
        _ => remove(state, id),
    }
}

/// Changes a body, and the variables that tell about its instances.
fn change_body(state: &mut State, id: LocalId, change: impl FnOnce(&mut BodyState)) {
    let Some(body) = state.instance_mut(id).and_then(|own| own.body.as_deref_mut()) else { return };
    change(body);
    if body.kind == BodyKind::Instances && !body.has_more() {
        body.items = Vec::new();
    }
    let counters = body.counters();
    if let Some(own) = state.scope_mut(id) {
        own.variables.extend(counters.into_iter().map(|(name, value)| (name.to_owned(), value)));
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
        EventKind::TimerScheduled { timer_id, due_at, cycle, trigger } => {
            count(state, *timer_id);
            state.timers.push(TimerState {
                id: *timer_id,
                node,
                host,
                due_at: *due_at,
                cycle: cycle.clone(),
                trigger: *trigger,
            });
        }
        EventKind::TimerFired { timer_id, .. } | EventKind::TimerCancelled { timer_id } => {
            // Timers are appended with rising ids.
            match state.timers.binary_search_by_key(timer_id, |timer| timer.id) {
                Ok(place) => drop(state.timers.remove(place)),
                Err(_) => state.timers.retain(|timer| timer.id != *timer_id),
            }
        }
        EventKind::SubscriptionOpened { subscription_id, kind, name, correlation_key, trigger } => {
            count(state, *subscription_id);
            state.subscriptions.push(SubscriptionState {
                id: *subscription_id,
                node,
                host,
                kind: *kind,
                name: name.clone(),
                key: correlation_key.clone(),
                trigger: *trigger,
                held: false,
            });
        }
        EventKind::ConditionChanged { subscription_id, holds } => {
            if let Some(own) = state.subscription_mut(*subscription_id) {
                own.held = *holds;
            }
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
    body.started = body.started.max(iteration + 1);
    body.bytes += output.map_or(0, size_of_json);
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
            let review = state.instance(owner).is_some_and(|own| matches!(own.stage, Stage::Review(_)));
            state.tasks.retain(|own| own.id != *task_id);
            if review {
                reviewed(state, event, outcome.as_deref());
            } else {
                output(state, event, Value::Object(values.clone()), outcome.as_deref());
            }
        }
        EventKind::TaskCancelled { task_id } => {
            match state.tasks.binary_search_by_key(&owner, |own| own.owner) {
                Ok(place) if state.tasks.get(place).is_some_and(|own| own.id == *task_id) => {
                    state.tasks.remove(place);
                }
                Ok(_) | Err(_) => state.tasks.retain(|own| own.id != *task_id),
            }
        }
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
                kept: None,
                notes: None,
            };
            state.jobs.insert(place, job);
        }
        EventKind::JobFailed { job_id, retries, not_before, notes, .. } => {
            if let Some(job) = state.jobs.iter_mut().find(|own| own.id == *job_id) {
                job.retries = *retries;
                job.not_before = *not_before;
                job.attempt = job.attempt.saturating_add(1);
                job.kept = None;
                // An attempt that says nothing, such as one that was left behind, takes nothing away.
                if notes.is_some() {
                    job.notes.clone_from(notes);
                }
            }
        }
        EventKind::JobKept { job_id, end } => {
            if let Some(job) = state.jobs.iter_mut().find(|own| own.id == *job_id) {
                job.kept = Some(Box::new(end.clone()));
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
        EventKind::JobCancelled { job_id } => {
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
        follow_up_at,
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
        follow_up_at,
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

/// Keeps the outcome of a review of a node's result, which stays as it is.
fn reviewed(state: &mut State, event: &Event, outcome: Option<&str>) {
    let (Some(node), Value::Object(outputs)) = (&event.node_id, &mut state.outputs) else { return };
    let entry = outputs.entry(&**node).or_insert_with(|| Value::Object(Map::new()));
    if let (Value::Object(entry), Some(outcome)) = (entry, outcome) {
        entry.insert("outcome".to_owned(), outcome.into());
    }
}

fn incident(state: &mut State, event: &Event, scope: LocalId) {
    match &event.kind {
        EventKind::IncidentRaised { incident_id, code, message, phase, failure } => {
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
                failure: failure.clone(),
            });
        }
        EventKind::IncidentResolved { incident_id, resolution, .. } => {
            // Incidents are appended with rising ids.
            match state.incidents.binary_search_by_key(incident_id, |own| own.id) {
                Ok(place) => drop(state.incidents.remove(place)),
                Err(_) => state.incidents.retain(|own| own.id != *incident_id),
            }
            if *resolution == Resolution::Retry
                && let Some(active) = event.node_instance_id.and_then(|id| state.instance_mut(id))
            {
                active.attempt = active.attempt.saturating_add(1);
            }
        }
        _ => {}
    }
}
