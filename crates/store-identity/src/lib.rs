//! Rows and queries of identity: every port of `heddle-identity` on SQLite and PostgreSQL.

mod access;
mod audit;
mod cache;
mod directory;
mod installation;
mod rights;
mod rows;
mod sessions;
mod tombstones;

use std::sync::Arc;

use heddle_store::Db;

use crate::cache::Cache;

/// All ports of identity: cheap to clone.
#[derive(Clone)]
pub struct IdentityStore {
    db: Db,
    cache: Arc<Cache>,
}

impl IdentityStore {
    /// On a database whose migrations have run. Of several stores on one SQLite file each would keep its own
    /// cache and miss the others' writes: make one and clone it.
    #[must_use]
    pub fn new(db: Db) -> Self {
        Self { cache: Arc::new(Cache::new(&db)), db }
    }
}
