//! Rows and queries of connections to providers of models, their catalogues, deployments, usage and budgets, on SQLite and
//! PostgreSQL.
//!
//! The ports' docstrings say what each method owes. Whoever changes connections or deployments takes one lock of the
//! organisation and raises its version, by which gateways know that what they keep holds no more.

mod catalogue;
mod contents;
mod deployments;
mod keys;
mod names;
mod provider_connections;
mod rows;
mod schema;
mod store;
mod usage;
mod version;
mod words;

pub use contents::ModelContents;
pub use schema::MIGRATIONS;
pub use store::SqlModelStore;

use heddle_kernel::{TenantId, Timestamp};
use heddle_store::journal;
use heddle_usecase::Journal;

/// Kinds of tombstones.
mod tomb {
    pub(crate) const CONNECTION: &str = "model-connection";
    pub(crate) const DEPLOYMENT: &str = "deployment";
}

/// The name of an organisation's lock.
fn lock_name(tenant: TenantId) -> String {
    format!("models of {tenant}")
}

/// Instant of a deletion, as its journal says.
fn deleted_at(journal: &Journal) -> Timestamp {
    journal::time_of(journal).unwrap_or_default()
}
