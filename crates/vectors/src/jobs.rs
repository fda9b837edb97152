//! Jobs: list, read, cancel, servers. Of a document that the reader may not see they tell neither its id nor its failure.

use std::sync::Arc;

use heddle_kernel::{DatabaseName, FileId, IngestionJobId, Page, PageRequest, TenantId};
use heddle_policy::capability::{DocumentList, IngestionJobCancel, IngestionJobList, IngestionJobRead};
use heddle_policy::resource::{Place as _, ResourceId as _, VectorDatabase, Within};
use heddle_policy::{Action, Authorized, AuthorizedList, Ownership, RequestContext, ResourceType};
use heddle_usecase::{Journal, StoreError};

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

    /// A page of the jobs within reach, the newest first, as the reader may know them.
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
        let mut found = self.store.list_jobs(context.tenant(), filter, authorized.filter(), page).await?;
        for job in &mut found.items {
            self.hide(context, job).await?;
        }
        Ok(found)
    }

    /// A job, for whoever must know of which database it is before anything is decided.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn locate(&self, tenant: TenantId, job: IngestionJobId) -> Result<Job, UseCaseError> {
        Ok(self.store.job(tenant, job).await?)
    }

    /// A job, as the reader may know it.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<IngestionJobRead>,
        context: &RequestContext,
    ) -> Result<Job, UseCaseError> {
        let mut job = self.found(authorized, context).await?;
        self.hide(context, &mut job).await?;
        Ok(job)
    }

    async fn found(
        &self,
        authorized: &Authorized<IngestionJobRead>,
        context: &RequestContext,
    ) -> Result<Job, UseCaseError> {
        let job = self.store.job(context.tenant(), authorized.id()).await?;
        if job.database_name == authorized.key().within() { Ok(job) } else { Err(UseCaseError::NotFound) }
    }

    /// Takes the failure out of a job that may be that of a document which the reader may not see.
    async fn hide(&self, context: &RequestContext, job: &mut Job) -> Result<(), StoreError> {
        if job.error.is_some() && !self.may_see_failures(context, job).await? {
            job.error = None;
        }
        Ok(())
    }

    /// Whether the reader may see every document of a job.
    async fn may_see_failures(&self, context: &RequestContext, job: &Job) -> Result<bool, StoreError> {
        let extent = context.snapshot().extent(ResourceType::Document, Action::List);
        let parents = Within::<VectorDatabase>::of(job.database_name.clone()).parents();
        let unknown = FileId(uuid::Uuid::nil()).rule_id();
        if !extent.permits(&unknown, &parents, Ownership::Unknown) {
            return Ok(false);
        }
        let denied: Vec<FileId> = extent.denied.iter().filter_map(FileId::of_rule).collect();
        Ok(denied.is_empty() || !self.store.job_has(job.tenant, job.id, &denied).await?)
    }

    /// The servers of a job. At what file one is, is told to those who may see the file.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn servers(
        &self,
        authorized: &Authorized<IngestionJobRead>,
        context: &RequestContext,
    ) -> Result<Vec<JobServer>, UseCaseError> {
        let job = self.found(authorized, context).await?;
        let mut servers = self.store.job_servers(context.tenant(), job.id, context.now()).await?;
        for server in &mut servers {
            server.current_file =
                server.current_file.filter(|file| may_see(context, &job.database_name, *file));
        }
        Ok(servers)
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

/// Whether a reader may see a document of a database.
fn may_see(context: &RequestContext, database: &DatabaseName, file: FileId) -> bool {
    context.snapshot().authorize_one::<DocumentList>(file, Within::of(database.clone())).is_ok()
}
