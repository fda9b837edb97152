//! The order among changes of rights and of counted things: which of them wait for each other.

use crate::schema::tenant_authz;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_store::lock::serialise;
use heddle_store::revision::found;
use heddle_store::{AsConn, Error, Id, on_conn};

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

/// Makes writers of what a licence counts (organisations, accounts) wait for each other.
pub(crate) async fn lock_counted<C: AsConn>(conn: &mut C) -> Result<(), Error> {
    serialise(conn, "counted").await
}
