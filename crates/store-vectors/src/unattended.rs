//! Builds and jobs on which nobody works any more: their errands were set aside or went, and the process ended before that was
//! written here.

use diesel::dsl::{exists, not};
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::{IngestionJobId, TenantId, Timestamp};
use heddle_store::{AsConn, Db, Error, Id, StoreError, lock, on_conn, read, write_tx};
use heddle_vectors::records::{FileError, JobKind};

use crate::databases::{OPEN_BUILDS, OPEN_JOBS};
use crate::key::DatabaseKey;
use crate::schema::{BuildRow, vector_builds, vector_databases, vector_jobs};
use crate::words::JobKindWord;
use crate::{ending, lock_name, writing};

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::DbUuid;

    /// Errands, by their ids alone: diesel joins tables of one crate.
    errands (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
    }
}

diesel::allow_tables_to_appear_in_same_query!(vector_builds, errands);
diesel::allow_tables_to_appear_in_same_query!(vector_jobs, errands);

pub(crate) async fn fail_reindex(
    db: &Db,
    tenant: TenantId,
    job: IngestionJobId,
    error: &FileError,
    now: Timestamp,
) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let job = writing::job(conn, tenant.into(), job.into()).await?;
        if job.kind.0 != JobKind::Reindex || job.state.0.is_over() {
            return Err(StoreError::NotFound.into());
        }
        ending::stop_reindex(conn, &job, error, now).await
    })
}

pub(crate) async fn end_all(
    db: &Db,
    error: &FileError,
    most: u32,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let organizations: Vec<Id> = read!(db, |conn| {
        Ok(vector_databases::table.select(vector_databases::organization_id).distinct().load(conn).await?)
    })?;
    let mut ended = 0;
    for organization in organizations {
        match end_of(db, organization, error, most, now).await {
            Ok(count) => ended += count,
            Err(StoreError::Unavailable(why)) => return Err(StoreError::Unavailable(why)),
            // What one organisation has that can't be read keeps none of the others waiting.
            Err(error) => {
                tracing::error!(%error, ?organization, "what nobody works on of an organisation can't be ended");
            }
        }
    }
    Ok(ended)
}

/// Ends what nobody works on of an organisation; how much that was.
async fn end_of(
    db: &Db,
    organization: Id,
    error: &FileError,
    most: u32,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut ended = 0;
    for build in builds(db, organization, most).await? {
        ended += u64::from(end_build(db, organization, build, error, now).await?);
    }
    for job in jobs(db, organization, most).await? {
        match fail_reindex(db, organization.into(), job.into(), error, now).await {
            Ok(()) => ended += 1,
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    for database in building(db, organization).await? {
        settle(db, organization, database, now).await?;
    }
    Ok(ended)
}

/// Open builds of an organisation without an errand.
async fn builds(db: &Db, organization: Id, most: u32) -> Result<Vec<Id>, StoreError> {
    let errand = errands::table
        .filter(errands::organization_id.eq(vector_builds::organization_id))
        .filter(errands::id.eq(vector_builds::id));
    read!(db, |conn| {
        Ok(vector_builds::table
            .filter(vector_builds::organization_id.eq(organization))
            .filter(vector_builds::state.eq_any(OPEN_BUILDS))
            .filter(not(exists(errand)))
            .limit(i64::from(most))
            .select(vector_builds::id)
            .load(conn)
            .await?)
    })
}

/// Open jobs of an organisation that are to gather the files of another generation, without an errand.
async fn jobs(db: &Db, organization: Id, most: u32) -> Result<Vec<Id>, StoreError> {
    let errand = errands::table
        .filter(errands::organization_id.eq(vector_jobs::organization_id))
        .filter(errands::id.eq(vector_jobs::id));
    read!(db, |conn| {
        Ok(vector_jobs::table
            .filter(vector_jobs::organization_id.eq(organization))
            .filter(vector_jobs::state.eq_any(OPEN_JOBS))
            .filter(vector_jobs::kind.eq(JobKindWord(JobKind::Reindex)))
            .filter(vector_jobs::spread.eq(false))
            .filter(not(exists(errand)))
            .limit(i64::from(most))
            .select(vector_jobs::id)
            .load(conn)
            .await?)
    })
}

/// Databases of an organisation that are built anew.
async fn building(db: &Db, organization: Id) -> Result<Vec<Id>, StoreError> {
    read!(db, |conn| {
        Ok(vector_databases::table
            .filter(vector_databases::organization_id.eq(organization))
            .filter(vector_databases::next_generation.is_not_null())
            .select(vector_databases::id)
            .load(conn)
            .await?)
    })
}

/// Ends a build that is still open and without an errand; whether it was.
async fn end_build(
    db: &Db,
    organization: Id,
    build: Id,
    error: &FileError,
    now: Timestamp,
) -> Result<bool, StoreError> {
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(organization.into())).await?;
        let found = writing::found_build(conn, organization, build).await?;
        let Some(row) = found.filter(|row| !row.state.0.is_over()) else { return Ok(false) };
        if has_errand(conn, &row).await? {
            return Ok(false);
        }
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        let database = writing::database(conn, of).await?;
        if database.has(row.generation) {
            ending::failed(conn, &row, error, now).await?;
        } else {
            ending::abandon(conn, &row, &database, now).await?;
        }
        ending::settle_job(conn, of, row.job_id, now).await?;
        Ok(true)
    })
}

async fn has_errand<C: AsConn>(conn: &mut C, row: &BuildRow) -> Result<bool, Error> {
    let errand = errands::table.find((row.organization_id, row.id)).select(errands::id);
    let found: Option<Id> = on_conn!(conn, |conn| errand.first(conn).await.optional()?);
    Ok(found.is_some())
}

/// Looks once more whether a generation that is built may serve: what it waited for may have gone without a word.
async fn settle(db: &Db, organization: Id, database: Id, now: Timestamp) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(organization.into())).await?;
        ending::settle_generation(conn, DatabaseKey::of(organization, database), now).await
    })
}
