//! The records of this area as the domain sees them. Rows and wire types are made from these by plain functions.

mod jobs;
mod work;

pub use jobs::*;
pub use work::*;

use heddle_engine::State;
use heddle_kernel::{
    CaseId, DefinitionKind, EventId, Revision, RunId, TaskId, TenantId, Timestamp, UserId, WorkflowId,
    literals,
};
use heddle_policy::InstanceKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Event that can start an instance of a published definition without a caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartBinding {
    /// The organisation.
    pub tenant: TenantId,
    /// Kind of the definition.
    #[serde(default = "DefinitionKind::workflow")]
    pub definition_kind: DefinitionKind,
    /// The definition.
    pub workflow: WorkflowId,
    /// The version it belongs to.
    pub version: i32,
    /// The process or the case within the definition.
    pub process_id: String,
    /// The start event; of a case, its own id.
    pub node_id: String,
    /// Kind of event.
    pub kind: BindingKind,
    /// The message's or signal's name; empty for a timer.
    pub name: String,
    /// Next due time of a timer; none for a message or a signal.
    pub next_due_at: Option<Timestamp>,
    /// Recurrence of a timer: the engine's own form.
    pub timer: Option<Value>,
}

literals! {
    /// Kind of event that a start binding or a subscription listens for.
    pub enum BindingKind {
        /// A message by name and correlation key.
        Message = "message",
        /// A signal by name.
        Signal = "signal",
        /// A timer.
        Timer = "timer",
    }
}

literals! {
    /// Lifecycle state of a run (api.md, Runs).
    pub enum RunState {
        /// Accepted, not begun.
        Queued = "queued",
        /// A token can move.
        Running = "running",
        /// Every token waits.
        Waiting = "waiting",
        /// Ended by itself.
        Completed = "completed",
        /// Ended by an error.
        Failed = "failed",
        /// Ended from outside.
        Cancelled = "cancelled",
        /// Held.
        Suspended = "suspended",
        /// Closed for good: a case that had ended or was held.
        Closed = "closed",
    }
}

impl RunState {
    /// Whether nothing can happen to it any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::Closed)
    }
}

literals! {
    /// Kind of what began a run.
    pub enum TriggerKind {
        /// A caller.
        Manual = "manual",
        /// A message.
        Message = "message",
        /// A signal.
        Signal = "signal",
        /// A timer.
        Timer = "timer",
        /// A call activity of another run.
        Call = "call",
    }
}

impl From<BindingKind> for TriggerKind {
    fn from(kind: BindingKind) -> Self {
        match kind {
            BindingKind::Message => Self::Message,
            BindingKind::Signal => Self::Signal,
            BindingKind::Timer => Self::Timer,
        }
    }
}

/// Trigger of a run's start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TriggerRecord {
    /// Kind of trigger.
    pub kind: TriggerKind,
    /// The message's or signal's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// The start event.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node_id: Option<String>,
    /// The case event that brought it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event_id: Option<EventId>,
    /// The call that it is the answer to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<Caller>,
}

/// Caller of a run: the call activity of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// Run of the call activity, or the case of the task.
    pub run: RunId,
    /// The nearest case on the way to the top: the caller itself where it is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case: Option<CaseId>,
    /// The call activity, or the task.
    pub node_id: String,
    /// Node instance of the call activity.
    pub node_instance_id: String,
    /// The run at the top.
    pub root: RunId,
    /// Calls from the run at the top to this one, from 1.
    pub depth: u32,
}

impl Caller {
    /// Call by a run or a case.
    #[must_use]
    pub fn of(caller: &Run, node_id: String, node_instance_id: String) -> Self {
        let case = match caller.kind {
            DefinitionKind::Case => Some(caller.id.into()),
            DefinitionKind::Workflow => caller.trigger.parent.as_ref().and_then(|own| own.case),
        };
        let (root, depth) = (caller.root(), caller.depth().saturating_add(1));
        Self { run: caller.id, case, node_id, node_instance_id, root, depth }
    }

    /// Kind of the caller.
    #[must_use]
    pub fn kind(&self) -> DefinitionKind {
        if self.case == Some(self.run.into()) { DefinitionKind::Case } else { DefinitionKind::Workflow }
    }
}

/// An instance, a run or a case: its row with the engine's state.
#[derive(Debug, Clone)]
pub struct Run {
    /// The organisation.
    pub tenant: TenantId,
    /// Kind of the definition, and so of the instance.
    pub kind: DefinitionKind,
    /// The run; of a case the same id under its own name.
    pub id: RunId,
    /// Definition of the run: its workflow, or the case type.
    pub workflow: WorkflowId,
    /// The version it runs, for good.
    pub version: i32,
    /// The process, or the case, within the definition.
    pub process_id: String,
    /// Lifecycle state.
    pub state: RunState,
    /// Whether somebody has to look at it.
    pub has_incident: bool,
    /// The caller's own name for it.
    pub business_key: Option<String>,
    /// Key by which messages find it.
    pub correlation_key: Option<String>,
    /// Trigger of its start.
    pub trigger: TriggerRecord,
    /// The input it was started with.
    pub input: Value,
    /// The engine's state.
    pub snapshot: State,
    /// The last event's sequence number.
    pub last_sequence: u64,
    /// Grows by one with every commit.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// User who created it; none for a timer or a message.
    pub created_by: Option<UserId>,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// Instant of the end; none before it.
    pub ended_at: Option<Timestamp>,
    /// Start of its present wait; none when it does not wait.
    pub waiting_since: Option<Timestamp>,
}

impl Run {
    /// Key of the instance in access decisions.
    #[must_use]
    pub const fn key(&self) -> InstanceKey {
        InstanceKey::of_stored(self.tenant, self.kind, self.id, self.workflow)
    }

    /// The run at the top: the run itself, when nothing called it.
    #[must_use]
    pub fn root(&self) -> RunId {
        self.trigger.parent.as_ref().map_or(self.id, |parent| parent.root)
    }

    /// Calls from the run at the top to this one.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.trigger.parent.as_ref().map_or(0, |parent| parent.depth)
    }
}

/// Progress of an instance: what tells whether more events are to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Lifecycle state.
    pub state: RunState,
    /// Sequence number of its last event.
    pub last_sequence: u64,
}

/// An instance that another one called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledRun {
    /// Kind of the instance.
    pub kind: DefinitionKind,
    /// The run.
    pub id: RunId,
    /// Workflow of the run.
    pub workflow: WorkflowId,
    /// The call activity.
    pub node_id: String,
    /// Lifecycle state of the run.
    pub state: RunState,
}

/// A timer of a waiting run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimerRow {
    /// The engine's id of it, unique within the run.
    pub timer_id: String,
    /// The node that waits.
    pub node_id: String,
    /// Due time of the timer.
    pub due_at: Timestamp,
}

/// A message or signal that a waiting run listens for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionRow {
    /// The engine's id of it, unique within the run.
    pub subscription_id: String,
    /// Kind of event.
    pub kind: BindingKind,
    /// The message's or signal's name.
    pub name: String,
    /// Correlation key that an event has to match; none matches only events without one.
    pub correlation_key: Option<String>,
    /// The node that waits.
    pub node_id: String,
}

literals! {
    /// Lifecycle state of a human task.
    pub enum TaskState {
        /// Waits for somebody.
        Open = "open",
        /// Done.
        Completed = "completed",
        /// Withdrawn.
        Cancelled = "cancelled",
    }
}

/// A human task as the work list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct HumanTask {
    /// The organisation.
    pub tenant: TenantId,
    /// The task.
    pub id: TaskId,
    /// Kind of the instance that the task is of.
    pub instance_kind: DefinitionKind,
    /// Run of the task.
    pub run: RunId,
    /// Workflow of the run.
    pub workflow: WorkflowId,
    /// The user task's element id.
    pub node_id: String,
    /// The activity instance.
    pub node_instance_id: String,
    /// The user task's name.
    pub name: String,
    /// Lifecycle state.
    pub state: TaskState,
    /// User who works on it: an id or e-mail address; none when nobody does.
    pub assignee: Option<String>,
    /// Users who may take it: ids or e-mail addresses.
    pub candidate_users: Vec<String>,
    /// Groups or roles that may take it.
    pub candidate_groups: Vec<String>,
    /// Due time by which it should be done.
    pub due_at: Option<Timestamp>,
    /// Time from which on somebody should look at it.
    pub follow_up_at: Option<Timestamp>,
    /// 0 to 100.
    pub priority: i32,
    /// Form of its completion: a JSON Schema.
    pub form: Option<Value>,
    /// The outcomes that may be chosen.
    pub outcomes: Vec<String>,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// Instant of the end; none before it.
    pub ended_at: Option<Timestamp>,
    /// User who completed it.
    pub completed_by: Option<UserId>,
}

literals! {
    /// Kind of what a run sends to others.
    pub enum ThrownKind {
        /// A message.
        Message = "message",
        /// A signal.
        Signal = "signal",
        /// A call: another run is to be started.
        Call = "call",
        /// The end of a called run, which its caller is to be told of.
        CallEnd = "callEnd",
        /// An escalation that a called run let go, for its caller.
        CallEscalation = "callEscalation",
        /// A called run that is to be cancelled, since nothing waits for it any more.
        CallCancel = "callCancel",
    }
}

/// Sending of a run to others, still to be delivered: a message, a signal, a call or its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the event, also its idempotency key.
    pub id: EventId,
    /// Run that threw it.
    pub run: RunId,
    /// Kind of what is sent.
    pub kind: ThrownKind,
    /// Name of the message or signal, or of what is called.
    pub name: String,
    /// Correlation key of its receivers.
    pub correlation_key: Option<String>,
    /// Payload of the event.
    pub payload: Value,
    /// Instant of the throw.
    pub created_at: Timestamp,
    /// Length of the chain of throws that led to this one.
    #[serde(default)]
    pub hops: u32,
}

literals! {
    /// Outcome of an event from outside.
    pub enum InboxState {
        /// Taken by somebody.
        Consumed = "consumed",
        /// Kept for the first that will listen.
        Buffered = "buffered",
        /// Wanted by nobody in time.
        Expired = "expired",
    }
}

/// First character of the keys of signals and of what runs throw; no key of a caller's begins with it.
pub const OWN_KEY: char = '\u{1f}';

impl InboxEvent {
    /// Key of a caller's signal: those of signals and of case events stand apart.
    #[must_use]
    pub fn signal_key(key: &str) -> String {
        format!("{OWN_KEY}signal:{key}")
    }

    /// Key of the delivery of a thrown message or signal.
    #[must_use]
    pub fn thrown_key(kind: BindingKind, id: EventId) -> String {
        match kind {
            BindingKind::Signal => format!("{OWN_KEY}thrown-signal:{id}"),
            BindingKind::Message | BindingKind::Timer => format!("{OWN_KEY}thrown:{id}"),
        }
    }

    /// Whether it is a signal, which is no case event.
    #[must_use]
    pub fn is_signal(&self) -> bool {
        let own = self.idempotency_key.strip_prefix(OWN_KEY);
        own.is_some_and(|own| own.starts_with("signal:") || own.starts_with("thrown-signal:"))
    }

    /// The key as a reader sees it.
    #[must_use]
    pub fn shown_key(&self) -> &str {
        self.idempotency_key.trim_start_matches(OWN_KEY)
    }

    /// The event as its sender was told of it first. One that was kept had no receiver by then, whoever took it later;
    /// that it was kept is told by its end, which stays.
    #[must_use]
    pub fn as_first_told(&self) -> Self {
        let mut first = self.clone();
        if first.expires_at.is_some() {
            first.run_ids.clear();
            first.case_ids.clear();
        }
        first
    }

    /// State at an instant: a kept event whose time is over has expired, whether or not that is written yet.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> InboxState {
        match self.state {
            InboxState::Buffered if self.expires_at.is_some_and(|end| end <= now) => InboxState::Expired,
            state => state,
        }
    }
}

/// Receivers of an event: the runs and the cases that took it or were started by it, each sorted and once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receivers {
    /// Runs.
    pub run_ids: Vec<RunId>,
    /// Cases.
    pub case_ids: Vec<CaseId>,
}

impl Receivers {
    /// Receivers among some instances.
    pub fn of<'r>(instances: impl IntoIterator<Item = &'r Run>) -> Self {
        let mut all = Self::default();
        for one in instances {
            match one.kind {
                DefinitionKind::Workflow => all.run_ids.push(one.id),
                DefinitionKind::Case => all.case_ids.push(one.id.into()),
            }
        }
        all.run_ids.sort_unstable();
        all.run_ids.dedup();
        all.case_ids.sort_unstable();
        all.case_ids.dedup();
        all
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.run_ids.is_empty() && self.case_ids.is_empty()
    }
}

/// Refusal of an event by an instance that it was for, while others took it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Kind of the instance.
    pub kind: DefinitionKind,
    /// The instance.
    pub run: RunId,
    /// Reason, in words.
    pub message: String,
}

/// An event from outside (or thrown by a run) as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxEvent {
    /// The organisation.
    pub tenant: TenantId,
    /// The event.
    pub id: EventId,
    /// The sender's key: one event per key and organisation.
    pub idempotency_key: String,
    /// SHA-256 (hex) of the canonical body, to tell a repeat from a misuse of the key.
    pub body_sha256: String,
    /// Correlation key of its receivers.
    pub correlation_key: Option<String>,
    /// Type of the event: the name of the message or signal.
    pub event_type: String,
    /// Payload of the event.
    pub payload: Value,
    /// Instant of receipt.
    pub received_at: Timestamp,
    /// User who sent it.
    pub received_by: Option<UserId>,
    /// Outcome of the event.
    pub state: InboxState,
    /// The runs that took it or were started by it, sorted.
    pub run_ids: Vec<RunId>,
    /// The cases that took it or were started by it, sorted.
    #[serde(default)]
    pub case_ids: Vec<CaseId>,
    /// The instances that did not take it while others did: the first ones of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refusal>,
    /// Instant until which it is kept while nobody took it.
    pub expires_at: Option<Timestamp>,
    /// Length of the chain of throws that led to it; 0 for one from outside.
    #[serde(default)]
    pub hops: u32,
}
