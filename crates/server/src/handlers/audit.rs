//! The audit trail: an organisation's events, and those of none.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_api::wire::literal::OrStored;
use heddle_identity::ports::{AuditEvent, AuditFilter};
use heddle_kernel::{Page, Stored};
use heddle_policy::ResourceType;
use heddle_usecase::{ActorKind, Outcome};

use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, Response};

/// GET /api/audit-events
pub(crate) async fn events(call: Call<ops::ListAuditEvents>) -> HandlerResult {
    // What was refused a moment ago is on its way; the reader of the trail shall see it.
    call.app.denials.flush().await;
    let page = page(call.query.limit, call.query.cursor.clone());
    let filter = filter(call.query);
    let found = call.app.identity.audit_events(&call.authorized, &call.context, &filter, &page).await?;
    shown(found, page.limit, call.meta.wants_lines())
}

/// GET /api/installation/audit-events
pub(crate) async fn installation_events(call: Call<ops::ListInstallationAuditEvents>) -> HandlerResult {
    call.app.denials.flush().await;
    let page = page(call.query.limit, call.query.cursor.clone());
    let filter = filter(call.query);
    let found = call.app.identity.installation_audit_events(&call.authorized, &filter, &page).await?;
    shown(found, page.limit, call.meta.wants_lines())
}

fn filter(query: wire::audit::AuditListQuery) -> AuditFilter {
    // `type/id`, an id, or the word of a type.
    let (resource_type, resource_id) = match query.resource {
        Some(text) => match text.split_once('/') {
            Some((kind, id)) => (Some(kind.to_owned()), Some(id.to_owned())),
            None if ResourceType::parse(&text).is_some() => (Some(text), None),
            None => (None, Some(text)),
        },
        None => (None, None),
    };
    AuditFilter {
        action: query.action,
        actor: query.actor,
        resource_type,
        resource_id,
        outcome: None,
        from: query.from,
        to: query.to,
    }
}

fn shown(found: Page<AuditEvent>, limit: u32, lines: bool) -> HandlerResult {
    if !lines {
        return Response::list(found, limit, event);
    }
    let mut text = Vec::new();
    for one in found.items {
        let fault = |error: serde_json::Error| Failure::internal(error.to_string());
        serde_json::to_writer(&mut text, &event(one)).map_err(fault)?;
        text.push(b'\n');
    }
    let content = Content::Bytes(text.into(), "application/x-ndjson".to_owned());
    let answer = Response { status: 200, headers: Vec::new(), content };
    // The lines have no place for the cursor.
    Ok(match found.next {
        Some(cursor) => answer.with("x-next-cursor", cursor.as_str()),
        None => answer,
    })
}

fn event(event: AuditEvent) -> wire::audit::AuditEvent {
    let nobody = matches!(event.actor_kind, Stored::Known(ActorKind::System | ActorKind::Anonymous));
    let by_token = matches!(event.actor_kind, Stored::Known(ActorKind::ApiToken | ActorKind::Service));
    let (token_id, session_id) = match by_token {
        true => (event.actor_credential, None),
        false => (None, event.actor_credential),
    };
    let target = event.target.map(|target| wire::audit::AuditTarget { kind: target.kind, id: target.id });
    wire::audit::AuditEvent {
        id: event.id.to_string(),
        organization_id: event.tenant.map(|tenant| tenant.to_string()),
        at: event.at,
        actor: wire::audit::AuditActor {
            kind: OrStored::of(event.actor_kind, |kind| match kind {
                ActorKind::User => wire::audit::AuditActorKind::User,
                ActorKind::ApiToken => wire::audit::AuditActorKind::ApiToken,
                ActorKind::Service => wire::audit::AuditActorKind::Service,
                ActorKind::CommandLine => wire::audit::AuditActorKind::CommandLine,
                ActorKind::Anonymous => wire::audit::AuditActorKind::Anonymous,
                ActorKind::System => wire::audit::AuditActorKind::System,
            }),
            user_id: event.actor_id.filter(|_| !nobody),
            display_name: event.actor_display,
            session_id,
            token_id,
        },
        action: event.action,
        resource_type: Some(event.resource_type),
        resource_id: event.resource_id,
        target,
        outcome: OrStored::of(event.outcome, |outcome| match outcome {
            Outcome::Succeeded => wire::audit::AuditOutcome::Success,
            Outcome::Denied => wire::audit::AuditOutcome::Denied,
            Outcome::Failed => wire::audit::AuditOutcome::Failure,
        }),
        reason: event.details.get("reason").and_then(|reason| reason.as_str()).map(str::to_owned),
        request_id: Some(event.request_id),
        ip: event.client_ip,
        details: event.details,
    }
}
