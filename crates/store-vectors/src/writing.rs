//! Steps of transactions that several of them take.

use std::collections::BTreeSet;

use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper, delete, insert_into};
use diesel_async::RunQueryDsl;
use heddle_kernel::{TenantId, Timestamp};
use heddle_store::schema::ErrandRow;
use heddle_store::{AsConn, Error, Id, StoreError, document, errands, on_conn, update};
use heddle_vectors::IngestTask;
use heddle_vectors::ports::FieldValue;
use heddle_vectors::records::{Build, BuildState, FileError, FileState, Stage};

use crate::counts::{self, moved};
use crate::key::DatabaseKey;
use crate::schema::{
    BlobRow, BuildRow, DatabaseRow, FieldRow, FileRow, JobRow, LiveRow, vector_blobs, vector_builds,
    vector_databases, vector_fields, vector_files, vector_jobs, vector_live,
};
use crate::values::{head_of, text_of};
use crate::words::{BuildWord, FileWord, StageWord};

pub(crate) async fn database<C: AsConn>(conn: &mut C, of: DatabaseKey) -> Result<DatabaseRow, Error> {
    let row = vector_databases::table.find(of.pair());
    Ok(on_conn!(conn, |conn| row.select(DatabaseRow::as_select()).first(conn).await?))
}

pub(crate) async fn job<C: AsConn>(conn: &mut C, tenant: Id, id: Id) -> Result<JobRow, Error> {
    let row = vector_jobs::table.find((tenant, id));
    Ok(on_conn!(conn, |conn| row.select(JobRow::as_select()).first(conn).await?))
}

pub(crate) async fn file<C: AsConn>(conn: &mut C, of: DatabaseKey, id: Id) -> Result<Option<FileRow>, Error> {
    let row = vector_files::table.find((of.tenant, of.database, id));
    Ok(on_conn!(conn, |conn| row.select(FileRow::as_select()).first(conn).await.optional()?))
}

pub(crate) async fn found_build<C: AsConn>(
    conn: &mut C,
    tenant: Id,
    id: Id,
) -> Result<Option<BuildRow>, Error> {
    let row = vector_builds::table.find((tenant, id));
    Ok(on_conn!(conn, |conn| row.select(BuildRow::as_select()).first(conn).await.optional()?))
}

/// A build that somebody works on; `NotFound` when it is over.
pub(crate) async fn open_build<C: AsConn>(conn: &mut C, build: &Build) -> Result<BuildRow, Error> {
    let row = found_build(conn, build.tenant.into(), build.id.into()).await?;
    row.filter(|row| !row.state.0.is_over()).ok_or_else(|| StoreError::NotFound.into())
}

/// Writes builds with their errands.
pub(crate) async fn add_builds<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    rows: &[BuildRow],
    now: Timestamp,
) -> Result<(), Error> {
    for row in rows {
        on_conn!(conn, |conn| {
            insert_into(vector_builds::table).values(row).execute(conn).await?;
        });
        add_errand(conn, tenant, IngestTask::Build(row.id.into()), now).await?;
    }
    let more = counts::Used { waiting: crate::stored(rows.len() as u64), ..counts::Used::default() };
    counts::used(conn, tenant.into(), more).await
}

/// Counts builds more in a job that goes on.
pub(crate) async fn job_grows<C: AsConn>(
    conn: &mut C,
    job: &JobRow,
    count: i64,
    bytes: i64,
) -> Result<(), Error> {
    on_conn!(conn, |conn| {
        update(vector_jobs::table.find((job.organization_id, job.id)))
            .set((
                vector_jobs::total.eq(vector_jobs::total + count),
                vector_jobs::queued.eq(vector_jobs::queued + count),
                vector_jobs::bytes.eq(vector_jobs::bytes + bytes),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Writes the errand of a task.
pub(crate) async fn add_errand<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    task: IngestTask,
    now: Timestamp,
) -> Result<(), Error> {
    let row = ErrandRow::of(task.errand(tenant, now), now)?;
    errands::insert_row(conn, &row).await
}

/// Puts a file on a stage of the build that works on it, with the state that goes with it.
pub(crate) async fn set_file<C: AsConn>(
    conn: &mut C,
    row: &FileRow,
    state: FileState,
    stage: Stage,
    error: Option<&FileError>,
) -> Result<(), Error> {
    let of = DatabaseKey::of(row.organization_id, row.database_id);
    let error = error.map(document::encode).transpose()?;
    on_conn!(conn, |conn| {
        update(vector_files::table.find((of.tenant, of.database, row.id)))
            .set((
                vector_files::state.eq(FileWord(state)),
                vector_files::stage.eq(StageWord(stage)),
                vector_files::error.eq(error),
            ))
            .execute(conn)
            .await?;
    });
    moved(conn, of, Some(row.state.0), Some(state)).await
}

/// Writes the values by which filters find a file, in place of those of before; whether they are others.
pub(crate) async fn set_fields<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    id: Id,
    fields: &[(String, FieldValue)],
) -> Result<bool, Error> {
    let before = vector_fields::table
        .filter(vector_fields::organization_id.eq(of.tenant))
        .filter(vector_fields::database_id.eq(of.database))
        .filter(vector_fields::file_id.eq(id));
    let values = before.select((vector_fields::field, vector_fields::value));
    let there: Vec<(String, String)> = on_conn!(conn, |conn| values.load(conn).await?);
    let there: BTreeSet<(String, String)> = there.into_iter().collect();
    let own: BTreeSet<(String, String)> =
        fields.iter().map(|(field, value)| (field.clone(), text_of(value))).collect();
    if there == own {
        return Ok(false);
    }
    on_conn!(conn, |conn| {
        delete(before).execute(conn).await?;
    });
    for (place, (field, value)) in (0..).zip(own) {
        let (organization_id, database_id, head) = (of.tenant, of.database, head_of(&value));
        let row = FieldRow { organization_id, database_id, field, value, file_id: id, head, place };
        on_conn!(conn, |conn| {
            insert_into(vector_fields::table).values(&row).execute(conn).await?;
        });
    }
    Ok(true)
}

/// Counts a file that has a content; gives the key under which that is kept.
pub(crate) async fn keep_blob<C: AsConn>(
    conn: &mut C,
    tenant: Id,
    sha256: &str,
    blob: &str,
) -> Result<String, Error> {
    let row = BlobRow { organization_id: tenant, sha256: sha256.to_owned(), blob: blob.to_owned(), refs: 0 };
    let kept: String = on_conn!(conn, |conn| {
        insert_into(vector_blobs::table).values(&row).on_conflict_do_nothing().execute(conn).await?;
        let key = vector_blobs::table.find((tenant, sha256));
        update(key).set(vector_blobs::refs.eq(vector_blobs::refs + 1_i64)).execute(conn).await?;
        key.select(vector_blobs::blob).first(conn).await?
    });
    Ok(kept)
}

/// Counts a file less that has a content; the last one leaves the bytes to the background.
pub(crate) async fn drop_blob<C: AsConn>(conn: &mut C, of: DatabaseKey, sha256: &str) -> Result<(), Error> {
    let key = vector_blobs::table.find((of.tenant, sha256));
    let row: Option<BlobRow> =
        on_conn!(conn, |conn| key.select(BlobRow::as_select()).first(conn).await.optional()?);
    let Some(row) = row else { return Ok(()) };
    if row.refs > 1 {
        on_conn!(conn, |conn| {
            update(key).set(vector_blobs::refs.eq(row.refs - 1)).execute(conn).await?;
        });
        return Ok(());
    }
    on_conn!(conn, |conn| {
        delete(key).execute(conn).await?;
    });
    counts::leave(conn, of, counts::Leftover::Blob(row.blob)).await
}

/// Ends an open build without passages that can be found, and leaves what it wrote to the background.
pub(crate) async fn close_build<C: AsConn>(
    conn: &mut C,
    row: &BuildRow,
    state: BuildState,
    stage: Stage,
    error: Option<&FileError>,
    now: Timestamp,
) -> Result<(), Error> {
    let error = error.map(document::encode).transpose()?;
    on_conn!(conn, |conn| {
        update(vector_builds::table.find((row.organization_id, row.id)))
            .set((
                vector_builds::state.eq(BuildWord(state)),
                vector_builds::stage.eq(StageWord(stage)),
                vector_builds::error.eq(error),
                vector_builds::finished_at.eq(Some(heddle_store::At(now))),
            ))
            .execute(conn)
            .await?;
    });
    if let Some(written) = row.written().filter(|_| state != BuildState::Ready) {
        let of = DatabaseKey::of(row.organization_id, row.database_id);
        counts::leave(conn, of, counts::Leftover::Passages(written)).await?;
    }
    let more = counts::Used { waiting: -1, ..counts::Used::default() };
    counts::used(conn, row.organization_id, more).await
}

/// Removes the rows of a live file of a generation.
pub(crate) async fn unlive<C: AsConn>(conn: &mut C, row: &LiveRow) -> Result<(), Error> {
    let key = (row.organization_id, row.database_id, row.generation, row.file_id);
    on_conn!(conn, |conn| {
        delete(vector_live::table.find(key)).execute(conn).await?;
    });
    Ok(())
}
