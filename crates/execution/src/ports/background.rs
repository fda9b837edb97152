//! Background ports of the use cases: group commit, notices, and the work that nobody asked for at this moment.

use async_trait::async_trait;
use heddle_kernel::{EventId, Page, PageRequest, RunId, TenantId, Timestamp, UserId, WorkflowId, literals};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::{Journal, StoreError};
use uuid::Uuid;

use super::Transaction;
use crate::records::{DeadLetter, PendingWork, Setback, WorkKey, WorkKind, WorkMark};

/// Group commit: takes a unit and answers when it is durable.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Committer: Send + Sync {
    /// Writes the unit together with others that are waiting.
    async fn commit(&self, unit: Transaction) -> Result<(), StoreError>;
}

/// Notice after a commit, so that those who wait for something look again. Telling too often does no harm.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait Notifier: Send + Sync {
    /// A run has new events.
    fn run_changed(&self, tenant: TenantId, run: RunId, last_sequence: u64);
    /// A timer was set.
    fn timer_set(&self, due_at: Timestamp);
    /// A message or signal was thrown.
    fn outbox_changed(&self);
    /// A run began to wait for a message.
    fn message_awaited(&self);
    /// An errand was asked for.
    fn errand_asked(&self);
}

literals! {
    /// Queue of background work.
    pub enum Queue {
        /// Thrown messages and signals.
        Outbox = "outbox",
        /// Timers of runs.
        Timers = "timers",
        /// Timers that start runs.
        Starts = "starts",
        /// Kept events that runs wait for.
        Kept = "kept",
    }
}

/// Share of a queue that one round takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The most pieces.
    pub limit: i64,
    /// Most pieces of one organisation where more than `limit` wait.
    pub share: i64,
    /// The organisation that was served last; those behind it come first.
    pub after: Option<TenantId>,
}

/// Filter for dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LetterFilter {
    /// Kind of the work.
    pub kind: Option<WorkKind>,
    /// Workflow of the work.
    pub workflow: Option<WorkflowId>,
    /// Run of the work.
    pub run: Option<RunId>,
}

/// Keeps the work that nobody asked for, over all tenants, and what was set aside of it. All methods answer
/// `Unavailable` when the database does not.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait WorkStore: Send + Sync {
    /// Work of a queue that may be tried at `now`, the longest due first. Where more than the turn's limit waits, the
    /// organisations share it, and what it costs does not grow with what one of them has waiting.
    async fn pending(&self, queue: Queue, now: Timestamp, turn: Turn)
    -> Result<Vec<PendingWork>, StoreError>;
    /// The earliest instant after another from which work of a queue may be tried: what was due before and was not
    /// found is found by nobody, and hides nothing behind it.
    async fn next_due(&self, queue: Queue, after: Timestamp) -> Result<Option<Timestamp>, StoreError>;
    /// A piece of work, if its row is still there.
    async fn find(&self, key: &WorkKey) -> Result<Option<PendingWork>, StoreError>;
    /// Removes the row of a piece of work that nothing is left of.
    async fn forget(&self, key: &WorkKey) -> Result<(), StoreError>;
    /// Puts a node's mark of a queue in the place of its last one.
    async fn mark(&self, node: Uuid, queue: Queue, mark: &WorkMark, now: Timestamp)
    -> Result<(), StoreError>;
    /// Takes a node's mark of a queue away: nothing of it is being done.
    async fn unmark(&self, node: Uuid, queue: Queue) -> Result<(), StoreError>;
    /// Takes the marks that a node left behind, and those of nodes that did not mark since an instant.
    async fn left_behind(&self, node: Uuid, since: Timestamp) -> Result<Vec<WorkMark>, StoreError>;
    /// Records tries that did not succeed, in one transaction. A row that is gone stays gone, and makes no letter.
    async fn record(&self, setbacks: Vec<Setback>) -> Result<(), StoreError>;
    /// A page of the dead letters that `access` lets through, the newest first.
    async fn letters(
        &self,
        tenant: TenantId,
        filter: &LetterFilter,
        access: &AccessFilter<resource::DeadLetter>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError>;
    /// One dead letter.
    async fn letter(&self, tenant: TenantId, id: EventId) -> Result<DeadLetter, StoreError>;
    /// Puts the work of a letter back as new, due at `now`, in the letter's place. `Stale` when there is no place for
    /// it any more: the run ended, the version is not the active one, the event was taken.
    async fn restore(&self, letter: &DeadLetter, now: Timestamp, unit: &Journal) -> Result<(), StoreError>;
    /// Removes a letter, and leaves a tombstone of the journal's actor. `NotFound` when it is gone and another, or
    /// nobody, dropped it.
    async fn discard(&self, tenant: TenantId, id: EventId, unit: &Journal) -> Result<(), StoreError>;
    /// Whether this user has dropped such a letter.
    async fn has_dropped(&self, tenant: TenantId, by: UserId, id: EventId) -> Result<bool, StoreError>;
}
