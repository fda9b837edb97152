//! Pages of runs.

use std::collections::HashMap;

use crate::schema::{runs, workflows};
use diesel::dsl::{case_when, not};
use diesel::expression::SqlLiteral;
use diesel::sql_types::Text;
use diesel::{BoolExpressionMethods, ExpressionMethods, OptionalExtension as _, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{
    Cursor, DefinitionKind, MAX_LIMIT, Page, PageRequest, RunId, TenantId, Timestamp, WorkflowId,
};
use heddle_policy::{InstanceFilter, resource};
use heddle_store::{At, Db, Error, Id, keyset, page, read, within};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{RunFilter, RunSort};
use heddle_workflows::records::{Run, RunState};

use super::{octet_length, own};
use crate::schema::RunHead;
use crate::statement::Merging;
use crate::words::{DefinitionKindWord, RunStateWord};

/// The place of a run in the list: its creation in microseconds, then its id.
type Key = (i64, RunId);

/// Most bytes of a state that is read together with others.
const SMALL: i32 = 32 * 1024;
/// Most bytes of states that a page reads; one run is on it whatever the size of its state.
const PAGE_BYTES: i64 = 8 * 1024 * 1024;

/// Chunk of the list that one query reads: so many runs, behind the one at which it begins.
#[derive(Clone, Copy)]
struct Chunk {
    from: Option<Key>,
    limit: i64,
    /// Bytes of states that there is still room for.
    bytes: i64,
}

/// Runs of a chunk.
struct Read {
    runs: Vec<Run>,
    /// Bytes of their states.
    bytes: i64,
    /// Whether nothing of the list is behind them.
    last: bool,
}

/// A run as a list reads it: the state's bytes are only counted when they are many.
type ListRow = (RunHead, i32, Option<Vec<u8>>);

const fn key(run: &Run) -> Key {
    (run.created_at.micros(), run.id)
}

/// Place of a run in the list that has those with an incident first.
type PartKey = (bool, i64, RunId);

/// Runs that were gathered for a page.
struct Gathered {
    runs: Vec<Run>,
    /// Place up to which was read, where the bytes of the states ended the page before it was full.
    cut: Option<Key>,
}

/// A page of a workflow's runs.
pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    workflow: WorkflowId,
    filter: &RunFilter,
    access: &InstanceFilter,
    page: &PageRequest,
) -> Result<Page<Run>, StoreError> {
    let from: Option<Key> = page::position(page)?;
    read!(db, |conn| {
        Ok(workflows::table
            .find((Id::from(tenant), Id::from(workflow)))
            .filter(workflows::kind.eq(DefinitionKindWord(access.kind())))
            .select(workflows::id)
            .first::<Id>(conn)
            .await?)
    })?;
    if access.is_empty() || access.denied_within::<resource::Definition>().contains(&workflow) {
        return Ok(page::empty());
    }
    let filter = RunFilter { workflow: Some(workflow), ..filter.clone() };
    in_one_order(db, tenant, &filter, access, page, from).await
}

/// A page of the runs of all workflows.
pub(crate) async fn all(
    db: &Db,
    tenant: TenantId,
    filter: &RunFilter,
    access: &InstanceFilter,
    page: &PageRequest,
) -> Result<Page<Run>, StoreError> {
    // All instances of a definition of the other kind would be looked through for none.
    let is_other = match filter.workflow {
        Some(workflow) => kind_of(db, tenant, workflow).await? != Some(access.kind()),
        None => false,
    };
    match filter.sort {
        RunSort::Newest | RunSort::Oldest => {
            let from: Option<Key> = page::position(page)?;
            if access.is_empty() || is_other {
                return Ok(page::empty());
            }
            in_one_order(db, tenant, filter, access, page, from).await
        }
        RunSort::Incidents => {
            let from: Option<PartKey> = page::position(page)?;
            if access.is_empty() || is_other {
                return Ok(page::empty());
            }
            in_two_parts(db, tenant, filter, access, page, from).await
        }
    }
}

/// Kind of a definition's instances; none where there is no such definition.
pub(crate) async fn kind_of(
    db: &Db,
    tenant: TenantId,
    definition: WorkflowId,
) -> Result<Option<DefinitionKind>, StoreError> {
    let kind: Option<DefinitionKindWord> = read!(db, |conn| {
        let of_it = workflows::table.find((Id::from(tenant), Id::from(definition)));
        Ok(of_it.select(workflows::kind).first(conn).await.optional()?)
    })?;
    Ok(kind.map(|kind| kind.0))
}

async fn in_one_order(
    db: &Db,
    tenant: TenantId,
    filter: &RunFilter,
    access: &InstanceFilter,
    page: &PageRequest,
    from: Option<Key>,
) -> Result<Page<Run>, StoreError> {
    let wanted = page.limit as usize + 1;
    let Gathered { runs, cut } = gathered(db, tenant, filter, access, from, wanted).await?;
    match cut {
        // Cut by its bytes: the next page goes on behind what was read, whether it was wanted or not.
        Some(place) => Ok(Page { items: runs, next: Some(Cursor::after(&place)) }),
        None => Ok(Page::from_surplus(runs, page.limit, key)),
    }
}

/// The list that has those with an incident first: two parts, each read by an index in its own order.
async fn in_two_parts(
    db: &Db,
    tenant: TenantId,
    filter: &RunFilter,
    access: &InstanceFilter,
    page: &PageRequest,
    from: Option<PartKey>,
) -> Result<Page<Run>, StoreError> {
    let wanted = page.limit as usize + 1;
    let mut found = Vec::new();
    for part in [true, false] {
        let is_behind = from.is_some_and(|(at, ..)| part && !at);
        if is_behind || filter.has_incident.is_some_and(|asked| asked != part) {
            continue;
        }
        let behind = from.filter(|(at, ..)| *at == part).map(|(_, micros, id)| (micros, id));
        let filter = RunFilter { has_incident: Some(part), ..filter.clone() };
        let left = wanted.saturating_sub(found.len());
        let Gathered { runs, cut } = gathered(db, tenant, &filter, access, behind, left).await?;
        // A run stands in the part in which it was found, whatever has come of it since.
        found.extend(runs.into_iter().map(|run| (part, run)));
        if let Some((micros, id)) = cut {
            let items = found.into_iter().map(|(_, run)| run).collect();
            return Ok(Page { items, next: Some(Cursor::after(&(part, micros, id))) });
        }
        if found.len() >= wanted {
            break;
        }
    }
    let place = |(part, run): &(bool, Run)| (*part, run.created_at.micros(), run.id);
    let Page { items, next } = Page::from_surplus(found, page.limit, place);
    Ok(Page { items: items.into_iter().map(|(_, run)| run).collect(), next })
}

/// Fewest runs of which the states are read for those that stand at a node.
const LOOKED_AT: i64 = 25;

/// So many runs behind a place, or all that are there.
async fn gathered(
    db: &Db,
    tenant: TenantId,
    filter: &RunFilter,
    access: &InstanceFilter,
    mut from: Option<Key>,
    wanted: usize,
) -> Result<Gathered, StoreError> {
    // The state says at which nodes a run stands, and only the engine reads it: such a list reads on until
    // its page is full, by the more the fewer it finds.
    let most = i64::from(MAX_LIMIT);
    let asked = i64::try_from(wanted).unwrap_or(i64::MAX);
    let mut limit = match filter.node_id {
        Some(_) => (2 * asked).clamp(LOOKED_AT, most),
        None => asked,
    };
    let (mut found, mut bytes) = (Vec::new(), PAGE_BYTES);
    loop {
        let read = chunk_of(db, tenant, filter, access, Chunk { from, limit, bytes }).await?;
        from = read.runs.last().map(key).or(from);
        bytes -= read.bytes;
        found.extend(read.runs.into_iter().filter(|run| stands_at(run, filter.node_id.as_deref())));
        if found.len() >= wanted || read.last {
            found.truncate(wanted);
            return Ok(Gathered { runs: found, cut: None });
        }
        if bytes <= 0 || filter.node_id.is_none() {
            return Ok(Gathered { runs: found, cut: from });
        }
        limit = (4 * limit).min(most);
    }
}

fn stands_at(run: &Run, node: Option<&str>) -> bool {
    node.is_none_or(|node| run.snapshot.stands_at(node))
}

/// Narrows a boxed query of runs to a filter, but for the node, which the state alone tells: `narrow!(query, filter)`.
macro_rules! narrow {
    ($query:ident, $filter:ident) => {
        if let Some(workflow) = $filter.workflow {
            $query = $query.filter(runs::workflow_id.eq(Id::from(workflow)));
        }
        if let Some(state) = $filter.state {
            $query = $query.filter(runs::state.eq(RunStateWord(state)));
        }
        match $filter.has_incident {
            // Not compared with a value: the index of those with an incident is known by the bare column.
            Some(true) => $query = $query.filter(runs::has_incident),
            Some(false) => $query = $query.filter(not(runs::has_incident)),
            None => {}
        }
        if let Some(version) = $filter.version {
            $query = $query.filter(runs::version.eq(version));
        }
        if let Some(correlation_key) = &$filter.correlation_key {
            $query = $query.filter(runs::correlation_key.eq(correlation_key));
        }
        if let Some(business_key) = &$filter.business_key {
            $query = $query.filter(runs::business_key.eq(business_key));
        }
        if let Some(user) = $filter.started_by {
            $query = $query.filter(runs::created_by.eq(Id::from(user)));
        }
        if let Some(from) = $filter.from {
            $query = $query.filter(runs::created_at.ge(At(from)));
        }
        if let Some(to) = $filter.to {
            $query = $query.filter(runs::created_at.lt(At(to)));
        }
        if let Some(before) = $filter.waiting_before {
            // Who waits since then is waiting and was begun before: the index of the state goes on from there.
            $query = $query
                .filter(runs::state.eq(RunStateWord(RunState::Waiting)))
                .filter(runs::created_at.lt(At(before)))
                .filter(runs::waiting_since.lt(At(before)));
        }
        if $filter.node_id.is_some() {
            $query = $query.filter(runs::ended_at.is_null());
        }
    };
}

/// The first runs of a version that are wanted in another way, too, with their places: `met!(conn, of, filter, access, from,
/// limit)`.
macro_rules! met {
    ($conn:ident, $of:ident, $filter:ident, $access:ident, $from:ident, $limit:expr) => {{
        let rest = RunFilter { version: None, ..$filter.clone() };
        let rest = &rest;
        let (mut places, mut behind, mut step): (Vec<(Id, At)>, Option<(At, Id)>, i64) =
            (Vec::new(), $from, $limit);
        loop {
            // Where the version goes on: nothing before it is wanted.
            let mut ahead = $of.limit(1).select((runs::created_at, runs::id)).into_boxed();
            if let Some(workflow) = rest.workflow {
                ahead = ahead.filter(runs::workflow_id.eq(Id::from(workflow)));
            }
            if let Some(version) = $filter.version {
                ahead = ahead.filter(runs::version.eq(version));
            }
            let ahead = keyset!(ahead, (runs::created_at, runs::id), behind, descending);
            let Some((at, id)) = ahead.first::<(At, Id)>($conn).await.optional()? else { break };
            let mut query = $of.limit(step).select((runs::id, runs::created_at, runs::version)).into_boxed();
            narrow!(query, rest);
            let query = query.filter(kind_apart().eq($access.kind().as_str()));
            let query = within!(query, $access.filter(), runs::id, runs::workflow_id);
            let query = query
                .filter(runs::created_at.le(at))
                .filter(runs::created_at.lt(at).or(runs::created_at.eq(at).and(runs::id.le(id))))
                .order((runs::created_at.desc(), runs::id.desc()));
            let seen: Vec<(Id, At, i32)> = query.load($conn).await?;
            let is_last = i64::try_from(seen.len()).is_ok_and(|seen| seen < step);
            behind = seen.last().map(|(id, at, _)| (*at, *id));
            let of_version = seen.into_iter().filter(|(_, _, version)| Some(*version) == $filter.version);
            places.extend(of_version.map(|(id, at, _)| (id, at)));
            if is_last || i64::try_from(places.len()).is_ok_and(|found| found >= $limit) {
                break;
            }
            step = (2 * step).min(STEP);
        }
        places
    }};
}

/// The kind of an instance, said such that no index of it is taken.
fn kind_apart() -> SqlLiteral<Text> {
    diesel::dsl::sql("runs.kind || ''")
}

/// Most runs that one step of the meeting of two orders reads.
const STEP: i64 = 1_000;

/// Whether runs of a version are wanted that are few in another way, too. No index has both: each of them is in the order
/// of the list, and where they meet is found by steps along the one that begin where the other goes on.
fn meets(filter: &RunFilter) -> bool {
    let newest_first = match filter.sort {
        RunSort::Newest | RunSort::Incidents => true,
        RunSort::Oldest => false,
    };
    let narrowed =
        filter.state.is_some() || filter.has_incident == Some(true) || filter.waiting_before.is_some();
    newest_first && filter.workflow.is_some() && filter.version.is_some() && narrowed
}

/// Whether the ids of a part are found by a statement that is kept. PostgreSQL plans the one query anew for each call, which
/// takes it longer than to read the rows by two that are kept; but for the filters of which the values tell the index: nearly
/// all runs are of a version, or nearly none, and of a workflow or of a starter there may be fewer.
fn is_kept(db: &Db, wanted: &own::Wanted<'_>) -> bool {
    // Each by its name, so that a new one is thought of here.
    let RunFilter {
        workflow,
        started_by,
        business_key,
        correlation_key,
        version,
        waiting_before,
        state: _,
        has_incident: _,
        node_id: _,
        from: _,
        to: _,
        sort: _,
    } = wanted.filter;
    let indexes =
        [workflow.is_some(), started_by.is_some(), business_key.is_some(), correlation_key.is_some()];
    let is_plain = version.is_none()
        && waiting_before.is_none()
        && indexes.into_iter().filter(|is_asked| *is_asked).count() <= 1;
    db.postgres().is_some() && is_plain && wanted.is_kept()
}

async fn chunk_of(
    db: &Db,
    tenant: TenantId,
    filter: &RunFilter,
    access: &InstanceFilter,
    chunk: Chunk,
) -> Result<Read, StoreError> {
    let from = chunk.from.map(|(micros, id)| (At(Timestamp::from_micros(micros)), Id::from(id)));
    let wanted = own::Wanted { tenant, filter, access, from, limit: chunk.limit, merging: Merging::of(db) };
    let ids_first = access.person().is_some() || is_kept(db, &wanted);
    read!(db, |conn| {
        let small = case_when(octet_length(runs::snapshot).le(SMALL), runs::snapshot);
        let of = runs::table.filter(runs::organization_id.eq(Id::from(tenant)));
        let mut all_found = true;
        // Where somebody's own runs are told apart, two orders meet, or the statement is kept, the ids of the chunk are
        // found first.
        let found: Option<Vec<(Id, At)>> = if ids_first {
            let mut places: Vec<(Id, At)> = Vec::new();
            for statement in wanted.statements() {
                let found: Vec<(Id, At)> = statement.load(conn).await?;
                places.extend(found);
            }
            Some(places)
        } else if meets(filter) {
            Some(met!(conn, of, filter, access, from, chunk.limit))
        } else {
            None
        };
        let rows: Vec<ListRow> = if let Some(places) = found {
            let ids = wanted.foremost(places);
            all_found = i64::try_from(ids.len()).is_ok_and(|found| found < chunk.limit);
            let of_ids = of.filter(runs::id.eq_any(&ids));
            let rows: Vec<ListRow> =
                of_ids.select((RunHead::as_select(), octet_length(runs::snapshot), small)).load(conn).await?;
            own::Wanted::in_order(rows, &ids)
        } else {
            let mut query = of
                .limit(chunk.limit)
                .select((RunHead::as_select(), octet_length(runs::snapshot), small))
                .into_boxed();
            narrow!(query, filter);
            query = if own::is_by_definition(filter) {
                query.filter(kind_apart().eq(access.kind().as_str()))
            } else {
                query.filter(runs::kind.eq(DefinitionKindWord(access.kind())))
            };
            let query = within!(query, access.filter(), runs::id, runs::workflow_id);
            let query = match filter.sort {
                RunSort::Newest | RunSort::Incidents => {
                    keyset!(query, (runs::created_at, runs::id), from, descending)
                }
                RunSort::Oldest => keyset!(query, (runs::created_at, runs::id), from, ascending),
            };
            query.load(conn).await?
        };
        let read = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let rows = within_bytes(rows, chunk.bytes);
        let complete =
            all_found && read < chunk.limit && read == i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let large = rows.iter().filter(|(_, _, small)| small.is_none());
        let large: Vec<Id> = large.map(|(head, ..)| head.id).collect();
        let mut states: HashMap<Id, (RunHead, Vec<u8>)> = HashMap::new();
        if !large.is_empty() {
            let large: Vec<(RunHead, Vec<u8>)> = runs::table
                .filter(runs::organization_id.eq(Id::from(tenant)))
                .filter(runs::id.eq_any(large))
                .select((RunHead::as_select(), runs::snapshot))
                .load(conn)
                .await?;
            states.extend(large.into_iter().map(|row| (row.0.id, row)));
        }
        unpacked(rows, states, chunk.bytes, complete)
    })
}

/// The runs of rows, as far as their states have room in so many bytes when they are unpacked.
fn unpacked(
    rows: Vec<ListRow>,
    mut states: HashMap<Id, (RunHead, Vec<u8>)>,
    room: i64,
    complete: bool,
) -> Result<Read, Error> {
    let (mut found, mut bytes) = (Vec::with_capacity(rows.len()), 0);
    for (head, _, small) in rows {
        let stored = match small {
            Some(state) => Some((head, state)),
            None => states.remove(&head.id),
        };
        // Removed in between, if it is not there.
        let Some((head, state)) = stored else { continue };
        let (run, unpacked) = head.record(&state)?;
        bytes += unpacked;
        if bytes > room && !found.is_empty() {
            return Ok(Read { runs: found, bytes, last: false });
        }
        found.push(run);
    }
    Ok(Read { runs: found, bytes, last: complete })
}

/// The first of the rows, whose states have room in so many bytes as they are stored.
fn within_bytes(mut rows: Vec<ListRow>, room: i64) -> Vec<ListRow> {
    let mut bytes = 0;
    let mut count = 0;
    for (_, state, _) in &rows {
        bytes += i64::from(*state);
        if bytes > room && count > 0 {
            break;
        }
        count += 1;
    }
    rows.truncate(count);
    rows
}
