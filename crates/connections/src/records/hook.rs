//! Hooks as they are kept: what becomes of a call, how it is signed, and how many may come.

use heddle_kernel::{HookId, Revision, TenantId, Timestamp, UserId, literals};
use serde::{Deserialize, Serialize};

use super::SecretState;

literals! {
    /// Manner in which a sender signs its calls.
    pub enum SignatureScheme {
        /// Standard Webhooks 1.0.0: the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.
        StandardWebhooks = "standardWebhooks",
        /// GitHub: the header `X-Hub-Signature-256`, HMAC-SHA256 of the body in hex.
        Github = "github",
        /// Stripe: the header `Stripe-Signature`, HMAC-SHA256 of `timestamp.body` in hex.
        Stripe = "stripe",
    }
}

/// Expressions (FEEL) by which a call becomes a case event. Each sees `body`, `headers` (names in small letters) and `query`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookMapping {
    /// Correlation key of the event: a text or a number.
    pub correlation_key: String,
    /// Idempotency key of the event: a text or a number. Absent is the sender's own id of the message, where its signature
    /// is over that, or else a digest of the body.
    pub idempotency_key: Option<String>,
    /// Payload of the event; absent is the body.
    pub payload: Option<String>,
    /// Condition on which the call becomes an event; absent is always.
    pub when: Option<String>,
}

/// Signature that calls must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookSignature {
    /// Manner of the signature.
    pub scheme: SignatureScheme,
    /// Seconds by which the time of a signature may differ from now, where the signature has one.
    pub tolerance_seconds: u32,
    /// The secret.
    pub secret: SecretState,
    /// The secret of before, while its sender changes to the new one.
    pub previous_secret: Option<SecretState>,
}

/// A hook: an address at which calls of a service outside are taken in and become case events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the hook.
    pub id: HookId,
    /// Name, unique in the organisation.
    pub name: String,
    /// Digest (SHA-256) of the token in its address.
    pub token_sha256: String,
    /// Type of the events that its calls become.
    pub event_type: String,
    /// Settings that are kept as one document.
    pub settings: HookSettings,
    /// Grows with each change.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// The user who created it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// The user who changed it last.
    pub updated_by: UserId,
}

/// Settings of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookSettings {
    /// Expressions by which a call becomes an event.
    pub mapping: HookMapping,
    /// Signature that calls must have; none takes every call that knows the address.
    pub signature: Option<HookSignature>,
    /// Calls a second.
    pub requests_per_second: u32,
    /// The most bytes of a body.
    pub max_bytes: u32,
    /// Whoever took the hook over from its maker; none where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<UserId>,
}

impl Hook {
    /// The user in whose name its events are taken in, and with whose rights.
    #[must_use]
    pub fn owner(&self) -> UserId {
        self.settings.owner.unwrap_or(self.created_by)
    }
}
