//! The journal of a change: its audit event and the answer for repeats, written in the change's transaction.

use diesel::SqliteConnection;
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_usecase::Journal;

use crate::conn::AsConn;
use crate::error::Error;
use crate::postgres::PgConn;
use crate::schema::{AnswerRow, AuditRow, NewAnswers, NewAuditEvents};
use crate::{audit, idempotency};

/// The rows of a journal: made before a connection is taken, where the time on it counts.
#[derive(Debug, Default)]
pub struct JournalRows {
    audit: Option<AuditRow>,
    answer: Option<AnswerRow>,
}

impl From<Journal> for JournalRows {
    fn from(journal: Journal) -> Self {
        let Journal { audit, idempotency, rights: _ } = journal;
        Self { audit: audit.map(AuditRow::from), answer: idempotency.map(AnswerRow::from) }
    }
}

impl JournalRows {
    /// Writes them in the current transaction.
    ///
    /// # Errors
    /// `Duplicate("idempotency_keys.key")` when a living answer is there.
    pub async fn write<C: AsConn>(&self, conn: &mut C) -> Result<(), Error> {
        if let Some(row) = &self.answer {
            idempotency::insert_row(conn, row).await?;
        }
        if let Some(row) = &self.audit {
            audit::insert_row(conn, row).await?;
        }
        Ok(())
    }

    /// The same on SQLite's own connection, inside a batch.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_blocking(&self, conn: &mut SqliteConnection) -> Result<(), Error> {
        Self::write_all_blocking(conn, std::iter::once(self))
    }

    /// Those of many changes on SQLite's own connection, inside a batch.
    ///
    /// # Errors
    /// As [`Self::write`], for all of them.
    pub fn write_all_blocking<'a>(
        conn: &mut SqliteConnection,
        all: impl Iterator<Item = &'a Self>,
    ) -> Result<(), Error> {
        let mut events = Vec::new();
        for rows in all {
            if let Some(row) = &rows.answer {
                idempotency::insert_row_blocking(conn, row)?;
            }
            events.extend(&rows.audit);
        }
        audit::insert_rows_blocking(conn, &events)
    }

    /// Writes those of many changes on PostgreSQL, in one statement for each table.
    ///
    /// # Errors
    /// As [`Self::write`], for all of them.
    pub async fn write_many<'a>(
        conn: &PgConn,
        all: impl Iterator<Item = &'a Self> + Send,
    ) -> Result<(), Error> {
        let (mut events, mut answers, mut wanted) = (NewAuditEvents::default(), NewAnswers::default(), 0);
        for rows in all {
            rows.audit.iter().for_each(|row| events.push(row));
            rows.answer.iter().for_each(|row| answers.push(row));
            wanted += usize::from(rows.answer.is_some());
        }
        // Both are sent before either is answered.
        let (mut first, mut second) = (conn, conn);
        let told = async {
            if !events.is_empty() {
                events.execute(&mut first).await?;
            }
            Ok::<(), Error>(())
        };
        let answered = async {
            if !answers.is_empty() {
                idempotency::taken(answers.execute(&mut second).await?, wanted)?;
            }
            Ok::<(), Error>(())
        };
        futures::try_join!(told, answered).map(|((), ())| ())
    }
}

/// Writes the journal in the current transaction.
///
/// # Errors
/// As [`JournalRows::write`].
pub async fn write<C: AsConn>(conn: &mut C, journal: &Journal) -> Result<(), Error> {
    JournalRows::from(journal.clone()).write(conn).await
}

/// Instant of the change: the time of its audit event, else that of its answer.
#[must_use]
pub fn time_of(journal: &Journal) -> Option<Timestamp> {
    let audited = journal.audit.as_ref().map(|entry| entry.at);
    audited.or(journal.idempotency.as_ref().map(|record| record.created_at))
}
