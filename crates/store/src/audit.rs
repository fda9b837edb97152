//! Audit events: written in the transaction of what they tell, never changed. What seals them moves them to where they are
//! listed from.

use diesel::SqliteConnection;
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_usecase::{Actor, AuditEntry, Target};
use uuid::Uuid;

use crate::conn::AsConn;
use crate::error::Error;
use crate::on_conn;
use crate::schema::{AuditRow, audit_unsealed};
use crate::stable::add_all;
use crate::types::Json;

/// The organisation under which events of the installation as a whole stand.
pub const INSTALLATION: TenantId = TenantId(Uuid::nil());

impl From<AuditEntry> for AuditRow {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry {
            id,
            tenant,
            at,
            actor: Actor { kind, id: actor_id, display, credential },
            action,
            resource_type,
            resource_id,
            target,
            outcome,
            request_id,
            client_ip,
            details,
        } = entry;
        let (target_type, target_id) = target.map(|Target { kind, id }| (kind, id)).unzip();
        Self {
            organization_id: tenant.unwrap_or(INSTALLATION).into(),
            id: id.into(),
            at: at.into(),
            actor_kind: kind.as_str().into(),
            actor_id,
            actor_display: display,
            actor_credential: credential,
            action,
            resource_type,
            resource_id,
            target_type,
            target_id,
            outcome: outcome.as_str().into(),
            request_id,
            client_ip,
            details: Json(details),
        }
    }
}

/// Writes an audit event in the current transaction.
///
/// # Errors
/// When the database refuses or fails.
pub async fn insert<C: AsConn>(conn: &mut C, entry: &AuditEntry) -> Result<(), Error> {
    insert_row(conn, &AuditRow::from(entry.clone())).await
}

pub(crate) async fn insert_row<C: AsConn>(conn: &mut C, row: &AuditRow) -> Result<(), Error> {
    on_conn!(conn, |conn| {
        diesel::insert_into(audit_unsealed::table).values(row).execute(conn).await?;
    });
    Ok(())
}

/// The same of many on SQLite's own connection, inside a batch.
pub(crate) fn insert_rows_blocking(conn: &mut SqliteConnection, rows: &[&AuditRow]) -> Result<(), Error> {
    Ok(add_all(conn, rows)?)
}
