//! Tells those who wait: readers of a run's events or of those of all runs, the timer loop, the delivery loop.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use heddle_kernel::{RunId, TenantId, Timestamp};
use heddle_workflows::ports::Notifier;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

type Watched<K> = Arc<Mutex<HashMap<K, watch::Sender<u64>>>>;

/// The place where commits are told.
#[derive(Default)]
pub struct EventNotifier {
    runs: Watched<RunId>,
    organizations: Watched<TenantId>,
    pub(crate) timers: Notify,
    pub(crate) outbox: Notify,
    pub(crate) kept: Notify,
    pub(crate) errands: Notify,
}

impl std::fmt::Debug for EventNotifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventNotifier").finish_non_exhaustive()
    }
}

/// A reader's view of a run, or of all runs of an organisation; ends its entry when the last reader goes.
pub struct Watch<K: Eq + Hash> {
    watched: Watched<K>,
    key: K,
    receiver: watch::Receiver<u64>,
}

/// A reader's view of a run.
pub type RunWatch = Watch<RunId>;

/// A reader's view of all runs of an organisation.
pub type OrganizationWatch = Watch<TenantId>;

impl<K: Eq + Hash + std::fmt::Debug> std::fmt::Debug for Watch<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("key", &self.key).finish_non_exhaustive()
    }
}

impl EventNotifier {
    /// Watches a run. Watch first and read then: what is committed in between is told.
    #[must_use]
    pub fn watch(&self, run: RunId) -> RunWatch {
        Watch::of(&self.runs, run)
    }

    /// Watches all runs of an organisation, in the same way.
    #[must_use]
    pub fn watch_organization(&self, tenant: TenantId) -> OrganizationWatch {
        Watch::of(&self.organizations, tenant)
    }
}

impl<K: Eq + Hash + Copy> Watch<K> {
    fn of(watched: &Watched<K>, key: K) -> Self {
        let receiver = watched.lock().entry(key).or_insert_with(|| watch::channel(0).0).subscribe();
        Self { watched: Arc::clone(watched), key, receiver }
    }
}

impl<K: Eq + Hash> Watch<K> {
    /// Waits until something changes after the last call.
    pub async fn changed(&mut self) {
        // The sender lives as long as there is a watch: an error can't come.
        let _ = self.receiver.changed().await;
    }
}

impl<K: Eq + Hash> Drop for Watch<K> {
    fn drop(&mut self) {
        let mut watched = self.watched.lock();
        if watched.get(&self.key).is_some_and(|sender| sender.receiver_count() <= 1) {
            watched.remove(&self.key);
        }
    }
}

impl Notifier for EventNotifier {
    fn run_changed(&self, tenant: TenantId, run: RunId, last_sequence: u64) {
        if let Some(sender) = self.runs.lock().get(&run) {
            sender.send_replace(last_sequence);
        }
        if let Some(sender) = self.organizations.lock().get(&tenant) {
            sender.send_replace(last_sequence);
        }
    }

    fn timer_set(&self, _due_at: Timestamp) {
        self.timers.notify_one();
    }

    fn outbox_changed(&self) {
        self.outbox.notify_one();
    }

    fn message_awaited(&self) {
        self.kept.notify_one();
    }

    fn errand_asked(&self) {
        self.errands.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_watch_hears_of_its_run_and_leaves_nothing_behind() {
        let hub = EventNotifier::default();
        let (run, other) = (RunId(uuid::Uuid::from_u128(1)), RunId(uuid::Uuid::from_u128(2)));
        let mut watch = hub.watch(run);
        let second = hub.watch(run);
        let tenant = TenantId(uuid::Uuid::nil());
        let mut all = hub.watch_organization(tenant);
        hub.run_changed(tenant, other, 1);
        all.changed().await;
        hub.run_changed(tenant, run, 2);
        watch.changed().await;
        all.changed().await;
        drop(second);
        assert_eq!(hub.runs.lock().len(), 1);
        drop(watch);
        drop(all);
        assert!(hub.runs.lock().is_empty() && hub.organizations.lock().is_empty());
    }
}
