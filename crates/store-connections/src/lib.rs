//! Rows and queries of connections, their sealed secrets, the checks of keys, webhooks and hooks, on SQLite and PostgreSQL.
//!
//! The ports' docstrings say what each method owes. Whoever adds, points or deletes takes one lock of the organisation, so
//! that a connection is neither deleted under a webhook that is made now, nor one too many made.

mod backup;
mod connections;
mod hooks;
mod keys;
mod known;
mod names;
mod rows;
mod schema;
mod webhooks;
mod words;

pub use backup::keys_of;
pub use connections::SqlConnectionStore;
pub use hooks::SqlHookStore;
pub use schema::MIGRATIONS;
pub use webhooks::SqlWebhookStore;

use heddle_kernel::{TenantId, Timestamp};
use heddle_store::journal;
use heddle_usecase::Journal;

/// Kinds of tombstones.
mod tomb {
    pub(crate) const CONNECTION: &str = "connection";
    pub(crate) const HOOK: &str = "hook";
    pub(crate) const WEBHOOK: &str = "webhook";
}

/// The name of an organisation's lock.
fn lock_name(tenant: TenantId) -> String {
    format!("connections of {tenant}")
}

/// Instant of a deletion, as its journal says.
fn deleted_at(journal: &Journal) -> Timestamp {
    journal::time_of(journal).unwrap_or_default()
}
