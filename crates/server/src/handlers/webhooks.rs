//! Webhooks: wire types to domain types and back, around the use cases.

use std::str::FromStr;
use std::sync::LazyLock;

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_api::wire::runs::RunEventType;
use heddle_connections::ports::WebhookFilter;
use heddle_connections::records::{Delivery, TestResult, Webhook};
use heddle_connections::{NewWebhook, UpdatedWebhook, WebhookPatch};
use heddle_faces::literals::pause_reason;
use heddle_kernel::{ConnectionId, Patch, WorkflowId};
use serde_json::json;

use super::connections::tested;
use super::id_of;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

static EVENT_TYPES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| RunEventType::ALL.iter().map(|one| one.as_str()).collect());

/// Types of the events that webhooks can send: those of runs.
pub(crate) fn event_types() -> &'static [&'static str] {
    &EVENT_TYPES
}

/// GET /api/webhooks
pub(crate) async fn list(call: Call<ops::ListWebhooks>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = WebhookFilter {
        q: query.q,
        connection: id_of(query.connection_id.as_deref(), "connectionId")?,
        paused: query.paused,
    };
    let found = call.app.webhooks.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |webhook| shown(&webhook))
}

/// POST /api/webhooks
pub(crate) async fn create(call: Call<ops::CreateWebhook>) -> HandlerResult {
    let body = &call.body;
    let new = NewWebhook {
        name: body.name.clone(),
        connection_id: connection_of(&body.connection_id)?,
        event_types: body.event_types.clone(),
        workflows: match &body.workflows {
            Patch::Value(ids) => Some(workflows_of(ids)?),
            Patch::Absent | Patch::Null => None,
        },
        paused: body.paused.unwrap_or(false),
    };
    let answer = |made: &Webhook| {
        let location = format!("/api/webhooks/{}", made.id);
        Ok(Response::data(201, shown(made))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &Webhook| {
        let details = json!({ "eventTypes": made.event_types, "workflows": ids_of(made) });
        call.journal_with(&made.id.to_string(), details, || answer(made))
    };
    let made = call.app.webhooks.create(&call.authorized, &call.context, new, &record).await?;
    call.app.webhook_changed(made.tenant, made.id).await;
    answer(&made)
}

/// GET /api/webhooks/{webhookId}
pub(crate) async fn get(call: Call<ops::GetWebhook>) -> HandlerResult {
    let found = call.app.webhooks.get(&call.authorized, &call.context).await?;
    Ok(Response::data(200, shown(&found))?.tagged(found.revision))
}

/// PATCH /api/webhooks/{webhookId}
pub(crate) async fn patch(call: Call<ops::UpdateWebhook>) -> HandlerResult {
    let body = &call.body;
    let patch = WebhookPatch {
        name: body.name.clone(),
        connection_id: body.connection_id.as_deref().map(connection_of).transpose()?,
        event_types: body.event_types.clone(),
        workflows: match &body.workflows {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Value(ids) => Patch::Value(workflows_of(ids)?),
        },
        paused: body.paused,
        revision: call.seen(body.revision)?,
    };
    let answer =
        |made: &UpdatedWebhook| Ok(Response::data(200, shown(&made.webhook))?.tagged(made.webhook.revision));
    let record = |made: &UpdatedWebhook| {
        let details = json!({ "set": made.changed, "paused": made.webhook.paused.is_some(),
            "eventTypes": made.webhook.event_types, "workflows": ids_of(&made.webhook) });
        call.journal_with(&made.webhook.id.to_string(), details, || answer(made))
    };
    let made = call.app.webhooks.update(&call.authorized, &call.context, patch, &record).await?;
    call.app.webhook_changed(made.webhook.tenant, made.webhook.id).await;
    answer(&made)
}

/// DELETE /api/webhooks/{webhookId}
pub(crate) async fn delete(call: Call<ops::DeleteWebhook>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    call.app.webhooks.delete(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    call.app.webhook_changed(call.context.tenant(), call.authorized.id()).await;
    Ok(Response::none())
}

/// POST /api/webhooks/{webhookId}/test
pub(crate) async fn test(call: Call<ops::TestWebhook>) -> HandlerResult {
    let id = call.authorized.id().to_string();
    let answer = |result: &TestResult| Response::data(200, tested(result));
    let record = |result: &TestResult| {
        let details = json!({ "ok": result.ok, "phase": result.phase.as_str() });
        call.journal_with(&id, details, || answer(result))
    };
    let result = call.app.webhooks.test(&call.authorized, &call.context, &record).await?;
    answer(&result)
}

fn id<T: FromStr>(text: &str, field: &str) -> Result<T, Failure> {
    text.parse().map_err(|_no_id| Failure::at(field, "wrongType", "An id is needed."))
}

fn connection_of(text: &str) -> Result<ConnectionId, Failure> {
    id(text, "connectionId")
}

fn workflows_of(texts: &[String]) -> Result<Vec<WorkflowId>, Failure> {
    texts.iter().enumerate().map(|(at, text)| id(text, &format!("workflows[{at}]"))).collect()
}

fn ids_of(webhook: &Webhook) -> Option<Vec<String>> {
    webhook.workflows.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect())
}

fn shown(webhook: &Webhook) -> wire::webhooks::Webhook {
    wire::webhooks::Webhook {
        id: webhook.id.to_string(),
        name: webhook.name.clone(),
        connection_id: webhook.connection_id.to_string(),
        event_types: webhook.event_types.clone(),
        workflows: ids_of(webhook),
        paused: webhook.paused.is_some(),
        pause_reason: webhook.paused.map(pause_reason),
        last_delivery: webhook.last_delivery.as_ref().map(delivered),
        revision: webhook.revision.0,
        created_at: webhook.created_at,
        created_by: webhook.created_by.to_string(),
        updated_at: webhook.updated_at,
        updated_by: webhook.updated_by.to_string(),
    }
}

fn delivered(delivery: &Delivery) -> wire::webhooks::WebhookDelivery {
    wire::webhooks::WebhookDelivery {
        message_id: delivery.message_id.clone(),
        event_type: delivery.event_type.clone(),
        attempts: delivery.attempts,
        ok: delivery.ok,
        status: delivery.status,
        message: delivery.message.clone(),
        at: delivery.at,
    }
}
