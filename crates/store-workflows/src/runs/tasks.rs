//! Human tasks.

use std::collections::{HashMap, HashSet};

use crate::schema::human_tasks as tasks;
use diesel::sql_types::{BigInt, Bool};
use diesel::{ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{Cursor, Page, PageRequest, TaskId, TenantId, Timestamp};
use heddle_policy::{InstanceFilter, InstanceKey};
use heddle_store::filter::{above, at};
use heddle_store::{AsConn, At, Conn, Db, Error, Id, on_conn, page, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::TaskFilter;
use heddle_workflows::records::HumanTask;

use super::work_list::{FEW_FOLLOW_UPS, FEW_STARTED, Place, Reach, Wanted};
use crate::rows::NEVER_DUE;
use crate::schema::TaskDbRow;
use crate::statement::{Merging, Statement};
use crate::words::DefinitionKindWord;

/// The columns of a row of tasks, in its order.
pub(crate) const COLUMNS: &str = "organization_id, id, instance_kind, run_id, workflow_id, node_id, node_instance_id, name, state, \
                       assignee, candidate_users, candidate_groups, due_at, priority, form, outcomes, created_at, \
                       ended_at, completed_by, due_order, follow_up_at, started_by";
/// Bytes of what is large in a task, as it is stored.
const BYTES: &str = "CAST(octet_length(candidate_users) + octet_length(candidate_groups) + octet_length(outcomes) \
                     + coalesce(octet_length(form), 0) AS BIGINT)";
/// Most bytes of a task that is read together with others.
const SMALL: i64 = 16 * 1024;
/// Most bytes of forms, candidates and outcomes on a page; one task is on it whatever its size.
const PAGE_BYTES: i64 = 4 * 1024 * 1024;

/// The place of a task in the list: when it is due and when it was created, in microseconds, then its id.
type Position = (Option<i64>, i64, TaskId);

fn key(task: &HumanTask) -> Position {
    (task.due_at.map(Timestamp::micros), task.created_at.micros(), task.id)
}

/// One task.
pub(crate) async fn one(db: &Db, tenant: TenantId, task: TaskId) -> Result<HumanTask, StoreError> {
    read!(db, |conn| {
        let row: TaskDbRow = tasks::table
            .find((Id::from(tenant), Id::from(task)))
            .select(TaskDbRow::as_select())
            .first(conn)
            .await?;
        row.record()
    })
}

/// The run of a task.
pub(crate) async fn run_of(db: &Db, tenant: TenantId, task: TaskId) -> Result<InstanceKey, StoreError> {
    let (kind, run, workflow): (DefinitionKindWord, Id, Id) = read!(db, |conn| {
        let found = tasks::table.find((Id::from(tenant), Id::from(task)));
        Ok(found.select((tasks::instance_kind, tasks::run_id, tasks::workflow_id)).first(conn).await?)
    })?;
    Ok(InstanceKey::of_stored(tenant, kind.0, run.into(), workflow.into()))
}

/// A page of tasks.
pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    filter: &TaskFilter,
    access: &[InstanceFilter],
    page: &PageRequest,
) -> Result<Page<HumanTask>, StoreError> {
    let from: Option<Position> = page::position(page)?;
    if access.iter().all(|of| of.is_empty()) {
        return Ok(page::empty());
    }
    let from = from.map(|(due, created, id)| Place {
        due_order: due.map_or(NEVER_DUE, |due| At(Timestamp::from_micros(due))),
        created_at: At(Timestamp::from_micros(created)),
        id: id.into(),
    });
    let limit = page::surplus(page);
    let whole = TaskFilter { candidate: None, ..filter.clone() };
    // Instances of a definition are of one kind: in those of another all of its tasks would be looked through for none.
    let kind = match filter.workflow {
        Some(workflow) => match super::list::kind_of(db, tenant, workflow).await? {
            None => return Ok(page::empty()),
            kind => kind,
        },
        None => None,
    };
    let is_wanted = |of: &&InstanceFilter| !of.is_empty() && kind.is_none_or(|kind| kind == of.kind());
    // What is found of each kind is brought into one order.
    let mut statements = Vec::new();
    for of in access.iter().filter(is_wanted) {
        let filter = if filter.viewed == Some(of.kind()) { &whole } else { filter };
        let reach = reach(of);
        let merging = Merging::of(db);
        let (few_follow_ups, starts_many) = (false, false);
        let wanted =
            Wanted { tenant, filter, reach: &reach, few_follow_ups, starts_many, from, limit, merging };
        let follow_ups = counted(db, wanted.follow_ups()).await?;
        let few_follow_ups = follow_ups.is_some_and(|found| found <= FEW_FOLLOW_UPS);
        let started = if few_follow_ups { None } else { counted(db, wanted.started()).await? };
        let starts_many = started.is_some_and(|found| found > FEW_STARTED);
        statements.extend(Wanted { few_follow_ups, starts_many, ..wanted }.statements());
    }
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let (found, all) = read!(db, |conn| {
        let mut places: Vec<(Place, Option<i64>)> = Vec::new();
        for statement in statements {
            let rows: Vec<(Id, At, At, Option<i64>)> = statement.load(conn).await?;
            let of = |(id, due_order, created_at, number)| (Place { due_order, created_at, id }, number);
            places.extend(rows.into_iter().map(of));
        }
        // Of one that comes twice the row with the number stays.
        places.sort_unstable_by_key(|(place, number)| (*place, number.is_none()));
        places.dedup_by_key(|(place, _)| *place);
        places.truncate(wanted);
        let ids: Vec<Id> = places.iter().map(|(place, _)| place.id).collect();
        let numbers: Vec<i64> = places.iter().filter_map(|(_, number)| *number).collect();
        of_ids(conn, tenant, &ids, &numbers).await
    })?;
    if all {
        return Ok(Page::from_surplus(found, page.limit, key));
    }
    // Cut by its bytes: the next page goes on behind what was read.
    let next = found.last().map(|task| Cursor::after(&key(task)));
    Ok(Page { items: found, next })
}

/// The number that a statement counts, if there is one.
async fn counted(db: &Db, count: Option<Statement<(BigInt,)>>) -> Result<Option<i64>, StoreError> {
    let Some(count) = count else { return Ok(None) };
    let (found,): (i64,) = read!(db, |conn| Ok(count.get_result(conn).await?))?;
    Ok(Some(found))
}

/// The tasks of ids in their order, up to the bytes of a page; and whether these are all of them. `numbers` are those of their
/// rows, as far as they are known.
async fn of_ids<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    ids: &[Id],
    numbers: &[i64],
) -> Result<(Vec<HumanTask>, bool), Error> {
    // Nearly all tasks are small, and are read at once. Of the others only the bytes are counted at first.
    let mut small: Vec<TaskDbRow> = Vec::new();
    if !numbers.is_empty() {
        small = on_conn!(conn, |conn| of_numbers(tenant, numbers).load(conn).await?);
    }
    let read: HashSet<Id> = small.iter().map(|row| row.id).collect();
    let unread: Vec<Id> = ids.iter().copied().filter(|id| !read.contains(id)).collect();
    small.extend(rows(conn, tenant, &unread, true).await?);
    let mut found: HashMap<Id, TaskDbRow> = small.into_iter().map(|row| (row.id, row)).collect();
    let others: Vec<Id> = ids.iter().copied().filter(|id| !found.contains_key(id)).collect();
    let mut bytes: HashMap<Id, i64> = HashMap::new();
    if !others.is_empty() {
        let counted: Vec<(Id, i64)> = on_conn!(conn, |conn| {
            tasks::table
                .filter(tasks::organization_id.eq(Id::from(tenant)))
                .filter(tasks::id.eq_any(&others))
                .select((tasks::id, diesel::dsl::sql::<BigInt>(BYTES)))
                .load(conn)
                .await?
        });
        bytes = counted.into_iter().collect();
        let room = within_bytes(ids, &bytes);
        let large: Vec<Id> = others.into_iter().filter(|id| room.contains(id)).collect();
        let large = rows(conn, tenant, &large, false).await?;
        found.extend(large.into_iter().map(|row| (row.id, row)));
    }
    let (mut told, mut unpacked) = (Vec::with_capacity(ids.len()), 0);
    for id in ids {
        let Some(row) = found.remove(id) else {
            // Removed in between, if it is not there; else there was no room for it.
            if bytes.contains_key(id) {
                return Ok((told, false));
            }
            continue;
        };
        let (task, size) = row.record_sized()?;
        unpacked += size;
        if unpacked > PAGE_BYTES && !told.is_empty() {
            return Ok((told, false));
        }
        told.push(task);
    }
    // Where one was removed in between, the surplus row is missing that says that there is more: it is asked for.
    let all = told.len() == ids.len();
    Ok((told, all))
}

/// The statement that reads the small ones of rows by their numbers. One that was removed meanwhile may have left its number to
/// another task: whoever asks looks at the ids.
fn of_numbers(tenant: TenantId, numbers: &[i64]) -> Statement<tasks::SqlType> {
    let mut out = Statement::new(true);
    out.words(&format!("SELECT {COLUMNS} FROM human_tasks AS t WHERE t.rowid IN ("));
    out.numbers(numbers);
    // Said such that no index of it is taken, by which all tasks of the organisation would be looked through.
    out.words(") AND +t.organization_id = ").id(tenant);
    out.words(&format!(" AND {BYTES} <= {SMALL}"));
    out
}

/// Rows of tasks; of the small ones alone, or of whichever.
async fn rows<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    ids: &[Id],
    small: bool,
) -> Result<Vec<TaskDbRow>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    match conn.as_conn() {
        Conn::Sqlite(conn) => Ok(with_ids(tenant, ids, small).load(conn).await?),
        Conn::Postgres(conn) => {
            let which = if small { format!("{BYTES} <= {SMALL}") } else { "TRUE".to_owned() };
            let rows = tasks::table
                .filter(tasks::organization_id.eq(Id::from(tenant)))
                .filter(tasks::id.eq_any(ids))
                .filter(diesel::dsl::sql::<Bool>(&which))
                .select(TaskDbRow::as_select());
            Ok(rows.load(conn).await?)
        }
    }
}

/// The statement that reads rows by their ids on SQLite, which has no lists of values: one that is kept has a text for each
/// number of steps.
fn with_ids(tenant: TenantId, ids: &[Id], small: bool) -> Statement<tasks::SqlType> {
    let mut out = Statement::new(true);
    out.words(&format!("SELECT {COLUMNS} FROM human_tasks AS t WHERE t.organization_id = ")).id(tenant);
    out.words(" AND t.id IN (").ids_in_steps(ids).words(")");
    if small {
        out.words(&format!(" AND {BYTES} <= {SMALL}"));
    }
    out
}

/// Reach of a reader among the instances of a kind: the work list shows what belongs to those that are reached.
fn reach(access: &InstanceFilter) -> Reach {
    let (runs, denied_runs) = at(tasks::run_id, access.filter());
    let denied_workflows = above(tasks::workflow_id, access.filter());
    let (own, denied_own) = (access.own().cloned(), access.denied_own().cloned());
    Reach { kind: access.kind(), runs, own, denied_own, denied_runs, denied_workflows }
}

/// The first of the tasks, whose large ones have room on a page as they are stored; one is on it whatever its size.
fn within_bytes(ids: &[Id], large: &HashMap<Id, i64>) -> HashSet<Id> {
    let (mut room, mut bytes) = (HashSet::new(), 0);
    for id in ids {
        bytes += large.get(id).copied().unwrap_or(0);
        if bytes > PAGE_BYTES && !room.is_empty() {
            break;
        }
        room.insert(*id);
    }
    room
}
