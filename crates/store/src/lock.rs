//! Locks by name within a transaction, for what no row can be locked for.

use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;

use crate::conn::{AsConn, Conn};
use crate::error::Error;
use crate::fixed::fixed;

/// Makes transactions that take the same name wait for each other until they end. SQLite's do anyway: one writes at
/// a time.
///
/// # Errors
/// When the database fails, or the lock stays taken too long.
pub async fn serialise<C: AsConn>(conn: &mut C, name: &str) -> Result<(), Error> {
    if let Conn::Postgres(conn) = conn.as_conn() {
        fixed("SELECT pg_advisory_xact_lock(1212502093, hashtext(")
            .bind::<Text, _>(name, "))")
            .execute(conn)
            .await?;
    }
    Ok(())
}
