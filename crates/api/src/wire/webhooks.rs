//! Webhooks: subscriptions of receivers outside to the events of runs.

use heddle_kernel::{Patch, Timestamp, WebhookId};

use super::envelope::Instant;
use crate::contract::{json_bodies, path_params};

words! {
    /// Reason for which a webhook waits.
    enum PauseReason {
        /// Somebody paused it.
        Caller = "caller",
        /// Answer of its receiver that it is gone (410).
        ReceiverGone = "receiverGone",
    }
}

path_params! {
    /// Path of a webhook.
    WebhookPath { webhook_id "webhookId": WebhookId }
}

response! {
    /// The last delivery of a webhook.
    struct WebhookDelivery {
        /// Id of the message, the same for every try: the header `webhook-id`.
        message_id: String,
        /// Type of the event.
        event_type: String,
        /// Tries of this message so far.
        #[schema(minimum = 1)]
        attempts: u32,
        /// Whether the receiver took it.
        ok: bool,
        /// Status of the receiver's answer; null when there was none.
        #[schema(required = true)]
        status: Option<u16>,
        /// Outcome, in words.
        message: String,
        /// Instant of the attempt.
        #[schema(value_type = Instant)]
        at: Timestamp,
    }

    /// A webhook: a subscription of a receiver to events.
    struct Webhook {
        /// Stable identifier.
        id: String,
        /// Unique name within the organisation.
        name: String,
        /// Connection of type `webhook` that names the receiver.
        connection_id: String,
        /// Types of the events that it gets; `*` is all.
        event_types: Vec<String>,
        /// Ids of the workflows of whose runs it gets events, and of the case types of whose cases; null for all workflows,
        /// and for no case type.
        #[schema(required = true)]
        workflows: Option<Vec<String>>,
        /// Whether it waits: nothing is sent meanwhile.
        paused: bool,
        /// Reason for which it waits; null while it does not.
        #[schema(required = true)]
        pause_reason: Option<PauseReason>,
        /// The last delivery; null when there was none.
        #[schema(required = true)]
        last_delivery: Option<WebhookDelivery>,
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
}

request! {
    /// A new webhook.
    #[schema(examples(json!({"name": "ledger", "connectionId": "018f0000-0000-7000-8000-000000000001",
        "eventTypes": ["run.completed", "run.failed"]})))]
    struct CreateWebhook {
        /// Unique name within the organisation.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
        /// Connection of type `webhook` that names the receiver.
        #[schema(min_length = 1, max_length = 200)]
        connection_id: String,
        /// Types of the events that it gets; `*` is all.
        #[schema(min_items = 1, max_items = 100)]
        event_types: Vec<String>,
        /// Ids of the workflows of whose runs it gets events, and of the case types of whose cases; all workflows, and no case
        /// type, when absent or null.
        #[serde(default)]
        #[schema(value_type = Option<Vec<String>>, required = false, min_items = 1, max_items = 200)]
        workflows: Patch<Vec<String>>,
        /// Whether it waits; it does not when absent.
        #[schema(nullable = false)]
        paused: Option<bool>,
    }

    /// Changes of a webhook; absent members stay.
    #[schema(examples(json!({"paused": true})))]
    struct PatchWebhook {
        /// Unique name within the organisation.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        name: Option<String>,
        /// Connection of type `webhook` that names the receiver.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        connection_id: Option<String>,
        /// Types of the events that it gets, all of them.
        #[schema(nullable = false, min_items = 1, max_items = 100)]
        event_types: Option<Vec<String>>,
        /// Ids of the workflows of whose runs it gets events, and of the case types of whose cases, all of them; null for
        /// every workflow, and for no case type.
        #[serde(default)]
        #[schema(value_type = Option<Vec<String>>, min_items = 1, max_items = 200)]
        workflows: Patch<Vec<String>>,
        /// Whether it waits.
        #[schema(nullable = false)]
        paused: Option<bool>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which webhooks.
    struct WebhookListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that names must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those of this connection.
        #[schema(min_length = 1, max_length = 200)]
        connection_id: Option<String>,
        /// Only those that wait, or only the others.
        paused: Option<bool>,
    }
}

json_bodies!(CreateWebhook, PatchWebhook);
