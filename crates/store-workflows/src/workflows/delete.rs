//! The deletion of a workflow.

use crate::schema::{dead_letters, import_sources, runs, workflow_sources, workflows};
use diesel::dsl::{exists, not};
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_definitions::DefinitionKey;
use heddle_kernel::Revision;
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{At, Db, Id, journal, revision, write_tx};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_workflows::ports::Deleted;

use crate::kept::writing;
use crate::runs::remove_runs;
use crate::{named, tomb};

use super::read::definition;

/// Deletes a workflow with its versions and ended runs.
pub(crate) async fn delete(
    db: &Db,
    key: DefinitionKey,
    expected: Option<Revision>,
    unit: &Journal,
) -> Result<Deleted, StoreError> {
    let (tenant, id, kind) = (key.tenant(), key.id(), key.kind());
    let grave = Tombstone::of(tenant, tomb::definition(kind), id);
    let guard = writing(db, tenant, id);
    let (tenant, id) = (Id::from(tenant), Id::from(id));
    let mut active = 0;
    let deleted = write_tx!(db, |conn| {
        let present: Option<(i64, At)> = definition!(key)
            .select((workflows::revision, workflows::updated_at))
            .first(conn)
            .await
            .optional()?;
        let Some((revision, updated_at)) = present else {
            return if tombstone::exists(conn, grave).await? {
                Ok(Deleted::Before)
            } else {
                Err(StoreError::NotFound.into())
            };
        };
        if let Some(expected) = expected {
            revision::check(revision, expected)?;
        }
        let deleted_at = journal::time_of(unit).map_or(updated_at, At);
        let files: Vec<String> = workflow_sources::table
            .filter(workflow_sources::organization_id.eq(tenant))
            .filter(workflow_sources::workflow_id.eq(id))
            .select(workflow_sources::sha256)
            .load(conn)
            .await?;
        // The row goes first: it waits for those who begin runs now, and whoever comes later finds no
        // workflow. What hangs on the row by a key goes with it.
        let row = workflows::table.find((tenant, id)).filter(workflows::revision.eq(revision));
        revision::met(diesel::delete(row).execute(conn).await?)?;
        active = runs::table
            .filter(runs::organization_id.eq(tenant))
            .filter(runs::workflow_id.eq(id))
            .filter(runs::ended_at.is_null())
            .count()
            .get_result(conn)
            .await?;
        if active > 0 {
            return Err(StoreError::Stale.into());
        }
        let graves = tomb::run_of(id);
        remove_runs!(conn, tenant, graves, deleted_at, runs::workflow_id.eq(id));
        let letters = dead_letters::table
            .filter(dead_letters::organization_id.eq(tenant))
            .filter(dead_letters::workflow_id.eq(id));
        diesel::delete(letters).execute(conn).await?;
        let others = workflow_sources::table
            .filter(workflow_sources::organization_id.eq(import_sources::organization_id))
            .filter(workflow_sources::sha256.eq(import_sources::sha256));
        let unclaimed = import_sources::table
            .filter(import_sources::organization_id.eq(tenant))
            .filter(import_sources::sha256.eq_any(&files))
            .filter(not(exists(others)));
        diesel::delete(unclaimed).execute(conn).await?;
        tombstone::write(conn, grave, deleted_at.into()).await?;
        journal::write(conn, unit).await?;
        Ok(Deleted::Now)
    });
    if let Some(guard) = guard {
        guard.done();
    }
    if active > 0 { Ok(Deleted::InUse(active)) } else { deleted.map_err(named) }
}
