//! Human tasks.

use crate::schema::human_task_candidates as candidates;
use crate::schema::human_tasks as tasks;
use diesel::NullableExpressionMethods;
use diesel::dsl::{exists, not};
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{Page, PageRequest, TaskId, TenantId, Timestamp};
use heddle_policy::{AccessFilter, Key, Within, resource};
use heddle_store::{At, Db, Id, page, read, within};
use heddle_usecase::StoreError;
use heddle_workflows::ports::TaskFilter;
use heddle_workflows::records::HumanTask;

use crate::schema::TaskDbRow;
use crate::words::{CandidateKind, CandidateWord, TaskStateWord};

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
pub(crate) async fn run_of(
    db: &Db,
    tenant: TenantId,
    task: TaskId,
) -> Result<Key<resource::Run>, StoreError> {
    let (run, workflow): (Id, Id) = read!(db, |conn| {
        let found = tasks::table.find((Id::from(tenant), Id::from(task)));
        Ok(found.select((tasks::run_id, tasks::workflow_id)).first(conn).await?)
    })?;
    Ok(Key::of_stored(tenant, run.into(), Within::of(workflow.into())))
}

/// The candidates of a task that the query is at.
macro_rules! of_task {
    () => {
        candidates::table
            .filter(candidates::organization_id.eq(tasks::organization_id))
            .filter(candidates::task_id.eq(tasks::id))
    };
}

/// A page of tasks.
pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    filter: &TaskFilter,
    access: &AccessFilter<resource::Run>,
    page: &PageRequest,
) -> Result<Page<HumanTask>, StoreError> {
    let from: Option<Position> = page::position(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let found = read!(db, |conn| {
        // SQLite and PostgreSQL differ in where they put nulls: what is due comes first by its own column.
        let mut query = tasks::table
            .filter(tasks::organization_id.eq(Id::from(tenant)))
            .order((tasks::due_at.is_null(), tasks::due_at, tasks::created_at, tasks::id))
            .limit(page::surplus(page))
            .select(TaskDbRow::as_select())
            .into_boxed();
        if let Some(state) = filter.state {
            query = query.filter(tasks::state.eq(TaskStateWord(state)));
        }
        if let Some(names) = &filter.assignee {
            query = query.filter(tasks::assignee.eq_any(names));
        }
        if let Some((names, groups)) = &filter.candidate {
            let named = of_task!().filter(candidates::kind.eq(CandidateWord(CandidateKind::User)));
            let grouped = of_task!().filter(candidates::kind.eq(CandidateWord(CandidateKind::Group)));
            let open_to = not(exists(of_task!()))
                .or(exists(named.filter(candidates::name.eq_any(names))))
                .or(exists(grouped.filter(candidates::name.eq_any(groups))));
            // Not `assignee = ANY`, which is null where nobody is assigned.
            let unassigned = tasks::assignee.is_null().and(open_to);
            let mine = tasks::assignee.is_not_null().and(tasks::assignee.assume_not_null().eq_any(names));
            query = query.filter(mine.or(unassigned));
        }
        if let Some(before) = filter.due_before {
            query = query.filter(tasks::due_at.lt(At(before)));
        }
        if let Some(workflow) = filter.workflow {
            query = query.filter(tasks::workflow_id.eq(Id::from(workflow)));
        }
        if let Some(run) = filter.run {
            query = query.filter(tasks::run_id.eq(Id::from(run)));
        }
        // The work list shows what belongs to the runs that are reached.
        let mut query = within!(query, access, tasks::run_id, tasks::workflow_id);
        if let Some((due, created, id)) = from {
            let (created, id) = (At(Timestamp::from_micros(created)), Id::from(id));
            let later = || {
                let tie = tasks::created_at.eq(created).and(tasks::id.gt(id));
                tasks::created_at.gt(created).or(tie)
            };
            query = match due.map(|due| At(Timestamp::from_micros(due))) {
                Some(due) => {
                    let behind = tasks::due_at.is_not_null().and(tasks::due_at.assume_not_null().gt(due));
                    let tie = tasks::due_at.is_not_null().and(tasks::due_at.assume_not_null().eq(due));
                    query.filter(tasks::due_at.is_null().or(behind).or(tie.and(later())))
                }
                None => query.filter(tasks::due_at.is_null().and(later())),
            };
        }
        let rows: Vec<TaskDbRow> = query.load(conn).await?;
        rows.into_iter().map(TaskDbRow::record).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Page::from_surplus(found, page.limit, key))
}
