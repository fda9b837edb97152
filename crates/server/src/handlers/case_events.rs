//! Events from outside, and signals.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_workflows::records::InboxEvent;
use heddle_workflows::runs::{CaseEvent, SignalCall};
use serde_json::json;

use super::literals::case_event_state;
use crate::audit::About;
use crate::call::Call;
use crate::reply::{HandlerResult, Response};

/// POST /api/case-events
pub(crate) async fn submit(call: Call<ops::SubmitCaseEvent>) -> HandlerResult {
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
    let record = |event: &InboxEvent| {
        let details = json!({ "eventType": event.event_type });
        call.journal_with(About::none().and("case-event", event.id), details, || answer(event))
    };
    let received = call.app.runs.receive(&call.authorized, &call.context, sent, &record).await?;
    let answered =
        answer(&received.event)?.with("location", format!("/api/case-events/{}", received.event.id));
    Ok(if received.replayed { answered.with("idempotent-replayed", "true") } else { answered })
}

/// GET /api/case-events/{eventId}
pub(crate) async fn get(call: Call<ops::GetCaseEvent>) -> HandlerResult {
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
    let record = |event: &InboxEvent| {
        let details = json!({ "name": call.body.name });
        call.journal_with(About::none().and("signal", event.id), details, || answer(event))
    };
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
        idempotency_key: event.shown_key().to_owned(),
        payload: event.payload.clone(),
        received_at: event.received_at,
        received_by: event.received_by.map(|user| user.to_string()),
        consumed_by_case_id: None,
    }
}
