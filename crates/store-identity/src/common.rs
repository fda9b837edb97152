//! What the queries of several areas share.

use diesel::sql_types::Text;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::Tombstone;
use heddle_kernel::{PageRequest, TenantId, Timestamp};
use heddle_policy::AccessFilter;
use heddle_store::schema::{tenant_authz, tombstones};
use heddle_store::{AsConn, At, Conn, Error, Id, StoreError, on_conn};
use serde::de::DeserializeOwned;
use uuid::Uuid;

diesel::define_sql_function! {
    /// The first that is not null.
    #[sql_name = "coalesce"]
    fn coalesce_id(
        first: diesel::sql_types::Nullable<heddle_store::DbUuid>,
        second: heddle_store::DbUuid,
    ) -> heddle_store::DbUuid;
}

diesel::define_sql_function! {
    /// The first that is not null, if one is.
    #[sql_name = "coalesce"]
    fn coalesce_ids(
        first: diesel::sql_types::Nullable<heddle_store::DbUuid>,
        second: diesel::sql_types::Nullable<heddle_store::DbUuid>,
    ) -> diesel::sql_types::Nullable<heddle_store::DbUuid>;
}

/// Runs a write of identity, telling the cache before and after.
macro_rules! write {
    ($store:expr, |$conn:ident| $body:expr) => {{
        let writing = $store.cache.writing(&$store.db);
        let result = heddle_store::write_tx!(&$store.db, |$conn| $body);
        writing.done();
        result
    }};
}

/// Narrows a boxed query to what is within reach.
macro_rules! within {
    ($query:expr, $reach:expr, $id:expr) => {{
        let mut query = $query;
        if !$reach.all {
            query = query.filter($id.eq_any(crate::common::ids(&$reach.listed)));
        }
        if !$reach.denied.is_empty() {
            query = query.filter($id.ne_all(crate::common::ids(&$reach.denied)));
        }
        query
    }};
}

pub(crate) use {within, write};

/// The ids among texts; what is none can't be the id of a row.
pub(crate) fn ids(texts: &[String]) -> Vec<Id> {
    texts.iter().filter_map(|text| text.parse::<Uuid>().ok()).map(Id).collect()
}

/// Whether surely nothing is within reach.
pub(crate) fn out_of_reach(reach: &AccessFilter) -> bool {
    reach.is_empty()
}

/// The key of the last row seen. A cursor of another list is `InvalidCursor`.
pub(crate) fn after<K: DeserializeOwned>(page: &PageRequest) -> Result<Option<K>, StoreError> {
    page.cursor.as_ref().map(|cursor| cursor.key().or(Err(StoreError::InvalidCursor))).transpose()
}

/// The key of the last row seen in a list by time.
pub(crate) fn after_time(page: &PageRequest) -> Result<Option<(At, Id)>, StoreError> {
    let key: Option<(i64, Uuid)> = after(page)?;
    Ok(key.map(|(micros, id)| (At(Timestamp::from_micros(micros)), Id(id))))
}

/// One row more than the page, to tell whether there are more.
pub(crate) fn surplus(page: &PageRequest) -> i64 {
    i64::from(page.limit) + 1
}

/// A pattern that finds the text anywhere; `\` escapes.
pub(crate) fn containing(text: &str) -> String {
    format!("%{}%", escaped(text))
}

/// The text with the pattern's signs escaped by `\`.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

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

/// `NotFound` for no row.
pub(crate) fn found(rows: usize) -> Result<(), Error> {
    if rows == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}

/// `Stale` when a row's revision is not the expected one.
pub(crate) fn check_revision(stored: i64, expected: heddle_kernel::Revision) -> Result<(), Error> {
    if stored == expected.0 { Ok(()) } else { Err(StoreError::Stale.into()) }
}

/// Makes transactions with the same word wait for each other; SQLite's do anyway.
pub(crate) async fn serialise<C: AsConn>(conn: &mut C, word: &str) -> Result<(), Error> {
    if let Conn::Postgres(conn) = conn.as_conn() {
        diesel::sql_query("SELECT pg_advisory_xact_lock(1212502093, hashtext($1))")
            .bind::<Text, _>(word)
            .execute(conn)
            .await?;
    }
    Ok(())
}

/// Leaves a tombstone.
pub(crate) async fn write_tombstone<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    what: Tombstone,
    at: Timestamp,
) -> Result<(), Error> {
    let (kind, id) = what.parts();
    bury_as(conn, (tenant, kind, id), at).await
}

/// Leaves a tombstone under a kind of our own.
pub(crate) async fn bury_as<C: AsConn>(
    conn: &mut C,
    (tenant, kind, id): (TenantId, &str, Uuid),
    at: Timestamp,
) -> Result<(), Error> {
    let row = (
        tombstones::organization_id.eq(Id::from(tenant)),
        tombstones::kind.eq(kind),
        tombstones::id.eq(Id(id)),
        tombstones::deleted_at.eq(At(at)),
    );
    on_conn!(conn, |conn| {
        diesel::insert_into(tombstones::table).values(row).on_conflict_do_nothing().execute(conn).await?;
    });
    Ok(())
}

/// Takes a tombstone away: the thing is there again.
pub(crate) async fn clear_tombstone<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    what: Tombstone,
) -> Result<(), Error> {
    let (kind, id) = what.parts();
    let row = tombstones::table.find((Id::from(tenant), kind, Id(id)));
    on_conn!(conn, |conn| {
        diesel::delete(row).execute(conn).await?;
    });
    Ok(())
}

/// Whether there is a tombstone.
pub(crate) async fn is_tombstone<C: AsConn>(
    conn: &mut C,
    (tenant, kind, id): (TenantId, &str, Uuid),
) -> Result<bool, Error> {
    let row = tombstones::table.find((Id::from(tenant), kind, Id(id))).count();
    let rows: i64 = on_conn!(conn, |conn| row.get_result(conn).await?);
    Ok(rows > 0)
}
