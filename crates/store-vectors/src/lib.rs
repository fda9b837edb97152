//! Rows and queries of vector databases, their files, passages, builds and jobs, on SQLite and PostgreSQL.
//!
//! The ports' docstrings say what each method owes. Whoever writes takes one lock of the organisation, so that counts,
//! quotas and the numbers of commits are those of one order; each such transaction is short.

mod builds;
mod contents;
mod counts;
mod databases;
mod ending;
mod file_lists;
mod files;
mod ingestion_jobs;
mod key;
mod passages;
mod pgvector;
mod purge;
mod rows;
mod schema;
mod store;
mod unattended;
mod values;
mod words;
mod writing;

pub use contents::VectorContents;
pub use pgvector::PassageIndexes;
pub use schema::MIGRATIONS;
pub use store::SqlVectorStore;

use heddle_kernel::{DatabaseName, FileId, TenantId};
use heddle_usecase::sha256_hex;
use uuid::Uuid;

/// Kinds of tombstones.
mod tomb {
    pub(crate) const DATABASE: &str = "vector-database";
    pub(crate) const FILE: &str = "document";
}

/// The name of an organisation's lock.
fn lock_name(tenant: TenantId) -> String {
    format!("vectors of {tenant}")
}

/// Id of a name, for its tombstone: the same wherever it is made.
fn id_of_name(name: &DatabaseName) -> Uuid {
    id_of(name.as_str())
}

/// Id of a file in a database of a name, for its tombstone.
fn id_of_file(name: &DatabaseName, file: FileId) -> Uuid {
    id_of(&format!("{name}/{file}"))
}

fn id_of(text: &str) -> Uuid {
    let digest = sha256_hex(text.as_bytes());
    digest.get(..32).and_then(|text| Uuid::try_parse(text).ok()).unwrap_or_default()
}

/// A count as a column holds it.
fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
