//! Hooks: addresses at which calls of services outside become case events.

use heddle_kernel::{HookId, Patch, Timestamp};
use serde::Deserialize;

use super::connections::{SecretState, SecretText};
use super::envelope::{AnyJson, Instant};
use crate::contract::{MediaType, RequestBody, json_bodies, path_params};
use crate::decode::Problems;

words! {
    /// Manner in which a sender signs its calls.
    enum SignatureScheme {
        /// Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
        StandardWebhooks = "standardWebhooks",
        /// GitHub: `X-Hub-Signature-256`.
        Github = "github",
        /// Stripe: `Stripe-Signature`.
        Stripe = "stripe",
    }

    /// Outcome of a call at a hook.
    enum HookOutcome {
        /// The call became a case event.
        Accepted = "accepted",
        /// The hook's condition does not hold for it.
        Ignored = "ignored",
    }
}

path_params! {
    /// Path of a hook.
    HookPath { hook_id "hookId": HookId }
    /// Address of a hook.
    HookAddress { token "token": String }
}

response! {
    /// Signature that the calls of a hook must have; its secrets are never shown.
    struct HookSignature {
        /// Manner of the signature.
        scheme: SignatureScheme,
        /// Seconds by which the time of a signature may differ from now.
        #[schema(minimum = 1)]
        tolerance_seconds: u32,
        /// Description of the secret.
        secret: SecretState,
        /// Description of the secret of before.
        previous_secret: SecretState,
    }

    /// A hook: an address at which calls of a service outside become case events.
    struct Hook {
        /// Stable identifier.
        id: String,
        /// Unique name within the organisation.
        name: String,
        /// Type of the events that its calls become.
        event_type: String,
        /// FEEL expression for the correlation key, over `body`, `headers` and `query`.
        correlation_key: String,
        /// FEEL expression for the idempotency key; null is the sender's own id of the message.
        #[schema(required = true)]
        idempotency_key: Option<String>,
        /// FEEL expression for the payload; null is the body.
        #[schema(required = true)]
        payload: Option<String>,
        /// FEEL condition on which a call becomes an event; null is always.
        #[schema(required = true)]
        when: Option<String>,
        /// Signature that calls must have; null takes every call that knows the address.
        #[schema(required = true)]
        signature: Option<HookSignature>,
        /// Calls a second.
        #[schema(minimum = 1)]
        requests_per_second: u32,
        /// The most bytes of a body.
        #[schema(minimum = 1)]
        max_bytes: u32,
        /// The token in its address; shown once, when the hook is made.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        token: Option<String>,
        /// Path of its address; shown once, when the hook is made.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        path: Option<String>,
        /// User in whose name its events are taken in, with the rights that they have then.
        owner: String,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who created it.
        created_by: String,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
        /// User who last changed it.
        updated_by: String,
    }

    /// Receipt of a call at a hook: what became of it.
    struct HookReceipt {
        /// Outcome of the call.
        state: HookOutcome,
        /// The case event; null for a call that is ignored.
        #[schema(required = true)]
        event_id: Option<String>,
    }
}

request! {
    /// Signature that the calls of a hook must have.
    struct SetHookSignature {
        /// Manner of the signature.
        scheme: SignatureScheme,
        /// Seconds by which the time of a signature may differ from now; 300 when absent.
        #[schema(nullable = false, minimum = 1, maximum = 3600)]
        tolerance_seconds: Option<u32>,
        /// The secret: `whsec_` and base64 for Standard Webhooks, any text for the others. Absent keeps the one that is there.
        #[schema(value_type = String, nullable = false, required = false, min_length = 1, max_length = 8192)]
        secret: Option<SecretText>,
        /// The secret of before, while the sender changes to the new one; null takes it away.
        #[serde(default)]
        #[schema(value_type = Option<String>, required = false, min_length = 1, max_length = 8192)]
        previous_secret: Patch<SecretText>,
    }

    /// A new hook.
    #[schema(examples(json!({"name": "payments", "eventType": "payment.received",
        "correlationKey": "body.data.object.metadata.order",
        "signature": {"scheme": "stripe", "secret": "whsec_from_the_dashboard"}})))]
    struct CreateHook {
        /// Unique name within the organisation.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
        /// Type of the events that its calls become.
        #[schema(min_length = 1, max_length = 200)]
        event_type: String,
        /// FEEL expression for the correlation key, over `body`, `headers` (names in small letters) and `query`.
        #[schema(min_length = 1, max_length = 4000)]
        correlation_key: String,
        /// FEEL expression for the idempotency key; the sender's own id of the message when absent or null.
        #[schema(min_length = 1, max_length = 4000)]
        idempotency_key: Option<String>,
        /// FEEL expression for the payload; the body when absent or null.
        #[schema(min_length = 1, max_length = 4000)]
        payload: Option<String>,
        /// FEEL condition on which a call becomes an event; always when absent or null.
        #[schema(min_length = 1, max_length = 4000)]
        when: Option<String>,
        /// Signature that calls must have; none when absent or null.
        signature: Option<SetHookSignature>,
        /// Calls a second; 50 when absent.
        #[schema(nullable = false, minimum = 1, maximum = 10000)]
        requests_per_second: Option<u32>,
        /// The most bytes of a body; 262,144 when absent.
        #[schema(nullable = false, minimum = 1, maximum = 1048576)]
        max_bytes: Option<u32>,
    }

    /// Changes of a hook; absent members stay.
    #[schema(examples(json!({"requestsPerSecond": 10})))]
    struct PatchHook {
        /// Unique name within the organisation.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        name: Option<String>,
        /// Type of the events that its calls become.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        event_type: Option<String>,
        /// FEEL expression for the correlation key.
        #[schema(nullable = false, min_length = 1, max_length = 4000)]
        correlation_key: Option<String>,
        /// FEEL expression for the idempotency key; null is the sender's own id of the message.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 4000)]
        idempotency_key: Patch<String>,
        /// FEEL expression for the payload; null is the body.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 4000)]
        payload: Patch<String>,
        /// FEEL condition on which a call becomes an event; null is always.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 4000)]
        when: Patch<String>,
        /// Signature that calls must have; null takes every call that knows the address.
        #[serde(default)]
        #[schema(value_type = Option<SetHookSignature>)]
        signature: Patch<SetHookSignature>,
        /// Calls a second.
        #[schema(nullable = false, minimum = 1, maximum = 10000)]
        requests_per_second: Option<u32>,
        /// The most bytes of a body.
        #[schema(nullable = false, minimum = 1, maximum = 1048576)]
        max_bytes: Option<u32>,
        /// User in whose name its events are taken in from now on: the caller, who takes the hook over.
        #[schema(nullable = false)]
        owner: Option<String>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }
}

json_bodies!(CreateHook, PatchHook);

/// The body of a call at a hook, byte for byte as it was sent: its signature is over these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookBody(pub Vec<u8>);

/// JSON form of the body of a call at a hook: any value.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct AnyHookBody(pub serde_json::Value);

impl utoipa::PartialSchema for AnyHookBody {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        AnyJson::with_example(serde_json::json!({ "order": "o-17", "paid": 12.5 }))
    }
}

impl utoipa::ToSchema for AnyHookBody {}

impl RequestBody for HookBody {
    type Json = AnyHookBody;

    fn read(_: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        Ok(Self(bytes.to_vec()))
    }
}

/// Query of a call at a hook: any parameters, which the hook's expressions see.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
pub struct HookQuery {}
