//! The removal of ended runs.

use crate::schema::runs;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_policy::InstanceKey;
use heddle_store::{At, Db, Id, journal, write_tx};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use crate::kept::{Written, writing_to};
use crate::words::DefinitionKindWord;
use crate::{named, tomb};

/// Removes what belongs to the runs of a filter on `runs`, and the runs; each leaves a tombstone. Messages
/// that they threw are still delivered.
macro_rules! remove_runs {
    ($conn:ident, $tenant:expr, $grave:expr, $at:expr, $($of:expr),+) => {{
        use diesel::{ExpressionMethods as _, IntoSql as _, QueryDsl as _};
        use heddle_store::schema::tombstones;
        use $crate::schema::{
            human_task_candidates, human_tasks, job_endings, jobs, run_events, run_subscriptions, run_timers,
            runs,
        };
        let ids = || runs::table.filter(runs::organization_id.eq($tenant))$(.filter($of))+.select(runs::id);
        diesel::insert_into(tombstones::table)
            .values(
                runs::table
                    .filter(runs::organization_id.eq($tenant))
                    $(.filter($of))+
                    .select((
                        runs::organization_id,
                        $grave.into_sql::<diesel::sql_types::Text>(),
                        runs::id,
                        $at.into_sql::<heddle_store::DbInstant>(),
                    )),
            )
            .into_columns(tombstones::all_columns)
            .execute($conn)
            .await?;
        let tasks = human_tasks::table
            .filter(human_tasks::organization_id.eq($tenant))
            .filter(human_tasks::run_id.eq_any(ids()));
        diesel::delete(
            human_task_candidates::table
                .filter(human_task_candidates::organization_id.eq($tenant))
                .filter(human_task_candidates::task_id.eq_any(tasks.select(human_tasks::id))),
        )
        .execute($conn)
        .await?;
        diesel::delete(tasks).execute($conn).await?;
        macro_rules! remove_from {
            ($table:ident) => {
                diesel::delete(
                    $table::table
                        .filter($table::organization_id.eq($tenant))
                        .filter($table::run_id.eq_any(ids())),
                )
                .execute($conn)
                .await?;
            };
        }
        remove_from!(run_events);
        remove_from!(run_timers);
        remove_from!(run_subscriptions);
        remove_from!(jobs);
        remove_from!(job_endings);
        let mine = runs::table.filter(runs::organization_id.eq($tenant))$(.filter($of))+;
        diesel::delete(mine).execute($conn).await?
    }};
}
pub(crate) use remove_runs;

/// Removes an ended run with its history.
pub(crate) async fn purge(db: &Db, key: &InstanceKey, unit: &Journal) -> Result<(), StoreError> {
    let (organization, mut guard) = (key.tenant(), None);
    let (tenant, run) = (Id::from(organization), Id::from(key.id()));
    let purged = write_tx!(db, |conn| {
        let (workflow, ended_at, updated_at): (Id, Option<At>, At) = runs::table
            .find((tenant, run))
            .filter(runs::kind.eq(DefinitionKindWord(key.kind())))
            .filter(runs::workflow_id.eq(Id::from(key.within())))
            .select((runs::workflow_id, runs::ended_at, runs::updated_at))
            .first(conn)
            .await?;
        guard = writing_to(db, [Written::RunsOf(organization, workflow.into())]);
        if ended_at.is_none() {
            return Err(StoreError::Stale.into());
        }
        let deleted_at = journal::time_of(unit).map_or(updated_at, At);
        let grave = tomb::run_of(workflow);
        remove_runs!(conn, tenant, grave, deleted_at, runs::id.eq(run));
        journal::write(conn, unit).await
    });
    if let Some(guard) = guard {
        guard.done();
    }
    purged.map_err(named)
}
