//! Work that may be tried: of all organisations, or of one.

use crate::schema::{
    BindingDbRow, InboxDbRow, OutgoingDbRow, TimerDbRow, case_events, outbox, run_subscriptions, run_timers,
    start_bindings, workflows,
};
use crate::words::{InboxStateWord, KindWord, WorkflowStateWord};
use diesel::dsl::exists;
use diesel::sql_types::Bool;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension,
    QueryDsl, SelectableHelper,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{TenantId, Timestamp};
use heddle_store::{At, Db, Error, Id, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::Queue;
use heddle_workflows::records::{BindingKind, InboxState, PendingWork, Work, WorkKey, WorkflowState};

use crate::rows::tries;
use crate::runs::is_kept;

/// Whether a run has a subscription to the event that the query is at: one by its key, or one without by none. Each is
/// found by the index of subscriptions, which one condition for both is not.
macro_rules! is_waited_for {
    () => {{
        let of_its_name = || {
            run_subscriptions::table
                .filter(run_subscriptions::organization_id.eq(case_events::organization_id))
                .filter(run_subscriptions::kind.eq(KindWord(BindingKind::Message)))
                .filter(run_subscriptions::name.eq(case_events::event_type))
        };
        let same_key = of_its_name()
            .filter(run_subscriptions::correlation_key.is_not_null())
            .filter(case_events::correlation_key.is_not_null())
            .filter(
                run_subscriptions::correlation_key
                    .assume_not_null()
                    .eq(case_events::correlation_key.assume_not_null()),
            );
        let no_key = of_its_name().filter(run_subscriptions::correlation_key.is_null());
        exists(same_key).or(case_events::correlation_key.is_null().and(exists(no_key)))
    }};
}

/// Work of a queue that is ready, the longest due first; of one organisation, or of all.
pub(crate) async fn read(
    db: &Db,
    queue: Queue,
    now: Timestamp,
    limit: i64,
    of: Option<TenantId>,
) -> Result<Vec<PendingWork>, StoreError> {
    let of = of.map(Id::from);
    match queue {
        Queue::Outbox => thrown(db, now, limit, of).await,
        Queue::Timers => timers(db, now, limit, of).await,
        Queue::Starts => starts(db, now, limit, of).await,
        Queue::Kept => kept(db, now, limit, of).await,
    }
}

fn thrown_work(row: OutgoingDbRow) -> Result<PendingWork, Error> {
    let tries = tries(row.attempts, row.crashes);
    Ok(PendingWork { work: Work::Thrown(row.record()?), tries })
}

fn timer_work(row: TimerDbRow) -> PendingWork {
    let tries = tries(row.attempts, row.crashes);
    PendingWork { work: Work::Timer(row.due()), tries }
}

fn start_work(row: BindingDbRow) -> Result<PendingWork, Error> {
    let tries = tries(row.attempts, row.crashes);
    Ok(PendingWork { work: Work::TimerStart(row.record()?), tries })
}

fn kept_work(row: InboxDbRow) -> Result<PendingWork, Error> {
    let tries = tries(row.attempts, row.crashes);
    Ok(PendingWork { work: Work::Kept(row.record()?), tries })
}

/// Work of the rows that can be read. One that can't be stays where it is, is told, and stops none behind it.
fn readable<R>(rows: Vec<R>, work: impl Fn(R) -> Result<PendingWork, Error>) -> Vec<PendingWork> {
    let told = |error: Error| tracing::error!(%error, "a row of background work can't be read, and is left");
    rows.into_iter().filter_map(|row| work(row).map_err(told).ok()).collect()
}

async fn thrown(db: &Db, now: Timestamp, limit: i64, of: Option<Id>) -> Result<Vec<PendingWork>, StoreError> {
    read!(db, |conn| {
        let mut query = outbox::table
            .filter(outbox::not_before.le(At(now)))
            .order((outbox::not_before, outbox::id))
            .limit(limit)
            .select(OutgoingDbRow::as_select())
            .into_boxed();
        if let Some(of) = of {
            query = query.filter(outbox::organization_id.eq(of));
        }
        let rows: Vec<OutgoingDbRow> = query.load(conn).await?;
        Ok(readable(rows, thrown_work))
    })
}

async fn timers(db: &Db, now: Timestamp, limit: i64, of: Option<Id>) -> Result<Vec<PendingWork>, StoreError> {
    read!(db, |conn| {
        let mut query = run_timers::table
            .filter(run_timers::due_at.le(At(now)))
            .order((run_timers::due_at, run_timers::run_id, run_timers::timer_id))
            .limit(limit)
            .select(TimerDbRow::as_select())
            .into_boxed();
        if let Some(of) = of {
            query = query.filter(run_timers::organization_id.eq(of));
        }
        let rows: Vec<TimerDbRow> = query.load(conn).await?;
        Ok(rows.into_iter().map(timer_work).collect())
    })
}

/// Timer starts of published workflows. An archived one has none; the state is looked at all the same.
async fn starts(db: &Db, now: Timestamp, limit: i64, of: Option<Id>) -> Result<Vec<PendingWork>, StoreError> {
    read!(db, |conn| {
        let mut query = start_bindings::table
            .inner_join(
                workflows::table.on(workflows::organization_id
                    .eq(start_bindings::organization_id)
                    .and(workflows::id.eq(start_bindings::workflow_id))),
            )
            .filter(workflows::state.eq(WorkflowStateWord(WorkflowState::Published)))
            .filter(start_bindings::next_due_at.le(At(now)))
            .order((start_bindings::next_due_at, start_bindings::workflow_id, start_bindings::node_id))
            .limit(limit)
            .select(BindingDbRow::as_select())
            .into_boxed();
        if let Some(of) = of {
            query = query.filter(start_bindings::organization_id.eq(of));
        }
        let rows: Vec<BindingDbRow> = query.load(conn).await?;
        Ok(readable(rows, start_work))
    })
}

/// Whether a run may wait for an event, in the words of the index: triggers keep it.
fn is_awaited() -> diesel::expression::SqlLiteral<Bool> {
    diesel::dsl::sql("case_events.state = 'buffered' AND case_events.awaited")
}

/// Kept events that are not over and for which a run waits.
async fn kept(db: &Db, now: Timestamp, limit: i64, of: Option<Id>) -> Result<Vec<PendingWork>, StoreError> {
    read!(db, |conn| {
        let lasts =
            case_events::expires_at.is_null().or(case_events::expires_at.assume_not_null().gt(At(now)));
        let ready = case_events::retry_at.is_null().or(case_events::retry_at.assume_not_null().le(At(now)));
        let mut query = case_events::table
            .filter(is_awaited())
            .filter(lasts)
            .filter(ready)
            .filter(is_waited_for!())
            .order((case_events::received_at, case_events::id))
            .limit(limit)
            .select(InboxDbRow::as_select())
            .into_boxed();
        if let Some(of) = of {
            query = query.filter(case_events::organization_id.eq(of));
        }
        let rows: Vec<InboxDbRow> = query.load(conn).await?;
        Ok(readable(rows, kept_work))
    })
}

/// The earliest instant after `after` at which something of a queue may be tried.
pub(crate) async fn next_due(
    db: &Db,
    queue: Queue,
    after: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let found: Option<At> = read!(db, |conn| {
        Ok(match queue {
            Queue::Outbox => {
                let first = outbox::table.filter(outbox::not_before.gt(At(after)));
                let first = first.order((outbox::not_before, outbox::id));
                first.select(outbox::not_before).first(conn).await.optional()?
            }
            Queue::Timers => {
                let first =
                    run_timers::table.filter(run_timers::due_at.gt(At(after))).order(run_timers::due_at);
                first.select(run_timers::due_at).first(conn).await.optional()?
            }
            Queue::Starts => {
                let set = start_bindings::table.filter(start_bindings::next_due_at.gt(At(after)));
                let first = set.order(start_bindings::next_due_at);
                first.select(start_bindings::next_due_at.assume_not_null()).first(conn).await.optional()?
            }
            Queue::Kept => {
                let tried = case_events::table.filter(is_kept()).filter(case_events::retry_at.gt(At(after)));
                let first = tried.order(case_events::retry_at);
                first.select(case_events::retry_at.assume_not_null()).first(conn).await.optional()?
            }
        })
    })?;
    Ok(found.map(Into::into))
}

/// A piece of work whose row is there.
pub(crate) async fn find(db: &Db, key: &WorkKey) -> Result<Option<PendingWork>, StoreError> {
    read!(db, |conn| {
        Ok(match key {
            WorkKey::Thrown(tenant, id) => {
                let row = outbox::table.find((Id::from(*tenant), Id::from(*id)));
                let row: Option<OutgoingDbRow> =
                    row.select(OutgoingDbRow::as_select()).first(conn).await.optional()?;
                row.map(thrown_work).transpose()?
            }
            WorkKey::Timer(tenant, run, timer) => {
                let row = run_timers::table.find((Id::from(*tenant), Id::from(*run), timer));
                let row: Option<TimerDbRow> =
                    row.select(TimerDbRow::as_select()).first(conn).await.optional()?;
                row.map(timer_work)
            }
            WorkKey::TimerStart(tenant, workflow, process, node) => {
                let (tenant, workflow) = (Id::from(*tenant), Id::from(*workflow));
                let kind = KindWord(BindingKind::Timer);
                let row = start_bindings::table.find((tenant, workflow, process, node, kind, ""));
                let row: Option<BindingDbRow> =
                    row.select(BindingDbRow::as_select()).first(conn).await.optional()?;
                row.map(start_work).transpose()?
            }
            WorkKey::Kept(tenant, id) => {
                let row = case_events::table
                    .find((Id::from(*tenant), Id::from(*id)))
                    .filter(case_events::state.eq(InboxStateWord(InboxState::Buffered)));
                let row: Option<InboxDbRow> =
                    row.select(InboxDbRow::as_select()).first(conn).await.optional()?;
                row.map(kept_work).transpose()?
            }
            WorkKey::Start(..) | WorkKey::Errand(..) => None,
        })
    })
}
