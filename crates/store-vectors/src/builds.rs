//! Builds on their way: taken, cut, written, tried again; and those of a database that is indexed anew.

use diesel::dsl::{exists, not};
use diesel::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, Queryable,
    SelectableHelper, insert_into,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{BuildId, IngestionJobId, TenantId, Timestamp};
use heddle_store::{
    AsConn, At, Conn, Db, Error, Id, StoreError, add_all, document, lock, on_conn, update, write_tx,
};
use heddle_vectors::ports::{Claimed, Cut, NodeIdentity};
use heddle_vectors::records::{
    Build, BuildState, File, FileError, FileState, JobState, Passage, Stage, VectorDatabase,
};

use crate::counts::{self, Leftover};
use crate::key::DatabaseKey;
use crate::rows::{search_of, warnings_of};
use crate::schema::{
    BuildRow, NewPassages, PassageRow, ServerRow, vector_builds, vector_databases, vector_files,
    vector_job_servers, vector_jobs, vector_live, vector_usage,
};
use crate::words::{BuildWord, JobWord, StageWord};
use crate::writing::{self, open_build, set_file};
use crate::{ending, lock_name, stored};

/// Tells that a server works on a job, and what it did more.
async fn seen<C: AsConn>(
    conn: &mut C,
    row: &BuildRow,
    node: Id,
    now: Timestamp,
    stage: Option<Stage>,
    passages: i64,
) -> Result<(), Error> {
    let key = vector_job_servers::table.find((row.organization_id, row.job_id, node));
    let found: Option<ServerRow> =
        on_conn!(conn, |conn| key.select(ServerRow::as_select()).first(conn).await.optional()?);
    let Some(server) = found else { return Ok(()) };
    let mut stages: Vec<Stage> = document::decode(&server.stages)?;
    stages.extend(stage);
    stages.sort_unstable();
    stages.dedup();
    let stages = document::encode(&stages)?;
    on_conn!(conn, |conn| {
        update(key)
            .set((
                vector_job_servers::stages.eq(stages),
                vector_job_servers::passages.eq(server.passages + passages),
                vector_job_servers::heartbeat_at.eq(At(now)),
                vector_job_servers::current_file.eq(Some(row.file_id)),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Tells that a server took a build.
async fn taken_by<C: AsConn>(
    conn: &mut C,
    row: &BuildRow,
    node: &NodeIdentity,
    now: Timestamp,
) -> Result<(), Error> {
    let of = Id::from(node.id);
    let server = ServerRow {
        organization_id: row.organization_id,
        job_id: row.job_id,
        node: of,
        host_name: node.host_name.clone(),
        version: node.version.clone(),
        stages: document::encode(&Vec::<Stage>::new())?,
        claimed: 0,
        completed: 0,
        failed: 0,
        passages: 0,
        first_seen_at: At(now),
        heartbeat_at: At(now),
        current_file: Some(row.file_id),
    };
    let more = i64::from(row.node != Some(of));
    on_conn!(conn, |conn| {
        insert_into(vector_job_servers::table).values(&server).on_conflict_do_nothing().execute(conn).await?;
        update(vector_job_servers::table.find((row.organization_id, row.job_id, of)))
            .set((
                vector_job_servers::claimed.eq(vector_job_servers::claimed + more),
                vector_job_servers::heartbeat_at.eq(At(now)),
                vector_job_servers::current_file.eq(Some(row.file_id)),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

pub(crate) async fn claim(
    db: &Db,
    tenant: TenantId,
    build: BuildId,
    node: &NodeIdentity,
    now: Timestamp,
) -> Result<Option<Claimed>, StoreError> {
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let row = writing::found_build(conn, tenant.into(), build.into()).await?;
        let Some(mut row) = row.filter(|row| !row.state.0.is_over()) else { return Ok(None) };
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        let Some(mut file) = writing::file(conn, of, row.file_id).await? else { return Ok(None) };
        let database = writing::database(conn, of).await?;
        if !database.has(row.generation) {
            // It would be found by nobody.
            ending::abandon(conn, &row, &database, now).await?;
            ending::settle_job(conn, of, row.job_id, now).await?;
            return Ok(None);
        }
        taken_by(conn, &row, node, now).await?;
        if row.state.0 == BuildState::Queued {
            update(vector_jobs::table.find((of.tenant, row.job_id)))
                .set((
                    vector_jobs::queued.eq(vector_jobs::queued - 1_i64),
                    vector_jobs::running.eq(vector_jobs::running + 1_i64),
                    vector_jobs::state.eq(JobWord(JobState::Running)),
                ))
                .execute(conn)
                .await?;
            update(
                vector_jobs::table.find((of.tenant, row.job_id)).filter(vector_jobs::started_at.is_null()),
            )
            .set(vector_jobs::started_at.eq(Some(At(now))))
            .execute(conn)
            .await?;
        }
        row.state = BuildWord(BuildState::Running);
        row.node = Some(node.id.into());
        row.started_at = row.started_at.or(Some(At(now)));
        update(vector_builds::table.find((of.tenant, row.id)))
            .set((
                vector_builds::state.eq(row.state),
                vector_builds::node.eq(row.node),
                vector_builds::started_at.eq(row.started_at),
            ))
            .execute(conn)
            .await?;
        update(vector_jobs::table.find((of.tenant, row.job_id)))
            .set(vector_jobs::heartbeat_at.eq(Some(At(now))))
            .execute(conn)
            .await?;
        if file.build_id == row.id && file.state.0 == FileState::Queued {
            set_file(conn, &file, FileState::Running, Stage::Fetching, None).await?;
            file.state.0 = FileState::Running;
            file.stage.0 = Stage::Fetching;
        }
        let job = vector_jobs::table.find((of.tenant, row.job_id)).select(vector_jobs::created_by);
        let asked_by: Id = job.first(conn).await?;
        let (build, file) = (Build::try_from(row)?, File::try_from(file)?);
        let database = VectorDatabase::try_from(database)?;
        Ok(Some(Claimed { build, file, database, asked_by: asked_by.into() }))
    })
}

pub(crate) async fn reached(
    db: &Db,
    build: &Build,
    stage: Stage,
    node: uuid::Uuid,
    now: Timestamp,
) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        let row = open_build(conn, build).await?;
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        update(vector_builds::table.find((of.tenant, row.id)))
            .set(vector_builds::stage.eq(StageWord(stage)))
            .execute(conn)
            .await?;
        update(vector_jobs::table.find((of.tenant, row.job_id)))
            .set((vector_jobs::stage.eq(StageWord(stage)), vector_jobs::heartbeat_at.eq(Some(At(now)))))
            .execute(conn)
            .await?;
        let current = vector_files::table.find((of.tenant, of.database, row.file_id));
        update(current.filter(vector_files::build_id.eq(row.id)))
            .set(vector_files::stage.eq(StageWord(stage)))
            .execute(conn)
            .await?;
        seen(conn, &row, node.into(), now, Some(stage), 0).await
    })
}

pub(crate) async fn cut(db: &Db, build: &Build, cut: &Cut, now: Timestamp) -> Result<Build, StoreError> {
    let total = stored(cut.passages);
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(build.tenant)).await?;
        let mut row = open_build(conn, build).await?;
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        if row.cut.as_deref() == Some(cut.digest.as_str()) && row.total == Some(total) {
            return Build::try_from(row);
        }
        if let Some(most) = cut.most {
            within_quota(conn, &row, total, most).await?;
        }
        if let Some(written) = row.written() {
            counts::leave(conn, of, Leftover::Passages(written)).await?;
        }
        let first: i64 = vector_databases::table
            .find(of.pair())
            .select(vector_databases::next_passage)
            .first(conn)
            .await?;
        update(vector_databases::table.find(of.pair()))
            .set(vector_databases::next_passage.eq(first + total))
            .execute(conn)
            .await?;
        update(vector_jobs::table.find((of.tenant, row.job_id)))
            .set((
                vector_jobs::passages_total
                    .eq(vector_jobs::passages_total + (total - row.total.unwrap_or_default())),
                vector_jobs::passages_done.eq(vector_jobs::passages_done - row.done),
                vector_jobs::files_cut.eq(vector_jobs::files_cut + i64::from(row.total.is_none())),
                vector_jobs::heartbeat_at.eq(Some(At(now))),
            ))
            .execute(conn)
            .await?;
        row.first_passage = Some(first);
        row.total = Some(total);
        row.done = 0;
        row.bytes = 0;
        row.cut = Some(cut.digest.clone());
        row.warnings = warnings_of(&cut.warnings)?;
        update(vector_builds::table.find((of.tenant, row.id)))
            .set((
                vector_builds::warnings.eq(row.warnings.as_deref()),
                vector_builds::first_passage.eq(row.first_passage),
                vector_builds::total.eq(row.total),
                vector_builds::done.eq(0_i64),
                vector_builds::bytes.eq(0_i64),
                vector_builds::cut.eq(row.cut.as_deref()),
            ))
            .execute(conn)
            .await?;
        told(conn, &row, cut).await?;
        Build::try_from(row)
    })
}

/// Tells a file what its cutting told of it.
async fn told<C: AsConn>(conn: &mut C, row: &BuildRow, cut: &Cut) -> Result<(), Error> {
    let key = vector_files::table.find((row.organization_id, row.database_id, row.file_id));
    let current = key.filter(vector_files::build_id.eq(row.id));
    on_conn!(conn, |conn| {
        update(current)
            .set((
                vector_files::passages_total.eq(row.total),
                vector_files::passages_done.eq(0_i64),
                vector_files::pages.eq(cut.pages.map(i64::from)),
                vector_files::language.eq(cut.language.as_deref()),
            ))
            .execute(conn)
            .await?;
    });
    let Some(title) = &cut.title else { return Ok(()) };
    let untitled = current.filter(vector_files::title.is_null());
    on_conn!(conn, |conn| {
        let name: Option<String> = untitled.select(vector_files::name).first(conn).await.optional()?;
        if let Some(name) = name {
            update(untitled)
                .set((vector_files::title.eq(title), vector_files::search.eq(search_of(&name, title))))
                .execute(conn)
                .await?;
        }
    });
    Ok(())
}

/// A database as it counts for the quota of passages.
#[derive(Debug, Clone, Copy, Queryable)]
struct Standing {
    id: Id,
    generation: i64,
    next_generation: Option<i64>,
    /// Passages of the generation that serves.
    passages: i64,
    /// Passages of the generation that is built.
    next_passages: i64,
}

/// A build that is cut and not over, as it counts for the quota of passages.
#[derive(Debug, Clone, Copy, Queryable)]
struct AtWork {
    database: Id,
    generation: i64,
    total: Option<i64>,
    /// Passages of its file that serve.
    before: i64,
}

/// Passages that a database will have beyond those that serve, when builds end as they are cut: those of builds for what
/// serves, and what a generation that is built has more than the one it takes the place of.
fn to_come(database: &Standing, at_work: &[AtWork]) -> i64 {
    let of = |generation: i64| {
        at_work.iter().filter(move |one| one.database == database.id && one.generation == generation)
    };
    let serving: i64 =
        of(database.generation).map(|one| (one.total.unwrap_or_default() - one.before).max(0)).sum();
    let built = |generation: i64| {
        let more: i64 = of(generation).filter_map(|one| one.total).sum();
        (database.next_passages + more - database.passages).max(0)
    };
    serving + database.next_generation.map_or(0, built)
}

/// Checks the quota of passages of an organisation against what can be found, and what will be by that which is at work. A
/// build that adds nothing is in it however many there are.
async fn within_quota<C: AsConn>(conn: &mut C, row: &BuildRow, total: i64, most: u64) -> Result<(), Error> {
    let all = vector_usage::table.find(row.organization_id).select(vector_usage::passages);
    let used: Option<i64> = on_conn!(conn, |conn| all.first(conn).await.optional()?);
    let used = used.unwrap_or_default();
    let of = DatabaseKey::of(row.organization_id, row.database_id);
    let before = writing::file(conn, of, row.file_id).await?.map_or(0, |file| file.passages);
    let is_file = vector_files::organization_id
        .eq(vector_builds::organization_id)
        .and(vector_files::database_id.eq(vector_builds::database_id))
        .and(vector_files::id.eq(vector_builds::file_id));
    let at_work = vector_builds::table
        .inner_join(vector_files::table.on(is_file))
        .filter(vector_builds::organization_id.eq(row.organization_id))
        .filter(vector_builds::state.eq(BuildWord(BuildState::Running)))
        .filter(vector_builds::total.is_not_null())
        .filter(vector_builds::id.ne(row.id))
        .select((
            vector_builds::database_id,
            vector_builds::generation,
            vector_builds::total,
            vector_files::passages,
        ));
    let mut at_work: Vec<AtWork> = on_conn!(conn, |conn| at_work.load(conn).await?);
    let mut ids: Vec<Id> = at_work.iter().map(|one| one.database).chain([row.database_id]).collect();
    ids.sort_unstable();
    ids.dedup();
    let databases = vector_databases::table
        .filter(vector_databases::organization_id.eq(row.organization_id))
        .filter(vector_databases::next_generation.is_not_null().or(vector_databases::id.eq_any(ids)))
        .select((
            vector_databases::id,
            vector_databases::generation,
            vector_databases::next_generation,
            vector_databases::passages,
            vector_databases::next_passages,
        ));
    let databases: Vec<Standing> = on_conn!(conn, |conn| databases.load(conn).await?);
    let sum = |at_work: &[AtWork]| -> i64 { databases.iter().map(|one| to_come(one, at_work)).sum() };
    let without = used + sum(&at_work);
    let (database, generation, total) = (row.database_id, row.generation, Some(total));
    at_work.push(AtWork { database, generation, total, before });
    let with = used + sum(&at_work);
    if stored(most) < with && without < with {
        let used = without.unsigned_abs();
        return Err(StoreError::QuotaExceeded { limit: "passages", most, used }.into());
    }
    Ok(())
}

/// Adds passages: on PostgreSQL by one statement, on SQLite by one call of its thread.
async fn added<C: AsConn>(conn: &mut C, rows: Vec<PassageRow>) -> Result<(), Error> {
    match conn.as_conn() {
        Conn::Sqlite(conn) => {
            conn.spawn_blocking(move |conn| add_all(conn, &rows.iter().collect::<Vec<_>>())).await?;
        }
        Conn::Postgres(conn) => {
            let mut new = NewPassages::default();
            rows.iter().for_each(|row| new.push(row));
            new.execute(conn).await?;
        }
    }
    Ok(())
}

pub(crate) async fn write_passages(
    db: &Db,
    build: &Build,
    passages: &[Passage],
    node: uuid::Uuid,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(first) = passages.first() else { return Ok(()) };
    let count = stored(passages.len() as u64);
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(build.tenant)).await?;
        let row = open_build(conn, build).await?;
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        let next = row.passages().map(|range| range.first + row.done.unsigned_abs());
        let is_room = row.total.is_some_and(|total| row.done + count <= total);
        if next != Some(first.id.0) || !is_room {
            return Err(StoreError::Stale.into());
        }
        let rows: Result<Vec<PassageRow>, Error> =
            passages.iter().map(|passage| PassageRow::of(of.tenant, of.database, passage)).collect();
        let rows = rows?;
        let bytes: i64 = rows.iter().map(PassageRow::size).sum();
        added(conn, rows).await?;
        update(vector_builds::table.find((of.tenant, row.id)))
            .set((vector_builds::done.eq(row.done + count), vector_builds::bytes.eq(row.bytes + bytes)))
            .execute(conn)
            .await?;
        update(vector_jobs::table.find((of.tenant, row.job_id)))
            .set((
                vector_jobs::passages_done.eq(vector_jobs::passages_done + count),
                vector_jobs::heartbeat_at.eq(Some(At(now))),
            ))
            .execute(conn)
            .await?;
        let current = vector_files::table.find((of.tenant, of.database, row.file_id));
        update(current.filter(vector_files::build_id.eq(row.id)))
            .set(vector_files::passages_done.eq(row.done + count))
            .execute(conn)
            .await?;
        seen(conn, &row, node.into(), now, None, count).await
    })
}

pub(crate) async fn failed_try(
    db: &Db,
    build: &Build,
    error: &FileError,
    now: Timestamp,
) -> Result<(), StoreError> {
    let told = Some(document::encode(error).map_err(StoreError::from)?);
    write_tx!(db, |conn| {
        let row = open_build(conn, build).await?;
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        update(vector_builds::table.find((of.tenant, row.id)))
            .set((vector_builds::attempts.eq(row.attempts + 1), vector_builds::error.eq(&told)))
            .execute(conn)
            .await?;
        update(vector_jobs::table.find((of.tenant, row.job_id)))
            .set((
                vector_jobs::attempts.eq(vector_jobs::attempts + 1_i64),
                vector_jobs::error.eq(&told),
                vector_jobs::heartbeat_at.eq(Some(At(now))),
            ))
            .execute(conn)
            .await?;
        let current = vector_files::table.find((of.tenant, of.database, row.file_id));
        update(current.filter(vector_files::build_id.eq(row.id)))
            .set(vector_files::error.eq(&told))
            .execute(conn)
            .await?;
        Ok(())
    })
}

pub(crate) async fn spread(
    db: &Db,
    tenant: TenantId,
    job: IngestionJobId,
    builds: &[BuildId],
    now: Timestamp,
) -> Result<bool, StoreError> {
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let row = writing::job(conn, tenant.into(), job.into()).await?;
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        let database = writing::database(conn, of).await?;
        let Some(next) = database.next()?.filter(|next| next.job == job && !row.state.0.is_over()) else {
            return Err(StoreError::NotFound.into());
        };
        let is_file = vector_files::organization_id
            .eq(vector_live::organization_id)
            .and(vector_files::database_id.eq(vector_live::database_id))
            .and(vector_files::id.eq(vector_live::file_id));
        let made = vector_builds::table
            .filter(vector_builds::organization_id.eq(of.tenant))
            .filter(vector_builds::job_id.eq(row.id))
            .filter(vector_builds::file_id.eq(vector_live::file_id));
        let files: Vec<(Id, i64)> = vector_live::table
            .inner_join(vector_files::table.on(is_file))
            .filter(vector_live::organization_id.eq(of.tenant))
            .filter(vector_live::database_id.eq(of.database))
            .filter(vector_live::generation.eq(database.generation))
            .filter(not(exists(made)))
            .order(vector_live::file_id)
            .limit(stored(builds.len() as u64))
            .select((vector_live::file_id, vector_files::bytes))
            .load(conn)
            .await?;
        let queued = |((file, _), id): (&(Id, i64), &BuildId)| {
            BuildRow::queued(&row, *file, next.generation, (*id).into(), now)
        };
        let rows: Vec<BuildRow> = files.iter().zip(builds).map(queued).collect();
        writing::add_builds(conn, tenant, &rows, now).await?;
        let bytes = files.iter().map(|(_, bytes)| bytes).sum();
        writing::job_grows(conn, &row, stored(files.len() as u64), bytes).await?;
        let is_last = files.len() < builds.len();
        update(vector_jobs::table.find((of.tenant, row.id)))
            .set(vector_jobs::spread.eq(is_last))
            .execute(conn)
            .await?;
        if is_last {
            ending::settle_job(conn, of, row.id, now).await?;
        }
        Ok(!is_last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_counts_beyond_what_it_takes_the_place_of() {
        let id = Id(uuid::Uuid::from_u128(1));
        let database =
            Standing { id, generation: 3, next_generation: Some(5), passages: 100, next_passages: 90 };
        let work =
            |generation, total, before| AtWork { database: id, generation, total: Some(total), before };
        for (at_work, more) in [
            (vec![], 0),
            (vec![work(5, 10, 4)], 0),
            (vec![work(5, 10, 4), work(5, 7, 0)], 7),
            (vec![work(3, 8, 5), work(3, 2, 9)], 3),
            (vec![work(4, 50, 0), AtWork { database: Id(uuid::Uuid::from_u128(2)), ..work(3, 9, 0) }], 0),
        ] {
            assert_eq!(to_come(&database, &at_work), more, "{at_work:?}");
        }
        assert_eq!(to_come(&Standing { next_generation: None, ..database }, &[work(5, 50, 0)]), 0);
    }
}
