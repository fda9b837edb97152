//! Files: lists, uploads, changes, deletion.

use std::collections::BTreeSet;

use diesel::sql_types::Text;
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, JoinOnDsl, QueryDsl, SelectableHelper,
    TextExpressionMethods, delete, insert_into,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{DatabaseName, FileId, Page, PageRequest, Revision, TenantId, VectorDatabaseId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::filter::Names;
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, Db, Error, Id, StoreError, journal, keyset, lock, on_conn, page, read, revision, search, update,
    within, write_tx,
};
use heddle_usecase::Journal;
use heddle_vectors::ports::{
    Deleted, FieldCondition, FieldValue, FileFilter, FilePatchWrite, FileUpload, Quotas, Sort,
};
use heddle_vectors::records::{BuildState, File, FileState, Stage, VectorDatabase};

use crate::counts::{Leftover, Used, changed, leave, moved, used};
use crate::databases::{OPEN_BUILDS, named};
use crate::ending::{job_moved, of_live, settle_job};
use crate::key::DatabaseKey;
use crate::schema::{
    BuildRow, FileChange, FileRow, JobRow, LiveRow, vector_builds, vector_databases, vector_fields,
    vector_files, vector_jobs, vector_live,
};
use crate::values::{Span, head_of, span_of, values_through};
use crate::words::{FileWord, StageWord};
use crate::writing::{self, add_builds, close_build, drop_blob, keep_blob, set_fields, unlive};
use crate::{lock_name, stored, tomb};

impl Names<resource::Document> for vector_files::id {}

/// A query of files narrowed to what a filter says of them and a caller may see. With the place of the condition that drives
/// it, from whose values it reads files in their order: no index of files is to be taken in its place, each of which would
/// have all files of a state or a type looked at and sorted.
macro_rules! narrowed {
    ($query:expr, $of:expr, $filter:expr, driven by $driving:expr, $access:expr) => {{
        let state = diesel::dsl::sql::<Text>("coalesce(vector_files.state, '')");
        let media_type = diesel::dsl::sql::<Text>("coalesce(vector_files.media_type, '')");
        narrowed!(@ $query, $of, $filter, Some($driving), (state, media_type), $access)
    }};
    ($query:expr, $of:expr, $filter:expr, $access:expr) => {{
        let columns = (vector_files::state, vector_files::media_type);
        narrowed!(@ $query, $of, $filter, None::<usize>, columns, $access)
    }};
    (@ $query:expr, $of:expr, $filter:expr, $driving:expr, $columns:expr, $access:expr) => {{
        let (state_column, type_column) = $columns;
        let mut query = $query;
        if let Some(q) = &$filter.q {
            query = query.filter(vector_files::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(name) = &$filter.name {
            query = query.filter(vector_files::name.eq(name));
        }
        if let Some(state) = $filter.state {
            query = query.filter(state_column.eq(FileWord(state)));
        }
        if let Some(media_type) = &$filter.media_type {
            query = query.filter(type_column.eq(media_type));
        }
        let others = $filter.metadata.iter().enumerate().filter(|(at, _)| Some(*at) != $driving);
        for (_, condition) in others {
            let files = vector_fields::table
                .filter(vector_fields::organization_id.eq($of.tenant))
                .filter(vector_fields::database_id.eq($of.database))
                .filter(vector_fields::field.eq(condition.field.clone()))
                .select(vector_fields::file_id);
            query = values_through!(files, &condition.test, |files| query.filter(vector_files::id.eq_any(files)));
        }
        within!(query, $access, vector_files::id)
    }};
}

/// The place of a condition, and the field and the one value that it asks for.
fn one_value(at: usize, condition: &FieldCondition) -> Option<(usize, &str, String)> {
    match span_of(&condition.test) {
        Span::Any(mut texts) if texts.len() == 1 => Some((at, condition.field.as_str(), texts.pop()?)),
        Span::Any(_) | Span::Between(_, _) | Span::Holding(_) => None,
    }
}

pub(crate) async fn list(
    db: &Db,
    database: &VectorDatabase,
    filter: &FileFilter,
    access: &AccessFilter<resource::Document>,
    page: &PageRequest,
) -> Result<Page<File>, StoreError> {
    let by_name = filter.sort == Some(Sort::Name);
    let named: Option<(String, uuid::Uuid)> = if by_name { page::position(page)? } else { None };
    let named = named.map(|(name, id)| (name, Id(id)));
    let newest: Option<uuid::Uuid> = if by_name { None } else { page::position(page)? };
    if access.is_empty() || is_denied(access, &database.name) {
        return Ok(page::empty());
    }
    let of = DatabaseKey::of(database.tenant, database.id);
    // Files of one value come in the order of their ids from where the values stand: as many are read as are asked for.
    let one = if by_name {
        None
    } else {
        filter.metadata.iter().enumerate().find_map(|(at, one)| one_value(at, one))
    };
    let items = read!(db, |conn| {
        let rows: Vec<FileRow> = match &one {
            Some((at, field, value)) => {
                let values = diesel::alias!(vector_fields as one_value);
                let is_same = vector_files::organization_id
                    .eq(values.field(vector_fields::organization_id))
                    .and(vector_files::database_id.eq(values.field(vector_fields::database_id)))
                    .and(vector_files::id.eq(values.field(vector_fields::file_id)));
                let of_value = values
                    .inner_join(vector_files::table.on(is_same))
                    .filter(values.field(vector_fields::organization_id).eq(of.tenant))
                    .filter(values.field(vector_fields::database_id).eq(of.database))
                    .filter(values.field(vector_fields::field).eq(*field))
                    .filter(values.field(vector_fields::head).eq(head_of(value)))
                    .filter(values.field(vector_fields::value).eq(value))
                    .select(FileRow::as_select())
                    .into_boxed();
                let query = narrowed!(of_value, of, filter, driven by *at, access);
                let id = values.field(vector_fields::file_id);
                let query = query.limit(page::surplus(page)).order(id.desc());
                match newest {
                    Some(last) => query.filter(id.lt(Id(last))).load(conn).await?,
                    None => query.load(conn).await?,
                }
            }
            None => {
                let is_within = vector_files::organization_id
                    .eq(of.tenant)
                    .and(vector_files::database_id.eq(of.database));
                let all = vector_files::table.filter(is_within).select(FileRow::as_select()).into_boxed();
                let query = narrowed!(all, of, filter, access).limit(page::surplus(page));
                if by_name {
                    keyset!(query, (vector_files::name, vector_files::id), named.clone(), ascending)
                        .load(conn)
                        .await?
                } else {
                    let query = query.order(vector_files::id.desc());
                    match newest {
                        Some(last) => query.filter(vector_files::id.lt(Id(last))).load(conn).await?,
                        None => query.load(conn).await?,
                    }
                }
            }
        };
        rows.into_iter().map(File::try_from).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(if by_name {
        Page::from_surplus(items, page.limit, |file: &File| (file.name.clone(), file.id))
    } else {
        Page::from_surplus(items, page.limit, |file: &File| file.id)
    })
}

/// Whether all that is within a database is denied.
fn is_denied(access: &AccessFilter<resource::Document>, name: &DatabaseName) -> bool {
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
    let FilePatchWrite { file, fields, reprocess } = write;
    let of = DatabaseKey::of(file.tenant, file.database);
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(file.tenant)).await?;
        let before = writing::file(conn, of, file.id.into()).await?.ok_or(StoreError::NotFound)?;
        revision::check(before.revision, expected)?;
        let row = FileRow::of(file, before.build_id)?;
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
    unit: &Journal,
) -> Result<Deleted, StoreError> {
    let grave = Tombstone::of(tenant, tomb::FILE, file);
    let at = journal::time_of(unit).unwrap_or_default();
    write_tx!(db, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let Some(of) = named(conn, tenant, database).await? else {
            return Err(StoreError::NotFound.into());
        };
        let (generation, next) = (of.generation, of.next_generation);
        let of = DatabaseKey::of(of.organization_id, of.id);
        let Some(row) = writing::file(conn, of, file.into()).await? else {
            return match tombstone::exists(conn, grave).await? {
                true => Ok(Deleted::Before),
                false => Err(StoreError::NotFound.into()),
            };
        };
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
