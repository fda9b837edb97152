//! Runs.

use std::time::Duration;

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_faces::literals::run_state_of;
use heddle_faces::run_view::{self, Extent};
use heddle_usecase::UseCaseError;
use heddle_workflows::ports::{RunFilter, RunSort};
use heddle_workflows::records::Run;
use heddle_workflows::runs::{Cancellation, Decision, DecisionKind, EventFilter, StartRun};
use serde_json::{Value, json};

use super::id_of;
use crate::app::App;
use crate::audit::About;
use crate::call::{Call, FirstAnswer, page};
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
    Response::list(found, page.limit, |view| run_view::run(&view, Extent::Row))
}

/// GET /api/runs
pub(crate) async fn list_all(call: Call<ops::ListAllRuns>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let started_by = match query.started_by.as_deref() {
        Some("me") => Some(call.context.user_id()),
        id => id_of(id, "startedBy")?,
    };
    let filter = RunFilter {
        workflow: id_of(query.workflow_id.as_deref(), "workflowId")?,
        state: query.state.map(run_state_of),
        has_incident: query.has_incident,
        business_key: query.business_key,
        correlation_key: query.correlation_key,
        node_id: query.node_id,
        started_by,
        from: query.from,
        to: query.to,
        waiting_before: query.waiting_before,
        sort: match query.sort {
            None | Some(wire::runs::AllRunsSort::Newest) => RunSort::Newest,
            Some(wire::runs::AllRunsSort::Incidents) => RunSort::Incidents,
        },
        ..RunFilter::default()
    };
    let found = call.app.runs.list_all(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |listed| {
        run_view::bare(&listed.run, listed.graph.as_deref(), Extent::Row)
    })
}

/// POST /api/workflows/{workflowId}/runs
pub(crate) async fn start(call: Call<ops::StartRun>) -> HandlerResult {
    let body = &call.body;
    let waits_for_end = matches!(body.wait, Some(wire::runs::WaitFor::Completion));
    if body.timeout_ms.is_some() && !waits_for_end {
        let message = "Only a call with `wait` `completion` waits, and takes its longest time.";
        return Err(Failure::at("timeoutMs", "notAllowed", message));
    }
    let request = StartRun {
        input: body.input.clone().unwrap_or_default(),
        version: body.version,
        process_id: body.process_id.clone(),
        business_key: body.business_key.clone(),
        correlation_key: body.correlation_key.clone(),
        start_node_id: body.start_node_id.clone(),
        ..StartRun::default()
    };
    if let Some(first) = call.meta.first.clone() {
        return started_before(&call, first).await;
    }
    let workflow = call.authorized.id().to_string();
    let record = |run: &Run| {
        let about = About::from(&workflow).and("run", run.id).with(json!({ "version": run.version }));
        call.journal(about, || started(&call.app, run))
    };
    let run = call.app.runs.start(&call.authorized, &call.context, request, &record).await?;
    if !waits_for_end || run.state.is_terminal() {
        return started(&call.app, &run);
    }
    started(&call.app, &ended(&call.app, run, patience(&call.body)).await?)
}

/// The longest wait for the end of a run.
fn patience(body: &wire::runs::StartRun) -> Duration {
    Duration::from_millis(u64::from(body.timeout_ms.unwrap_or(10_000)))
}

/// The repeat of a start: the first answer, or, for a call that waits, the same run when it has ended.
async fn started_before(call: &Call<ops::StartRun>, first: FirstAnswer) -> HandlerResult {
    let id =
        first.location.as_deref().and_then(|path| path.rsplit('/').next()).and_then(|id| id.parse().ok());
    let (Some(wire::runs::WaitFor::Completion), Some(id)) = (&call.body.wait, id) else {
        return Ok(first.again());
    };
    match call.app.runs.started(&call.authorized, id).await {
        Ok(run) => {
            let run = ended(&call.app, run, patience(&call.body)).await?;
            Ok(started(&call.app, &run)?.with("idempotent-replayed", "true"))
        }
        // A run that was purged since is still the one that the first call started.
        Err(UseCaseError::NotFound) => Ok(first.again()),
        Err(error) => Err(error.into()),
    }
}

/// The run when it has ended, or as it is when the time is over.
pub(super) async fn ended(app: &App, run: Run, limit: Duration) -> Result<Run, Failure> {
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
    Ok(Response::data(201, run_view::bare(run, app.runs.model_now(run).as_deref(), Extent::Whole))?
        .with("location", location)
        .tagged(run.revision))
}

/// GET /api/workflows/{workflowId}/runs/{runId}
pub(crate) async fn get(call: Call<ops::GetRun>) -> HandlerResult {
    let view = call.app.runs.get(&call.authorized).await?;
    let include = call.query.include.unwrap_or_default();
    let extent = match include.contains(&wire::runs::RunInclude::Variables) {
        true => Extent::Variables,
        false => Extent::Whole,
    };
    let mut shown = run_view::run(&view, extent);
    if include.contains(&wire::runs::RunInclude::Children) {
        let called = call.app.runs.called(&call.authorized).await?;
        let called = call.app.runs.readable(call.context.snapshot(), called).await?;
        shown.children = Some(called.into_iter().map(run_view::child).collect());
    }
    Ok(Response::data(200, shown)?.tagged(view.run.revision))
}

/// DELETE /api/workflows/{workflowId}/runs/{runId}
pub(crate) async fn cancel(call: Call<ops::CancelRun>) -> HandlerResult {
    let compensate = call.query.compensate == Some(true);
    if compensate && call.query.purge == Some(true) {
        let message = "A run that is removed has ended: nothing of it can be compensated.";
        return Err(Failure::at("compensate", "notSupported", message));
    }
    let id = call.authorized.id().to_string();
    let reason = call.query.reason.clone();
    if call.query.purge == Some(true) {
        let details = match &reason {
            Some(reason) => json!({ "reason": reason }),
            None => json!({}),
        };
        let mut journal = call.audited(About::from(&id).with(details));
        if let Some(audit) = &mut journal.audit {
            audit.action = "workflow.run_deleted".to_owned();
        }
        call.app.runs.purge(&call.authorized, call.meta.if_match, &journal).await?;
        return Ok(Response::none());
    }
    let details = if compensate {
        json!({ "reason": reason, "compensate": true })
    } else {
        json!({ "reason": reason })
    };
    let record = |_: &Run| call.journal_with(&id, details.clone(), || Ok(Response::none()));
    let seen = call.meta.if_match;
    let cancellation = Cancellation { reason, compensate };
    match call.app.runs.cancel(&call.authorized, &call.context, seen, cancellation, &record).await {
        Ok(_) => Ok(Response::none()),
        // What was purged has ended before.
        Err(UseCaseError::NotFound) if call.app.runs.was_purged(&call.authorized).await? => {
            Ok(Response::none())
        }
        Err(error) => Err(error.into()),
    }
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
    let given = [
        ("nodeId", &body.node_id),
        ("nodeInstanceId", &body.node_instance_id),
        ("incidentId", &body.incident_id),
        ("target", &body.target),
        ("feedback", &body.feedback),
    ];
    let given =
        given.into_iter().filter_map(|(member, text)| Some((member.to_owned(), json!(text.as_ref()?))));
    let decision_word = ("decision".to_owned(), json!(body.decision));
    let details = Value::Object(std::iter::once(decision_word).chain(given).collect());
    let record = |run: &Run| call.journal_with(&id, details.clone(), || decided(&call.app, run));
    let run = call.app.runs.decide(&call.authorized, &call.context, decision, &record).await?;
    decided(&call.app, &run)
}

fn decided(app: &App, run: &Run) -> HandlerResult {
    Ok(Response::data(200, run_view::bare(run, app.runs.model_now(run).as_deref(), Extent::Whole))?
        .tagged(run.revision))
}

/// GET /api/workflows/{workflowId}/runs/{runId}/events
pub(crate) async fn events(call: Call<ops::ListRunEvents>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = EventFilter {
        after: query.after.and_then(|after| u64::try_from(after).ok()).unwrap_or(0),
        types: query.types.into_iter().flatten().map(|one| one.as_str().to_owned()).collect(),
        node_id: query.node_id,
    };
    let found = call.app.runs.events(&call.authorized, &filter, &page).await?;
    Response::list(found, page.limit, |event| event.json)
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
