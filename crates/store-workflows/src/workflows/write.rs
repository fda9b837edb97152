//! Changes of workflows.

use crate::schema::{
    BindingDbRow, CallableDbRow, DraftChange, SourceClaimDbRow, SourceDbRow, SourceKept, StarDbRow,
    VersionDbRow, WorkflowChange, WorkflowDbRow, callable_processes, import_sources, process_numbers,
    start_bindings, version_tags, workflow_sources, workflow_stars, workflow_versions, workflows,
};
use diesel::{
    BoolExpressionMethods, ExpressionMethods, NullableExpressionMethods, OptionalExtension, QueryDsl,
    insert_into,
};
use diesel_async::RunQueryDsl;
use heddle_definitions::DefinitionKey;
use heddle_kernel::{DefinitionKind, TenantId, Timestamp, UserId};
use heddle_store::{At, Db, Id, journal, revision, tenant, write_tx};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{PublishWrite, SourceQuota, WorkflowWrite, bound};
use heddle_workflows::records::{ImportSource, WorkflowState};

use super::callable::list_processes;
use super::numbers::name_version;
use super::read::definition;
use super::rows::stored;
use crate::kept::writing;

/// Writes in one transaction, telling before and after that the workflow changes.
macro_rules! write_workflow {
    ($db:expr, $tenant:expr, $id:expr, |$conn:ident| $body:expr) => {{
        let guard = writing($db, $tenant, $id);
        let result = write_tx!($db, |$conn| $body);
        if let Some(guard) = guard {
            guard.done();
        }
        result
    }};
}

/// Claims the previewed files that are there. The last one becomes the workflow's own.
macro_rules! claim {
    ($conn:ident, $workflow:expr, $claims:expr) => {{
        let (tenant, id) = (Id::from($workflow.tenant), Id::from($workflow.id));
        let mut last = None;
        // A file whose time is over is gone, though it may be swept away only in a minute.
        let now = At($workflow.updated_at);
        for sha256 in $claims {
            let there =
                import_sources::expires_at.is_null().or(import_sources::expires_at.assume_not_null().gt(now));
            let file = import_sources::table.find((tenant, sha256)).filter(there);
            let claimed =
                diesel::update(file).set(import_sources::expires_at.eq(None::<At>)).execute($conn).await?;
            if claimed == 0 {
                continue;
            }
            let claim = SourceClaimDbRow {
                organization_id: tenant,
                workflow_id: id,
                sha256: sha256.clone(),
                main: false,
            };
            insert_into(workflow_sources::table)
                .values(&claim)
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

/// Failure of a change that met no row: another revision, or no such workflow.
macro_rules! refused {
    ($conn:ident, $workflow:expr) => {{
        let row = definition!($workflow.key()).select(workflows::id);
        let there = row.first::<Id>($conn).await.optional()?;
        return Err(revision::unmet(there.is_some()).into());
    }};
}

/// Puts these start bindings in the place of the present ones.
macro_rules! bind {
    ($conn:ident, $definition:expr, $version:expr, $starts:expr) => {{
        let present = start_bindings::table
            .filter(start_bindings::organization_id.eq(Id::from($definition.tenant)))
            .filter(start_bindings::workflow_id.eq(Id::from($definition.id)));
        diesel::delete(present).execute($conn).await?;
        for start in $starts {
            let row = BindingDbRow::of(&bound($definition, $version, start))?;
            insert_into(start_bindings::table).values(row).execute($conn).await?;
        }
    }};
}

/// Writes a new workflow.
pub(crate) async fn insert(db: &Db, write: WorkflowWrite<'_>, unit: &Journal) -> Result<(), StoreError> {
    let workflow = write.definition;
    let row = WorkflowDbRow::of(workflow, write.draft.map(stored).transpose()?.flatten());
    write_workflow!(db, workflow.tenant, workflow.id, |conn| {
        tenant::keep_open(conn, workflow.tenant).await?;
        insert_into(workflows::table).values(&row).execute(conn).await?;
        if let Some(starts) = write.starts {
            bind!(conn, workflow, workflow.published_version.unwrap_or_default(), starts);
        }
        claim!(conn, workflow, write.claims);
        journal::write(conn, unit).await
    })
}

/// Writes a change.
pub(crate) async fn update(db: &Db, write: WorkflowWrite<'_>, unit: &Journal) -> Result<(), StoreError> {
    let workflow = write.definition;
    let archived = workflow.state == WorkflowState::Archived;
    let starts = if archived { Some([].as_slice()) } else { write.starts };
    // The revision before is one less when the caller does not name it.
    let expected = write.expected.map_or(workflow.revision.0 - 1, |revision| revision.0);
    let row = WorkflowDbRow::of(workflow, write.draft.map(stored).transpose()?.flatten());
    write_workflow!(db, workflow.tenant, workflow.id, |conn| {
        let present = definition!(workflow.key()).filter(workflows::revision.eq(expected));
        if diesel::update(present).set(WorkflowChange::from(&row).set()).execute(conn).await? == 0 {
            refused!(conn, workflow);
        }
        if write.draft.is_some() {
            let present = definition!(workflow.key());
            diesel::update(present).set(DraftChange::from(&row).set()).execute(conn).await?;
        }
        if let Some(starts) = starts {
            bind!(conn, workflow, workflow.published_version.unwrap_or_default(), starts);
        }
        claim!(conn, workflow, write.claims);
        journal::write(conn, unit).await
    })
}

/// Writes a version and makes it the active one.
pub(crate) async fn publish(db: &Db, write: PublishWrite<'_>, unit: &Journal) -> Result<(), StoreError> {
    let (workflow, version) = (write.definition, write.version);
    let row = WorkflowDbRow::of(workflow, None);
    let published = VersionDbRow::of(workflow.tenant, workflow.id, version, write.document)?;
    write_workflow!(db, workflow.tenant, workflow.id, |conn| {
        let present = definition!(workflow.key()).filter(workflows::revision.eq(write.expected.0));
        if diesel::update(present).set(WorkflowChange::from(&row).set()).execute(conn).await? == 0 {
            refused!(conn, workflow);
        }
        insert_into(workflow_versions::table).values(&published).execute(conn).await?;
        list_processes!(conn, row.organization_id, row.id, write.callable);
        if workflow.kind == DefinitionKind::Workflow {
            name_version!(conn, workflow, version.number, write.document);
        }
        bind!(conn, workflow, version.number, write.starts);
        journal::write(conn, unit).await
    })
}

/// Sets or takes away a star.
pub(crate) async fn star(
    db: &Db,
    key: DefinitionKey,
    user: UserId,
    starred: bool,
    unit: &Journal,
) -> Result<bool, StoreError> {
    let (tenant, id) = (key.tenant(), key.id());
    let (in_tenant, starring) = (tenant, id);
    let (tenant, id, user) = (Id::from(tenant), Id::from(id), Id::from(user));
    write_workflow!(db, in_tenant, starring, |conn| {
        definition!(key).select(workflows::id).first::<Id>(conn).await?;
        let changed = if starred {
            insert_into(workflow_stars::table)
                .values(&StarDbRow { organization_id: tenant, user_id: user, workflow_id: id })
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

diesel::define_sql_function! {
    /// Number of bytes, which neither database reads the bytes for.
    fn length(bytes: diesel::sql_types::Binary) -> diesel::sql_types::Integer;
}

/// Keeps a file for a time, within the organisation's quota. One that is claimed is kept for good already.
pub(crate) async fn keep_source(
    db: &Db,
    tenant: TenantId,
    source: &ImportSource,
    expires_at: Timestamp,
    quota: SourceQuota,
) -> Result<(), StoreError> {
    use diesel::query_dsl::methods::FilterDsl;
    let row = SourceDbRow::of(tenant, source, expires_at);
    let tenant = Id::from(tenant);
    write_tx!(db, |conn| {
        let kept = insert_into(import_sources::table)
            .values(&row)
            .on_conflict((import_sources::organization_id, import_sources::sha256))
            .do_update()
            .set(SourceKept::from(&row).set());
        FilterDsl::filter(kept, import_sources::expires_at.lt(At(expires_at))).execute(conn).await?;
        let unclaimed = QueryDsl::filter(
            import_sources::table,
            import_sources::organization_id.eq(tenant).and(import_sources::expires_at.is_not_null()),
        );
        let all: Vec<(String, i32)> = unclaimed
            .order((import_sources::expires_at.desc(), import_sources::sha256))
            .select((import_sources::sha256, length(import_sources::bytes)))
            .load(conn)
            .await?;
        let all =
            all.into_iter().map(|(sha256, bytes)| Unclaimed { sha256, bytes: bytes.unsigned_abs().into() });
        let beyond = beyond(&all.collect::<Vec<_>>(), &source.sha256, quota);
        if !beyond.is_empty() {
            let beyond = QueryDsl::filter(unclaimed, import_sources::sha256.eq_any(&beyond));
            diesel::delete(beyond).execute(conn).await?;
        }
        Ok(())
    })
}

/// Most files that go at once: a bound of one statement. More go with the next file.
const GO_AT_ONCE: usize = 1_000;

/// A file that no workflow has claimed.
struct Unclaimed {
    sha256: String,
    bytes: u64,
}

/// The files, of all of them with the newest first, that have no room beside the one that came just now.
fn beyond(all: &[Unclaimed], own: &str, quota: SourceQuota) -> Vec<String> {
    let (files, mut bytes) =
        (1, all.iter().filter(|file| file.sha256 == own).map(|file| file.bytes).sum::<u64>());
    let others = all.iter().filter(|file| file.sha256 != own);
    let without_room = others.enumerate().filter_map(|(before, file)| {
        bytes = bytes.saturating_add(file.bytes);
        let stays = files + before < quota.files && bytes <= quota.bytes;
        (!stays).then(|| file.sha256.clone())
    });
    let mut beyond: Vec<String> = without_room.collect();
    // The oldest stand last.
    beyond.split_off(beyond.len().saturating_sub(GO_AT_ONCE))
}
