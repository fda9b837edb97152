//! Delivery of events to webhooks: an errand for each event, in order for each webhook.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::{Clock, TenantId};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{Bounds, Errand, ErrandKind, Executor, Lane, Outcome, Settled, Settlement};
use parking_lot::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use super::{WebhookDelivery, WebhookDirectory, WebhookMessage, WebhookSender, WebhookSource, WebhookState};

/// Bounds of deliveries on one node.
const BOUNDS: Bounds = Bounds {
    total: 64,
    organization: 32,
    target: 8,
    ahead: 8,
    time_limit: Duration::from_secs(35),
    backlog: 100_000,
    oldest: Duration::from_hours(7 * 24),
};
/// Time between looks at a paused webhook; going on looks at once.
const PAUSED: Duration = Duration::from_mins(5);
/// Wait for a database that does not answer.
const AWAY: Duration = Duration::from_secs(5);
/// Time between two notes that a webhook's deliveries succeed: no row is written with each of them.
const NOTED: Duration = Duration::from_secs(1);
/// Most webhooks of which it is remembered what was noted.
const REMEMBERED: usize = 10_000;

/// The last note of a webhook.
struct Note {
    ok: bool,
    at: Instant,
}

/// Delivers events to webhooks.
pub struct WebhookExecutor {
    directory: Arc<WebhookDirectory>,
    source: Arc<dyn WebhookSource>,
    sender: Arc<dyn WebhookSender>,
    clock: Arc<dyn Clock>,
    noted: Mutex<HashMap<Uuid, Note>>,
}

impl std::fmt::Debug for WebhookExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookExecutor").finish_non_exhaustive()
    }
}

impl WebhookExecutor {
    /// Executor on its ports.
    #[must_use]
    pub fn new(
        directory: Arc<WebhookDirectory>,
        source: Arc<dyn WebhookSource>,
        sender: Arc<dyn WebhookSender>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { directory, source, sender, clock, noted: Mutex::default() }
    }

    /// A webhook as it is now, whatever is kept.
    async fn present(&self, tenant: TenantId, line: &str) -> Result<Option<WebhookState>, StoreError> {
        let Ok(id) = Uuid::try_parse(line) else { return Ok(None) };
        let present = self.source.webhook(tenant, id).await?;
        if present.as_ref().is_some_and(|webhook| !webhook.is_paused) {
            self.directory.forget(tenant);
        }
        Ok(present)
    }

    /// Sends an event to a webhook that wants it.
    async fn deliver(&self, webhook: &WebhookState, errand: &Errand) -> Outcome {
        let (tenant, id) = (errand.errand.lane.tenant, webhook.subscriber.id);
        let at = self.clock.now();
        let message = WebhookMessage {
            tenant,
            connection: webhook.subscriber.target.clone(),
            id: errand.errand.id.to_string(),
            at,
            body: errand.errand.payload.clone(),
        };
        let sent = self.sender.send(&message).await;
        if sent.is_held {
            // Neither an attempt nor news of the receiver.
            return Outcome::Held { wait: AWAY };
        }
        let outcome = if sent.ok {
            Outcome::Done
        } else if sent.is_gone {
            self.gone(tenant, id, &sent.message).await
        } else {
            Outcome::Failed { message: sent.message.clone(), after: sent.after }
        };
        let delivery = WebhookDelivery {
            message_id: message.id,
            event_type: errand.errand.name.clone(),
            at,
            ok: sent.ok,
            status: sent.status,
            attempts: errand.attempts.saturating_add(1),
            message: sent.message,
        };
        self.note(tenant, id, &delivery).await;
        outcome
    }

    /// Pauses a webhook whose receiver is gone: its events wait until somebody goes on.
    async fn gone(&self, tenant: TenantId, webhook: Uuid, message: &str) -> Outcome {
        match self.source.pause(tenant, webhook, self.clock.now()).await {
            Ok(()) => {
                self.directory.forget(tenant);
                Outcome::Held { wait: PAUSED }
            }
            Err(error) => {
                tracing::warn!(%error, %webhook, "a webhook whose receiver is gone is not paused");
                Outcome::Failed { message: message.to_owned(), after: None }
            }
        }
    }

    /// Notes how a try ended: each that failed or is the first to succeed again, and the others once in a while.
    async fn note(&self, tenant: TenantId, webhook: Uuid, delivery: &WebhookDelivery) {
        {
            let mut noted = self.noted.lock();
            let last = noted.get(&webhook);
            if delivery.ok && last.is_some_and(|last| last.ok && last.at.elapsed() < NOTED) {
                return;
            }
            if noted.len() >= REMEMBERED {
                noted.clear();
            }
            noted.insert(webhook, Note { ok: delivery.ok, at: Instant::now() });
        }
        if let Err(error) = self.source.delivered(tenant, webhook, delivery).await {
            tracing::warn!(%error, %webhook, "the state of a webhook's last delivery is not written");
        }
    }
}

#[async_trait]
impl Executor for WebhookExecutor {
    fn kind(&self) -> ErrandKind {
        ErrandKind::Webhook
    }

    fn bounds(&self) -> Bounds {
        BOUNDS
    }

    async fn run(&self, errand: &Errand) -> Outcome {
        let of = &errand.errand;
        let line = of.lane.line.as_deref().unwrap_or_default();
        let found = |states: &[WebhookState]| {
            states.iter().find(|one| one.subscriber.id.to_string() == line).cloned()
        };
        let is_open = |webhook: &Option<WebhookState>| webhook.as_ref().is_some_and(|one| !one.is_paused);
        let mut known = self.directory.states(of.lane.tenant).await.map(|states| found(&states));
        // What ends or holds a line is not believed of what was read a moment ago: another node may have changed it.
        if !known.as_ref().is_ok_and(is_open) {
            known = self.present(of.lane.tenant, line).await;
        }
        let webhook = match known {
            Ok(Some(webhook)) => webhook,
            Ok(None) => return Outcome::Gone,
            Err(error) => {
                tracing::debug!(%error, "webhooks are not known now");
                return Outcome::Held { wait: AWAY };
            }
        };
        if webhook.is_paused {
            return Outcome::Held { wait: PAUSED };
        }
        // Somebody took the workflow or the type from it while this waited.
        if !webhook.subscriber.still_wants(of) {
            return Outcome::Done;
        }
        self.deliver(&webhook, errand).await
    }

    async fn ended(&self, settled: &Settled) {
        if let Settlement::Aside { message, attempts, .. } = &settled.settlement {
            let of = &settled.errand.errand;
            tracing::warn!(
                organization = %of.lane.tenant, webhook = of.lane.line, event = of.name, attempts, error = message,
                "a webhook's delivery is a dead letter"
            );
        }
    }

    async fn trimmed(&self, lane: &Lane, count: u64) {
        let Some(webhook) = lane.line.as_deref().and_then(|line| Uuid::try_parse(line).ok()) else { return };
        let delivery = WebhookDelivery {
            message_id: String::new(),
            event_type: String::new(),
            at: self.clock.now(),
            ok: false,
            status: None,
            attempts: 1,
            message: format!(
                "{count} events that waited for too long, were too many, or did not read, were dropped."
            ),
        };
        self.note(lane.tenant, webhook, &delivery).await;
    }
}
