//! Dead letters: read, put back, and dropped.

use crate::schema::{
    BindingDbRow, LetterDbRow, OutgoingDbRow, TimerDbRow, case_events, dead_letters, outbox, run_timers,
    runs, start_bindings, workflows,
};
use crate::words::{DefinitionKindWord, InboxStateWord, WorkKindWord, WorkflowStateWord};
use diesel::{
    BoolExpressionMethods, ExpressionMethods, NullableExpressionMethods, OptionalExtension, QueryDsl,
    SelectableHelper, insert_into,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{DefinitionKind, EventId, Page, PageRequest, TenantId, Timestamp, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::schema::ErrandRow;
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, At, Db, Error, Id, errands, filter as limits, journal, keyset, on_conn, page, read, within,
    write_tx,
};
use heddle_usecase::errand::NewErrand;
use heddle_usecase::{Journal, StoreError};
use heddle_workflows::ports::LetterFilter;
use heddle_workflows::records::{
    DeadLetter, DueTimer, InboxEvent, InboxState, Outgoing, StartBinding, TimerRow, Work, WorkflowState,
};
use heddle_workflows::runs::BUFFER_SECONDS;

use crate::{named, tomb};

/// A page of letters.
pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    filter: &LetterFilter,
    access: &AccessFilter<resource::DeadLetter>,
    page: &PageRequest,
) -> Result<Page<DeadLetter>, StoreError> {
    let from = page::position_in_time(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let found = read!(db, |conn| {
        let mut query = dead_letters::table
            .filter(dead_letters::organization_id.eq(Id::from(tenant)))
            .limit(page::surplus(page))
            .select(LetterDbRow::as_select())
            .into_boxed();
        if let Some(kind) = filter.kind {
            query = query.filter(dead_letters::kind.eq(WorkKindWord(kind)));
        }
        if let Some(workflow) = filter.workflow {
            query = query.filter(dead_letters::workflow_id.eq(Id::from(workflow)));
        }
        if let Some(run) = filter.run {
            query = query.filter(dead_letters::run_id.eq(Id::from(run)));
        }
        let mut query = within!(query, access, dead_letters::id);
        let mut denied = limits::above::<resource::Workflow, _, _>(dead_letters::workflow_id, access);
        denied.extend(limits::above::<resource::CaseType, _, _>(dead_letters::workflow_id, access));
        if !denied.is_empty() {
            query = query.filter(dead_letters::workflow_id.ne_all(denied));
        }
        let mut denied = limits::above::<resource::Run, _, _>(dead_letters::run_id, access);
        denied.extend(limits::above::<resource::Case, _, _>(dead_letters::run_id, access));
        if !denied.is_empty() {
            let another = dead_letters::run_id.assume_not_null().ne_all(denied);
            query = query.filter(dead_letters::run_id.is_null().or(another));
        }
        let [no_runs, no_cases] = [
            access.denies_all_within::<resource::Run>() || access.denies_all_within::<resource::Workflow>(),
            access.denies_all_within::<resource::Case>() || access.denies_all_within::<resource::CaseType>(),
        ];
        if no_runs {
            query =
                query.filter(dead_letters::instance_kind.ne(DefinitionKindWord(DefinitionKind::Workflow)));
        }
        if no_cases {
            query = query.filter(dead_letters::instance_kind.ne(DefinitionKindWord(DefinitionKind::Case)));
        }
        let query = keyset!(query, (dead_letters::created_at, dead_letters::id), from, descending);
        let rows: Vec<LetterDbRow> = query.load(conn).await?;
        rows.into_iter().map(LetterDbRow::record).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Page::from_surplus(found, page.limit, |letter: &DeadLetter| (letter.created_at.micros(), letter.id)))
}

/// One letter.
pub(crate) async fn one(db: &Db, tenant: TenantId, id: EventId) -> Result<DeadLetter, StoreError> {
    read!(db, |conn| {
        let row = dead_letters::table.find((Id::from(tenant), Id::from(id)));
        let row: LetterDbRow = row.select(LetterDbRow::as_select()).first(conn).await?;
        row.record()
    })
}

/// Drops a letter.
pub(crate) async fn discard(
    db: &Db,
    tenant: TenantId,
    id: EventId,
    unit: &Journal,
) -> Result<(), StoreError> {
    let actor = unit.audit.as_ref().and_then(|entry| entry.actor.id.as_deref());
    let by: Option<UserId> = actor.and_then(|id| id.parse().ok());
    let kind = by.map(tomb::letter_of);
    let grave = kind.as_deref().map(|kind| Tombstone::of(tenant, kind, id));
    let at = journal::time_of(unit).unwrap_or_default();
    write_tx!(db, |conn| {
        if is_removed(conn, tenant.into(), id.into()).await? {
            if let Some(grave) = grave {
                tombstone::write(conn, grave, at).await?;
            }
            return journal::write(conn, unit).await;
        }
        let again = match grave {
            Some(grave) => tombstone::exists(conn, grave).await?,
            None => false,
        };
        if again { Ok(()) } else { Err(StoreError::NotFound.into()) }
    })
}

/// Whether this user has dropped a letter.
pub(crate) async fn has_dropped(
    db: &Db,
    tenant: TenantId,
    by: UserId,
    id: EventId,
) -> Result<bool, StoreError> {
    let kind = tomb::letter_of(by);
    read!(db, |conn| tombstone::exists(conn, Tombstone::of(tenant, &kind, id)).await)
}

/// Puts the work of a letter back.
pub(crate) async fn restore(
    db: &Db,
    letter: &DeadLetter,
    now: Timestamp,
    unit: &Journal,
) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        remove(conn, letter.tenant.into(), letter.id.into()).await?;
        match &letter.work {
            Work::Thrown(thrown) => throw(conn, thrown, At(now)).await?,
            Work::Timer(timer) => set(conn, timer, At(now)).await?,
            Work::TimerStart(binding) => bind(conn, binding, At(now)).await?,
            Work::Kept(event) => keep(conn, event, now).await?,
            Work::Errand(errand) => {
                let row = ErrandRow::of(NewErrand { created_at: now, ..NewErrand::clone(errand) }, now)?;
                errands::insert_row(conn, &row).await?;
            }
            // Begun by the use case, in a unit of its own.
            Work::Start(_) => return Err(StoreError::Stale.into()),
        }
        journal::write(conn, unit).await
    })
    .map_err(named)
}

async fn remove<C: AsConn>(conn: &mut C, tenant: Id, id: Id) -> Result<(), Error> {
    if is_removed(conn, tenant, id).await? { Ok(()) } else { Err(StoreError::NotFound.into()) }
}

/// Whether there was a letter to remove.
async fn is_removed<C: AsConn>(conn: &mut C, tenant: Id, id: Id) -> Result<bool, Error> {
    let row = dead_letters::table.find((tenant, id));
    let rows = on_conn!(conn, |conn| diesel::delete(row).execute(conn).await?);
    Ok(rows > 0)
}

/// `Stale` when nothing was written.
fn placed(rows: usize) -> Result<(), Error> {
    if rows == 0 { Err(StoreError::Stale.into()) } else { Ok(()) }
}

async fn throw<C: AsConn>(conn: &mut C, thrown: &Outgoing, now: At) -> Result<(), Error> {
    let row = OutgoingDbRow { not_before: now, ..OutgoingDbRow::of(thrown.clone())? };
    placed(on_conn!(conn, |conn| {
        insert_into(outbox::table).values(&row).on_conflict_do_nothing().execute(conn).await?
    }))
}

async fn set<C: AsConn>(conn: &mut C, timer: &DueTimer, now: At) -> Result<(), Error> {
    let run = runs::table
        .find((Id::from(timer.tenant), Id::from(timer.run)))
        .filter(runs::ended_at.is_null())
        .select(runs::id);
    let there: Option<Id> = on_conn!(conn, |conn| run.first(conn).await.optional()?);
    placed(usize::from(there.is_some()))?;
    let due = TimerRow { timer_id: timer.timer_id.clone(), node_id: timer.node_id.clone(), due_at: now.0 };
    let row = TimerDbRow::of(timer.tenant, timer.run, due);
    placed(on_conn!(conn, |conn| {
        insert_into(run_timers::table).values(&row).on_conflict_do_nothing().execute(conn).await?
    }))
}

async fn bind<C: AsConn>(conn: &mut C, binding: &StartBinding, now: At) -> Result<(), Error> {
    let active = workflows::table
        .find((Id::from(binding.tenant), Id::from(binding.workflow)))
        .filter(workflows::state.eq(WorkflowStateWord(WorkflowState::Published)))
        .filter(workflows::published_version.eq(binding.version))
        .select(workflows::id);
    let there: Option<Id> = on_conn!(conn, |conn| active.first(conn).await.optional()?);
    placed(usize::from(there.is_some()))?;
    let row = BindingDbRow { next_due_at: Some(now), ..BindingDbRow::of(binding)? };
    placed(on_conn!(conn, |conn| {
        insert_into(start_bindings::table).values(&row).on_conflict_do_nothing().execute(conn).await?
    }))
}

/// One that nobody took is kept once more, for as long as a new one.
async fn keep<C: AsConn>(conn: &mut C, event: &InboxEvent, now: Timestamp) -> Result<(), Error> {
    let row = case_events::table
        .find((Id::from(event.tenant), Id::from(event.id)))
        .filter(case_events::state.ne(InboxStateWord(InboxState::Consumed)));
    let change = (
        case_events::state.eq(InboxStateWord(InboxState::Buffered)),
        case_events::expires_at.eq(Some(At(now.plus_seconds(BUFFER_SECONDS)))),
        case_events::retry_at.eq(None::<At>),
        case_events::attempts.eq(0),
        case_events::crashes.eq(0),
    );
    placed(on_conn!(conn, |conn| diesel::update(row).set(change).execute(conn).await?))
}
