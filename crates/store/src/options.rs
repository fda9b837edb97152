//! How the database is opened, and why it could not be.

use std::path::PathBuf;

/// How safe a committed write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A commit survives the loss of power (`synchronous=FULL`).
    #[default]
    Full,
    /// A commit survives the death of the process, not always that of the machine (`synchronous=NORMAL`).
    Process,
}

/// How the database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// For SQLite; PostgreSQL has its own setting.
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

/// Why the database could not be opened.
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
        /// Why.
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
