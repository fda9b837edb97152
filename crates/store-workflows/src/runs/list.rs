//! Pages of runs.

use crate::schema::{runs, workflows};
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{MAX_LIMIT, Page, PageRequest, RunId, TenantId, Timestamp, WorkflowId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{At, Db, Id, keyset, page, read, within};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{RunFilter, RunSort};
use heddle_workflows::records::Run;

use crate::schema::RunDbRow;
use crate::words::RunStateWord;

/// The place of a run in the list: its creation in microseconds, then its id.
type Key = (i64, RunId);

/// Chunk of the list that one query reads: so many runs, behind the one at which it begins.
#[derive(Clone, Copy)]
struct Chunk {
    from: Option<Key>,
    limit: i64,
}

const fn key(run: &Run) -> Key {
    (run.created_at.micros(), run.id)
}

/// A page of a workflow's runs.
pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    workflow: WorkflowId,
    filter: &RunFilter,
    access: &AccessFilter<resource::Run>,
    page: &PageRequest,
) -> Result<Page<Run>, StoreError> {
    let mut from: Option<Key> = page::position(page)?;
    read!(db, |conn| {
        Ok(workflows::table
            .find((Id::from(tenant), Id::from(workflow)))
            .select(workflows::id)
            .first::<Id>(conn)
            .await?)
    })?;
    let nothing = access.is_empty() || access.denied_within::<resource::Workflow>().contains(&workflow);
    let wanted = page.limit as usize + 1;
    // The state says at which nodes a run stands, and only the engine reads it: such a list reads on until
    // its page is full.
    let limit = if filter.node_id.is_some() { i64::from(MAX_LIMIT) } else { page::surplus(page) };
    let mut found = Vec::new();
    while !nothing && found.len() < wanted {
        let read = chunk_of(db, tenant, workflow, filter, access, Chunk { from, limit }).await?;
        let last = i64::try_from(read.len()).unwrap_or(i64::MAX) < limit;
        from = read.last().map(key).or(from);
        found.extend(read.into_iter().filter(|run| stands_at(run, filter.node_id.as_deref())));
        if last || filter.node_id.is_none() {
            break;
        }
    }
    found.truncate(wanted);
    Ok(Page::from_surplus(found, page.limit, key))
}

fn stands_at(run: &Run, node: Option<&str>) -> bool {
    node.is_none_or(|node| run.snapshot.active_nodes().iter().any(|active| &*active.node_id == node))
}

async fn chunk_of(
    db: &Db,
    tenant: TenantId,
    workflow: WorkflowId,
    filter: &RunFilter,
    access: &AccessFilter<resource::Run>,
    chunk: Chunk,
) -> Result<Vec<Run>, StoreError> {
    read!(db, |conn| {
        let mut query = runs::table
            .filter(runs::organization_id.eq(Id::from(tenant)))
            .filter(runs::workflow_id.eq(Id::from(workflow)))
            .limit(chunk.limit)
            .select(RunDbRow::as_select())
            .into_boxed();
        if let Some(state) = filter.state {
            query = query.filter(runs::state.eq(RunStateWord(state)));
        }
        if let Some(has_incident) = filter.has_incident {
            query = query.filter(runs::has_incident.eq(has_incident));
        }
        if let Some(version) = filter.version {
            query = query.filter(runs::version.eq(version));
        }
        if let Some(correlation_key) = &filter.correlation_key {
            query = query.filter(runs::correlation_key.eq(correlation_key));
        }
        if let Some(before) = filter.waiting_before {
            query = query.filter(runs::waiting_since.lt(At(before)));
        }
        if filter.node_id.is_some() {
            query = query.filter(runs::ended_at.is_null());
        }
        let query = within!(query, access, runs::id);
        let from = chunk.from.map(|(micros, id)| (At(Timestamp::from_micros(micros)), Id::from(id)));
        let query = match filter.sort {
            RunSort::Newest => keyset!(query, (runs::created_at, runs::id), from, descending),
            RunSort::Oldest => keyset!(query, (runs::created_at, runs::id), from, ascending),
        };
        let rows: Vec<RunDbRow> = query.load(conn).await?;
        rows.into_iter().map(RunDbRow::record).collect()
    })
}
