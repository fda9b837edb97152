//! Runs that a run has called.

use crate::schema::runs;
use crate::words::RunStateWord;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::{RunId, TenantId};
use heddle_store::document::decode;
use heddle_store::{Db, Error, Id, read};
use heddle_usecase::StoreError;
use heddle_workflows::records::{CalledRun, TriggerRecord};

/// The runs that a run has called, the first ones first.
pub(crate) async fn by(
    db: &Db,
    tenant: TenantId,
    caller: RunId,
    limit: i64,
) -> Result<Vec<CalledRun>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<(Id, Id, RunStateWord, Vec<u8>)> = runs::table
            .filter(runs::organization_id.eq(Id::from(tenant)))
            .filter(runs::parent_run_id.eq(Id::from(caller)))
            .order((runs::created_at, runs::id))
            .limit(limit)
            .select((runs::id, runs::workflow_id, runs::state, runs::trigger))
            .load(conn)
            .await?;
        let called = |(id, workflow, state, trigger): (Id, Id, RunStateWord, Vec<u8>)| {
            let trigger: TriggerRecord = decode(&trigger)?;
            Ok(CalledRun {
                id: id.into(),
                workflow: workflow.into(),
                node_id: trigger.parent.map(|parent| parent.node_id).unwrap_or_default(),
                state: state.0,
            })
        };
        rows.into_iter().map(called).collect::<Result<Vec<_>, Error>>()
    })
}
