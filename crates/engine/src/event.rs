//! What happened in a run. The events are the run's history: its state is their fold.

use crate::LocalId;
use heddle_bpmn_graph::{Element, Recurrence};
use heddle_kernel::{TaskId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One event of a run: `RunEvent` of the API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Place in the run's history, from 1, without gaps.
    pub sequence: u64,
    /// What happened: members `type` and `data`.
    #[serde(flatten)]
    pub kind: EventKind,
    /// When, in milliseconds.
    pub at: Timestamp,
    /// The id of the node concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Arc<str>>,
    /// The node instance concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_instance_id: Option<LocalId>,
    /// The scope in which it happened; absent for the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<LocalId>,
    /// The attempt of the node instance, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// The types of events with their data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all_fields = "camelCase")]
pub enum EventKind {
    /// The run began.
    #[serde(rename = "run.started")]
    RunStarted(Box<RunStarted>),
    /// No token and no active node is left.
    #[serde(rename = "run.completed")]
    RunCompleted {
        /// The process's variables at the end.
        output: Map<String, Value>,
    },
    /// An error that nothing caught ended the run.
    #[serde(rename = "run.failed")]
    RunFailed {
        /// The error.
        error: RunError,
    },
    /// The run was cancelled.
    #[serde(rename = "run.cancelled")]
    RunCancelled {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// By whom.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// The tokens stand still until the run is resumed.
    #[serde(rename = "run.suspended")]
    RunSuspended {
        /// By whom.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// The run goes on.
    #[serde(rename = "run.resumed")]
    RunResumed {
        /// By whom.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A node instance came to be and consumed its tokens.
    #[serde(rename = "node.activated")]
    NodeActivated {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
        /// The element's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<Arc<str>>,
        /// The flows whose tokens it consumed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        via: Vec<Arc<str>>,
    },
    /// A node instance ended as it should.
    #[serde(rename = "node.completed")]
    NodeCompleted {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
        /// Whether a decision skipped it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        skipped: bool,
        /// What the decision gave as its output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    /// A node instance was withdrawn.
    #[serde(rename = "node.cancelled")]
    NodeCancelled {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
        /// Why.
        reason: CancelReason,
    },
    /// A token went onto a flow.
    #[serde(rename = "flow.taken")]
    FlowTaken {
        /// The flow.
        flow_id: Arc<str>,
        /// Where it leads to.
        target_id: Arc<str>,
    },
    /// Tokens were removed from the flows of a scope.
    #[serde(rename = "tokens.withdrawn")]
    TokensWithdrawn {
        /// The flows, one entry per token.
        flows: Vec<Arc<str>>,
    },
    /// A sub-process's scope was opened; its id is the sub-process's node instance.
    #[serde(rename = "scope.opened")]
    ScopeOpened {},
    /// A sub-process's scope was closed and its variables dropped.
    #[serde(rename = "scope.closed")]
    ScopeClosed {},
    /// Variables of a scope got values.
    #[serde(rename = "variables.set")]
    VariablesSet {
        /// The variables.
        values: Map<String, Value>,
    },
    /// A timer was set.
    #[serde(rename = "timer.scheduled")]
    TimerScheduled {
        /// The timer.
        timer_id: LocalId,
        /// From when on it may fire.
        due_at: Timestamp,
        /// How it repeats.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycle: Option<Box<Recurrence>>,
    },
    /// A timer fired and is gone.
    #[serde(rename = "timer.fired")]
    TimerFired {
        /// The timer.
        timer_id: LocalId,
        /// When it was due.
        due_at: Timestamp,
    },
    /// A timer was withdrawn.
    #[serde(rename = "timer.cancelled")]
    TimerCancelled {
        /// The timer.
        timer_id: LocalId,
    },
    /// The run waits for a message or a signal.
    #[serde(rename = "subscription.opened")]
    SubscriptionOpened {
        /// The subscription.
        subscription_id: LocalId,
        /// Message or signal.
        kind: SubscriptionKind,
        /// Name of the message or signal.
        name: Arc<str>,
        /// The key that a message must carry; absent when any does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key: Option<String>,
    },
    /// The run waits no longer for a message or a signal.
    #[serde(rename = "subscription.closed")]
    SubscriptionClosed {
        /// The subscription.
        subscription_id: LocalId,
    },
    /// A message reached its subscription.
    #[serde(rename = "message.received")]
    MessageReceived {
        /// Its name.
        name: Arc<str>,
        /// Its key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key: Option<String>,
        /// What it carried.
        payload: Value,
    },
    /// A message is to be delivered.
    #[serde(rename = "message.sent")]
    MessageSent {
        /// Its name.
        name: Arc<str>,
        /// Its key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key: Option<String>,
        /// What it carries.
        payload: Value,
    },
    /// A signal reached its subscription.
    #[serde(rename = "signal.received")]
    SignalReceived {
        /// Its name.
        name: Arc<str>,
        /// What it carried.
        payload: Value,
    },
    /// A signal is to be broadcast to all other runs that listen; what listens in this run has received it.
    #[serde(rename = "signal.sent")]
    SignalSent {
        /// Its name.
        name: Arc<str>,
        /// What it carries.
        payload: Value,
    },
    /// A human task was created.
    #[serde(rename = "task.created")]
    TaskCreated(Box<TaskCreated>),
    /// A human task got another assignee.
    #[serde(rename = "task.assigned")]
    TaskAssigned {
        /// The task.
        task_id: TaskId,
        /// Who works on it now; absent when nobody does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assignee: Option<String>,
        /// By whom.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A human task was completed.
    #[serde(rename = "task.completed")]
    TaskCompleted {
        /// The task.
        task_id: TaskId,
        /// The outcome that was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
        /// The values that were given.
        values: Map<String, Value>,
        /// A comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// By whom.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A human task was withdrawn.
    #[serde(rename = "task.cancelled")]
    TaskCancelled {
        /// The task.
        task_id: TaskId,
    },
    /// A business rule task evaluated its decision.
    #[serde(rename = "decision.evaluated")]
    DecisionEvaluated(Box<DecisionEvaluated>),
    /// A script task evaluated its script.
    #[serde(rename = "script.evaluated")]
    ScriptEvaluated {
        /// What it gave.
        result: Value,
        /// Why parts of it are null.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasons: Vec<String>,
    },
    /// Something went wrong; the run waits for a decision.
    #[serde(rename = "incident.raised")]
    IncidentRaised {
        /// The incident.
        incident_id: LocalId,
        /// What kind.
        code: IncidentCode,
        /// What went wrong, as a sentence.
        message: String,
        /// What is tried again at a retry.
        phase: Phase,
    },
    /// An incident is settled.
    #[serde(rename = "incident.resolved")]
    IncidentResolved {
        /// The incident.
        incident_id: LocalId,
        /// How.
        resolution: Resolution,
        /// By whom.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
}

/// Data of `run.started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStarted {
    /// The process.
    pub process_id: Arc<str>,
    /// What started it.
    pub trigger: Trigger,
    /// The variables at the start.
    pub input: Map<String, Value>,
    /// The run's correlation key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// Who started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
}

/// What starts a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Trigger {
    /// A request.
    Manual {
        /// The start event that is wanted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start_node: Option<String>,
    },
    /// A message.
    Message {
        /// Its name.
        name: String,
        /// The message start event.
        node_id: String,
    },
    /// A timer.
    Timer {
        /// The timer start event.
        node_id: String,
    },
    /// A signal.
    Signal {
        /// Its name.
        name: String,
        /// The signal start event.
        node_id: String,
    },
}

/// Data of `task.created`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCreated {
    /// The task.
    pub task_id: TaskId,
    /// Name of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Who works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Users who may claim it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_users: Vec<String>,
    /// Groups whose members may claim it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_groups: Vec<String>,
    /// When it is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// JSON Schema of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Arc<Value>>,
    /// Outcomes to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Arc<str>>,
}

/// Data of `decision.evaluated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionEvaluated {
    /// Id of the decision or decision service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    /// Its name.
    pub decision_name: String,
    /// The values that it used, by name.
    pub inputs: Map<String, Value>,
    /// The rules that matched, when it is a table: `{rule, id, outputs}`, rules from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<Value>,
    /// What it gave.
    pub output: Value,
    /// The output in the shape that the task asks for, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Every decision evaluated on the way, in order, with its inputs, tables, hits and output; the last one is mostly
    /// this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Value>,
    /// Why parts of it are null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Value>,
    /// Whether `decisions` leaves some out, since there are too many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The error that ended a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunError {
    /// Code of the BPMN error.
    pub code: Arc<str>,
    /// A sentence.
    pub message: String,
    /// The node that threw it.
    pub node_id: Arc<str>,
}

/// Message or signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SubscriptionKind {
    /// For one run.
    Message,
    /// For everyone who listens.
    Signal,
}

/// Why a node instance was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CancelReason {
    /// A boundary event or an event sub-process interrupted it.
    Interrupted,
    /// A terminate end event ended its scope.
    Terminated,
    /// An error left its scope.
    Error,
    /// A decision moved its token.
    Moved,
    /// The run was cancelled.
    RunCancelled,
}

/// Kinds of incidents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IncidentCode {
    /// An expression gave no usable value.
    ExpressionError,
    /// No condition holds and there is no default flow.
    NoMatchingFlow,
    /// One step activated too many nodes.
    ActivationLimit,
    /// Tokens wait at a join that no other token can reach.
    Deadlock,
    /// A decision is not there, exceeds a limit, or has another result than the task asks for.
    DecisionError,
}

/// Where a node instance stood when it met an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// On its way in.
    Enter,
    /// On its way out.
    Leave,
    /// Tokens on flows, not in a node.
    Tokens,
}

/// How an incident was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Resolution {
    /// Tried again.
    Retry,
    /// Gone on without.
    Skip,
    /// What it was about is gone or settled itself.
    Obsolete,
}
