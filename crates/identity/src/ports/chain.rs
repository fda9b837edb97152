//! The chain of the audit trail: what seals it, verifies it, and drops what is over.

use async_trait::async_trait;
use heddle_kernel::{EventId, TenantId};
use heddle_usecase::StoreError;

use crate::chain::{ChainRow, Checkpoint, Hash};

/// Place of an event in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainLink {
    /// The event.
    pub event: EventId,
    /// Number of the event.
    pub sequence: i64,
    /// Hash of the event.
    pub hash: Hash,
}

/// Keeps chains. A trail is named by its organisation; the installation's own by
/// [`INSTALLATION_TRAIL`](crate::chain::INSTALLATION_TRAIL). A row that can't be read is told as such, and the others with
/// it.
#[async_trait]
pub trait AuditChainStore: Send + Sync {
    /// The first trail, behind one, that has events without a place in its chain.
    async fn unsealed_trail(&self, after: Option<TenantId>) -> Result<Option<TenantId>, StoreError>;

    /// Events without a place, behind one, in the order of their ids. Whatever was committed is among them, in whichever
    /// order.
    async fn unsealed(
        &self,
        trail: TenantId,
        after: Option<EventId>,
        most: usize,
    ) -> Result<Vec<ChainRow>, StoreError>;

    /// Number of events without a place.
    async fn unsealed_count(&self, trail: TenantId) -> Result<u64, StoreError>;

    /// The first chain behind one.
    async fn chain(&self, after: Option<TenantId>) -> Result<Option<TenantId>, StoreError>;

    /// The newest checkpoint of the head.
    async fn head(&self, trail: TenantId) -> Result<Option<Checkpoint>, StoreError>;

    /// The newest checkpoint of what was dropped.
    async fn dropped(&self, trail: TenantId) -> Result<Option<Checkpoint>, StoreError>;

    /// Writes places and the checkpoint of the last of them, all or nothing, as long as the head is the expected one and
    /// none of the events has a place; otherwise says `false`, for somebody else was faster. Of checkpoints that come
    /// close upon each other only the newest stays.
    async fn seal(
        &self,
        links: &[ChainLink],
        expected: Option<i64>,
        checkpoint: &Checkpoint,
    ) -> Result<bool, StoreError>;

    /// Events of the chain behind a number, in the order of the chain.
    async fn sealed(&self, trail: TenantId, after: i64, most: usize) -> Result<Vec<ChainRow>, StoreError>;

    /// Checkpoints of the head behind a number and up to another, in their order.
    async fn checkpoints(
        &self,
        trail: TenantId,
        after: i64,
        through: i64,
    ) -> Result<Vec<Checkpoint>, StoreError>;

    /// Removes the events up to the checkpoint's, with the checkpoints before it, and writes it, as long as the newest
    /// checkpoint of what was dropped is the expected one; otherwise says `false`.
    async fn drop_through(&self, expected: Option<i64>, checkpoint: &Checkpoint) -> Result<bool, StoreError>;
}
