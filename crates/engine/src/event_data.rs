//! Data of events.

use crate::LocalId;
use heddle_bpmn_graph::choreography::ChoreographyViolation;
use heddle_kernel::{TaskId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Data of `run.started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStarted {
    /// The process.
    pub process_id: Arc<str>,
    /// Trigger that started it.
    pub trigger: Trigger,
    /// The variables at the start.
    pub input: Map<String, Value>,
    /// The run's correlation key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// User who started it; absent for the service itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
}

/// Trigger of a run's start.
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
        /// Name of the message.
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
        /// Name of the signal.
        name: String,
        /// The signal start event.
        node_id: String,
    },
}

/// Data of `choreography.violation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChoreographyViolated {
    /// The choreography.
    pub choreography_id: Arc<str>,
    /// Tasks that the message belongs to, what was expected, and what came.
    #[serde(flatten)]
    pub violation: ChoreographyViolation,
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
    /// User who works on it; absent when nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Users who may claim it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_users: Vec<String>,
    /// Groups whose members may claim it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_groups: Vec<String>,
    /// Due time; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// Time from which on somebody should look at it; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up_at: Option<Timestamp>,
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// JSON Schema of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Arc<Value>>,
    /// Outcomes to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Arc<str>>,
    /// Variables that an outcome sets, by the outcome.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcome_values: OutcomeValues,
    /// Settings that name nobody although they should, beside others that name somebody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// Step of a compensation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompensationStep {
    /// The completed node instance that is compensated.
    pub record: LocalId,
    /// The node that is activated: its handler, or itself for the compensation of what is in it.
    pub node_id: Arc<str>,
    /// The scope in which it is.
    pub scope: LocalId,
    /// Whether it is the node itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restores: bool,
}

/// Variables that the outcomes of a human task set, by the outcome.
pub type OutcomeValues = BTreeMap<Arc<str>, Arc<Map<String, Value>>>;

/// Data of `decision.evaluated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionEvaluated {
    /// Id of the decision or decision service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    /// Name of the decision.
    pub decision_name: String,
    /// The values that it used, by name.
    pub inputs: Map<String, Value>,
    /// The rules that matched, when it is a table: `{rule, id, outputs}`, rules from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<Value>,
    /// Output of the decision.
    pub output: Value,
    /// The output in the shape that the task asks for, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Every decision evaluated on the way, in order, with its inputs, tables, hits and output; the last one is mostly
    /// this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Value>,
    /// Reasons for null in parts of the output.
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
    /// Subscription to a message, which is for one run.
    Message,
    /// Subscription to a signal, which is for everyone who listens.
    Signal,
    /// Condition on the run's own data; nothing from outside meets it.
    Condition,
}

/// Reason for a node instance's withdrawal.
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
    /// A completion condition of a multi-instance activity or an ad-hoc sub-process holds.
    Completed,
    /// A transaction was cancelled.
    Cancelled,
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
    /// One step activated too many nodes: what `Limit` was in runs of before.
    ActivationLimit,
    /// A budget of the step or of the run is used up.
    Limit,
    /// Tokens wait at a join that no other token can reach.
    Deadlock,
    /// A decision is not there, exceeds a limit, or has another result than the task asks for.
    DecisionError,
    /// A worker failed at a job, and no attempt is left.
    JobFailed,
    /// An error that nothing caught; the node that met it waits.
    UnhandledError,
    /// Target of a call activity that is not there, or did not complete.
    CallFailed,
    /// An endless loop was stopped at its maximum.
    LoopLimit,
    /// Sentries of a case satisfy each other without end.
    SentryLoop,
}

/// Phase of a node instance when it met an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Activation: the instance is on its way in.
    Enter,
    /// Completion: the instance is on its way out.
    Leave,
    /// Tokens on flows, not in a node.
    Tokens,
}

/// Settlement of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Resolution {
    /// Tried again.
    Retry,
    /// Gone on without.
    Skip,
    /// Subject of the incident is gone or settled itself.
    Obsolete,
}
