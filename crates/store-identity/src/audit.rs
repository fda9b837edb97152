//! The audit trail.

use diesel::{EscapeExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper, TextExpressionMethods};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{AuditEvent, AuditFilter};
use heddle_kernel::{Page, PageRequest, Stored, TenantId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::schema::{AuditRow, audit_events};
use heddle_store::{At, Id, StoreError, audit, page, read, search, within};
use heddle_usecase::{ActorKind, Outcome};
use uuid::Uuid;

use crate::IdentityStore;

/// The event of a row. A kind or an outcome that this version does not know is shown as it is: one event must not hide
/// the rest of the trail.
fn event(row: AuditRow) -> AuditEvent {
    let tenant = TenantId::from(row.organization_id);
    AuditEvent {
        id: row.id.into(),
        tenant: (tenant != audit::INSTALLATION).then_some(tenant),
        at: row.at.into(),
        actor_kind: Stored::read(&row.actor_kind, ActorKind::parse),
        actor_id: row.actor_id,
        actor_display: row.actor_display,
        action: row.action,
        resource_type: row.resource_type,
        resource_id: row.resource_id,
        outcome: Stored::read(&row.outcome, Outcome::parse),
        request_id: row.request_id,
        client_ip: row.client_ip,
        details: row.details.into(),
    }
}

/// Narrows a boxed query to what is wanted.
macro_rules! filtered {
    ($query:expr, $filter:expr) => {{
        let mut query = $query;
        match $filter.action.as_deref().map(|action| (action, action.strip_suffix(".*"))) {
            Some((_, Some(beginning))) => {
                let pattern = search::beginning(&format!("{beginning}."));
                query = query.filter(audit_events::action.like(pattern).escape('\\'));
            }
            Some((action, None)) => query = query.filter(audit_events::action.eq(action)),
            None => {}
        }
        if let Some(actor) = &$filter.actor {
            query = query.filter(audit_events::actor_id.eq(actor));
        }
        if let Some(kind) = &$filter.resource_type {
            query = query.filter(audit_events::resource_type.eq(kind));
        }
        if let Some(id) = &$filter.resource_id {
            query = query.filter(audit_events::resource_id.eq(id));
        }
        if let Some(outcome) = &$filter.outcome {
            query = query.filter(audit_events::outcome.eq(outcome));
        }
        if let Some(from) = $filter.from {
            query = query.filter(audit_events::at.ge(At(from)));
        }
        if let Some(to) = $filter.to {
            query = query.filter(audit_events::at.lt(At(to)));
        }
        query
    }};
}

/// A page of an organisation's events, newest first: ids rise with time.
pub(crate) async fn page(
    store: &IdentityStore,
    tenant: TenantId,
    filter: &AuditFilter,
    access: &AccessFilter<resource::AuditEvent>,
    page: &PageRequest,
) -> Result<Page<AuditEvent>, StoreError> {
    let last: Option<Uuid> = page::position(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let events = read!(&store.db, |conn| {
        let query =
            audit_events::table.filter(audit_events::organization_id.eq(Id::from(tenant))).into_boxed();
        let query = filtered!(within!(query, access, audit_events::id), filter);
        let query = match last {
            Some(last) => query.filter(audit_events::id.lt(Id(last))),
            None => query,
        };
        let rows: Vec<AuditRow> = query
            .order(audit_events::id.desc())
            .limit(page::surplus(page))
            .select(AuditRow::as_select())
            .load(conn)
            .await?;
        Ok(rows.into_iter().map(event).collect())
    })?;
    Ok(Page::from_surplus(events, page.limit, |event: &AuditEvent| event.id.0))
}
