//! Deliveries of webhooks: the runner's ports over where webhooks are kept and what speaks to their receivers.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_connections::Opening;
use heddle_connections::ports::WebhookStore;
use heddle_connections::records::{Delivery, EVERY_EVENT, PauseReason, Subscription};
use heddle_kernel::{EventId, IdSource as _, TenantId, Timestamp, WebhookId};
use heddle_outbound::{Message, Outbound};
use heddle_runtime::{
    RandomIds, Runner, RunnerOptions, RunnerPorts, Sent, WebhookChanges, WebhookDelivery, WebhookDirectory,
    WebhookExecutor, WebhookMessage, WebhookSender, WebhookSource, WebhookState,
};
use heddle_usecase::{Actor, AuditEntry, Journal, Outcome, StoreError, UseCaseError};
use heddle_workflows::ports::EventSubscriber;
use serde_json::json;
use uuid::Uuid;

/// Length of the lease of an errand.
const LEASE: Duration = Duration::from_secs(60);

/// Receivers of events, as the runner needs them.
pub struct Receivers {
    /// Which there are.
    pub source: Arc<dyn WebhookSource>,
    /// Sender of messages to them.
    pub sender: Arc<dyn WebhookSender>,
}

impl std::fmt::Debug for Receivers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receivers").finish_non_exhaustive()
    }
}

impl Receivers {
    /// Over where webhooks are kept, and what speaks to their receivers.
    pub fn new(webhooks: Arc<dyn WebhookStore>, opening: Opening, outbound: Outbound) -> Self {
        Self {
            source: Arc::new(KeptWebhooks(webhooks)),
            sender: Arc::new(SignedMessages { opening, outbound }),
        }
    }
}

/// The runner, and what tells it of changes.
pub struct Deliveries {
    /// The runner of errands.
    pub runner: Arc<Runner>,
    /// Receiver of changes of webhooks.
    pub changes: WebhookChanges,
}

impl std::fmt::Debug for Deliveries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deliveries").finish_non_exhaustive()
    }
}

impl Deliveries {
    /// The runner of a node with the executor of webhooks' deliveries.
    pub fn new(
        directory: Arc<WebhookDirectory>,
        receivers: Receivers,
        mut ports: RunnerPorts,
        node: Uuid,
        poll: Duration,
    ) -> Self {
        let Receivers { source, sender } = receivers;
        let executor = WebhookExecutor::new(Arc::clone(&directory), source, sender, ports.clock.clone());
        ports.executors.push(Arc::new(executor));
        let runner = Arc::new(Runner::new(ports, node, RunnerOptions { poll, lease: LEASE }));
        Self { changes: WebhookChanges::new(directory, Arc::clone(&runner)), runner }
    }
}

/// Webhooks as they are kept.
struct KeptWebhooks(Arc<dyn WebhookStore>);

fn state_of(subscription: Subscription) -> WebhookState {
    let all = subscription.event_types.iter().any(|one| one == EVERY_EVENT);
    WebhookState {
        subscriber: EventSubscriber {
            id: subscription.id.0,
            target: subscription.connection_id.to_string(),
            types: (!all).then_some(subscription.event_types),
            workflows: subscription.workflows,
        },
        is_paused: subscription.paused,
    }
}

#[async_trait]
impl WebhookSource for KeptWebhooks {
    async fn webhooks(&self, tenant: TenantId) -> Result<Vec<WebhookState>, StoreError> {
        Ok(self.0.subscriptions(tenant).await?.into_iter().map(state_of).collect())
    }

    async fn webhook(&self, tenant: TenantId, webhook: Uuid) -> Result<Option<WebhookState>, StoreError> {
        match self.0.get(tenant, WebhookId(webhook)).await {
            Ok(webhook) => Ok(Some(state_of(Subscription::from(&webhook)))),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn delivered(
        &self,
        tenant: TenantId,
        webhook: Uuid,
        delivery: &WebhookDelivery,
    ) -> Result<(), StoreError> {
        let delivery = Delivery {
            message_id: delivery.message_id.clone(),
            event_type: delivery.event_type.clone(),
            at: delivery.at,
            ok: delivery.ok,
            status: delivery.status,
            attempts: delivery.attempts,
            message: delivery.message.clone(),
        };
        self.0.delivered(tenant, WebhookId(webhook), &delivery).await
    }

    async fn pause(&self, tenant: TenantId, webhook: Uuid, at: Timestamp) -> Result<(), StoreError> {
        let id = WebhookId(webhook);
        let journal = paused_by_itself(tenant, id, at);
        self.0.pause(tenant, id, PauseReason::ReceiverGone, at, &journal).await.map(drop)
    }
}

/// Journal of a pause that nobody asked for.
fn paused_by_itself(tenant: TenantId, id: WebhookId, at: Timestamp) -> Journal {
    let event = RandomIds.next(at);
    let audit = AuditEntry {
        id: EventId(event),
        tenant: Some(tenant),
        at,
        actor: Actor::system("system"),
        action: "webhook.updated".to_owned(),
        resource_type: "webhook".to_owned(),
        resource_id: Some(id.to_string()),
        target: None,
        outcome: Outcome::Succeeded,
        request_id: event.to_string(),
        client_ip: None,
        details: json!({ "set": ["paused"], "paused": true, "reason": PauseReason::ReceiverGone.as_str() }),
    };
    Journal { audit: Some(audit), ..Journal::default() }
}

/// Sends messages over connections.
struct SignedMessages {
    opening: Opening,
    outbound: Outbound,
}

#[async_trait]
impl WebhookSender for SignedMessages {
    async fn send(&self, message: &WebhookMessage) -> Sent {
        let unsent = |message: String| Sent {
            ok: false,
            is_gone: false,
            is_held: false,
            status: None,
            after: None,
            message,
        };
        let Ok(id) = message.connection.parse() else {
            return unsent("The webhook names no connection.".to_owned());
        };
        let connection = match self.opening.open(message.tenant, id).await {
            Ok(connection) => connection,
            Err(UseCaseError::NotFound) => return unsent("The connection is gone.".to_owned()),
            Err(error @ UseCaseError::Conflict(_)) => {
                tracing::warn!(connection = %id, error = error.in_words(), "a webhook's connection does not open");
                return unsent("The connection does not open: send its secrets again.".to_owned());
            }
            // The rest is the database's or ours, and nothing that who owns the webhook could mend.
            Err(error) => {
                tracing::warn!(connection = %id, error = error.in_words(), "a webhook's connection is not known now");
                return Sent { is_held: true, ..unsent("The connection is not known now.".to_owned()) };
            }
        };
        let body = message.body.clone().into_bytes();
        let one = Message { id: message.id.clone(), at: message.at, body };
        let told = self.outbound.deliver(&connection, &one).await;
        Sent {
            ok: told.ok,
            is_gone: told.is_gone,
            is_held: false,
            status: told.status,
            after: told.retry_after_seconds.map(Duration::from_secs),
            message: told.message,
        }
    }
}
