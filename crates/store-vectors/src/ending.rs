//! Ends of builds and jobs, and the change of generations.

use diesel::sql_types::BigInt;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper, insert_into, update};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::{AsConn, At, Conn, Db, DbUuid, Error, Id, StoreError, document, lock, on_conn, write_tx};
use heddle_vectors::ports::BuildEnd;
use heddle_vectors::records::{
    Build, BuildState, DatabaseState, FileError, FileState, JobKind, JobState, NextGeneration, PassageRange,
    Stage,
};

use crate::counts::{self, Leftover, Used};
use crate::key::DatabaseKey;
use crate::lock_name;
use crate::schema::{
    BuildRow, DatabaseRow, LiveRow, vector_builds, vector_databases, vector_files, vector_job_servers,
    vector_jobs, vector_live,
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
    if row.generation == database.generation {
        let (passages, bytes) =
            before.as_ref().map_or((0, 0), |live| (live.end_passage - live.first_passage, live.bytes));
        let more = Findable { passages: row.done - passages, bytes: row.bytes - bytes };
        serves(conn, of, more, now).await?;
        on_conn!(conn, |conn| {
            update(vector_files::table.find((of.tenant, of.database, row.file_id)))
                .set((vector_files::passages.eq(row.done), vector_files::indexed_at.eq(Some(At(now)))))
                .execute(conn)
                .await?;
        });
    }
    if file.build_id == row.id {
        set_file(conn, &file, FileState::Ready, Stage::Ready, None).await?;
    }
    Ok(())
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

async fn failed<C: AsConn>(
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

/// Ends a job of which nothing is left to do, and the generation that is built with it.
pub(crate) async fn settle_job<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    job: Id,
    now: Timestamp,
) -> Result<(), Error> {
    let row = writing::job(conn, of.tenant, job).await?;
    if row.spread && row.queued == 0 && row.running == 0 && !row.state.0.is_over() {
        let (state, stage) = match (row.ready, row.failed, row.cancelled) {
            (_, 0, 0) => (JobState::Completed, Stage::Ready),
            (0, 0, _) => (JobState::Cancelled, Stage::Cancelled),
            (0, _, _) => (JobState::Failed, Stage::Failed),
            (_, _, _) => (JobState::CompletedWithErrors, Stage::Ready),
        };
        on_conn!(conn, |conn| {
            update(vector_jobs::table.find((of.tenant, job)))
                .set((
                    vector_jobs::state.eq(JobWord(state)),
                    vector_jobs::stage.eq(StageWord(stage)),
                    vector_jobs::finished_at.eq(Some(At(now))),
                ))
                .execute(conn)
                .await?;
        });
    }
    change_generation(conn, of).await
}

/// Lets the generation that is built serve once it is complete, or gives it up when its job did not succeed.
pub(crate) async fn change_generation<C: AsConn>(conn: &mut C, of: DatabaseKey) -> Result<(), Error> {
    let found = vector_databases::table.find(of.pair());
    let found: Option<DatabaseRow> =
        on_conn!(conn, |conn| found.select(DatabaseRow::as_select()).first(conn).await.optional()?);
    let Some(database) = found else { return Ok(()) };
    let next: Option<NextGeneration> = database.next_recipe.as_deref().map(document::decode).transpose()?;
    let Some(next) = next else { return Ok(()) };
    let job = writing::job(conn, of.tenant, next.job.into()).await?;
    if job.kind.0 != JobKind::Reindex || !job.state.0.is_over() || is_open(conn, of, next.generation).await? {
        return Ok(());
    }
    let live = in_generation(conn, of, next.generation).await?;
    let before = count_live(conn, of, database.generation).await?;
    let is_complete = job.failed == 0 && job.cancelled == 0 && live.0 >= before;
    let is_wanted = job.state.0 != JobState::Cancelled;
    if !is_complete || !is_wanted {
        let state = if is_wanted { DatabaseState::Degraded } else { DatabaseState::Ready };
        give_up(conn, of, state).await?;
        return counts::leave(conn, of, Leftover::Generation(next.generation)).await;
    }
    let (_, passages, bytes) = live;
    let recipe = document::encode(&next.recipe)?;
    on_conn!(conn, |conn| {
        update(vector_databases::table.find(of.pair()))
            .set((
                vector_databases::state.eq(StateWord(DatabaseState::Ready)),
                vector_databases::generation.eq(next.generation),
                vector_databases::recipe.eq(recipe),
                vector_databases::next_recipe.eq(None::<Vec<u8>>),
                vector_databases::next_generation.eq(None::<i64>),
                vector_databases::passages.eq(passages),
                vector_databases::index_bytes.eq(bytes),
            ))
            .execute(conn)
            .await?;
    });
    let more = Used { passages: passages - database.passages, ..Used::default() };
    counts::used(conn, of.tenant, more).await?;
    counts::changed(conn, of, next.generation, None, None).await?;
    point_files(conn, of, next.generation).await?;
    counts::leave(conn, of, Leftover::Generation(database.generation)).await
}

/// Gives up the generation that is built.
pub(crate) async fn give_up<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    state: DatabaseState,
) -> Result<(), Error> {
    on_conn!(conn, |conn| {
        update(vector_databases::table.find(of.pair()))
            .set((
                vector_databases::state.eq(StateWord(state)),
                vector_databases::next_recipe.eq(None::<Vec<u8>>),
                vector_databases::next_generation.eq(None::<i64>),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
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

async fn count_live<C: AsConn>(conn: &mut C, of: DatabaseKey, generation: i64) -> Result<i64, Error> {
    let all = vector_live::table
        .filter(vector_live::organization_id.eq(of.tenant))
        .filter(vector_live::database_id.eq(of.database))
        .filter(vector_live::generation.eq(generation))
        .count();
    Ok(on_conn!(conn, |conn| all.get_result(conn).await?))
}

/// Files, passages and bytes that can be found in a generation.
async fn in_generation<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    generation: i64,
) -> Result<(i64, i64, i64), Error> {
    let all = vector_live::table
        .filter(vector_live::organization_id.eq(of.tenant))
        .filter(vector_live::database_id.eq(of.database))
        .filter(vector_live::generation.eq(generation))
        .select((vector_live::first_passage, vector_live::end_passage, vector_live::bytes));
    let rows: Vec<(i64, i64, i64)> = on_conn!(conn, |conn| all.load(conn).await?);
    let add = |sum: (i64, i64, i64), row: (i64, i64, i64)| (sum.0 + 1, sum.1 + row.1 - row.0, sum.2 + row.2);
    Ok(rows.into_iter().fold((0, 0, 0), add))
}

/// Points the files of a database to what can be found of them in a generation.
async fn point_files<C: AsConn>(conn: &mut C, of: DatabaseKey, generation: i64) -> Result<(), Error> {
    let text = |organization: &str, database: &str, generation: &str| {
        format!(
            "UPDATE vector_files SET \
             passages = (SELECT one.end_passage - one.first_passage FROM vector_live one \
             WHERE one.organization_id = vector_files.organization_id \
             AND one.database_id = vector_files.database_id AND one.generation = {generation} \
             AND one.file_id = vector_files.id), \
             build_id = (SELECT one.build_id FROM vector_live one \
             WHERE one.organization_id = vector_files.organization_id \
             AND one.database_id = vector_files.database_id AND one.generation = {generation} \
             AND one.file_id = vector_files.id) \
             WHERE organization_id = {organization} AND database_id = {database} AND EXISTS \
             (SELECT 1 FROM vector_live one WHERE one.organization_id = vector_files.organization_id \
             AND one.database_id = vector_files.database_id AND one.generation = {generation} \
             AND one.file_id = vector_files.id)"
        )
    };
    match conn.as_conn() {
        Conn::Sqlite(conn) => {
            let query = diesel::sql_query(text("?1", "?2", "?3"));
            query
                .bind::<DbUuid, _>(of.tenant)
                .bind::<DbUuid, _>(of.database)
                .bind::<BigInt, _>(generation)
                .execute(conn)
                .await?;
        }
        Conn::Postgres(conn) => {
            let query = diesel::sql_query(text("$1", "$2", "$3"));
            query
                .bind::<DbUuid, _>(of.tenant)
                .bind::<DbUuid, _>(of.database)
                .bind::<BigInt, _>(generation)
                .execute(conn)
                .await?;
        }
    }
    Ok(())
}
