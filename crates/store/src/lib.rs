//! The database: SQLite inside the binary or PostgreSQL, behind one query text.
//!
//! A query is written once, in the body of [`read!`] or [`write_tx!`]; the body is checked by the compiler
//! once for each of the two. What differs between them (pragmas, pools, the batch of run commits) is here.

// Tables are declared by one macro, here and in the store of each area.
extern crate self as heddle_store;

mod conn;
mod db;
mod durable;
mod error;
mod generations;
mod joint;
mod macros;
mod migrate;
mod options;
pub mod outage;
mod postgres;
mod row;
mod sqlite;
mod stable;
mod statistics;
mod types;

pub mod audit;
pub mod backup;
pub mod document;
pub mod errands;
pub mod filter;
mod fixed;
pub mod idempotency;
pub mod journal;
pub mod lock;
pub mod page;
pub mod revision;
pub mod schema;
pub mod search;
pub mod tenant;
pub mod tombstone;

#[doc(hidden)]
pub use macros::typed;

/// The SQL types of columns, for `row!`.
#[doc(hidden)]
pub mod columns {
    pub use crate::types::{DbInstant, DbJson, DbUuid};
}

pub use conn::{AsConn, Conn};
pub use db::Db;
pub use error::Error;
pub use fixed::{Bind, Fixed, Words, fixed};
pub use generations::Writing;
pub use heddle_usecase::StoreError;
pub use joint::JointReads;
pub use migrate::{MigrateError, Migration, MigrationState, Migrations, Script};
pub use options::{Durability, OpenError, Options};
pub use postgres::{PgConn, PgDb};
pub use sqlite::{OnDisk, SqliteConn, SqliteDb, Worker, anew, savepoint};
pub use stable::{Added, Addition, Stable, StableId, Update, Updating, add, add_all, update};
pub use types::{At, DbInstant, DbJson, DbUuid, Id, Json};
