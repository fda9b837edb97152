//! The records of this area as the domain sees them: those of definitions stand here, those of what runs in the crate of
//! execution. Rows and wire types are made from these by plain functions.

pub use heddle_execution::records::*;
pub use heddle_usecase::VersionChoice;

use heddle_kernel::{Patch, Revision, TenantId, Timestamp, UserId, WorkflowId, literals};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

literals! {
    /// Lifecycle state of a workflow.
    pub enum WorkflowState {
        /// Never published.
        Draft = "draft",
        /// Has an active version.
        Published = "published",
        /// Starts no new runs.
        Archived = "archived",
    }
}

/// A draft: the definition's JSON as it was sent, member for member.
pub type Draft = Patch<Value>;

/// A workflow without its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// The organisation.
    pub tenant: TenantId,
    /// The workflow.
    pub id: WorkflowId,
    /// Unique name within the organisation, 1 to 100 characters of `a-z0-9-`.
    pub slug: String,
    /// 1 to 200 characters.
    pub display_name: String,
    /// 0 to 4,000 characters.
    pub description: String,
    /// A free label of 1 to 200 characters.
    pub folder_id: Patch<String>,
    /// Lifecycle state.
    pub state: WorkflowState,
    /// Grows with every change.
    pub revision: Revision,
    /// Grows with every change of the draft.
    pub draft_revision: Revision,
    /// SHA-256 (hex) of the draft's canonical JSON; none while there is no definition.
    pub draft_hash: Option<String>,
    /// The active version's number, counted from 1.
    pub published_version: Option<i32>,
    /// The active version's hash.
    pub published_hash: Option<String>,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// User who created it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// User who last changed it.
    pub updated_by: UserId,
}

impl Workflow {
    /// Whether the draft differs from the active version.
    #[must_use]
    pub fn has_unpublished_changes(&self) -> bool {
        self.draft_hash.is_some() && self.draft_hash != self.published_hash
    }
}

/// A workflow with what a reader sees beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowView {
    /// The workflow.
    pub workflow: Workflow,
    /// Whether the reader starred it.
    pub starred: bool,
    /// Numbers of its runs by state.
    pub run_counts: RunCounts,
}

/// A workflow as a reader sees it, with the text of the chosen definition.
#[derive(Debug, Clone)]
pub struct ShownWorkflow {
    /// The workflow.
    pub view: Arc<WorkflowView>,
    /// JSON of the definition as it was sent; none while there is no draft.
    pub definition: Option<Arc<RawValue>>,
}

/// Numbers of a workflow's runs by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunCounts {
    /// Running, waiting, suspended or queued ones.
    pub active: i64,
    /// Active ones with an incident.
    pub incidents: i64,
    /// Completed ones.
    pub completed: i64,
    /// Failed ones.
    pub failed: i64,
    /// Cancelled ones.
    pub cancelled: i64,
}

/// A published version; immutable but for its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Counted from 1.
    pub number: i32,
    /// SHA-256 (hex) of the definition's canonical JSON.
    pub hash: String,
    /// Instant of publication.
    pub published_at: Timestamp,
    /// User who published it.
    pub published_by: UserId,
    /// Note of the publisher on the change.
    pub change_note: Option<String>,
    /// Whether new runs use it.
    pub active: bool,
    /// Whether a lane is the candidate group of its tasks that name nobody: so in versions that were published while that
    /// was the rule, never in new ones.
    pub lane_groups: bool,
    /// Number of the rules under which it was published, as [`heddle_bpmn_graph::Edition`] has it.
    pub edition: i32,
}

/// The bytes of an imported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSource {
    /// SHA-256 (hex) of the bytes.
    pub sha256: String,
    /// Media type of the file.
    pub media_type: String,
    /// Name of the file.
    pub file_name: Option<String>,
    /// The bytes as they came.
    pub bytes: Vec<u8>,
}
