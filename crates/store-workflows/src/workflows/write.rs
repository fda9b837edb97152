//! Changes of workflows.

use crate::schema::{
    import_sources, start_bindings, workflow_sources, workflow_stars, workflow_versions, workflows,
};
use diesel::upsert::excluded;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, insert_into};
use diesel_async::RunQueryDsl;
use heddle_kernel::{Patch, TenantId, Timestamp, UserId, WorkflowId};
use heddle_store::document::encode;
use heddle_store::{At, Db, Error, Id, journal, revision, tenant, write_tx};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{PublishWrite, WorkflowWrite};
use heddle_workflows::records::{Draft, ImportSource, StartBinding, Workflow, WorkflowState};
use serde_json::Value;

use crate::schema::BindingDbRow;
use crate::search;

/// What a change may change.
#[derive(Debug, Insertable, diesel::AsChangeset)]
#[diesel(table_name = workflows, treat_none_as_null = true)]
struct Changed<'a> {
    slug: &'a str,
    display_name: &'a str,
    description: &'a str,
    folder_id: Option<&'a str>,
    folder_null: bool,
    state: &'static str,
    revision: i64,
    draft_revision: i64,
    draft_hash: Option<&'a str>,
    published_version: Option<i32>,
    published_hash: Option<&'a str>,
    updated_at: At,
    updated_by: Id,
    search: String,
}

impl<'a> Changed<'a> {
    fn of(workflow: &'a Workflow) -> Self {
        Self {
            slug: &workflow.slug,
            display_name: &workflow.display_name,
            description: &workflow.description,
            folder_id: workflow.folder_id.value().map(String::as_str),
            folder_null: workflow.folder_id == Patch::Null,
            state: workflow.state.as_str(),
            revision: workflow.revision.0,
            draft_revision: workflow.draft_revision.0,
            draft_hash: workflow.draft_hash.as_deref(),
            published_version: workflow.published_version,
            published_hash: workflow.published_hash.as_deref(),
            updated_at: workflow.updated_at.into(),
            updated_by: workflow.updated_by.into(),
            search: search::text(&workflow.slug, &workflow.display_name, &workflow.description),
        }
    }
}

/// A draft as it is stored: nothing, the document `null`, or the document.
fn stored(draft: &Draft) -> Result<Option<Vec<u8>>, Error> {
    match draft {
        Patch::Absent => Ok(None),
        Patch::Null => encode(&Value::Null).map(Some),
        Patch::Value(value) => encode(value).map(Some),
    }
}

/// Claims the previewed files that are there. The last one becomes the workflow's own.
macro_rules! claim {
    ($conn:ident, $workflow:expr, $claims:expr) => {{
        let (tenant, id) = (Id::from($workflow.tenant), Id::from($workflow.id));
        let mut last = None;
        for sha256 in $claims {
            let file = import_sources::table.find((tenant, sha256));
            let claimed =
                diesel::update(file).set(import_sources::expires_at.eq(None::<At>)).execute($conn).await?;
            if claimed == 0 {
                continue;
            }
            insert_into(workflow_sources::table)
                .values((
                    workflow_sources::organization_id.eq(tenant),
                    workflow_sources::workflow_id.eq(id),
                    workflow_sources::sha256.eq(sha256),
                    workflow_sources::main.eq(false),
                ))
                .on_conflict_do_nothing()
                .execute($conn)
                .await?;
            last = Some(sha256);
        }
        if let Some(last) = last {
            let all = workflow_sources::table
                .filter(workflow_sources::organization_id.eq(tenant))
                .filter(workflow_sources::workflow_id.eq(id));
            diesel::update(all)
                .set(workflow_sources::main.eq(workflow_sources::sha256.eq(last)))
                .execute($conn)
                .await?;
        }
    }};
}

/// Why a change met no row.
macro_rules! refused {
    ($conn:ident, $workflow:expr) => {{
        let row =
            workflows::table.find((Id::from($workflow.tenant), Id::from($workflow.id))).select(workflows::id);
        let there = row.first::<Id>($conn).await.optional()?;
        return Err(revision::unmet(there.is_some()).into());
    }};
}

/// Puts these start bindings in the place of the present ones.
macro_rules! bind {
    ($conn:ident, $tenant:expr, $id:expr, $bindings:expr) => {{
        let present = start_bindings::table
            .filter(start_bindings::organization_id.eq(Id::from($tenant)))
            .filter(start_bindings::workflow_id.eq(Id::from($id)));
        diesel::delete(present).execute($conn).await?;
        for binding in $bindings {
            insert_into(start_bindings::table).values(BindingDbRow::of(binding)?).execute($conn).await?;
        }
    }};
}

/// Writes a new workflow.
pub async fn insert(db: &Db, write: WorkflowWrite<'_>, unit: &Journal) -> Result<(), StoreError> {
    let workflow = write.workflow;
    let draft = write.draft.map(stored).transpose()?.flatten();
    write_tx!(db, |conn| {
        tenant::keep_open(conn, workflow.tenant).await?;
        insert_into(workflows::table)
            .values((
                workflows::organization_id.eq(Id::from(workflow.tenant)),
                workflows::id.eq(Id::from(workflow.id)),
                workflows::created_at.eq(At(workflow.created_at)),
                workflows::created_by.eq(Id::from(workflow.created_by)),
                workflows::draft.eq(&draft),
                Changed::of(workflow),
            ))
            .execute(conn)
            .await?;
        claim!(conn, workflow, write.claims);
        journal::write(conn, unit).await
    })
}

/// Writes a change.
pub async fn update(db: &Db, write: WorkflowWrite<'_>, unit: &Journal) -> Result<(), StoreError> {
    let workflow = write.workflow;
    // The revision before is one less when the caller does not name it.
    let expected = write.expected.map_or(workflow.revision.0 - 1, |revision| revision.0);
    let draft = write.draft.map(stored).transpose()?;
    write_tx!(db, |conn| {
        let row = workflows::table
            .find((Id::from(workflow.tenant), Id::from(workflow.id)))
            .filter(workflows::revision.eq(expected));
        if diesel::update(row).set(Changed::of(workflow)).execute(conn).await? == 0 {
            refused!(conn, workflow);
        }
        if let Some(draft) = &draft {
            let row = workflows::table.find((Id::from(workflow.tenant), Id::from(workflow.id)));
            diesel::update(row).set(workflows::draft.eq(draft)).execute(conn).await?;
        }
        if workflow.state == WorkflowState::Archived {
            bind!(conn, workflow.tenant, workflow.id, &[] as &[StartBinding]);
        }
        claim!(conn, workflow, write.claims);
        journal::write(conn, unit).await
    })
}

/// Writes a version and makes it the active one.
pub async fn publish(db: &Db, write: PublishWrite<'_>, unit: &Journal) -> Result<(), StoreError> {
    let (workflow, version) = (write.workflow, write.version);
    let definition = encode(write.definition)?;
    write_tx!(db, |conn| {
        let row = workflows::table
            .find((Id::from(workflow.tenant), Id::from(workflow.id)))
            .filter(workflows::revision.eq(write.expected.0));
        if diesel::update(row).set(Changed::of(workflow)).execute(conn).await? == 0 {
            refused!(conn, workflow);
        }
        insert_into(workflow_versions::table)
            .values((
                workflow_versions::organization_id.eq(Id::from(workflow.tenant)),
                workflow_versions::workflow_id.eq(Id::from(workflow.id)),
                workflow_versions::number.eq(version.number),
                workflow_versions::hash.eq(&version.hash),
                workflow_versions::definition.eq(&definition),
                workflow_versions::published_at.eq(At(version.published_at)),
                workflow_versions::published_by.eq(Id::from(version.published_by)),
                workflow_versions::change_note.eq(&version.change_note),
            ))
            .execute(conn)
            .await?;
        bind!(conn, workflow.tenant, workflow.id, write.bindings);
        journal::write(conn, unit).await
    })
}

/// Replaces the start bindings.
pub async fn set_bindings(
    db: &Db,
    tenant: TenantId,
    id: WorkflowId,
    bindings: &[StartBinding],
) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        workflows::table
            .find((Id::from(tenant), Id::from(id)))
            .select(workflows::id)
            .first::<Id>(conn)
            .await?;
        bind!(conn, tenant, id, bindings);
        Ok(())
    })
}

/// Sets or takes away a star.
pub async fn star(
    db: &Db,
    (tenant, id, user): (TenantId, WorkflowId, UserId),
    starred: bool,
    unit: &Journal,
) -> Result<bool, StoreError> {
    let (tenant, id, user) = (Id::from(tenant), Id::from(id), Id::from(user));
    write_tx!(db, |conn| {
        workflows::table.find((tenant, id)).select(workflows::id).first::<Id>(conn).await?;
        let changed = if starred {
            insert_into(workflow_stars::table)
                .values((
                    workflow_stars::organization_id.eq(tenant),
                    workflow_stars::user_id.eq(user),
                    workflow_stars::workflow_id.eq(id),
                ))
                .on_conflict_do_nothing()
                .execute(conn)
                .await?
        } else {
            diesel::delete(workflow_stars::table.find((tenant, user, id))).execute(conn).await?
        };
        if changed > 0 {
            journal::write(conn, unit).await?;
        }
        Ok(changed > 0)
    })
}

/// Keeps a file for a time. One that is claimed is kept for good already.
pub async fn keep_source(
    db: &Db,
    tenant: TenantId,
    source: &ImportSource,
    expires_at: Timestamp,
) -> Result<(), StoreError> {
    use diesel::query_dsl::methods::FilterDsl;
    let (tenant, expires_at) = (Id::from(tenant), At(expires_at));
    write_tx!(db, |conn| {
        let kept = insert_into(import_sources::table)
            .values((
                import_sources::organization_id.eq(tenant),
                import_sources::sha256.eq(&source.sha256),
                import_sources::media_type.eq(&source.media_type),
                import_sources::file_name.eq(&source.file_name),
                import_sources::bytes.eq(&source.bytes),
                import_sources::expires_at.eq(Some(expires_at)),
            ))
            .on_conflict((import_sources::organization_id, import_sources::sha256))
            .do_update()
            .set((
                import_sources::media_type.eq(excluded(import_sources::media_type)),
                import_sources::file_name.eq(excluded(import_sources::file_name)),
                import_sources::expires_at.eq(excluded(import_sources::expires_at)),
            ));
        FilterDsl::filter(kept, import_sources::expires_at.lt(expires_at)).execute(conn).await?;
        Ok(())
    })
}
