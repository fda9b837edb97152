//! Jobs: list, read, cancel, servers.

use std::sync::Arc;

use heddle_kernel::{IngestionJobId, Page, PageRequest, TenantId};
use heddle_policy::capability::{IngestionJobCancel, IngestionJobList, IngestionJobRead};
use heddle_policy::{Authorized, AuthorizedList, RequestContext};
use heddle_usecase::Journal;

use crate::UseCaseError;
use crate::ports::{JobFilter, VectorStore};
use crate::records::{Job, JobServer, JobState};

/// The use cases of jobs.
pub struct IngestionJobs {
    store: Arc<dyn VectorStore>,
}

impl std::fmt::Debug for IngestionJobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IngestionJobs").finish_non_exhaustive()
    }
}

impl IngestionJobs {
    /// Builds the use cases on their port.
    #[must_use]
    pub const fn new(store: Arc<dyn VectorStore>) -> Self {
        Self { store }
    }

    /// A page of the jobs within reach, the newest first.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<IngestionJobList>,
        context: &RequestContext,
        filter: &JobFilter,
        page: &PageRequest,
    ) -> Result<Page<Job>, UseCaseError> {
        Ok(self.store.list_jobs(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// A job, for whoever must know of which database it is before anything is decided.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn locate(&self, tenant: TenantId, job: IngestionJobId) -> Result<Job, UseCaseError> {
        Ok(self.store.job(tenant, job).await?)
    }

    /// A job.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<IngestionJobRead>,
        context: &RequestContext,
    ) -> Result<Job, UseCaseError> {
        let job = self.store.job(context.tenant(), authorized.id()).await?;
        if job.database_name == authorized.key().within() { Ok(job) } else { Err(UseCaseError::NotFound) }
    }

    /// The servers of a job.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn servers(
        &self,
        authorized: &Authorized<IngestionJobRead>,
        context: &RequestContext,
    ) -> Result<Vec<JobServer>, UseCaseError> {
        let job = self.get(authorized, context).await?;
        Ok(self.store.job_servers(context.tenant(), job.id, context.now()).await?)
    }

    /// Cancels a job: files that are done stay. One that was cancelled before stays so.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`alreadyFinished`); `Unavailable`.
    pub async fn cancel(
        &self,
        authorized: &Authorized<IngestionJobCancel>,
        context: &RequestContext,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let present = self.store.job(context.tenant(), authorized.id()).await?;
        if present.database_name != authorized.key().within() {
            return Err(UseCaseError::NotFound);
        }
        let after = self.store.cancel_job(context.tenant(), present.id, journal).await?;
        match after.state {
            JobState::Queued | JobState::Running | JobState::Cancelling | JobState::Cancelled => Ok(()),
            JobState::Completed | JobState::CompletedWithErrors | JobState::Failed => {
                let message = format!("The job is over: {}.", after.state);
                Err(UseCaseError::conflict("alreadyFinished", message))
            }
        }
    }
}
