//! Rows of workflows, versions and files, and their conversions to and from records.

use heddle_kernel::{DefinitionKind, Patch, Revision, TenantId, Timestamp, WorkflowId};
use heddle_store::document::encode;
use heddle_store::{Error, Id};
use heddle_workflows::records::{Draft, ImportSource, Version, Workflow};
use serde_json::Value;

use crate::schema::{SourceDbRow, SourceHead, VersionDbRow, VersionHead, WorkflowDbRow, WorkflowHead};
use crate::search;
use crate::words::{DefinitionKindWord, WorkflowStateWord};

/// A draft as it is stored: nothing, the document `null`, or the document.
pub(crate) fn stored(draft: &Draft) -> Result<Option<Vec<u8>>, Error> {
    match draft {
        Patch::Absent => Ok(None),
        Patch::Null => encode(&Value::Null).map(Some),
        Patch::Value(value) => encode(value).map(Some),
    }
}

/// First letters of the slug of a case type as it is stored. No slug begins like that.
const CASE: &str = "case/";

/// A slug as it is stored: one column is unique for all kinds.
pub(crate) fn stored_slug(kind: DefinitionKind, slug: &str) -> String {
    match kind {
        DefinitionKind::Workflow => slug.to_owned(),
        DefinitionKind::Case => format!("{CASE}{slug}"),
    }
}

/// A stored slug as it was given.
fn shown_slug(kind: DefinitionKind, stored: String) -> String {
    match kind {
        DefinitionKind::Workflow => stored,
        DefinitionKind::Case => stored.strip_prefix(CASE).map(str::to_owned).unwrap_or(stored),
    }
}

impl WorkflowDbRow {
    /// The row of a workflow with its draft as [`stored`]; a change that leaves the draft does not look at it.
    pub(crate) fn of(workflow: &Workflow, draft: Option<Vec<u8>>) -> Self {
        Self {
            organization_id: workflow.tenant.into(),
            id: workflow.id.into(),
            kind: DefinitionKindWord(workflow.kind),
            slug: stored_slug(workflow.kind, &workflow.slug),
            display_name: workflow.display_name.clone(),
            description: workflow.description.clone(),
            folder_id: workflow.folder_id.value().cloned(),
            folder_null: workflow.folder_id == Patch::Null,
            state: WorkflowStateWord(workflow.state),
            revision: workflow.revision.0,
            draft_revision: workflow.draft_revision.0,
            draft,
            draft_hash: workflow.draft_hash.clone(),
            published_version: workflow.published_version,
            published_hash: workflow.published_hash.clone(),
            created_at: workflow.created_at.into(),
            created_by: workflow.created_by.into(),
            updated_at: workflow.updated_at.into(),
            updated_by: workflow.updated_by.into(),
            search: search::text(&workflow.slug, &workflow.display_name, &workflow.description),
        }
    }
}

impl From<WorkflowHead> for Workflow {
    fn from(row: WorkflowHead) -> Self {
        Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            kind: row.kind.0,
            slug: shown_slug(row.kind.0, row.slug),
            display_name: row.display_name,
            description: row.description,
            folder_id: match row.folder_id {
                Some(folder) => Patch::Value(folder),
                None if row.folder_null => Patch::Null,
                None => Patch::Absent,
            },
            state: row.state.0,
            revision: Revision(row.revision),
            draft_revision: Revision(row.draft_revision),
            draft_hash: row.draft_hash,
            published_version: row.published_version,
            published_hash: row.published_hash,
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
            updated_at: row.updated_at.into(),
            updated_by: row.updated_by.into(),
        }
    }
}

impl VersionDbRow {
    /// The row of a version.
    pub(crate) fn of(
        tenant: TenantId,
        workflow: WorkflowId,
        version: &Version,
        definition: &Value,
    ) -> Result<Self, Error> {
        // Whether it is the active one is what the workflow's row says.
        let Version {
            number,
            hash,
            published_at,
            published_by,
            change_note,
            active: _,
            lane_groups,
            edition,
        } = version;
        Ok(Self {
            organization_id: tenant.into(),
            workflow_id: workflow.into(),
            number: *number,
            hash: hash.clone(),
            definition: encode(definition)?,
            published_at: (*published_at).into(),
            published_by: (*published_by).into(),
            change_note: change_note.clone(),
            lane_groups: *lane_groups,
            edition: *edition,
        })
    }
}

impl VersionHead {
    /// The version, when `active` is the number of the workflow's active one.
    pub(crate) fn record(self, active: Option<i32>) -> Version {
        Version {
            active: active == Some(self.number),
            number: self.number,
            hash: self.hash,
            published_at: self.published_at.into(),
            published_by: self.published_by.into(),
            change_note: self.change_note,
            lane_groups: self.lane_groups,
            edition: self.edition,
        }
    }
}

impl SourceDbRow {
    /// The row of a file that nobody has claimed yet.
    pub(crate) fn of(tenant: TenantId, source: &ImportSource, expires_at: Timestamp) -> Self {
        let ImportSource { sha256, media_type, file_name, bytes } = source;
        Self {
            organization_id: Id::from(tenant),
            sha256: sha256.clone(),
            media_type: media_type.clone(),
            file_name: file_name.clone(),
            bytes: bytes.clone(),
            expires_at: Some(expires_at.into()),
        }
    }
}

impl From<SourceHead> for ImportSource {
    fn from(row: SourceHead) -> Self {
        let SourceHead { sha256, media_type, file_name, bytes } = row;
        Self { sha256, media_type, file_name, bytes }
    }
}
