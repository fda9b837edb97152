//! Audit events and checkpoints, as callers see them.

use heddle_api::wire;
use heddle_api::wire::literal::OrStored;
use heddle_identity::chain::{Checkpoint, CheckpointKind};
use heddle_identity::ports::AuditEvent;
use heddle_kernel::Stored;
use heddle_usecase::{ActorKind, Outcome, hex};

/// A checkpoint, as callers see it.
pub fn checkpoint(of: &Checkpoint) -> wire::audit::AuditCheckpoint {
    let statement = &of.statement;
    wire::audit::AuditCheckpoint {
        kind: match statement.kind {
            CheckpointKind::Head => wire::audit::AuditCheckpointKind::Head,
            CheckpointKind::Dropped => wire::audit::AuditCheckpointKind::Dropped,
        },
        sequence: statement.sequence,
        hash: statement.hash.to_string(),
        dropped: statement.dropped,
        at: statement.at,
        key_id: of.key_id.clone(),
        statement: of.text(),
        signature: hex(&of.signature),
    }
}

/// An event, as callers see it.
pub fn event(event: AuditEvent) -> wire::audit::AuditEvent {
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
        sequence: event.sequence,
        hash: event.hash,
        unreadable: event.unreadable,
        record: None,
        checkpoints: None,
    }
}
