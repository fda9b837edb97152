//! What is written beside a change, in its own transaction.

use heddle_kernel::{EventId, TenantId, Timestamp};
use serde_json::Value;

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `user`, `apiToken`, `system` or `anonymous`.
    pub kind: &'static str,
    /// The user's id, if there is a user.
    pub id: Option<String>,
    /// A name for people.
    pub display: String,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Succeeded,
    /// It was refused.
    Denied,
    /// It went wrong.
    Failed,
}

impl Outcome {
    /// The word of the API and the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Denied => "denied",
            Self::Failed => "failed",
        }
    }
}

/// An audit event.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// Its id.
    pub id: EventId,
    /// The organisation; none for the installation as a whole.
    pub tenant: Option<TenantId>,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What: `workflow.created`, ...
    pub action: String,
    /// On what kind of thing.
    pub resource_type: String,
    /// On which one.
    pub resource_id: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The request that asked for it.
    pub request_id: String,
    /// From where.
    pub client_ip: Option<String>,
    /// What else there is to say; never a secret.
    pub details: Value,
}

/// The answer that a repeat of a call gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The organisation.
    pub tenant: TenantId,
    /// The operation's id.
    pub operation: String,
    /// The caller's key.
    pub key: String,
    /// SHA-256 (hex) of the call: method, path, and body.
    pub body_sha256: String,
    /// The status of the first answer.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
    /// Its entity tag.
    pub etag: Option<String>,
    /// When.
    pub created_at: Timestamp,
}

/// What goes with a change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Journal {
    /// The audit event.
    pub audit: Option<AuditEntry>,
    /// The answer for a repeat.
    pub idempotency: Option<IdempotencyRecord>,
}
