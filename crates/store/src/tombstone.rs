//! Tombstones: what was there and was deleted, so that a repeated deletion is fine and not unknown.

use diesel::QueryDsl;
use diesel_async::RunQueryDsl;
use heddle_kernel::{TenantId, Timestamp};

use crate::conn::AsConn;
use crate::error::Error;
use crate::on_conn;
use crate::schema::{TombstoneRow, tombstones};
use crate::types::{At, Id};

/// The key of a tombstone: organisation, kind and id of the thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tombstone<'a> {
    tenant: Id,
    kind: &'a str,
    id: Id,
}

impl<'a> Tombstone<'a> {
    /// The tombstone of one thing. What belongs to no organisation lies in that of the installation.
    #[must_use]
    pub fn of(tenant: TenantId, kind: &'a str, id: impl Into<Id>) -> Self {
        Self { tenant: tenant.into(), kind, id: id.into() }
    }
}

/// Writes a tombstone in the current transaction; one that is there stays as it is.
///
/// # Errors
/// When the database refuses or fails.
pub async fn write<C: AsConn>(conn: &mut C, of: Tombstone<'_>, at: Timestamp) -> Result<(), Error> {
    let row =
        TombstoneRow { organization_id: of.tenant, kind: of.kind.to_owned(), id: of.id, deleted_at: At(at) };
    on_conn!(conn, |conn| {
        diesel::insert_into(tombstones::table).values(&row).on_conflict_do_nothing().execute(conn).await?;
    });
    Ok(())
}

/// Takes a tombstone away: the thing is there again.
///
/// # Errors
/// When the database refuses or fails.
pub async fn clear<C: AsConn>(conn: &mut C, of: Tombstone<'_>) -> Result<(), Error> {
    let row = tombstones::table.find((of.tenant, of.kind, of.id));
    on_conn!(conn, |conn| {
        diesel::delete(row).execute(conn).await?;
    });
    Ok(())
}

/// Whether there is a tombstone.
///
/// # Errors
/// When the database fails.
pub async fn exists<C: AsConn>(conn: &mut C, of: Tombstone<'_>) -> Result<bool, Error> {
    let row = tombstones::table.find((of.tenant, of.kind, of.id)).count();
    let rows: i64 = on_conn!(conn, |conn| row.get_result(conn).await?);
    Ok(rows > 0)
}
