//! Quotas where something is written: what an organisation has stored is read at most once a second while it is far
//! from its quotas, and each time when it is near.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_kernel::TenantId;
use heddle_store::Db;
use heddle_usecase::StoreError;
use heddle_workflows::quotas::{QuotaSource, Quotas, Used};
use parking_lot::Mutex;

use crate::counts;

/// Time for which numbers that are far from a quota are believed.
const BELIEVED: Duration = Duration::from_secs(1);
/// Most organisations whose numbers are remembered.
const REMEMBERED: usize = 10_000;

/// Numbers of an organisation as they were read, and what was added here since.
#[derive(Clone, Copy)]
struct Seen {
    used: Used,
    at: Instant,
}

/// The quotas of a store.
#[derive(Clone)]
pub(crate) struct Guard {
    source: Arc<dyn QuotaSource>,
    seen: Arc<Mutex<HashMap<TenantId, Seen>>>,
    /// Held from the look at what is in use until what is added is written, where the numbers are exact.
    adding: Arc<futures::lock::Mutex<()>>,
}

impl Default for Guard {
    fn default() -> Self {
        Self::new(Arc::new(Quotas::DEFAULT))
    }
}

impl Guard {
    /// The quotas of this source.
    pub(crate) fn new(source: Arc<dyn QuotaSource>) -> Self {
        Self { source, seen: Arc::default(), adding: Arc::default() }
    }

    /// The quotas that hold now.
    pub(crate) fn quotas(&self) -> Quotas {
        self.source.quotas()
    }

    /// The turn of whoever adds on SQLite, where two batches that look at once would both see the same room; none on PostgreSQL.
    pub(crate) async fn turn(&self, db: &Db) -> Option<futures::lock::MutexGuard<'_, ()>> {
        match db {
            Db::Sqlite(_) => Some(self.adding.lock().await),
            Db::Postgres(_) => None,
        }
    }

    /// Looks which of the additions have room, in their order: an answer for each.
    pub(crate) async fn admit(
        &self,
        db: &Db,
        tenant: TenantId,
        additions: &[Used],
    ) -> Vec<Result<(), StoreError>> {
        let quotas = self.quotas();
        let mut used = match self.present(db, tenant, &quotas, additions).await {
            Ok(used) => used,
            Err(error) => return vec![Err(error); additions.len()],
        };
        let mut answers = Vec::with_capacity(additions.len());
        for more in additions {
            let answer = quotas.room_for(*more, used);
            if answer.is_ok() {
                used = used.plus(*more);
            }
            answers.push(answer);
        }
        self.remember(tenant, used);
        answers
    }

    /// Numbers in use, from memory where it can't matter.
    async fn present(
        &self,
        db: &Db,
        tenant: TenantId,
        quotas: &Quotas,
        additions: &[Used],
    ) -> Result<Used, StoreError> {
        let all = additions.iter().fold(Used::default(), |sum, more| sum.plus(*more));
        let known = self.seen.lock().get(&tenant).copied();
        if let Some(seen) = known
            && seen.at.elapsed() < BELIEVED
            && !quotas.is_near(all, seen.used)
        {
            return Ok(seen.used);
        }
        let used = counts::used(db, tenant).await?;
        let mut seen = self.seen.lock();
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(tenant, Seen { used, at: Instant::now() });
        Ok(used)
    }

    /// Forgets the numbers of an organisation: the next look reads them.
    pub(crate) fn forget(&self, tenant: TenantId) {
        self.seen.lock().remove(&tenant);
    }

    /// Adds to what is remembered; the time at which it was read stays.
    fn remember(&self, tenant: TenantId, used: Used) {
        if let Some(seen) = self.seen.lock().get_mut(&tenant) {
            seen.used = used;
        }
    }
}
