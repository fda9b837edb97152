//! The records of this area as the domain sees them. Rows and wire types are made from these by plain functions.

use heddle_engine::State;
use heddle_kernel::{
    EventId, Patch, Revision, RunId, TaskId, TenantId, Timestamp, UserId, WorkflowId, literals,
};
use heddle_policy::{Key, Within, resource};
use serde::{Deserialize, Serialize};
use serde_json::Value;

literals! {
    /// Where a workflow stands.
    pub enum WorkflowState {
        /// Never published.
        Draft = "draft",
        /// Has an active version.
        Published = "published",
        /// Starts no new runs.
        Archived = "archived",
    }
}

/// A draft: the definition's JSON as it was sent, member for member.
pub type Draft = Patch<Value>;

/// A workflow without its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// The organisation.
    pub tenant: TenantId,
    /// The workflow.
    pub id: WorkflowId,
    /// Unique name within the organisation, 1 to 100 characters of `a-z0-9-`.
    pub slug: String,
    /// 1 to 200 characters.
    pub display_name: String,
    /// 0 to 4,000 characters.
    pub description: String,
    /// A free label of 1 to 200 characters.
    pub folder_id: Patch<String>,
    /// Where it stands.
    pub state: WorkflowState,
    /// Grows with every change.
    pub revision: Revision,
    /// Grows with every change of the draft.
    pub draft_revision: Revision,
    /// SHA-256 (hex) of the draft's canonical JSON; none while there is no definition.
    pub draft_hash: Option<String>,
    /// The active version's number, counted from 1.
    pub published_version: Option<i32>,
    /// The active version's hash.
    pub published_hash: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// By whom.
    pub created_by: UserId,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// By whom.
    pub updated_by: UserId,
}

impl Workflow {
    /// Whether the draft differs from the active version.
    #[must_use]
    pub fn has_unpublished_changes(&self) -> bool {
        self.draft_hash.is_some() && self.draft_hash != self.published_hash
    }
}

/// A workflow with what a reader sees beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowView {
    /// The workflow.
    pub workflow: Workflow,
    /// Whether the reader starred it.
    pub starred: bool,
    /// Its runs by state.
    pub run_counts: RunCounts,
}

/// How many runs of a workflow are in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunCounts {
    /// Running, waiting, suspended or queued ones.
    pub active: i64,
    /// Active ones with an incident.
    pub incidents: i64,
    /// Completed ones.
    pub completed: i64,
    /// Failed ones.
    pub failed: i64,
    /// Cancelled ones.
    pub cancelled: i64,
}

/// A published version; immutable but for its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Counted from 1.
    pub number: i32,
    /// SHA-256 (hex) of the definition's canonical JSON.
    pub hash: String,
    /// When.
    pub published_at: Timestamp,
    /// By whom.
    pub published_by: UserId,
    /// What the publisher said of it.
    pub change_note: Option<String>,
    /// Whether new runs use it.
    pub active: bool,
}

/// The bytes of an imported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSource {
    /// SHA-256 (hex) of the bytes.
    pub sha256: String,
    /// Its media type.
    pub media_type: String,
    /// Its name.
    pub file_name: Option<String>,
    /// The bytes as they came.
    pub bytes: Vec<u8>,
}

/// What can start a run of a published workflow without a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartBinding {
    /// The organisation.
    pub tenant: TenantId,
    /// The workflow.
    pub workflow: WorkflowId,
    /// The version it belongs to.
    pub version: i32,
    /// The process within the definition.
    pub process_id: String,
    /// The start event.
    pub node_id: String,
    /// By what.
    pub kind: BindingKind,
    /// The message's or signal's name; empty for a timer.
    pub name: String,
    /// When a timer is due next.
    pub next_due_at: Option<Timestamp>,
    /// How a timer goes on: the engine's own form.
    pub timer: Option<Value>,
}

literals! {
    /// What a start binding or a subscription listens for.
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
    /// Where a run stands (api.md, Runs).
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
    }
}

impl RunState {
    /// Whether nothing can happen to it any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
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

/// What began a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TriggerRecord {
    /// Its kind.
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
}

/// A run: its row with the engine's state.
#[derive(Debug, Clone)]
pub struct Run {
    /// The organisation.
    pub tenant: TenantId,
    /// The run.
    pub id: RunId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// The version it runs, for good.
    pub version: i32,
    /// The process within the definition.
    pub process_id: String,
    /// Where it stands.
    pub state: RunState,
    /// Whether somebody has to look at it.
    pub has_incident: bool,
    /// The caller's own name for it.
    pub business_key: Option<String>,
    /// What messages find it by.
    pub correlation_key: Option<String>,
    /// What began it.
    pub trigger: TriggerRecord,
    /// The input it was started with.
    pub input: Value,
    /// The engine's state.
    pub snapshot: State,
    /// The last event's sequence number.
    pub last_sequence: u64,
    /// Grows by one with every commit.
    pub revision: Revision,
    /// When it was created.
    pub created_at: Timestamp,
    /// By whom, if by somebody.
    pub created_by: Option<UserId>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Since when it waits.
    pub waiting_since: Option<Timestamp>,
}

impl Run {
    /// Its key.
    #[must_use]
    pub const fn key(&self) -> Key<resource::Run> {
        Key::of_stored(self.tenant, self.id, Within::of(self.workflow))
    }
}

/// A timer of a waiting run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimerRow {
    /// The engine's id of it, unique within the run.
    pub timer_id: String,
    /// The node that waits.
    pub node_id: String,
    /// When it is due.
    pub due_at: Timestamp,
}

/// A message or signal that a waiting run listens for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionRow {
    /// The engine's id of it, unique within the run.
    pub subscription_id: String,
    /// By what.
    pub kind: BindingKind,
    /// The message's or signal's name.
    pub name: String,
    /// What it has to match; none matches only events without one.
    pub correlation_key: Option<String>,
    /// The node that waits.
    pub node_id: String,
}

literals! {
    /// Where a human task stands.
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
    /// Its run.
    pub run: RunId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// The user task's element id.
    pub node_id: String,
    /// The activity instance.
    pub node_instance_id: String,
    /// The user task's name.
    pub name: String,
    /// Where it stands.
    pub state: TaskState,
    /// Who works on it: a user's id or e-mail address.
    pub assignee: Option<String>,
    /// Who may take it: users' ids or e-mail addresses.
    pub candidate_users: Vec<String>,
    /// Which groups or roles may take it.
    pub candidate_groups: Vec<String>,
    /// When it should be done.
    pub due_at: Option<Timestamp>,
    /// 0 to 100.
    pub priority: i32,
    /// Its form: a JSON Schema.
    pub form: Option<Value>,
    /// The outcomes that may be chosen.
    pub outcomes: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Who completed it.
    pub completed_by: Option<UserId>,
}

/// A message or signal that a run threw and that is still to be delivered.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The organisation.
    pub tenant: TenantId,
    /// Its id, also its idempotency key.
    pub id: EventId,
    /// Who threw it.
    pub run: RunId,
    /// Message or signal.
    pub kind: BindingKind,
    /// Its name.
    pub name: String,
    /// Whom it is for.
    pub correlation_key: Option<String>,
    /// What it carries.
    pub payload: Value,
    /// When it was thrown.
    pub created_at: Timestamp,
}

literals! {
    /// What became of an event from outside.
    pub enum InboxState {
        /// Somebody took it.
        Consumed = "consumed",
        /// Kept for the first that will listen.
        Buffered = "buffered",
        /// Nobody wanted it in time.
        Expired = "expired",
    }
}

/// An event from outside (or thrown by a run) as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct InboxEvent {
    /// The organisation.
    pub tenant: TenantId,
    /// The event.
    pub id: EventId,
    /// The sender's key: one event per key and organisation.
    pub idempotency_key: String,
    /// SHA-256 (hex) of the canonical body, to tell a repeat from a misuse of the key.
    pub body_sha256: String,
    /// Whom it is for.
    pub correlation_key: Option<String>,
    /// Its type: the name of the message or signal.
    pub event_type: String,
    /// What it carries.
    pub payload: Value,
    /// When it came.
    pub received_at: Timestamp,
    /// From whom.
    pub received_by: Option<UserId>,
    /// What became of it.
    pub state: InboxState,
    /// The runs that took it or were started by it, sorted.
    pub run_ids: Vec<RunId>,
    /// Until when it is kept while nobody took it.
    pub expires_at: Option<Timestamp>,
}
