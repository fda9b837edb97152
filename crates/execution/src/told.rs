//! Members by which audit events tell changes.

use heddle_kernel::Revision;
use heddle_usecase::{AuditView, Audited};

use crate::records::{DeadLetter, HumanTask, Run, RunState};

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
