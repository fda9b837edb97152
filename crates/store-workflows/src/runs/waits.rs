//! Waits of runs and workflows for messages and signals.

use crate::schema::{run_subscriptions, start_bindings, workflows};
use diesel::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_store::{Db, Id, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::MatchedSubscription;
use heddle_workflows::records::{BindingKind, StartBinding, WorkflowState};

use crate::schema::BindingDbRow;
use crate::words::{KindWord, WorkflowStateWord};

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
