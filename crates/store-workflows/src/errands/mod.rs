//! Errands: looked for by lane, taken under leases, and ended. What is set aside becomes a dead letter in the same
//! transaction, which is why they are kept here.

mod claim;
mod look;
mod settle;
mod trim;

use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::Timestamp;
use heddle_store::Db;
use heddle_usecase::StoreError;
use heddle_usecase::errand::{
    Backlog, Claim, Claimed, ErrandKind, ErrandStore, Held, Holder, Lane, Look, Settled, Written,
};
use heddle_workflows::quotas::QuotaSource;
use uuid::Uuid;

use crate::quotas::Guard;

/// Errands in the database.
#[derive(Clone)]
pub struct SqlErrandStore {
    db: Db,
    guard: Guard,
}

impl std::fmt::Debug for SqlErrandStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlErrandStore").finish_non_exhaustive()
    }
}

impl SqlErrandStore {
    /// Store in this database, whose schema is up to date.
    #[must_use]
    pub fn new(db: Db) -> Self {
        Self { db, guard: Guard::default() }
    }

    /// The same with quotas of their own, which may change from one call to the next.
    #[must_use]
    pub fn with_quotas(self, quotas: Arc<dyn QuotaSource>) -> Self {
        Self { guard: Guard::new(quotas), ..self }
    }
}

#[async_trait]
impl ErrandStore for SqlErrandStore {
    async fn look(
        &self,
        kind: ErrandKind,
        now: Timestamp,
        after: Option<Uuid>,
        lanes: i64,
    ) -> Result<Look, StoreError> {
        look::look(&self.db, kind, now, after, lanes).await
    }

    async fn claim(&self, claims: &[Claim], holder: Holder) -> Result<Claimed, StoreError> {
        claim::claim(&self.db, claims, holder).await
    }

    async fn renew(&self, held: &[Held], holder: Holder) -> Result<Vec<Held>, StoreError> {
        claim::renew(&self.db, held, holder).await
    }

    async fn settle(
        &self,
        settled: &[Settled],
        node: Uuid,
        now: Timestamp,
    ) -> Result<Vec<Written>, StoreError> {
        settle::settle(&self.db, settled, node, now, self.guard.quotas().dead_letters).await
    }

    async fn release(&self, held: &[Held], node: Uuid, now: Timestamp) -> Result<(), StoreError> {
        claim::release(&self.db, held, node, now).await
    }

    async fn recover(&self, node: Uuid, now: Timestamp) -> Result<u64, StoreError> {
        claim::recover(&self.db, node, now).await
    }

    async fn hasten(&self, lane: &Lane, now: Timestamp) -> Result<(), StoreError> {
        claim::hasten(&self.db, lane, now).await
    }

    async fn trim(&self, lane: &Lane, backlog: Option<Backlog>) -> Result<u64, StoreError> {
        trim::trim(&self.db, lane, backlog).await
    }
}
