//! Migrations: SQL texts in the binary, the same names for both databases, run under a lock.

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use heddle_kernel::Timestamp;

use crate::conn::{AsConn, Conn};
use crate::db::Db;
use crate::error::Error;
use crate::{StoreError, on_conn, read, write_tx};

/// The text of a migration for one database, there and back.
#[derive(Debug, Clone, Copy)]
pub struct Script {
    /// Makes the change.
    pub up: &'static str,
    /// Takes it back.
    pub down: &'static str,
}

/// A change of the schema.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Name, which begins with its time: migrations run in the order of their names, whatever area they are
    /// of.
    pub name: &'static str,
    /// Script for SQLite.
    pub sqlite: Script,
    /// Script for PostgreSQL.
    pub postgres: Script,
}

/// A list of migrations by the names of their folders below `migrations/sqlite` and `migrations/postgres`:
/// `migrations!["20261121000000_shared", ..]`, in a crate that lies where this one lies.
#[macro_export]
macro_rules! migrations {
    ($($name:literal),+ $(,)?) => {
        &[$($crate::migrations!(@ $name)),+]
    };
    (@ $name:literal) => {
        $crate::Migration {
            name: $name,
            sqlite: $crate::Script {
                up: $crate::migrations!(@ "sqlite", $name, "/up.sql"),
                down: $crate::migrations!(@ "sqlite", $name, "/down.sql"),
            },
            postgres: $crate::Script {
                up: $crate::migrations!(@ "postgres", $name, "/up.sql"),
                down: $crate::migrations!(@ "postgres", $name, "/down.sql"),
            },
        }
    };
    (@ $dialect:literal, $name:literal, $file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/", $dialect, "/", $name, $file))
    };
}

/// The migrations of the tables that every area writes.
const SHARED: &[Migration] = migrations![
    "20261121000000_shared",
    "20261122000300_audit",
    "20261122000420_audit_order",
    "20261122000550_shared_locations",
    "20261123000200_shared_errands",
    "20261124000210_shared_errands_hastened",
    "20261124000700_shared_audit_chain",
    "20261128000110_shared_statistics",
    "20261129000100_shared_audit_unsealed",
];

/// All migrations of a program: those of the shared tables and those of its areas.
#[derive(Debug, Clone)]
pub struct Migrations(Vec<Migration>);

impl Migrations {
    /// The shared tables' and these areas', in one order.
    #[must_use]
    pub fn of(areas: &[&[Migration]]) -> Self {
        let mut all: Vec<_> = SHARED.iter().chain(areas.iter().copied().flatten()).copied().collect();
        all.sort_by_key(|migration| migration.name);
        Self(all)
    }

    /// Their names, in their order.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|migration| migration.name).collect()
    }

    /// Refuses a list that holds one of a newer program.
    pub(crate) fn check(&self, applied: &[String]) -> Result<(), MigrateError> {
        self.state(applied.to_vec()).map(|_| ())
    }

    fn state(&self, applied: Vec<String>) -> Result<MigrationState, MigrateError> {
        let known = |name: &String| self.0.iter().any(|migration| migration.name == name);
        let newer: Vec<_> = applied.iter().filter(|name| !known(name)).cloned().collect();
        if !newer.is_empty() {
            return Err(MigrateError::Newer(newer));
        }
        let missing = |name: &&'static str| !applied.iter().any(|done| done == name);
        let pending = self.names().into_iter().filter(missing).collect();
        Ok(MigrationState { applied, pending })
    }
}

/// State of a database's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationState {
    /// Names of the migrations that are in the database.
    pub applied: Vec<String>,
    /// Names of those that this program has and the database lacks.
    pub pending: Vec<&'static str>,
}

/// Reason for which the database could not be brought to this program's schema.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A newer program has been here: this one must not touch the data.
    #[error("the database holds migrations of a newer version: {}", .0.join(", "))]
    Newer(Vec<String>),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

impl Db {
    /// State of the database: the migrations that it has and those that it lacks.
    ///
    /// # Errors
    /// When it was migrated by a newer program, or can't be read.
    pub async fn migration_state(&self, all: &Migrations) -> Result<MigrationState, MigrateError> {
        let applied = read!(self, |conn| applied(conn).await)?;
        all.state(applied)
    }

    /// Names of the migrations that the database lacks.
    ///
    /// # Errors
    /// As [`Db::migration_state`].
    pub async fn migrations_pending(&self, all: &Migrations) -> Result<Vec<&'static str>, MigrateError> {
        Ok(self.migration_state(all).await?.pending)
    }

    /// Applies what is pending, all or nothing; returns the names. Of several processes one does it and the
    /// others wait.
    ///
    /// # Errors
    /// When the database was migrated by a newer program, or fails.
    pub async fn migrate(&self, all: &Migrations, now: Timestamp) -> Result<Vec<&'static str>, MigrateError> {
        self.migration_state(all).await?;
        Ok(write_tx!(self, |conn| {
            lock(conn).await?;
            let state =
                all.state(applied(conn).await?).map_err(|error| Error::Unavailable(error.to_string()))?;
            for migration in all.0.iter().filter(|migration| state.pending.contains(&migration.name)) {
                run(conn, migration.sqlite.up, migration.postgres.up).await?;
                note(conn, migration.name, now).await?;
            }
            Ok(state.pending)
        })?)
    }

    /// Takes back every migration, and with them all data.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn migrate_down(&self, all: &Migrations) -> Result<(), MigrateError> {
        Ok(write_tx!(self, |conn| {
            lock(conn).await?;
            let names = applied(conn).await?;
            for migration in all.0.iter().rev().filter(|m| names.iter().any(|name| name == m.name)) {
                run(conn, migration.sqlite.down, migration.postgres.down).await?;
            }
            Ok(conn.batch_execute("DELETE FROM schema_migrations").await?)
        })?)
    }
}

/// SQLite's transaction has the file to itself; PostgreSQL is asked for a lock that the transaction's end
/// lets go. Two schemas of one database don't wait for each other.
async fn lock<C: AsConn>(conn: &mut C) -> Result<(), Error> {
    match conn.as_conn() {
        Conn::Sqlite(conn) => {
            conn.batch_execute(
                "CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT NOT NULL, \
                 applied_at INTEGER NOT NULL, PRIMARY KEY (name)) STRICT, WITHOUT ROWID",
            )
            .await?;
        }
        Conn::Postgres(conn) => {
            conn.batch_execute("SELECT pg_advisory_xact_lock(1212502092, hashtext(current_schema()))")
                .await?;
            conn.batch_execute(
                "CREATE TABLE IF NOT EXISTS schema_migrations (name text COLLATE \"C\" NOT NULL, \
                 applied_at timestamptz NOT NULL, PRIMARY KEY (name))",
            )
            .await?;
        }
    }
    Ok(())
}

async fn applied<C: AsConn>(conn: &mut C) -> Result<Vec<String>, Error> {
    let there = match conn.as_conn() {
        Conn::Sqlite(_) => "SELECT count(*) AS n FROM sqlite_master WHERE name = 'schema_migrations'",
        Conn::Postgres(_) => "SELECT count(to_regclass('schema_migrations')) AS n",
    };
    let names = "SELECT name FROM schema_migrations ORDER BY name";
    on_conn!(conn, |conn| {
        let there: Count = diesel::sql_query(there).get_result(conn).await?;
        if there.n == 0 {
            return Ok(Vec::new());
        }
        let rows: Vec<Name> = diesel::sql_query(names).load(conn).await?;
        Ok(rows.into_iter().map(|row| row.name).collect())
    })
}

async fn run<C: AsConn>(conn: &mut C, sqlite: &str, postgres: &str) -> Result<(), Error> {
    match conn.as_conn() {
        Conn::Sqlite(conn) => conn.batch_execute(sqlite).await?,
        Conn::Postgres(conn) => conn.batch_execute(postgres).await?,
    }
    Ok(())
}

async fn note<C: AsConn>(conn: &mut C, name: &str, now: Timestamp) -> Result<(), Error> {
    use crate::schema::{MigrationRow, schema_migrations};
    let row = MigrationRow { name: name.to_owned(), applied_at: now.into() };
    on_conn!(conn, |conn| {
        diesel::insert_into(schema_migrations::table).values(&row).execute(conn).await?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Script = Script { up: "", down: "" };

    #[test]
    fn areas_are_put_into_one_order_by_name() {
        let later = Migration { name: "20991231000000_later", sqlite: NONE, postgres: NONE };
        let first = Migration { name: "20200101000000_first", ..later };
        let all = Migrations::of(&[&[later], &[first]]);
        assert_eq!(
            all.names(),
            [
                "20200101000000_first",
                "20261121000000_shared",
                "20261122000300_audit",
                "20261122000420_audit_order",
                "20261122000550_shared_locations",
                "20261123000200_shared_errands",
                "20261124000210_shared_errands_hastened",
                "20261124000700_shared_audit_chain",
                "20261128000110_shared_statistics",
                "20261129000100_shared_audit_unsealed",
                "20991231000000_later"
            ]
        );
    }

    #[test]
    fn a_newer_database_is_left_alone() {
        let newer = Migrations::of(&[]).state(vec!["20991231000000_later".to_owned()]);
        assert!(matches!(newer, Err(MigrateError::Newer(names)) if names == ["20991231000000_later"]));
    }
}
