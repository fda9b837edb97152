//! Jobs for external workers.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_api::wire::jobs::SettledState;
use heddle_faces::literals::{job_kind, job_state, job_state_of};
use heddle_faces::run_view::{Whose, whose};
use heddle_kernel::{CaseId, CaseTypeId, MAX_LIMIT, Page, Timestamp};
use heddle_workflows::ports::JobFilter;
use heddle_workflows::records::{Job, JobEnding, JobOutcome, JobState, KnownJob};
use heddle_workflows::runs::{
    ActivateJobs, ActivatedJob, DEFAULT_JOBS, DEFAULT_LOCK_MS, JobError, JobFailure,
};

use super::{either, id_of};
use crate::call::{Call, page};
use crate::reply::{HandlerResult, Response};

/// GET /api/jobs
pub(crate) async fn list(call: Call<ops::ListJobs>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = JobFilter {
        job_type: query.r#type,
        state: query.state.map(job_state_of),
        run: either(
            id_of(query.run_id.as_deref(), "runId")?,
            id_of::<CaseId>(query.case_id.as_deref(), "caseId")?,
            "caseId",
        )?,
        workflow: either(
            id_of(query.workflow_id.as_deref(), "workflowId")?,
            id_of::<CaseTypeId>(query.case_type_id.as_deref(), "caseTypeId")?,
            "caseTypeId",
        )?,
        worker: query.worker,
    };
    let found = call.app.runs.jobs(&call.authorized, &call.context, &filter, &page).await?;
    let now = call.context.now();
    Response::list(found, page.limit, |job| open(job, now))
}

/// POST /api/jobs/activate
pub(crate) async fn activate(call: Call<ops::ActivateJobs>) -> HandlerResult {
    let body = call.body;
    let ask = ActivateJobs {
        types: body.types,
        worker: body.worker,
        max_jobs: body.max_jobs.unwrap_or(DEFAULT_JOBS),
        lock_ms: body.lock_ms.map_or(DEFAULT_LOCK_MS, u64::from),
        wait_ms: body.wait_ms.map_or(0, u64::from),
        variables: body.variables,
        ..ActivateJobs::default()
    };
    let limit = ask.max_jobs.min(MAX_LIMIT);
    let items = call.app.runs.activate_jobs(&call.authorized, &ask).await?;
    Response::list(Page { items, next: None }, limit, activated)
}

/// POST /api/jobs/{jobId}/complete
pub(crate) async fn complete(call: Call<ops::CompleteJob>) -> HandlerResult {
    let (job, epoch) = (call.path.job_id, call.body.epoch);
    let variables = call.body.variables.unwrap_or_default();
    let done = call.app.runs.complete_job(&call.authorized, &call.context, job, epoch, variables).await?;
    Response::data(200, settled(done, call.context.now()))
}

/// POST /api/jobs/{jobId}/fail
pub(crate) async fn fail(call: Call<ops::FailJob>) -> HandlerResult {
    let body = call.body;
    let failure = JobFailure {
        epoch: body.epoch,
        message: body.message,
        details: body.details,
        retries: body.retries,
        retry_after_ms: body.retry_after_ms.map(u64::from),
    };
    let done = call.app.runs.fail_job(&call.authorized, &call.context, call.path.job_id, failure).await?;
    Response::data(200, settled(done, call.context.now()))
}

/// POST /api/jobs/{jobId}/error
pub(crate) async fn error(call: Call<ops::ThrowJobError>) -> HandlerResult {
    let body = call.body;
    let error = JobError {
        epoch: body.epoch,
        code: body.code,
        message: body.message,
        variables: body.variables.unwrap_or_default(),
    };
    let done =
        call.app.runs.throw_job_error(&call.authorized, &call.context, call.path.job_id, error).await?;
    Response::data(200, settled(done, call.context.now()))
}

/// POST /api/jobs/{jobId}/extend
pub(crate) async fn extend(call: Call<ops::ExtendJob>) -> HandlerResult {
    let (job, body) = (call.path.job_id, call.body);
    let lock_ms = u64::from(body.lock_ms);
    let done = call.app.runs.extend_job(&call.authorized, job, body.epoch, lock_ms).await?;
    Response::data(200, settled(done, call.context.now()))
}

fn open(job: Job, now: Timestamp) -> wire::jobs::Job {
    let state = job.state_at(now);
    let locked_until = job.locked_until().filter(|_| state == JobState::Locked);
    let Whose { run_id, workflow_id, case_id, case_type_id } =
        whose(job.instance_kind, Some(job.run), Some(job.workflow));
    wire::jobs::Job {
        id: job.id.to_string(),
        state: job_state(state),
        kind: job_kind(job.kind),
        run_id,
        workflow_id,
        case_id,
        case_type_id,
        version: job.version,
        retries: job.retries,
        attempt: job.attempt,
        priority: job.priority,
        worker: job.worker.clone().filter(|_| state == JobState::Locked),
        locked_until,
        not_before: job.not_before().filter(|_| state == JobState::Delayed),
        message: job.message,
        created_at: job.created_at,
        r#type: job.job_type,
        process_id: job.process_id,
        node_id: job.node_id,
        node_instance_id: job.node_instance_id,
        headers: job.headers,
    }
}

fn activated(taken: ActivatedJob) -> wire::jobs::ActivatedJob {
    let ActivatedJob { job, variables, correlation_key, business_key, root: _ } = taken;
    let Whose { run_id, workflow_id, case_id, case_type_id } =
        whose(job.instance_kind, Some(job.run), Some(job.workflow));
    wire::jobs::ActivatedJob {
        id: job.id.to_string(),
        kind: job_kind(job.kind),
        run_id,
        workflow_id,
        case_id,
        case_type_id,
        version: job.version,
        epoch: job.epoch,
        locked_until: job.locked_until().unwrap_or(job.created_at),
        worker: job.worker.unwrap_or_default(),
        retries: job.retries,
        attempt: job.attempt,
        priority: job.priority,
        headers: job.headers,
        variables,
        correlation_key,
        business_key,
        created_at: job.created_at,
        r#type: job.job_type,
        process_id: job.process_id,
        node_id: job.node_id,
        node_instance_id: job.node_instance_id,
    }
}

fn settled(job: KnownJob, now: Timestamp) -> wire::jobs::SettledJob {
    match job {
        KnownJob::Open(job) => still_open(*job, now),
        KnownJob::Ended(ending) => over(*ending),
    }
}

fn still_open(job: Job, now: Timestamp) -> wire::jobs::SettledJob {
    let state = match job.state_at(now) {
        JobState::Ready => SettledState::Ready,
        JobState::Locked => SettledState::Locked,
        JobState::Delayed => SettledState::Delayed,
        JobState::Failed => SettledState::Failed,
        JobState::Suspended => SettledState::Suspended,
    };
    let Whose { run_id, workflow_id, case_id, case_type_id } =
        whose(job.instance_kind, Some(job.run), Some(job.workflow));
    wire::jobs::SettledJob {
        id: job.id.to_string(),
        state,
        run_id,
        workflow_id,
        case_id,
        case_type_id,
        retries: Some(job.retries),
        locked_until: job.locked_until(),
        not_before: job.not_before(),
        r#type: job.job_type,
        node_id: job.node_id,
    }
}

fn over(ending: JobEnding) -> wire::jobs::SettledJob {
    let Whose { run_id, workflow_id, case_id, case_type_id } =
        whose(ending.instance_kind, Some(ending.run), Some(ending.workflow));
    wire::jobs::SettledJob {
        id: ending.id.to_string(),
        state: match ending.outcome {
            JobOutcome::Completed => SettledState::Completed,
            JobOutcome::Error => SettledState::Error,
            JobOutcome::Withdrawn => SettledState::Withdrawn,
        },
        run_id,
        workflow_id,
        case_id,
        case_type_id,
        retries: None,
        locked_until: None,
        not_before: None,
        r#type: ending.job_type,
        node_id: ending.node_id,
    }
}
