//! Background ports of the use cases: group commit and notices.

use async_trait::async_trait;
use heddle_kernel::{RunId, TenantId, Timestamp};
use heddle_usecase::StoreError;

use super::Transaction;

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
}
