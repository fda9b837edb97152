//! The audit trail.

use diesel::{EscapeExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper, TextExpressionMethods};
use diesel_async::RunQueryDsl;
use heddle_identity::chain::ChainRow;
use heddle_identity::ports::{AuditEvent, AuditFilter};
use heddle_kernel::{Page, PageRequest, TenantId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::schema::{audit_events, audit_unsealed};
use heddle_store::{At, Id, StoreError, audit, page, read, search, within};
use uuid::Uuid;

use crate::IdentityStore;
use crate::chain::each_event;

/// Narrows a boxed query to what is wanted.
macro_rules! filtered {
    ($table:ident, $query:expr, $filter:expr) => {{
        let mut query = $query;
        match $filter.action.as_deref().map(|action| (action, action.strip_suffix(".*"))) {
            Some((_, Some(beginning))) => {
                let pattern = search::beginning(&format!("{beginning}."));
                query = query.filter($table::action.like(pattern).escape('\\'));
            }
            Some((action, None)) => query = query.filter($table::action.eq(action)),
            None => {}
        }
        if let Some(actor) = &$filter.actor {
            query = query.filter($table::actor_id.eq(actor));
        }
        if let Some(outcome) = &$filter.outcome {
            query = query.filter($table::outcome.eq(outcome));
        }
        if let Some(from) = $filter.from {
            query = query.filter($table::at.ge(At(from)));
        }
        if let Some(to) = $filter.to {
            query = query.filter($table::at.lt(At(to)));
        }
        query
    }};
}

/// Column of the thing by whose id a query narrows.
#[derive(Clone, Copy)]
enum About {
    Resource,
    Target,
}

/// The queries that find what is wanted. A thing may be an event's resource or its target, and each has an index in the
/// order of the list: two short reads, where one with an `OR` would sort all that is about the thing.
const fn queries(filter: &AuditFilter) -> &'static [Option<About>] {
    match filter.resource_id {
        Some(_) => &[Some(About::Resource), Some(About::Target)],
        None => &[None],
    }
}

/// Narrows a boxed query to events about the wanted thing.
macro_rules! about {
    ($table:ident, $query:expr, $filter:expr, $kind:ident, $id:ident) => {{
        let mut query = $query;
        if let Some(kind) = &$filter.resource_type {
            query = query.filter($table::$kind.eq(kind));
        }
        if let Some(id) = &$filter.resource_id {
            query = query.filter($table::$id.eq(id));
        }
        query
    }};
}

/// The query of a page, boxed, in its order.
macro_rules! wanted {
    ($table:ident, $about:expr, $tenant:expr, $access:expr, $filter:expr, $before:expr, $page:expr) => {{
        let query = $table::table.filter($table::organization_id.eq($tenant)).into_boxed();
        let query = filtered!($table, within!(query, $access, $table::id), $filter);
        let query = match $about {
            Some(About::Target) => about!($table, query, $filter, target_type, target_id),
            Some(About::Resource) | None => about!($table, query, $filter, resource_type, resource_id),
        };
        query.filter($table::id.lt($before)).order($table::id.desc()).limit(page::surplus($page))
    }};
}

/// A page of the events of an organisation, or of those of none, newest first: ids rise with time.
pub(crate) async fn page(
    store: &IdentityStore,
    tenant: Option<TenantId>,
    filter: &AuditFilter,
    access: &AccessFilter<resource::AuditEvent>,
    page: &PageRequest,
) -> Result<Page<AuditEvent>, StoreError> {
    let last: Option<Uuid> = page::position(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let organization = tenant.unwrap_or(audit::INSTALLATION);
    let tenant = Id::from(organization);
    // Without a bound SQLite takes the order of the key for more than the index of the thing, and reads all.
    let before = Id(last.unwrap_or(Uuid::max()));
    let rows: Vec<ChainRow> = read!(&store.db, |conn| {
        let mut found = Vec::new();
        for about in queries(filter) {
            // First those without a place: one that gets it meanwhile is met twice, and never missed.
            found.extend(each_event!(
                conn,
                tenant,
                audit_unsealed,
                wanted!(audit_unsealed, about, tenant, access, filter, before, page)
            ));
            found.extend(each_event!(
                conn,
                tenant,
                audit_events,
                wanted!(audit_events, about, tenant, access, filter, before, page)
            ));
        }
        Ok(found)
    })?;
    let mut events: Vec<AuditEvent> =
        rows.into_iter().map(|row| AuditEvent::of_row(organization, row)).collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.id.0));
    events.dedup_by_key(|event| event.id);
    events.truncate(usize::try_from(page::surplus(page)).unwrap_or(usize::MAX));
    Ok(Page::from_surplus(events, page.limit, |event: &AuditEvent| event.id.0))
}
