//! Leftovers: what goes in the background, so many rows at a time.

use diesel::{
    BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper, delete,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_store::{AsConn, Db, Error, Id, StoreError, on_conn, read, write_tx};
use heddle_vectors::ports::Purge;
use heddle_vectors::records::PassageRange;

use crate::ending::of_live;
use crate::key::DatabaseKey;
use crate::rows::range;
use crate::schema::{
    DatabaseRow, FileRow, LiveRow, PurgeRow, vector_blobs, vector_builds, vector_changes, vector_databases,
    vector_fields, vector_files, vector_job_servers, vector_jobs, vector_live, vector_passages,
    vector_purges,
};
use crate::stored;
use crate::writing::{drop_blob, unlive};

pub(crate) async fn all(db: &Db, most: u32) -> Result<Vec<Purge>, StoreError> {
    let rows: Vec<PurgeRow> = read!(db, |conn| {
        Ok(vector_purges::table
            .order((vector_purges::organization_id, vector_purges::id))
            .limit(i64::from(most))
            .select(PurgeRow::as_select())
            .load(conn)
            .await?)
    })?;
    // Bytes are removed on the strength of it.
    if !rows.is_empty() {
        db.settled().await?;
    }
    let mut left = Vec::with_capacity(rows.len());
    for row in rows {
        match row.generation {
            Some(generation) if is_of_use(db, &row, generation).await? => {
                let gone = vector_purges::table.find((row.organization_id, row.id));
                write_tx!(db, |conn| Ok(delete(gone).execute(conn).await?))?;
            }
            Some(_) | None => left.push(row),
        }
    }
    let purge = |row: PurgeRow| Purge {
        tenant: row.organization_id.into(),
        id: row.id.into(),
        database: row.database_id.into(),
        passages: range(row.first_passage, row.end_passage),
        blob: row.blob,
        generation: row.generation,
    };
    Ok(left.into_iter().map(purge).collect())
}

/// Whether a generation serves or is built, so that nothing of it may go: a number is never given twice, and one that was, by
/// an earlier version of the program, has no leftovers.
async fn is_of_use(db: &Db, row: &PurgeRow, generation: i64) -> Result<bool, StoreError> {
    let of = DatabaseKey::of(row.organization_id, row.database_id);
    read!(db, |conn| {
        let found: Option<DatabaseRow> = vector_databases::table
            .find(of.pair())
            .select(DatabaseRow::as_select())
            .first(conn)
            .await
            .optional()?;
        Ok(found.is_some_and(|database| database.has(generation)))
    })
}

pub(crate) async fn step(db: &Db, purge: &Purge, most: u32) -> Result<bool, StoreError> {
    let of = DatabaseKey::of(purge.tenant, purge.database);
    write_tx!(db, |conn| {
        heddle_store::lock::serialise(conn, &crate::lock_name(purge.tenant)).await?;
        let is_gone = match (purge.passages, &purge.blob, purge.generation) {
            (Some(range), _, _) => passages(conn, of, range, most).await?,
            (None, Some(_), _) => true,
            (None, None, Some(generation)) => in_generation(conn, of, generation, most).await?,
            (None, None, None) => whole(conn, of, most).await?,
        };
        if is_gone {
            delete(vector_purges::table.find((of.tenant, Id::from(purge.id)))).execute(conn).await?;
        }
        Ok(is_gone)
    })
}

/// Removes passages of a range, the first so many; gives whether none is left.
async fn passages<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    range: PassageRange,
    most: u32,
) -> Result<bool, Error> {
    let within = vector_passages::table
        .filter(
            vector_passages::organization_id.eq(of.tenant).and(vector_passages::database_id.eq(of.database)),
        )
        .filter(vector_passages::id.ge(stored(range.first)).and(vector_passages::id.lt(stored(range.end))));
    let ids = within.order(vector_passages::id).limit(i64::from(most)).select(vector_passages::id);
    let ids: Vec<i64> = on_conn!(conn, |conn| ids.load(conn).await?);
    let Some(last) = ids.last() else { return Ok(true) };
    let first = within.filter(vector_passages::id.le(*last));
    on_conn!(conn, |conn| {
        delete(first).execute(conn).await?;
    });
    Ok(ids.len() < most as usize)
}

/// Removes what could be found in a generation that is gone, file by file.
async fn in_generation<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    generation: i64,
    most: u32,
) -> Result<bool, Error> {
    let mut left = u64::from(most);
    while left > 0 {
        let next = vector_live::table
            .filter(vector_live::organization_id.eq(of.tenant))
            .filter(vector_live::database_id.eq(of.database))
            .filter(vector_live::generation.eq(generation))
            .order(vector_live::file_id);
        let next: Option<LiveRow> =
            on_conn!(conn, |conn| next.select(LiveRow::as_select()).first(conn).await.optional()?);
        let Some(row) = &next else { return Ok(true) };
        if !passages(conn, of, of_live(row), most).await? {
            return Ok(false);
        }
        unlive(conn, row).await?;
        left = left.saturating_sub(of_live(row).len().max(1));
    }
    Ok(false)
}

/// Removes rows of a database that is gone: a table behind the other, so many rows of each.
async fn whole<C: AsConn>(conn: &mut C, of: DatabaseKey, most: u32) -> Result<bool, Error> {
    let everything = PassageRange { first: 0, end: i64::MAX.unsigned_abs() };
    if !passages(conn, of, everything, most).await? {
        return Ok(false);
    }
    let files = vector_files::table
        .filter(vector_files::organization_id.eq(of.tenant).and(vector_files::database_id.eq(of.database)))
        .order(vector_files::id)
        .limit(i64::from(most / 10 + 1));
    let files: Vec<FileRow> = on_conn!(conn, |conn| files.select(FileRow::as_select()).load(conn).await?);
    for file in &files {
        _ = crate::writing::set_fields(conn, of, file.id, &[]).await?;
        drop_blob(conn, of, &file.sha256).await?;
        on_conn!(conn, |conn| {
            delete(vector_files::table.find((of.tenant, of.database, file.id))).execute(conn).await?;
        });
    }
    if !files.is_empty() {
        return Ok(false);
    }
    rest(conn, of).await?;
    Ok(true)
}

/// Removes the rows that are left of a database that is gone.
async fn rest<C: AsConn>(conn: &mut C, of: DatabaseKey) -> Result<(), Error> {
    let jobs = vector_jobs::table
        .filter(vector_jobs::organization_id.eq(of.tenant).and(vector_jobs::database_id.eq(of.database)));
    let ids: Vec<Id> = on_conn!(conn, |conn| jobs.select(vector_jobs::id).load(conn).await?);
    for id in ids {
        let servers = vector_job_servers::table
            .filter(vector_job_servers::organization_id.eq(of.tenant).and(vector_job_servers::job_id.eq(id)));
        on_conn!(conn, |conn| {
            delete(servers).execute(conn).await?;
        });
    }
    let live = vector_live::table
        .filter(vector_live::organization_id.eq(of.tenant).and(vector_live::database_id.eq(of.database)));
    let builds = vector_builds::table
        .filter(vector_builds::organization_id.eq(of.tenant).and(vector_builds::database_id.eq(of.database)));
    let changes = vector_changes::table.filter(
        vector_changes::organization_id.eq(of.tenant).and(vector_changes::database_id.eq(of.database)),
    );
    let fields = vector_fields::table
        .filter(vector_fields::organization_id.eq(of.tenant).and(vector_fields::database_id.eq(of.database)));
    on_conn!(conn, |conn| {
        delete(live).execute(conn).await?;
        delete(builds).execute(conn).await?;
        delete(changes).execute(conn).await?;
        delete(fields).execute(conn).await?;
        delete(jobs).execute(conn).await?;
    });
    Ok(())
}

pub(crate) async fn kept(db: &Db, tenant: TenantId, keys: &[String]) -> Result<Vec<String>, StoreError> {
    let mut kept = Vec::new();
    for part in keys.chunks(500) {
        let found: Vec<String> = read!(db, |conn| {
            Ok(vector_blobs::table
                .filter(vector_blobs::organization_id.eq(Id::from(tenant)))
                .filter(vector_blobs::blob.eq_any(part))
                .select(vector_blobs::blob)
                .load(conn)
                .await?)
        })?;
        kept.extend(found);
    }
    Ok(kept)
}

pub(crate) async fn trim_changes(db: &Db, keep: u32, most: u32) -> Result<u64, StoreError> {
    let databases: Vec<(Id, Id, i64)> = read!(db, |conn| {
        Ok(vector_databases::table
            .filter(vector_databases::sequence.gt(i64::from(keep)))
            .select((vector_databases::organization_id, vector_databases::id, vector_databases::sequence))
            .load(conn)
            .await?)
    })?;
    let mut gone = 0;
    for (tenant, database, sequence) in databases {
        let old = sequence - i64::from(keep);
        let first: Option<i64> = read!(db, |conn| {
            Ok(vector_changes::table
                .filter(vector_changes::organization_id.eq(tenant))
                .filter(vector_changes::database_id.eq(database))
                .order(vector_changes::sequence)
                .select(vector_changes::sequence)
                .first(conn)
                .await
                .optional()?)
        })?;
        let Some(first) = first.filter(|first| *first <= old) else { continue };
        let last = old.min(first + i64::from(most));
        let rows = write_tx!(db, |conn| {
            let past = vector_changes::table
                .filter(vector_changes::organization_id.eq(tenant))
                .filter(vector_changes::database_id.eq(database))
                .filter(vector_changes::sequence.le(last));
            Ok(delete(past).execute(conn).await?)
        })?;
        gone += rows as u64;
    }
    Ok(gone)
}
