//! The text of the list of open jobs: by an index that begins with what the list is narrowed to.

use heddle_kernel::{JobId, TenantId};
use heddle_policy::RuleId;
use heddle_store::{At, Id};
use heddle_workflows::ports::{JobFilter, JobReach};
use heddle_workflows::records::JobState;
use uuid::Uuid;

use super::COLUMNS;
use crate::schema::jobs;
use crate::statement::Statement;

/// A page that is asked for.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub tenant: TenantId,
    pub filter: &'a JobFilter,
    pub reach: &'a JobReach,
    pub now: At,
    /// The job behind which it begins.
    pub from: Option<JobId>,
}

impl Wanted<'_> {
    /// The statement that finds the page.
    pub(crate) fn statement(&self, limit: i64) -> Statement<jobs::SqlType> {
        let mut out = Statement::new(false);
        out.words(&format!("SELECT {COLUMNS} FROM jobs WHERE organization_id = ")).id(self.tenant);
        let JobFilter { job_type, state, run, workflow, worker } = self.filter;
        if let Some(run) = run {
            out.words(" AND run_id = ").id(*run);
        }
        if let Some(workflow) = workflow {
            out.words(" AND workflow_id = ").id(*workflow);
        }
        if let Some(name) = job_type {
            out.words(" AND job_type = ").text(name);
        }
        if let Some(worker) = worker {
            out.words(" AND worker = ").text(worker);
            out.words(" AND state = 'locked' AND due_at > ").at(self.now);
        }
        if let Some(state) = state {
            self.in_state(&mut out, *state);
        }
        self.within_reach(&mut out);
        if let Some(from) = self.from {
            out.words(" AND id > ").id(from);
        }
        out.words(" ORDER BY id LIMIT ").number(limit);
        out
    }

    /// The condition on the state as it is now: what ran out is ready, whether or not that is written.
    fn in_state(&self, out: &mut Statement<jobs::SqlType>, state: JobState) {
        match state {
            JobState::Ready => {
                out.words(" AND (state = 'ready' OR (state IN ('locked', 'delayed') AND due_at <= ");
                out.at(self.now).words("))");
            }
            // The first condition is that of the index of the states that few jobs are in.
            JobState::Locked => {
                out.words(" AND state <> 'ready' AND state = 'locked' AND due_at > ").at(self.now);
            }
            JobState::Delayed => {
                out.words(" AND state <> 'ready' AND state = 'delayed' AND due_at > ").at(self.now);
            }
            JobState::Failed => {
                out.words(" AND state <> 'ready' AND state = 'failed'");
            }
            JobState::Suspended => {
                out.words(" AND state <> 'ready' AND state = 'suspended'");
            }
        }
    }

    /// The condition on what the reader may see.
    fn within_reach(&self, out: &mut Statement<jobs::SqlType>) {
        let names = |ids: &[RuleId]| -> Vec<String> { ids.iter().map(ToString::to_string).collect() };
        let ids = |ids: &[Uuid]| -> Vec<Id> { ids.iter().copied().map(Id).collect() };
        let reach = self.reach;
        if !reach.all {
            out.words(" AND (");
            out.named("job_type", &names(&reach.types));
            if !reach.within.is_empty() {
                let within = ids(&reach.within);
                out.words(" OR run_id IN (").ids(&within);
                out.words(") OR workflow_id IN (").ids(&within).words(")");
            }
            out.words(")");
        }
        if !reach.denied_types.is_empty() {
            out.words(" AND NOT ");
            out.named("job_type", &names(&reach.denied_types));
        }
        if !reach.denied_within.is_empty() {
            let denied = ids(&reach.denied_within);
            out.among("run_id NOT IN", &denied);
            out.among("workflow_id NOT IN", &denied);
        }
        if let Some(kind) = reach.denied_kind {
            out.words(" AND instance_kind <> ").text(kind.as_str());
        }
    }
}
