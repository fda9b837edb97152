//! The database: one of the two, opened by its address.

use std::path::PathBuf;

use diesel::SqliteConnection;

use crate::error::Error;
use crate::options::{OpenError, Options};
use crate::postgres::PgDb;
use crate::sqlite::SqliteDb;

/// The database: cheap to clone.
#[derive(Clone)]
pub enum Db {
    /// A file of this process.
    Sqlite(SqliteDb),
    /// A server that several nodes share.
    Postgres(PgDb),
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Db").finish_non_exhaustive()
    }
}

impl Db {
    /// Opens the database at `sqlite:PATH` or `postgres://...`. PostgreSQL is not asked yet: a server that is
    /// down shows at the first call.
    ///
    /// The schema within PostgreSQL is chosen with `?options=-csearch_path%3DNAME`, a Unix socket with
    /// `?host=/directory`.
    ///
    /// # Errors
    /// When the address is none, or the file can't be had.
    pub async fn open(address: &str, options: &Options) -> Result<Self, OpenError> {
        if let Some(path) = address.strip_prefix("sqlite:") {
            let path = PathBuf::from(path.strip_prefix("//").unwrap_or(path));
            return Ok(Self::Sqlite(SqliteDb::open(&path, options).await?));
        }
        if address.starts_with("postgres://") || address.starts_with("postgresql://") {
            return Ok(Self::Postgres(PgDb::new(address, options)?));
        }
        let scheme: String = address.chars().take_while(|c| *c != ':').take(40).collect();
        Err(OpenError::Address(format!("`{scheme}` is neither `sqlite` nor `postgres`")))
    }

    /// SQLite's part, if it is SQLite.
    #[must_use]
    pub const fn sqlite(&self) -> Option<&SqliteDb> {
        match self {
            Self::Sqlite(sqlite) => Some(sqlite),
            Self::Postgres(_) => None,
        }
    }

    /// PostgreSQL's part, if it is PostgreSQL.
    #[must_use]
    pub const fn postgres(&self) -> Option<&PgDb> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(postgres) => Some(postgres),
        }
    }

    /// Runs one blocking piece of work on SQLite's writing connection, in one immediate transaction.
    ///
    /// # Errors
    /// The work's, the database's, or that the database is PostgreSQL.
    pub async fn sqlite_batch<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Error> + Send + 'static,
    {
        match self {
            Self::Sqlite(sqlite) => sqlite.batch(work).await,
            Self::Postgres(_) => Err(Error::Unavailable("the batch is SQLite's".to_owned())),
        }
    }

    /// Waits until everything that was read is durable: for an answer, or something done outside, that rests on a read alone.
    /// PostgreSQL shows nothing before.
    ///
    /// # Errors
    /// When the disk refused.
    pub async fn settled(&self) -> Result<(), crate::StoreError> {
        match self {
            Self::Sqlite(sqlite) => Ok(sqlite.settled().await?),
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Place of the database for people: the file, or host, port and database without user and password.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Sqlite(sqlite) => format!("SQLite at {}", sqlite.path().display()),
            Self::Postgres(postgres) => postgres.place().to_owned(),
        }
    }

    /// Whether the database takes writes now: writes a row of its own as it is, and commits.
    ///
    /// # Errors
    /// When it does not, with the cause.
    pub async fn take_write(&self) -> Result<(), crate::StoreError> {
        use diesel_async::SimpleAsyncConnection;
        const SAME: &str = "UPDATE schema_migrations SET applied_at = applied_at \
                            WHERE name = (SELECT min(name) FROM schema_migrations)";
        crate::write_tx!(self, |conn| Ok(conn.batch_execute(SAME).await?))
    }

    /// Whether the database answers now.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), crate::StoreError> {
        use diesel_async::SimpleAsyncConnection;
        crate::read!(self, |conn| Ok(conn.batch_execute("SELECT 1").await?))
    }
}
