//! The audit trail.

use diesel::sql_types::Bool;
use diesel::{
    EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper,
    TextExpressionMethods,
};
use heddle_identity::chain::ChainRow;
use heddle_identity::ports::{AuditEvent, AuditFilter};
use heddle_kernel::{Page, PageRequest, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_store::schema::{audit_events, audit_unsealed};
use heddle_store::{At, Db, Error, Id, StoreError, audit, page, search, within};
use uuid::Uuid;

use crate::IdentityStore;
use crate::chain::each_event;

/// Milliseconds by which the id of an event may lie apart from its instant: both come from one reading of the clock.
const APART: i64 = 50;
/// Events that nearly all of a large trail are: a start and the completion of a task, by action and type of the resource.
/// The index of types leaves them out, so that it costs them nothing, and they are found by that of actions.
const USUAL: [(&str, &str); 5] = [
    ("workflow.run_started", "workflow"),
    ("workflow.human_task_completed", "run"),
    ("human_task.completed", "run"),
    ("human_task.completed", "case"),
    ("case.started", "case"),
];
/// So many streams are read as they are.
const FEW_STREAMS: usize = 2;
/// The condition of the index of types, word by word: it holds for all but [`USUAL`] events.
const UNUSUAL: &str = "NOT (action = 'workflow.run_started' AND resource_type = 'workflow') \
    AND NOT (action = 'workflow.human_task_completed' AND resource_type = 'run') \
    AND NOT (action = 'human_task.completed' AND resource_type = 'run') \
    AND NOT (action = 'human_task.completed' AND resource_type = 'case') \
    AND NOT (action = 'case.started' AND resource_type = 'case')";

/// The ids between which a page lies, the second one left out.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// None where the trail is read to its beginning.
    from: Option<Id>,
    before: Id,
}

impl Bounds {
    /// Those of a filter, behind the last event that was seen. Ids rise with time, so that a walk along them begins at the
    /// end of the asked time and is over at its beginning, whatever lies outside.
    fn of(filter: &AuditFilter, last: Option<Uuid>) -> Self {
        let behind = last.unwrap_or(Uuid::max());
        let until = filter.to.map_or(Uuid::max(), |to| first_id(to.plus_millis(APART)));
        let from = filter.from.map(|from| Id(first_id(from.plus_millis(-APART))));
        Self { from, before: Id(behind.min(until)) }
    }
}

/// An id that no event since an instant is below.
fn first_id(at: Timestamp) -> Uuid {
    let millis = u128::try_from(at.micros().div_euclid(1_000)).unwrap_or(0);
    Uuid::from_u128(millis.min((1 << 48) - 1) << 80)
}

/// Part of what is wanted, which stands in an index in the order of the list. The first of all parts are the page.
#[derive(Debug, Clone)]
enum Stream {
    /// All of it.
    Whole,
    /// Events of what was done to the thing that is named.
    Resource,
    /// Events of what made that thing or concerns it.
    Target,
    /// Events of this action.
    Action(String),
    /// Events that are none of the [`USUAL`] ones.
    Unusual,
}

/// The streams of a thing, where one is named by its id. It may be an event's resource or its target, and each has an index
/// in the order of the list: two short reads, where one with an `OR` would sort all that is about the thing.
fn of_thing(filter: &AuditFilter) -> Option<Vec<Stream>> {
    filter.resource_id.as_ref().map(|_| vec![Stream::Resource, Stream::Target])
}

/// The streams of a type of things, by the index that leaves out the usual events, and by that of those of the type.
fn of_type(kind: &str) -> Vec<Stream> {
    let usual = USUAL.iter().filter(|(_, of)| *of == kind);
    let usual = usual.map(|(action, _)| Stream::Action((*action).to_owned()));
    usual.chain([Stream::Unusual]).collect()
}

/// The beginning of the actions that are wanted, where it is no single one.
fn beginning(filter: &AuditFilter) -> Option<&str> {
    filter.action.as_deref().and_then(|action| action.strip_suffix('*')).filter(|text| text.ends_with('.'))
}

/// Narrows a boxed query to what is wanted.
macro_rules! filtered {
    ($table:ident, $query:expr, $filter:expr) => {{
        let mut query = $query;
        match ($filter.action.as_deref(), beginning($filter)) {
            (_, Some(beginning)) => {
                query = query.filter($table::action.like(search::beginning(beginning)).escape('\\'));
            }
            (Some(action), None) => query = query.filter($table::action.eq(action)),
            (None, None) => {}
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

/// The query of a page of a stream, boxed, in its order.
macro_rules! wanted {
    ($table:ident, $stream:expr, $tenant:expr, $access:expr, $filter:expr, $bounds:expr, $page:expr) => {{
        let query = $table::table.filter($table::organization_id.eq($tenant)).into_boxed();
        let query = filtered!($table, within!(query, $access, $table::id), $filter);
        let query = match $stream {
            Stream::Target => about!($table, query, $filter, target_type, target_id),
            Stream::Whole | Stream::Resource => about!($table, query, $filter, resource_type, resource_id),
            Stream::Action(action) => {
                let query = query.filter($table::action.eq(action.clone()));
                about!($table, query, $filter, resource_type, resource_id)
            }
            Stream::Unusual => {
                let query = query.filter(diesel::dsl::sql::<Bool>(UNUSUAL));
                about!($table, query, $filter, resource_type, resource_id)
            }
        };
        let query = match $bounds.from {
            Some(from) => query.filter($table::id.ge(from)),
            None => query,
        };
        // Without a bound SQLite takes the order of the key for more than the index of the thing, and reads all.
        query.filter($table::id.lt($bounds.before)).order($table::id.desc()).limit(page::surplus($page))
    }};
}

/// The streams of the events that have their place.
macro_rules! sealed_streams {
    ($conn:expr, $tenant:expr, $filter:expr, ($($wait:tt)*)) => {{
        let of_actor = $filter.actor.is_some();
        match (of_thing($filter), beginning($filter), &$filter.resource_type, &$filter.action) {
            (Some(streams), _, _, _) => streams,
            // There are few actions, whatever is stored: each is found behind the one before it.
            (None, Some(beginning), _, _) if !of_actor => {
                // No action ends in its dot, and the sign behind the dot is the slash.
                let end = format!("{}/", beginning.strip_suffix('.').unwrap_or(beginning));
                let (mut streams, mut last) = (Vec::new(), beginning.to_owned());
                loop {
                    let next: Option<String> = audit_events::table
                        .filter(audit_events::organization_id.eq($tenant))
                        .filter(audit_events::action.gt(&last))
                        .filter(audit_events::action.lt(&end))
                        .order(audit_events::action)
                        .select(audit_events::action)
                        .first($conn)$($wait)*
                        .optional()?;
                    let Some(next) = next else { break };
                    last.clone_from(&next);
                    streams.push(Stream::Action(next));
                }
                streams
            }
            (None, None, Some(kind), None) if !of_actor => of_type(kind),
            (None, _, _, _) => vec![Stream::Whole],
        }
    }};
}

/// The streams of several that have events of the page, and the bounds within which those are. The ids alone are read first,
/// which stand in the indexes: whole events are large, and nearly all of each stream would be read for nothing.
macro_rules! foremost {
    ($conn:expr, $streams:expr, $asked:expr, ($($wait:tt)*)) => {{
        let Asked { tenant, filter, access, bounds, page } = $asked;
        let (tenant, bounds) = (*tenant, *bounds);
        let (mut heads, mut ids, mut all_told): (Vec<(Stream, Option<Id>)>, Vec<Id>, bool) =
            (Vec::new(), Vec::new(), $streams.len() > FEW_STREAMS);
        for stream in $streams {
            let mut newest = None;
            if all_told {
                let of_stream = wanted!(audit_events, &stream, tenant, access, filter, bounds, page);
                match of_stream.select(audit_events::id).load::<Id>($conn)$($wait)* {
                    Ok(found) => {
                        newest = found.as_slice().first().copied();
                        ids.extend(found);
                    }
                    // One whose id is none is shown as what it is, and has no place among the others.
                    Err(diesel::result::Error::DeserializationError(_)) => all_told = false,
                    Err(error) => return Err(error.into()),
                }
            }
            heads.push((stream, newest));
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.dedup();
        let last = ids.get(usize::try_from(page::surplus(page) - 1).unwrap_or(usize::MAX)).copied();
        let from = bounds.from.max(last);
        let is_shown = |(_, newest): &(Stream, Option<Id>)| {
            !all_told || newest.is_some_and(|id| from.is_none_or(|from| id >= from))
        };
        let bounds = if all_told { Bounds { from, before: bounds.before } } else { bounds };
        let streams: Vec<Stream> = heads.into_iter().filter(is_shown).map(|(stream, _)| stream).collect();
        (streams, bounds)
    }};
}

/// A page that is asked for.
#[derive(Debug)]
struct Asked {
    tenant: Id,
    filter: AuditFilter,
    access: AccessFilter<resource::AuditEvent>,
    bounds: Bounds,
    page: PageRequest,
}

/// Events among which the page is; in brackets stands `.await` where the connection is waited for.
macro_rules! found {
    ($conn:expr, $asked:expr, $wait:tt) => {{
        let Asked { tenant, filter, access, bounds, page } = $asked;
        let (tenant, bounds) = (*tenant, *bounds);
        let mut found = Vec::new();
        // First those without a place: one that gets it meanwhile is met twice, and never missed.
        for stream in of_thing(filter).unwrap_or_else(|| vec![Stream::Whole]) {
            found.extend(each_event!(
                $conn,
                tenant,
                audit_unsealed,
                wanted!(audit_unsealed, &stream, tenant, access, filter, bounds, page),
                $wait
            ));
        }
        let streams = sealed_streams!($conn, tenant, filter, $wait);
        let (streams, bounds) = foremost!($conn, streams, $asked, $wait);
        for stream in streams {
            found.extend(each_event!(
                $conn,
                tenant,
                audit_events,
                wanted!(audit_events, &stream, tenant, access, filter, bounds, page),
                $wait
            ));
        }
        Ok(found)
    }};
}

/// SQLite: all statements in one call.
mod on_sqlite {
    use diesel::{RunQueryDsl, SqliteConnection};

    use super::*;

    pub(super) fn found(conn: &mut SqliteConnection, asked: &Asked) -> Result<Vec<ChainRow>, Error> {
        found!(conn, asked, ())
    }
}

/// PostgreSQL: each statement is waited for.
mod on_postgres {
    use diesel_async::RunQueryDsl;
    use heddle_store::PgConn;

    use super::*;

    pub(super) async fn found(conn: &mut PgConn, asked: &Asked) -> Result<Vec<ChainRow>, Error> {
        found!(conn, asked, (.await))
    }
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
    let asked = Asked {
        tenant: Id::from(organization),
        filter: filter.clone(),
        access: access.clone(),
        bounds: Bounds::of(filter, last),
        page: page.clone(),
    };
    let rows: Vec<ChainRow> = match &store.db {
        Db::Sqlite(sqlite) => sqlite.read(move |conn| on_sqlite::found(conn, &asked)).await?,
        Db::Postgres(postgres) => on_postgres::found(&mut *postgres.conn().await?, &asked).await?,
    };
    let mut events: Vec<AuditEvent> =
        rows.into_iter().map(|row| AuditEvent::of_row(organization, row)).collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.id.0));
    events.dedup_by_key(|event| event.id);
    events.truncate(usize::try_from(page::surplus(page)).unwrap_or(usize::MAX));
    Ok(Page::from_surplus(events, page.limit, |event: &AuditEvent| event.id.0))
}
