//! Waits of runs and workflows: timers, messages and signals.

use crate::schema::{run_subscriptions, run_timers, start_bindings, workflows};
use diesel::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension,
    QueryDsl, SelectableHelper,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{TenantId, Timestamp};
use heddle_store::{At, Db, Id, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{DueTimer, MatchedSubscription};
use heddle_workflows::records::{BindingKind, StartBinding, WorkflowState};

use crate::schema::BindingDbRow;
use crate::words::{KindWord, WorkflowStateWord};

/// Timers that are due.
pub(crate) async fn due_timers(db: &Db, now: Timestamp, limit: i64) -> Result<Vec<DueTimer>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<(Id, Id, String, At)> = run_timers::table
            .filter(run_timers::due_at.le(At(now)))
            .order((run_timers::due_at, run_timers::run_id, run_timers::timer_id))
            .limit(limit)
            .select((
                run_timers::organization_id,
                run_timers::run_id,
                run_timers::timer_id,
                run_timers::due_at,
            ))
            .load(conn)
            .await?;
        let due = |(tenant, run, timer_id, due_at): (Id, Id, _, At)| DueTimer {
            tenant: tenant.into(),
            run: run.into(),
            timer_id,
            due_at: due_at.into(),
        };
        Ok(rows.into_iter().map(due).collect())
    })
}

/// Start bindings of published workflows. An archived one has none; the state is looked at all the same.
macro_rules! starts {
    () => {
        start_bindings::table
            .inner_join(
                workflows::table.on(workflows::organization_id
                    .eq(start_bindings::organization_id)
                    .and(workflows::id.eq(start_bindings::workflow_id))),
            )
            .filter(workflows::state.eq(WorkflowStateWord(WorkflowState::Published)))
            .select(BindingDbRow::as_select())
    };
}

/// Timer starts that are due.
pub(crate) async fn due_starts(db: &Db, now: Timestamp, limit: i64) -> Result<Vec<StartBinding>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<BindingDbRow> = starts!()
            .filter(start_bindings::next_due_at.le(At(now)))
            .order((start_bindings::next_due_at, start_bindings::workflow_id, start_bindings::node_id))
            .limit(limit)
            .load(conn)
            .await?;
        rows.into_iter().map(BindingDbRow::record).collect()
    })
}

/// Instant at which a timer of a run or a start is due next.
pub(crate) async fn next_due(db: &Db) -> Result<Option<Timestamp>, StoreError> {
    read!(db, |conn| {
        let timer: Option<At> = run_timers::table
            .order(run_timers::due_at)
            .select(run_timers::due_at)
            .first(conn)
            .await
            .optional()?;
        let start: Option<At> = start_bindings::table
            .filter(start_bindings::next_due_at.is_not_null())
            .order(start_bindings::next_due_at)
            .select(start_bindings::next_due_at.assume_not_null())
            .first(conn)
            .await
            .optional()?;
        Ok(timer.into_iter().chain(start).min().map(Into::into))
    })
}

/// Subscriptions that match.
pub(crate) async fn matching(
    db: &Db,
    tenant: TenantId,
    kind: BindingKind,
    name: &str,
    correlation_key: Option<&str>,
) -> Result<Vec<MatchedSubscription>, StoreError> {
    read!(db, |conn| {
        let mut query = run_subscriptions::table
            .filter(run_subscriptions::organization_id.eq(Id::from(tenant)))
            .filter(run_subscriptions::kind.eq(KindWord(kind)))
            .filter(run_subscriptions::name.eq(name))
            .order((run_subscriptions::run_id, run_subscriptions::subscription_id))
            .select((run_subscriptions::run_id, run_subscriptions::subscription_id))
            .into_boxed();
        // A signal is for all that listen; a message is for one key, or for those without.
        if kind != BindingKind::Signal {
            query = match correlation_key {
                Some(key) => query.filter(run_subscriptions::correlation_key.eq(key)),
                None => query.filter(run_subscriptions::correlation_key.is_null()),
            };
        }
        let rows: Vec<(Id, String)> = query.load(conn).await?;
        let matched =
            |(run, subscription_id): (Id, _)| MatchedSubscription { run: run.into(), subscription_id };
        Ok(rows.into_iter().map(matched).collect())
    })
}

/// Start bindings that match.
pub(crate) async fn matching_starts(
    db: &Db,
    tenant: TenantId,
    kind: BindingKind,
    name: &str,
) -> Result<Vec<StartBinding>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<BindingDbRow> = starts!()
            .filter(start_bindings::organization_id.eq(Id::from(tenant)))
            .filter(start_bindings::kind.eq(KindWord(kind)))
            .filter(start_bindings::name.eq(name))
            .order((start_bindings::workflow_id, start_bindings::process_id, start_bindings::node_id))
            .load(conn)
            .await?;
        rows.into_iter().map(BindingDbRow::record).collect()
    })
}
