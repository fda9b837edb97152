//! Files: uploads, changes, deletion.

use std::collections::BTreeSet;

use diesel::{ExpressionMethods, QueryDsl, SelectableHelper, delete, insert_into};
use diesel_async::RunQueryDsl;
use heddle_kernel::{DatabaseName, FileId, Revision, TenantId, VectorDatabaseId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, Db, Error, Id, StoreError, journal, lock, on_conn, read, revision, update, write_tx,
};
use heddle_usecase::Journal;
use heddle_vectors::ports::{Deleted, FieldValue, FilePatchWrite, FileUpload, Quotas};
use heddle_vectors::records::{BuildState, File, FileState, Stage};

use crate::counts::{Leftover, Used, changed, leave, moved, used};
use crate::databases::{OPEN_BUILDS, named};
use crate::ending::{job_moved, of_live, settle_job};
use crate::key::DatabaseKey;
use crate::schema::{
    BuildRow, FileChange, FileRow, JobRow, LiveRow, vector_builds, vector_databases, vector_files,
    vector_jobs, vector_live,
};
use crate::words::{FileWord, StageWord};
use crate::writing::{self, add_builds, close_build, drop_blob, keep_blob, set_fields, unlive};
use crate::{id_of_file, lock_name, stored, tomb};

/// Whether all that is within a database is denied.
pub(crate) fn is_denied(access: &AccessFilter<resource::Document>, name: &DatabaseName) -> bool {
    access.denies_all_within::<resource::VectorDatabase>()
        || access.denied_within::<resource::VectorDatabase>().contains(name)
}

pub(crate) async fn one(
    db: &Db,
    tenant: TenantId,
    database: &DatabaseName,
    file: FileId,
) -> Result<File, StoreError> {
    read!(db, |conn| {
        let of = named(conn, tenant, database).await?.ok_or(StoreError::NotFound)?;
        let row = writing::file(conn, DatabaseKey::of(of.organization_id, of.id), file.into()).await?;
        row.ok_or(StoreError::NotFound)?.try_into()
    })
}

pub(crate) async fn same_content(
    db: &Db,
    tenant: TenantId,
    database: VectorDatabaseId,
    sha256: &[String],
) -> Result<Vec<(String, FileId)>, StoreError> {
    let found: Vec<(String, Id)> = read!(db, |conn| {
        Ok(vector_files::table
            .filter(vector_files::organization_id.eq(Id::from(tenant)))
            .filter(vector_files::database_id.eq(Id::from(database)))
            .filter(vector_files::sha256.eq_any(sha256))
            .select((vector_files::sha256, vector_files::id))
            .load(conn)
            .await?)
    })?;
    Ok(found.into_iter().map(|(digest, id)| (digest, id.into())).collect())
}

pub(crate) async fn insert(
    db: &Db,
    upload: FileUpload<'_>,
    fields: &[Vec<(String, FieldValue)>],
    unit: &Journal,
) -> Result<Vec<String>, StoreError> {
    let tenant = upload.job.tenant;
    let of = DatabaseKey::of(tenant, upload.database);
    let count = stored(upload.files.len() as u64);
    let bytes: i64 = upload.files.iter().map(|file| stored(file.bytes)).sum();
    let more = Used { files: count, bytes, ..Used::default() };
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let database = writing::database(conn, of).await?;
        if !upload.builds.iter().all(|build| build.generation == database.generation) {
            return Err(StoreError::Stale.into());
        }
        within_quotas(conn, of.tenant, &upload.quotas, more).await?;
        let job = JobRow::try_from(upload.job)?;
        insert_into(vector_jobs::table).values(&job).execute(conn).await?;
        let mut surplus = Vec::new();
        for (file, fields) in upload.files.iter().zip(fields) {
            let own = |build: &&heddle_vectors::records::Build| build.file == file.id;
            let Some(build) = upload.builds.iter().find(own) else { return Err(StoreError::Stale.into()) };
            let mut row = FileRow::of(file, build.id.into())?;
            row.blob = keep_blob(conn, of.tenant, &file.sha256, &file.blob).await?;
            if row.blob != file.blob {
                surplus.push(file.blob.clone());
            }
            insert_into(vector_files::table).values(&row).execute(conn).await?;
            _ = set_fields(conn, of, row.id, fields).await?;
        }
        let builds: Vec<BuildRow> = upload.builds.iter().map(BuildRow::from).collect();
        add_builds(conn, tenant, &builds, upload.job.created_at).await?;
        update(vector_databases::table.find(of.pair()))
            .set((
                vector_databases::files.eq(vector_databases::files + count),
                vector_databases::raw_bytes.eq(vector_databases::raw_bytes + bytes),
                vector_databases::fields_sequence.eq(vector_databases::fields_sequence + 1_i64),
            ))
            .execute(conn)
            .await?;
        used(conn, of.tenant, more).await?;
        journal::write(conn, unit).await?;
        Ok(surplus)
    })
}

/// Checks the quotas of files and bytes, for what is to come to what the organisation has.
async fn within_quotas<C: AsConn>(
    conn: &mut C,
    tenant: Id,
    quotas: &Quotas,
    more: Used,
) -> Result<(), Error> {
    used(conn, tenant, Used::default()).await?;
    let row = crate::schema::vector_usage::table.find(tenant);
    let row = row.select((crate::schema::vector_usage::files, crate::schema::vector_usage::bytes));
    let there: (i64, i64) = on_conn!(conn, |conn| row.first(conn).await?);
    let asked =
        [("files", quotas.files, there.0, more.files), ("storedBytes", quotas.bytes, there.1, more.bytes)];
    for (limit, most, used, more) in asked {
        if let Some(most) = most.filter(|most| stored(*most) < used.saturating_add(more)) {
            return Err(StoreError::QuotaExceeded { limit, most, used: used.unsigned_abs() }.into());
        }
    }
    Ok(())
}

/// Rows of a file's passages that can be found, in every generation.
async fn live_of<C: AsConn>(conn: &mut C, of: DatabaseKey, file: Id) -> Result<Vec<LiveRow>, Error> {
    let all = vector_live::table
        .filter(vector_live::organization_id.eq(of.tenant))
        .filter(vector_live::database_id.eq(of.database))
        .filter(vector_live::file_id.eq(file))
        .order(vector_live::generation);
    Ok(on_conn!(conn, |conn| all.select(LiveRow::as_select()).load(conn).await?))
}

pub(crate) async fn change(
    db: &Db,
    write: FilePatchWrite<'_>,
    expected: Revision,
    unit: &Journal,
) -> Result<(), StoreError> {
    let FilePatchWrite { file, names_title, names_options, fields, reprocess } = write;
    let of = DatabaseKey::of(file.tenant, file.database);
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(file.tenant)).await?;
        let before = writing::file(conn, of, file.id.into()).await?.ok_or(StoreError::NotFound)?;
        revision::check(before.revision, expected)?;
        let mut row = FileRow::of(file, before.build_id)?;
        // What was found or taken away since the caller's file was read stays so.
        if !names_title {
            (row.title, row.search) = (before.title.clone(), before.search.clone());
        }
        if !names_options {
            (row.options, row.options_methodology) =
                (before.options.clone(), before.options_methodology.clone());
        }
        let key = vector_files::table.find((of.tenant, of.database, row.id));
        update(key).set(FileChange::from(&row).set()).execute(conn).await?;
        if set_fields(conn, of, row.id, fields).await? {
            // Who keeps what a filter found hears of it by the number alone.
            update(vector_databases::table.find(of.pair()))
                .set(vector_databases::fields_sequence.eq(vector_databases::fields_sequence + 1_i64))
                .execute(conn)
                .await?;
        }
        if before.enabled != file.enabled {
            for live in live_of(conn, of, row.id).await? {
                let range = Some(of_live(&live));
                let (removed, added) = if file.enabled { (None, range) } else { (range, None) };
                changed(conn, of, live.generation, removed, added).await?;
                update(vector_live::table.find((of.tenant, of.database, live.generation, row.id)))
                    .set(vector_live::enabled.eq(file.enabled))
                    .execute(conn)
                    .await?;
            }
        }
        if let Some(work) = reprocess {
            let database = writing::database(conn, of).await?;
            if database.generation != work.build.generation || database.next_generation.is_some() {
                return Err(StoreError::Stale.into());
            }
            let job = JobRow::try_from(work.job)?;
            insert_into(vector_jobs::table).values(&job).execute(conn).await?;
            add_builds(conn, file.tenant, &[BuildRow::from(work.build)], work.job.created_at).await?;
            update(key)
                .set((
                    vector_files::job_id.eq(row.job_id),
                    vector_files::build_id.eq(Id::from(work.build.id)),
                    vector_files::generation.eq(row.generation),
                    vector_files::state.eq(FileWord(FileState::Queued)),
                    vector_files::stage.eq(StageWord(Stage::Queued)),
                    vector_files::error.eq(None::<Vec<u8>>),
                    vector_files::passages_done.eq(0_i64),
                    vector_files::passages_total.eq(None::<i64>),
                ))
                .execute(conn)
                .await?;
            moved(conn, of, Some(before.state.0), Some(FileState::Queued)).await?;
        }
        journal::write(conn, unit).await
    })
}

pub(crate) async fn remove(
    db: &Db,
    tenant: TenantId,
    database: &DatabaseName,
    file: FileId,
    expected: Option<Revision>,
    unit: &Journal,
) -> Result<Deleted, StoreError> {
    let grave = Tombstone::of(tenant, tomb::FILE, id_of_file(database, file));
    let at = journal::time_of(unit).unwrap_or_default();
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let found = match named(conn, tenant, database).await? {
            Some(of) => {
                let key = DatabaseKey::of(of.organization_id, of.id);
                writing::file(conn, key, file.into()).await?.map(|row| (of, row))
            }
            None => None,
        };
        let Some((of, row)) = found else {
            return match tombstone::exists(conn, grave).await? {
                true => Ok(Deleted::Before),
                false => Err(StoreError::NotFound.into()),
            };
        };
        if let Some(expected) = expected {
            revision::check(row.revision, expected)?;
        }
        let (generation, next) = (of.generation, of.next_generation);
        let of = DatabaseKey::of(of.organization_id, of.id);
        let jobs = cancel_builds(conn, of, row.id, next, at).await?;
        let (mut passages, mut index_bytes, mut next_passages) = (0, 0, 0);
        for live in live_of(conn, of, row.id).await? {
            if live.enabled {
                changed(conn, of, live.generation, Some(of_live(&live)), None).await?;
            }
            if live.generation == generation {
                passages += live.end_passage - live.first_passage;
                index_bytes += live.bytes;
            } else if Some(live.generation) == next {
                next_passages += live.end_passage - live.first_passage;
            }
            unlive(conn, &live).await?;
            leave(conn, of, Leftover::Passages(of_live(&live))).await?;
        }
        _ = set_fields(conn, of, row.id, &[]).await?;
        drop_blob(conn, of, &row.sha256).await?;
        delete(vector_files::table.find((of.tenant, of.database, row.id))).execute(conn).await?;
        moved(conn, of, Some(row.state.0), None).await?;
        update(vector_databases::table.find(of.pair()))
            .set((
                vector_databases::passages.eq(vector_databases::passages - passages),
                vector_databases::next_passages.eq(vector_databases::next_passages - next_passages),
                vector_databases::index_bytes.eq(vector_databases::index_bytes - index_bytes),
                vector_databases::raw_bytes.eq(vector_databases::raw_bytes - row.bytes),
            ))
            .execute(conn)
            .await?;
        let less = Used { files: -1, passages: -passages, bytes: -row.bytes, ..Used::default() };
        used(conn, of.tenant, less).await?;
        // Not before the file is gone: the generation that is built may serve from here on.
        for job in jobs {
            settle_job(conn, of, job, at).await?;
        }
        tombstone::write(conn, grave, at).await?;
        journal::write(conn, unit).await?;
        Ok(Deleted::Now)
    })
}

/// Cancels what works on a file that goes; gives the jobs, of which nothing else may be left.
async fn cancel_builds<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    file: Id,
    next: Option<i64>,
    at: heddle_kernel::Timestamp,
) -> Result<BTreeSet<Id>, Error> {
    let open = vector_builds::table
        .filter(vector_builds::organization_id.eq(of.tenant))
        .filter(vector_builds::database_id.eq(of.database))
        .filter(vector_builds::file_id.eq(file))
        .filter(vector_builds::state.eq_any(OPEN_BUILDS));
    let open: Vec<BuildRow> = on_conn!(conn, |conn| open.select(BuildRow::as_select()).load(conn).await?);
    let mut jobs = BTreeSet::new();
    for build in open {
        // A file that is gone is no reason to give up the generation that is built: there its build counts as done.
        let is_next = Some(build.generation) == next;
        let to = if is_next { BuildState::Ready } else { BuildState::Cancelled };
        close_build(conn, &build, BuildState::Cancelled, Stage::Cancelled, None, at).await?;
        job_moved(conn, &build, to, None).await?;
        jobs.insert(build.job_id);
    }
    Ok(jobs)
}
