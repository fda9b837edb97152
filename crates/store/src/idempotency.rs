//! Idempotency keys: the answer of a call, written in its transaction and given to its repeats.

use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper, SqliteConnection};
use diesel_async::RunQueryDsl;
use heddle_kernel::{TenantId, Timestamp};
use heddle_usecase::IdempotencyRecord;

use crate::conn::AsConn;
use crate::error::Error;
use crate::schema::{AnswerRow, idempotency_keys as keys};
use crate::types::{At, Id};
use crate::{Db, StoreError, on_conn, read, write_tx};

/// Seconds for which an answer is kept.
pub const KEPT_SECONDS: i64 = 24 * 3600;

impl From<IdempotencyRecord> for AnswerRow {
    fn from(record: IdempotencyRecord) -> Self {
        let IdempotencyRecord {
            tenant,
            operation,
            key,
            body_sha256,
            status,
            body,
            etag,
            location,
            created_at,
        } = record;
        Self {
            organization_id: tenant.into(),
            operation,
            key,
            body_sha256,
            status: i32::from(status),
            body,
            etag,
            location,
            created_at: created_at.into(),
            expires_at: created_at.plus_seconds(KEPT_SECONDS).into(),
        }
    }
}

impl From<AnswerRow> for IdempotencyRecord {
    fn from(row: AnswerRow) -> Self {
        Self {
            tenant: row.organization_id.into(),
            operation: row.operation,
            key: row.key,
            body_sha256: row.body_sha256,
            status: u16::try_from(row.status).unwrap_or_default(),
            body: row.body,
            etag: row.etag,
            location: row.location,
            created_at: row.created_at.into(),
        }
    }
}

/// Insertion beside the answers that are there. Replacing an expired one within the same statement would be a statement
/// that is planned anew each time, which on SQLite takes longer than the writing.
macro_rules! insertion {
    ($row:expr) => {
        diesel::insert_into(keys::table).values($row).on_conflict_do_nothing()
    };
}

/// Removal of an expired answer that stands in the way.
macro_rules! removal {
    ($row:expr) => {
        diesel::delete(
            keys::table
                .filter(keys::organization_id.eq($row.organization_id))
                .filter(keys::operation.eq(&$row.operation))
                .filter(keys::key.eq(&$row.key))
                .filter(keys::expires_at.le($row.created_at)),
        )
    };
}

/// Check that all were written: fewer mean that another call with a key was faster, and the caller looks its
/// answer up.
pub(crate) fn taken(written: usize, all: usize) -> Result<(), Error> {
    if written < all { Err(StoreError::Duplicate("idempotency_keys.key".to_owned()).into()) } else { Ok(()) }
}

/// Writes the answer in the current transaction: `Duplicate("idempotency_keys.key")` when a living one is there.
pub(crate) async fn insert_row<C: AsConn>(conn: &mut C, row: &AnswerRow) -> Result<(), Error> {
    let written = on_conn!(conn, |conn| {
        match insertion!(row).execute(conn).await? {
            0 => {
                // Whatever this meets: others remove what is expired, too.
                removal!(row).execute(conn).await?;
                insertion!(row).execute(conn).await?
            }
            written => written,
        }
    });
    taken(written, 1)
}

/// The same on SQLite's own connection, inside a batch.
pub(crate) fn insert_row_blocking(conn: &mut SqliteConnection, row: &AnswerRow) -> Result<(), Error> {
    let written = match diesel::RunQueryDsl::execute(insertion!(row), conn)? {
        0 => {
            diesel::RunQueryDsl::execute(removal!(row), conn)?;
            diesel::RunQueryDsl::execute(insertion!(row), conn)?
        }
        written => written,
    };
    taken(written, 1)
}

/// The living answer under one of these keys; the first of them counts most.
///
/// # Errors
/// When the database fails.
pub async fn find(
    db: &Db,
    tenant: TenantId,
    operation: &str,
    wanted: &[String],
    now: Timestamp,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    let found = read!(db, |conn| {
        let rows: Vec<AnswerRow> = keys::table
            .filter(keys::organization_id.eq(Id::from(tenant)).and(keys::operation.eq(operation)))
            .filter(keys::key.eq_any(wanted))
            .filter(keys::expires_at.gt(At(now)))
            .select(AnswerRow::as_select())
            .load(conn)
            .await?;
        let place = |row: &AnswerRow| wanted.iter().position(|key| *key == row.key);
        Ok(rows.into_iter().min_by_key(place).map(IdempotencyRecord::from))
    })?;
    // A repeat is answered by it.
    if found.is_some() {
        db.settled().await?;
    }
    Ok(found)
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
