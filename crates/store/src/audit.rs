//! Audit events: written in the transaction of what they tell, never changed.

use diesel::{Insertable, SqliteConnection};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_usecase::AuditEntry;
use uuid::Uuid;

use crate::conn::AsConn;
use crate::error::Error;
use crate::on_conn;
use crate::schema::audit_events;
use crate::types::{At, Id, Json};

/// The organisation under which events of the installation as a whole stand.
pub const INSTALLATION: TenantId = TenantId(Uuid::nil());

/// The row of an audit event.
#[derive(Debug, Insertable)]
#[diesel(table_name = audit_events)]
pub struct AuditRow<'a> {
    organization_id: Id,
    id: Id,
    at: At,
    actor_kind: &'a str,
    actor_id: Option<&'a str>,
    actor_display: &'a str,
    action: &'a str,
    resource_type: &'a str,
    resource_id: Option<&'a str>,
    outcome: &'a str,
    request_id: &'a str,
    client_ip: Option<&'a str>,
    details: Json,
}

impl<'a> From<&'a AuditEntry> for AuditRow<'a> {
    fn from(entry: &'a AuditEntry) -> Self {
        Self {
            organization_id: entry.tenant.unwrap_or(INSTALLATION).into(),
            id: entry.id.into(),
            at: entry.at.into(),
            actor_kind: entry.actor.kind,
            actor_id: entry.actor.id.as_deref(),
            actor_display: &entry.actor.display,
            action: &entry.action,
            resource_type: &entry.resource_type,
            resource_id: entry.resource_id.as_deref(),
            outcome: entry.outcome.as_str(),
            request_id: &entry.request_id,
            client_ip: entry.client_ip.as_deref(),
            details: Json(entry.details.clone()),
        }
    }
}

/// Writes an audit event in the current transaction.
///
/// # Errors
/// When the database refuses or fails.
pub async fn insert<C: AsConn>(conn: &mut C, entry: &AuditEntry) -> Result<(), Error> {
    let row = AuditRow::from(entry);
    on_conn!(conn, |conn| {
        diesel::insert_into(audit_events::table).values(row).execute(conn).await?;
    });
    Ok(())
}

/// The same on SQLite's own connection, inside a batch.
///
/// # Errors
/// When the database refuses or fails.
pub fn insert_blocking(conn: &mut SqliteConnection, entry: &AuditEntry) -> Result<(), Error> {
    let insert = diesel::insert_into(audit_events::table).values(AuditRow::from(entry));
    diesel::RunQueryDsl::execute(insert, conn)?;
    Ok(())
}
