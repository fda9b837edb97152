//! Organisations, and the audit trail.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_api::wire::literal::OrStored;
use heddle_identity::ports::{AuditEvent, AuditFilter};
use heddle_identity::records::Organization;
use heddle_identity::{CreateOrganization, PatchOrganization};
use heddle_kernel::Stored;
use heddle_usecase::ActorKind;

use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, Response};

/// GET /api/organizations
pub(crate) async fn list(call: Call<ops::ListOrganizations>) -> HandlerResult {
    let page = page(call.query.limit, call.query.cursor);
    let found = call.app.identity.organizations(&call.authorized, &call.context, &page).await?;
    Response::list(found, page.limit, |found| organization(&found))
}

/// POST /api/organizations
pub(crate) async fn create(call: Call<ops::CreateOrganization>) -> HandlerResult {
    let new =
        CreateOrganization { slug: call.body.slug.clone(), display_name: call.body.display_name.clone() };
    let answer = |made: &Organization| {
        let location = format!("/api/organizations/{}", made.id);
        Ok(Response::data(201, organization(made))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &Organization| call.journal(&made.id.to_string(), || answer(made));
    let made = call.app.identity.create_organization(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/organizations/{organizationId}
pub(crate) async fn get(call: Call<ops::GetOrganization>) -> HandlerResult {
    let found = call.app.identity.organization(&call.authorized, &call.context).await?;
    Ok(Response::data(200, organization(&found))?.tagged(found.revision))
}

/// PATCH /api/organizations/{organizationId}
pub(crate) async fn patch(call: Call<ops::UpdateOrganization>) -> HandlerResult {
    let body = &call.body;
    let patch = PatchOrganization {
        slug: body.slug.clone(),
        display_name: body.display_name.clone(),
        revision: call.seen(body.revision)?,
    };
    let answer = |made: &Organization| Ok(Response::data(200, organization(made))?.tagged(made.revision));
    let record = |made: &Organization| call.journal(&made.id.to_string(), || answer(made));
    let made = call.app.identity.update_organization(&call.authorized, &call.context, patch, &record).await?;
    answer(&made)
}

/// DELETE /api/organizations/{organizationId}
pub(crate) async fn delete(call: Call<ops::DeleteOrganization>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app
        .identity
        .delete_organization(&call.authorized, &call.context, call.meta.if_match, &journal)
        .await?;
    Ok(Response::none())
}

/// An organisation.
pub(super) fn organization(organization: &Organization) -> wire::directory::Organization {
    wire::directory::Organization {
        id: organization.id.to_string(),
        slug: organization.slug.clone(),
        display_name: organization.display_name.clone(),
        revision: organization.revision.0,
        created_at: organization.created_at,
        updated_at: organization.updated_at,
    }
}

/// GET /api/audit-events
pub(crate) async fn audit_events(call: Call<ops::ListAuditEvents>) -> HandlerResult {
    // What was refused a moment ago is on its way; the reader of the trail shall see it.
    call.app.denials.flush().await;
    let query = call.query;
    let page = page(query.limit, query.cursor);
    // `type` or `type/id`.
    let (resource_type, resource_id) = match query.resource {
        Some(text) => match text.split_once('/') {
            Some((kind, id)) => (Some(kind.to_owned()), Some(id.to_owned())),
            None => (Some(text), None),
        },
        None => (None, None),
    };
    let filter = AuditFilter {
        action: query.action,
        actor: query.actor,
        resource_type,
        resource_id,
        outcome: None,
        from: query.from,
        to: query.to,
    };
    let found = call.app.identity.audit_events(&call.authorized, &call.context, &filter, &page).await?;
    if !call.meta.wants_lines {
        return Response::list(found, page.limit, audit_event);
    }
    let mut lines = Vec::new();
    for event in found.items {
        let fault = |error: serde_json::Error| Failure::internal(error.to_string());
        serde_json::to_writer(&mut lines, &audit_event(event)).map_err(fault)?;
        lines.push(b'\n');
    }
    let content = Content::Bytes(lines.into(), "application/x-ndjson".to_owned());
    let answer = Response { status: 200, headers: Vec::new(), content };
    // The lines have no place for the cursor.
    Ok(match found.next {
        Some(cursor) => answer.with("x-next-cursor", cursor.as_str()),
        None => answer,
    })
}

fn audit_event(event: AuditEvent) -> wire::audit::AuditEvent {
    let nobody = matches!(event.actor_kind, Stored::Known(ActorKind::System | ActorKind::Anonymous));
    wire::audit::AuditEvent {
        id: event.id.to_string(),
        organization_id: event.tenant.map(|tenant| tenant.to_string()),
        at: event.at,
        actor: wire::audit::AuditActor {
            kind: OrStored::of(event.actor_kind, |kind| match kind {
                ActorKind::User | ActorKind::ApiToken => wire::audit::AuditActorKind::User,
                ActorKind::Anonymous => wire::audit::AuditActorKind::Anonymous,
                ActorKind::System => wire::audit::AuditActorKind::System,
            }),
            user_id: event.actor_id.filter(|_| !nobody),
            session_id: None,
            token_id: None,
        },
        action: event.action,
        resource_type: Some(event.resource_type),
        resource_id: event.resource_id,
        outcome: OrStored::of(event.outcome, |outcome| match outcome {
            heddle_usecase::Outcome::Succeeded => wire::audit::AuditOutcome::Success,
            heddle_usecase::Outcome::Denied => wire::audit::AuditOutcome::Denied,
            heddle_usecase::Outcome::Failed => wire::audit::AuditOutcome::Failure,
        }),
        reason: event.details.get("reason").and_then(|reason| reason.as_str()).map(str::to_owned),
        request_id: Some(event.request_id),
        details: event.details,
    }
}
