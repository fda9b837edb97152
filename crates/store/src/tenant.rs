//! Contents of an organisation: asked of every area before the organisation is deleted, in the transaction of
//! the deletion.

use async_trait::async_trait;
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;

use crate::StoreError;
use crate::conn::{AsConn, Conn};
use crate::error::Error;
use crate::lock::serialise;
use crate::tombstone::{self, Tombstone};

/// The kind of an organisation's tombstone, which lies in the organisation itself.
pub const KIND: &str = "organization";

/// So many things of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InUse {
    /// The type of resource.
    pub kind: &'static str,
    /// Number of these things.
    pub count: u64,
}

/// Contents that an area keeps of an organisation. Each area's store has one, and the composition gives them
/// to the store that deletes organisations.
#[async_trait]
pub trait TenantContents: Send + Sync {
    /// Contents that would be lost with the organisation; nothing when it may go. Asked on the connection of
    /// the deletion, after [`close`].
    ///
    /// # Errors
    /// When the database fails.
    async fn in_use(&self, conn: Conn<'_>, tenant: TenantId) -> Result<Vec<InUse>, Error>;
}

fn lock_name(tenant: TenantId) -> String {
    format!("contents of {tenant}")
}

/// Closes an organisation to new contents until the transaction ends, and waits for those who add some now.
///
/// # Errors
/// When the database fails.
pub async fn close<C: AsConn>(conn: &mut C, tenant: TenantId) -> Result<(), Error> {
    serialise(conn, &lock_name(tenant)).await
}

/// Keeps an organisation open until the transaction ends, for what is added to it: on PostgreSQL by a lock that many
/// share, on SQLite because one writes at a time.
///
/// # Errors
/// `NotFound` when the organisation was deleted.
pub async fn keep_open<C: AsConn>(conn: &mut C, tenant: TenantId) -> Result<(), Error> {
    if let Conn::Postgres(conn) = conn.as_conn() {
        diesel::sql_query("SELECT pg_advisory_xact_lock_shared(1212502093, hashtext($1))")
            .bind::<diesel::sql_types::Text, _>(lock_name(tenant))
            .execute(conn)
            .await?;
    }
    if tombstone::exists(conn, Tombstone::of(tenant, KIND, tenant)).await? {
        return Err(StoreError::NotFound.into());
    }
    Ok(())
}
