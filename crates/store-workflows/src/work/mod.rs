//! Background work over all organisations: what may be tried, what is being done, and what was set aside.

mod letters;
mod marks;
mod pending;
mod setbacks;
mod sharing;

pub(crate) use setbacks::NO_ROOM_SECONDS;

use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{EventId, Page, PageRequest, TenantId, Timestamp, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::Db;
use heddle_usecase::{Journal, StoreError};
use heddle_workflows::ports::{LetterFilter, Queue, Turn, WorkStore};
use heddle_workflows::quotas::QuotaSource;
use heddle_workflows::records::{DeadLetter, PendingWork, Setback, WorkKey, WorkMark};
use uuid::Uuid;

use crate::quotas::Guard;

/// Background work in the database.
#[derive(Clone)]
pub struct SqlWorkStore {
    db: Db,
    guard: Guard,
}

impl std::fmt::Debug for SqlWorkStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlWorkStore").finish_non_exhaustive()
    }
}

impl SqlWorkStore {
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
impl WorkStore for SqlWorkStore {
    async fn pending(
        &self,
        queue: Queue,
        now: Timestamp,
        turn: Turn,
    ) -> Result<Vec<PendingWork>, StoreError> {
        let mut found = pending::read(&self.db, queue, now, turn.limit + 1, None).await?;
        if i64::try_from(found.len()).unwrap_or(i64::MAX) <= turn.limit {
            return Ok(found);
        }
        found.clear();
        for tenant in sharing::in_turn(&self.db, queue, now, turn.after).await? {
            let room = turn.limit - i64::try_from(found.len()).unwrap_or(turn.limit);
            if room <= 0 {
                break;
            }
            found.extend(pending::read(&self.db, queue, now, turn.share.min(room), Some(tenant)).await?);
        }
        Ok(found)
    }

    async fn next_due(&self, queue: Queue, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        pending::next_due(&self.db, queue, after).await
    }

    async fn find(&self, key: &WorkKey) -> Result<Option<PendingWork>, StoreError> {
        pending::find(&self.db, key).await
    }

    async fn forget(&self, key: &WorkKey) -> Result<(), StoreError> {
        setbacks::forget(&self.db, key).await
    }

    async fn mark(
        &self,
        node: Uuid,
        queue: Queue,
        mark: &WorkMark,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        marks::write(&self.db, node, queue, mark, now).await
    }

    async fn unmark(&self, node: Uuid, queue: Queue) -> Result<(), StoreError> {
        marks::remove(&self.db, node, queue).await
    }

    async fn left_behind(&self, node: Uuid, since: Timestamp) -> Result<Vec<WorkMark>, StoreError> {
        marks::left_behind(&self.db, node, since).await
    }

    async fn record(&self, setbacks: Vec<Setback>) -> Result<(), StoreError> {
        setbacks::record(&self.db, setbacks, self.guard.quotas().dead_letters).await
    }

    async fn letters(
        &self,
        tenant: TenantId,
        filter: &LetterFilter,
        access: &AccessFilter<resource::DeadLetter>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        letters::list(&self.db, tenant, filter, access, page).await
    }

    async fn letter(&self, tenant: TenantId, id: EventId) -> Result<DeadLetter, StoreError> {
        letters::one(&self.db, tenant, id).await
    }

    async fn restore(&self, letter: &DeadLetter, now: Timestamp, unit: &Journal) -> Result<(), StoreError> {
        letters::restore(&self.db, letter, now, unit).await
    }

    async fn discard(&self, tenant: TenantId, id: EventId, unit: &Journal) -> Result<(), StoreError> {
        letters::discard(&self.db, tenant, id, unit).await
    }

    async fn has_dropped(&self, tenant: TenantId, by: UserId, id: EventId) -> Result<bool, StoreError> {
        letters::has_dropped(&self.db, tenant, by, id).await
    }
}
