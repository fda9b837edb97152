//! Rows that a beginning or a step of the engine writes: what a run's record holds is decided here alone.
//! Timers, subscriptions and open tasks are projections of the state, so that they are found by comparing the state
//! before with the state after: they can't drift from it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use heddle_engine::{Event, EventKind, RunCalled, State, Step, SubscriptionKind, Trigger, store_signal};
use heddle_kernel::{
    DefinitionKind, EventId, IdSource, JobId, Revision, RunId, TaskId, TenantId, Timestamp, UserId,
    WorkflowId,
};
use heddle_settings::service::is_own_type;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::UseCaseError;
use crate::ports::{JobChange, RunWrite, StoreWrite, TaskChange};
use crate::records::{
    BindingKind, HumanTask, Job, JobEnding, JobOutcome, JobStand, JobState, Outgoing, Run, RunState,
    StartBinding, SubscriptionRow, TaskState, ThrownKind, TimerRow, TriggerRecord,
};

/// Context of a step: data of its rows beside the engine's result.
pub struct StepContext<'a> {
    /// Instant of the step.
    pub now: Timestamp,
    /// The task that the caller completed, and who that is.
    pub completed: Option<(TaskId, UserId)>,
    /// Messages and signals thrown one for another before the step.
    pub hops: u32,
    /// Source of the ids of thrown messages.
    pub ids: &'a dyn IdSource,
}

impl std::fmt::Debug for StepContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepContext").finish_non_exhaustive()
    }
}

/// Instant of a step and the user who asks for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Initiator {
    /// The instant of the step.
    pub now: Timestamp,
    /// The user; none for a timer or a message.
    pub user: Option<UserId>,
    /// Messages and signals thrown one for another before it.
    pub hops: u32,
}

impl Initiator {
    /// One that no thrown message or signal stands behind.
    pub(crate) const fn new(now: Timestamp, user: Option<UserId>) -> Self {
        Self { now, user, hops: 0 }
    }
}

/// Request to start a run.
#[derive(Debug, Clone, Default)]
pub struct StartRun {
    /// The process's variables at the start.
    pub input: Map<String, Value>,
    /// Version to run instead of the active one.
    pub version: Option<i32>,
    /// Process of the definition to run.
    pub process_id: Option<String>,
    /// The caller's own name for the run.
    pub business_key: Option<String>,
    /// Key by which messages find the run.
    pub correlation_key: Option<String>,
    /// Start event to begin at.
    pub start_node_id: Option<String>,
    /// Users who fill the roles of a case from its start on, by the ids of the roles.
    pub people: BTreeMap<String, Vec<String>>,
}

/// Instance that is to be started by a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartOf {
    /// The organisation.
    pub tenant: TenantId,
    /// Kind of the definition.
    pub kind: DefinitionKind,
    /// The workflow or case type.
    pub definition: WorkflowId,
}

/// A run that is to begin.
pub(crate) struct NewInstance {
    pub tenant: TenantId,
    pub kind: DefinitionKind,
    pub workflow: WorkflowId,
    /// The one that was asked for, or the active one.
    pub version: i32,
    pub trigger: Trigger,
    pub record: TriggerRecord,
    pub request: StartRun,
}

impl NewInstance {
    /// One that an event or a timer starts, without input.
    pub(crate) fn of(binding: &StartBinding, trigger: Trigger, record: TriggerRecord) -> Self {
        Self {
            tenant: binding.tenant,
            kind: binding.definition_kind,
            workflow: binding.workflow,
            version: binding.version,
            trigger,
            record,
            request: StartRun { process_id: Some(binding.process_id.clone()), ..StartRun::default() },
        }
    }
}

/// The run's record before its first step.
pub(crate) fn new_run(beginning: &NewInstance, process_id: &str, id: RunId, by: Initiator) -> Run {
    Run {
        tenant: beginning.tenant,
        kind: beginning.kind,
        id,
        workflow: beginning.workflow,
        version: beginning.version,
        process_id: process_id.to_owned(),
        state: RunState::Running,
        has_incident: false,
        business_key: beginning.request.business_key.clone(),
        correlation_key: beginning.request.correlation_key.clone(),
        trigger: beginning.record.clone(),
        input: Value::Object(beginning.request.input.clone()),
        snapshot: State::default(),
        last_sequence: 0,
        revision: NEW,
        created_at: by.now,
        created_by: by.user,
        updated_at: by.now,
        ended_at: None,
        waiting_since: None,
    }
}

/// Waits and open tasks of a state, taken of it before the step that uses it up.
#[derive(Debug, Default)]
pub struct Waits {
    timers: Vec<TimerRow>,
    subscriptions: Vec<SubscriptionRow>,
    /// Open tasks with their assignees.
    tasks: HashMap<TaskId, Option<String>>,
    jobs: HashMap<JobId, StandingJob>,
}

/// An open job before a step.
#[derive(Debug)]
struct StandingJob {
    job_type: Arc<str>,
    node_id: Arc<str>,
    stand: JobStand,
}

impl Waits {
    /// The waits of a state.
    #[must_use]
    pub fn of(state: &State) -> Self {
        Self {
            timers: timers(state),
            subscriptions: subscriptions(state),
            tasks: state.tasks().into_iter().map(|task| (task.task_id, task.assignee)).collect(),
            jobs: jobs(state)
                .map(|(job, stand)| {
                    (job.job_id, StandingJob { job_type: job.job_type, node_id: job.node_id, stand })
                })
                .collect(),
        }
    }
}

/// The rows of a step. `before` is what the state that it began in waited for; none for a new run.
///
/// # Errors
/// `Internal` when the events have no JSON form.
pub fn write_of(
    mut run: Run,
    before: Option<Waits>,
    step: Step,
    happening: &StepContext<'_>,
) -> Result<RunWrite, UseCaseError> {
    let first_sequence = run.last_sequence + 1;
    let existed = before.is_some();
    let old = before.unwrap_or_default();
    let events = encode(&step.events)?;
    let (outgoing, stores) = (outgoing(&run, &step, happening), stores(&step));
    let (timers_added, timers_removed) =
        difference(old.timers, timers(&step.state), |timer| timer.timer_id.clone());
    let (subscriptions_added, subscriptions_removed) =
        difference(old.subscriptions, subscriptions(&step.state), |row| row.subscription_id.clone());
    let tasks = task_changes(&run, old.tasks, &step.state, happening);
    let jobs = job_changes(&run, old.jobs, &step.state, happening.now);
    let expected = existed.then_some(run.revision);
    advance(&mut run, step, existed, happening.now);
    Ok(RunWrite {
        run,
        packed: None,
        expected,
        events,
        first_sequence,
        timers_added,
        timers_removed,
        subscriptions_added,
        subscriptions_removed,
        tasks,
        jobs,
        outgoing,
        stores,
    })
}

/// The run's row after the step.
fn advance(run: &mut Run, step: Step, existed: bool, now: Timestamp) {
    let state = run_state(&step.state);
    if existed {
        run.revision = run.revision.next();
    }
    run.waiting_since = match (state, run.waiting_since) {
        (RunState::Waiting, Some(since)) if run.state == RunState::Waiting => Some(since),
        (RunState::Waiting, _) => Some(now),
        _ => None,
    };
    run.state = state;
    run.has_incident = !state.is_terminal() && step.state.has_incident();
    run.last_sequence = step.state.last_sequence();
    run.updated_at = now;
    run.ended_at = state.is_terminal().then(|| run.ended_at.unwrap_or(now));
    run.snapshot = step.state;
}

/// The engine's status in the words of the API.
#[must_use]
pub fn run_state(state: &State) -> RunState {
    use heddle_engine::Status;
    match state.status() {
        Status::Running => RunState::Running,
        Status::Waiting => RunState::Waiting,
        Status::Completed => RunState::Completed,
        Status::Failed => RunState::Failed,
        Status::Cancelled => RunState::Cancelled,
        Status::Suspended => RunState::Suspended,
        Status::Closed => RunState::Closed,
    }
}

fn encode(events: &[Event]) -> Result<Option<Vec<u8>>, UseCaseError> {
    if events.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_vec(events)
        .map_err(|error| UseCaseError::Internal(format!("events do not encode: {error}")))?;
    Ok(Some(text))
}

/// A held run has no timers and no subscriptions: they wait for its resumption, and messages for it are kept.
fn timers(state: &State) -> Vec<TimerRow> {
    let row = |timer: heddle_engine::OpenTimer| TimerRow {
        timer_id: timer.id.to_string(),
        node_id: timer.node_id.to_string(),
        due_at: timer.due_at,
    };
    state.timers().into_iter().map(row).collect()
}

fn subscriptions(state: &State) -> Vec<SubscriptionRow> {
    let row = |subscription: heddle_engine::OpenSubscription| {
        let kind = match subscription.kind {
            SubscriptionKind::Message => BindingKind::Message,
            SubscriptionKind::Signal => BindingKind::Signal,
            // Nothing from outside meets a condition.
            SubscriptionKind::Condition => return None,
        };
        Some(SubscriptionRow {
            subscription_id: subscription.id.to_string(),
            kind,
            name: subscription.name.to_string(),
            correlation_key: subscription.correlation_key,
            node_id: subscription.node_id.to_string(),
        })
    };
    state.subscriptions().into_iter().filter_map(row).collect()
}

/// Open jobs with how they stand. Those of a suspended run or item stay, and nobody gets them; an ended run has none.
fn jobs(state: &State) -> impl Iterator<Item = (heddle_engine::OpenJob, JobStand)> {
    let suspended = state.status() == heddle_engine::Status::Suspended;
    state.jobs().into_iter().map(move |job| {
        let stand = JobStand::of(&job, suspended || job.is_suspended);
        (job, stand)
    })
}

/// Changes of the jobs of a run.
fn job_changes(
    run: &Run,
    mut before: HashMap<JobId, StandingJob>,
    new: &State,
    now: Timestamp,
) -> Vec<JobChange> {
    let mut ahead: HashMap<Arc<str>, usize> = HashMap::new();
    for one in before.values() {
        *ahead.entry(Arc::clone(&one.job_type)).or_default() += 1;
    }
    let mut changes = Vec::new();
    for (job, stand) in jobs(new) {
        match before.remove(&job.job_id) {
            Some(same) if same.stand == stand => {}
            Some(other) => {
                let (job, job_type) = (job.job_id, other.job_type.to_string());
                let stays = stand.state == JobState::Suspended && is_own_type(&job_type);
                changes.push(JobChange::Stand { job, job_type, stand, message: None, epoch: None, stays });
            }
            None => {
                let ahead = ahead.entry(Arc::clone(&job.job_type)).or_default();
                let mut opened = Job::opened(run, job, *ahead);
                opened.state = stand.state;
                *ahead += 1;
                changes.push(JobChange::Open(Box::new(opened)));
            }
        }
    }
    let mut gone: Vec<_> = before.into_iter().collect();
    gone.sort_unstable_by_key(|(id, _)| *id);
    let ending = |(id, one): (JobId, StandingJob)| JobEnding {
        tenant: run.tenant,
        id,
        job_type: one.job_type.to_string(),
        instance_kind: run.kind,
        run: run.id,
        workflow: run.workflow,
        node_id: one.node_id.to_string(),
        worker: None,
        epoch: 0,
        outcome: JobOutcome::Withdrawn,
        digest: String::new(),
        ended_at: now,
    };
    changes.extend(gone.into_iter().map(|one| JobChange::Withdraw(Box::new(ending(one)))));
    changes
}

/// Changes of jobs by two steps that follow each other.
fn jobs_of_both(first: Vec<JobChange>, second: Vec<JobChange>) -> Vec<JobChange> {
    let opened: HashMap<JobId, usize> = first
        .iter()
        .enumerate()
        .filter_map(|(place, one)| match one {
            JobChange::Open(job) => Some((job.id, place)),
            JobChange::Stand { .. } | JobChange::End(_) | JobChange::Withdraw(_) => None,
        })
        .collect();
    let mut all: Vec<Option<JobChange>> = first.into_iter().map(Some).collect();
    for change in second {
        let id = match &change {
            JobChange::Withdraw(ending) => ending.id,
            JobChange::Stand { job, .. } => *job,
            JobChange::Open(_) | JobChange::End(_) => {
                all.push(Some(change));
                continue;
            }
        };
        match (opened.get(&id), change) {
            // What the first opened and the second took away again never reaches the database.
            (Some(place), JobChange::Withdraw(_)) => {
                if let Some(row) = all.get_mut(*place) {
                    *row = None;
                }
            }
            (Some(place), JobChange::Stand { stand, .. }) => {
                if let Some(Some(JobChange::Open(row))) = all.get_mut(*place) {
                    (row.state, row.retries) = (stand.state, stand.retries);
                    (row.attempt, row.due_at) = (stand.attempt, stand.due_at);
                }
            }
            (_, change) => all.push(Some(change)),
        }
    }
    all.into_iter().flatten().collect()
}

/// Rows that came and keys of those that went; a row that changed under its id goes and comes.
fn difference<T: PartialEq, K: Hash + Eq>(
    old: Vec<T>,
    new: Vec<T>,
    key: impl Fn(&T) -> K,
) -> (Vec<T>, Vec<K>) {
    if old.is_empty() {
        return (new, Vec::new());
    }
    let mut before: HashMap<K, T> = old.into_iter().map(|row| (key(&row), row)).collect();
    let mut added = Vec::new();
    for row in new {
        let id = key(&row);
        match before.remove(&id) {
            Some(same) if same == row => {}
            Some(other) => {
                before.insert(id, other);
                added.push(row);
            }
            None => added.push(row),
        }
    }
    (added, before.into_keys().collect())
}

fn task_changes(
    run: &Run,
    mut before: HashMap<TaskId, Option<String>>,
    new: &State,
    happening: &StepContext<'_>,
) -> Vec<TaskChange> {
    let mut changes = Vec::new();
    for task in new.tasks() {
        match before.remove(&task.task_id) {
            Some(assignee) if assignee != task.assignee => {
                changes.push(TaskChange::Assign(task.task_id, task.assignee));
            }
            Some(_) => {}
            None => changes.push(TaskChange::Open(Box::new(human_task(run, task)))),
        }
    }
    let mut ended: Vec<_> = before.into_keys().collect();
    ended.sort_unstable();
    changes.extend(ended.into_iter().map(|task| {
        let by = happening.completed.filter(|(completed, _)| *completed == task).map(|(_, by)| by);
        let state = if by.is_some() { TaskState::Completed } else { TaskState::Cancelled };
        TaskChange::End { task, state, at: happening.now, by }
    }));
    changes
}

/// An open task of a run's state as the work list shows it.
#[must_use]
pub fn human_task(run: &Run, task: heddle_engine::OpenTask) -> HumanTask {
    HumanTask {
        tenant: run.tenant,
        id: task.task_id,
        instance_kind: run.kind,
        run: run.id,
        workflow: run.workflow,
        node_id: task.node_id.to_string(),
        node_instance_id: task.node_instance_id.to_string(),
        name: task.name.map(|name| name.to_string()).unwrap_or_else(|| task.node_id.to_string()),
        state: TaskState::Open,
        assignee: task.assignee,
        candidate_users: task.candidate_users,
        candidate_groups: task.candidate_groups,
        due_at: task.due_at,
        follow_up_at: task.follow_up_at,
        priority: task.priority.map_or(50, i32::from),
        form: task.form.map(|form| (*form).clone()),
        outcomes: task.outcomes.iter().map(ToString::to_string).collect(),
        created_at: task.created_at,
        ended_at: None,
        completed_by: None,
    }
}

/// Event of which others are told.
enum ForOthers<'e> {
    Message { name: &'e str, correlation_key: Option<&'e str>, payload: &'e Value },
    Signal { name: &'e str, payload: &'e Value },
    Call(&'e RunCalled),
    CallCancel(RunId),
    Escalation { code: &'e str, values: &'e Map<String, Value> },
    StoreWrite { store: &'e str },
    Resumption,
}

/// Part of an event that is for others: a new kind of event has its place here. An escalation that was caught stays within.
fn for_others(kind: &EventKind) -> Option<ForOthers<'_>> {
    match kind {
        EventKind::MessageSent { name, correlation_key, payload, .. } => {
            Some(ForOthers::Message { name, correlation_key: correlation_key.as_deref(), payload })
        }
        EventKind::SignalSent { name, payload } => Some(ForOthers::Signal { name, payload }),
        EventKind::RunCalled(called) => Some(ForOthers::Call(called)),
        EventKind::CallCancelled { run_id } => Some(ForOthers::CallCancel(*run_id)),
        EventKind::EscalationThrown { code, values, caught: false } => {
            Some(ForOthers::Escalation { code, values })
        }
        EventKind::DataStoreWritten { store, .. } => Some(ForOthers::StoreWrite { store }),
        // A case that was suspended also goes on by its reactivation.
        EventKind::RunResumed { .. } | EventKind::CaseReactivated { .. } => Some(ForOthers::Resumption),
        EventKind::EscalationThrown { caught: true, .. }
        | EventKind::RunStarted(_)
        | EventKind::RunCompleted { .. }
        | EventKind::RunFailed { .. }
        | EventKind::RunCancelled { .. }
        | EventKind::RunCancelling { .. }
        | EventKind::RunSuspended { .. }
        | EventKind::NodeActivated { .. }
        | EventKind::NodeRestored { .. }
        | EventKind::NodeStaged { .. }
        | EventKind::NodeCompensated { .. }
        | EventKind::NodeCompleted { .. }
        | EventKind::NodeCancelled { .. }
        | EventKind::BodyOpened { .. }
        | EventKind::BodyAdvanced { .. }
        | EventKind::BodyClosed { .. }
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
        | EventKind::MessageReceived { .. }
        | EventKind::SignalReceived { .. }
        | EventKind::TaskCreated(_)
        | EventKind::TaskAssigned { .. }
        | EventKind::TaskCompleted { .. }
        | EventKind::TaskCancelled { .. }
        | EventKind::JobCreated(_)
        | EventKind::JobCompleted { .. }
        | EventKind::JobFailed { .. }
        | EventKind::JobErrorThrown { .. }
        | EventKind::JobKept { .. }
        | EventKind::ProtectionViolated(_)
        | EventKind::JobRetriesSet { .. }
        | EventKind::JobCancelled { .. }
        | EventKind::CallCompleted { .. }
        | EventKind::CallFailed { .. }
        | EventKind::DecisionEvaluated(_)
        | EventKind::ScriptEvaluated { .. }
        | EventKind::ChoreographyAdvanced { .. }
        | EventKind::ChoreographyViolated(_)
        | EventKind::DecisionTaken { .. }
        | EventKind::IncidentRaised { .. }
        | EventKind::IncidentResolved { .. }
        | EventKind::CaseOpened { .. }
        | EventKind::CaseClosed { .. }
        | EventKind::ItemCreated(_)
        | EventKind::ItemTransitioned { .. }
        | EventKind::SentrySatisfied { .. }
        | EventKind::SentryReset { .. }
        | EventKind::OnPartOccurred { .. }
        | EventKind::CaseFileChanged { .. }
        | EventKind::RoundPending { .. }
        // Told with the call itself, which is of the same step.
        | EventKind::CallDetached { .. } => None,
    }
}

/// Sendings of a step to others: messages and signals, calls and their withdrawal, and the end of a called run.
fn outgoing(run: &Run, step: &Step, happening: &StepContext<'_>) -> Vec<Outgoing> {
    let sent = |kind, name: &str, payload: Value| Outgoing {
        tenant: run.tenant,
        id: EventId(happening.ids.next(happening.now)),
        run: run.id,
        kind,
        name: name.to_owned(),
        correlation_key: None,
        payload,
        created_at: happening.now,
        hops: happening.hops.max(run.depth()).saturating_add(1),
    };
    let told =
        |called: RunId, caller: RunId| sent(ThrownKind::CallEnd, "", CallNotice { called, caller }.json());
    let (mut all, mut stores) = (Vec::new(), HashSet::new());
    for event in &step.events {
        match for_others(&event.kind) {
            None => {}
            Some(ForOthers::Message { name, correlation_key, payload }) => all.push(Outgoing {
                correlation_key: correlation_key.map(str::to_owned),
                ..sent(ThrownKind::Message, name, payload.clone())
            }),
            Some(ForOthers::Signal { name, payload }) => {
                all.push(sent(ThrownKind::Signal, name, payload.clone()));
            }
            Some(ForOthers::Call(called)) => all.push(Outgoing {
                id: call_of(called.run_id),
                ..sent(ThrownKind::Call, &called.called, CallRequest::of(event, called, step).json())
            }),
            Some(ForOthers::CallCancel(called)) => {
                let notice = CallNotice { called, caller: run.id };
                all.push(sent(ThrownKind::CallCancel, "", notice.json()));
            }
            Some(ForOthers::Escalation { code, values }) => {
                let Some(parent) = &run.trigger.parent else { continue };
                let escalation = CallEscalation {
                    called: run.id,
                    caller: parent.run,
                    code: code.to_owned(),
                    values: values.clone(),
                };
                // It is delivered before the end that may come with it.
                let before = Timestamp::from_micros(happening.now.micros() - 1);
                all.push(Outgoing {
                    created_at: before,
                    ..sent(ThrownKind::CallEscalation, code, escalation.json())
                });
            }
            // Whoever waits for the store looks at it, once for all that the step wrote.
            Some(ForOthers::StoreWrite { store }) => {
                let tell = || sent(ThrownKind::Signal, &store_signal(store), Value::Null);
                all.extend(stores.insert(store).then(tell));
            }
            // What ended while the run was suspended was told in vain.
            Some(ForOthers::Resumption) => {
                all.extend(step.state.calls().into_iter().map(|call| told(call.run_id, run.id)));
            }
        }
    }
    if let Some(parent) = run.trigger.parent.as_ref().filter(|_| step.state.status().is_terminal()) {
        all.push(told(run.id, parent.run));
    }
    all
}

/// Data stores that a step wrote.
fn stores(step: &Step) -> Vec<StoreWrite> {
    let written = |event: &Event| {
        let EventKind::DataStoreWritten { store, value } = &event.kind else { return None };
        Some(StoreWrite { store: store.to_string(), value: value.clone() })
    };
    step.events.iter().filter_map(written).collect()
}

/// Id of the call of a run, by which it is found again.
#[must_use]
pub fn call_of(called: RunId) -> EventId {
    EventId(called.0)
}

/// A call as it waits for its delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallRequest {
    /// The call activity.
    pub node_id: String,
    /// Node instance of the call activity.
    pub node_instance_id: String,
    /// Whether nothing waits for what is called: it is started all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_detached: bool,
    /// The call.
    pub call: RunCalled,
}

impl CallRequest {
    fn of(event: &Event, called: &RunCalled, step: &Step) -> Self {
        let detaches = |other: &Event| matches!(&other.kind, EventKind::CallDetached { run_id } if *run_id == called.run_id);
        Self {
            is_detached: step.events.iter().any(detaches),
            node_id: event.node_id.as_deref().unwrap_or_default().to_owned(),
            node_instance_id: event.node_instance_id.map(|id| id.to_string()).unwrap_or_default(),
            call: called.clone(),
        }
    }

    fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Word about a called run between it and its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallNotice {
    /// The called run.
    pub called: RunId,
    /// The run that called it.
    pub caller: RunId,
}

/// Escalation that a called run let go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallEscalation {
    /// The called run.
    pub called: RunId,
    /// The run that called it.
    pub caller: RunId,
    /// Code of the escalation.
    pub code: String,
    /// Variables for whoever catches it.
    pub values: Map<String, Value>,
}

impl CallEscalation {
    fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl CallNotice {
    fn json(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl RunWrite {
    /// Two steps that follow each other, as one write: what the first set and the second took away again never
    /// reaches the database.
    ///
    /// # Errors
    /// `Internal` when the events don't read.
    pub fn followed_by(mut self, mut second: Self) -> Result<Self, UseCaseError> {
        self.events = join(self.events, second.events)?;
        let timers: HashSet<String> = second.timers_removed.iter().cloned().collect();
        let known: HashSet<String> = self.timers_added.iter().map(|timer| timer.timer_id.clone()).collect();
        self.timers_added.retain(|timer| !timers.contains(&timer.timer_id));
        second.timers_removed.retain(|id| !known.contains(id));
        let closed: HashSet<String> = second.subscriptions_removed.iter().cloned().collect();
        let opened = self.subscriptions_added.iter().map(|row| row.subscription_id.clone());
        let opened: HashSet<String> = opened.collect();
        self.subscriptions_added.retain(|row| !closed.contains(&row.subscription_id));
        second.subscriptions_removed.retain(|id| !opened.contains(id));
        self.timers_added.append(&mut second.timers_added);
        self.timers_removed.append(&mut second.timers_removed);
        self.subscriptions_added.append(&mut second.subscriptions_added);
        self.subscriptions_removed.append(&mut second.subscriptions_removed);
        self.tasks.append(&mut second.tasks);
        self.jobs = jobs_of_both(self.jobs, second.jobs);
        self.outgoing.append(&mut second.outgoing);
        self.stores.append(&mut second.stores);
        self.run = second.run;
        self.packed = second.packed;
        Ok(self)
    }
}

fn join(first: Option<Vec<u8>>, second: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, UseCaseError> {
    let (Some(first), Some(second)) = (&first, &second) else { return Ok(first.or(second)) };
    let read = |text: &[u8]| serde_json::from_slice::<Vec<serde_json::Value>>(text);
    let both = read(first).and_then(|mut events| {
        events.extend(read(second)?);
        serde_json::to_vec(&events)
    });
    both.map(Some).map_err(|error| UseCaseError::Internal(format!("events do not join: {error}")))
}

/// The revision of a run that is about to be inserted.
pub(crate) const NEW: Revision = Revision::FIRST;
