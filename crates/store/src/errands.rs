//! Errands as rows: any area writes them in the transaction of the change that asks for them.

use std::borrow::Cow;

use diesel::{SqliteConnection, insert_into};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_usecase::errand::{Errand, ErrandKind, Lane, NewErrand};

use crate::conn::AsConn;
use crate::document::{decode, encode};
use crate::error::Error;
use crate::on_conn;
use crate::schema::{ErrandRow, errands};
use crate::types::At;

/// Turn of every errand of a lane in order: their order is that of writing.
const IN_ORDER: At = At(Timestamp::from_micros(0));

/// Turn of an errand that is due at an instant: a lane without an order goes by it.
#[must_use]
pub const fn turn(line: &str, due_at: At) -> At {
    if line.is_empty() { due_at } else { IN_ORDER }
}

impl ErrandRow {
    /// The row of an errand that nobody has begun, due at an instant.
    ///
    /// # Errors
    /// When the payload has no stored form.
    pub fn of(errand: NewErrand, due_at: Timestamp) -> Result<Self, Error> {
        let (lane, due_at) = (errand.lane.id(), At(due_at));
        let line = errand.lane.line.unwrap_or_default();
        Ok(Self {
            organization_id: errand.lane.tenant.into(),
            id: errand.id.into(),
            kind: Cow::Borrowed(errand.lane.kind.as_str()),
            lane: lane.into(),
            target: errand.lane.target,
            turn: turn(&line, due_at),
            line,
            workflow_id: errand.workflow.map(Into::into),
            run_id: errand.run.map(Into::into),
            name: errand.name,
            payload: encode(&errand.payload)?,
            created_at: At(errand.created_at),
            due_at,
            node: None,
            epoch: 0,
            suspect: false,
            attempts: 0,
            crashes: 0,
            hastened: false,
        })
    }

    /// The lane.
    ///
    /// # Errors
    /// When its kind is not known.
    pub fn lane(&self) -> Result<Lane, Error> {
        lane_of(self.organization_id.into(), &self.kind, self.target.clone(), self.line.clone())
    }

    /// The errand as it stands.
    ///
    /// # Errors
    /// When it does not read.
    pub fn record(self) -> Result<Errand, Error> {
        let lane = self.lane()?;
        let errand = NewErrand {
            id: self.id.into(),
            lane,
            workflow: self.workflow_id.map(Into::into),
            run: self.run_id.map(Into::into),
            name: self.name,
            payload: decode(&self.payload)?,
            created_at: self.created_at.into(),
        };
        Ok(Errand {
            errand,
            epoch: self.epoch,
            attempts: self.attempts.unsigned_abs(),
            crashes: self.crashes.unsigned_abs(),
            is_suspect: self.suspect,
        })
    }
}

/// A lane by its columns.
///
/// # Errors
/// When the kind is not known.
pub fn lane_of(
    tenant: heddle_kernel::TenantId,
    kind: &str,
    target: String,
    line: String,
) -> Result<Lane, Error> {
    let known = ErrandKind::parse(kind);
    let kind =
        known.ok_or_else(|| Error::Document(format!("the kind of an errand `{kind}` is not known")))?;
    Ok(Lane { tenant, kind, target, line: Some(line).filter(|line| !line.is_empty()) })
}

/// Writes an errand in the current transaction.
///
/// # Errors
/// When it can't be written.
pub async fn insert_row<C: AsConn>(conn: &mut C, row: &ErrandRow) -> Result<(), Error> {
    on_conn!(conn, |conn| {
        insert_into(errands::table).values(row).execute(conn).await?;
    });
    Ok(())
}

/// The same on SQLite's own connection, inside a batch.
///
/// # Errors
/// As [`insert_row`].
pub fn insert_row_blocking(conn: &mut SqliteConnection, row: &ErrandRow) -> Result<(), Error> {
    crate::add(conn, row)?;
    Ok(())
}
