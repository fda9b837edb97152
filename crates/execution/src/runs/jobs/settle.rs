//! Acts of the holder of a job: to complete it, to fail at it, to end it with an error, to keep it longer, to give
//! it back.

use std::sync::atomic::{AtomicBool, Ordering};

use heddle_engine::{Command, ProtectionViolated, Status};
use heddle_kernel::JobId;
use heddle_policy::capability::JobComplete;
use heddle_policy::{Authorized, Key, RequestContext, resource};
use heddle_settings::JobEnd;
use heddle_usecase::{Journal, StoreError, canonical_sha256};
use serde_json::{Map, Value, json};

use super::super::Runs;
use super::super::advance::Said;
use super::activate::MAX_LOCK_MS;
use crate::UseCaseError;
use crate::plan::Initiator;
use crate::ports::{JobChange, LockChange, RunWrite, Transaction};
use crate::records::{Job, JobEnding, JobOutcome, JobStand, KnownJob, Run};

/// Most bytes of a failure's message that stand with the job; the history has all of it.
const MESSAGE_MAX: usize = 1_000;

/// A failure as a worker reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFailure {
    /// Epoch under which the job is held.
    pub epoch: i64,
    /// Reason of the failure.
    pub message: String,
    /// More about it, such as a stack trace.
    pub details: Option<String>,
    /// Attempts that are left; one fewer than before when absent.
    pub retries: Option<u32>,
    /// Milliseconds until the next attempt; what the model says when absent.
    pub retry_after_ms: Option<u64>,
}

/// A BPMN error by which a worker ends a job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobError {
    /// Epoch under which the job is held.
    pub epoch: i64,
    /// Code of the error.
    pub code: String,
    /// Message of the error.
    pub message: Option<String>,
    /// Variables for whoever catches it.
    pub variables: Map<String, Value>,
}

/// Change of a held job by its holder.
pub(super) struct Settling {
    epoch: i64,
    command: Command,
    outcome: JobOutcome,
    /// SHA-256 of what was sent.
    digest: String,
    /// Message that stands with the job if it stays open.
    message: Option<String>,
}

impl Settling {
    pub(super) fn completion(job: JobId, epoch: i64, variables: Map<String, Value>) -> Self {
        let digest = canonical_sha256(&json!(variables));
        let command = Command::CompleteJob { job_id: job, variables };
        Self { epoch, command, outcome: JobOutcome::Completed, digest, message: None }
    }

    pub(super) fn failure(job: JobId, failure: JobFailure) -> Self {
        let JobFailure { epoch, message, details, retries, retry_after_ms } = failure;
        let kept = kept(&message);
        let command =
            Command::FailJob { job_id: job, message, details, retries, retry_after_ms, notes: None };
        Self { epoch, command, outcome: JobOutcome::Error, digest: String::new(), message: Some(kept) }
    }

    pub(super) fn error(job: JobId, error: JobError) -> Self {
        let JobError { epoch, code, message, variables } = error;
        let digest = canonical_sha256(&json!([code, message, variables]));
        let kept = uncaught(&code);
        let command = Command::ThrowJobError { job_id: job, code, message, variables };
        Self { epoch, command, outcome: JobOutcome::Error, digest, message: Some(kept) }
    }

    /// End of an attempt at one of the service's own jobs. While the run is suspended it is kept.
    pub(super) fn own(job: JobId, epoch: i64, end: JobEnd) -> Self {
        let (outcome, digest, message) = match &end {
            JobEnd::Completed { variables } => {
                (JobOutcome::Completed, canonical_sha256(&json!(variables)), None)
            }
            JobEnd::Failed { message, .. } => (JobOutcome::Error, String::new(), Some(kept(message))),
            JobEnd::Error { code, message, variables } => {
                let digest = canonical_sha256(&json!([code, message, variables]));
                (JobOutcome::Error, digest, Some(uncaught(code)))
            }
        };
        Self { epoch, command: Command::EndJob { job_id: job, end }, outcome, digest, message }
    }

    /// The same behind what protection found at the job.
    pub(super) fn with_findings(self, job: JobId, hits: Vec<ProtectionViolated>) -> Self {
        if hits.is_empty() {
            return self;
        }
        let command = Command::Guarded { job_id: job, hits, then: Box::new(self.command) };
        Self { command, ..self }
    }
}

/// Part of a failure's message that stands with the job.
fn kept(message: &str) -> String {
    heddle_kernel::shortened(message).chars().take(MESSAGE_MAX).collect()
}

/// Message of a job whose error nothing caught.
fn uncaught(code: &str) -> String {
    format!("The error `{code}` is not caught.")
}

/// A caller as the one who asks for a step.
fn by(context: &RequestContext) -> Initiator {
    Initiator::new(context.now(), Some(context.user_id()))
}

impl Runs {
    /// Completes a job; its run goes on. A repeat of the same completion is answered like the first.
    ///
    /// # Errors
    /// `Conflict` (`staleEpoch`, `jobGone`, `ended`, `suspended`): nothing was done. `Invalid` for variables that are too
    /// large.
    pub async fn complete_job(
        &self,
        authorized: &Authorized<JobComplete>,
        context: &RequestContext,
        job: JobId,
        epoch: i64,
        variables: Map<String, Value>,
    ) -> Result<KnownJob, UseCaseError> {
        let settling = Settling::completion(job, epoch, variables);
        self.settle(authorized.key(), by(context), job, settling).await
    }

    /// Ends an attempt that failed: the job waits for its next one, or an incident says that there is none.
    ///
    /// # Errors
    /// As [`Runs::complete_job`].
    pub async fn fail_job(
        &self,
        authorized: &Authorized<JobComplete>,
        context: &RequestContext,
        job: JobId,
        failure: JobFailure,
    ) -> Result<KnownJob, UseCaseError> {
        let settling = Settling::failure(job, failure);
        self.settle(authorized.key(), by(context), job, settling).await
    }

    /// Ends a job with a BPMN error, which the scopes around its node catch; one that none catches is an incident.
    ///
    /// # Errors
    /// As [`Runs::complete_job`].
    pub async fn throw_job_error(
        &self,
        authorized: &Authorized<JobComplete>,
        context: &RequestContext,
        job: JobId,
        error: JobError,
    ) -> Result<KnownJob, UseCaseError> {
        let settling = Settling::error(job, error);
        self.settle(authorized.key(), by(context), job, settling).await
    }

    /// Holds a job longer: so many milliseconds from now.
    ///
    /// # Errors
    /// `Conflict` (`staleEpoch`) when the lock ran out, also when nobody else took the job; `Invalid`.
    pub async fn extend_job(
        &self,
        authorized: &Authorized<JobComplete>,
        job: JobId,
        epoch: i64,
        lock_ms: u64,
    ) -> Result<KnownJob, UseCaseError> {
        if !(1..=MAX_LOCK_MS).contains(&lock_ms) {
            let message = format!("From 1 to {MAX_LOCK_MS} milliseconds are needed.");
            return Err(UseCaseError::invalid("lockMs", "outOfRange", message));
        }
        let held = self.held(authorized.key(), job, epoch).await?;
        let now = self.ports.clock.now();
        let until = now.plus_millis(i64::try_from(lock_ms).unwrap_or(i64::MAX));
        self.change_lock(&held, LockChange { job, epoch, now, until: Some(until) }).await?;
        self.lines.due(held.tenant, &held.job_type, until);
        self.job(held.tenant, job).await
    }

    /// Gives a job back before its time: the next worker gets it.
    ///
    /// # Errors
    /// As [`Runs::extend_job`].
    pub async fn release_job(
        &self,
        authorized: &Authorized<JobComplete>,
        job: JobId,
        epoch: i64,
    ) -> Result<KnownJob, UseCaseError> {
        let held = self.held(authorized.key(), job, epoch).await?;
        let now = self.ports.clock.now();
        self.change_lock(&held, LockChange { job, epoch, now, until: None }).await?;
        self.lines.opened(held.tenant, &held.job_type, 1);
        self.job(held.tenant, job).await
    }

    /// Gives a job another number of attempts. One that had none left may be taken again; none ends it in an incident.
    ///
    /// # Errors
    /// `Conflict` (`jobGone`, `ended`, `suspended`).
    pub async fn set_job_retries(
        &self,
        authorized: &Authorized<JobComplete>,
        context: &RequestContext,
        job: JobId,
        retries: u32,
    ) -> Result<KnownJob, UseCaseError> {
        let open = self.open(authorized.key(), job).await?;
        let command = Command::SetJobRetries { job_id: job, retries };
        self.step_job(by(context), &open, &command, &|_| Ok(())).await?;
        self.job(open.tenant, job).await
    }

    /// Carries out what a holder asks for.
    pub(super) async fn settle(
        &self,
        key: &Key<resource::Job>,
        by: Initiator,
        job: JobId,
        settling: Settling,
    ) -> Result<KnownJob, UseCaseError> {
        let held = match self.known(key, job).await {
            Ok(KnownJob::Ended(ending)) => return repeated(*ending, &settling),
            Ok(KnownJob::Open(open)) if open.epoch == settling.epoch && open.worker.is_some() => *open,
            Ok(KnownJob::Open(_)) => return Err(stale()),
            Err(UseCaseError::NotFound) => return Err(gone()),
            Err(error) => return Err(error),
        };
        let Settling { epoch, command, outcome, digest, message } = &settling;
        let ending = JobEnding {
            tenant: held.tenant,
            id: held.id,
            job_type: held.job_type.clone(),
            instance_kind: held.instance_kind,
            run: held.run,
            workflow: held.workflow,
            node_id: held.node_id.clone(),
            worker: held.worker.clone(),
            epoch: *epoch,
            outcome: *outcome,
            digest: digest.clone(),
            ended_at: by.now,
        };
        let is_over = AtomicBool::new(false);
        let amend = |write: &mut RunWrite| -> Result<(), UseCaseError> {
            is_over.store(by_holder(write, &ending, message.as_deref())?, Ordering::Relaxed);
            Ok(())
        };
        match self.step_job(by, &held, command, &amend).await {
            Ok(()) if is_over.load(Ordering::Relaxed) => Ok(KnownJob::Ended(Box::new(ending))),
            Ok(()) => self.known(key, job).await,
            // Somebody was faster: the same worker's first call, another worker, or the end of the run.
            Err(UseCaseError::Conflict(problems)) => match self.known(key, job).await {
                Ok(KnownJob::Ended(ending)) => repeated(*ending, &settling),
                Ok(KnownJob::Open(open)) if open.epoch != *epoch => Err(stale()),
                Ok(KnownJob::Open(_)) => Err(UseCaseError::Conflict(problems)),
                Err(UseCaseError::NotFound) => Err(gone()),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// One step of a job's run.
    async fn step_job(
        &self,
        by: Initiator,
        job: &Job,
        command: &Command,
        amend: &(dyn Fn(&mut RunWrite) -> Result<(), UseCaseError> + Send + Sync),
    ) -> Result<(), UseCaseError> {
        let choose = |_: &Run| Ok(Some(command.clone()));
        let record = |_: &Run| Journal::default();
        self.advance_amended(&job.instance(), by, Said::default(), choose, amend, &record).await.map(drop)
    }

    /// A job of the kind that was authorized.
    async fn known(&self, key: &Key<resource::Job>, job: JobId) -> Result<KnownJob, UseCaseError> {
        let known = self.job(key.tenant(), job).await?;
        if known.key() == *key { Ok(known) } else { Err(UseCaseError::NotFound) }
    }

    async fn open(&self, key: &Key<resource::Job>, job: JobId) -> Result<Job, UseCaseError> {
        match self.known(key, job).await {
            Ok(KnownJob::Open(open)) => Ok(*open),
            Ok(KnownJob::Ended(_)) | Err(UseCaseError::NotFound) => Err(gone()),
            Err(error) => Err(error),
        }
    }

    /// A job that is held under an epoch.
    async fn held(&self, key: &Key<resource::Job>, job: JobId, epoch: i64) -> Result<Job, UseCaseError> {
        let open = self.open(key, job).await?;
        if open.epoch == epoch && open.worker.is_some() { Ok(open) } else { Err(stale()) }
    }

    async fn change_lock(&self, job: &Job, change: LockChange) -> Result<(), UseCaseError> {
        let unit = Transaction { tenant: Some(job.tenant), locks: vec![change], ..Transaction::default() };
        self.commit(unit).await.map_err(|error| match error {
            StoreError::Stale => stale(),
            other => other.into(),
        })
    }
}

/// The holder's own end of the job, or the failure that leaves it open, under the epoch that it must have; whether it is
/// the end.
fn by_holder(write: &mut RunWrite, ending: &JobEnding, said: Option<&str>) -> Result<bool, UseCaseError> {
    for change in &mut write.jobs {
        match change {
            JobChange::Withdraw(gone) if gone.id == ending.id => {
                *change = JobChange::End(Box::new(ending.clone()));
                return Ok(true);
            }
            JobChange::Stand { job, message, epoch, .. } if *job == ending.id => {
                *message = said.map(str::to_owned);
                *epoch = Some(ending.epoch);
                return Ok(false);
            }
            JobChange::Open(_) | JobChange::Stand { .. } | JobChange::End(_) | JobChange::Withdraw(_) => {}
        }
    }
    let snapshot = &write.run.snapshot;
    let open = snapshot.jobs().into_iter().find(|open| open.job_id == ending.id);
    let Some(open) = open.filter(|_| snapshot.status() == Status::Suspended) else {
        return Err(UseCaseError::Internal(format!("the step leaves the job {} as it was", ending.id)));
    };
    // The end is kept until the run goes on, and whoever held the job is done with it.
    write.jobs.push(JobChange::Stand {
        job: ending.id,
        job_type: ending.job_type.clone(),
        stand: JobStand::of(&open, true),
        message: None,
        epoch: Some(ending.epoch),
        stays: false,
    });
    Ok(false)
}

/// The answer to a call about a job that a worker ended: the same as before to the same call.
fn repeated(ending: JobEnding, settling: &Settling) -> Result<KnownJob, UseCaseError> {
    let same = (ending.epoch, ending.outcome, &ending.digest)
        == (settling.epoch, settling.outcome, &settling.digest);
    if same { Ok(KnownJob::Ended(Box::new(ending))) } else { Err(gone()) }
}

fn stale() -> UseCaseError {
    let message =
        "The job is not held under this epoch any more: its lock ran out, or it was given to another worker.";
    UseCaseError::conflict("staleEpoch", message)
}

fn gone() -> UseCaseError {
    UseCaseError::conflict("jobGone", "The job was ended or withdrawn, or its run or case has ended.")
}
