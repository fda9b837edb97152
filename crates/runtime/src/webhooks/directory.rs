//! Directory of webhooks: what each commit asks for, kept between commits.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::TenantId;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{EventSubscriber, EventSubscribers};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{WebhookSource, WebhookState};

/// Time for which webhooks are believed to be as they were read: another node may change them. A change by this node
/// holds at once.
const BELIEVED: Duration = Duration::from_secs(1);
/// Most organisations whose webhooks are kept.
const KEPT: usize = 10_000;

/// Webhooks of an organisation as they were read.
#[derive(Clone)]
struct Read {
    at: Instant,
    subscribers: Arc<[EventSubscriber]>,
    states: Arc<[WebhookState]>,
}

/// Webhooks of all organisations.
pub struct WebhookDirectory {
    source: Arc<dyn WebhookSource>,
    kept: Mutex<HashMap<TenantId, Read>>,
    /// Raised by each change: what was read before is not kept.
    generation: AtomicU64,
}

impl std::fmt::Debug for WebhookDirectory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookDirectory").finish_non_exhaustive()
    }
}

impl WebhookDirectory {
    /// Over where they are kept.
    #[must_use]
    pub fn new(source: Arc<dyn WebhookSource>) -> Self {
        Self { source, kept: Mutex::default(), generation: AtomicU64::new(0) }
    }

    /// Forgets those of an organisation, which were changed.
    pub(super) fn forget(&self, tenant: TenantId) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.kept.lock().remove(&tenant);
    }

    /// The webhooks of an organisation.
    pub(super) async fn states(&self, tenant: TenantId) -> Result<Arc<[WebhookState]>, StoreError> {
        Ok(self.read(tenant).await?.states)
    }

    async fn read(&self, tenant: TenantId) -> Result<Read, StoreError> {
        let known = self.kept.lock().get(&tenant).filter(|read| read.at.elapsed() < BELIEVED).cloned();
        if let Some(read) = known {
            return Ok(read);
        }
        let (generation, at) = (self.generation.load(Ordering::SeqCst), Instant::now());
        let states = self.source.webhooks(tenant).await?;
        let subscribers: Arc<[_]> = states.iter().map(|one| one.subscriber.clone()).collect();
        let read = Read { at, subscribers, states: states.into() };
        let mut kept = self.kept.lock();
        if self.generation.load(Ordering::SeqCst) == generation {
            if kept.len() >= KEPT {
                kept.clear();
            }
            kept.insert(tenant, read.clone());
        }
        drop(kept);
        Ok(read)
    }
}

#[async_trait]
impl EventSubscribers for WebhookDirectory {
    async fn of(&self, tenant: TenantId) -> Result<Arc<[EventSubscriber]>, StoreError> {
        Ok(self.read(tenant).await?.subscribers)
    }
}
