//! Jobs of the service itself: taken and ended by the service's own worker, which asks for one at a time and by its id.

use heddle_engine::Status;
use heddle_kernel::{JobId, TenantId, Timestamp, UserId};
use heddle_settings::JobEnd;
use heddle_settings::service::kind_of_type;
use heddle_usecase::StoreError;

use super::super::Runs;
use super::settle::Settling;
use crate::UseCaseError;
use crate::plan::Initiator;
use crate::ports::{
    Activation, LockChange, Narrowed, ServiceEnd, ServiceFault, ServiceJob, TakenJob, TakenJobs, Transaction,
    WantedType,
};
use crate::records::{Job, JobState, KnownJob, Run};

/// Name of the worker that does the service's own jobs.
const WORKER: &str = "heddle";

/// Outcome of the taking of one of the service's own jobs.
#[derive(Debug, Clone, PartialEq)]
pub enum TakenOwn {
    /// The job, held from now on.
    Taken(Box<ServiceJob>),
    /// Nothing yet: somebody holds it, or its next attempt is not due, until an instant.
    NotBefore(Timestamp),
    /// Nothing: it ended, was withdrawn, has no attempt left, or is suspended. What gives it another attempt asks anew.
    Over,
}

impl Runs {
    /// Takes one of the service's own jobs, until an instant. One that is held is left alone, unless whoever took it before is
    /// known to be gone: what that one says later is without effect.
    ///
    /// # Errors
    /// `Unavailable`; `Internal` when the job's run does not read.
    pub async fn take_own_job(
        &self,
        tenant: TenantId,
        id: JobId,
        until: Timestamp,
        is_left_behind: bool,
    ) -> Result<TakenOwn, UseCaseError> {
        let now = self.ports.clock.now();
        let job = match self.job(tenant, id).await {
            Ok(KnownJob::Open(job)) => *job,
            Ok(KnownJob::Ended(_)) | Err(UseCaseError::NotFound) => return Ok(TakenOwn::Over),
            Err(error) => return Err(error),
        };
        if kind_of_type(&job.job_type).is_none() {
            return Ok(TakenOwn::Over);
        }
        match (job.state_at(now), job.due_at) {
            (JobState::Ready, _) => {}
            (JobState::Locked, _) if is_left_behind && job.worker.as_deref() == Some(WORKER) => {
                self.free(&job, now).await?;
            }
            (JobState::Locked | JobState::Delayed, due) => {
                return Ok(TakenOwn::NotBefore(due.unwrap_or(until)));
            }
            (JobState::Failed | JobState::Suspended, _) => return Ok(TakenOwn::Over),
        }
        if job.state != JobState::Ready && job.state_at(now) == JobState::Ready {
            // That its lock or delay ran out is noted first.
            self.take_one(&job, Vec::new(), until).await?;
        }
        let Some(taken) = self.take_one(&job, vec![id], until).await? else {
            // Somebody was faster.
            return Ok(TakenOwn::NotBefore(until));
        };
        let Some(run) = self.run_of_job(&taken.job, taken.run_revision).await? else {
            return Ok(TakenOwn::Over);
        };
        if is_suspended(&run, id) {
            // Whoever held it when its run was suspended is gone.
            self.free(&taken.job, now).await?;
            return Ok(TakenOwn::Over);
        }
        Ok(TakenOwn::Taken(Box::new(of_taken(taken.job, &run))))
    }

    /// Ends the hold of whoever is gone. Somebody else may have been faster.
    async fn free(&self, job: &Job, now: Timestamp) -> Result<(), UseCaseError> {
        let change = LockChange { job: job.id, epoch: job.epoch, now, until: None };
        let unit = Transaction { tenant: Some(job.tenant), locks: vec![change], ..Transaction::default() };
        match self.commit(unit).await {
            Ok(()) | Err(StoreError::Stale) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn take_one(
        &self,
        job: &Job,
        only: Vec<JobId>,
        until: Timestamp,
    ) -> Result<Option<TakenJob>, UseCaseError> {
        let place = TakenJobs::default();
        let wanted = WantedType { name: job.job_type.clone(), within: None, narrowed: Narrowed::default() };
        let activation = Activation {
            types: vec![wanted],
            denied: Vec::new(),
            denied_kind: None,
            worker: WORKER.to_owned(),
            only: Some(only),
            most: 1,
            now: self.ports.clock.now(),
            until,
            taken: place.clone(),
        };
        let unit =
            Transaction { tenant: Some(job.tenant), activation: Some(activation), ..Transaction::default() };
        self.commit(unit).await?;
        Ok(place.take().jobs.into_iter().next())
    }

    /// Ends an attempt at one of the service's own jobs: the job is completed, ends with a BPMN error, or fails. While its run
    /// is suspended that is kept, and follows when the run goes on. `by` is the person in whose name it was done; what
    /// protection found is told before. One that was withdrawn meanwhile, or that another one holds by now, stays as it is.
    ///
    /// # Errors
    /// `Unavailable`; `Invalid` when the answer is too large for the run: the job is held until its lock runs out.
    pub async fn end_own_job(
        &self,
        job: &ServiceJob,
        by: Option<UserId>,
        end: ServiceEnd,
    ) -> Result<(), UseCaseError> {
        let (id, epoch) = (job.job, job.epoch);
        let ServiceEnd { outcome, findings, notes } = end;
        let key = self.job_key(job.tenant, id).await;
        let key = match key {
            Ok(key) => key,
            Err(UseCaseError::NotFound) => return Ok(()),
            Err(error) => return Err(error),
        };
        let end = match outcome {
            Ok(variables) => JobEnd::Completed { variables },
            Err(ServiceFault::Error { code, message, variables }) => {
                JobEnd::Error { code, message, variables }
            }
            Err(ServiceFault::Again { message, after }) => {
                let retry_after_ms = after.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
                JobEnd::Failed { message, retries: None, retry_after_ms, notes }
            }
            Err(ServiceFault::Unfit { message }) => JobEnd::Failed {
                message,
                // The attempts of the job are for faults: this one is given back.
                retries: Some(job.retries),
                retry_after_ms: Some(0),
                notes,
            },
            Err(ServiceFault::Refused { message }) => {
                JobEnd::Failed { message, retries: Some(0), retry_after_ms: None, notes }
            }
        };
        let settling = Settling::own(id, epoch, end);
        let by = Initiator::new(self.ports.clock.now(), by);
        match self.settle(&key, by, id, settling.with_findings(id, findings)).await {
            Ok(_) | Err(UseCaseError::Conflict(_) | UseCaseError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sets one of the service's own jobs aside that ended the process again and again: an incident says so.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn give_up_own_job(
        &self,
        tenant: TenantId,
        id: JobId,
        message: String,
    ) -> Result<(), UseCaseError> {
        let until = self.ports.clock.now().plus_seconds(1);
        match self.take_own_job(tenant, id, until, true).await? {
            TakenOwn::Taken(job) => {
                self.end_own_job(&job, None, ServiceFault::Refused { message }.into()).await
            }
            TakenOwn::Over => Ok(()),
            TakenOwn::NotBefore(_) => {
                Err(UseCaseError::conflict("stillHeld", "The job is held for a while."))
            }
        }
    }
}

/// Whether a run, or the item that waits for a job in it, is suspended.
fn is_suspended(run: &Run, job: JobId) -> bool {
    let mut open = run.snapshot.jobs().into_iter();
    run.snapshot.status() == Status::Suspended || open.any(|open| open.job_id == job && open.is_suspended)
}

fn of_taken(job: Job, run: &Run) -> ServiceJob {
    let variables = run.snapshot.job_variables(job.id).unwrap_or_default();
    let notes = run.snapshot.job_notes(job.id).cloned();
    ServiceJob {
        tenant: job.tenant,
        job: job.id,
        attempt: job.attempt,
        epoch: job.epoch,
        kind: kind_of_type(&job.job_type).unwrap_or_default().to_owned(),
        arguments: job.headers,
        variables,
        outputs: run.snapshot.node_outputs().clone(),
        retries: job.retries,
        notes,
        instance_kind: job.instance_kind,
        run: job.run,
        definition: job.workflow,
        version: job.version,
        node_id: job.node_id,
        starter: run.created_by,
    }
}
