//! Tells those who wait: readers of a run's events, the timer loop, the delivery loop.

use std::collections::HashMap;
use std::sync::Arc;

use heddle_kernel::{RunId, TenantId, Timestamp};
use heddle_workflows::ports::Notifier;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

type Watched = HashMap<RunId, watch::Sender<u64>>;

/// The place where commits are told.
#[derive(Default)]
pub struct EventNotifier {
    runs: Arc<Mutex<Watched>>,
    pub(crate) timers: Notify,
    pub(crate) outbox: Notify,
    pub(crate) kept: Notify,
}

impl std::fmt::Debug for EventNotifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventNotifier").finish_non_exhaustive()
    }
}

/// A reader's view of a run; ends its entry when the last reader goes.
pub struct RunWatch {
    runs: Arc<Mutex<Watched>>,
    run: RunId,
    receiver: watch::Receiver<u64>,
}

impl std::fmt::Debug for RunWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunWatch").finish_non_exhaustive()
    }
}

impl EventNotifier {
    /// Watches a run. Watch first and read then: what is committed in between is told.
    #[must_use]
    pub fn watch(&self, run: RunId) -> RunWatch {
        let receiver = {
            let mut runs = self.runs.lock();
            runs.entry(run).or_insert_with(|| watch::channel(0).0).subscribe()
        };
        RunWatch { runs: Arc::clone(&self.runs), run, receiver }
    }
}

impl RunWatch {
    /// Waits until the run changes after the last call.
    pub async fn changed(&mut self) {
        // The sender lives as long as there is a watch: an error can't come.
        let _ = self.receiver.changed().await;
    }
}

impl Drop for RunWatch {
    fn drop(&mut self) {
        let mut runs = self.runs.lock();
        if runs.get(&self.run).is_some_and(|sender| sender.receiver_count() <= 1) {
            runs.remove(&self.run);
        }
    }
}

impl Notifier for EventNotifier {
    fn run_changed(&self, _tenant: TenantId, run: RunId, last_sequence: u64) {
        if let Some(sender) = self.runs.lock().get(&run) {
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
        hub.run_changed(tenant, other, 1);
        hub.run_changed(tenant, run, 2);
        watch.changed().await;
        drop(second);
        assert_eq!(hub.runs.lock().len(), 1);
        drop(watch);
        assert!(hub.runs.lock().is_empty());
    }
}
