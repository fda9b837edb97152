//! Runs that a run has called.

use crate::schema::runs;
use crate::words::{DefinitionKindWord, RunStateWord};
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_policy::InstanceKey;
use heddle_store::document::decode;
use heddle_store::{Db, Error, Id, read};
use heddle_usecase::StoreError;
use heddle_workflows::records::{CalledRun, TriggerRecord};

/// A called instance: kind, id, definition, state and trigger.
type Row = (DefinitionKindWord, Id, Id, RunStateWord, Vec<u8>);

/// The instances that an instance has called, the first ones first.
pub(crate) async fn by(db: &Db, caller: &InstanceKey, limit: i64) -> Result<Vec<CalledRun>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<Row> = runs::table
            .filter(runs::organization_id.eq(Id::from(caller.tenant())))
            .filter(runs::parent_run_id.eq(Id::from(caller.id())))
            .order((runs::created_at, runs::id))
            .limit(limit)
            .select((runs::kind, runs::id, runs::workflow_id, runs::state, runs::trigger))
            .load(conn)
            .await?;
        let called = |(kind, id, workflow, state, trigger): Row| {
            let trigger: TriggerRecord = decode(&trigger)?;
            Ok(CalledRun {
                kind: kind.0,
                id: id.into(),
                workflow: workflow.into(),
                node_id: trigger.parent.map(|parent| parent.node_id).unwrap_or_default(),
                state: state.0,
            })
        };
        rows.into_iter().map(called).collect::<Result<Vec<_>, Error>>()
    })
}
