//! Runs, human tasks, case events and signals.

use std::time::Duration;

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_kernel::{Patch, TaskId};
use heddle_workflows::ports::{RunFilter, TaskFilter};
use heddle_workflows::records::{HumanTask, InboxEvent, Run};
use heddle_workflows::runs::{
    Assignment, CaseEvent, Completion, Decision, DecisionKind, EventFilter, MyTasks, SignalCall, StartRun,
};
use serde_json::{Value, json};

use super::literals::{case_event_state, run_state_of, task_state_of};
use super::run_view;
use crate::app::App;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/workflows/{workflowId}/runs
pub(crate) async fn list(call: Call<ops::ListRuns>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let waiting = query.waiting_longer_than.map(wire::duration::Duration::millis);
    let filter = RunFilter {
        state: query.state.map(run_state_of),
        has_incident: query.has_incident,
        version: query.version,
        node_id: query.node_id,
        correlation_key: query.correlation_key,
        waiting_before: waiting.map(|millis| call.context.now().plus_millis(-millis)),
        ..RunFilter::default()
    };
    let found = call.app.runs.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |view| run_view::run(&view, false))
}

/// POST /api/workflows/{workflowId}/runs
pub(crate) async fn start(call: Call<ops::StartRun>) -> HandlerResult {
    let body = &call.body;
    let request = StartRun {
        input: body.input.clone().unwrap_or_default(),
        version: body.version,
        process_id: body.process_id.clone(),
        business_key: body.business_key.clone(),
        correlation_key: body.correlation_key.clone(),
        start_node_id: body.start_node_id.clone(),
    };
    let record = |run: &Run| call.journal(&run.id.to_string(), || started(&call.app, run));
    let run = call.app.runs.start(&call.authorized, &call.context, request, &record).await?;
    let waits = matches!(call.body.wait, Some(wire::runs::WaitFor::Completion)) && !run.state.is_terminal();
    if !waits {
        return started(&call.app, &run);
    }
    let limit = Duration::from_millis(u64::from(call.body.timeout_ms.unwrap_or(10_000)));
    started(&call.app, &ended(&call.app, run, limit).await?)
}

/// The run when it has ended, or as it is when the time is over.
async fn ended(app: &App, run: Run, limit: Duration) -> Result<Run, Failure> {
    let mut watch = app.hub.watch(run.id);
    let mut stop = app.stop.clone();
    let over = tokio::time::sleep(limit);
    tokio::pin!(over);
    let mut last = run;
    loop {
        last = app.runs.reload(&last).await?;
        if last.state.is_terminal() {
            return Ok(last);
        }
        tokio::select! {
            () = &mut over => return Ok(last),
            _ = stop.wait_for(|stopped| *stopped) => return Ok(last),
            () = watch.changed() => {}
            // Another node may move the run; nobody tells this one.
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
        }
    }
}

fn started(app: &App, run: &Run) -> HandlerResult {
    let location = format!("/api/workflows/{}/runs/{}", run.workflow, run.id);
    Ok(Response::data(201, run_view::bare(run, app.runs.model_now(run).as_deref(), false))?
        .with("location", location)
        .tagged(run.revision))
}

/// GET /api/workflows/{workflowId}/runs/{runId}
pub(crate) async fn get(call: Call<ops::GetRun>) -> HandlerResult {
    let view = call.app.runs.get(&call.authorized).await?;
    let include = call.query.include.unwrap_or_default();
    let mut shown = run_view::run(&view, include.contains(&wire::runs::RunInclude::Variables));
    if include.contains(&wire::runs::RunInclude::Children) {
        // No element that is executed starts a run of its own under another one.
        shown.children = Some(Vec::new());
    }
    Ok(Response::data(200, shown)?.tagged(view.run.revision))
}

/// DELETE /api/workflows/{workflowId}/runs/{runId}
pub(crate) async fn cancel(call: Call<ops::CancelRun>) -> HandlerResult {
    let id = call.authorized.id().to_string();
    if call.query.purge == Some(true) {
        let mut journal = call.audited(&id);
        if let Some(audit) = &mut journal.audit {
            audit.action = "workflow.run_deleted".to_owned();
        }
        call.app.runs.purge(&call.authorized, &journal).await?;
        return Ok(Response::none());
    }
    let reason = call.query.reason.clone();
    let details = json!({ "reason": reason });
    let record = |_: &Run| call.journal_with(&id, details.clone(), || Ok(Response::none()));
    call.app.runs.cancel(&call.authorized, &call.context, reason, &record).await?;
    Ok(Response::none())
}

/// POST /api/workflows/{workflowId}/runs/{runId}/decision
pub(crate) async fn decide(call: Call<ops::DecideRun>) -> HandlerResult {
    let body = &call.body;
    let decision = Decision {
        kind: decision_of(body.decision),
        node_id: body.node_id.clone(),
        node_instance_id: body.node_instance_id.clone(),
        incident_id: body.incident_id.clone(),
        feedback: body.feedback.clone(),
        variables: body.variables.clone().unwrap_or_default(),
        target: body.target.clone(),
    };
    let id = call.authorized.id().to_string();
    let details = json!({ "decision": body.decision, "nodeId": body.node_id });
    let record = |run: &Run| call.journal_with(&id, details.clone(), || decided(&call.app, run));
    let run = call.app.runs.decide(&call.authorized, &call.context, decision, &record).await?;
    decided(&call.app, &run)
}

fn decided(app: &App, run: &Run) -> HandlerResult {
    Ok(Response::data(200, run_view::bare(run, app.runs.model_now(run).as_deref(), false))?
        .tagged(run.revision))
}

/// GET /api/workflows/{workflowId}/runs/{runId}/events
pub(crate) async fn events(call: Call<ops::ListRunEvents>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = EventFilter {
        after: query.after.and_then(|after| u64::try_from(after).ok()).unwrap_or(0),
        types: query.types.unwrap_or_default(),
        node_id: query.node_id,
    };
    let found = call.app.runs.events(&call.authorized, &filter, &page).await?;
    Response::list(found, page.limit, |event: Value| event)
}

/// POST /api/workflows/{workflowId}/runs/{runId}/human-tasks/{nodeId}/complete
pub(crate) async fn complete(call: Call<ops::CompleteHumanTask>) -> HandlerResult {
    let body = &call.body;
    let task = match body.task_id.as_deref().map(str::parse::<TaskId>) {
        None => None,
        Some(Ok(task)) => Some(task),
        Some(Err(_)) => return Err(Failure::at("taskId", "wrongType", "The id of a task is needed.")),
    };
    let completion = Completion {
        outcome: body.outcome.clone(),
        values: body.values.clone().unwrap_or_default(),
        comment: body.comment.clone(),
        task,
    };
    let (id, node) = (call.authorized.id().to_string(), call.path.node_id.as_str());
    let details = json!({ "nodeId": node, "outcome": body.outcome });
    let record = |(task, run): &(HumanTask, Run)| {
        call.journal_with(&id, details.clone(), || completed(&call.app, task, run))
    };
    let (task, run) =
        call.app.runs.complete(&call.authorized, &call.context, node, completion, &record).await?;
    completed(&call.app, &task, &run)
}

fn completed(app: &App, task: &HumanTask, run: &Run) -> HandlerResult {
    let data = wire::tasks::CompletedTask {
        task: run_view::task(task),
        run: run_view::bare(run, app.runs.model_now(run).as_deref(), false),
    };
    Ok(Response::data(200, data)?.tagged(run.revision))
}

/// GET /api/human-tasks
pub(crate) async fn tasks(call: Call<ops::ListHumanTasks>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let whose = match (query.assignee.as_deref(), query.candidate.as_deref()) {
        (Some(_), Some(_)) => {
            return Err(Failure::at(
                "candidate",
                "contradiction",
                "Either `assignee` or `candidate`, not both.",
            ));
        }
        (Some("me"), None) => MyTasks::Assigned,
        (Some(name), None) => MyTasks::Of(name.to_owned()),
        (None, Some("me")) => MyTasks::Candidate,
        (None, Some(_)) => {
            return Err(Failure::at(
                "candidate",
                "notAllowed",
                "`me` is the candidate that can be asked for.",
            ));
        }
        (None, None) => MyTasks::All,
    };
    let filter = TaskFilter {
        state: query.state.map(task_state_of),
        due_before: query.due,
        workflow: id_of(query.workflow_id.as_deref(), "workflowId")?,
        run: id_of(query.run_id.as_deref(), "runId")?,
        ..TaskFilter::default()
    };
    let found = call.app.runs.tasks(&call.authorized, &call.context, whose, filter, &page).await?;
    Response::list(found, page.limit, |task| run_view::task(&task))
}

/// POST /api/human-tasks/{taskId}/assign
pub(crate) async fn assign(call: Call<ops::AssignHumanTask>) -> HandlerResult {
    let assignment = match &call.body.assignee {
        Patch::Null => Assignment::Release,
        Patch::Value(name) if name == "me" => Assignment::Claim,
        Patch::Value(name) => Assignment::To(name.clone()),
        Patch::Absent => return Err(Failure::at("assignee", "required", "`me`, a name, or null is needed.")),
    };
    let details = json!({ "assignee": match &call.body.assignee { Patch::Value(name) => Some(name), Patch::Null | Patch::Absent => None } });
    let answer = |task: &HumanTask| Response::data(200, run_view::task(task));
    let record = |task: &HumanTask| call.journal_with(&task.id.to_string(), details.clone(), || answer(task));
    let task =
        call.app.runs.assign(&call.authorized, &call.context, call.path.task_id, assignment, &record).await?;
    answer(&task)
}

/// POST /api/case-events
pub(crate) async fn case_event(call: Call<ops::SubmitCaseEvent>) -> HandlerResult {
    let body = &call.body;
    let sent = CaseEvent {
        correlation_key: body.correlation_key.clone(),
        event_type: body.event_type.clone(),
        idempotency_key: body.idempotency_key.clone(),
        payload: body.payload.clone(),
    };
    let answer = |event: &InboxEvent| {
        let data = wire::case_events::CaseEventResult {
            case_ids: Vec::new(),
            workflow_run_ids: event.run_ids.iter().map(ToString::to_string).collect(),
            event: event_record(event),
        };
        Response::data(202, data)
    };
    let record = |event: &InboxEvent| call.journal(&event.id.to_string(), || answer(event));
    let received = call.app.runs.receive(&call.authorized, &call.context, sent, &record).await?;
    let answered =
        answer(&received.event)?.with("location", format!("/api/case-events/{}", received.event.id));
    Ok(if received.replayed { answered.with("idempotent-replayed", "true") } else { answered })
}

/// GET /api/case-events/{eventId}
pub(crate) async fn case_event_status(call: Call<ops::GetCaseEvent>) -> HandlerResult {
    let event = call.app.runs.event(&call.authorized, &call.context, call.path.event_id).await?;
    let data = wire::case_events::CaseEventStatus {
        state: case_event_state(event.state),
        case_ids: Vec::new(),
        workflow_run_ids: event.run_ids.iter().map(ToString::to_string).collect(),
        event: event_record(&event),
    };
    Response::data(200, data)
}

/// POST /api/signals
pub(crate) async fn signal(call: Call<ops::SendSignal>) -> HandlerResult {
    let body = &call.body;
    let sent = SignalCall {
        name: body.name.clone(),
        idempotency_key: Some(body.idempotency_key.clone()),
        payload: body.payload.clone(),
    };
    let (name, key) = (body.name.clone(), body.idempotency_key.clone());
    let answer = |event: &InboxEvent| {
        let data = wire::case_events::SignalResult {
            case_ids: Vec::new(),
            workflow_run_ids: event.run_ids.iter().map(ToString::to_string).collect(),
            signal: wire::case_events::SignalRecord {
                id: event.id.to_string(),
                organization_id: event.tenant.to_string(),
                name: name.clone(),
                idempotency_key: key.clone(),
                payload: event.payload.clone(),
                received_at: event.received_at,
                received_by: event.received_by.map(|user| user.to_string()),
            },
        };
        Response::data(202, data)
    };
    let record = |event: &InboxEvent| call.journal(&event.id.to_string(), || answer(event));
    let received = call.app.runs.signal(&call.authorized, &call.context, sent, &record).await?;
    let answered = answer(&received.event)?;
    Ok(if received.replayed { answered.with("idempotent-replayed", "true") } else { answered })
}

fn event_record(event: &InboxEvent) -> wire::case_events::CaseEventRecord {
    wire::case_events::CaseEventRecord {
        id: event.id.to_string(),
        organization_id: event.tenant.to_string(),
        correlation_key: event.correlation_key.clone().unwrap_or_default(),
        event_type: event.event_type.clone(),
        idempotency_key: event.idempotency_key.clone(),
        payload: event.payload.clone(),
        received_at: event.received_at,
        received_by: event.received_by.map(|user| user.to_string()),
        consumed_by_case_id: None,
    }
}

fn id_of<T: std::str::FromStr>(text: Option<&str>, field: &str) -> Result<Option<T>, Failure> {
    match text.map(str::parse) {
        None => Ok(None),
        Some(Ok(id)) => Ok(Some(id)),
        Some(Err(_)) => Err(Failure::at(field, "wrongType", "An id is needed.")),
    }
}

const fn decision_of(word: wire::runs::Decision) -> DecisionKind {
    match word {
        wire::runs::Decision::Approve => DecisionKind::Approve,
        wire::runs::Decision::Reject => DecisionKind::Reject,
        wire::runs::Decision::Revise => DecisionKind::Revise,
        wire::runs::Decision::Retry => DecisionKind::Retry,
        wire::runs::Decision::Skip => DecisionKind::Skip,
        wire::runs::Decision::Continue => DecisionKind::Continue,
        wire::runs::Decision::Resume => DecisionKind::Resume,
        wire::runs::Decision::Suspend => DecisionKind::Suspend,
        wire::runs::Decision::Move => DecisionKind::Move,
    }
}
