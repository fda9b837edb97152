//! One workflow, its draft, its versions and its file.

use crate::schema::{import_sources, runs, workflow_sources, workflow_stars, workflow_versions, workflows};
use diesel::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, QueryDsl, Queryable, Selectable, SelectableHelper,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{Page, PageRequest, Patch, Revision, TenantId, UserId, WorkflowId};
use heddle_store::document::decode;
use heddle_store::{At, Db, Error, Id, page, read};
use heddle_usecase::StoreError;
use heddle_workflows::records::{
    Draft, ImportSource, RunCounts, RunState, Version, Workflow, WorkflowState, WorkflowView,
};
use serde_json::Value;

use crate::unknown;

/// A workflow without its draft.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = workflows)]
pub struct WorkflowDbRow {
    organization_id: Id,
    id: Id,
    slug: String,
    display_name: String,
    description: String,
    folder_id: Option<String>,
    folder_null: bool,
    state: String,
    revision: i64,
    draft_revision: i64,
    draft_hash: Option<String>,
    published_version: Option<i32>,
    published_hash: Option<String>,
    created_at: At,
    created_by: Id,
    updated_at: At,
    updated_by: Id,
}

impl WorkflowDbRow {
    pub fn record(self) -> Result<Workflow, Error> {
        Ok(Workflow {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            slug: self.slug,
            display_name: self.display_name,
            description: self.description,
            folder_id: match self.folder_id {
                Some(folder) => Patch::Value(folder),
                None if self.folder_null => Patch::Null,
                None => Patch::Absent,
            },
            state: WorkflowState::parse(&self.state)
                .ok_or_else(|| unknown("the workflow's state", &self.state))?,
            revision: Revision(self.revision),
            draft_revision: Revision(self.draft_revision),
            draft_hash: self.draft_hash,
            published_version: self.published_version,
            published_hash: self.published_hash,
            created_at: self.created_at.into(),
            created_by: self.created_by.into(),
            updated_at: self.updated_at.into(),
            updated_by: self.updated_by.into(),
        })
    }
}

#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = workflow_versions)]
struct VersionDbRow {
    number: i32,
    hash: String,
    published_at: At,
    published_by: Id,
    change_note: Option<String>,
}

impl VersionDbRow {
    fn record(self, active: Option<i32>) -> Version {
        Version {
            active: active == Some(self.number),
            number: self.number,
            hash: self.hash,
            published_at: self.published_at.into(),
            published_by: self.published_by.into(),
            change_note: self.change_note,
        }
    }
}

/// Runs of a workflow in a state, with or without an incident.
type Counted = (Id, String, bool, i64);

/// What stands beside workflows for a reader: which are starred, and runs by state, each by one query.
pub async fn views(
    db: &Db,
    (tenant, user): (TenantId, UserId),
    found: Vec<Workflow>,
) -> Result<Vec<WorkflowView>, StoreError> {
    let ids: Vec<Id> = found.iter().map(|workflow| workflow.id.into()).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (stars, counts): (Vec<Id>, Vec<Counted>) = read!(db, |conn| {
        let stars = workflow_stars::table
            .filter(workflow_stars::organization_id.eq(Id::from(tenant)))
            .filter(workflow_stars::user_id.eq(Id::from(user)))
            .filter(workflow_stars::workflow_id.eq_any(&ids))
            .select(workflow_stars::workflow_id)
            .load(conn)
            .await?;
        let counts = runs::table
            .filter(runs::organization_id.eq(Id::from(tenant)))
            .filter(runs::workflow_id.eq_any(&ids))
            .group_by((runs::workflow_id, runs::state, runs::has_incident))
            .select((runs::workflow_id, runs::state, runs::has_incident, diesel::dsl::count_star()))
            .load(conn)
            .await?;
        Ok((stars, counts))
    })?;
    let mut views: Vec<_> = found
        .into_iter()
        .map(|workflow| WorkflowView {
            starred: stars.contains(&workflow.id.into()),
            workflow,
            run_counts: RunCounts::default(),
        })
        .collect();
    for (workflow, state, has_incident, count) in counts {
        if let Some(view) = views.iter_mut().find(|view| Id::from(view.workflow.id) == workflow) {
            add(&mut view.run_counts, &state, has_incident, count);
        }
    }
    Ok(views)
}

fn add(counts: &mut RunCounts, state: &str, has_incident: bool, count: i64) {
    match RunState::parse(state) {
        Some(RunState::Completed) => counts.completed += count,
        Some(RunState::Failed) => counts.failed += count,
        Some(RunState::Cancelled) => counts.cancelled += count,
        Some(RunState::Queued | RunState::Running | RunState::Waiting | RunState::Suspended) => {
            counts.active += count;
            if has_incident {
                counts.incidents += count;
            }
        }
        None => {}
    }
}

/// One workflow.
pub async fn get(
    db: &Db,
    tenant: TenantId,
    id: WorkflowId,
    user: UserId,
) -> Result<WorkflowView, StoreError> {
    let workflow = read!(db, |conn| {
        let row: WorkflowDbRow = workflows::table
            .find((Id::from(tenant), Id::from(id)))
            .select(WorkflowDbRow::as_select())
            .first(conn)
            .await?;
        row.record()
    })?;
    views(db, (tenant, user), vec![workflow]).await?.pop().ok_or(StoreError::NotFound)
}

/// Its draft.
pub async fn draft(db: &Db, tenant: TenantId, id: WorkflowId) -> Result<Draft, StoreError> {
    read!(db, |conn| {
        let stored: Option<Vec<u8>> = workflows::table
            .find((Id::from(tenant), Id::from(id)))
            .select(workflows::draft)
            .first(conn)
            .await?;
        Ok(match stored.as_deref().map(decode::<Value>).transpose()? {
            None => Patch::Absent,
            Some(Value::Null) => Patch::Null,
            Some(value) => Patch::Value(value),
        })
    })
}

/// Its versions, newest first.
pub async fn versions(
    db: &Db,
    tenant: TenantId,
    id: WorkflowId,
    page: &PageRequest,
) -> Result<Page<Version>, StoreError> {
    let below: Option<i32> = page::position(page)?;
    let found = read!(db, |conn| {
        let active: Option<i32> = workflows::table
            .find((Id::from(tenant), Id::from(id)))
            .select(workflows::published_version)
            .first(conn)
            .await?;
        let rows: Vec<VersionDbRow> = workflow_versions::table
            .filter(workflow_versions::organization_id.eq(Id::from(tenant)))
            .filter(workflow_versions::workflow_id.eq(Id::from(id)))
            .filter(workflow_versions::number.lt(below.unwrap_or(i32::MAX)))
            .order(workflow_versions::number.desc())
            .limit(page::surplus(page))
            .select(VersionDbRow::as_select())
            .load(conn)
            .await?;
        Ok(rows.into_iter().map(|row| row.record(active)).collect())
    })?;
    Ok(Page::from_surplus(found, page.limit, |version: &Version| version.number))
}

/// One version with its definition.
pub async fn version(
    db: &Db,
    tenant: TenantId,
    id: WorkflowId,
    number: i32,
) -> Result<(Version, Value), StoreError> {
    read!(db, |conn| {
        let active: Option<i32> = workflows::table
            .find((Id::from(tenant), Id::from(id)))
            .select(workflows::published_version)
            .first(conn)
            .await?;
        let (row, definition): (VersionDbRow, Vec<u8>) = workflow_versions::table
            .find((Id::from(tenant), Id::from(id), number))
            .select((VersionDbRow::as_select(), workflow_versions::definition))
            .first(conn)
            .await?;
        Ok((row.record(active), decode(&definition)?))
    })
}

/// The file that it was imported from.
pub async fn source(db: &Db, tenant: TenantId, id: WorkflowId) -> Result<ImportSource, StoreError> {
    read!(db, |conn| {
        let (sha256, media_type, file_name, bytes) = workflow_sources::table
            .inner_join(
                import_sources::table.on(import_sources::organization_id
                    .eq(workflow_sources::organization_id)
                    .and(import_sources::sha256.eq(workflow_sources::sha256))),
            )
            .filter(workflow_sources::organization_id.eq(Id::from(tenant)))
            .filter(workflow_sources::workflow_id.eq(Id::from(id)))
            .filter(workflow_sources::main.eq(true))
            .select((
                import_sources::sha256,
                import_sources::media_type,
                import_sources::file_name,
                import_sources::bytes,
            ))
            .first::<(String, String, Option<String>, Vec<u8>)>(conn)
            .await?;
        Ok(ImportSource { sha256, media_type, file_name, bytes })
    })
}

/// Where it stands.
pub async fn standing(
    db: &Db,
    tenant: TenantId,
    id: WorkflowId,
) -> Result<(WorkflowState, Option<i32>), StoreError> {
    read!(db, |conn| {
        let (state, active): (String, Option<i32>) = workflows::table
            .find((Id::from(tenant), Id::from(id)))
            .select((workflows::state, workflows::published_version))
            .first(conn)
            .await?;
        let standing = WorkflowState::parse(&state).ok_or_else(|| unknown("the workflow's state", &state))?;
        Ok((standing, active))
    })
}
