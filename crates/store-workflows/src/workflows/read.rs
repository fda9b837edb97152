//! One workflow, its draft, its versions and its file.

use crate::counts::{by_workflow, counts_of};
use crate::schema::{
    CountsRow, SourceHead, VersionHead, WorkflowHead, import_sources, workflow_sources, workflow_stars,
    workflow_versions, workflows,
};
use diesel::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_definitions::DefinitionKey;
use heddle_kernel::{Page, PageRequest, Patch, TenantId, UserId};
use heddle_store::document::decode;
use heddle_store::{Db, Id, page, read};
use heddle_usecase::StoreError;
use heddle_workflows::records::{Draft, ImportSource, Version, Workflow, WorkflowView};
use serde_json::Value;

/// The row of a definition, if it is of the key's kind.
macro_rules! definition {
    ($key:expr) => {
        $crate::schema::workflows::table
            .find((heddle_store::Id::from($key.tenant()), heddle_store::Id::from($key.id())))
            .filter($crate::schema::workflows::kind.eq($crate::words::DefinitionKindWord($key.kind())))
    };
}
pub(crate) use definition;

/// Views of workflows for a reader: which are starred, and numbers of runs by state, each by one query.
pub(crate) async fn views(
    db: &Db,
    tenant: TenantId,
    user: UserId,
    found: Vec<Workflow>,
) -> Result<Vec<WorkflowView>, StoreError> {
    let ids: Vec<Id> = found.iter().map(|workflow| workflow.id.into()).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (stars, counts): (Vec<Id>, Vec<CountsRow>) = read!(db, |conn| {
        let stars = workflow_stars::table
            .filter(workflow_stars::organization_id.eq(Id::from(tenant)))
            .filter(workflow_stars::user_id.eq(Id::from(user)))
            .filter(workflow_stars::workflow_id.eq_any(&ids))
            .select(workflow_stars::workflow_id)
            .load(conn)
            .await?;
        let counts = counts_of!(tenant, &ids).load(conn).await?;
        Ok((stars, counts))
    })?;
    let mut counts = by_workflow(counts);
    let view = |workflow: Workflow| {
        let id = Id::from(workflow.id);
        let run_counts = counts.remove(&id).unwrap_or_default();
        WorkflowView { starred: stars.contains(&id), definition: workflow, counts: run_counts }
    };
    Ok(found.into_iter().map(view).collect())
}

/// One workflow.
pub(crate) async fn get(db: &Db, key: DefinitionKey, user: UserId) -> Result<WorkflowView, StoreError> {
    let workflow = read!(db, |conn| {
        let row: WorkflowHead = definition!(key).select(WorkflowHead::as_select()).first(conn).await?;
        Ok(Workflow::from(row))
    })?;
    views(db, key.tenant(), user, vec![workflow]).await?.pop().ok_or(StoreError::NotFound)
}

/// Draft of a workflow.
pub(crate) async fn draft(db: &Db, key: DefinitionKey) -> Result<Draft, StoreError> {
    read!(db, |conn| {
        let stored: Option<Vec<u8>> = definition!(key).select(workflows::draft).first(conn).await?;
        Ok(match stored.as_deref().map(decode::<Value>).transpose()? {
            None => Patch::Absent,
            Some(Value::Null) => Patch::Null,
            Some(value) => Patch::Value(value),
        })
    })
}

/// Versions of a workflow, newest first.
pub(crate) async fn versions(
    db: &Db,
    key: DefinitionKey,
    page: &PageRequest,
) -> Result<Page<Version>, StoreError> {
    let below: Option<i32> = page::position(page)?;
    let found = read!(db, |conn| {
        let active: Option<i32> = definition!(key).select(workflows::published_version).first(conn).await?;
        let rows: Vec<VersionHead> = workflow_versions::table
            .filter(workflow_versions::organization_id.eq(Id::from(key.tenant())))
            .filter(workflow_versions::workflow_id.eq(Id::from(key.id())))
            .filter(workflow_versions::number.lt(below.unwrap_or(i32::MAX)))
            .order(workflow_versions::number.desc())
            .limit(page::surplus(page))
            .select(VersionHead::as_select())
            .load(conn)
            .await?;
        Ok(rows.into_iter().map(|row| row.record(active)).collect())
    })?;
    Ok(Page::from_surplus(found, page.limit, |version: &Version| version.number))
}

/// One version with its definition.
pub(crate) async fn version(
    db: &Db,
    key: DefinitionKey,
    number: i32,
) -> Result<(Version, Value), StoreError> {
    read!(db, |conn| {
        let active: Option<i32> = definition!(key).select(workflows::published_version).first(conn).await?;
        let (row, definition): (VersionHead, Vec<u8>) = workflow_versions::table
            .find((Id::from(key.tenant()), Id::from(key.id()), number))
            .select((VersionHead::as_select(), workflow_versions::definition))
            .first(conn)
            .await?;
        Ok((row.record(active), decode(&definition)?))
    })
}

/// The file that it was imported from.
pub(crate) async fn source(db: &Db, key: DefinitionKey) -> Result<ImportSource, StoreError> {
    read!(db, |conn| {
        definition!(key).select(workflows::id).first::<Id>(conn).await?;
        let row: SourceHead = workflow_sources::table
            .inner_join(
                import_sources::table.on(import_sources::organization_id
                    .eq(workflow_sources::organization_id)
                    .and(import_sources::sha256.eq(workflow_sources::sha256))),
            )
            .filter(workflow_sources::organization_id.eq(Id::from(key.tenant())))
            .filter(workflow_sources::workflow_id.eq(Id::from(key.id())))
            .filter(workflow_sources::main.eq(true))
            .select(SourceHead::as_select())
            .first(conn)
            .await?;
        Ok(row.into())
    })
}
