//! Published versions by the numbers and the tags under which clients and calls name them: written when a version is
//! published, so that nobody has to read a definition for them.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use diesel::dsl::{exists, max, not};
use diesel::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl, insert_into,
};
use diesel_async::RunQueryDsl;
use heddle_definitions::DefinitionKey;
use heddle_kernel::{DefinitionKind, TenantId, WorkflowId};
use heddle_store::document::decode;
use heddle_store::{Db, Id, read, write_tx};
use heddle_usecase::StoreError;
use heddle_workflows::models::{process_ids, version_tags as tags_of};
use heddle_workflows::runs::process_number;
use parking_lot::Mutex;
use serde_json::Value;

use crate::schema::{
    ProcessNumberDbRow, VersionTagDbRow, process_numbers, version_tags, workflow_versions, workflows,
};
use crate::words::DefinitionKindWord;

/// Workflows or versions that are listed at a time.
const AT_ONCE: i64 = 20;
/// The most versions of a workflow that have numbers, the newest.
const VERSIONS: i32 = 1_000;
/// The most workflows of one number that are told apart.
const MOST: i64 = 10;
/// Number that says that all of a workflow are there.
const ALL: i64 = 0;
/// Tag that says that all of a version are there.
const EVERY: &str = "";

/// Writes the numbers and the tags of a version that is published.
macro_rules! name_version {
    ($conn:ident, $workflow:expr, $number:expr, $definition:expr) => {{
        let (tenant, id, number) = (Id::from($workflow.tenant), Id::from($workflow.id), $number);
        let named: Option<i64> = process_numbers::table
            .filter(process_numbers::organization_id.eq(tenant))
            .filter(process_numbers::workflow_id.eq(id))
            .select(process_numbers::number)
            .first($conn)
            .await
            .optional()?;
        // One that was published before there were numbers gets those of its earlier versions, too.
        let first = if named.is_some() { number } else { 1 };
        for row in $crate::workflows::numbers::numbers(tenant, $workflow.id, first..=number, $definition) {
            insert_into(process_numbers::table).values(&row).on_conflict_do_nothing().execute($conn).await?;
        }
        for row in $crate::workflows::numbers::tags(tenant, id, number, $definition) {
            insert_into(version_tags::table).values(&row).on_conflict_do_nothing().execute($conn).await?;
        }
    }};
}
pub(crate) use name_version;

/// Rows of the numbers of versions with the processes of a definition.
pub(crate) fn numbers(
    tenant: Id,
    workflow: WorkflowId,
    versions: RangeInclusive<i32>,
    definition: &Value,
) -> Vec<ProcessNumberDbRow> {
    let ids = process_ids(definition);
    let (first, last) = (*versions.start(), *versions.end());
    let newest = first.max(last.saturating_sub(VERSIONS - 1))..=last;
    let of = |version: i32| ids.iter().map(move |id| process_number(workflow, version, id));
    let row =
        |number: i64| ProcessNumberDbRow { organization_id: tenant, number, workflow_id: workflow.into() };
    newest.flat_map(of).chain([ALL]).map(row).collect()
}

/// Rows of the tags of a version.
pub(crate) fn tags(tenant: Id, workflow: Id, number: i32, definition: &Value) -> Vec<VersionTagDbRow> {
    let row = |tag: String| VersionTagDbRow { organization_id: tenant, workflow_id: workflow, tag, number };
    tags_of(definition).into_iter().chain([EVERY.to_owned()]).map(row).collect()
}

/// Organisations whose workflows all have their numbers; later ones get them as they are published.
pub(crate) type Numbered = Mutex<HashSet<TenantId>>;

/// The workflows of which a version of a process has this number.
pub(crate) async fn numbered(
    db: &Db,
    done: &Numbered,
    tenant: TenantId,
    number: i64,
) -> Result<Vec<WorkflowId>, StoreError> {
    if !done.lock().contains(&tenant) {
        while number_some(db, tenant).await? {}
        done.lock().insert(tenant);
    }
    let found: Vec<Id> = read!(db, |conn| {
        Ok(process_numbers::table
            .filter(process_numbers::organization_id.eq(Id::from(tenant)))
            .filter(process_numbers::number.eq(number))
            .order(process_numbers::workflow_id)
            .limit(MOST)
            .select(process_numbers::workflow_id)
            .load(conn)
            .await?)
    })?;
    Ok(found.into_iter().map(Into::into).collect())
}

/// Numbers some workflows that were published before there were numbers; whether there were any.
async fn number_some(db: &Db, tenant: TenantId) -> Result<bool, StoreError> {
    let organization = Id::from(tenant);
    let found: Vec<(Id, i32, Vec<u8>)> = read!(db, |conn| {
        let there = process_numbers::table
            .filter(process_numbers::organization_id.eq(workflows::organization_id))
            .filter(process_numbers::workflow_id.eq(workflows::id));
        Ok(workflows::table
            .inner_join(
                workflow_versions::table.on(workflow_versions::organization_id
                    .eq(workflows::organization_id)
                    .and(workflow_versions::workflow_id.eq(workflows::id))
                    .and(workflow_versions::number.nullable().eq(workflows::published_version))),
            )
            .filter(workflows::organization_id.eq(organization))
            .filter(workflows::kind.eq(DefinitionKindWord(DefinitionKind::Workflow)))
            .filter(not(exists(there)))
            .order(workflows::id)
            .limit(AT_ONCE)
            .select((workflows::id, workflow_versions::number, workflow_versions::definition))
            .load(conn)
            .await?)
    })?;
    if found.is_empty() {
        return Ok(false);
    }
    let rows: Vec<ProcessNumberDbRow> = found
        .into_iter()
        .flat_map(|(workflow, latest, definition)| {
            numbers(organization, workflow.into(), 1..=latest, &read_definition(&definition))
        })
        .collect();
    write_tx!(db, |conn| {
        for row in &rows {
            // Another node may have written it.
            insert_into(process_numbers::table).values(row).on_conflict_do_nothing().execute(conn).await?;
        }
        Ok(())
    })?;
    Ok(true)
}

/// The last of these versions that has a tag.
pub(crate) async fn tagged(
    db: &Db,
    key: DefinitionKey,
    versions: RangeInclusive<i32>,
    tag: &str,
) -> Result<Option<i32>, StoreError> {
    if tag.is_empty() || key.kind() != DefinitionKind::Workflow {
        return Ok(None);
    }
    let (tenant, workflow) = (Id::from(key.tenant()), Id::from(key.id()));
    let (first, last) = (*versions.start(), *versions.end());
    loop {
        let found: Option<i32> = read!(db, |conn| {
            Ok(version_tags::table
                .filter(version_tags::organization_id.eq(tenant))
                .filter(version_tags::workflow_id.eq(workflow))
                .filter(version_tags::tag.eq(tag))
                .filter(version_tags::number.between(first, last))
                .select(max(version_tags::number))
                .first(conn)
                .await?)
        })?;
        // Those without a mark are older than all that have one.
        if found.is_some() || !tag_some(db, tenant, workflow, versions.clone()).await? {
            return Ok(found);
        }
    }
}

/// Writes the tags of some versions that were published before tags were kept, the newest first; whether there were any.
async fn tag_some(
    db: &Db,
    tenant: Id,
    workflow: Id,
    versions: RangeInclusive<i32>,
) -> Result<bool, StoreError> {
    let (first, last) = (*versions.start(), *versions.end());
    let found: Vec<(i32, Vec<u8>)> = read!(db, |conn| {
        let there = version_tags::table
            .filter(version_tags::organization_id.eq(workflow_versions::organization_id))
            .filter(version_tags::workflow_id.eq(workflow_versions::workflow_id))
            .filter(version_tags::tag.eq(EVERY))
            .filter(version_tags::number.eq(workflow_versions::number));
        Ok(workflow_versions::table
            .filter(workflow_versions::organization_id.eq(tenant))
            .filter(workflow_versions::workflow_id.eq(workflow))
            .filter(workflow_versions::number.between(first, last))
            .filter(not(exists(there)))
            .order(workflow_versions::number.desc())
            .limit(AT_ONCE)
            .select((workflow_versions::number, workflow_versions::definition))
            .load(conn)
            .await?)
    })?;
    if found.is_empty() {
        return Ok(false);
    }
    let rows: Vec<VersionTagDbRow> = found
        .into_iter()
        .flat_map(|(number, definition)| tags(tenant, workflow, number, &read_definition(&definition)))
        .collect();
    write_tx!(db, |conn| {
        for row in &rows {
            insert_into(version_tags::table).values(row).on_conflict_do_nothing().execute(conn).await?;
        }
        Ok(())
    })?;
    Ok(true)
}

/// A stored definition; null where it can't be read, which has neither processes nor tags.
fn read_definition(bytes: &[u8]) -> Value {
    decode(bytes).unwrap_or_else(|error| {
        tracing::error!(%error, "a definition can't be read, and has neither a number nor a tag");
        Value::Null
    })
}
