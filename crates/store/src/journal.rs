//! The journal of a change: its audit event and the answer for repeats, written in the change's transaction.

use diesel::SqliteConnection;
use heddle_kernel::Timestamp;
use heddle_usecase::Journal;

use crate::conn::AsConn;
use crate::error::Error;
use crate::{audit, idempotency};

/// Writes the journal in the current transaction.
///
/// # Errors
/// As [`idempotency::insert`].
pub async fn write<C: AsConn>(conn: &mut C, journal: &Journal) -> Result<(), Error> {
    if let Some(record) = &journal.idempotency {
        idempotency::insert(conn, record).await?;
    }
    if let Some(entry) = &journal.audit {
        audit::insert(conn, entry).await?;
    }
    Ok(())
}

/// The same on SQLite's own connection, inside a batch.
///
/// # Errors
/// As [`idempotency::insert`].
pub fn write_blocking(conn: &mut SqliteConnection, journal: &Journal) -> Result<(), Error> {
    if let Some(record) = &journal.idempotency {
        idempotency::insert_blocking(conn, record)?;
    }
    if let Some(entry) = &journal.audit {
        audit::insert_blocking(conn, entry)?;
    }
    Ok(())
}

/// When the change was made: the time of its audit event, else that of its answer.
#[must_use]
pub fn time_of(journal: &Journal) -> Option<Timestamp> {
    let audited = journal.audit.as_ref().map(|entry| entry.at);
    audited.or(journal.idempotency.as_ref().map(|record| record.created_at))
}
