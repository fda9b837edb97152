//! The state of a run: the fold of its events.

use crate::LocalId;
use crate::event::{IncidentCode, OutcomeValues, Phase, RunError, SubscriptionKind};
use heddle_bpmn_graph::{Element, Recurrence};
use heddle_kernel::{TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The version of the state's JSON that this engine writes.
pub const STATE_VERSION: u32 = 1;

/// Everything that a run is. Its JSON is a snapshot; names are short because every waiting run stores one, and
/// later members have defaults so that older snapshots stay readable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    #[serde(rename = "v")]
    pub(crate) version: u32,
    #[serde(rename = "p", default)]
    pub(crate) process: Arc<str>,
    #[serde(rename = "st", default)]
    pub(crate) life: Life,
    #[serde(rename = "q", default)]
    pub(crate) sequence: u64,
    #[serde(rename = "n", default)]
    pub(crate) counter: u64,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub(crate) correlation_key: Option<String>,
    #[serde(rename = "s", default)]
    pub(crate) scopes: Vec<ScopeState>,
    #[serde(rename = "t", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tokens: Vec<Token>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) active: Vec<NodeInstance>,
    #[serde(rename = "tm", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) timers: Vec<TimerState>,
    #[serde(rename = "sb", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) subscriptions: Vec<SubscriptionState>,
    #[serde(rename = "i", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) incidents: Vec<IncidentState>,
    /// Node id → `{output, outcome}`: what expressions see as `nodes`.
    #[serde(rename = "o", default = "no_outputs", skip_serializing_if = "is_empty_object")]
    pub(crate) outputs: Value,
    /// Estimated bytes of all events so far; of runs from before there was a count, since then.
    #[serde(rename = "w", default, skip_serializing_if = "is_zero")]
    pub(crate) stored: u64,
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<RunError>,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<Timestamp>,
    #[serde(rename = "x", default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<Timestamp>,
}

fn no_outputs() -> Value {
    Value::Object(Map::new())
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_none_or(Map::is_empty)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Lifecycle state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub(crate) enum Life {
    #[default]
    #[serde(rename = "n")]
    New,
    #[serde(rename = "a")]
    Active,
    #[serde(rename = "s")]
    Suspended,
    #[serde(rename = "c")]
    Completed,
    #[serde(rename = "f")]
    Failed,
    #[serde(rename = "x")]
    Cancelled,
}

/// A run's state as the API shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// Not started yet, or within a step.
    Running,
    /// No token can move, but some wait.
    Waiting,
    /// Completion: the run came to its end.
    Completed,
    /// An error that nothing caught ended it.
    Failed,
    /// Cancellation by a command.
    Cancelled,
    /// Suspension: the run stands still until it is resumed.
    Suspended,
}

impl Status {
    /// The word of the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Suspended => "suspended",
        }
    }

    /// Whether nothing can happen any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// An open scope: the process, or a running sub-process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScopeState {
    /// The sub-process's node instance; [`LocalId::ROOT`] for the process.
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Arc<str>>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<LocalId>,
    #[serde(rename = "v", default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
}

/// A token on a flow. At rest only joins hold tokens, or a budget has stopped them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token {
    #[serde(rename = "f")]
    pub flow: Arc<str>,
    #[serde(rename = "s")]
    pub scope: LocalId,
    #[serde(rename = "a")]
    pub since: Timestamp,
    /// Node before which it stands; absent in runs from before it was kept.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
}

/// A node instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NodeInstance {
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n")]
    pub node: Arc<str>,
    #[serde(rename = "e")]
    pub element: Element,
    #[serde(rename = "s")]
    pub scope: LocalId,
    #[serde(rename = "a")]
    pub since: Timestamp,
    #[serde(rename = "t", default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<TaskState>>,
}

const fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_first(attempt: &u32) -> bool {
    *attempt == 1
}

/// An open human task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskState {
    #[serde(rename = "i")]
    pub id: TaskId,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    #[serde(rename = "u", default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_users: Vec<String>,
    #[serde(rename = "g", default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_groups: Vec<String>,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Arc<Value>>,
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Arc<str>>,
    #[serde(rename = "v", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcome_values: OutcomeValues,
}

/// A timer that is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimerState {
    #[serde(rename = "i")]
    pub id: LocalId,
    /// The catch event, boundary event or start event.
    #[serde(rename = "n")]
    pub node: Arc<str>,
    /// The node instance, or the scope, for which it is set.
    #[serde(rename = "h")]
    pub host: LocalId,
    #[serde(rename = "d")]
    pub due_at: Timestamp,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Box<Recurrence>>,
}

/// An open subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubscriptionState {
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n")]
    pub node: Arc<str>,
    #[serde(rename = "h")]
    pub host: LocalId,
    #[serde(rename = "t")]
    pub kind: SubscriptionKind,
    #[serde(rename = "m")]
    pub name: Arc<str>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// An open incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IncidentState {
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Arc<str>>,
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<LocalId>,
    #[serde(rename = "s")]
    pub scope: LocalId,
    #[serde(rename = "c")]
    pub code: IncidentCode,
    #[serde(rename = "m")]
    pub message: String,
    #[serde(rename = "p")]
    pub phase: Phase,
    #[serde(rename = "a")]
    pub at: Timestamp,
    #[serde(rename = "t", default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: STATE_VERSION,
            process: "".into(),
            life: Life::New,
            sequence: 0,
            counter: 0,
            correlation_key: None,
            scopes: Vec::new(),
            tokens: Vec::new(),
            active: Vec::new(),
            timers: Vec::new(),
            subscriptions: Vec::new(),
            incidents: Vec::new(),
            outputs: no_outputs(),
            stored: 0,
            error: None,
            started_at: None,
            ended_at: None,
        }
    }
}

impl State {
    /// The state of a run that has not begun.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Estimated bytes of all events of the run so far.
    #[must_use]
    pub const fn event_bytes(&self) -> u64 {
        self.stored
    }

    pub(crate) fn place(&self, id: LocalId) -> Option<usize> {
        // Instances are appended with rising ids.
        self.active.binary_search_by_key(&id, |active| active.id).ok()
    }

    pub(crate) fn instance(&self, id: LocalId) -> Option<&NodeInstance> {
        self.place(id).and_then(|place| self.active.get(place))
    }

    pub(crate) fn instance_mut(&mut self, id: LocalId) -> Option<&mut NodeInstance> {
        self.place(id).and_then(|place| self.active.get_mut(place))
    }

    pub(crate) fn scope(&self, id: LocalId) -> Option<&ScopeState> {
        self.scopes.iter().find(|scope| scope.id == id)
    }

    /// Whether tokens or node instances are left in a scope.
    pub(crate) fn is_busy(&self, scope: LocalId) -> bool {
        self.tokens.iter().any(|token| token.scope == scope)
            || self.active.iter().any(|own| own.scope == scope)
    }
}
