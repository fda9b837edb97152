//! Refusals go to the audit log, but never hold a caller up and never flood the log: what repeats within a minute is
//! counted ([`crate::refusals`]), and only what is to be written waits here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use heddle_identity::ports::{AuditEvent, AuditFilter, InstallationStore, LimitOutcome, SetUp};
use heddle_identity::records::{InstallationState, Usage};
use heddle_kernel::{Page, PageRequest, Revision, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::{AuditEntry, IdempotencyRecord, Journal, Outcome, StoreError};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::refusals::Refusals;

/// Time in which the same refusals become one event with a count.
const WINDOW: Duration = Duration::from_secs(60);
/// Most times within a window that a reader is told of repeats before it ends.
const TELLINGS: u32 = 10;

enum Message {
    Write(Box<AuditEntry>),
    Flush(oneshot::Sender<()>),
}

#[derive(Default)]
struct Window {
    refusals: Refusals,
    tellings: u32,
}

/// Takes refusals.
#[derive(Clone)]
pub struct Denials {
    window: Arc<Mutex<Window>>,
    // What a window lets through is bounded, so the channel need not be.
    sender: mpsc::UnboundedSender<Message>,
}

impl std::fmt::Debug for Denials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Denials").finish_non_exhaustive()
    }
}

impl Denials {
    /// Starts the writer on the present runtime.
    #[must_use]
    pub fn start(store: Arc<dyn InstallationStore>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let window = Arc::new(Mutex::new(Window::default()));
        tokio::spawn(write(store, receiver, Arc::clone(&window)));
        Self { window, sender }
    }

    /// Hands a refusal over.
    pub fn push(&self, entry: AuditEntry) {
        let first = lock(&self.window).refusals.take(entry);
        self.write(first);
    }

    /// Waits until everything handed over is written, or could not be.
    pub async fn flush(&self) {
        let told = {
            let mut window = lock(&self.window);
            window.tellings += 1;
            // Whoever reads the trail all the time makes it no longer than a window would.
            if window.tellings > TELLINGS { Vec::new() } else { window.refusals.repeats() }
        };
        self.write(told);
        self.written().await;
    }

    /// Writes all that was counted, at the end of the service.
    pub async fn close(&self) {
        let told = lock(&self.window).refusals.close();
        self.write(told);
        self.written().await;
    }

    fn write(&self, entries: impl IntoIterator<Item = AuditEntry>) {
        for entry in entries {
            if self.sender.send(Message::Write(Box::new(entry))).is_err() {
                tracing::warn!("a refusal was not audited: the service stops");
            }
        }
    }

    async fn written(&self) {
        let (done, written) = oneshot::channel();
        if self.sender.send(Message::Flush(done)).is_ok() {
            // The writer is gone: nothing is written any more.
            let _ = written.await;
        }
    }
}

fn lock(window: &Mutex<Window>) -> MutexGuard<'_, Window> {
    window.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write(
    store: Arc<dyn InstallationStore>,
    mut receiver: mpsc::UnboundedReceiver<Message>,
    window: Arc<Mutex<Window>>,
) {
    let mut ends = tokio::time::interval(WINDOW);
    ends.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            message = receiver.recv() => match message {
                Some(Message::Write(entry)) => put(&*store, &entry).await,
                Some(Message::Flush(done)) => {
                    // Whoever waited has gone: nobody is told.
                    let _ = done.send(());
                }
                None => return,
            },
            _ = ends.tick() => {
                let told = {
                    let mut window = lock(&window);
                    window.tellings = 0;
                    window.refusals.close()
                };
                for entry in told {
                    put(&*store, &entry).await;
                }
            }
        }
    }
}

async fn put(store: &dyn InstallationStore, entry: &AuditEntry) {
    if let Err(error) = store.audit(entry).await {
        tracing::warn!(error = %error, action = entry.action, "a refusal was not audited");
    }
}

/// The installation's store, with the refusals of use cases counted like the gate's.
pub(crate) struct CountedRefusals {
    /// The store itself.
    pub store: Arc<dyn InstallationStore>,
    /// Taker of the refusals.
    pub denials: Denials,
}

#[async_trait]
impl InstallationStore for CountedRefusals {
    async fn load(&self) -> Result<Option<InstallationState>, StoreError> {
        self.store.load().await
    }

    async fn insert(&self, state: &InstallationState, journal: &Journal) -> Result<(), StoreError> {
        self.store.insert(state, journal).await
    }

    async fn update(
        &self,
        state: &InstallationState,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        self.store.update(state, expected, journal).await
    }

    async fn set_up(&self, set_up: &SetUp, journal: &Journal) -> Result<(), StoreError> {
        self.store.set_up(set_up, journal).await
    }

    async fn usage(&self) -> Result<Usage, StoreError> {
        self.store.usage().await
    }

    async fn join(&self, node: Uuid, now: Timestamp, limit: Option<u64>) -> Result<LimitOutcome, StoreError> {
        self.store.join(node, now, limit).await
    }

    async fn stay(&self, node: Uuid, now: Timestamp) -> Result<(), StoreError> {
        self.store.stay(node, now).await
    }

    async fn leave(&self, node: Uuid) -> Result<(), StoreError> {
        self.store.leave(node).await
    }

    async fn nodes(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.store.nodes(now).await
    }

    async fn audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        match entry.outcome {
            Outcome::Denied => {
                self.denials.push(entry.clone());
                Ok(())
            }
            Outcome::Succeeded | Outcome::Failed => self.store.audit(entry).await,
        }
    }

    async fn audit_events(
        &self,
        tenant: Option<TenantId>,
        filter: &AuditFilter,
        access: &AccessFilter<resource::AuditEvent>,
        page: &PageRequest,
    ) -> Result<Page<AuditEvent>, StoreError> {
        self.store.audit_events(tenant, filter, access, page).await
    }

    async fn idempotent(
        &self,
        tenant: TenantId,
        operation: &str,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        self.store.idempotent(tenant, operation, keys, now).await
    }
}
