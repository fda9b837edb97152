//! A connection to either database, for helpers that are called from the body of a macro.

use crate::postgres::PgConn;
use crate::sqlite::SqliteConn;

/// A connection to one of the two.
pub enum Conn<'a> {
    /// SQLite.
    Sqlite(&'a mut SqliteConn),
    /// PostgreSQL.
    Postgres(&'a mut PgConn),
}

impl std::fmt::Debug for Conn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conn").finish_non_exhaustive()
    }
}

/// Connection of either database, as a body sees it. A helper takes `&mut C where C: AsConn` and goes through
/// [`on_conn!`].
///
/// [`on_conn!`]: crate::on_conn
pub trait AsConn: Send {
    /// As one of the two.
    fn as_conn(&mut self) -> Conn<'_>;
}

impl AsConn for SqliteConn {
    fn as_conn(&mut self) -> Conn<'_> {
        Conn::Sqlite(self)
    }
}

impl AsConn for PgConn {
    fn as_conn(&mut self) -> Conn<'_> {
        Conn::Postgres(self)
    }
}

impl AsConn for Conn<'_> {
    fn as_conn(&mut self) -> Conn<'_> {
        match self {
            Conn::Sqlite(conn) => Conn::Sqlite(conn),
            Conn::Postgres(conn) => Conn::Postgres(conn),
        }
    }
}
