//! Idempotency keys: the answer of a call, written in its transaction and given to its repeats.

use diesel::{
    AsChangeset, ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable,
    SelectableHelper, SqliteConnection,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{TenantId, Timestamp};
use heddle_usecase::IdempotencyRecord;

use crate::conn::AsConn;
use crate::error::Error;
use crate::schema::idempotency_keys as keys;
use crate::types::{At, Id};
use crate::{Db, StoreError, on_conn, read, write_tx};

/// How long an answer is kept, in seconds.
pub const KEPT_SECONDS: i64 = 24 * 3600;

#[derive(Debug, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = keys, treat_none_as_null = true)]
struct Row {
    organization_id: Id,
    operation: String,
    key: String,
    body_sha256: String,
    status: i32,
    body: Vec<u8>,
    etag: Option<String>,
    created_at: At,
    expires_at: At,
}

impl From<&IdempotencyRecord> for Row {
    fn from(record: &IdempotencyRecord) -> Self {
        Self {
            organization_id: record.tenant.into(),
            operation: record.operation.clone(),
            key: record.key.clone(),
            body_sha256: record.body_sha256.clone(),
            status: i32::from(record.status),
            body: record.body.clone(),
            etag: record.etag.clone(),
            created_at: record.created_at.into(),
            expires_at: record.created_at.plus_seconds(KEPT_SECONDS).into(),
        }
    }
}

impl From<Row> for IdempotencyRecord {
    fn from(row: Row) -> Self {
        Self {
            tenant: row.organization_id.into(),
            operation: row.operation,
            key: row.key,
            body_sha256: row.body_sha256,
            status: u16::try_from(row.status).unwrap_or_default(),
            body: row.body,
            etag: row.etag,
            created_at: row.created_at.into(),
        }
    }
}

/// The insertion, which takes the place of an expired answer but not of a living one.
macro_rules! insertion {
    ($row:expr) => {
        diesel::query_dsl::methods::FilterDsl::filter(
            diesel::insert_into(keys::table)
                .values($row)
                .on_conflict((keys::organization_id, keys::operation, keys::key))
                .do_update()
                .set($row),
            keys::expires_at.le($row.created_at),
        )
    };
}

/// Another call with this key was faster: the caller looks its answer up.
fn taken(rows: usize) -> Result<(), Error> {
    if rows == 0 { Err(StoreError::Duplicate("idempotency_keys.key".to_owned()).into()) } else { Ok(()) }
}

/// Writes the answer in the current transaction.
///
/// # Errors
/// `Duplicate("idempotency_keys.key")` when a living answer is there.
pub async fn insert<C: AsConn>(conn: &mut C, record: &IdempotencyRecord) -> Result<(), Error> {
    let row = Row::from(record);
    let rows = on_conn!(conn, |conn| insertion!(&row).execute(conn).await?);
    taken(rows)
}

/// The same on SQLite's own connection, inside a batch.
///
/// # Errors
/// `Duplicate("idempotency_keys.key")` when a living answer is there.
pub fn insert_blocking(conn: &mut SqliteConnection, record: &IdempotencyRecord) -> Result<(), Error> {
    let row = Row::from(record);
    taken(diesel::RunQueryDsl::execute(insertion!(&row), conn)?)
}

/// The living answer under a key.
///
/// # Errors
/// When the database fails.
pub async fn find(
    db: &Db,
    (tenant, operation, key): (TenantId, &str, &str),
    now: Timestamp,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    read!(db, |conn| {
        let row: Option<Row> = keys::table
            .find((Id::from(tenant), operation, key))
            .filter(keys::expires_at.gt(At(now)))
            .select(Row::as_select())
            .first(conn)
            .await
            .optional()?;
        Ok(row.map(IdempotencyRecord::from))
    })
}

/// Removes expired answers; returns how many.
///
/// # Errors
/// When the database fails.
pub async fn sweep(db: &Db, now: Timestamp) -> Result<usize, StoreError> {
    write_tx!(db, |conn| {
        Ok(diesel::delete(keys::table.filter(keys::expires_at.le(At(now)))).execute(conn).await?)
    })
}
