//! Workflows, drafts, validation and versions.

use heddle_bpmn_validate::Soundness;
use heddle_kernel::{Patch, Timestamp, WorkflowId};

use super::definition::{Definition, Diagnostic};
use super::envelope::{AnyJson, Document, Instant};
use crate::contract::{json_bodies, path_params};

words! {
    /// State of a workflow.
    enum WorkflowState {
        /// Never published.
        Draft = "draft",
        /// Has an active version.
        Published = "published",
        /// Starts no new runs.
        Archived = "archived",
    }

    /// The order of a list of workflows; `-` means descending.
    enum WorkflowSort {
        /// Oldest first.
        CreatedAt = "createdAt",
        /// Newest first.
        CreatedAtDescending = "-createdAt",
        /// Changed longest ago first.
        UpdatedAt = "updatedAt",
        /// Changed last first.
        UpdatedAtDescending = "-updatedAt",
        /// Names in ascending order.
        DisplayName = "displayName",
        /// Names in descending order.
        DisplayNameDescending = "-displayName",
    }

    /// Rules that a validation applies.
    enum Profile {
        /// The shape and the references.
        Structural = "structural",
        /// The Common Executable conformance sub-class (BPMN 2.0.2, 2.1).
        CommonExecutable = "commonExecutable",
        /// All that can be executed here.
        Full = "full",
        /// Elements that have a BPEL form.
        Bpel = "bpel",
    }

    /// Whether new runs use a version.
    enum VersionState {
        /// New runs use it.
        Active = "active",
        /// A later one took its place.
        Superseded = "superseded",
    }
}

path_params! {
    /// Path of a workflow.
    WorkflowPath { workflow_id "workflowId": WorkflowId }
}

response! {
    /// Number of a workflow's runs by state.
    struct RunCounts {
        /// Queued, running, waiting or suspended.
        #[schema(minimum = 0)]
        active: i64,
        /// Active with an incident.
        #[schema(minimum = 0)]
        incidents: i64,
        /// Completed.
        #[schema(minimum = 0)]
        completed: i64,
        /// Failed.
        #[schema(minimum = 0)]
        failed: i64,
        /// Cancelled.
        #[schema(minimum = 0)]
        cancelled: i64,
    }

    /// A workflow.
    struct Workflow {
        /// Stable identifier.
        id: String,
        /// Unique name within the organisation.
        slug: String,
        /// Display name.
        display_name: String,
        /// Description.
        description: String,
        /// Folder; absent or null as it was sent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        folder_id: Option<Option<String>>,
        /// State of the workflow.
        state: WorkflowState,
        /// Whether the caller starred it.
        starred: bool,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// Grows with every change of the draft.
        #[schema(minimum = 0)]
        draft_revision: i64,
        /// The active version's number; null when never published.
        #[schema(required = true, minimum = 1)]
        published_version: Option<i32>,
        /// Whether the draft differs from the active version.
        has_unpublished_changes: bool,
        /// The definition as it was sent; left out of lists, and while none was sent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = AnyJson)]
        definition: Option<Document>,
        /// Number of its runs by state.
        run_counts: RunCounts,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who created it.
        created_by: String,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
        /// User who last changed it.
        updated_by: String,
    }

    /// A saved draft.
    struct SavedDraft {
        /// The workflow with its new revision and its definition.
        workflow: Workflow,
        /// Findings of the checks; a draft may be incomplete.
        diagnostics: Vec<Diagnostic>,
    }

    /// Result of a validation.
    struct Validation {
        /// Whether no rule of the profile is broken.
        valid: bool,
        /// Whether it could be published.
        executable: bool,
        /// Every finding.
        diagnostics: Vec<Diagnostic>,
        /// Soundness of the flow; null when it was not analysed: by the profiles `structural` and `bpel`, and without a
        /// definition.
        #[schema(required = true)]
        soundness: Option<Soundness>,
    }

    /// A published version; immutable but for its state.
    struct WorkflowVersion {
        /// Counted from 1.
        #[schema(minimum = 1)]
        number: i32,
        /// SHA-256 of the definition's canonical JSON in hex.
        hash: String,
        /// Instant of publication.
        #[schema(value_type = Instant)]
        published_at: Timestamp,
        /// User who published it.
        published_by: String,
        /// Change note of the publisher; null when none was given.
        #[schema(required = true)]
        change_note: Option<String>,
        /// Whether new runs use it.
        state: VersionState,
        /// Warnings and hints about it; in the answer to its publication.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        diagnostics: Option<Vec<Diagnostic>>,
    }

    /// A star.
    struct Star {
        /// The workflow.
        workflow_id: String,
        /// Always true.
        starred: bool,
    }
}

request! {
    /// A new workflow.
    #[schema(examples(json!({"slug": "leave-request", "displayName": "Leave request", "description": ""})))]
    struct CreateWorkflow {
        /// The workflow definition; a draft may be incomplete.
        #[serde(default)]
        #[schema(value_type = Option<Definition>)]
        definition: Patch<Definition>,
        /// Description of the workflow.
        #[schema(max_length = 4000)]
        description: String,
        /// Display name.
        #[schema(min_length = 1, max_length = 200)]
        display_name: String,
        /// Folder: a free label.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
        folder_id: Patch<String>,
        /// Slug of the workflow, unique within the organisation.
        #[schema(min_length = 1, max_length = 100, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
        slug: String,
    }

    /// Changes of a workflow; absent members stay.
    #[schema(examples(json!({"displayName": "Leave request"})))]
    struct PatchWorkflow {
        /// Display name.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        display_name: Option<String>,
        /// Description.
        #[schema(nullable = false, max_length = 4000)]
        description: Option<String>,
        /// Slug.
        #[schema(nullable = false, min_length = 1, max_length = 100, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
        slug: Option<String>,
        /// Folder; null clears it.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
        folder_id: Patch<String>,
        /// Whether it starts no new runs.
        #[schema(nullable = false)]
        archived: Option<bool>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// A whole draft.
    #[schema(examples(json!({"definition": {"schemaVersion": 1, "nodes": [
        {"id": "start", "type": "startEvent"}, {"id": "approve", "type": "userTask", "displayName": "Approve"},
        {"id": "end", "type": "endEvent"}], "edges": [
        {"id": "f1", "source": "start", "target": "approve"}, {"id": "f2", "source": "approve", "target": "end"}]}})))]
    struct SaveDraft {
        /// The definition; null takes the draft's definition away.
        #[schema(required = true, value_type = Option<Definition>)]
        definition: Patch<Definition>,
        /// The workflow's revision that the draft was made from.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Definition to validate, and the rules to apply.
    #[schema(examples(json!({})))]
    struct ValidateWorkflow {
        /// The definition; the draft when absent.
        #[schema(nullable = false)]
        definition: Option<Definition>,
        /// Rules to apply; those that publishing asks for when absent.
        #[schema(nullable = false)]
        profile: Option<Profile>,
    }

    /// A publication.
    #[schema(examples(json!({"changeNote": "First version"})))]
    struct PublishWorkflow {
        /// Change note: what differs from the version before.
        #[schema(max_length = 4000)]
        change_note: Option<String>,
        /// The workflow's revision that is published.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which workflows.
    struct WorkflowListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that slug, name or description must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those in this state.
        state: Option<WorkflowState>,
        /// Only those that the caller starred, or only the others.
        starred: Option<bool>,
        /// Only those in this folder.
        #[schema(min_length = 1, max_length = 200)]
        folder_id: Option<String>,
        /// The order; `-updatedAt` when absent.
        sort: Option<WorkflowSort>,
    }
}

json_bodies!(CreateWorkflow, PatchWorkflow, SaveDraft, ValidateWorkflow, PublishWorkflow);
