//! Lists of the files of a database.

use diesel::sql_types::Text;
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, JoinOnDsl, OptionalExtension,
    QueryDsl, SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{Cursor, Page, PageRequest};
use heddle_policy::{AccessFilter, resource};
use heddle_store::filter::Names;
use heddle_store::{AsConn, Db, Error, Id, StoreError, keyset, on_conn, page, read, search, within};
use heddle_vectors::ports::{FieldCondition, FileFilter, Sort};
use heddle_vectors::records::{File, VectorDatabase};

use crate::files::is_denied;
use crate::key::DatabaseKey;
use crate::schema::{FileRow, vector_fields, vector_files};
use crate::values::{Span, head_of, span_of, values_through};
use crate::words::FileWord;

impl Names<resource::Document> for vector_files::id {}

/// Files that are looked at for one page of those whose name or title contains a text: no index leads to these, and where
/// few contain it each page would read all files of the database.
const LOOKED_AT: i64 = 10_000;

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

/// Condition that asks for one value of a field.
#[derive(Clone)]
struct OneValue<'a> {
    /// Place of the condition.
    at: usize,
    field: &'a str,
    value: String,
}

fn one_value(at: usize, condition: &FieldCondition) -> Option<OneValue<'_>> {
    match span_of(&condition.test) {
        Span::Any(mut texts) if texts.len() == 1 => {
            Some(OneValue { at, field: condition.field.as_str(), value: texts.pop()? })
        }
        Span::Any(_) | Span::Between(_, _) | Span::Holding(_) => None,
    }
}

/// Place in the order of a list behind which a page begins.
struct Begin {
    by_name: bool,
    /// File, with its name, of a list by names.
    named: Option<(String, Id)>,
    /// File of a list of the newest first.
    newest: Option<uuid::Uuid>,
}

/// The last file that is looked at for a page, with its name in a list by names.
type Last = Option<(Option<String>, Id)>;

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
    let begin = Begin { by_name, named, newest };
    let of = DatabaseKey::of(database.tenant, database.id);
    // Files of one value come in the order of their ids from where the values stand: as many are read as are asked for.
    let one = if by_name {
        None
    } else {
        filter.metadata.iter().enumerate().find_map(|(at, one)| one_value(at, one))
    };
    let (items, last) = read!(db, |conn| {
        let last = match &filter.q {
            Some(_) => last_looked_at(conn, of, &begin).await?,
            None => None,
        };
        let rows = match one.clone() {
            Some(one) => of_value(conn, of, filter, access, page, one, &begin, &last).await?,
            None => of_all(conn, of, filter, access, page, &begin, &last).await?,
        };
        let items = rows.into_iter().map(File::try_from).collect::<Result<Vec<_>, Error>>()?;
        Ok((items, last))
    })?;
    let mut found = if by_name {
        Page::from_surplus(items, page.limit, |file: &File| (file.name.clone(), file.id))
    } else {
        Page::from_surplus(items, page.limit, |file: &File| file.id)
    };
    if found.next.is_none() {
        // Behind the files that were looked at there may be more.
        found.next = last.map(|(name, Id(id))| match name {
            Some(name) => Cursor::after(&(name, id)),
            None => Cursor::after(&id),
        });
    }
    Ok(found)
}

/// Files that have one value of a member, the newest first.
#[expect(clippy::too_many_arguments, reason = "all that a list is asked by")]
async fn of_value<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    filter: &FileFilter,
    access: &AccessFilter<resource::Document>,
    page: &PageRequest,
    one: OneValue<'_>,
    begin: &Begin,
    last: &Last,
) -> Result<Vec<FileRow>, Error> {
    let OneValue { at, field, value } = one;
    let values = diesel::alias!(vector_fields as one_value);
    let is_same = vector_files::organization_id
        .eq(values.field(vector_fields::organization_id))
        .and(vector_files::database_id.eq(values.field(vector_fields::database_id)))
        .and(vector_files::id.eq(values.field(vector_fields::file_id)));
    let id = values.field(vector_fields::file_id);
    let rows = on_conn!(conn, |conn| {
        let of_value = values
            .inner_join(vector_files::table.on(is_same))
            .filter(values.field(vector_fields::organization_id).eq(of.tenant))
            .filter(values.field(vector_fields::database_id).eq(of.database))
            .filter(values.field(vector_fields::field).eq(field))
            .filter(values.field(vector_fields::head).eq(head_of(&value)))
            .filter(values.field(vector_fields::value).eq(&value))
            .select(FileRow::as_select())
            .into_boxed();
        let mut query = narrowed!(of_value, of, filter, driven by at, access);
        if let Some((_, last)) = last {
            query = query.filter(id.ge(*last));
        }
        let query = query.limit(page::surplus(page)).order(id.desc());
        match begin.newest {
            Some(newest) => query.filter(id.lt(Id(newest))).load(conn).await?,
            None => query.load(conn).await?,
        }
    });
    Ok(rows)
}

/// Files in the order that is asked for.
async fn of_all<C: AsConn>(
    conn: &mut C,
    of: DatabaseKey,
    filter: &FileFilter,
    access: &AccessFilter<resource::Document>,
    page: &PageRequest,
    begin: &Begin,
    last: &Last,
) -> Result<Vec<FileRow>, Error> {
    let is_within =
        vector_files::organization_id.eq(of.tenant).and(vector_files::database_id.eq(of.database));
    let rows = on_conn!(conn, |conn| {
        let all = vector_files::table.filter(is_within).select(FileRow::as_select()).into_boxed();
        let mut query = narrowed!(all, of, filter, access).limit(page::surplus(page));
        match last {
            Some((Some(name), last)) => {
                let (name, id) = (name.clone(), *last);
                let is_same = vector_files::name.eq(name.clone()).and(vector_files::id.le(id));
                query = query
                    .filter(vector_files::name.le(name.clone()))
                    .filter(vector_files::name.lt(name).or(is_same));
            }
            Some((None, last)) => query = query.filter(vector_files::id.ge(*last)),
            None => {}
        }
        if begin.by_name {
            keyset!(query, (vector_files::name, vector_files::id), begin.named.clone(), ascending)
                .load(conn)
                .await?
        } else {
            let query = query.order(vector_files::id.desc());
            match begin.newest {
                Some(newest) => query.filter(vector_files::id.lt(Id(newest))).load(conn).await?,
                None => query.load(conn).await?,
            }
        }
    });
    Ok(rows)
}

/// The last of the files that are looked at for a page; none where no more are left than that.
async fn last_looked_at<C: AsConn>(conn: &mut C, of: DatabaseKey, begin: &Begin) -> Result<Last, Error> {
    let all = || {
        vector_files::table
            .filter(vector_files::organization_id.eq(of.tenant))
            .filter(vector_files::database_id.eq(of.database))
            .offset(LOOKED_AT - 1)
            .limit(1)
    };
    // Each reads nothing but the index of its order.
    if begin.by_name {
        let found: Option<(String, Id)> = on_conn!(conn, |conn| {
            let query = all().select((vector_files::name, vector_files::id)).into_boxed();
            keyset!(query, (vector_files::name, vector_files::id), begin.named.clone(), ascending)
                .first(conn)
                .await
                .optional()?
        });
        return Ok(found.map(|(name, id)| (Some(name), id)));
    }
    let found: Option<Id> = on_conn!(conn, |conn| {
        let query = all().select(vector_files::id).order(vector_files::id.desc()).into_boxed();
        match begin.newest {
            Some(last) => query.filter(vector_files::id.lt(Id(last))).first(conn).await.optional()?,
            None => query.first(conn).await.optional()?,
        }
    });
    Ok(found.map(|id| (None, id)))
}
