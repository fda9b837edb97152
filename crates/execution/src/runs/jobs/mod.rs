//! Jobs for external workers: taken, kept, given back, completed, failed.
//!
//! Who holds a job is the store's row alone: a worker holds it under an epoch, which grows whenever it is taken or taken
//! away. Whatever a holder does names the epoch, and the transaction that does it checks it: of two that think they hold
//! a job, one is refused without effect.

mod activate;
mod lapse;
mod lines;
mod own;
mod settle;
mod sift;

pub(crate) use lines::JobLines;
pub(crate) use sift::Sifting;

pub use activate::{
    ActivateJobs, ActivatedJob, DEFAULT_JOBS, DEFAULT_LOCK_MS, JobCondition, MAX_JOBS, MAX_LOCK_MS,
    MAX_TYPES, MAX_WAIT_MS,
};
pub use lapse::DEFAULT_LAPSES;
pub use own::TakenOwn;
pub use settle::{JobError, JobFailure};

use heddle_kernel::{JobId, Page, PageRequest, TenantId};
use heddle_policy::capability::JobList;
use heddle_policy::{AuthorizedList, Key, RequestContext, resource};

use super::Runs;
use crate::UseCaseError;
use crate::ports::JobFilter;
use crate::records::{Job, KnownJob};

impl Runs {
    /// A page of the open jobs that the caller may see, those of the oldest runs first.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor; `Unavailable`.
    pub async fn jobs(
        &self,
        authorized: &AuthorizedList<JobList>,
        context: &RequestContext,
        filter: &JobFilter,
        page: &PageRequest,
    ) -> Result<Page<Job>, UseCaseError> {
        let (tenant, now) = (context.tenant(), context.now());
        Ok(self.ports.jobs.jobs(tenant, filter, authorized.filter(), now, page).await?)
    }

    /// A job, for the gate and for what asks by the name of its worker.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn job(&self, tenant: TenantId, job: JobId) -> Result<KnownJob, UseCaseError> {
        Ok(self.ports.jobs.job(tenant, job).await?)
    }

    /// The same by the job's number.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn job_by_number(&self, tenant: TenantId, number: i64) -> Result<KnownJob, UseCaseError> {
        Ok(self.ports.jobs.job_by_number(tenant, number).await?)
    }

    /// Key of a job, for the gate.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn job_key(&self, tenant: TenantId, job: JobId) -> Result<Key<resource::Job>, UseCaseError> {
        Ok(self.job(tenant, job).await?.key())
    }

    /// Sends away the workers that wait: the server stops.
    pub fn end_waits(&self) {
        self.lines.close();
    }

    /// Tells the workers that wait as a commit does.
    #[cfg(any(test, feature = "mock"))]
    pub fn tell_opened(&self, tenant: TenantId, job_type: &str, count: usize) {
        self.lines.opened(tenant, job_type, count);
    }

    /// Has the workers that wait look again: the clock was moved.
    pub(crate) fn look_for_jobs(&self) {
        self.lines.look_again();
    }
}
