//! Jobs as clients of other products know them: found by an id or a number, held by a name, without an epoch.

use heddle_api::operations::ops;
use heddle_kernel::{JobId, TenantId};
use heddle_policy::Key;
use heddle_policy::resource::Job as JobKind;
use heddle_usecase::UseCaseError;
use heddle_workflows::records::{Job, KnownJob};

use crate::app::App;
use crate::bind::Locate;

/// Name of a job by which a client asks for it.
#[derive(Debug, Clone, Copy)]
pub(super) enum JobName {
    /// The job's id.
    Id(JobId),
    /// The job's number.
    Number(i64),
}

/// An open job with who holds it.
///
/// # Errors
/// `NotFound`, also for one that has ended; `Unavailable`.
pub(super) async fn open(app: &App, tenant: TenantId, name: JobName) -> Result<Job, UseCaseError> {
    match known(app, tenant, name).await? {
        KnownJob::Open(job) => Ok(*job),
        KnownJob::Ended(_) => Err(UseCaseError::NotFound),
    }
}

async fn known(app: &App, tenant: TenantId, name: JobName) -> Result<KnownJob, UseCaseError> {
    match name {
        JobName::Id(id) => app.runs.job(tenant, id).await,
        JobName::Number(number) => app.runs.job_by_number(tenant, number).await,
    }
}

macro_rules! located {
    ($($operation:ident by $name:ident $member:ident;)+) => {$(
        impl Locate for ops::$operation {
            type Thing = JobKind;

            async fn locate(
                app: &App,
                tenant: TenantId,
                path: &Self::Path,
            ) -> Result<Key<JobKind>, UseCaseError> {
                Ok(known(app, tenant, JobName::$name(path.$member)).await?.key())
            }
        }
    )+};
}

located! {
    CompleteExternalTask by Id job_id;
    FailExternalTask by Id job_id;
    ThrowExternalTaskError by Id job_id;
    ExtendExternalTaskLock by Id job_id;
    UnlockExternalTask by Id job_id;
    CompleteCamundaJob by Number key;
    FailCamundaJob by Number key;
    ThrowCamundaJobError by Number key;
    UpdateCamundaJob by Number key;
}
