//! Jobs: lists, servers, cancelling.

use std::time::Duration;

use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{FileId, IngestionJobId, Page, PageRequest, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_store::filter::Names;
use heddle_store::{At, Db, Id, StoreError, document, journal, keyset, lock, page, read, within, write_tx};
use heddle_usecase::Journal;
use heddle_vectors::ports::JobFilter;
use heddle_vectors::records::{DatabaseState, Job, JobServer, ServerState};

use crate::ending::{JobEnd, give_up, settle_generation, stop_job};
use crate::key::DatabaseKey;
use crate::schema::{JobRow, ServerRow, vector_builds, vector_job_servers, vector_jobs};
use crate::words::{JobKindWord, JobWord};
use crate::{lock_name, writing};

impl Names<resource::IngestionJob> for vector_jobs::id {}

/// Time without a word after which a server that works counts as lost.
const LOST: Duration = Duration::from_mins(5);
/// Files that are asked for at once.
const AT_ONCE: usize = 500;

pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    filter: &JobFilter,
    access: &AccessFilter<resource::IngestionJob>,
    page: &PageRequest,
) -> Result<Page<Job>, StoreError> {
    let from = page::position_in_time(page)?;
    if access.is_empty() || access.denies_all_within::<resource::VectorDatabase>() {
        return Ok(page::empty());
    }
    let denied = access.denied_within::<resource::VectorDatabase>();
    let denied: Vec<String> = denied.iter().map(ToString::to_string).collect();
    let items = read!(db, |conn| {
        let mut query = vector_jobs::table
            .filter(vector_jobs::organization_id.eq(Id::from(tenant)))
            .limit(page::surplus(page))
            .select(JobRow::as_select())
            .into_boxed();
        if let Some(name) = &filter.database {
            query = query.filter(vector_jobs::database_name.eq(name.as_str()));
        }
        if let Some(state) = filter.state {
            query = query.filter(vector_jobs::state.eq(JobWord(state)));
        }
        if let Some(kind) = filter.kind {
            query = query.filter(vector_jobs::kind.eq(JobKindWord(kind)));
        }
        if let Some(since) = filter.since {
            query = query.filter(vector_jobs::created_at.ge(At(since)));
        }
        if !denied.is_empty() {
            query = query.filter(vector_jobs::database_name.ne_all(&denied));
        }
        let query = within!(query, access, vector_jobs::id);
        let query = keyset!(query, (vector_jobs::created_at, vector_jobs::id), from, descending);
        let rows: Vec<JobRow> = query.load(conn).await?;
        rows.into_iter().map(Job::try_from).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Page::from_surplus(items, page.limit, |job: &Job| (job.created_at.micros(), job.id)))
}

pub(crate) async fn one(db: &Db, tenant: TenantId, job: IngestionJobId) -> Result<Job, StoreError> {
    read!(db, |conn| writing::job(conn, tenant.into(), job.into()).await?.try_into())
}

pub(crate) async fn has(
    db: &Db,
    tenant: TenantId,
    job: IngestionJobId,
    files: &[FileId],
) -> Result<bool, StoreError> {
    for part in files.chunks(AT_ONCE) {
        let ids: Vec<Id> = part.iter().copied().map(Id::from).collect();
        let found: Vec<Id> = read!(db, |conn| {
            Ok(vector_builds::table
                .filter(vector_builds::organization_id.eq(Id::from(tenant)))
                .filter(vector_builds::job_id.eq(Id::from(job)))
                .filter(vector_builds::file_id.eq_any(&ids))
                .select(vector_builds::id)
                .limit(1)
                .load(conn)
                .await?)
        })?;
        if !found.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) async fn servers(
    db: &Db,
    tenant: TenantId,
    job: IngestionJobId,
    now: Timestamp,
) -> Result<Vec<JobServer>, StoreError> {
    let (tenant, job) = (Id::from(tenant), Id::from(job));
    read!(db, |conn| {
        let row = writing::job(conn, tenant, job).await?;
        let rows: Vec<ServerRow> = vector_job_servers::table
            .filter(vector_job_servers::organization_id.eq(tenant))
            .filter(vector_job_servers::job_id.eq(job))
            .order(vector_job_servers::node)
            .select(ServerRow::as_select())
            .load(conn)
            .await?;
        let mut all = Vec::with_capacity(rows.len());
        for one in rows {
            let heard = Timestamp::from(one.heartbeat_at);
            let state = match one.current_file {
                Some(_) if row.state.0.is_over() => ServerState::Finished,
                Some(_) if now.duration_since(heard) > LOST => ServerState::Lost,
                Some(_) => ServerState::Active,
                None => ServerState::Finished,
            };
            all.push(JobServer {
                server: one.node.into(),
                host_name: one.host_name,
                version: one.version,
                state,
                stages: document::decode(&one.stages)?,
                files_claimed: one.claimed.unsigned_abs(),
                files_completed: one.completed.unsigned_abs(),
                files_failed: one.failed.unsigned_abs(),
                passages_written: one.passages.unsigned_abs(),
                first_seen_at: one.first_seen_at.into(),
                last_heartbeat_at: heard,
                current_file: one.current_file.map(Into::into),
            });
        }
        Ok(all)
    })
}

pub(crate) async fn cancel(
    db: &Db,
    tenant: TenantId,
    job: IngestionJobId,
    unit: &Journal,
) -> Result<Job, StoreError> {
    let at = journal::time_of(unit).unwrap_or_default();
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let row = writing::job(conn, tenant.into(), job.into()).await?;
        if row.state.0.is_over() {
            return Job::try_from(row);
        }
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        let database = writing::database(conn, of).await?;
        stop_job(conn, &row, &database, JobEnd::CANCELLED, at).await?;
        match database.next()?.filter(|next| next.job == job) {
            Some(next) => give_up(conn, &database, &next, DatabaseState::Ready, at).await?,
            // The generation that is built may have waited for what is cancelled.
            None => settle_generation(conn, of, at).await?,
        }
        journal::write(conn, unit).await?;
        writing::job(conn, of.tenant, row.id).await?.try_into()
    })
}
