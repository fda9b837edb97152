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

    /// A star.
    struct Star {
        /// The workflow.
        workflow_id: String,
        /// Always true.
        starred: bool,
    }
}

drafted! {
    definition Definition
    thing [
        /// A workflow.
    ] Workflow {
        /// Whether the caller starred it.
        starred: bool,
    } {
        /// Number of its runs by state.
        run_counts: RunCounts,
    }
    saved [
        /// A saved draft.
    ] SavedDraft {
        /// The workflow with its new revision and its definition.
        workflow: Workflow,
    }
    version [
        /// A published version; immutable but for its state.
    ] WorkflowVersion
    create [
        /// A new workflow.
        #[schema(examples(json!({"slug": "leave-request", "displayName": "Leave request", "description": ""})))]
    ] CreateWorkflow
    patch [
        /// Changes of a workflow; absent members stay.
        #[schema(examples(json!({"displayName": "Leave request"})))]
    ] PatchWorkflow
    save [
        /// A whole draft.
        #[schema(examples(json!({"definition": {"schemaVersion": 1, "nodes": [
            {"id": "start", "type": "startEvent"}, {"id": "approve", "type": "userTask", "displayName": "Approve"},
            {"id": "end", "type": "endEvent"}], "edges": [
            {"id": "f1", "source": "start", "target": "approve"}, {"id": "f2", "source": "approve", "target": "end"}]}})))]
    ] SaveDraft
    publish [
        /// A publication.
        #[schema(examples(json!({"changeNote": "First version"})))]
    ] PublishWorkflow
    query [
        /// Which workflows.
    ] WorkflowListQuery {
        /// Only those that the caller starred, or only the others.
        starred: Option<bool>,
    }
}

request! {
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
}

json_bodies!(ValidateWorkflow);
