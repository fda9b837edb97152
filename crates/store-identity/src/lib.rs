//! Rows and queries of identity: every port of `heddle-identity` on SQLite and PostgreSQL.

mod access;
mod audit;
mod backup;
mod cache;
mod chain;
mod directory;
mod factors;
mod installation;
mod names;
mod nodes;
mod rights;
mod rows;
mod schema;
mod sessions;
mod tombstones;
mod words;

pub use backup::factor_keys_of;
pub use chain::MOVED;
pub use schema::MIGRATIONS;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use heddle_store::tenant::TenantContents;
use heddle_store::{Db, JointReads, StoreError};

use crate::access::{Found, Shown};
use crate::cache::Cache;

/// All ports of identity: cheap to clone.
#[derive(Clone)]
pub struct IdentityStore {
    db: Db,
    cache: Arc<Cache>,
    contents: Arc<[Arc<dyn TenantContents>]>,
    /// Tries that were counted by this process.
    tries: Arc<AtomicU64>,
    /// Looks for a token on PostgreSQL, where other nodes write, too, and each request looks.
    shown: JointReads<Shown, Result<Option<Found>, StoreError>>,
}

impl std::fmt::Debug for IdentityStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IdentityStore").finish_non_exhaustive()
    }
}

impl IdentityStore {
    /// Store on a database whose migrations have run. Of several stores on one SQLite file each would keep
    /// its own cache and miss the others' writes: make one and clone it. `contents` are the areas that are
    /// asked before an organisation is deleted.
    #[must_use]
    pub fn new(db: Db, contents: Vec<Arc<dyn TenantContents>>) -> Self {
        let cache = Arc::new(Cache::new(&db));
        Self { db, cache, contents: contents.into(), tries: Arc::default(), shown: JointReads::default() }
    }
}
