//! The audit trail.

use heddle_kernel::Timestamp;
use serde_json::Value;

use super::envelope::{AnyJson, Instant};
use super::literal::OrStored;

words! {
    /// Outcome of an audited action.
    enum AuditOutcome {
        /// Done.
        Success = "success",
        /// Refused for want of a sign-in, a right or a licence; nothing was done.
        Denied = "denied",
        /// Failed; nothing was done.
        Failure = "failure",
    }

    /// The kind of actor.
    enum AuditActorKind {
        /// A user in a session.
        User = "user",
        /// A user by an API token.
        ApiToken = "apiToken",
        /// A service account by one of its API tokens.
        Service = "service",
        /// A user in whose name the operator gave a command on the machine itself.
        CommandLine = "commandLine",
        /// Somebody who is not signed in.
        Anonymous = "anonymous",
        /// The service itself.
        System = "system",
    }
}

/// The kind of actor, as it is stored.
pub type StoredActorKind = OrStored<AuditActorKind>;
/// Outcome of an audited action, as it is stored.
pub type StoredOutcome = OrStored<AuditOutcome>;

response! {
    /// Actor of an audited action: a user, somebody who is not signed in, or the service itself.
    struct AuditActor {
        /// The kind.
        kind: StoredActorKind,
        /// The user.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        user_id: Option<String>,
        /// Name of the actor at that time, for people.
        display_name: String,
        /// The session.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        session_id: Option<String>,
        /// The API token.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        token_id: Option<String>,
    }

    /// Second thing that an audited action is about: what was made by it, or whom it concerns.
    struct AuditTarget {
        /// The kind of thing.
        kind: String,
        /// Which one.
        id: String,
    }

    /// A record of the audit trail.
    struct AuditEvent {
        /// Stable identifier.
        id: String,
        /// The organisation; null for the installation's own.
        #[schema(required = true)]
        organization_id: Option<String>,
        /// Instant of the event.
        #[schema(value_type = Instant)]
        at: Timestamp,
        /// Actor of the event.
        actor: AuditActor,
        /// Action, such as `workflow.created`.
        action: String,
        /// The kind of thing.
        #[schema(required = true)]
        resource_type: Option<String>,
        /// Which one.
        #[schema(required = true)]
        resource_id: Option<String>,
        /// Second thing that it is about, such as the run that was started of a workflow; null without one.
        #[schema(required = true)]
        target: Option<AuditTarget>,
        /// Outcome of the action.
        outcome: StoredOutcome,
        /// Reason that was recorded, such as that of a refusal; null without one.
        #[schema(required = true)]
        reason: Option<String>,
        /// The request.
        #[schema(required = true)]
        request_id: Option<String>,
        /// Address of the client; null where nobody called over HTTP.
        #[schema(required = true)]
        ip: Option<String>,
        /// More about it, by action; of a refusal that was repeated, `count` says how often.
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
        /// Only those about this thing, be it the resource or the target: its id, or `type/id`; or those about a type.
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
