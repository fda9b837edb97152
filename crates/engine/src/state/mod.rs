//! The state of a run: the fold of its events.

mod calls;
mod case;
mod compensation;
mod flow;
mod incidents;
mod jobs;
mod scopes;
mod tasks;
mod waits;

pub(crate) use crate::stage::Stage;
pub(crate) use calls::CallState;
pub(crate) use case::{CaseState, ItemInstance, at_path};
pub(crate) use compensation::{Cancelling, CompensationState, Record};
pub(crate) use flow::{BodyState, Flow, NodeInstance, Token};
pub(crate) use incidents::IncidentState;
pub(crate) use jobs::JobState;
pub(crate) use scopes::ScopeState;
pub(crate) use tasks::TaskState;
pub(crate) use waits::{SubscriptionState, TimerState};

use crate::LocalId;
use crate::event::RunError;
use heddle_bpmn_graph::choreography::ChoreographyState;
use heddle_kernel::{JobId, TaskId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The version of the state's JSON that this engine writes.
pub const STATE_VERSION: u32 = 1;

/// Everything that a run is. What every kind of instance has, scopes with variables, timers, subscriptions, human tasks,
/// jobs, calls and incidents, stands by itself; what BPMN adds, tokens and node instances, is the [`Flow`],
/// and what CMMN adds, items and the case file, the [`CaseState`].
///
/// Its JSON is a snapshot; names are short because every waiting run stores one, and later members have defaults so that
/// older snapshots stay readable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
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
    /// Values of the model's correlation keys that the run's messages have set, by the ids of the keys.
    #[serde(rename = "ck", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) keys: BTreeMap<Arc<str>, String>,
    /// Knowledge of the monitors of the process's choreographies, by the ids of the choreographies.
    #[serde(rename = "ch", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) choreographies: BTreeMap<Arc<str>, ChoreographyState>,
    /// The open scopes, by rising ids.
    #[serde(rename = "s", default)]
    pub(crate) scopes: Vec<ScopeState>,
    #[serde(rename = "f", default, skip_serializing_if = "Flow::is_empty")]
    pub(crate) flow: Flow,
    /// The open human tasks, by the ids of their owners.
    #[serde(rename = "h", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tasks: Vec<TaskState>,
    /// The open jobs, by the ids of their owners.
    #[serde(rename = "j", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) jobs: Vec<JobState>,
    /// The called runs, by the ids of their owners.
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<CallState>,
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
    /// State that CMMN adds; none for a process.
    #[serde(rename = "cm", default, skip_serializing_if = "Option::is_none")]
    pub(crate) case: Option<Box<CaseState>>,
    /// Tokens of a snapshot of before, when they stood beside the rest.
    #[serde(rename = "t", default, skip_serializing)]
    earlier_tokens: Vec<Token>,
    /// Node instances of such a snapshot.
    #[serde(rename = "a", default, skip_serializing)]
    earlier_active: Vec<NodeInstance>,
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer).map(Self::lifted)
    }
}

const fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_first(attempt: &u32) -> bool {
    *attempt == 1
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
    /// A case that ended and is closed.
    #[serde(rename = "z")]
    Closed,
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
    /// End of a case for good: it cannot be reactivated any more.
    Closed,
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
            Self::Closed => "closed",
        }
    }

    /// Whether nothing can happen any more, but for a case that is reactivated.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::Closed)
    }
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
            keys: BTreeMap::new(),
            choreographies: BTreeMap::new(),
            scopes: Vec::new(),
            flow: Flow::default(),
            tasks: Vec::new(),
            jobs: Vec::new(),
            calls: Vec::new(),
            timers: Vec::new(),
            subscriptions: Vec::new(),
            incidents: Vec::new(),
            outputs: no_outputs(),
            stored: 0,
            error: None,
            started_at: None,
            ended_at: None,
            case: None,
            earlier_tokens: Vec::new(),
            earlier_active: Vec::new(),
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

    /// The state of a snapshot of before, in which tokens, node instances and human tasks stood elsewhere.
    fn lifted(mut self) -> Self {
        self.flow.tokens.extend(std::mem::take(&mut self.earlier_tokens));
        self.flow.active.append(&mut self.earlier_active);
        self.tasks.extend(self.flow.earlier_tasks());
        self.scopes.sort_by_key(|scope| scope.id);
        self
    }

    pub(crate) fn place(&self, id: LocalId) -> Option<usize> {
        // Instances are appended with rising ids.
        self.flow.active.binary_search_by_key(&id, |active| active.id).ok()
    }

    pub(crate) fn instance(&self, id: LocalId) -> Option<&NodeInstance> {
        self.place(id).and_then(|place| self.flow.active.get(place))
    }

    pub(crate) fn instance_mut(&mut self, id: LocalId) -> Option<&mut NodeInstance> {
        self.place(id).and_then(|place| self.flow.active.get_mut(place))
    }

    pub(crate) fn scope(&self, id: LocalId) -> Option<&ScopeState> {
        let place = self.scopes.binary_search_by_key(&id, |scope| scope.id).ok()?;
        self.scopes.get(place)
    }

    pub(crate) fn scope_mut(&mut self, id: LocalId) -> Option<&mut ScopeState> {
        let place = self.scopes.binary_search_by_key(&id, |scope| scope.id).ok()?;
        self.scopes.get_mut(place)
    }

    /// The human task that a node instance waits for.
    pub(crate) fn task_of(&self, owner: LocalId) -> Option<&TaskState> {
        let place = self.tasks.binary_search_by_key(&owner, |task| task.owner).ok()?;
        self.tasks.get(place)
    }

    pub(crate) fn task(&self, id: TaskId) -> Option<&TaskState> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The job that a node instance waits for.
    pub(crate) fn job_of(&self, owner: LocalId) -> Option<&JobState> {
        let place = self.jobs.binary_search_by_key(&owner, |job| job.owner).ok()?;
        self.jobs.get(place)
    }

    pub(crate) fn job(&self, id: JobId) -> Option<&JobState> {
        self.jobs.iter().find(|job| job.id == id)
    }

    /// The run that a node instance called and waits for.
    pub(crate) fn call_of(&self, owner: LocalId) -> Option<&CallState> {
        let place = self.calls.binary_search_by_key(&owner, |call| call.owner).ok()?;
        self.calls.get(place)
    }

    /// The subscription of this id; they are appended with rising ids.
    pub(crate) fn subscription(&self, id: LocalId) -> Option<&SubscriptionState> {
        let place = self.subscriptions.binary_search_by_key(&id, |own| own.id).ok()?;
        self.subscriptions.get(place)
    }

    pub(crate) fn subscription_mut(&mut self, id: LocalId) -> Option<&mut SubscriptionState> {
        let place = self.subscriptions.binary_search_by_key(&id, |own| own.id).ok()?;
        self.subscriptions.get_mut(place)
    }

    /// Whether tokens or node instances are left in a scope.
    pub(crate) fn is_busy(&self, scope: LocalId) -> bool {
        self.flow.tokens.iter().any(|token| token.scope == scope)
            || self.flow.active.iter().any(|own| own.scope == scope)
            // What is left to compensate in it needs its variables.
            || self.flow.compensations.iter().any(|own| own.steps.iter().any(|step| step.scope == scope))
    }
}
