//! Passages as indexes and queries read them.

use std::collections::HashMap;

use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{FileId, TenantId, VectorDatabaseId};
use heddle_store::{Db, Id, StoreError, read};
use heddle_vectors::ports::{ChangesSince, FieldCondition, FoundPassage, LiveFile, Neighbours, Position};
use heddle_vectors::records::{File, Passage, PassageId, PassageRange};

use crate::ending::of_live;
use crate::key::DatabaseKey;
use crate::schema::{
    ChangeRow, FileRow, LiveRow, PassageRow, vector_changes, vector_databases, vector_fields, vector_files,
    vector_live, vector_passages,
};
use crate::stored;
use crate::values::values_through;

/// Ids that are asked for at once.
const AT_ONCE: usize = 500;

pub(crate) async fn position(
    db: &Db,
    tenant: TenantId,
    database: VectorDatabaseId,
) -> Result<Position, StoreError> {
    let (sequence, generation, fields) = read!(db, |conn| {
        Ok(vector_databases::table
            .find((Id::from(tenant), Id::from(database)))
            .select((
                vector_databases::sequence,
                vector_databases::generation,
                vector_databases::fields_sequence,
            ))
            .first(conn)
            .await?)
    })?;
    // An index that is brought to this place keeps it.
    db.settled().await?;
    Ok(Position { sequence, generation, fields })
}

pub(crate) async fn changes(
    db: &Db,
    tenant: TenantId,
    database: VectorDatabaseId,
    since: i64,
    most: u32,
) -> Result<ChangesSince, StoreError> {
    let rows: Vec<ChangeRow> = read!(db, |conn| {
        Ok(vector_changes::table
            .filter(vector_changes::organization_id.eq(Id::from(tenant)))
            .filter(vector_changes::database_id.eq(Id::from(database)))
            .filter(vector_changes::sequence.gt(since))
            .order(vector_changes::sequence)
            .limit(i64::from(most))
            .select(ChangeRow::as_select())
            .load(conn)
            .await?)
    })?;
    let is_whole = rows.iter().zip(since + 1..).all(|(row, expected)| row.sequence == expected);
    Ok(match is_whole {
        true => ChangesSince::All(rows.into_iter().map(Into::into).collect()),
        false => ChangesSince::Gap,
    })
}

pub(crate) async fn passages(
    db: &Db,
    tenant: TenantId,
    database: VectorDatabaseId,
    ids: PassageRange,
) -> Result<Vec<Passage>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<PassageRow> = vector_passages::table
            .filter(vector_passages::organization_id.eq(Id::from(tenant)))
            .filter(vector_passages::database_id.eq(Id::from(database)))
            .filter(vector_passages::id.ge(stored(ids.first)).and(vector_passages::id.lt(stored(ids.end))))
            .order(vector_passages::id)
            .select(PassageRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(Passage::try_from).collect::<Result<Vec<_>, _>>()
    })
}

pub(crate) async fn live(
    db: &Db,
    tenant: TenantId,
    database: VectorDatabaseId,
    generation: i64,
    after: Option<FileId>,
    most: u32,
) -> Result<Vec<LiveFile>, StoreError> {
    // Ids that are made here are never nil.
    let after = after.map_or(Id(uuid::Uuid::nil()), Id::from);
    let rows: Vec<LiveRow> = read!(db, |conn| {
        Ok(vector_live::table
            .filter(vector_live::organization_id.eq(Id::from(tenant)))
            .filter(vector_live::database_id.eq(Id::from(database)))
            .filter(vector_live::generation.eq(generation))
            .filter(vector_live::file_id.gt(after))
            .filter(vector_live::enabled.eq(true))
            .order(vector_live::file_id)
            .limit(i64::from(most))
            .select(LiveRow::as_select())
            .load(conn)
            .await?)
    })?;
    Ok(rows.iter().map(|row| LiveFile { file: row.file_id.into(), passages: of_live(row) }).collect())
}

pub(crate) async fn live_of(
    db: &Db,
    of: DatabaseKey,
    generation: i64,
    files: &[FileId],
) -> Result<Vec<LiveFile>, StoreError> {
    let mut all = Vec::with_capacity(files.len());
    for part in files.chunks(AT_ONCE) {
        let ids: Vec<Id> = part.iter().copied().map(Id::from).collect();
        let rows: Vec<LiveRow> = read!(db, |conn| {
            Ok(vector_live::table
                .filter(vector_live::organization_id.eq(of.tenant))
                .filter(vector_live::database_id.eq(of.database))
                .filter(vector_live::generation.eq(generation))
                .filter(vector_live::file_id.eq_any(&ids))
                .filter(vector_live::enabled.eq(true))
                .select(LiveRow::as_select())
                .load(conn)
                .await?)
        })?;
        all.extend(rows.iter().map(|row| LiveFile { file: row.file_id.into(), passages: of_live(row) }));
    }
    Ok(all)
}

/// Ids of the files for which a condition holds.
pub(crate) async fn files_where_of(
    db: &Db,
    of: DatabaseKey,
    condition: &FieldCondition,
) -> Result<Vec<Id>, StoreError> {
    read!(db, |conn| {
        let files = vector_fields::table
            .filter(vector_fields::organization_id.eq(of.tenant))
            .filter(vector_fields::database_id.eq(of.database))
            .filter(vector_fields::field.eq(condition.field.as_str()))
            .select(vector_fields::file_id);
        // A list of texts may hold a part more than once.
        Ok(values_through!(files, &condition.test, |files| files.distinct().load(conn).await?))
    })
}

pub(crate) async fn found(
    db: &Db,
    tenant: TenantId,
    database: VectorDatabaseId,
    generation: i64,
    ids: &[PassageId],
    with_vectors: bool,
) -> Result<Vec<FoundPassage>, StoreError> {
    let of = DatabaseKey::of(tenant, database);
    let mut all = Vec::with_capacity(ids.len());
    for part in ids.chunks(AT_ONCE) {
        let numbers: Vec<i64> = part.iter().map(|id| stored(id.0)).collect();
        let rows: Vec<(PassageRow, LiveRow)> = read!(db, |conn| {
            let rows: Vec<PassageRow> = vector_passages::table
                .filter(vector_passages::organization_id.eq(of.tenant))
                .filter(vector_passages::database_id.eq(of.database))
                .filter(vector_passages::id.eq_any(&numbers))
                .select(PassageRow::as_select())
                .load(conn)
                .await?;
            let mut files: Vec<Id> = rows.iter().map(|row| row.file_id).collect();
            files.sort_unstable();
            files.dedup();
            // Read after the passages: what went between the two is not answered.
            let live: Vec<LiveRow> = vector_live::table
                .filter(vector_live::organization_id.eq(of.tenant))
                .filter(vector_live::database_id.eq(of.database))
                .filter(vector_live::generation.eq(generation))
                .filter(vector_live::file_id.eq_any(files))
                .filter(vector_live::enabled.eq(true))
                .select(LiveRow::as_select())
                .load(conn)
                .await?;
            let live: HashMap<Id, LiveRow> = live.into_iter().map(|row| (row.file_id, row)).collect();
            let beside = |row: PassageRow| {
                let of = live.get(&row.file_id).filter(|live| live.build_id == row.build_id)?;
                Some((row, copy(of)))
            };
            Ok(rows.into_iter().filter_map(beside).collect())
        })?;
        all.extend(with_files(db, of, rows, with_vectors).await?);
    }
    Ok(all)
}

fn copy(row: &LiveRow) -> LiveRow {
    LiveRow {
        organization_id: row.organization_id,
        database_id: row.database_id,
        generation: row.generation,
        file_id: row.file_id,
        build_id: row.build_id,
        first_passage: row.first_passage,
        end_passage: row.end_passage,
        bytes: row.bytes,
        enabled: row.enabled,
    }
}

/// Passages with what their citations need of their files.
async fn with_files(
    db: &Db,
    of: DatabaseKey,
    rows: Vec<(PassageRow, LiveRow)>,
    with_vectors: bool,
) -> Result<Vec<FoundPassage>, StoreError> {
    let mut files: Vec<Id> = rows.iter().map(|(row, _)| row.file_id).collect();
    files.sort_unstable();
    files.dedup();
    let files: HashMap<Id, File> = read!(db, |conn| {
        let rows: Vec<FileRow> = vector_files::table
            .filter(
                vector_files::organization_id.eq(of.tenant).and(vector_files::database_id.eq(of.database)),
            )
            .filter(vector_files::id.eq_any(files))
            .select(FileRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(|row| Ok((row.id, File::try_from(row)?))).collect()
    })?;
    let mut all = Vec::with_capacity(rows.len());
    for (mut row, live) in rows {
        let Some(file) = files.get(&row.file_id).filter(|file| file.enabled) else { continue };
        if !with_vectors {
            row.vector = None;
        }
        all.push(FoundPassage {
            passage: row.try_into()?,
            file_name: file.name.clone(),
            title: file.shown_title().to_owned(),
            metadata: file.metadata.clone(),
            of: of_live(&live),
        });
    }
    Ok(all)
}

pub(crate) async fn neighbours(
    db: &Db,
    tenant: TenantId,
    database: VectorDatabaseId,
    of: &[Neighbours],
) -> Result<Vec<(PassageId, Vec<Passage>)>, StoreError> {
    let mut all = Vec::with_capacity(of.len());
    for one in of {
        let each = u64::from(one.each);
        let first = one.of.0.saturating_sub(each).max(one.within.first);
        let end = one.of.0.saturating_add(each + 1).min(one.within.end);
        let mut beside = passages(db, tenant, database, PassageRange { first, end }).await?;
        beside.retain(|passage| passage.id != one.of);
        for passage in &mut beside {
            passage.vector = None;
        }
        all.push((one.of, beside));
    }
    Ok(all)
}
