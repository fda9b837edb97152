//! Views of a run's state for the outside.

use crate::event::{
    BodyKind, IncidentCode, ItemState, JobKind, OutcomeValues, Phase, RunError, SubscriptionKind,
};
use crate::state::{IncidentState, JobState, Life, NodeInstance, Stage, State, Status, TaskState, Token};
use crate::{ItemTarget, LocalId};
use heddle_bpmn_graph::{Element, Graph, Work};
use heddle_kernel::{JobId, RunId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A node that is active: `activeNodes[]` of the API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveNode {
    /// The node.
    pub node_id: Arc<str>,
    /// The node instance; absent where tokens wait at a join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_instance_id: Option<LocalId>,
    /// The BPMN element.
    #[serde(rename = "type")]
    pub element: Element,
    /// `active`, or `failed` while an incident is open.
    pub state: NodeState,
    /// Instant since which it is active.
    pub since: Timestamp,
    /// Subject of its wait; absent for a sub-process whose content runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<WaitingFor>,
}

/// Whether a node instance is in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeState {
    /// Active instance: it waits or its content runs.
    Active,
    /// An incident stopped it.
    Failed,
}

/// Subject of a node instance's wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// Kind of wait.
    pub kind: WaitKind,
    /// Name of the message, signal or task, or code of the incident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Key that a message must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// Due time of a timer or a human task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The human task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The incident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident_id: Option<LocalId>,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Decisions that can be taken on it.
    pub options: Vec<String>,
}

/// Kinds of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WaitKind {
    /// A human task is open.
    HumanTask,
    /// A timer is set.
    Timer,
    /// A message is awaited.
    Message,
    /// A signal is awaited.
    Signal,
    /// A condition on the run's data is awaited.
    Condition,
    /// A job for external workers is open.
    Job,
    /// A called run has not ended.
    Call,
    /// A compensation that it threw has not ended.
    Compensation,
    /// An incident is open.
    Incident,
    /// Somebody has to say `continue`.
    Decision,
    /// A join waits for tokens on its other incoming flows.
    Join,
}

/// An open human task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTask {
    /// The task.
    pub task_id: TaskId,
    /// The user task's node.
    pub node_id: Arc<str>,
    /// Node instance of the user task.
    pub node_instance_id: LocalId,
    /// Name of the task.
    pub name: Option<Arc<str>>,
    /// User who works on it; absent when nobody does.
    pub assignee: Option<String>,
    /// Users who may claim it.
    pub candidate_users: Vec<String>,
    /// Groups whose members may claim it.
    pub candidate_groups: Vec<String>,
    /// Due time; absent when there is none.
    pub due_at: Option<Timestamp>,
    /// Time from which on somebody should look at it; absent when there is none.
    pub follow_up_at: Option<Timestamp>,
    /// 0 to 100.
    pub priority: Option<u8>,
    /// JSON Schema of the values.
    pub form: Option<Arc<Value>>,
    /// Outcomes to choose from.
    pub outcomes: Vec<Arc<str>>,
    /// Variables that an outcome sets, by the outcome.
    pub outcome_values: OutcomeValues,
    /// Instant of creation.
    pub created_at: Timestamp,
}

impl OpenTask {
    /// The outcome of a completion: the one that is named, else the only one whose variables are all among the values.
    #[must_use]
    pub fn meant<'t>(&'t self, named: Option<&'t str>, values: &Map<String, Value>) -> Option<&'t str> {
        let says =
            |sets: &Map<String, Value>| sets.iter().all(|(name, value)| values.get(name) == Some(value));
        let mut said = self.outcome_values.iter().filter(|(_, sets)| says(sets)).map(|(name, _)| &**name);
        let only = said.next().filter(|_| said.next().is_none());
        named.or(only)
    }

    /// Variables that an outcome sets.
    #[must_use]
    pub fn sets(&self, outcome: Option<&str>) -> Option<&Map<String, Value>> {
        outcome.and_then(|outcome| self.outcome_values.get(outcome)).map(|sets| &**sets)
    }
}

/// Decisions that complete a human task, each with the other word that an outcome may have for it.
const TASK_DECISIONS: [(&str, &str); 3] =
    [("approve", "approved"), ("reject", "rejected"), ("revise", "revised")];

/// The outcome with which a decision (`approve`, `reject`, `revise`) ends a task that offers these outcomes; any where it
/// offers none.
#[must_use]
pub fn outcome_of<'o>(decision: &str, outcomes: &'o [Arc<str>]) -> Option<&'o str> {
    let (own, other) = TASK_DECISIONS.into_iter().find(|(own, _)| *own == decision)?;
    if outcomes.is_empty() {
        return Some(own);
    }
    let offered = |word: &str| outcomes.iter().find(|outcome| &***outcome == word).map(|outcome| &**outcome);
    offered(own).or_else(|| offered(other))
}

/// An open job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenJob {
    /// The job.
    pub job_id: JobId,
    /// The node that waits for it.
    pub node_id: Arc<str>,
    /// Node instance that waits for it.
    pub node_instance_id: LocalId,
    /// Part of its node for which it stands.
    pub kind: JobKind,
    /// Type of the job, by which workers ask for it.
    pub job_type: Arc<str>,
    /// Attempts that are left; none while an incident says so.
    pub retries: u32,
    /// The higher, the sooner.
    pub priority: Option<i64>,
    /// Settings of the model for the worker.
    pub headers: Map<String, Value>,
    /// Instant before which no worker gets it.
    pub not_before: Option<Timestamp>,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Instant at which it was opened.
    pub created_at: Timestamp,
    /// Whether the item of a case that waits for it is suspended, so that no worker gets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_suspended: bool,
}

/// A timer that is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTimer {
    /// The timer.
    pub id: LocalId,
    /// The timer event.
    pub node_id: Arc<str>,
    /// Instant from which it may fire.
    pub due_at: Timestamp,
}

/// An open subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenSubscription {
    /// The subscription.
    pub id: LocalId,
    /// Message or signal.
    pub kind: SubscriptionKind,
    /// Name of the message or signal.
    pub name: Arc<str>,
    /// The key that a message must carry; absent when any does.
    pub correlation_key: Option<String>,
    /// The event or receive task.
    pub node_id: Arc<str>,
}

/// A called run that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The called run.
    pub run_id: RunId,
    /// The call activity.
    pub node_id: Arc<str>,
    /// Node instance of the call activity.
    pub node_instance_id: LocalId,
}

/// An open incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    /// The incident.
    pub id: LocalId,
    /// Kind of the incident.
    pub code: IncidentCode,
    /// Cause of the incident, as a sentence.
    pub message: String,
    /// The node.
    pub node_id: Option<Arc<str>>,
    /// The node instance; absent for tokens on flows.
    pub node_instance_id: Option<LocalId>,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// Instant at which it was raised.
    pub raised_at: Timestamp,
    /// Decisions that can be taken on it.
    pub options: Vec<String>,
}

impl State {
    /// The run's state.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self.life {
            Life::New => Status::Running,
            Life::Active => Status::Waiting,
            Life::Suspended => Status::Suspended,
            Life::Completed => Status::Completed,
            Life::Failed => Status::Failed,
            Life::Cancelled => Status::Cancelled,
            Life::Closed => Status::Closed,
        }
    }

    /// The id of the process that runs.
    #[must_use]
    pub const fn process_id(&self) -> &Arc<str> {
        &self.process
    }

    /// The variables of the process.
    #[must_use]
    pub fn variables(&self) -> Option<&Map<String, Value>> {
        self.scopes.first().map(|scope| &scope.variables)
    }

    /// A variable as a node instance sees it, innermost first; as the process sees it, where there is no such instance.
    #[must_use]
    pub fn variable_at(&self, instance: Option<LocalId>, name: &str) -> Option<&Value> {
        let own = instance.filter(|id| self.scope(*id).is_some());
        let around = || instance.and_then(|id| Some(self.owner(id)?.scope));
        let mut next = own.or_else(around).or(Some(LocalId::ROOT));
        while let Some(scope) = next.and_then(|id| self.scope(id)) {
            if let Some(value) = scope.variables.get(name) {
                return Some(value);
            }
            next = scope.parent;
        }
        None
    }

    /// The variables of the process at the run's end, or the outputs of a case; none before, or when it did not complete.
    #[must_use]
    pub fn output(&self) -> Option<&Map<String, Value>> {
        let own = self.case.as_deref().and_then(|case| case.output.as_ref());
        if self.life == Life::Completed { own.or_else(|| self.variables()) } else { None }
    }

    /// Outputs of nodes: node id → `{output, outcome}`.
    #[must_use]
    pub const fn node_outputs(&self) -> &Value {
        &self.outputs
    }

    /// The error that ended the run.
    #[must_use]
    pub const fn error(&self) -> Option<&RunError> {
        self.error.as_ref()
    }

    /// The run's correlation key.
    #[must_use]
    pub fn correlation_key(&self) -> Option<&str> {
        self.correlation_key.as_deref()
    }

    /// Instant of the run's start; none before it.
    #[must_use]
    pub const fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// Instant of the run's end; none before it.
    #[must_use]
    pub const fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at
    }

    /// The sequence of the last event.
    #[must_use]
    pub const fn last_sequence(&self) -> u64 {
        self.sequence
    }

    /// Whether an incident is open.
    #[must_use]
    pub const fn has_incident(&self) -> bool {
        !self.incidents.is_empty()
    }

    /// Instant since which the longest waiting node waits.
    #[must_use]
    pub fn waiting_since(&self) -> Option<Timestamp> {
        self.flow
            .active
            .iter()
            .map(|active| active.since)
            .chain(self.flow.tokens.iter().map(|token| token.since))
            .chain(self.waiting_items().map(|item| item.since))
            .min()
    }

    /// The open human tasks.
    #[must_use]
    pub fn tasks(&self) -> Vec<OpenTask> {
        self.tasks.iter().filter_map(|task| self.open_task(task)).collect()
    }

    /// The open human task that is completed when an item of a case is completed by hand: of an item that of its first
    /// instance at work.
    #[must_use]
    pub fn task_of_item(&self, target: &ItemTarget) -> Option<OpenTask> {
        let mut items = self.case.as_deref()?.items.iter();
        let instance = items.find(|own| match target {
            ItemTarget::Instance(id) => own.id == *id,
            ItemTarget::Item(name) => *own.item == **name && own.state == ItemState::Active,
        })?;
        self.open_task(self.task_of(instance.id)?)
    }

    fn open_task(&self, task: &TaskState) -> Option<OpenTask> {
        let owner = self.owner(task.owner)?;
        let task = task.clone();
        Some(OpenTask {
            task_id: task.id,
            node_id: owner.node.clone(),
            node_instance_id: owner.id,
            name: task.name,
            assignee: task.assignee,
            candidate_users: task.candidate_users,
            candidate_groups: task.candidate_groups,
            due_at: task.due_at,
            follow_up_at: task.follow_up_at,
            priority: task.priority,
            form: task.form,
            outcomes: task.outcomes,
            outcome_values: task.outcome_values,
            created_at: owner.since,
        })
    }

    /// The open jobs, also those of a suspended run, in the order in which they were opened.
    #[must_use]
    pub fn jobs(&self) -> Vec<OpenJob> {
        let open = |job: &JobState| {
            let owner = self.owner(job.owner)?;
            let job = job.clone();
            Some(OpenJob {
                job_id: job.id,
                node_id: owner.node.clone(),
                node_instance_id: owner.id,
                kind: job.kind,
                job_type: job.job_type,
                retries: job.retries,
                priority: job.priority,
                headers: job.headers,
                not_before: job.not_before,
                attempt: job.attempt,
                created_at: job.created_at,
                is_suspended: owner.is_idle,
            })
        };
        self.jobs.iter().filter_map(open).collect()
    }

    /// Notes that the attempt at an open job before left for the next one; none where it left none.
    #[must_use]
    pub fn job_notes(&self, job: JobId) -> Option<&Value> {
        self.job(job)?.notes.as_ref()
    }

    /// All variables that the node of an open job sees, the innermost of each name; none when there is no such job.
    #[must_use]
    pub fn job_variables(&self, job: JobId) -> Option<Map<String, Value>> {
        let owner = self.owner(self.job(job)?.owner)?;
        let mut next = Some(if self.scope(owner.id).is_some() { owner.id } else { owner.scope });
        let mut seen = Map::new();
        while let Some(scope) = next.and_then(|id| self.scope(id)) {
            for (name, value) in &scope.variables {
                if !seen.contains_key(name) {
                    seen.insert(name.clone(), value.clone());
                }
            }
            next = scope.parent;
        }
        Some(seen)
    }

    /// The timers that may fire when they are due; none while the run is suspended, so that they fire after it
    /// is resumed.
    #[must_use]
    pub fn timers(&self) -> Vec<OpenTimer> {
        let timers = if self.life == Life::Active { self.timers.as_slice() } else { &[] };
        let open = |timer: &crate::state::TimerState| OpenTimer {
            id: timer.id,
            node_id: timer.node.clone(),
            due_at: timer.due_at,
        };
        timers.iter().filter(|timer| !self.is_idle(timer.host)).map(open).collect()
    }

    /// The open subscriptions; none while the run is suspended.
    #[must_use]
    pub fn subscriptions(&self) -> Vec<OpenSubscription> {
        let subscriptions = if self.life == Life::Active { self.subscriptions.as_slice() } else { &[] };
        // Conditions are the run's own matter: nothing from outside looks for them.
        let subscriptions = subscriptions.iter().filter(|own| own.kind != SubscriptionKind::Condition);
        let subscriptions = subscriptions.filter(|own| !self.is_idle(own.host));
        let open = |own: &crate::state::SubscriptionState| OpenSubscription {
            id: own.id,
            kind: own.kind,
            name: own.name.clone(),
            correlation_key: own.key.clone(),
            node_id: own.node.clone(),
        };
        subscriptions.map(open).collect()
    }

    /// Whether a host is an item that is suspended, so that nothing reaches it.
    fn is_idle(&self, host: LocalId) -> bool {
        self.case.is_some() && self.owner(host).is_some_and(|own| own.is_idle)
    }

    /// The called runs that have not ended.
    #[must_use]
    pub fn calls(&self) -> Vec<OpenCall> {
        let open = |call: &crate::state::CallState| {
            let owner = self.owner(call.owner)?;
            Some(OpenCall { run_id: call.run, node_id: owner.node.clone(), node_instance_id: owner.id })
        };
        self.calls.iter().filter_map(open).collect()
    }

    /// Whether a node instance waits for a called run.
    #[must_use]
    pub fn waits_for(&self, run: RunId) -> bool {
        self.calls.iter().any(|call| call.run == run)
    }

    /// The open incidents.
    #[must_use]
    pub fn incidents(&self) -> Vec<Incident> {
        let open = |own: &IncidentState| Incident {
            id: own.id,
            code: own.code,
            message: own.message.clone(),
            node_id: own.node.clone(),
            node_instance_id: own.instance,
            attempt: own.attempt,
            raised_at: own.at,
            options: self.decisions_on(own).options,
        };
        self.incidents.iter().map(open).collect()
    }

    /// The active nodes. A gateway that waits for events has one entry per event, a node with several open
    /// waits only its own. Tokens at joins appear in [`State::view`].
    #[must_use]
    pub fn active_nodes(&self) -> Vec<ActiveNode> {
        let mut found = Vec::with_capacity(self.flow.active.len());
        for active in &self.flow.active {
            let incident = self.incidents.iter().find(|own| own.instance == Some(active.id));
            if let Some(incident) = incident {
                found.push(entry(active, NodeState::Failed, Some(self.decisions_on(incident))));
            } else if active.element == Element::EventBasedGateway {
                self.awaited(active, &mut found);
            } else {
                found.push(entry(active, NodeState::Active, self.wait_of(active)));
            }
        }
        found
    }

    /// The active nodes and the tokens that wait at joins of the graph.
    #[must_use]
    pub fn view(&self, graph: &Graph) -> Vec<ActiveNode> {
        let mut found = self.active_nodes();
        for node in &mut found {
            // What starts by an event nobody can skip (but an incident of it, which is about what listens within it); the
            // state does not tell it from other sub-processes.
            let by_event = graph.find(&node.node_id).map(|ix| &graph.node(ix).work);
            if let (Some(Work::EventSubProcess { .. }), Some(wait)) = (by_event, &mut node.waiting_for)
                && wait.kind != WaitKind::Incident
            {
                wait.options.retain(|option| option != "skip");
            }
        }
        let mut joins: Vec<(Arc<str>, LocalId)> = Vec::new();
        for token in &self.flow.tokens {
            let Some(flow) = graph.find_flow(&token.flow) else { continue };
            let node = graph.node(graph.flow(flow).target);
            let key = (node.id.clone(), token.scope);
            if !joins.contains(&key) {
                joins.push(key);
                found.push(self.held(&node.id, node.element, token));
            }
        }
        found
    }

    fn held(&self, node: &Arc<str>, element: Element, token: &Token) -> ActiveNode {
        let about = |own: &&IncidentState| {
            own.instance.is_none() && own.scope == token.scope && own.node.as_ref() == Some(node)
        };
        let incident = self.incidents.iter().find(about);
        let join = || self.allowed(WaitingFor { options: Vec::new(), ..waiting(WaitKind::Join, None, 1) });
        ActiveNode {
            node_id: node.clone(),
            node_instance_id: None,
            element,
            state: if incident.is_some() { NodeState::Failed } else { NodeState::Active },
            since: token.since,
            waiting_for: Some(incident.map_or_else(join, |own| self.decisions_on(own))),
        }
    }

    /// Whether a token stands at a node: in an instance of it, at an event that a gateway waits for, or before a join.
    #[must_use]
    pub fn stands_at(&self, node: &str) -> bool {
        let before = |token: &Token| token.target.as_deref() == Some(node);
        self.flow.tokens.iter().any(before)
            || self.active_nodes().iter().any(|active| &*active.node_id == node)
    }

    /// A wait with the decisions that the run's life allows: of a suspended run only its resumption.
    fn allowed(&self, mut wait: WaitingFor) -> WaitingFor {
        if self.life == Life::Suspended {
            wait.options = vec!["resume".to_owned()];
        } else {
            wait.options.push("suspend".to_owned());
        }
        wait
    }

    /// The wait behind an incident, with the decisions that can be taken on it.
    fn decisions_on(&self, own: &IncidentState) -> WaitingFor {
        let mut wait = of_incident(own);
        let gateway = own.instance.and_then(|id| self.instance(id)).is_some_and(|active| {
            // Which event would have come nobody can say.
            active.element == Element::EventBasedGateway
        });
        if gateway {
            wait.options.retain(|option| option != "skip");
        }
        if self.case.is_some() {
            // Items have no tokens that could be moved, and what is no item's own work cannot be left out.
            let item = own.instance.and_then(|id| self.item(id)).filter(|item| item.parent.is_some());
            let at_work = |state| matches!(state, ItemState::Failed | ItemState::Active);
            let is_work = own.phase != Phase::Tokens && item.is_some_and(|item| at_work(item.state));
            wait.options.retain(|option| option != "move" && (is_work || option != "skip"));
        }
        self.allowed(wait)
    }

    /// One entry per event that a gateway waits for.
    fn awaited(&self, gateway: &NodeInstance, found: &mut Vec<ActiveNode>) {
        let before = found.len();
        let entry_for = |node: &Arc<str>, wait: WaitingFor| ActiveNode {
            node_id: node.clone(),
            ..entry(gateway, NodeState::Active, Some(wait))
        };
        for timer in self.timers.iter().filter(|timer| timer.host == gateway.id) {
            let wait =
                WaitingFor { due_at: Some(timer.due_at), ..waiting(WaitKind::Timer, None, gateway.attempt) };
            found.push(entry_for(&timer.node, self.allowed(moved_only(wait))));
        }
        for own in self.subscriptions.iter().filter(|own| own.host == gateway.id) {
            let wait = of_subscription(own, gateway.attempt);
            found.push(entry_for(&own.node, self.allowed(moved_only(wait))));
        }
        if found.len() == before {
            found.push(entry(gateway, NodeState::Active, None));
        }
    }

    fn wait_of(&self, active: &NodeInstance) -> Option<WaitingFor> {
        self.own_wait(active).map(|wait| self.allowed(wait))
    }

    fn own_wait(&self, active: &NodeInstance) -> Option<WaitingFor> {
        if active.restored {
            return None;
        }
        if self.flow.compensations.iter().any(|own| own.owner == Some(active.id)) {
            return Some(waiting(WaitKind::Compensation, None, active.attempt));
        }
        if let Some(task) = self.task_of(active.id) {
            let mut wait = waiting(WaitKind::HumanTask, task.name.as_deref(), active.attempt);
            let words = TASK_DECISIONS.into_iter().map(|(own, _)| own);
            let taken = words.filter(|word| outcome_of(word, &task.outcomes).is_some());
            wait.options = taken.map(str::to_owned).chain(wait.options).collect();
            return Some(WaitingFor { due_at: task.due_at, task_id: Some(task.id), ..wait });
        }
        if let Some(job) = self.job_of(active.id) {
            let wait = waiting(WaitKind::Job, Some(&job.job_type), job.attempt);
            return Some(WaitingFor { due_at: job.not_before, ..wait });
        }
        // What boundary events wait for is not what the activity waits for.
        let own = |node: &Arc<str>, host: LocalId| host == active.id && *node == active.node;
        if let Some(timer) = self.timers.iter().find(|timer| own(&timer.node, timer.host)) {
            let wait = waiting(WaitKind::Timer, None, active.attempt);
            return Some(WaitingFor { due_at: Some(timer.due_at), ..wait });
        }
        if let Some(own) = self.subscriptions.iter().find(|sub| own(&sub.node, sub.host)) {
            return Some(of_subscription(own, active.attempt));
        }
        if active.element == Element::ComplexGateway && !active.via.is_empty() {
            // A reset comes of itself once no further token can arrive.
            return Some(WaitingFor { options: Vec::new(), ..waiting(WaitKind::Join, None, active.attempt) });
        }
        if active.stage == Stage::Before && !self.timers.iter().any(|timer| timer.host == active.id) {
            return Some(waiting(WaitKind::Condition, Some("data"), active.attempt));
        }
        if self.call_of(active.id).is_some() {
            return Some(waiting(WaitKind::Call, None, active.attempt));
        }
        // Its activities have all ended, and its completion condition does not hold.
        if active.element == Element::AdHocSubProcess
            && self.scope(active.id).is_some()
            && active.body.as_ref().is_some_and(|body| body.kind == BodyKind::AdHoc)
            && !self.is_busy(active.id)
        {
            return Some(waiting(WaitKind::Decision, None, active.attempt));
        }
        if active.element == Element::ReceiveTask && active.body.is_none() {
            let mut wait = waiting(WaitKind::Decision, None, active.attempt);
            wait.options.insert(0, "continue".to_owned());
            return Some(wait);
        }
        None
    }
}

fn waiting(kind: WaitKind, name: Option<&str>, attempt: u32) -> WaitingFor {
    WaitingFor {
        kind,
        name: name.map(str::to_owned),
        correlation_key: None,
        due_at: None,
        task_id: None,
        incident_id: None,
        attempt,
        options: vec!["skip".to_owned(), "move".to_owned()],
    }
}

/// A wait of which nobody can say how it would have ended: it is left by a move alone.
fn moved_only(wait: WaitingFor) -> WaitingFor {
    WaitingFor { options: vec!["move".to_owned()], ..wait }
}

fn of_subscription(own: &crate::state::SubscriptionState, attempt: u32) -> WaitingFor {
    let kind = match own.kind {
        SubscriptionKind::Message => WaitKind::Message,
        SubscriptionKind::Signal => WaitKind::Signal,
        SubscriptionKind::Condition => WaitKind::Condition,
    };
    WaitingFor { correlation_key: own.key.clone(), ..waiting(kind, Some(&own.name), attempt) }
}

fn of_incident(own: &IncidentState) -> WaitingFor {
    let options: &[&str] = match (own.instance, own.phase) {
        // Event sub-processes that could not listen stay out, and a join goes on with the tokens that it has.
        (None, Phase::Enter) => &["retry", "skip"],
        (None, _) if own.code == IncidentCode::Deadlock => &["retry", "skip"],
        (None, _) => &["retry"],
        // The node itself is done: only its way out is open.
        (Some(_), Phase::Leave) => &["retry", "move"],
        (Some(_), Phase::Enter | Phase::Tokens) => &["retry", "skip", "move"],
    };
    let name = match own.code {
        IncidentCode::ExpressionError => "EXPRESSION_ERROR",
        IncidentCode::NoMatchingFlow => "NO_MATCHING_FLOW",
        IncidentCode::ActivationLimit => "ACTIVATION_LIMIT",
        IncidentCode::Limit => "LIMIT",
        IncidentCode::Deadlock => "DEADLOCK",
        IncidentCode::DecisionError => "DECISION_ERROR",
        IncidentCode::JobFailed => "JOB_FAILED",
        IncidentCode::UnhandledError => "UNHANDLED_ERROR",
        IncidentCode::CallFailed => "CALL_FAILED",
        IncidentCode::LoopLimit => "LOOP_LIMIT",
        IncidentCode::SentryLoop => "SENTRY_LOOP",
    };
    WaitingFor {
        incident_id: Some(own.id),
        options: options.iter().map(|&option| option.to_owned()).collect(),
        ..waiting(WaitKind::Incident, Some(name), own.attempt)
    }
}

fn entry(active: &NodeInstance, state: NodeState, waiting_for: Option<WaitingFor>) -> ActiveNode {
    ActiveNode {
        node_id: active.node.clone(),
        node_instance_id: Some(active.id),
        element: active.element,
        state,
        since: active.since,
        waiting_for,
    }
}
