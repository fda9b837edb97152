//! Stores of runs, their events, timers, subscriptions, tasks and the inbox.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;
use heddle_engine::State;
use heddle_kernel::{
    DefinitionKind, EventId, Page, PageRequest, Revision, RunId, TaskId, TenantId, Timestamp, UserId,
    WorkflowId,
};
use heddle_policy::{InstanceFilter, InstanceKey, Ownership, Person};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_usecase::errand::NewErrand;
use serde_json::Value;

use super::{Activation, JobChange, LockChange};
use crate::records::{
    BindingKind, CalledRun, DeadLetter, HumanTask, InboxEvent, Outgoing, Progress, Receivers, Run, RunState,
    StartBinding, SubscriptionRow, TaskState, TimerRow,
};

/// The order of a list of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunSort {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
    /// Those with an incident first, each part newest first.
    Incidents,
}

/// Filter for runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Workflow of the runs; all when absent.
    pub workflow: Option<WorkflowId>,
    /// State of the runs.
    pub state: Option<RunState>,
    /// Presence (or absence) of an incident.
    pub has_incident: Option<bool>,
    /// Version of the workflow.
    pub version: Option<i32>,
    /// Node with a token. Held against the state of active runs after the database's part of the filter.
    pub node_id: Option<String>,
    /// Correlation key of the runs.
    pub correlation_key: Option<String>,
    /// Business key of the runs.
    pub business_key: Option<String>,
    /// User who started them.
    pub started_by: Option<UserId>,
    /// Created at or after this instant.
    pub from: Option<Timestamp>,
    /// Created before this instant.
    pub to: Option<Timestamp>,
    /// Waiting since before this instant.
    pub waiting_before: Option<Timestamp>,
    /// The order.
    pub sort: RunSort,
}

/// A change of a human task's row.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChange {
    /// A new one.
    Open(Box<HumanTask>),
    /// Another assignee.
    Assign(TaskId, Option<String>),
    /// The end of one.
    End {
        /// The task.
        task: TaskId,
        /// Completed or cancelled.
        state: TaskState,
        /// Instant of the task's end.
        at: Timestamp,
        /// User who completed it.
        by: Option<UserId>,
    },
}

/// Everything that one step of one run writes.
#[derive(Debug, Clone)]
pub struct RunWrite {
    /// The run as it shall be.
    pub run: Run,
    /// State of the run as the store keeps it ([`RunStore::pack`]), where that was made beforehand.
    pub packed: Option<Vec<u8>>,
    /// The revision it must have now; none for a new run. Otherwise the unit is `Stale`.
    pub expected: Option<Revision>,
    /// The step's events as the JSON text of an array; `None` when there are none.
    pub events: Option<Vec<u8>>,
    /// The first event's sequence number.
    pub first_sequence: u64,
    /// Timers that were set.
    pub timers_added: Vec<TimerRow>,
    /// Timers that fired or were withdrawn.
    pub timers_removed: Vec<String>,
    /// Subscriptions that were opened.
    pub subscriptions_added: Vec<SubscriptionRow>,
    /// Subscriptions that were closed.
    pub subscriptions_removed: Vec<String>,
    /// Changes of human tasks, in order.
    pub tasks: Vec<TaskChange>,
    /// Changes of jobs.
    pub jobs: Vec<JobChange>,
    /// Messages and signals thrown.
    pub outgoing: Vec<Outgoing>,
    /// Data stores of the organisation that were written, in order: of one store the last write counts, and of several runs
    /// that of the last commit.
    pub stores: Vec<StoreWrite>,
}

/// Write of a data store of the organisation.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreWrite {
    /// Name of the store.
    pub store: String,
    /// Value of the store from now on.
    pub value: Value,
}

/// A change of the inbox.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one in a transaction")]
pub enum InboxWrite {
    /// A new event. `Duplicate("idempotencyKey")` when the key is taken.
    Insert(InboxEvent),
    /// A kept event finds its runs. `Stale` when it is not kept any more.
    Consume {
        /// The event.
        id: EventId,
        /// The instances that took it.
        receivers: Receivers,
    },
}

/// A timer start that moves on to its next slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingAdvance {
    /// The binding as it is now: with its present due time, else the unit is `Stale`.
    pub binding: StartBinding,
    /// Next due time; none takes the binding away.
    pub next_due_at: Option<Timestamp>,
    /// Recurrence of the timer.
    pub timer: Option<Value>,
}

/// Writes that happen together or not at all.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    /// The tenant of all of it.
    pub tenant: Option<TenantId>,
    /// Steps of runs.
    pub runs: Vec<RunWrite>,
    /// A change of the inbox.
    pub inbox: Option<InboxWrite>,
    /// A thrown message that is delivered hereby: its row goes; `Stale` when it is gone.
    pub delivered: Option<EventId>,
    /// A timer start that fired hereby.
    pub advance: Option<BindingAdvance>,
    /// Jobs that a worker takes hereby.
    pub activation: Option<Activation>,
    /// Locks of jobs that their holder changes.
    pub locks: Vec<LockChange>,
    /// Work that is set aside hereby.
    pub letters: Vec<DeadLetter>,
    /// A dead letter that is settled hereby: it goes; `Stale` when it is gone.
    pub settled: Option<EventId>,
    /// Work outside of the process that is asked for hereby.
    pub errands: Vec<NewErrand>,
    /// The audit event and the idempotency record.
    pub unit: Journal,
}

/// A subscription that an event matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedSubscription {
    /// The run.
    pub run: RunId,
    /// The engine's id of it.
    pub subscription_id: String,
}

/// Some events of a run as stored: a JSON array's text and the sequence numbers it spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSlice {
    /// The first event's sequence number.
    pub first_sequence: u64,
    /// The last event's sequence number.
    pub last_sequence: u64,
    /// The JSON text of an array.
    pub events: Vec<u8>,
}

/// Place in the stream over all runs of an organisation. Behind it lies what was not told yet: what was committed later,
/// and of the same commit, in the order of runs and sequence numbers, what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPosition {
    /// Number of the commit, or of the transaction, from 1.
    pub commit: i64,
    /// Run of the event.
    pub run: RunId,
    /// Sequence number of the event within the run.
    pub sequence: u64,
}

/// A place as a reader sends it back: `commit.run.sequence`.
impl std::fmt::Display for FeedPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.commit, self.run, self.sequence)
    }
}

/// A text that is no place of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no place of the stream")]
pub struct FeedPositionError;

impl std::str::FromStr for FeedPosition {
    type Err = FeedPositionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('.');
        let (Some(commit), Some(run), Some(sequence), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(FeedPositionError);
        };
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(commit) || !is_number(sequence) {
            return Err(FeedPositionError);
        }
        let commit: i64 = commit.parse().or(Err(FeedPositionError))?;
        // What was committed before the stream was kept has no place of its own.
        if commit == 0 {
            return Err(FeedPositionError);
        }
        let run = run.parse().or(Err(FeedPositionError))?;
        Ok(Self { commit, run, sequence: sequence.parse().or(Err(FeedPositionError))? })
    }
}

/// End of the stream over all runs at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEnd {
    /// Place behind which lies what is committed from now on.
    pub place: FeedPosition,
    /// Numbers of commits behind the place that were there already: they stand behind a transaction that is still open.
    pub seen: Vec<i64>,
}

/// A slice of the stream over all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedSlice {
    /// Number of the commit.
    pub commit: i64,
    /// Kind of the instance.
    pub kind: DefinitionKind,
    /// The run.
    pub run: RunId,
    /// Workflow that the run is of.
    pub workflow: WorkflowId,
    /// Whether the run is the reader's own; looked up where their filter asks.
    pub ownership: Ownership,
    /// The events.
    pub events: EventSlice,
}

/// Part of the stream that lies behind what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedRest {
    /// Nothing as yet.
    Nothing,
    /// More of it: to be read at once.
    More,
    /// Committed events that a transaction which is still open may come before: to be read when that has ended.
    Held,
}

/// Result of a look into the stream over all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRead {
    /// The slices.
    pub slices: Vec<FeedSlice>,
    /// Place up to which the stream was read.
    pub reached: FeedPosition,
    /// Rest of the stream behind it.
    pub rest: FeedRest,
}

/// Filter for human tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskFilter {
    /// State of the tasks.
    pub state: Option<TaskState>,
    /// Assigned to one of these names (a user's id and e-mail address).
    pub assignee: Option<Vec<String>>,
    /// Only tasks that one with these names and groups may work on: assigned to a name, or not assigned and either
    /// without candidates or with one of the names or groups among them.
    pub candidate: Option<(Vec<String>, Vec<String>)>,
    /// Kind of the instances of which all tasks are wanted, whoever may work on them; `candidate` is about those of the other
    /// kind alone then.
    pub viewed: Option<DefinitionKind>,
    /// Due before this instant.
    pub due_before: Option<Timestamp>,
    /// Follow-up date before this instant.
    pub follow_up_before: Option<Timestamp>,
    /// Workflow of the tasks.
    pub workflow: Option<WorkflowId>,
    /// Run of the tasks.
    pub run: Option<RunId>,
}

/// The turn to write, given back when it is dropped.
pub type WriteTurn = Box<dyn Send>;

/// Keeps runs. All methods answer `Unavailable` when the database does not.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait RunStore: Send + Sync {
    /// Writes units in one transaction, each in a savepoint of its own: one that fails spares the others. The answers
    /// stand in the order of the units. When the transaction itself fails, every answer is `Unavailable`.
    async fn commit(&self, units: Vec<Transaction>) -> Vec<Result<(), StoreError>>;
    /// As [`commit`](Self::commit); the turn to write is given back once the next transaction may be written, which is before
    /// this one is on the disk where the store writes one at a time.
    async fn commit_in_turn(&self, units: Vec<Transaction>, turn: WriteTurn) -> Vec<Result<(), StoreError>> {
        let answers = self.commit(units).await;
        drop(turn);
        answers
    }
    /// The form in which a state is kept; none where it is kept as it is. It computes for long for a large state, and is
    /// called before the writer's turn.
    ///
    /// # Errors
    /// `Unavailable` when the state has no such form.
    fn pack(&self, _state: &State) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
    /// An instance with its state; `NotFound` also when it is not of the kind or the definition that the key claims, or no
    /// longer its owner's.
    async fn find(&self, key: &InstanceKey) -> Result<Run, StoreError>;
    /// Progress of an instance, which costs the same however much that holds; `NotFound` as of `find`.
    async fn progress(&self, key: &InstanceKey) -> Result<Progress, StoreError>;
    /// Which of these runs are a person's own: they started it, an open task of it is theirs or nobody's with them, a
    /// group or a role of theirs among its candidates, or they completed a task of it.
    async fn own_among(
        &self,
        tenant: TenantId,
        person: &Person,
        runs: &[RunId],
    ) -> Result<HashSet<RunId>, StoreError>;
    /// Keys of those of these instances that are there, of either kind.
    async fn instance_keys(&self, tenant: TenantId, runs: &[RunId]) -> Result<Vec<InstanceKey>, StoreError>;
    /// An instance of a kind with its state; one of another kind is not there.
    async fn load(&self, tenant: TenantId, kind: DefinitionKind, run: RunId) -> Result<Run, StoreError>;
    /// An instance of either kind with its state, for work that nobody asked for.
    async fn load_any(&self, tenant: TenantId, run: RunId) -> Result<Run, StoreError>;
    /// A page of a definition's instances that `access` lets through, of its kind; `NotFound` when there is no such definition. The inputs are
    /// not read: they are null. A page has fewer runs than asked for when their states are large.
    async fn list(
        &self,
        tenant: TenantId,
        workflow: WorkflowId,
        filter: &RunFilter,
        access: &InstanceFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>, StoreError>;
    /// A page of the instances of all definitions that `access` lets through, of its kind, with or without one of the filter. The inputs are
    /// not read: they are null. A page has fewer runs than asked for when their states are large.
    async fn list_all(
        &self,
        tenant: TenantId,
        filter: &RunFilter,
        access: &InstanceFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>, StoreError>;
    /// The place in the stream over all runs behind which lies what is committed from now on, and what lies there already.
    async fn feed_end(&self, tenant: TenantId) -> Result<FeedEnd, StoreError>;
    /// The next slices behind a place in the stream over all instances that one of `access`, each by its kind, and the filter
    /// let through, in their order; of so many bytes or a single larger one. It reads a bounded part of the stream, whatever
    /// is let through of it.
    async fn feed(
        &self,
        tenant: TenantId,
        workflow: Option<WorkflowId>,
        access: &[InstanceFilter],
        after: FeedPosition,
        bytes: usize,
    ) -> Result<FeedRead, StoreError>;
    /// The stored slices of an instance with events behind `after`, in order, at most `limit` slices; fewer when they are
    /// large, but never none while there are any. None for one of another kind or definition than the key claims.
    async fn events(&self, key: &InstanceKey, after: u64, limit: i64) -> Result<Vec<EventSlice>, StoreError>;
    /// Instances of either kind that an instance has called, the first ones first, at most `limit`.
    async fn called_by(&self, caller: &InstanceKey, limit: i64) -> Result<Vec<CalledRun>, StoreError>;
    /// Removes an ended instance with its history; leaves a tombstone. `NotFound` where there is none of the key's kind.
    async fn purge(&self, key: &InstanceKey, unit: &Journal) -> Result<(), StoreError>;
    /// Whether there was such an instance of the kind and the definition and it was removed.
    async fn was_purged(&self, key: &InstanceKey) -> Result<bool, StoreError>;
    /// Subscriptions of instances of both kinds that match an event: a message by name and key (none matches none), a signal by name.
    async fn matching<'a>(
        &self,
        tenant: TenantId,
        kind: BindingKind,
        name: &'a str,
        correlation_key: Option<&'a str>,
    ) -> Result<Vec<MatchedSubscription>, StoreError>;
    /// Start bindings of published, unarchived definitions of both kinds for a message or signal.
    async fn matching_starts(
        &self,
        tenant: TenantId,
        kind: BindingKind,
        name: &str,
    ) -> Result<Vec<StartBinding>, StoreError>;
    /// A page of human tasks of the instances that a filter of `access` lets through, one for each kind that is wanted, the
    /// earliest due first, then the oldest. Of runs that
    /// are let through as somebody's own alone it shows all tasks of those that they started, and of the others the tasks
    /// that are for them or were completed by them.
    async fn tasks(
        &self,
        tenant: TenantId,
        filter: &TaskFilter,
        access: &[InstanceFilter],
        page: &PageRequest,
    ) -> Result<Page<HumanTask>, StoreError>;
    /// The instance of a human task.
    async fn task_run(&self, tenant: TenantId, task: TaskId) -> Result<InstanceKey, StoreError>;
    /// One human task.
    async fn task(&self, tenant: TenantId, task: TaskId) -> Result<HumanTask, StoreError>;
    /// Values of the data stores of these names; one that was never written is absent.
    async fn data_stores(
        &self,
        tenant: TenantId,
        names: &[String],
    ) -> Result<BTreeMap<String, Value>, StoreError>;
    /// An event of the inbox.
    async fn inbox_event(&self, tenant: TenantId, id: EventId) -> Result<InboxEvent, StoreError>;
    /// The event with this idempotency key.
    async fn inbox_by_key(&self, tenant: TenantId, key: &str) -> Result<Option<InboxEvent>, StoreError>;
    /// Kept events of this type and key that are not expired, the oldest first.
    async fn buffered<'a>(
        &self,
        tenant: TenantId,
        event_type: &'a str,
        correlation_key: Option<&'a str>,
        now: Timestamp,
    ) -> Result<Vec<InboxEvent>, StoreError>;
    /// Ends what is over: kept events past their time, unclaimed files, old idempotency records. Returns how many.
    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_place_of_the_stream_is_read_as_it_was_written() {
        let place = FeedPosition { commit: 7, run: RunId(Uuid::from_u128(3)), sequence: 12 };
        assert_eq!(place.to_string().parse(), Ok(place));
        let run = RunId(Uuid::from_u128(3));
        let wrong = ["", "7", "7.12", &format!("0.{run}.1"), &format!("-1.{run}.1"), &format!("7.{run}.1.2")];
        for text in wrong.into_iter().chain(["+7.x.1", "7.x.1"]) {
            assert_eq!(text.parse::<FeedPosition>(), Err(FeedPositionError), "{text}");
        }
    }
}
