//! The external task protocol of Camunda 7 over the jobs: tasks are jobs, topics are their types, and whoever locked a
//! task is known by the worker's name alone.

mod claim;

use heddle_api::operations::ops;
use heddle_api::wire::camunda7::WorkerId;
use heddle_api::{Detail, ErrorCode};
use heddle_faces::typed_values as values;
use heddle_kernel::JobId;
use heddle_usecase::UseCaseError;
use heddle_workflows::records::Job;
use heddle_workflows::runs::{JobError, JobFailure};

pub(crate) use claim::fetch;

use super::workers::{self, JobName};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// The longest name of a worker, in characters.
const WORKER_LENGTH: usize = 200;

/// POST /engine-rest/external-task/{id}/complete
pub(crate) async fn complete(call: Call<ops::CompleteExternalTask>) -> HandlerResult {
    let body = &call.body;
    let mut variables = values::read_all("variables", body.variables.as_ref())?;
    variables.extend(values::read_all("localVariables", body.local_variables.as_ref())?);
    let job = held(&call, call.path.job_id, &body.worker_id, "completed").await?;
    let done =
        call.app.runs.complete_job(&call.authorized, &call.context, job.id, job.epoch, variables).await;
    done.map_err(refused)?;
    Ok(Response::none())
}

/// POST /engine-rest/external-task/{id}/failure
pub(crate) async fn fail(call: Call<ops::FailExternalTask>) -> HandlerResult {
    let body = &call.body;
    let job = held(&call, call.path.job_id, &body.worker_id, "failed").await?;
    let failure = JobFailure {
        epoch: job.epoch,
        message: body.error_message.clone().unwrap_or_default(),
        details: body.error_details.clone(),
        retries: Some(whole(body.retries)),
        retry_after_ms: body.retry_timeout.map(|millis| u64::try_from(millis).unwrap_or_default()),
    };
    let done = call.app.runs.fail_job(&call.authorized, &call.context, job.id, failure).await;
    done.map_err(refused)?;
    Ok(Response::none())
}

/// POST /engine-rest/external-task/{id}/bpmnError
pub(crate) async fn error(call: Call<ops::ThrowExternalTaskError>) -> HandlerResult {
    let body = &call.body;
    let variables = values::read_all("variables", body.variables.as_ref())?;
    let job = held(&call, call.path.job_id, &body.worker_id, "ended with an error").await?;
    let error = JobError {
        epoch: job.epoch,
        code: body.error_code.clone(),
        message: body.error_message.clone(),
        variables,
    };
    let done = call.app.runs.throw_job_error(&call.authorized, &call.context, job.id, error).await;
    done.map_err(refused)?;
    Ok(Response::none())
}

/// POST /engine-rest/external-task/{id}/extendLock
pub(crate) async fn extend(call: Call<ops::ExtendExternalTaskLock>) -> HandlerResult {
    let job = held(&call, call.path.job_id, &call.body.worker_id, "held for longer").await?;
    let lock = u64::try_from(call.body.new_duration).unwrap_or_default();
    let done = call.app.runs.extend_job(&call.authorized, job.id, job.epoch, lock).await;
    done.map_err(refused)?;
    Ok(Response::none())
}

/// POST /engine-rest/external-task/{id}/unlock: whoever holds it; what nobody holds is free already.
pub(crate) async fn unlock(call: Call<ops::UnlockExternalTask>) -> HandlerResult {
    let job = workers::open(&call.app, call.context.tenant(), JobName::Id(call.path.job_id)).await?;
    if job.locked_until().is_some_and(|until| until > call.context.now()) {
        let done = call.app.runs.release_job(&call.authorized, job.id, job.epoch).await;
        done.map_err(refused)?;
    }
    Ok(Response::none())
}

/// The job, if this worker locked it last.
async fn held<O: heddle_api::Operation>(
    call: &Call<O>,
    id: JobId,
    worker: &WorkerId,
    done: &str,
) -> Result<Job, Failure> {
    let worker = name_of(worker)?;
    let app: &App = &call.app;
    let job = workers::open(app, call.context.tenant(), JobName::Id(id)).await?;
    if job.worker.as_deref() == Some(worker.as_str()) {
        return Ok(job);
    }
    let holder = job.worker.as_deref().map_or_else(
        || "It is locked by no worker.".to_owned(),
        |other| format!("It is locked by worker '{other}'."),
    );
    let message = format!("External Task {id} cannot be {done} by worker '{worker}'. {holder}");
    Err(Failure::because(ErrorCode::InvalidRequestBody, "notHeld", message))
}

/// Name of a worker.
///
/// # Errors
/// 400 for none and for one that is too long.
fn name_of(worker: &WorkerId) -> Result<String, Failure> {
    let name = worker.to_string();
    match name.chars().count() {
        0 => Err(Failure::at("workerId", "tooShort", "The worker has no name.")),
        1..=WORKER_LENGTH => Ok(name),
        _ => {
            let message = format!("The text has more than {WORKER_LENGTH} characters.");
            Err(Failure::at("workerId", "tooLong", message))
        }
    }
}

/// A count that is not negative; 0 when absent.
fn whole(count: Option<i64>) -> u32 {
    count.and_then(|count| u32::try_from(count).ok()).unwrap_or_default()
}

/// A refusal as the protocol has it: it knows no 409, a task that is gone is not there, and a lock that is lost makes a
/// wrong call.
fn refused(error: UseCaseError) -> Failure {
    let mut failure = Failure::from(error);
    if failure.error.code == ErrorCode::StateConflict {
        let gone = |detail: &Detail| matches!(detail.reason.as_str(), "jobGone" | "ended");
        if failure.error.details.iter().any(gone) {
            return Failure::not_found();
        }
        failure.error.code = ErrorCode::InvalidRequestBody;
        if failure.error.details.is_empty() {
            let message = failure.error.message.clone();
            failure.error.details.push(Detail::new("notHeld", message));
        }
    }
    failure
}
