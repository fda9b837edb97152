//! Locks of jobs that were just taken: a worker that asks for several types at once may hold each for another time, and
//! gives back what it has no use for.

use heddle_kernel::Timestamp;
use heddle_policy::AuthorizedSome;
use heddle_policy::capability::JobActivate;
use heddle_usecase::StoreError;

use super::{ActivatedJob, MAX_LOCK_MS, Runs};
use crate::UseCaseError;
use crate::ports::{LockChange, Transaction};

impl Runs {
    /// Sets the lock of a job that the caller has just taken: so many milliseconds from now, or none, which gives it to
    /// the next worker. Gives the end of the lock; none when the job was given back or is held no more.
    ///
    /// # Errors
    /// `Invalid` for a lock that is too long; `Unavailable`.
    pub async fn relock_job(
        &self,
        authorized: &AuthorizedSome<JobActivate>,
        taken: &ActivatedJob,
        lock_ms: Option<u64>,
    ) -> Result<Option<Timestamp>, UseCaseError> {
        if lock_ms.is_some_and(|lock| !(1..=MAX_LOCK_MS).contains(&lock)) {
            let message = format!("From 1 to {MAX_LOCK_MS} milliseconds are needed.");
            return Err(UseCaseError::invalid("lockMs", "outOfRange", message));
        }
        let (job, tenant, now) = (&taken.job, authorized.tenant(), self.ports.clock.now());
        let until = lock_ms.map(|lock| now.plus_millis(i64::try_from(lock).unwrap_or(i64::MAX)));
        let change = LockChange { job: job.id, epoch: job.epoch, now, until };
        let unit = Transaction { tenant: Some(tenant), locks: vec![change], ..Transaction::default() };
        match self.commit(unit).await {
            Ok(()) => {}
            // Withdrawn in the meantime, or taken by another one since.
            Err(StoreError::Stale) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        match until {
            Some(until) => self.lines.due(tenant, &job.job_type, until),
            None => self.lines.opened(tenant, &job.job_type, 1),
        }
        Ok(until)
    }
}
