//! The audit trail.

use heddle_kernel::Timestamp;
use serde_json::Value;

use super::envelope::{AnyJson, Instant};
use super::literal::OrStored;

words! {
    /// How it went.
    enum AuditOutcome {
        /// It was done.
        Success = "success",
        /// It was not allowed.
        Denied = "denied",
        /// It failed.
        Failure = "failure",
    }

    /// The kind of actor.
    enum AuditActorKind {
        /// A user.
        User = "user",
        /// Somebody who is not signed in.
        Anonymous = "anonymous",
        /// The service itself.
        System = "system",
    }
}

/// The kind of actor, as it is stored.
pub type StoredActorKind = OrStored<AuditActorKind>;
/// How it went, as it is stored.
pub type StoredOutcome = OrStored<AuditOutcome>;

response! {
    /// Who acted.
    struct AuditActor {
        /// The kind.
        kind: StoredActorKind,
        /// The user.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        user_id: Option<String>,
        /// The session.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        session_id: Option<String>,
        /// The API token.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        token_id: Option<String>,
    }

    /// A record of the audit trail.
    struct AuditEvent {
        /// Stable identifier.
        id: String,
        /// The organisation; null for the installation's own.
        #[schema(required = true)]
        organization_id: Option<String>,
        /// When.
        #[schema(value_type = Instant)]
        at: Timestamp,
        /// Who.
        actor: AuditActor,
        /// What, such as `workflow.created`.
        action: String,
        /// The kind of thing.
        #[schema(required = true)]
        resource_type: Option<String>,
        /// Which one.
        #[schema(required = true)]
        resource_id: Option<String>,
        /// How it went.
        outcome: StoredOutcome,
        /// Why not.
        #[schema(required = true)]
        reason: Option<String>,
        /// The request.
        #[schema(required = true)]
        request_id: Option<String>,
        /// More about it, by action.
        #[schema(value_type = AnyJson)]
        details: Value,
    }
}

request! {
    /// Which audit events; newest first.
    struct AuditListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those of this action.
        #[schema(min_length = 1, max_length = 200)]
        action: Option<String>,
        /// Only those of this user.
        #[schema(min_length = 1, max_length = 200)]
        actor: Option<String>,
        /// Only those about this resource: its id, or `type/id`.
        #[schema(min_length = 1, max_length = 200)]
        resource: Option<String>,
        /// Only those at or after this instant.
        #[schema(value_type = Option<Instant>)]
        from: Option<Timestamp>,
        /// Only those before this instant.
        #[schema(value_type = Option<Instant>)]
        to: Option<Timestamp>,
    }
}
