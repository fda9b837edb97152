//! Jobs of the service's own types: errands bring them to whoever does them, and no worker is handed one. Nobody holds
//! such a job: its errand's lease is the hold, and of two that do one attempt the second is without effect.

use heddle_bpmn_graph::INSIDE_PREFIX;
use heddle_engine::{Command, ProtectionViolated};
use heddle_kernel::{EventId, IdSource, JobId, TenantId, Timestamp, UserId};
use heddle_usecase::errand::{ErrandKind, Lane, NewErrand};
use heddle_usecase::{Journal, StoreError};
use serde_json::{Map, Value, json};

use super::super::Runs;
use super::super::advance::Said;
use crate::UseCaseError;
use crate::plan::Initiator;
use crate::ports::{JobChange, RunWrite};
use crate::records::{Job, JobState, KnownJob, Run};

/// A job that the service does itself, with what its node sees.
#[derive(Debug, Clone, PartialEq)]
pub struct InsideJob {
    /// The job.
    pub job: Job,
    /// Variables that its node sees.
    pub variables: Map<String, Value>,
    /// Output and outcome of each node of the run, by its id.
    pub outputs: Value,
    /// User who started the run; none where no user did.
    pub started_by: Option<UserId>,
}

/// Stand of such a job.
#[derive(Debug, Clone, PartialEq)]
pub enum InsideStand {
    /// Ready to be done.
    Ready(Box<InsideJob>),
    /// Wait for an instant.
    Later(Timestamp),
    /// Nothing to do: it ended, or waits for somebody's decision, which asks anew.
    Gone,
}

/// End of an attempt at such a job.
#[derive(Debug, Clone, PartialEq)]
pub enum InsideEnd {
    /// Completion with variables.
    Complete(Map<String, Value>),
    /// Failure.
    Fail {
        /// A sentence.
        message: String,
        /// Attempts that are left; absent is one fewer than before.
        retries: Option<u32>,
        /// Milliseconds until the next attempt; absent is what the model says.
        after_ms: Option<u64>,
    },
    /// End with a BPMN error.
    Error {
        /// Code of the error.
        code: String,
        /// A sentence.
        message: String,
    },
}

impl Runs {
    /// Stand of a job that the service does itself.
    ///
    /// # Errors
    /// `Unavailable`; `Internal` when the run does not read.
    pub async fn inside_job(&self, tenant: TenantId, job: JobId) -> Result<InsideStand, UseCaseError> {
        let open = match self.ports.jobs.job(tenant, job).await {
            Ok(KnownJob::Open(open)) if open.job_type.starts_with(INSIDE_PREFIX) => *open,
            Ok(KnownJob::Open(_) | KnownJob::Ended(_)) | Err(StoreError::NotFound) => {
                return Ok(InsideStand::Gone);
            }
            Err(error) => return Err(error.into()),
        };
        match open.state_at(self.ports.clock.now()) {
            JobState::Ready | JobState::Locked => {}
            JobState::Delayed => {
                return Ok(open.not_before().map_or(InsideStand::Gone, InsideStand::Later));
            }
            JobState::Failed | JobState::Suspended => return Ok(InsideStand::Gone),
        }
        let run = match self.ports.runs.load(tenant, open.instance_kind, open.run).await {
            Ok(run) => run,
            Err(StoreError::NotFound) => return Ok(InsideStand::Gone),
            Err(error) => return Err(error.into()),
        };
        let Some(variables) = run.snapshot.job_variables(job) else { return Ok(InsideStand::Gone) };
        let (outputs, started_by) = (run.snapshot.node_outputs().clone(), run.created_by);
        Ok(InsideStand::Ready(Box::new(InsideJob { job: open, variables, outputs, started_by })))
    }

    /// Ends an attempt at such a job, with what protection found; without effect when the attempt is over already.
    ///
    /// # Errors
    /// `Invalid` for what the run cannot hold; `Conflict` (`ended`, `suspended`); `Unavailable`.
    pub async fn settle_inside(
        &self,
        job: &Job,
        hits: Vec<ProtectionViolated>,
        end: InsideEnd,
    ) -> Result<(), UseCaseError> {
        let job_id = job.id;
        let (command, said) = match end {
            InsideEnd::Complete(variables) => (Command::CompleteJob { job_id, variables }, None),
            InsideEnd::Fail { message, retries, after_ms } => {
                let said = heddle_kernel::shortened(&message).into_owned();
                let retry_after_ms = after_ms;
                (Command::FailJob { job_id, message, details: None, retries, retry_after_ms }, Some(said))
            }
            InsideEnd::Error { code, message } => {
                let said = heddle_kernel::shortened(&message).into_owned();
                let variables = Map::new();
                (Command::ThrowJobError { job_id, code, message: Some(message), variables }, Some(said))
            }
        };
        let command = match hits.is_empty() {
            true => command,
            false => Command::Guarded { job_id, hits, then: Box::new(command) },
        };
        let (attempt, by) = (job.attempt, Initiator::new(self.ports.clock.now(), None));
        let is_due = |run: &Run| {
            let jobs = run.snapshot.jobs();
            jobs.iter().any(|own| own.job_id == job_id && own.attempt == attempt && own.retries > 0)
        };
        let choose = |run: &Run| Ok(is_due(run).then(|| command.clone()));
        let amend = |write: &mut RunWrite| -> Result<(), UseCaseError> {
            for change in &mut write.jobs {
                if let JobChange::Stand { job, message, .. } = change
                    && *job == job_id
                {
                    message.clone_from(&said);
                }
            }
            Ok(())
        };
        let record = |_: &Run| Journal::default();
        let instance = job.instance();
        self.advance_amended(&instance, by, Said::default(), choose, &amend, &record).await.map(drop)
    }
}

/// Errands for the jobs of a step that the service does itself: of each that may be done now or behind a delay.
pub(crate) fn errands_of(write: &RunWrite, ids: &dyn IdSource) -> Vec<NewErrand> {
    let mut errands = Vec::new();
    let run = &write.run;
    for change in &write.jobs {
        let (job, job_type, state, due) = match change {
            JobChange::Open(job) => (job.id, &job.job_type, job.state, job.due_at),
            JobChange::Stand { job, job_type, stand, .. } => (*job, job_type, stand.state, stand.due_at),
            JobChange::End(_) | JobChange::Withdraw(_) => continue,
        };
        let is_due = matches!(state, JobState::Ready | JobState::Delayed);
        if !is_due || !job_type.starts_with(INSIDE_PREFIX) {
            continue;
        }
        let (tenant, target) = (run.tenant, job_type.clone());
        errands.push(NewErrand {
            id: EventId(ids.next(run.updated_at)),
            lane: Lane { tenant, kind: ErrandKind::Node, target, line: None },
            workflow: Some(run.workflow),
            run: Some(run.id),
            name: job_type.clone(),
            payload: json!({ "job": job }).to_string(),
            // Before its time nobody looks at it.
            created_at: due.unwrap_or(run.updated_at).max(run.updated_at),
        });
    }
    errands
}
