//! The part of Camunda 8's REST interface that workers and callers of processes use, over jobs, starts, messages and
//! signals. What stands here under an id stands there under a key, a number made of the id.

use std::ops::RangeInclusive;
use std::time::Duration;

use heddle_api::operations::ops;
use heddle_api::wire::camunda8 as wire;
use heddle_api::wire::envelope::JsonObject;
use heddle_api::{ApiError, Detail, ErrorCode};
use heddle_kernel::TenantId;
use heddle_policy::resource::Workflow;
use heddle_policy::{AccessFilter, Key};
use heddle_usecase::UseCaseError;
use heddle_workflows::records::{InboxEvent, Job, JobKind, Run, RunState, number_of};
use heddle_workflows::runs::{
    ActivateJobs, ActivatedJob, JobError, JobFailure, MAX_JOBS, MAX_WAIT_MS, MessageCall, ProcessName,
    PublishedProcess, SignalCall, StartRun, instance_number, process_number,
};
use serde_json::{Value, json};

use super::runs::ended;
use super::workers::{self, JobName};
use crate::app::App;
use crate::audit::About;
use crate::bind::Named;
use crate::call::Call;
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// The one tenant that the interface knows: the organisation of the caller's token.
const TENANT: &str = "<default>";
/// Version of the interface, by which clients decide what they may ask for.
const INTERFACE: &str = concat!("8.8.0+heddle.", env!("CARGO_PKG_VERSION"));
/// Wait of a client that leaves it to the service, in milliseconds.
const WAIT_MILLIS: i64 = 10_000;
/// The longest wait for the end of a run, in milliseconds.
const MINUTE: i64 = 60_000;
/// Range of a lock, in milliseconds: up to a day.
const LOCK: RangeInclusive<i64> = 1..=86_400_000;
/// Range of a delay, in milliseconds: up to a year.
const YEAR: RangeInclusive<i64> = 0..=31_536_000_000;
/// Range of what may be anything.
const ANY: RangeInclusive<i64> = i64::MIN..=i64::MAX;
/// Worker that does not name itself.
const UNNAMED: &str = "unnamed";

/// POST /v2/jobs/activation
pub(crate) async fn activate(call: Call<ops::ActivateCamundaJobs>) -> HandlerResult {
    let body = &call.body;
    for (at, tenant) in body.tenant_ids.iter().flatten().enumerate() {
        own_tenant(&format!("tenantIds[{at}]"), Some(tenant))?;
    }
    let wait = match long("requestTimeout", body.request_timeout.as_ref(), ANY)? {
        None | Some(0) => WAIT_MILLIS,
        Some(millis) => millis.max(0),
    };
    let lock = long("timeout", Some(&body.timeout), LOCK)?;
    let named = |worker: &&String| !worker.is_empty();
    let asked = ActivateJobs {
        types: vec![body.r#type.clone()],
        worker: body.worker.as_ref().filter(named).cloned().unwrap_or_else(|| UNNAMED.to_owned()),
        // Fewer may come, and sooner: the worker asks again.
        max_jobs: u32::try_from(body.max_jobs_to_activate).unwrap_or(MAX_JOBS).min(MAX_JOBS),
        lock_ms: lock.and_then(|millis| u64::try_from(millis).ok()).unwrap_or_default(),
        wait_ms: u64::try_from(wait).unwrap_or_default().min(MAX_WAIT_MS),
        variables: body.fetch_variable.clone().filter(|names| !names.is_empty()),
        ..ActivateJobs::default()
    };
    let taken = call.app.runs.activate_jobs(&call.authorized, &asked).await?;
    let leased = body.with_lease == Some(true);
    let jobs = taken.into_iter().map(|job| shown(job, leased)).collect();
    Response::json(200, &wire::ActivatedJobs { jobs })
}

fn shown(taken: ActivatedJob, leased: bool) -> wire::ActivatedJob {
    let ActivatedJob { job, variables, business_key, root, .. } = taken;
    let (kind, moment) = match job.kind {
        JobKind::Task => (wire::JobKind::BpmnElement, wire::JobListenerEventType::Unspecified),
        JobKind::StartListener => (wire::JobKind::ExecutionListener, wire::JobListenerEventType::Start),
        JobKind::EndListener => (wire::JobKind::ExecutionListener, wire::JobListenerEventType::End),
        JobKind::TaskListener => (wire::JobKind::TaskListener, wire::JobListenerEventType::Unspecified),
    };
    wire::ActivatedJob {
        process_definition_key: process_number(job.workflow, job.version, &job.process_id).to_string(),
        element_instance_key: instance_number(job.run, &job.node_instance_id).to_string(),
        process_instance_key: number_of(job.run.0).to_string(),
        job_key: job.number().to_string(),
        deadline: job.locked_until().map(|until| until.micros() / 1_000).unwrap_or_default(),
        job_lease_token: leased.then(|| job.epoch.to_string()),
        r#type: job.job_type,
        process_definition_id: job.process_id,
        process_definition_version: job.version,
        element_id: job.node_id,
        custom_headers: job.headers,
        worker: job.worker.unwrap_or_default(),
        retries: i64::from(job.retries),
        variables,
        tenant_id: TENANT,
        physical_tenant_id: "default",
        root_process_instance_key: Some(number_of(root.0).to_string()),
        kind,
        listener_event_type: moment,
        user_task: None,
        tags: Vec::new(),
        business_id: business_key,
        priority: job.priority,
    }
}

/// The job of a key under the lock that its present holder has: a call names no holder, unless it comes with the token.
async fn held(app: &App, tenant: TenantId, key: i64, token: Option<&String>) -> Result<Job, Failure> {
    let job = workers::open(app, tenant, JobName::Number(key)).await?;
    if token.is_some_and(|token| *token != job.epoch.to_string()) {
        let message = "The job is held under another token by now.";
        let detail = Detail::at("jobLeaseToken", "staleEpoch", message);
        return Err(ApiError::because(ErrorCode::StateConflict, detail).into());
    }
    Ok(job)
}

/// POST /v2/jobs/{jobKey}/completion
pub(crate) async fn complete(call: Call<ops::CompleteCamundaJob>) -> HandlerResult {
    let body = &call.body;
    let token = body.job_lease_token.as_ref();
    let job = held(&call.app, call.context.tenant(), call.path.key, token).await?;
    let variables = body.variables.clone().unwrap_or_default();
    call.app.runs.complete_job(&call.authorized, &call.context, job.id, job.epoch, variables).await?;
    Ok(Response::none())
}

/// POST /v2/jobs/{jobKey}/failure
pub(crate) async fn fail(call: Call<ops::FailCamundaJob>) -> HandlerResult {
    let body = &call.body;
    let token = body.job_lease_token.as_ref();
    let job = held(&call.app, call.context.tenant(), call.path.key, token).await?;
    let back_off = long("retryBackOff", body.retry_back_off.as_ref(), YEAR)?;
    let failure = JobFailure {
        epoch: job.epoch,
        message: body.error_message.clone().unwrap_or_default(),
        details: None,
        retries: Some(body.retries.and_then(|count| u32::try_from(count).ok()).unwrap_or_default()),
        retry_after_ms: Some(back_off.and_then(|millis| u64::try_from(millis).ok()).unwrap_or_default()),
    };
    call.app.runs.fail_job(&call.authorized, &call.context, job.id, failure).await?;
    Ok(Response::none())
}

/// POST /v2/jobs/{jobKey}/error
pub(crate) async fn error(call: Call<ops::ThrowCamundaJobError>) -> HandlerResult {
    let body = &call.body;
    let token = body.job_lease_token.as_ref();
    let job = held(&call.app, call.context.tenant(), call.path.key, token).await?;
    let error = JobError {
        epoch: job.epoch,
        code: body.error_code.clone(),
        message: body.error_message.clone(),
        variables: body.variables.clone().unwrap_or_default(),
    };
    call.app.runs.throw_job_error(&call.authorized, &call.context, job.id, error).await?;
    Ok(Response::none())
}

/// PATCH /v2/jobs/{jobKey}
pub(crate) async fn update(call: Call<ops::UpdateCamundaJob>) -> HandlerResult {
    let changes = &call.body.changeset;
    if changes.retries.is_none() && changes.timeout.is_none() {
        return Err(Failure::at("changeset", "required", "One of `retries` and `timeout` is needed."));
    }
    let timeout = long("changeset.timeout", changes.timeout.as_ref(), LOCK)?;
    let token = call.body.job_lease_token.as_ref();
    let job = held(&call.app, call.context.tenant(), call.path.key, token).await?;
    if let Some(timeout) = timeout {
        let lock = u64::try_from(timeout).unwrap_or_default();
        call.app.runs.extend_job(&call.authorized, job.id, job.epoch, lock).await?;
    }
    if let Some(retries) = changes.retries {
        let retries = u32::try_from(retries).unwrap_or(u32::MAX);
        call.app.runs.set_job_retries(&call.authorized, &call.context, job.id, retries).await?;
    }
    Ok(Response::none())
}

impl Named for ops::CreateProcessInstance {
    type Thing = Workflow;

    async fn locate(
        app: &App,
        tenant: TenantId,
        access: &AccessFilter<Workflow>,
        body: &Self::Body,
    ) -> Result<Key<Workflow>, UseCaseError> {
        app.runs.process_key(tenant, access, process_name(body)?).await
    }
}

/// Name of the process that a start asks for: one of the two.
fn process_name(body: &wire::InstanceCreation) -> Result<ProcessName, UseCaseError> {
    let at = "processDefinitionId";
    match (&body.process_definition_id, &body.process_definition_key) {
        (Some(id), None) => Ok(ProcessName::Id(id.clone())),
        // A number that is too long for a key is none.
        (None, Some(key)) => key.parse().map(ProcessName::Number).or(Err(UseCaseError::NotFound)),
        (None, None) => {
            let message = "One of `processDefinitionId` and `processDefinitionKey` is needed.";
            Err(UseCaseError::invalid(at, "required", message))
        }
        (Some(_), Some(_)) => {
            let message = "Either `processDefinitionId` or `processDefinitionKey` is given, not both.";
            Err(UseCaseError::invalid(at, "contradiction", message))
        }
    }
}

/// POST /v2/process-instances
pub(crate) async fn create(call: Call<ops::CreateProcessInstance>) -> HandlerResult {
    let body = &call.body;
    own_tenant("tenantId", body.tenant_id.as_ref())?;
    let found = call.app.runs.process_to_start(&call.authorized, &process_name(body)?).await?;
    let wait = long("requestTimeout", body.request_timeout.as_ref(), 0..=MINUTE)?;
    if body.start_instructions.as_ref().is_some_and(|starts| starts.len() > 1) {
        let message = "A run begins at one start event.";
        return Err(Failure::at("startInstructions", "tooLong", message));
    }
    let start = body.start_instructions.iter().flatten().next();
    let request = StartRun {
        input: body.variables.clone().unwrap_or_default(),
        version: Some(version(body, &found)?),
        process_id: Some(found.process_id),
        business_key: body.business_id.clone(),
        correlation_key: None,
        start_node_id: start.map(|start| start.element_id.clone()),
        ..StartRun::default()
    };
    let workflow = call.authorized.id().to_string();
    let record = |run: &Run| {
        let about = About::from(&workflow).and("run", run.id).with(json!({ "version": run.version }));
        call.journal(about, || Response::json(200, &created(run, JsonObject::new())))
    };
    let run = call.app.runs.start(&call.authorized, &call.context, request, &record).await?;
    if body.await_completion != Some(true) {
        return Response::json(200, &created(&run, JsonObject::new()));
    }
    let millis = wait.filter(|millis| *millis > 0).unwrap_or(WAIT_MILLIS);
    let limit = Duration::from_millis(u64::try_from(millis).unwrap_or_default());
    let run = ended(&call.app, run, limit).await?;
    Response::json(200, &created(&run, outcome(&run, body.fetch_variables.as_deref())?))
}

/// Version that a start means: the body's, the key's, or the active one.
fn version(body: &wire::InstanceCreation, found: &PublishedProcess) -> Result<i32, Failure> {
    let by_key = body.process_definition_key.is_some();
    match body.process_definition_version.filter(|version| *version != -1) {
        Some(asked) if by_key && asked != found.version => {
            let message = format!("The key is that of version {}.", found.version);
            Err(Failure::at("processDefinitionVersion", "contradiction", message))
        }
        Some(asked) => Ok(asked),
        None => Ok(found.version),
    }
}

/// Output of a run that has ended well.
fn outcome(run: &Run, names: Option<&[String]>) -> Result<JsonObject, Failure> {
    let key = number_of(run.id.0);
    match run.state {
        RunState::Completed => {
            let mut output = run.snapshot.output().cloned().unwrap_or_default();
            if let Some(names) = names.filter(|names| !names.is_empty()) {
                output.retain(|name, _| names.contains(name));
            }
            Ok(output)
        }
        RunState::Failed | RunState::Cancelled | RunState::Closed => {
            let message = format!("The process instance {key} ended without completing.");
            Err(Failure::because(ErrorCode::StateConflict, "notCompleted", message))
        }
        RunState::Queued | RunState::Running | RunState::Waiting | RunState::Suspended => {
            let message =
                format!("The process instance {key} has begun and did not complete in time; it goes on.");
            Err(Failure::because(ErrorCode::DependencyUnavailable, "deadlineExceeded", message))
        }
    }
}

fn created(run: &Run, variables: JsonObject) -> wire::CreatedInstance {
    wire::CreatedInstance {
        process_definition_id: run.process_id.clone(),
        process_definition_version: run.version,
        process_definition_key: process_number(run.workflow, run.version, &run.process_id).to_string(),
        process_instance_key: number_of(run.id.0).to_string(),
        tenant_id: TENANT,
        variables,
        tags: Vec::new(),
        business_id: run.business_key.clone(),
    }
}

/// POST /v2/messages/publication
pub(crate) async fn publish(call: Call<ops::PublishMessage>) -> HandlerResult {
    let body = &call.body;
    own_tenant("tenantId", body.tenant_id.as_ref())?;
    let sent = MessageCall {
        name: body.name.clone(),
        correlation_key: body.correlation_key.clone().filter(|key| !key.is_empty()),
        message_id: body.message_id.clone().filter(|id| !id.is_empty()),
        payload: payload(body.variables.as_ref()),
        keep_millis: long("timeToLive", body.time_to_live.as_ref(), YEAR)?.unwrap_or_default(),
    };
    let answer = |event: &InboxEvent| {
        let message_key = number_of(event.id.0).to_string();
        Response::json(200, &wire::PublishedMessage { tenant_id: TENANT, message_key })
    };
    let record = |event: &InboxEvent| {
        let details = json!({ "eventType": event.event_type });
        call.journal_with(About::none().and("case-event", event.id), details, || answer(event))
    };
    let received = call.app.runs.publish(&call.authorized, &call.context, sent, &record).await?;
    if received.replayed {
        let message = "A message with this name, correlation key and id was published before.";
        let detail = Detail::at("messageId", "notUnique", message);
        return Err(ApiError::because(ErrorCode::StateConflict, detail).into());
    }
    answer(&received.event)
}

/// POST /v2/messages/correlation
pub(crate) async fn correlate(call: Call<ops::CorrelateMessage>) -> HandlerResult {
    let body = &call.body;
    own_tenant("tenantId", body.tenant_id.as_ref())?;
    let sent = MessageCall {
        name: body.name.clone(),
        correlation_key: body.correlation_key.clone().filter(|key| !key.is_empty()),
        message_id: None,
        payload: payload(body.variables.as_ref()),
        keep_millis: 0,
    };
    let answer = |event: &InboxEvent| {
        let Some(run) = event.run_ids.first() else {
            let message =
                format!("Nobody waits for the message `{}` with this correlation key.", event.event_type);
            return Err(Failure::because(ErrorCode::NotFound, "notAwaited", message));
        };
        let correlated = wire::CorrelatedMessage {
            tenant_id: TENANT,
            message_key: number_of(event.id.0).to_string(),
            process_instance_key: number_of(run.0).to_string(),
        };
        Response::json(200, &correlated)
    };
    let record = |event: &InboxEvent| {
        let details = json!({ "eventType": event.event_type });
        call.journal_with(About::none().and("case-event", event.id), details, || answer(event))
    };
    let received = call.app.runs.publish(&call.authorized, &call.context, sent, &record).await?;
    answer(&received.event)
}

/// POST /v2/signals/broadcast
pub(crate) async fn broadcast(call: Call<ops::BroadcastSignal>) -> HandlerResult {
    let body = &call.body;
    own_tenant("tenantId", body.tenant_id.as_ref())?;
    let sent = SignalCall {
        name: body.signal_name.clone(),
        idempotency_key: None,
        payload: payload(body.variables.as_ref()),
    };
    let answer = |event: &InboxEvent| {
        let signal_key = number_of(event.id.0).to_string();
        Response::json(200, &wire::BroadcastSignal { tenant_id: TENANT, signal_key })
    };
    let record = |event: &InboxEvent| {
        let details = json!({ "name": call.body.signal_name });
        call.journal_with(About::none().and("signal", event.id), details, || answer(event))
    };
    let received = call.app.runs.signal(&call.authorized, &call.context, sent, &record).await?;
    answer(&received.event)
}

/// GET /v2/topology: one broker with one partition, whatever stands behind it.
pub(crate) async fn topology(call: Call<ops::GetTopology>) -> HandlerResult {
    let listen = call.app.config.listen;
    let partition = wire::Partition { partition_id: 1, role: "leader", health: "healthy", state: "active" };
    let broker = wire::Broker {
        node_id: 0,
        broker_id: "0".to_owned(),
        host: listen.ip().to_string(),
        port: i32::from(listen.port()),
        partitions: vec![partition],
        version: INTERFACE.to_owned(),
    };
    let topology = wire::Topology {
        brokers: vec![broker],
        cluster_id: None,
        cluster_size: 1,
        partitions_count: 1,
        replication_factor: 1,
        gateway_version: INTERFACE.to_owned(),
        last_completed_change_id: "-1".to_owned(),
    };
    Response::json(200, &topology)
}

/// Variables as a payload; an empty object when there are none.
fn payload(variables: Option<&JsonObject>) -> Value {
    Value::Object(variables.cloned().unwrap_or_default())
}

/// An integer of a body within its range.
fn long(
    field: &str,
    given: Option<&wire::Int64>,
    range: RangeInclusive<i64>,
) -> Result<Option<i64>, Failure> {
    let Some(given) = given else { return Ok(None) };
    let Some(number) = given.value() else {
        return Err(Failure::at(field, "wrongType", "This must be an integer."));
    };
    if range.contains(&number) {
        return Ok(Some(number));
    }
    let message = format!("The number is not within {} and {}.", range.start(), range.end());
    Err(Failure::at(field, "outOfRange", message))
}

/// Refuses a tenant that is not the caller's own organisation.
fn own_tenant(field: &str, tenant: Option<&String>) -> Result<(), Failure> {
    match tenant {
        Some(other) if !other.is_empty() && other != TENANT => {
            let message = format!("The tenant here is `{TENANT}`: the organisation is that of the token.");
            Err(Failure::at(field, "notAllowed", message))
        }
        Some(_) | None => Ok(()),
    }
}
