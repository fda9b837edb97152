//! Cache of credentials and rights between requests.
//!
//! On SQLite this process alone writes, so an access stays true while the generation stands still: every write
//! raises it before and after. On PostgreSQL other nodes write, so credential, user and authorization revision
//! are read for each request, and only what a user is and may at one revision is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use heddle_identity::ports::{Access, Credential, TenantAccess, TokenKind};
use heddle_kernel::{TenantId, Timestamp, UserId};
use heddle_store::Db;

/// Runs a write of identity, telling the cache before and after.
macro_rules! write {
    ($store:expr, |$conn:ident| $body:expr) => {{
        let writing = $store.cache.writing(&$store.db);
        let result = heddle_store::write_tx!(&$store.db, |$conn| $body);
        writing.done();
        result
    }};
}

pub(crate) use write;

const ENTRIES: u64 = 10_000;
/// No entry outlives this, should a rule above ever be broken.
const LONGEST: Duration = Duration::from_secs(60);

type AccessKey = (TokenKind, String, Option<TenantId>);

pub(crate) struct Cache {
    generation: Arc<AtomicU64>,
    access: Option<moka::sync::Cache<AccessKey, (u64, Arc<Access>)>>,
    standing: moka::sync::Cache<(TenantId, UserId, i64), Arc<TenantAccess>>,
    /// Uses noted after an access was kept.
    seen: moka::sync::Cache<(TokenKind, String), Timestamp>,
}

impl Cache {
    pub(crate) fn new(db: &Db) -> Self {
        Self {
            generation: Arc::new(AtomicU64::new(0)),
            access: db.sqlite().map(|_| builder().build()),
            standing: builder().build(),
            seen: builder().build(),
        }
    }

    /// Raises the generation now and when the guard goes.
    pub(crate) fn writing(&self, db: &Db) -> Writing {
        self.generation.fetch_add(1, Ordering::SeqCst);
        Writing { generation: Arc::clone(&self.generation), db: db.clone(), done: false }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    pub(crate) fn access(&self, kind: TokenKind, token: &str, tenant: Option<TenantId>) -> Option<Access> {
        let (generation, access) = self.access.as_ref()?.get(&(kind, token.to_owned(), tenant))?;
        if generation != self.generation() {
            return None;
        }
        let mut access = Access::clone(&access);
        if let Some(at) = self.seen.get(&(kind, token.to_owned())) {
            match &mut access.credential {
                Credential::Session(session) => session.last_seen_at = session.last_seen_at.max(at),
                Credential::ApiToken(token) => token.last_used_at = token.last_used_at.max(Some(at)),
                Credential::CommandLine(_) => {}
            }
        }
        Some(access)
    }

    /// Keeps an access that was read after `generation` was looked at.
    pub(crate) fn keep_access(&self, key: AccessKey, generation: u64, access: &Access) {
        if let Some(cache) = &self.access {
            cache.insert(key, (generation, Arc::new(access.clone())));
        }
    }

    pub(crate) fn standing(
        &self,
        tenant: TenantId,
        user: UserId,
        revision: i64,
    ) -> Option<Arc<TenantAccess>> {
        self.standing.get(&(tenant, user, revision))
    }

    pub(crate) fn keep_standing(&self, tenant: TenantId, user: UserId, standing: &Arc<TenantAccess>) {
        self.standing.insert((tenant, user, standing.revision), Arc::clone(standing));
    }

    pub(crate) fn seen(&self, kind: TokenKind, token: &str, at: Timestamp) {
        self.seen.insert((kind, token.to_owned()), at);
    }
}

fn builder<K, V>() -> moka::sync::CacheBuilder<K, V, moka::sync::Cache<K, V>>
where
    K: std::hash::Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    moka::sync::Cache::builder().max_capacity(ENTRIES).time_to_live(LONGEST)
}

/// A write under way.
pub(crate) struct Writing {
    generation: Arc<AtomicU64>,
    db: Db,
    done: bool,
}

impl Writing {
    /// The write has ended, well or not.
    pub(crate) fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        if self.done {
            return;
        }
        // The caller went away in the middle: the commit may still be on its way to the database. Another
        // writer's turn comes after it.
        let (generation, db) = (Arc::clone(&self.generation), self.db.clone());
        if let (Ok(runtime), Db::Sqlite(sqlite)) = (tokio::runtime::Handle::try_current(), db) {
            runtime.spawn(async move {
                sqlite.behind_writes().await;
                generation.fetch_add(1, Ordering::SeqCst);
            });
        }
    }
}
