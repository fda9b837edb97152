//! Webhooks: events of runs that subscribers outside are told of, by the runner of errands. Which there are, where their
//! state is kept and how a message is sent and signed comes through ports.

mod changes;
mod delivery;
mod directory;

pub use changes::WebhookChanges;
pub use delivery::WebhookExecutor;
pub use directory::WebhookDirectory;

use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::{TenantId, Timestamp};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{ErrandKind, Lane};
use heddle_workflows::ports::EventSubscriber;
use uuid::Uuid;

/// A webhook as deliveries must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookState {
    /// Events that it wants; its target is its connection.
    pub subscriber: EventSubscriber,
    /// Whether its events wait.
    pub is_paused: bool,
}

/// A try of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// Id of the message: the same for every try.
    pub message_id: String,
    /// Type of the event.
    pub event_type: String,
    /// Instant of the try.
    pub at: Timestamp,
    /// Whether the receiver took it.
    pub ok: bool,
    /// Status that the receiver answered with, if it answered.
    pub status: Option<u16>,
    /// Tries of this message so far, at least 1.
    pub attempts: u32,
    /// A sentence for people, without a secret and without what the receiver answered.
    pub message: String,
}

/// Webhooks as they are kept.
#[async_trait]
pub trait WebhookSource: Send + Sync {
    /// Those of an organisation, paused ones too.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn webhooks(&self, tenant: TenantId) -> Result<Vec<WebhookState>, StoreError>;

    /// One of them; none when it is not there.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn webhook(&self, tenant: TenantId, webhook: Uuid) -> Result<Option<WebhookState>, StoreError>;

    /// Notes how the last try of a webhook ended.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn delivered(
        &self,
        tenant: TenantId,
        webhook: Uuid,
        delivery: &WebhookDelivery,
    ) -> Result<(), StoreError>;

    /// Pauses a webhook whose receiver says that it is gone.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn pause(&self, tenant: TenantId, webhook: Uuid, at: Timestamp) -> Result<(), StoreError>;
}

/// A message to a webhook's receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookMessage {
    /// The organisation.
    pub tenant: TenantId,
    /// Connection over which it is sent.
    pub connection: String,
    /// Id of the message: the same for every try.
    pub id: String,
    /// Instant of the try, which is signed.
    pub at: Timestamp,
    /// The body, JSON.
    pub body: String,
}

/// Outcome of sending a message once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Whether the receiver took it.
    pub ok: bool,
    /// Whether the receiver wants no more.
    pub is_gone: bool,
    /// Whether nothing was sent for a reason on our side that passes: the try counts for nothing.
    pub is_held: bool,
    /// Status that the receiver answered with, if it answered.
    pub status: Option<u16>,
    /// The least time before the next try that the receiver asked for.
    pub after: Option<Duration>,
    /// A sentence for people, without a secret and without what the receiver answered.
    pub message: String,
}

/// Sends messages, signed.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Sends a message over its connection.
    async fn send(&self, message: &WebhookMessage) -> Sent;
}

/// Lane of a webhook's deliveries.
fn lane_of(tenant: TenantId, webhook: Uuid) -> Lane {
    // The id of a lane in order does not depend on its target.
    let line = Some(webhook.to_string());
    Lane { tenant, kind: ErrandKind::Webhook, target: String::new(), line }
}
