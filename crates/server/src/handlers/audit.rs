//! The audit trail: an organisation's events, and those of none.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_faces::audit_view::{checkpoint, event};
use heddle_identity::audit_chain::Part;
use heddle_identity::chain::FaultReason;
use heddle_identity::ports::{AuditEvent, AuditFilter};
use heddle_kernel::Page;
use heddle_policy::ResourceType;

use crate::audit_export::{self, Asked, Trail};
use crate::call::{Call, Meta, page};
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, Response};

/// Records that a verification looks at when nothing else is asked for.
const VERIFIED: u32 = 50_000;

/// GET /api/audit-events
pub(crate) async fn events(call: Call<ops::ListAuditEvents>) -> HandlerResult {
    // What was refused a moment ago is on its way; the reader of the trail shall see it.
    call.app.denials.flush().await;
    let trail = Trail::Organization(call.context.tenant());
    if is_export(&call.meta, &call.query) {
        return audit_export::stream(Asked {
            access: call.authorized.filter().clone(),
            app: call.app,
            context: call.context,
            token: call.meta.token,
            trail,
            filter: filter(call.query),
        })
        .await;
    }
    let page = page(call.query.limit, call.query.cursor.clone());
    let filter = filter(call.query);
    let found = call.app.identity.audit_events(&call.authorized, &call.context, &filter, &page).await?;
    shown(found, page.limit, call.meta.wants_lines())
}

/// GET /api/installation/audit-events
pub(crate) async fn installation_events(call: Call<ops::ListInstallationAuditEvents>) -> HandlerResult {
    call.app.denials.flush().await;
    if is_export(&call.meta, &call.query) {
        return audit_export::stream(Asked {
            access: call.authorized.filter().clone(),
            app: call.app,
            context: call.context,
            token: call.meta.token,
            trail: Trail::Installation,
            filter: filter(call.query),
        })
        .await;
    }
    let page = page(call.query.limit, call.query.cursor.clone());
    let filter = filter(call.query);
    let found = call.app.identity.installation_audit_events(&call.authorized, &filter, &page).await?;
    shown(found, page.limit, call.meta.wants_lines())
}

/// Whether all that fits is asked for, line by line, rather than a page of it.
fn is_export(meta: &Meta, query: &wire::audit::AuditListQuery) -> bool {
    meta.wants_lines() && query.limit.is_none() && query.cursor.is_none()
}

/// GET /api/audit-events/verify
pub(crate) async fn verify(call: Call<ops::VerifyAuditEvents>) -> HandlerResult {
    call.app.denials.flush().await;
    let (trail, keeper) = (call.context.tenant(), &call.app.audit);
    // What was done a moment ago is looked at, too.
    keeper.seal_now(trail).await?;
    let part =
        Part { after: call.query.after.unwrap_or(0), most: u64::from(call.query.limit.unwrap_or(VERIFIED)) };
    let found = keeper.chain.verify(trail, part, keeper.anchors.of(trail).as_ref()).await?;
    let may_see_all = call.authorized.filter().is_everything();
    let key = keeper.chain.public_key();
    let first_bad = found.fault.map(|fault| wire::audit::AuditFault {
        sequence: fault.sequence,
        through: fault.through,
        event_id: fault.event.filter(|_| may_see_all).map(|id| id.to_string()),
        reason: reason(fault.reason),
        message: format!("Record {}: {}.", fault.sequence, fault.reason.in_words()),
    });
    Response::data(
        200,
        wire::audit::AuditVerification {
            valid: first_bad.is_none(),
            after: found.after,
            through: found.through,
            checked: found.checked,
            next: found.is_more.then_some(found.through),
            first_bad,
            checkpoint: found.head.as_ref().map(checkpoint),
            dropped: found.dropped.as_ref().map(checkpoint),
            unsealed: found.unsealed,
            key_id: key.id(),
            public_key: key.to_string(),
        },
    )
}

const fn reason(of: FaultReason) -> wire::audit::AuditFaultReason {
    match of {
        FaultReason::Missing => wire::audit::AuditFaultReason::Missing,
        FaultReason::Changed => wire::audit::AuditFaultReason::Changed,
        FaultReason::Unreadable => wire::audit::AuditFaultReason::Unreadable,
        FaultReason::Misplaced => wire::audit::AuditFaultReason::Misplaced,
        FaultReason::Rewritten => wire::audit::AuditFaultReason::Rewritten,
        FaultReason::Forged => wire::audit::AuditFaultReason::Forged,
        FaultReason::Truncated => wire::audit::AuditFaultReason::Truncated,
        FaultReason::Unsigned => wire::audit::AuditFaultReason::Unsigned,
    }
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
