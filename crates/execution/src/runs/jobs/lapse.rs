//! Jobs whose workers do not come back: one that ends every worker that takes it is set aside behind an incident, rather
//! than handed out for ever.

use heddle_engine::Command;
use heddle_usecase::Journal;

use super::super::Runs;
use super::super::advance::Said;
use crate::UseCaseError;
use crate::plan::Initiator;
use crate::ports::{JobChange, RunWrite};
use crate::records::{Job, Run};

/// Times that the lock of a job may run out in a row before the job is set aside.
pub const DEFAULT_LAPSES: u32 = 10;

impl Runs {
    /// Leaves a job that was just taken without attempts, behind an incident that an operator settles by giving it some.
    /// One that can't be set aside now is met again when its lock runs out.
    pub(super) async fn set_job_aside(&self, job: &Job) {
        match self.lapse(job).await {
            Ok(()) => {
                tracing::warn!(job = %job.id, run = %job.run, lapses = job.lapses, "a job was set aside")
            }
            // It was withdrawn meanwhile, or its holder ended it after all.
            Err(UseCaseError::NotFound | UseCaseError::Conflict(_)) => {}
            Err(error) => tracing::error!(%error, job = %job.id, run = %job.run, "a job is not set aside"),
        }
    }

    async fn lapse(&self, job: &Job) -> Result<(), UseCaseError> {
        let message = said(job);
        let command = Command::FailJob {
            job_id: job.id,
            message: message.clone(),
            details: None,
            retries: Some(0),
            retry_after_ms: Some(0),
            notes: None,
        };
        let amend = |write: &mut RunWrite| -> Result<(), UseCaseError> {
            for change in &mut write.jobs {
                if let JobChange::Stand { job: own, message: reason, epoch, .. } = change
                    && *own == job.id
                {
                    (*reason, *epoch) = (Some(message.clone()), Some(job.epoch));
                }
            }
            Ok(())
        };
        let choose = |_: &Run| Ok(Some(command.clone()));
        let by = Initiator::new(self.ports.clock.now(), None);
        let record = |_: &Run| Journal::default();
        self.advance_amended(&job.instance(), by, Said::default(), choose, &amend, &record).await.map(drop)
    }
}

/// Reason for which a job is set aside; the incident puts the job's type before it.
fn said(job: &Job) -> String {
    format!("its lock ran out {} times in a row without an answer of the worker that held it", job.lapses)
}
