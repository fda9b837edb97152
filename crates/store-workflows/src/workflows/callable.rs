//! Published workflows by the names under which others call them.

use std::collections::{BTreeMap, HashSet};

use crate::schema::{CallableDbRow, callable_processes, workflow_versions, workflows};
use crate::words::{DefinitionKindWord, WorkflowStateWord};
use diesel::dsl::{exists, not};
use diesel::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl, insert_into,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{DefinitionKind, TenantId};
use heddle_store::document::decode;
use heddle_store::{Db, Id, read, write_tx};
use heddle_usecase::StoreError;
use heddle_workflows::models::callable_names;
use heddle_workflows::ports::Callable;
use heddle_workflows::records::WorkflowState;
use parking_lot::Mutex;
use serde_json::Value;

use super::rows::stored_slug;

/// Workflows that are listed at a time.
const AT_ONCE: i64 = 20;
/// Most workflows of one name that are told apart.
const MOST: i64 = 1_000;

/// Puts the processes, or cases, of the active version in the place of those of the one before.
macro_rules! list_processes {
    ($conn:ident, $tenant:expr, $workflow:expr, $callable:expr) => {{
        let present = callable_processes::table
            .filter(callable_processes::organization_id.eq($tenant))
            .filter(callable_processes::workflow_id.eq($workflow));
        diesel::delete(present).execute($conn).await?;
        let mut ids: Vec<String> = $callable.to_vec();
        if ids.is_empty() {
            // One without any is listed all the same, under a name that is none.
            ids.push(String::new());
        }
        for process_id in ids {
            let row = CallableDbRow { organization_id: $tenant, workflow_id: $workflow, process_id };
            insert_into(callable_processes::table).values(&row).execute($conn).await?;
        }
    }};
}
pub(crate) use list_processes;

/// Organisations whose workflows were all listed since the start; later ones are listed as they are published.
pub(crate) type Listed = Mutex<HashSet<TenantId>>;

/// The published definitions of a kind with a process or case of this id, and the one with this slug.
pub(crate) async fn named(
    db: &Db,
    listed: &Listed,
    tenant: TenantId,
    kind: DefinitionKind,
    name: &str,
) -> Result<Callable, StoreError> {
    let (organization, is_listed) = (tenant, listed.lock().contains(&tenant));
    let tenant = Id::from(tenant);
    if !is_listed {
        // All of them before the look: an older one of the same name makes it one of several.
        while list_some(db, tenant).await? {}
        listed.lock().insert(organization);
    }
    look(db, tenant, kind, name).await
}

async fn look(db: &Db, tenant: Id, kind: DefinitionKind, name: &str) -> Result<Callable, StoreError> {
    let published = || WorkflowStateWord(WorkflowState::Published);
    read!(db, |conn| {
        let processes: Vec<Id> = callable_processes::table
            .inner_join(
                workflows::table.on(workflows::organization_id
                    .eq(callable_processes::organization_id)
                    .and(workflows::id.eq(callable_processes::workflow_id))),
            )
            .filter(callable_processes::organization_id.eq(tenant))
            .filter(callable_processes::process_id.eq(name))
            .filter(workflows::kind.eq(DefinitionKindWord(kind)))
            .filter(workflows::state.eq(published()))
            .order(callable_processes::workflow_id)
            .limit(MOST)
            .select(callable_processes::workflow_id)
            .load(conn)
            .await?;
        let slug: Vec<Id> = workflows::table
            .filter(workflows::organization_id.eq(tenant))
            .filter(workflows::slug.eq(stored_slug(kind, name)))
            .filter(workflows::kind.eq(DefinitionKindWord(kind)))
            .filter(workflows::state.eq(published()))
            .limit(1)
            .select(workflows::id)
            .load(conn)
            .await?;
        Ok(Callable {
            processes: processes.into_iter().map(Into::into).collect(),
            slug: slug.into_iter().next().map(Into::into),
        })
    })
}

/// Lists the processes of some workflows that were published before there was such a list, archived ones among them: they
/// may be opened again. Whether there were any.
async fn list_some(db: &Db, tenant: Id) -> Result<bool, StoreError> {
    let found: Vec<(Id, Vec<u8>)> = read!(db, |conn| {
        let listed = callable_processes::table
            .filter(callable_processes::organization_id.eq(workflows::organization_id))
            .filter(callable_processes::workflow_id.eq(workflows::id));
        Ok(workflows::table
            .inner_join(
                workflow_versions::table.on(workflow_versions::organization_id
                    .eq(workflows::organization_id)
                    .and(workflow_versions::workflow_id.eq(workflows::id))
                    .and(workflow_versions::number.nullable().eq(workflows::published_version))),
            )
            .filter(workflows::organization_id.eq(tenant))
            .filter(workflows::kind.eq(DefinitionKindWord(DefinitionKind::Workflow)))
            .filter(not(exists(listed)))
            .order(workflows::id)
            .limit(AT_ONCE)
            .select((workflows::id, workflow_versions::definition))
            .load(conn)
            .await?)
    })?;
    if found.is_empty() {
        return Ok(false);
    }
    let mut all: BTreeMap<Id, Vec<String>> = BTreeMap::new();
    for (workflow, definition) in found {
        let mut ids = match decode::<Value>(&definition) {
            Ok(definition) => callable_names(&definition),
            Err(error) => {
                tracing::error!(%error, "a definition can't be read, and is called by nobody");
                Vec::new()
            }
        };
        if ids.is_empty() {
            // One without any is listed all the same, under a name that is none: it is looked at once.
            ids.push(String::new());
        }
        all.insert(workflow, ids);
    }
    write_tx!(db, |conn| {
        for (workflow, ids) in &all {
            for process_id in ids {
                let row = CallableDbRow {
                    organization_id: tenant,
                    workflow_id: *workflow,
                    process_id: process_id.clone(),
                };
                // Another node may have listed it.
                insert_into(callable_processes::table)
                    .values(&row)
                    .on_conflict_do_nothing()
                    .execute(conn)
                    .await?;
            }
        }
        Ok(())
    })?;
    Ok(true)
}
