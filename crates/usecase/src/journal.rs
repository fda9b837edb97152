//! The journal: what is written with a change, in its own transaction.

use heddle_kernel::{EventId, TenantId, Timestamp, literals};
use heddle_policy::{Principal, SessionKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

literals! {
    /// Kind of an actor.
    pub enum ActorKind {
        /// A user in a session.
        User = "user",
        /// A user by an API token.
        ApiToken = "apiToken",
        /// A service account by one of its API tokens.
        Service = "service",
        /// A user in whose name the operator gave a command on the machine itself.
        CommandLine = "commandLine",
        /// The service itself, or its operator.
        System = "system",
        /// Somebody who did not sign in.
        Anonymous = "anonymous",
    }
}

/// Actor: whoever did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// Their kind.
    pub kind: ActorKind,
    /// The user's id, if there is a user.
    pub id: Option<String>,
    /// A name for people.
    pub display: String,
    /// Id of the session or of the API token, as the kind says; none where nobody signed in.
    pub credential: Option<String>,
}

impl Actor {
    /// The actor that a signed-in caller is.
    #[must_use]
    pub fn of(principal: &Principal) -> Self {
        let (kind, credential) = match principal.session {
            SessionKind::Session(id) => (ActorKind::User, Some(id.to_string())),
            SessionKind::ApiToken(id) => (ActorKind::ApiToken, Some(id.to_string())),
            SessionKind::ServiceToken(id) => (ActorKind::Service, Some(id.to_string())),
            SessionKind::CommandLine(_) => (ActorKind::CommandLine, None),
        };
        Self { kind, id: Some(principal.user_id.to_string()), display: principal.display.clone(), credential }
    }

    /// Somebody who did not sign in.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::nobody(ActorKind::Anonymous, "anonymous")
    }

    /// The service itself, under a name for people.
    #[must_use]
    pub fn system(display: &str) -> Self {
        Self::nobody(ActorKind::System, display)
    }

    fn nobody(kind: ActorKind, display: &str) -> Self {
        Self { kind, id: None, display: display.to_owned(), credential: None }
    }
}

literals! {
    /// Outcome of an audited action.
    pub enum Outcome {
        /// Done.
        Succeeded = "succeeded",
        /// Refused.
        Denied = "denied",
        /// Failed.
        Failed = "failed",
    }
}

/// Second thing that an audit event is about: what was made by it, or whom it concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Type of the thing.
    pub kind: String,
    /// Id of the thing.
    pub id: String,
}

/// An audit event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Id of the event.
    pub id: EventId,
    /// The organisation; none for the installation as a whole.
    pub tenant: Option<TenantId>,
    /// Instant of the event.
    pub at: Timestamp,
    /// Actor of the event.
    pub actor: Actor,
    /// Action: `workflow.created`, ...
    pub action: String,
    /// Type of the resource.
    pub resource_type: String,
    /// Id of the resource; none where it is about no single one.
    pub resource_id: Option<String>,
    /// Second thing that it is about.
    pub target: Option<Target>,
    /// Outcome of the action.
    pub outcome: Outcome,
    /// The request that asked for it.
    pub request_id: String,
    /// From where.
    pub client_ip: Option<String>,
    /// Details by action; never a secret.
    pub details: Value,
}

/// The answer that a repeat of a call gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The organisation.
    pub tenant: TenantId,
    /// The operation's id.
    pub operation: String,
    /// Key under which it is kept: a code of the caller and the key that they sent.
    pub key: String,
    /// HMAC-SHA-256 (hex) of the call: caller, path, query and body; of rows of before, SHA-256 without the caller.
    pub body_sha256: String,
    /// The status of the first answer.
    pub status: u16,
    /// Body of the first answer.
    pub body: Vec<u8>,
    /// Entity tag of the first answer.
    pub etag: Option<String>,
    /// Path of what the first answer said was made.
    pub location: Option<String>,
    /// Instant of the first answer.
    pub created_at: Timestamp,
}

/// Rights that a change rests on: the states of roles, grants and memberships that were looked at before it. A change is
/// written only while they are the present ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RightsSeen {
    /// Organisations with the revision of their rights.
    pub of: Vec<(TenantId, i64)>,
    /// Whether these are all organisations that the change may concern.
    pub everywhere: bool,
}

impl RightsSeen {
    /// Revision of an organisation's rights that was looked at, if it was.
    #[must_use]
    pub fn revision(&self, tenant: TenantId) -> Option<i64> {
        self.of.iter().find(|(known, _)| *known == tenant).map(|(_, revision)| *revision)
    }

    /// Whether a change that concerns an organisation rests on rights that were looked at, as far as it rests on any.
    #[must_use]
    pub fn covers(&self, tenant: TenantId) -> bool {
        !self.everywhere || self.revision(tenant).is_some()
    }
}

/// The journal of a change: it is written in the transaction of the change, or not at all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Journal {
    /// The audit event.
    pub audit: Option<AuditEntry>,
    /// The answer for a repeat.
    pub idempotency: Option<IdempotencyRecord>,
    /// The rights that the change rests on.
    pub rights: RightsSeen,
}

/// A builder of the journal of a change; it is called, in the change's use case, with the changed resource.
pub type JournalFor<'a, T> = dyn Fn(&T) -> Journal + Send + Sync + 'a;
