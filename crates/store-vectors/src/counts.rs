//! Counts of databases and organisations, and the numbers of commits: kept with the commits.

use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, insert_into};
use diesel_async::RunQueryDsl;
use heddle_store::{AsConn, Error, Id, on_conn, update};
use heddle_vectors::records::{FileState, PassageRange};

use crate::key::DatabaseKey;
use crate::schema::{
    ChangeRow, PurgeRow, UsageRow, vector_changes, vector_databases, vector_files, vector_purges,
    vector_usage,
};
use crate::stored;
use crate::words::FileWord;

/// Change of what an organisation has: more where positive, less where negative.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    pub(crate) databases: i64,
    pub(crate) files: i64,
    pub(crate) passages: i64,
    pub(crate) bytes: i64,
    pub(crate) waiting: i64,
}

/// Counts what an organisation has more, or less.
pub(crate) async fn used<C: AsConn>(conn: &mut C, tenant: Id, more: Used) -> Result<(), Error> {
    let none =
        UsageRow { organization_id: tenant, databases: 0, files: 0, passages: 0, bytes: 0, waiting: 0 };
    on_conn!(conn, |conn| {
        insert_into(vector_usage::table).values(&none).on_conflict_do_nothing().execute(conn).await?;
        update(vector_usage::table.find(tenant))
            .set((
                vector_usage::databases.eq(vector_usage::databases + more.databases),
                vector_usage::files.eq(vector_usage::files + more.files),
                vector_usage::passages.eq(vector_usage::passages + more.passages),
                vector_usage::bytes.eq(vector_usage::bytes + more.bytes),
                vector_usage::waiting.eq(vector_usage::waiting + more.waiting),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Number of the databases of an organisation.
pub(crate) async fn databases<C: AsConn>(conn: &mut C, tenant: Id) -> Result<i64, Error> {
    let row = vector_usage::table.find(tenant).select(vector_usage::databases);
    let found: Option<i64> = on_conn!(conn, |conn| row.first(conn).await.optional()?);
    Ok(found.unwrap_or(0))
}

/// Number of the databases of all organisations together: a row for each of them is read.
pub(crate) async fn in_all<C: AsConn>(conn: &mut C) -> Result<i64, Error> {
    let rows = vector_usage::table.select(vector_usage::databases);
    let all: Vec<i64> = on_conn!(conn, |conn| rows.load(conn).await?);
    Ok(all.into_iter().sum())
}

/// Counts a file of a database that changed its state; none is before it was there, or after it went.
pub(crate) async fn moved<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    from: Option<FileState>,
    to: Option<FileState>,
) -> Result<(), Error> {
    let is = |state: Option<FileState>, which| i64::from(state == Some(which));
    let ready = is(to, FileState::Ready) - is(from, FileState::Ready);
    let failed = is(to, FileState::Failed) - is(from, FileState::Failed);
    let files = i64::from(to.is_some()) - i64::from(from.is_some());
    if (ready, failed, files) == (0, 0, 0) {
        return Ok(());
    }
    on_conn!(conn, |conn| {
        update(vector_databases::table.find(of.pair()))
            .set((
                vector_databases::ready_files.eq(vector_databases::ready_files + ready),
                vector_databases::failed_files.eq(vector_databases::failed_files + failed),
                vector_databases::files.eq(vector_databases::files + files),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Counts the files of a database by their states once more, after many of them changed theirs.
pub(crate) async fn recount<C: AsConn>(conn: &mut C, of: DatabaseKey) -> Result<(), Error> {
    let in_state = |state: FileState| {
        vector_files::table
            .filter(vector_files::organization_id.eq(of.tenant))
            .filter(vector_files::database_id.eq(of.database))
            .filter(vector_files::state.eq(FileWord(state)))
            .count()
    };
    on_conn!(conn, |conn| {
        let ready: i64 = in_state(FileState::Ready).get_result(conn).await?;
        let failed: i64 = in_state(FileState::Failed).get_result(conn).await?;
        update(vector_databases::table.find(of.pair()))
            .set((vector_databases::ready_files.eq(ready), vector_databases::failed_files.eq(failed)))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Writes a commit that changes what can be found in a generation, with the next number.
pub(crate) async fn changed<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    generation: i64,
    removed: Option<PassageRange>,
    added: Option<PassageRange>,
) -> Result<(), Error> {
    let first = |range: Option<PassageRange>| range.map(|range| stored(range.first));
    let end = |range: Option<PassageRange>| range.map(|range| stored(range.end));
    on_conn!(conn, |conn| {
        let key = vector_databases::table.find(of.pair());
        let before: i64 = key.select(vector_databases::sequence).first(conn).await?;
        let row = ChangeRow {
            organization_id: of.tenant,
            database_id: of.database,
            sequence: before + 1,
            generation,
            removed_first: first(removed),
            removed_end: end(removed),
            added_first: first(added),
            added_end: end(added),
        };
        update(key).set(vector_databases::sequence.eq(row.sequence)).execute(conn).await?;
        insert_into(vector_changes::table).values(&row).execute(conn).await?;
    });
    Ok(())
}

/// Part of a database that goes in the background.
pub(crate) enum Leftover {
    Passages(PassageRange),
    Blob(String),
    Generation(i64),
    Whole,
}

/// Leaves a part of a database to the background.
pub(crate) async fn leave<C: AsConn>(conn: &mut C, of: DatabaseKey, leftover: Leftover) -> Result<(), Error> {
    let mut row = PurgeRow {
        organization_id: of.tenant,
        id: Id(random_id()),
        database_id: of.database,
        first_passage: None,
        end_passage: None,
        blob: None,
        generation: None,
    };
    match leftover {
        Leftover::Passages(range) => {
            row.first_passage = Some(stored(range.first));
            row.end_passage = Some(stored(range.end));
        }
        Leftover::Blob(key) => row.blob = Some(key),
        Leftover::Generation(generation) => row.generation = Some(generation),
        Leftover::Whole => {}
    }
    on_conn!(conn, |conn| {
        insert_into(vector_purges::table).values(&row).execute(conn).await?;
    });
    Ok(())
}

/// Id that no caller gave: of a leftover, or of a build that follows from another one.
pub(crate) fn random_id() -> uuid::Uuid {
    uuid::Uuid::now_v7()
}
