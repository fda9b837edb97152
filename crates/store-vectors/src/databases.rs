//! Databases: lists, new ones, changes, deletion; and what an organisation has.

use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl,
    SelectableHelper, TextExpressionMethods, delete, insert_into,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{DatabaseName, Page, PageRequest, Revision, TenantId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, Db, Error, Id, StoreError, document, journal, keyset, lock, on_conn, page, read, revision,
    search, tenant as contents, update, write_tx,
};
use heddle_usecase::Journal;
use heddle_vectors::IngestTask;
use heddle_vectors::ports::{DatabaseFilter, DatabaseUpdate, Deleted, Quotas, Sort, Usage};
use heddle_vectors::records::{BuildState, DatabaseState, JobState, Stage, VectorDatabase};

use crate::counts::{self, Leftover, Used, leave, used};
use crate::key::DatabaseKey;
use crate::schema::{
    DatabaseChange, DatabaseRow, JobRow, UsageRow, vector_builds, vector_databases, vector_jobs, vector_usage,
};
use crate::words::{BuildWord, JobWord, StageWord, StateWord};
use crate::writing;
use crate::{id_of_name, lock_name, stored, tomb};

/// The states of what is left to do.
pub(crate) const OPEN_JOBS: [JobWord; 3] =
    [JobWord(JobState::Queued), JobWord(JobState::Running), JobWord(JobState::Cancelling)];
/// The states of builds that are not over.
pub(crate) const OPEN_BUILDS: [BuildWord; 2] =
    [BuildWord(BuildState::Queued), BuildWord(BuildState::Running)];

pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    filter: &DatabaseFilter,
    access: &AccessFilter<resource::VectorDatabase>,
    page: &PageRequest,
) -> Result<Page<VectorDatabase>, StoreError> {
    let is_newest = filter.sort == Some(Sort::Newest);
    let last: Option<String> = if is_newest { None } else { page::position(page)? };
    let from = if is_newest { page::position_in_time(page)? } else { None };
    if access.is_empty() {
        return Ok(page::empty());
    }
    let names = |names: Vec<DatabaseName>| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let listed = (!access.all()).then(|| names(access.listed()));
    let denied = names(access.denied());
    let items = read!(db, |conn| {
        let mut query = vector_databases::table
            .filter(vector_databases::organization_id.eq(Id::from(tenant)))
            .limit(page::surplus(page))
            .select(DatabaseRow::as_select())
            .into_boxed();
        if let Some(listed) = &listed {
            query = query.filter(vector_databases::name.eq_any(listed));
        }
        if !denied.is_empty() {
            query = query.filter(vector_databases::name.ne_all(&denied));
        }
        if let Some(q) = &filter.q {
            query = query.filter(vector_databases::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(state) = filter.state {
            query = query.filter(vector_databases::state.eq(StateWord(state)));
        }
        let query = if is_newest {
            keyset!(query, (vector_databases::created_at, vector_databases::id), from, descending)
        } else {
            if let Some(name) = &last {
                query = query.filter(vector_databases::name.gt(name));
            }
            query.order(vector_databases::name)
        };
        let rows: Vec<DatabaseRow> = query.load(conn).await?;
        rows.into_iter().map(VectorDatabase::try_from).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(if is_newest {
        Page::from_surplus(items, page.limit, |one: &VectorDatabase| (one.created_at.micros(), one.id))
    } else {
        Page::from_surplus(items, page.limit, |one: &VectorDatabase| one.name.to_string())
    })
}

/// The row of a database by its name.
pub(crate) async fn named<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    name: &DatabaseName,
) -> Result<Option<DatabaseRow>, Error> {
    let found = vector_databases::table
        .filter(vector_databases::organization_id.eq(Id::from(tenant)))
        .filter(vector_databases::name.eq(name.as_str()));
    Ok(on_conn!(conn, |conn| found.select(DatabaseRow::as_select()).first(conn).await.optional()?))
}

pub(crate) async fn one(
    db: &Db,
    tenant: TenantId,
    name: &DatabaseName,
) -> Result<VectorDatabase, StoreError> {
    read!(db, |conn| {
        let row = named(conn, tenant, name).await?;
        row.ok_or(StoreError::NotFound)?.try_into()
    })
}

pub(crate) async fn taken(
    db: &Db,
    tenant: TenantId,
    names: &[DatabaseName],
) -> Result<Vec<DatabaseName>, StoreError> {
    let texts: Vec<&str> = names.iter().map(DatabaseName::as_str).collect();
    let found: Vec<String> = read!(db, |conn| {
        Ok(vector_databases::table
            .filter(vector_databases::organization_id.eq(Id::from(tenant)))
            .filter(vector_databases::name.eq_any(texts.clone()))
            .select(vector_databases::name)
            .load(conn)
            .await?)
    })?;
    Ok(names.iter().filter(|name| found.iter().any(|one| one == name.as_str())).cloned().collect())
}

pub(crate) async fn insert(
    db: &Db,
    database: &VectorDatabase,
    quotas: &Quotas,
    unit: &Journal,
) -> Result<(), StoreError> {
    let tenant = database.tenant;
    write_tx!(db, |conn| {
        contents::keep_open(conn, tenant).await?;
        if let Some(most) = quotas.licensed_databases {
            // All organisations count, so all wait here for each other.
            lock::serialise(conn, "vector databases of the installation").await?;
            let there = counts::in_all(conn).await?;
            within("licensedDatabases", there, Some(most))?;
        }
        lock::serialise(conn, &lock_name(tenant)).await?;
        let there = counts::databases(conn, tenant.into()).await?;
        within("vectorDatabases", there, quotas.databases)?;
        let row = DatabaseRow::try_from(database)?;
        insert_into(vector_databases::table).values(&row).execute(conn).await?;
        used(conn, tenant.into(), Used { databases: 1, ..Used::default() }).await?;
        tombstone::clear(conn, Tombstone::of(tenant, tomb::DATABASE, id_of_name(&database.name))).await?;
        journal::write(conn, unit).await
    })
}

/// Checks that one more may be.
fn within(limit: &'static str, there: i64, most: Option<u64>) -> Result<(), Error> {
    match most {
        Some(most) if there.unsigned_abs() >= most => {
            Err(StoreError::QuotaExceeded { limit, most, used: there.unsigned_abs() }.into())
        }
        Some(_) | None => Ok(()),
    }
}

pub(crate) async fn change(
    db: &Db,
    write: DatabaseUpdate<'_>,
    expected: Revision,
    unit: &Journal,
) -> Result<(), StoreError> {
    let DatabaseUpdate { database, reindex } = write;
    let of = DatabaseKey::of(database.tenant, database.id);
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(database.tenant)).await?;
        let row = DatabaseRow::try_from(database)?;
        let present =
            vector_databases::table.find(of.pair()).filter(vector_databases::revision.eq(expected.0));
        let met = update(present).set(DatabaseChange::from(&row).set()).execute(conn).await?;
        if met == 0 {
            let there: i64 = vector_databases::table.find(of.pair()).count().get_result(conn).await?;
            return Err(revision::unmet(there > 0).into());
        }
        if let Some((next, job)) = reindex {
            let recipe = document::encode(next)?;
            let free = vector_databases::table
                .find(of.pair())
                .filter(vector_databases::next_generation.is_null())
                .filter(vector_databases::last_generation.lt(next.generation));
            let met = update(free)
                .set((
                    vector_databases::state.eq(StateWord(DatabaseState::Building)),
                    vector_databases::next_recipe.eq(Some(recipe)),
                    vector_databases::next_generation.eq(Some(next.generation)),
                    vector_databases::last_generation.eq(next.generation),
                    vector_databases::next_passages.eq(0_i64),
                ))
                .execute(conn)
                .await?;
            revision::met(met)?;
            let row = JobRow::try_from(job)?;
            insert_into(vector_jobs::table).values(&row).execute(conn).await?;
            let task = IngestTask::Spread(job.id);
            writing::add_errand(conn, database.tenant, task, job.created_at).await?;
        }
        journal::write(conn, unit).await
    })
}

pub(crate) async fn remove(
    db: &Db,
    tenant: TenantId,
    name: &DatabaseName,
    expected: Option<Revision>,
    unit: &Journal,
) -> Result<Deleted, StoreError> {
    let grave = Tombstone::of(tenant, tomb::DATABASE, id_of_name(name));
    let at = journal::time_of(unit).unwrap_or_default();
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let Some(row) = named(conn, tenant, name).await? else {
            return match tombstone::exists(conn, grave).await? {
                true => Ok(Deleted::Before),
                false => Err(StoreError::NotFound.into()),
            };
        };
        if let Some(expected) = expected {
            revision::check(row.revision, expected)?;
        }
        let of = DatabaseKey::of(row.organization_id, row.id);
        let waiting = cancel_all(conn, of, at.into()).await?;
        delete(vector_databases::table.find(of.pair())).execute(conn).await?;
        let less = Used {
            databases: -1,
            files: -row.files,
            passages: -row.passages,
            bytes: -row.raw_bytes,
            waiting: -waiting,
        };
        used(conn, of.tenant, less).await?;
        for generation in std::iter::once(row.generation).chain(row.next_generation) {
            leave(conn, of, Leftover::Generation(generation)).await?;
        }
        leave(conn, of, Leftover::Whole).await?;
        tombstone::write(conn, grave, at).await?;
        journal::write(conn, unit).await?;
        Ok(Deleted::Now)
    })
}

/// Cancels all that is open of a database that goes; gives the number of its builds.
async fn cancel_all<C: AsConn>(conn: &mut C, of: DatabaseKey, at: heddle_store::At) -> Result<i64, Error> {
    let builds = vector_builds::table
        .filter(vector_builds::organization_id.eq(of.tenant))
        .filter(vector_builds::database_id.eq(of.database))
        .filter(vector_builds::state.eq_any(OPEN_BUILDS));
    let jobs = vector_jobs::table
        .filter(vector_jobs::organization_id.eq(of.tenant).and(vector_jobs::database_id.eq(of.database)))
        .filter(vector_jobs::state.eq_any(OPEN_JOBS));
    let count = on_conn!(conn, |conn| {
        update(jobs)
            .set((
                vector_jobs::state.eq(JobWord(JobState::Cancelled)),
                vector_jobs::stage.eq(StageWord(Stage::Cancelled)),
                vector_jobs::cancelled
                    .eq(vector_jobs::cancelled + vector_jobs::queued + vector_jobs::running),
                vector_jobs::queued.eq(0_i64),
                vector_jobs::running.eq(0_i64),
                vector_jobs::finished_at.eq(Some(at)),
            ))
            .execute(conn)
            .await?;
        update(builds)
            .set((
                vector_builds::state.eq(BuildWord(BuildState::Cancelled)),
                vector_builds::stage.eq(StageWord(Stage::Cancelled)),
                vector_builds::finished_at.eq(Some(at)),
            ))
            .execute(conn)
            .await?
    });
    Ok(stored(count as u64))
}

pub(crate) async fn usage(db: &Db, tenant: TenantId) -> Result<Usage, StoreError> {
    read!(db, |conn| {
        let row: Option<UsageRow> = vector_usage::table
            .find(Id::from(tenant))
            .select(UsageRow::as_select())
            .first(conn)
            .await
            .optional()?;
        Ok(row.map_or_else(Usage::default, |row| Usage {
            databases: row.databases.unsigned_abs(),
            files: row.files.unsigned_abs(),
            passages: row.passages.unsigned_abs(),
            bytes: row.bytes.unsigned_abs(),
            waiting: row.waiting.unsigned_abs(),
        }))
    })
}
