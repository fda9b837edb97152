//! Settling in groups: while ends of errands are written, others gather, and are written together.

use heddle_kernel::Timestamp;
use heddle_usecase::errand::{ErrandStore, Settled, Written};
use tokio::sync::{Mutex, oneshot};
use uuid::Uuid;

/// An end and the task that waits until it is written.
struct Waiting {
    settled: Settled,
    written: oneshot::Sender<Written>,
}

/// Ends of errands that are to be written.
#[derive(Default)]
pub(super) struct Settling {
    waiting: parking_lot::Mutex<Vec<Waiting>>,
    writing: Mutex<()>,
}

impl Settling {
    /// Writes the end of an errand with those that wait; what was written of it.
    pub(super) async fn settle(
        &self,
        store: &dyn ErrandStore,
        settled: Settled,
        node: Uuid,
        now: Timestamp,
    ) -> Written {
        let (written, answer) = oneshot::channel();
        self.waiting.lock().push(Waiting { settled, written });
        let turn = self.writing.lock().await;
        let batch = std::mem::take(&mut *self.waiting.lock());
        if !batch.is_empty() {
            let (ends, callers): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|one| (one.settled, one.written)).unzip();
            let written = store.settle(&ends, node, now).await.unwrap_or_else(|error| {
                tracing::warn!(%error, count = ends.len(), "ends of errands are not written");
                vec![Written::Lost; ends.len()]
            });
            for (caller, of) in callers.into_iter().zip(written) {
                // A task that went away does not need the answer.
                let _ = caller.send(of);
            }
        }
        drop(turn);
        answer.await.unwrap_or(Written::Lost)
    }
}
