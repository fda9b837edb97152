//! Versions of what an organisation has: on SQLite, where this process alone writes, a generation in memory; on PostgreSQL
//! a number in a row.

use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_store::{AsConn, Db, Error, Id, StoreError, Writing, on_conn, read};

use crate::schema::{HeadRow, model_heads};

/// A thing with a generation: the connections and deployments of an organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ModelsOf(TenantId);

/// Guard of a write to connections or deployments; none on PostgreSQL.
pub(crate) fn writing(db: &Db, tenant: TenantId) -> Option<Writing> {
    db.sqlite().map(|sqlite| sqlite.writing([ModelsOf(tenant)]))
}

/// Runs a write to connections or deployments of an organisation, telling those who keep them before and after.
macro_rules! changing {
    ($db:expr, $tenant:expr, |$conn:ident| $body:expr) => {{
        let writing = $crate::version::writing($db, $tenant);
        let result = heddle_store::write_tx!($db, |$conn| $body);
        if let Some(writing) = writing {
            writing.done();
        }
        result
    }};
}

pub(crate) use changing;

/// The present version.
pub(crate) async fn present(db: &Db, tenant: TenantId) -> Result<u64, StoreError> {
    if let Some(sqlite) = db.sqlite() {
        return Ok(sqlite.generation(&ModelsOf(tenant)));
    }
    let found: Option<i64> = read!(db, |conn| {
        Ok(model_heads::table
            .find(Id::from(tenant))
            .select(model_heads::version)
            .first(conn)
            .await
            .optional()?)
    })?;
    Ok(found.unwrap_or(0).unsigned_abs())
}

/// Raises the version in the current transaction, and counts deployments that are more, or less.
pub(crate) async fn raise<C: AsConn>(conn: &mut C, tenant: TenantId, more: i64) -> Result<(), Error> {
    let tenant = Id::from(tenant);
    let none = HeadRow { organization_id: tenant, version: 0, deployments: 0 };
    on_conn!(conn, |conn| {
        diesel::insert_into(model_heads::table).values(&none).on_conflict_do_nothing().execute(conn).await?;
        diesel::update(model_heads::table.find(tenant))
            .set((
                model_heads::version.eq(model_heads::version + 1),
                model_heads::deployments.eq(model_heads::deployments + more),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Number of the deployments of an organisation.
pub(crate) async fn deployments<C: AsConn>(conn: &mut C, tenant: TenantId) -> Result<u64, Error> {
    let row = model_heads::table.find(Id::from(tenant)).select(model_heads::deployments);
    let found: Option<i64> = on_conn!(conn, |conn| row.first(conn).await.optional()?);
    Ok(found.unwrap_or(0).unsigned_abs())
}

/// Number of the deployments of all organisations together: a row for each of them is read.
pub(crate) async fn in_all<C: AsConn>(conn: &mut C) -> Result<u64, Error> {
    let rows = model_heads::table.select(model_heads::deployments);
    let all: Vec<i64> = on_conn!(conn, |conn| rows.load(conn).await?);
    Ok(all.into_iter().map(i64::unsigned_abs).sum())
}
