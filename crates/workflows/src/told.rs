//! Members by which audit events tell changes. Definitions are told by their hashes.

use heddle_kernel::Revision;
use heddle_usecase::{AuditView, Audited};

use crate::records::{DeadLetter, HumanTask, Run, RunState, Workflow};

impl Audited for Workflow {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("slug", &self.slug)
            .shown("displayName", &self.display_name)
            .hidden("description", &self.description)
            .hidden("folderId", format!("{:?}", self.folder_id))
            .shown("state", self.state)
            .shown("draftHash", &self.draft_hash)
            .shown("draftRevision", self.draft_revision)
            .shown("publishedVersion", self.published_version)
            .shown("publishedHash", &self.published_hash)
            .shown("revision", self.revision)
    }
}

/// Standing of a run, by which a decision on it is told; its history has the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunStanding {
    state: RunState,
    has_incident: bool,
    revision: Revision,
}

impl RunStanding {
    /// The standing of a run.
    pub(crate) const fn of(run: &Run) -> Self {
        Self { state: run.state, has_incident: run.has_incident, revision: run.revision }
    }
}

impl Audited for RunStanding {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("state", self.state)
            .shown("hasIncident", self.has_incident)
            .shown("revision", self.revision)
    }
}

/// Star of a caller on a workflow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Star(pub(crate) bool);

impl Audited for Star {
    fn view(&self) -> AuditView {
        AuditView::default().shown("starred", self.0)
    }
}

impl Audited for HumanTask {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("state", self.state)
            .hidden("assignee", &self.assignee)
            .shown("completedBy", self.completed_by)
    }
}

impl Audited for DeadLetter {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("reason", self.reason)
            .shown("workflowId", self.workflow)
            .shown("runId", self.run)
            .shown("createdAt", self.created_at)
    }
}
