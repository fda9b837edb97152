//! The order among changes of rights and of counted things: which of them wait for each other.

use crate::schema::tenant_authz;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_store::lock::serialise;
use heddle_store::revision::{found, unmet};
use heddle_store::{AsConn, Error, Id, StoreError, on_conn};
use heddle_usecase::RightsSeen;

/// Raises an organisation's authorization revision. On PostgreSQL this makes changes of rights in one
/// organisation wait for each other, so what is read after it stays true until the commit.
pub(crate) async fn bump_authz_revision<C: AsConn>(conn: &mut C, tenant: TenantId) -> Result<(), Error> {
    let rows = on_conn!(conn, |conn| {
        diesel::update(tenant_authz::table.find(Id::from(tenant)))
            .set(tenant_authz::revision.eq(tenant_authz::revision + 1))
            .execute(conn)
            .await?
    });
    found(rows)
}

/// The same for a change that rests on rights that were looked at before: `Stale` when they have changed since, and the
/// change is decided anew.
pub(crate) async fn bump_resting<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    rights: &RightsSeen,
) -> Result<(), Error> {
    if !rights.covers(tenant) {
        return Err(StoreError::Stale.into());
    }
    let Some(seen) = rights.revision(tenant) else { return bump_authz_revision(conn, tenant).await };
    let row = tenant_authz::table.find(Id::from(tenant));
    let (rows, there) = on_conn!(conn, |conn| {
        let rows = diesel::update(row.filter(tenant_authz::revision.eq(seen)))
            .set(tenant_authz::revision.eq(tenant_authz::revision + 1))
            .execute(conn)
            .await?;
        let there: i64 = row.count().get_result(conn).await?;
        (rows, there)
    });
    if rows > 0 { Ok(()) } else { Err(unmet(there > 0).into()) }
}

/// Makes writers of what a licence counts (organisations, accounts) wait for each other.
pub(crate) async fn lock_counted<C: AsConn>(conn: &mut C) -> Result<(), Error> {
    serialise(conn, "counted").await
}
