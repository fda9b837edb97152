//! Ends of builds and jobs, and the change of generations.

use diesel::dsl::{exists, not};
use diesel::sql_types::BigInt;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper, insert_into,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::{
    AsConn, At, Conn, Db, DbInstant, DbUuid, Error, Id, StoreError, document, lock, on_conn, update, write_tx,
};
use heddle_vectors::ports::BuildEnd;
use heddle_vectors::records::{
    Build, BuildState, DatabaseState, FileError, FileFault, FileState, JobKind, JobState, NextGeneration,
    PassageRange, Recipe, Stage,
};

use crate::counts::{self, Leftover, Used};
use crate::databases::OPEN_BUILDS;
use crate::key::DatabaseKey;
use crate::lock_name;
use crate::schema::{
    BuildRow, DatabaseRow, FileRow, JobRow, LiveRow, vector_builds, vector_databases, vector_files,
    vector_job_servers, vector_jobs, vector_live,
};
use crate::words::{BuildWord, JobWord, StageWord, StateWord};
use crate::writing::{self, close_build, open_build, set_file, unlive};

pub(crate) async fn end(
    db: &Db,
    build: &Build,
    end: &BuildEnd,
    node: uuid::Uuid,
    now: Timestamp,
) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(build.tenant)).await?;
        let row = open_build(conn, build).await?;
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        let database = writing::database(conn, of).await?;
        if !database.has(row.generation) {
            abandon(conn, &row, &database, now).await?;
            return settle_job(conn, of, row.job_id, now).await;
        }
        match end {
            BuildEnd::Ready => ready(conn, &row, &database, now).await?,
            BuildEnd::Failed(error) => failed(conn, &row, error, now).await?,
        }
        left_by(conn, &row, node.into(), matches!(end, BuildEnd::Ready), now).await?;
        settle_job(conn, of, row.job_id, now).await
    })
}

/// Removes a server's mark of what it works on, and counts how a build ended there.
async fn left_by<C: AsConn>(
    conn: &mut C,
    row: &BuildRow,
    node: Id,
    is_ready: bool,
    now: Timestamp,
) -> Result<(), Error> {
    let (ready, failed) = (i64::from(is_ready), i64::from(!is_ready));
    on_conn!(conn, |conn| {
        update(vector_job_servers::table.find((row.organization_id, row.job_id, node)))
            .set((
                vector_job_servers::completed.eq(vector_job_servers::completed + ready),
                vector_job_servers::failed.eq(vector_job_servers::failed + failed),
                vector_job_servers::heartbeat_at.eq(At(now)),
                vector_job_servers::current_file.eq(None::<Id>),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Makes the passages of a build findable, in place of those of the build before.
async fn ready<C: AsConn>(
    conn: &mut C,
    row: &BuildRow,
    database: &DatabaseRow,
    now: Timestamp,
) -> Result<(), Error> {
    let of = DatabaseKey::of(row.organization_id, row.database_id);
    let Some(range) = row.passages().filter(|range| range.len() == row.done.unsigned_abs()) else {
        return Err(StoreError::Stale.into());
    };
    let Some(file) = writing::file(conn, of, row.file_id).await? else {
        return Err(StoreError::NotFound.into());
    };
    let before = replaced(conn, row).await?;
    let live = LiveRow {
        organization_id: of.tenant,
        database_id: of.database,
        generation: row.generation,
        file_id: row.file_id,
        build_id: row.id,
        first_passage: crate::stored(range.first),
        end_passage: crate::stored(range.end),
        bytes: row.bytes,
        enabled: file.enabled,
    };
    on_conn!(conn, |conn| {
        insert_into(vector_live::table).values(&live).execute(conn).await?;
    });
    let removed = before.as_ref().filter(|live| live.enabled).map(of_live);
    let added = file.enabled.then_some(range);
    counts::changed(conn, of, row.generation, removed, added).await?;
    close_build(conn, row, BuildState::Ready, Stage::Ready, None, now).await?;
    job_moved(conn, row, BuildState::Ready, None).await?;
    let (passages, bytes) =
        before.as_ref().map_or((0, 0), |live| (live.end_passage - live.first_passage, live.bytes));
    if row.generation == database.generation {
        let more = Findable { passages: row.done - passages, bytes: row.bytes - bytes };
        serves(conn, of, more, now).await?;
        on_conn!(conn, |conn| {
            update(vector_files::table.find((of.tenant, of.database, row.file_id)))
                .set((
                    vector_files::passages.eq(row.done),
                    vector_files::warnings.eq(row.warnings.as_deref()),
                    vector_files::indexed_at.eq(Some(At(now))),
                ))
                .execute(conn)
                .await?;
        });
        if let Some(next) = database.next()? {
            follow(conn, &file, &next, now).await?;
        }
    } else {
        let more = row.done - passages;
        on_conn!(conn, |conn| {
            update(vector_databases::table.find(of.pair()))
                .set(vector_databases::next_passages.eq(vector_databases::next_passages + more))
                .execute(conn)
                .await?;
        });
    }
    if file.build_id == row.id {
        set_file(conn, &file, FileState::Ready, Stage::Ready, None).await?;
    }
    Ok(())
}

/// Has a file that can be found by now made for the generation that is built, where nothing has been begun for it there: it
/// came when the files of that generation were gathered already.
async fn follow<C: AsConn>(
    conn: &mut C,
    file: &FileRow,
    next: &NextGeneration,
    now: Timestamp,
) -> Result<(), Error> {
    let of = DatabaseKey::of(file.organization_id, file.database_id);
    let job = writing::job(conn, of.tenant, next.job.into()).await?;
    let there = vector_builds::table
        .filter(vector_builds::organization_id.eq(of.tenant))
        .filter(vector_builds::database_id.eq(of.database))
        .filter(vector_builds::file_id.eq(file.id))
        .filter(vector_builds::generation.eq(next.generation))
        .limit(1)
        .select(vector_builds::id);
    let there: Option<Id> = on_conn!(conn, |conn| there.first(conn).await.optional()?);
    if there.is_some() || job.state.0.is_over() {
        return Ok(());
    }
    let build = BuildRow::queued(&job, file.id, next.generation, Id(counts::random_id()), now);
    writing::add_builds(conn, of.tenant.into(), &[build], now).await?;
    writing::job_grows(conn, &job, 1, file.bytes).await
}

/// Ranges of a live file.
pub(crate) fn of_live(row: &LiveRow) -> PassageRange {
    PassageRange { first: row.first_passage.unsigned_abs(), end: row.end_passage.unsigned_abs() }
}

/// Takes what can be found of a file in a build's generation, and leaves its rows to the background.
async fn replaced<C: AsConn>(conn: &mut C, row: &BuildRow) -> Result<Option<LiveRow>, Error> {
    let of = DatabaseKey::of(row.organization_id, row.database_id);
    let found = vector_live::table.find((of.tenant, of.database, row.generation, row.file_id));
    let found: Option<LiveRow> =
        on_conn!(conn, |conn| found.select(LiveRow::as_select()).first(conn).await.optional()?);
    if let Some(live) = &found {
        unlive(conn, live).await?;
        counts::leave(conn, of, Leftover::Passages(of_live(live))).await?;
    }
    Ok(found)
}

/// Change of what can be found in a database: more where positive, less where negative.
#[derive(Debug, Clone, Copy)]
struct Findable {
    passages: i64,
    /// Bytes of texts and vectors of the passages.
    bytes: i64,
}

/// Counts passages and bytes of a database's generation that serves.
async fn serves<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    more: Findable,
    now: Timestamp,
) -> Result<(), Error> {
    let Findable { passages, bytes } = more;
    on_conn!(conn, |conn| {
        update(vector_databases::table.find(of.pair()))
            .set((
                vector_databases::passages.eq(vector_databases::passages + passages),
                vector_databases::index_bytes.eq(vector_databases::index_bytes + bytes),
                vector_databases::last_ingested_at.eq(Some(At(now))),
            ))
            .execute(conn)
            .await?;
    });
    counts::used(conn, of.tenant, Used { passages, ..Used::default() }).await
}

/// Ends a build as failed, and with it the file that waits for it.
pub(crate) async fn failed<C: AsConn>(
    conn: &mut C,
    row: &BuildRow,
    error: &FileError,
    now: Timestamp,
) -> Result<(), Error> {
    let of = DatabaseKey::of(row.organization_id, row.database_id);
    close_build(conn, row, BuildState::Failed, Stage::Failed, Some(error), now).await?;
    job_moved(conn, row, BuildState::Failed, Some(error)).await?;
    match writing::file(conn, of, row.file_id).await? {
        Some(file) if file.build_id == row.id => {
            set_file(conn, &file, FileState::Failed, Stage::Failed, Some(error)).await
        }
        Some(_) | None => Ok(()),
    }
}

/// Counts a build in its job that went from where it was to its end.
pub(crate) async fn job_moved<C: AsConn>(
    conn: &mut C,
    row: &BuildRow,
    to: BuildState,
    error: Option<&FileError>,
) -> Result<(), Error> {
    let is = |one: BuildState, which| i64::from(one == which);
    let from = row.state.0;
    let key = vector_jobs::table.find((row.organization_id, row.job_id));
    let error = error.map(document::encode).transpose()?;
    on_conn!(conn, |conn| {
        update(key)
            .set((
                vector_jobs::queued.eq(vector_jobs::queued - is(from, BuildState::Queued)),
                vector_jobs::running.eq(vector_jobs::running - is(from, BuildState::Running)),
                vector_jobs::ready.eq(vector_jobs::ready + is(to, BuildState::Ready)),
                vector_jobs::failed.eq(vector_jobs::failed + is(to, BuildState::Failed)),
                vector_jobs::cancelled.eq(vector_jobs::cancelled + is(to, BuildState::Cancelled)),
            ))
            .execute(conn)
            .await?;
        if error.is_some() {
            update(key).set(vector_jobs::error.eq(&error)).execute(conn).await?;
        }
    });
    Ok(())
}

/// Ends an open build whose passages nobody wants any more, with its part in its job. The file is as it was before, if it was
/// that build which the file waited for.
pub(crate) async fn abandon<C: AsConn>(
    conn: &mut C,
    row: &BuildRow,
    database: &DatabaseRow,
    now: Timestamp,
) -> Result<(), Error> {
    close_build(conn, row, BuildState::Cancelled, Stage::Cancelled, None, now).await?;
    job_moved(conn, row, BuildState::Cancelled, None).await?;
    as_before(conn, row, database).await
}

/// Puts the file of a build that was cancelled back: what could be found of it before still can.
async fn as_before<C: AsConn>(conn: &mut C, row: &BuildRow, database: &DatabaseRow) -> Result<(), Error> {
    let of = DatabaseKey::of(row.organization_id, row.database_id);
    let file = writing::file(conn, of, row.file_id).await?;
    let Some(file) = file.filter(|file| file.build_id == row.id) else { return Ok(()) };
    let live = vector_live::table.find((of.tenant, of.database, database.generation, row.file_id));
    let live = live.select(vector_live::build_id);
    let live: Option<Id> = on_conn!(conn, |conn| live.first(conn).await.optional()?);
    let (state, stage) = match live {
        Some(_) => (FileState::Ready, Stage::Ready),
        None => (FileState::Cancelled, Stage::Cancelled),
    };
    let told = FileError {
        code: FileFault::Cancelled,
        message: "The job was cancelled.".to_owned(),
        retryable: true,
    };
    set_file(conn, &file, state, stage, Some(&told)).await
}

/// End of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobEnd<'a> {
    pub(crate) state: JobState,
    pub(crate) stage: Stage,
    /// Error that becomes that of the job.
    pub(crate) error: Option<&'a FileError>,
}

impl JobEnd<'_> {
    /// Cancellation by somebody.
    pub(crate) const CANCELLED: Self =
        Self { state: JobState::Cancelled, stage: Stage::Cancelled, error: None };

    /// The end of a job by the ends of its builds.
    const fn of(job: &JobRow) -> Self {
        let (state, stage) = match (job.ready, job.failed, job.cancelled) {
            (_, 0, 0) => (JobState::Completed, Stage::Ready),
            (0, 0, _) => (JobState::Cancelled, Stage::Cancelled),
            (0, _, _) => (JobState::Failed, Stage::Failed),
            (_, _, _) => (JobState::CompletedWithErrors, Stage::Ready),
        };
        Self { state, stage, error: None }
    }
}

/// Cancels what is open of a job, and ends it. All its builds go at once: they may be very many.
pub(crate) async fn stop_job<C: AsConn>(
    conn: &mut C,
    job: &JobRow,
    database: &DatabaseRow,
    end: JobEnd<'_>,
    now: Timestamp,
) -> Result<(), Error> {
    let of = DatabaseKey::of(job.organization_id, job.database_id);
    let open = vector_builds::table
        .filter(vector_builds::organization_id.eq(of.tenant).and(vector_builds::job_id.eq(job.id)))
        .filter(vector_builds::state.eq_any(OPEN_BUILDS));
    let builds = open.clone();
    let builds: Vec<BuildRow> =
        on_conn!(conn, |conn| builds.select(BuildRow::as_select()).load(conn).await?);
    for build in &builds {
        if let Some(written) = build.written() {
            counts::leave(conn, of, Leftover::Passages(written)).await?;
        }
        // No file waits for a build of the generation that is built.
        if Some(build.generation) != database.next_generation {
            as_before(conn, build, database).await?;
        }
    }
    let count = crate::stored(builds.len() as u64);
    on_conn!(conn, |conn| {
        update(open)
            .set((
                vector_builds::state.eq(BuildWord(BuildState::Cancelled)),
                vector_builds::stage.eq(StageWord(Stage::Cancelled)),
                vector_builds::finished_at.eq(Some(At(now))),
            ))
            .execute(conn)
            .await?;
        let servers = vector_job_servers::table.filter(
            vector_job_servers::organization_id.eq(of.tenant).and(vector_job_servers::job_id.eq(job.id)),
        );
        update(servers).set(vector_job_servers::current_file.eq(None::<Id>)).execute(conn).await?;
        update(vector_jobs::table.find((of.tenant, job.id)))
            .set((
                vector_jobs::cancelled.eq(vector_jobs::cancelled + count),
                vector_jobs::queued.eq(0_i64),
                vector_jobs::running.eq(0_i64),
            ))
            .execute(conn)
            .await?;
    });
    counts::used(conn, of.tenant, Used { waiting: -count, ..Used::default() }).await?;
    close_job(conn, job, end, now).await
}

async fn close_job<C: AsConn>(
    conn: &mut C,
    job: &JobRow,
    end: JobEnd<'_>,
    now: Timestamp,
) -> Result<(), Error> {
    let key = vector_jobs::table.find((job.organization_id, job.id));
    let error = end.error.map(document::encode).transpose()?;
    on_conn!(conn, |conn| {
        update(key)
            .set((
                vector_jobs::state.eq(JobWord(end.state)),
                vector_jobs::stage.eq(StageWord(end.stage)),
                vector_jobs::finished_at.eq(Some(At(now))),
            ))
            .execute(conn)
            .await?;
        if error.is_some() {
            update(key).set(vector_jobs::error.eq(&error)).execute(conn).await?;
        }
    });
    Ok(())
}

/// Ends a job of which nothing is left to do, and lets the generation serve that is built, if it only waited for that.
pub(crate) async fn settle_job<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    job: Id,
    now: Timestamp,
) -> Result<(), Error> {
    end_job(conn, of, job, now).await?;
    settle_generation(conn, of, now).await
}

/// Ends a job of which nothing is left to do; that of a generation ends with it.
async fn end_job<C: AsConn>(conn: &mut C, of: DatabaseKey, job: Id, now: Timestamp) -> Result<(), Error> {
    let row = writing::job(conn, of.tenant, job).await?;
    if row.kind.0 == JobKind::Reindex || !row.is_done() || row.state.0.is_over() {
        return Ok(());
    }
    close_job(conn, &row, JobEnd::of(&row), now).await
}

/// Lets the generation that is built serve once it is complete, or gives it up when its job did not succeed. It waits for
/// what works on the one that serves as well: what becomes findable there must be made for the other before that serves.
pub(crate) async fn settle_generation<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    now: Timestamp,
) -> Result<(), Error> {
    let found = vector_databases::table.find(of.pair());
    let found: Option<DatabaseRow> =
        on_conn!(conn, |conn| found.select(DatabaseRow::as_select()).first(conn).await.optional()?);
    let Some(database) = found else { return Ok(()) };
    let Some(next) = database.next()? else { return Ok(()) };
    let job = writing::job(conn, of.tenant, next.job.into()).await?;
    if !job.is_done()
        || is_open(conn, of, next.generation).await?
        || is_open(conn, of, database.generation).await?
    {
        return Ok(());
    }
    let missing = missing(conn, of, &database, &next).await?;
    let left_out = FileError {
        code: FileFault::ParseFailed,
        message: format!("{missing} files have no passages in what was built."),
        retryable: true,
    };
    let end = match JobEnd::of(&job) {
        JobEnd { state: JobState::Completed, .. } if missing > 0 => {
            JobEnd { state: JobState::Failed, stage: Stage::Failed, error: Some(&left_out) }
        }
        end => end,
    };
    if !job.state.0.is_over() {
        close_job(conn, &job, end, now).await?;
    }
    match end.state {
        JobState::Completed => serve(conn, &database, &next, now).await,
        JobState::Cancelled => give_up(conn, &database, &next, DatabaseState::Ready, now).await,
        JobState::CompletedWithErrors
        | JobState::Failed
        | JobState::Queued
        | JobState::Running
        | JobState::Cancelling => give_up(conn, &database, &next, DatabaseState::Degraded, now).await,
    }
}

/// Lets the generation that is built serve, in place of the one before.
async fn serve<C: AsConn>(
    conn: &mut C,
    database: &DatabaseRow,
    next: &NextGeneration,
    now: Timestamp,
) -> Result<(), Error> {
    let of = DatabaseKey::of(database.organization_id, database.id);
    let has = in_generation(conn, of, next.generation).await?;
    let recipe = document::encode(&next.recipe)?;
    on_conn!(conn, |conn| {
        update(vector_databases::table.find(of.pair()))
            .set((
                vector_databases::state.eq(StateWord(DatabaseState::Ready)),
                vector_databases::generation.eq(next.generation),
                vector_databases::recipe.eq(recipe),
                vector_databases::next_recipe.eq(None::<Vec<u8>>),
                vector_databases::next_generation.eq(None::<i64>),
                vector_databases::next_passages.eq(0_i64),
                vector_databases::passages.eq(has.passages),
                vector_databases::index_bytes.eq(has.bytes),
            ))
            .execute(conn)
            .await?;
    });
    let more = Used { passages: has.passages - database.passages, ..Used::default() };
    counts::used(conn, of.tenant, more).await?;
    counts::changed(conn, of, next.generation, None, None).await?;
    point_files(conn, of, next.generation, now).await?;
    counts::recount(conn, of).await?;
    let before: Recipe = document::decode(&database.recipe)?;
    if before.chunking.id != next.recipe.chunking.id {
        drop_options(conn, of, &next.recipe.chunking.id).await?;
    }
    counts::leave(conn, of, Leftover::Generation(database.generation)).await
}

/// Drops the options that files have for another methodology than that of the generation that serves now.
async fn drop_options<C: AsConn>(conn: &mut C, of: DatabaseKey, methodology: &str) -> Result<(), Error> {
    let is_other = vector_files::options_methodology
        .is_null()
        .or(vector_files::options_methodology.ne(methodology.to_owned()));
    let others = vector_files::table
        .filter(vector_files::organization_id.eq(of.tenant))
        .filter(vector_files::database_id.eq(of.database))
        .filter(vector_files::options.is_not_null())
        .filter(is_other);
    on_conn!(conn, |conn| {
        update(others)
            .set((
                vector_files::options.eq(None::<Vec<u8>>),
                vector_files::options_methodology.eq(None::<String>),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Gives up the generation that is built: what is open for it is cancelled, and what it has goes in the background.
pub(crate) async fn give_up<C: AsConn>(
    conn: &mut C,
    database: &DatabaseRow,
    next: &NextGeneration,
    state: DatabaseState,
    now: Timestamp,
) -> Result<(), Error> {
    let of = DatabaseKey::of(database.organization_id, database.id);
    on_conn!(conn, |conn| {
        update(vector_databases::table.find(of.pair()))
            .set((
                vector_databases::state.eq(StateWord(state)),
                vector_databases::next_recipe.eq(None::<Vec<u8>>),
                vector_databases::next_generation.eq(None::<i64>),
                vector_databases::next_passages.eq(0_i64),
            ))
            .execute(conn)
            .await?;
    });
    let open = vector_builds::table
        .filter(vector_builds::organization_id.eq(of.tenant))
        .filter(vector_builds::database_id.eq(of.database))
        .filter(vector_builds::state.eq_any(OPEN_BUILDS))
        .filter(vector_builds::generation.eq(next.generation));
    let open: Vec<BuildRow> = on_conn!(conn, |conn| open.select(BuildRow::as_select()).load(conn).await?);
    for build in &open {
        abandon(conn, build, database, now).await?;
        end_job(conn, of, build.job_id, now).await?;
    }
    counts::leave(conn, of, Leftover::Generation(next.generation)).await
}

/// Ends an open job that builds a generation as failed, and gives that up.
pub(crate) async fn stop_reindex<C: AsConn>(
    conn: &mut C,
    job: &JobRow,
    error: &FileError,
    now: Timestamp,
) -> Result<(), Error> {
    let of = DatabaseKey::of(job.organization_id, job.database_id);
    let database = writing::database(conn, of).await?;
    let end = JobEnd { state: JobState::Failed, stage: Stage::Failed, error: Some(error) };
    stop_job(conn, job, &database, end, now).await?;
    match database.next()?.filter(|next| Id::from(next.job) == job.id) {
        Some(next) => give_up(conn, &database, &next, DatabaseState::Degraded, now).await,
        None => Ok(()),
    }
}

/// Whether builds of a generation are open.
async fn is_open<C: AsConn>(conn: &mut C, of: DatabaseKey, generation: i64) -> Result<bool, Error> {
    for state in [BuildState::Queued, BuildState::Running] {
        let open = vector_builds::table
            .filter(vector_builds::organization_id.eq(of.tenant))
            .filter(vector_builds::database_id.eq(of.database))
            .filter(vector_builds::state.eq(BuildWord(state)))
            .filter(vector_builds::generation.eq(generation))
            .limit(1)
            .select(vector_builds::id);
        let first: Option<Id> = on_conn!(conn, |conn| open.first(conn).await.optional()?);
        if first.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Number of the files that can be found in what serves and not in what is built.
async fn missing<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    database: &DatabaseRow,
    next: &NextGeneration,
) -> Result<i64, Error> {
    let built = diesel::alias!(vector_live as built);
    let there = built
        .filter(built.field(vector_live::organization_id).eq(of.tenant))
        .filter(built.field(vector_live::database_id).eq(of.database))
        .filter(built.field(vector_live::generation).eq(next.generation))
        .filter(built.field(vector_live::file_id).eq(vector_live::file_id));
    let missing = vector_live::table
        .filter(vector_live::organization_id.eq(of.tenant))
        .filter(vector_live::database_id.eq(of.database))
        .filter(vector_live::generation.eq(database.generation))
        .filter(not(exists(there)))
        .count();
    Ok(on_conn!(conn, |conn| missing.get_result(conn).await?))
}

/// Passages and bytes that can be found in a generation.
async fn in_generation<C: AsConn>(conn: &mut C, of: DatabaseKey, generation: i64) -> Result<Findable, Error> {
    let all = vector_live::table
        .filter(vector_live::organization_id.eq(of.tenant))
        .filter(vector_live::database_id.eq(of.database))
        .filter(vector_live::generation.eq(generation))
        .select((vector_live::first_passage, vector_live::end_passage, vector_live::bytes));
    let rows: Vec<(i64, i64, i64)> = on_conn!(conn, |conn| all.load(conn).await?);
    let passages = rows.iter().map(|(first, end, _)| end - first).sum();
    let bytes = rows.iter().map(|(_, _, bytes)| bytes).sum();
    Ok(Findable { passages, bytes })
}

/// Points the files of a database to what can be found of them in a generation: they are ready by it.
async fn point_files<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    generation: i64,
    now: Timestamp,
) -> Result<(), Error> {
    let text = |organization: &str, database: &str, generation: &str, now: &str| {
        let is_of = format!(
            "one.organization_id = vector_files.organization_id AND one.database_id = vector_files.database_id \
             AND one.generation = {generation} AND one.file_id = vector_files.id"
        );
        let passages =
            format!("(SELECT one.end_passage - one.first_passage FROM vector_live one WHERE {is_of})");
        let (state, stage) = (FileState::Ready, Stage::Ready);
        format!(
            "UPDATE vector_files SET passages = {passages}, passages_done = {passages}, \
             passages_total = {passages}, state = '{state}', stage = '{stage}', error = NULL, indexed_at = {now}, \
             build_id = (SELECT one.build_id FROM vector_live one WHERE {is_of}), \
             warnings = (SELECT own.warnings FROM vector_live one JOIN vector_builds own \
             ON own.organization_id = one.organization_id AND own.id = one.build_id WHERE {is_of}) \
             WHERE organization_id = {organization} AND database_id = {database} \
             AND EXISTS (SELECT 1 FROM vector_live one WHERE {is_of})"
        )
    };
    match conn.as_conn() {
        Conn::Sqlite(conn) => {
            let query = diesel::sql_query(text("?1", "?2", "?3", "?4"));
            query
                .bind::<DbUuid, _>(of.tenant)
                .bind::<DbUuid, _>(of.database)
                .bind::<BigInt, _>(generation)
                .bind::<DbInstant, _>(At(now))
                .execute(conn)
                .await?;
        }
        Conn::Postgres(conn) => {
            let query = diesel::sql_query(text("$1", "$2", "$3", "$4"));
            query
                .bind::<DbUuid, _>(of.tenant)
                .bind::<DbUuid, _>(of.database)
                .bind::<BigInt, _>(generation)
                .bind::<DbInstant, _>(At(now))
                .execute(conn)
                .await?;
        }
    }
    Ok(())
}
