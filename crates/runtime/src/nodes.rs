//! Executor of the jobs that the service does itself: each attempt is an errand, at least once, under a lease. What an
//! attempt gives is written with the step that takes it, so that nothing recorded is done again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::{JobId, Timestamp};
use heddle_nodes::{Caller, Ending, Hit, InsideKind, ModelCalls, SchemaCheck, Work};
use heddle_usecase::UseCaseError;
use heddle_usecase::errand::{Bounds, Errand, ErrandKind, Executor, Outcome, Settled, Settlement};
use heddle_workflows::records::Job;
use heddle_workflows::runs::{InsideEnd, InsideJob, InsideStand, ProtectionViolated, Runs};
use heddle_workflows::schema::Checker;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ServerClock;

/// Jobs at a time on this node, of one organisation, and of one type of an organisation.
const TOTAL: usize = 64;
const ORGANIZATION: usize = 32;
const TARGET: usize = 24;
/// Time that one attempt may take: more than the longest call with its checks.
const TIME_LIMIT: Duration = Duration::from_secs(900);
/// Jobs that wait are never dropped: their runs wait for them.
const BACKLOG: i64 = 10_000_000;
const OLDEST: Duration = Duration::from_hours(24 * 365 * 10);
/// Rest when the database does not answer.
const AWAY: Duration = Duration::from_secs(5);

/// Does the jobs of nodes that the service does itself.
pub struct NodeExecutor {
    runs: Arc<Runs>,
    models: Arc<dyn ModelCalls>,
    clock: Arc<ServerClock>,
}

impl std::fmt::Debug for NodeExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeExecutor").finish_non_exhaustive()
    }
}

/// Payload of an errand.
#[derive(Deserialize)]
struct Payload {
    job: JobId,
}

/// JSON Schemas within the bounds of forms. What it tells names places and keywords, and nothing of the value.
struct Schemas;

impl SchemaCheck for Schemas {
    fn problems(&self, schema: &Value, value: &Value) -> Vec<String> {
        let problems = Checker::new(schema).check(value, "value");
        let told = |field: Option<String>, reason: &str| match reason {
            "schema" => format!("`{}` does not fit the schema.", field.unwrap_or_else(|| "value".to_owned())),
            other => format!("The schema cannot be used ({other})."),
        };
        problems.into_iter().map(|problem| told(problem.field, &problem.reason)).collect()
    }
}

impl NodeExecutor {
    /// Over the runs and the models.
    #[must_use]
    pub fn new(runs: Arc<Runs>, models: Arc<dyn ModelCalls>, clock: Arc<ServerClock>) -> Self {
        Self { runs, models, clock }
    }

    async fn done(&self, errand: &Errand, job: JobId) -> Result<Outcome, UseCaseError> {
        let tenant = errand.errand.lane.tenant;
        let own = match self.runs.inside_job(tenant, job).await? {
            InsideStand::Gone => return Ok(Outcome::Done),
            InsideStand::Later(at) => {
                let message = "The job waits for its next attempt.".to_owned();
                return Ok(Outcome::Failed { message, after: Some(at.duration_since(self.now())) });
            }
            InsideStand::Ready(own) => *own,
        };
        let stored = own.job.clone();
        let ending = self.perform(own).await;
        self.settle(&stored, ending).await?;
        Ok(Outcome::Done)
    }

    fn now(&self) -> Timestamp {
        heddle_kernel::Clock::now(&*self.clock)
    }

    async fn perform(&self, own: InsideJob) -> Ending {
        let InsideJob { job, variables, outputs, started_by } = own;
        let Some(kind) = InsideKind::of_job(&job.job_type) else {
            let message = "This version of the service has no work of the job's type.".to_owned();
            return fatal(message);
        };
        let caller = Caller {
            tenant: job.tenant,
            workflow: job.workflow,
            version: job.version,
            run: job.run,
            started_by,
            job: job.id,
            attempt: job.attempt,
            node: job.node_id.clone(),
        };
        let work = Work {
            kind,
            caller,
            settings: Map::new(),
            tools: Vec::new(),
            policy: heddle_nodes::Policy::default(),
            variables,
            outputs,
            now: self.now(),
            before: job.message.clone(),
            models: &*self.models,
            schemas: &Schemas,
        };
        match work.read(&job.headers) {
            Ok(work) => work.perform().await,
            Err(fault) => fatal(fault.0),
        }
    }

    /// Writes the end of an attempt. What the run cannot hold is a failure of the job.
    async fn settle(&self, job: &Job, ending: Ending) -> Result<(), UseCaseError> {
        let (hits, end) = match ending {
            Ending::Completed { variables, hits } => (hits, InsideEnd::Complete(variables)),
            Ending::Error { code, message, hits } => {
                (hits, InsideEnd::Error { code: code.to_owned(), message })
            }
            Ending::Failed { setback, hits } => {
                let retries = setback.is_final.then_some(0);
                let after_ms = setback.after.and_then(|after| u64::try_from(after.as_millis()).ok());
                (hits, InsideEnd::Fail { message: setback.message, retries, after_ms })
            }
        };
        let hits: Vec<ProtectionViolated> = hits.into_iter().map(violated).collect();
        let settled = self.runs.settle_inside(job, hits.clone(), end).await;
        if let Err(UseCaseError::Invalid(problems)) = settled {
            let told: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
            let message = format!("The run cannot take what the node gives: {}", told.join(" "));
            let end = InsideEnd::Fail { message, retries: Some(0), after_ms: None };
            over(self.runs.settle_inside(job, hits, end).await)
        } else {
            over(settled)
        }
    }
}

/// The end of a job that is over by now is no failure.
fn over(settled: Result<(), UseCaseError>) -> Result<(), UseCaseError> {
    let is_over = matches!(settled, Err(UseCaseError::Conflict(_) | UseCaseError::NotFound));
    if is_over { Ok(()) } else { settled }
}

fn fatal(message: String) -> Ending {
    let setback = heddle_nodes::Setback { message, after: None, is_final: true };
    Ending::Failed { setback, hits: Vec::new() }
}

/// A finding as the history has it.
fn violated(hit: Hit) -> ProtectionViolated {
    let spans = hit.spans.iter().filter_map(|span| serde_json::to_value(span).ok()).collect();
    ProtectionViolated {
        check_id: hit.check_id,
        stage: hit.stage.as_str().to_owned(),
        action: hit.action.as_str().to_owned(),
        message: hit.message,
        count: u64::try_from(hit.count).unwrap_or(u64::MAX),
        spans,
    }
}

#[async_trait]
impl Executor for NodeExecutor {
    fn kind(&self) -> ErrandKind {
        ErrandKind::Node
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            total: TOTAL,
            organization: ORGANIZATION,
            target: TARGET,
            ahead: 1,
            time_limit: TIME_LIMIT,
            backlog: BACKLOG,
            oldest: OLDEST,
        }
    }

    async fn run(&self, errand: &Errand) -> Outcome {
        let Ok(Payload { job }) = serde_json::from_str(&errand.errand.payload) else {
            return Outcome::Refused { message: "the errand does not read".to_owned() };
        };
        match self.done(errand, job).await {
            Ok(outcome) => outcome,
            Err(UseCaseError::Unavailable(_) | UseCaseError::Busy | UseCaseError::Abandoned { .. }) => {
                Outcome::Held { wait: AWAY }
            }
            Err(error) => Outcome::Failed { message: error.to_string(), after: None },
        }
    }

    async fn ended(&self, settled: &Settled) {
        // What ended the process again and again, or took too long each time, has failed.
        let Settlement::Aside { message, .. } = &settled.settlement else { return };
        let Ok(Payload { job }) = serde_json::from_str(&settled.errand.errand.payload) else { return };
        let tenant = settled.errand.errand.lane.tenant;
        let Ok(InsideStand::Ready(own)) = self.runs.inside_job(tenant, job).await else { return };
        if let Err(error) = self.settle(&own.job, fatal(message.clone())).await {
            tracing::warn!(%error, job = %job, "the failure of a node is not written");
        }
    }
}
