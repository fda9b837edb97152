//! The ledger: ends of calls go through a bounded queue and are written in batches; what does not fit is written at once,
//! so that none is lost while the process lives.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::ports::UsageStore;
use crate::records::Settlement;

/// Ends of calls that wait at most.
const QUEUE: usize = 4_096;
/// Ends of one batch.
const BATCH: usize = 500;
/// First wait behind a failure.
const WAIT: Duration = Duration::from_millis(100);
/// Longest wait behind a failure.
const LONGEST: Duration = Duration::from_secs(5);
/// Tries of what is written outside of the queue.
const TRIES: u32 = 8;

enum Entry {
    End(Box<Settlement>),
    Flush(oneshot::Sender<()>),
}

/// The ledger: cheap to clone.
#[derive(Clone)]
pub(crate) struct Ledger {
    store: Arc<dyn UsageStore>,
    queue: mpsc::Sender<Entry>,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").finish_non_exhaustive()
    }
}

/// The writer of the ledger: it ends when every sender is gone and all is written.
pub struct LedgerWriter {
    store: Arc<dyn UsageStore>,
    queue: mpsc::Receiver<Entry>,
}

impl std::fmt::Debug for LedgerWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LedgerWriter").finish_non_exhaustive()
    }
}

impl Ledger {
    /// A ledger with its writer, which somebody has to run.
    pub(crate) fn new(store: Arc<dyn UsageStore>) -> (Self, LedgerWriter) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self { store: store.clone(), queue: sender }, LedgerWriter { store, queue: receiver })
    }

    /// Enters an end. Where the queue is full, or its writer is gone, it is written by a task of its own.
    pub(crate) fn enter(&self, end: Settlement) {
        let refused = match self.queue.try_send(Entry::End(Box::new(end))) {
            Ok(()) => return,
            Err(mpsc::error::TrySendError::Full(entry) | mpsc::error::TrySendError::Closed(entry)) => entry,
        };
        let Entry::End(end) = refused else { return };
        let store = self.store.clone();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move { write(&*store, &[*end], TRIES).await });
            }
            Err(_) => {
                tracing::error!(call = %end.usage.id, "the end of a call was not recorded: the process ends")
            }
        }
    }

    /// Writes an end at once, behind nothing.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn write(&self, end: Settlement) -> Result<(), heddle_usecase::StoreError> {
        self.store.settle(&[end]).await
    }

    /// Waits until all that was entered before is written.
    pub(crate) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.queue.send(Entry::Flush(done)).await.is_ok() {
            // An error says that the writer is gone, with all written.
            let _ = written.await;
        }
    }
}

impl LedgerWriter {
    /// Writes what comes, until nobody can send any more.
    pub async fn run(mut self) {
        let mut entries = Vec::with_capacity(BATCH);
        while self.queue.recv_many(&mut entries, BATCH).await > 0 {
            let (mut ends, mut flushed) = (Vec::with_capacity(entries.len()), Vec::new());
            for entry in entries.drain(..) {
                match entry {
                    Entry::End(end) => ends.push(*end),
                    Entry::Flush(done) => flushed.push(done),
                }
            }
            if !ends.is_empty() {
                // What can't be written now is kept and tried again: the queue behind it fills, and is bounded.
                write(&*self.store, &ends, u32::MAX).await;
            }
            for done in flushed {
                // Who waited may be gone.
                let _ = done.send(());
            }
        }
    }
}

/// Writes ends, trying again while the store is not there.
async fn write(store: &dyn UsageStore, ends: &[Settlement], tries: u32) {
    let mut wait = WAIT;
    for number in 1..=tries {
        match store.settle(ends).await {
            Ok(()) => return,
            Err(error) if number == tries => {
                tracing::error!(%error, calls = ends.len(), "the usage of calls was not recorded");
            }
            Err(error) => {
                tracing::warn!(%error, calls = ends.len(), "the usage of calls waits to be recorded");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST);
            }
        }
    }
}
