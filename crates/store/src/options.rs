//! Options for opening the database, and the errors of it.

use std::path::PathBuf;

/// Durability of a committed write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A commit survives the loss of power: whoever made it is answered when the log has been synced behind it.
    #[default]
    Full,
    /// A commit survives the death of the process, not always that of the machine: the log is synced when it is copied back.
    Process,
}

/// Options for opening the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Durability on SQLite; PostgreSQL has its own setting.
    pub durability: Durability,
    /// Reading connections to SQLite.
    pub readers: usize,
    /// The most connections to PostgreSQL.
    pub connections: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::Full, readers: 4, connections: 16 }
    }
}

/// Reason for which the database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address names no database that Heddle knows.
    #[error("the database address is none: {0}")]
    Address(String),
    /// The file can't be made or opened.
    #[error("cannot open `{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the file system.
        source: std::io::Error,
    },
    /// Another process has the file.
    #[error("`{path}` is in use by another process")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The database answered with an error.
    #[error("cannot open the database: {0}")]
    Connect(String),
}
