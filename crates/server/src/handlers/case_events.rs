//! Events from outside, and signals.

use heddle_api::operations::{Operation, ops};
use heddle_api::wire;
use heddle_faces::literals::case_event_state;
use heddle_kernel::DefinitionKind;
use heddle_workflows::records::{InboxEvent, Refusal};
use heddle_workflows::runs::{CaseEvent, SignalCall};
use serde_json::json;

use crate::audit::About;
use crate::call::Call;
use crate::reply::{HandlerResult, Response};

/// POST /api/case-events
pub(crate) async fn submit(mut call: Call<ops::SubmitCaseEvent>) -> HandlerResult {
    let body = &call.body;
    let sent = CaseEvent {
        correlation_key: body.correlation_key.clone(),
        event_type: body.event_type.clone(),
        idempotency_key: body.idempotency_key.clone(),
        payload: body.payload.clone(),
    };
    let answer = |event: &InboxEvent| {
        let data = wire::case_events::CaseEventResult {
            case_ids: event.case_ids.iter().map(ToString::to_string).collect(),
            workflow_run_ids: event.run_ids.iter().map(ToString::to_string).collect(),
            event: event_record(event),
        };
        Ok(Response::data(202, data)?.with("location", format!("/api/case-events/{}", event.id)))
    };
    let record = |event: &InboxEvent| {
        let details = json!({ "eventType": event.event_type });
        call.journal_with(About::none().and("case-event", event.id), details, || answer(event))
    };
    let received = call.app.runs.receive(&call.authorized, &call.context, sent, &record).await?;
    if !received.replayed {
        return answer(&received.event);
    }
    let again = answer(&received.event.as_first_told())?;
    let key = call.body.idempotency_key.clone();
    repeated(&mut call, &key, again).await
}

/// GET /api/case-events/{eventId}
pub(crate) async fn get(call: Call<ops::GetCaseEvent>) -> HandlerResult {
    let event = call.app.runs.event(&call.authorized, &call.context, call.path.event_id).await?;
    let data = wire::case_events::CaseEventStatus {
        state: case_event_state(event.state),
        case_ids: event.case_ids.iter().map(ToString::to_string).collect(),
        workflow_run_ids: event.run_ids.iter().map(ToString::to_string).collect(),
        refused: event.refused.iter().map(refusal).collect(),
        event: event_record(&event),
    };
    Response::data(200, data)
}

/// POST /api/signals
pub(crate) async fn signal(mut call: Call<ops::SendSignal>) -> HandlerResult {
    let key = call.body.idempotency_key.clone();
    let body = &call.body;
    let sent = SignalCall {
        name: body.name.clone(),
        idempotency_key: Some(body.idempotency_key.clone()),
        payload: body.payload.clone(),
    };
    let name = body.name.clone();
    let answer = |event: &InboxEvent| {
        let data = wire::case_events::SignalResult {
            case_ids: event.case_ids.iter().map(ToString::to_string).collect(),
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
    let record = |event: &InboxEvent| {
        let details = json!({ "name": call.body.name });
        call.journal_with(About::none().and("signal", event.id), details, || answer(event))
    };
    let received = call.app.runs.signal(&call.authorized, &call.context, sent, &record).await?;
    let answered = answer(&received.event)?;
    if !received.replayed {
        return Ok(answered);
    }
    repeated(&mut call, &key, answered).await
}

fn refusal(one: &Refusal) -> wire::case_events::CaseEventRefusal {
    let id_of = |kind: DefinitionKind| (one.kind == kind).then(|| one.run.to_string());
    wire::case_events::CaseEventRefusal {
        case_id: id_of(DefinitionKind::Case),
        workflow_run_id: id_of(DefinitionKind::Workflow),
        message: one.message.clone(),
    }
}

/// The answer to a repeat: the first one. The event itself keeps it; under the key of the body an earlier program kept it
/// apart, and only a call's own `Idempotency-Key` still does.
async fn repeated<O: Operation>(call: &mut Call<O>, key: &str, again: Response) -> HandlerResult {
    call.keep_by(key)?;
    Ok(call.first_answer().await?.unwrap_or_else(|| again.with("idempotent-replayed", "true")))
}

fn event_record(event: &InboxEvent) -> wire::case_events::CaseEventRecord {
    wire::case_events::CaseEventRecord {
        id: event.id.to_string(),
        organization_id: event.tenant.to_string(),
        correlation_key: event.correlation_key.clone().unwrap_or_default(),
        event_type: event.event_type.clone(),
        idempotency_key: event.shown_key().to_owned(),
        payload: event.payload.clone(),
        received_at: event.received_at,
        received_by: event.received_by.map(|user| user.to_string()),
        // Of several cases that took it the first, as the ids are sorted.
        consumed_by_case_id: event.case_ids.first().map(ToString::to_string),
    }
}
