//! Jobs: lists, servers, cancelling.

use std::time::Duration;

use diesel::{
    BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper, update,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{FileId, IngestionJobId, Page, PageRequest, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_store::filter::Names;
use heddle_store::{At, Db, Id, StoreError, document, journal, keyset, lock, page, read, within, write_tx};
use heddle_usecase::Journal;
use heddle_vectors::ports::JobFilter;
use heddle_vectors::records::{
    BuildState, DatabaseState, FileError, FileFault, FileState, Job, JobServer, JobState, NextGeneration,
    ServerState, Stage,
};

use crate::counts::Leftover;
use crate::databases::OPEN_BUILDS;
use crate::ending::give_up;
use crate::key::DatabaseKey;
use crate::schema::{
    BuildRow, JobRow, ServerRow, vector_builds, vector_job_servers, vector_jobs, vector_live,
};
use crate::words::{BuildWord, JobKindWord, JobWord, StageWord};
use crate::writing::{self, set_file};
use crate::{counts, lock_name, stored};

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
    let told = FileError {
        code: FileFault::Cancelled,
        message: "The job was cancelled.".to_owned(),
        retryable: true,
    };
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let row = writing::job(conn, tenant.into(), job.into()).await?;
        if row.state.0.is_over() {
            return Job::try_from(row);
        }
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        let open = vector_builds::table
            .filter(vector_builds::organization_id.eq(of.tenant).and(vector_builds::job_id.eq(row.id)))
            .filter(vector_builds::state.eq_any(OPEN_BUILDS));
        let builds: Vec<BuildRow> = open.clone().select(BuildRow::as_select()).load(conn).await?;
        for build in &builds {
            if let Some(written) = build.written() {
                counts::leave(conn, of, Leftover::Passages(written)).await?;
            }
            let file = writing::file(conn, of, build.file_id).await?;
            let Some(file) = file.filter(|file| file.build_id == build.id) else { continue };
            // What could be found before still can.
            let live: Option<Id> = vector_live::table
                .find((of.tenant, of.database, build.generation, build.file_id))
                .select(vector_live::build_id)
                .first(conn)
                .await
                .optional()?;
            let (state, stage) = match live {
                Some(_) => (FileState::Ready, Stage::Ready),
                None => (FileState::Cancelled, Stage::Cancelled),
            };
            set_file(conn, &file, state, stage, Some(&told)).await?;
        }
        update(open)
            .set((
                vector_builds::state.eq(BuildWord(BuildState::Cancelled)),
                vector_builds::stage.eq(StageWord(Stage::Cancelled)),
                vector_builds::finished_at.eq(Some(At(at))),
            ))
            .execute(conn)
            .await?;
        let count = stored(builds.len() as u64);
        counts::used(conn, of.tenant, counts::Used { waiting: -count, ..counts::Used::default() }).await?;
        update(vector_jobs::table.find((of.tenant, row.id)))
            .set((
                vector_jobs::state.eq(JobWord(JobState::Cancelled)),
                vector_jobs::stage.eq(StageWord(Stage::Cancelled)),
                vector_jobs::cancelled.eq(vector_jobs::cancelled + count),
                vector_jobs::queued.eq(0_i64),
                vector_jobs::running.eq(0_i64),
                vector_jobs::finished_at.eq(Some(At(at))),
            ))
            .execute(conn)
            .await?;
        let database = writing::database(conn, of).await?;
        let next: Option<NextGeneration> =
            database.next_recipe.as_deref().map(document::decode).transpose()?;
        if let Some(next) = next.filter(|next| next.job == job) {
            give_up(conn, of, DatabaseState::Ready).await?;
            counts::leave(conn, of, Leftover::Generation(next.generation)).await?;
        }
        journal::write(conn, unit).await?;
        writing::job(conn, of.tenant, row.id).await?.try_into()
    })
}
