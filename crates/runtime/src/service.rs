//! Work of the service's own node kinds: an errand for each attempt at such a job. What such a kind is, the crate of settings
//! tells.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::{Clock, JobId, TenantId, UserId};
use heddle_settings::service::kind_of_name;
use heddle_usecase::UseCaseError;
use heddle_usecase::errand::{Bounds, Errand, ErrandKind, Executor, Lane, Outcome, Settled, Settlement};
use heddle_workflows::ports::{
    ServiceCall, ServiceEnd, ServiceFault, ServiceJob, ServiceRights, ServiceWork,
};
use heddle_workflows::runs::{Runs, TakenOwn};

/// Time that the work of a node may take: more than the longest call with its checks.
const LIMIT: Duration = Duration::from_mins(15);
/// Time beyond it for which a job is held: what comes of the work is written in it.
const MARGIN: Duration = Duration::from_secs(30);
/// Wait for a database that does not answer.
const AWAY: Duration = Duration::from_secs(5);

/// Bounds of the service's own jobs on one node.
const BOUNDS: Bounds = Bounds {
    total: 64,
    organization: 32,
    target: 24,
    ahead: 1,
    time_limit: Duration::from_mins(16),
    // What a run waits for is never dropped for being much or old.
    backlog: 1 << 40,
    oldest: Duration::from_hours(24 * 365),
};

/// Does the work of the service's own node kinds.
pub struct ServiceExecutor {
    runs: Arc<Runs>,
    rights: Arc<dyn ServiceRights>,
    clock: Arc<dyn Clock>,
    work: HashMap<&'static str, Arc<dyn ServiceWork>>,
}

impl std::fmt::Debug for ServiceExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceExecutor").field("kinds", &self.work.keys()).finish_non_exhaustive()
    }
}

/// Outcome of an attempt, and the person in whose name it was made.
struct Attempt {
    by: Option<UserId>,
    end: ServiceEnd,
}

impl ServiceExecutor {
    /// Executor of the kinds that these know.
    #[must_use]
    pub fn new(
        runs: Arc<Runs>,
        rights: Arc<dyn ServiceRights>,
        clock: Arc<dyn Clock>,
        work: Vec<Arc<dyn ServiceWork>>,
    ) -> Self {
        let of = |one: Arc<dyn ServiceWork>| {
            one.kinds().iter().map(|kind| (*kind, Arc::clone(&one))).collect::<Vec<_>>()
        };
        let work = work.into_iter().flat_map(of).collect();
        Self { runs, rights, clock, work }
    }

    /// Tries the work of a job that is held.
    async fn attempt(&self, job: &ServiceJob) -> Attempt {
        let nobody = |fault: ServiceFault| Attempt { by: None, end: fault.into() };
        let Some(work) = self.work.get(job.kind.as_str()) else {
            let message = format!("This server does not do the kind `{}`.", job.kind);
            return nobody(ServiceFault::Again { message, after: None });
        };
        let context = match self.rights.context(job, self.clock.now()).await {
            Ok(context) => context,
            Err(error) => return nobody(error.into()),
        };
        let by = context.as_ref().map(heddle_policy::RequestContext::user_id);
        let call = ServiceCall { job: job.clone(), context };
        let end = match tokio::time::timeout(LIMIT, work.call(&call)).await {
            Ok(end) => end,
            Err(_) => {
                let message = format!("The work took longer than {} seconds.", LIMIT.as_secs());
                ServiceFault::Again { message, after: None }.into()
            }
        };
        Attempt { by, end }
    }

    /// Records what an attempt came to, with what protection found at it. An answer that the run has no room for is an
    /// incident.
    async fn end(&self, job: &ServiceJob, attempt: Attempt) -> Result<(), UseCaseError> {
        let Attempt { by, end } = attempt;
        let findings = end.findings.clone();
        let ended = self.runs.end_own_job(job, by, end).await;
        if let Err(error @ UseCaseError::Invalid(_)) = &ended {
            let message = format!("The answer is not taken: {}", error.in_words());
            let outcome = Err(ServiceFault::Refused { message });
            return self.runs.end_own_job(job, by, ServiceEnd { outcome, findings, notes: None }).await;
        }
        ended
    }

    async fn work(&self, tenant: TenantId, id: JobId, is_left_behind: bool) -> Outcome {
        let now = self.clock.now();
        let held = i64::try_from((LIMIT + MARGIN).as_millis()).unwrap_or(i64::MAX);
        let job = match self.runs.take_own_job(tenant, id, now.plus_millis(held), is_left_behind).await {
            Ok(TakenOwn::Taken(job)) => job,
            Ok(TakenOwn::NotBefore(at)) => {
                let after = Some(at.duration_since(now).max(AWAY));
                return Outcome::Failed { message: "The job is held, or not due yet.".to_owned(), after };
            }
            Ok(TakenOwn::Over) => return Outcome::Done,
            Err(error) => return away(&error),
        };
        let attempt = self.attempt(&job).await;
        match self.end(&job, attempt).await {
            Ok(()) => Outcome::Done,
            Err(error) => away(&error),
        }
    }
}

/// Another try for what was not written, or not read: the job's lock runs out by then.
fn away(error: &UseCaseError) -> Outcome {
    tracing::warn!(error = error.in_words(), "a job of the service is tried later");
    Outcome::Failed { message: error.to_string(), after: Some(AWAY) }
}

#[async_trait]
impl Executor for ServiceExecutor {
    fn kind(&self) -> ErrandKind {
        ErrandKind::Service
    }

    fn bounds(&self) -> Bounds {
        BOUNDS
    }

    fn does(&self, lane: &Lane) -> bool {
        // What no node does ends in an incident; what another one does waits for it.
        let kind = lane.target.as_str();
        self.work.contains_key(kind) || kind_of_name(kind).is_none_or(|known| known.role.is_none())
    }

    async fn run(&self, errand: &Errand) -> Outcome {
        match errand.errand.payload.parse::<JobId>() {
            Ok(id) => self.work(errand.errand.lane.tenant, id, errand.is_suspect).await,
            Err(error) => Outcome::Refused { message: format!("the job's id does not read: {error}") },
        }
    }

    async fn ended(&self, settled: &Settled) {
        // A job that ended the process again and again is an incident of its run.
        let Settlement::Aside { message, .. } = &settled.settlement else { return };
        let of = &settled.errand.errand;
        let Ok(id) = of.payload.parse::<JobId>() else { return };
        if let Err(error) = self.runs.give_up_own_job(of.lane.tenant, id, message.clone()).await {
            tracing::error!(error = error.in_words(), job = %id, "a job of the service is not set aside");
        }
    }
}
