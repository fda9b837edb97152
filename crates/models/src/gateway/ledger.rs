//! The ledger: ends of calls go through a bounded queue and are written in batches; what does not fit is written at once.
//! Each is in the spill before its caller has the end of the answer, so that none is lost with the process either.

use std::sync::Arc;
use std::time::Duration;

use heddle_usecase::{AuditEntry, Journal};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::ports::{Spill, UsageStore};
use crate::records::{Reservation, Settlement, UsageRow};

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
    End(Box<Kept>),
    Flush(oneshot::Sender<()>),
}

/// The end of a call with the part of the spill that keeps it.
struct Kept {
    end: Settlement,
    part: Option<u64>,
}

/// A line of the spill: what is written of an end behind the answer.
#[derive(Serialize, Deserialize)]
struct Line<Row, Held, Told> {
    usage: Row,
    reservation: Option<Held>,
    audit: Option<Told>,
}

/// The ledger: cheap to clone.
#[derive(Clone)]
pub(crate) struct Ledger {
    store: Arc<dyn UsageStore>,
    spill: Arc<dyn Spill>,
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
    spill: Arc<dyn Spill>,
    queue: mpsc::Receiver<Entry>,
}

impl std::fmt::Debug for LedgerWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LedgerWriter").finish_non_exhaustive()
    }
}

impl Ledger {
    /// A ledger with its writer, which somebody has to run.
    pub(crate) fn new(store: Arc<dyn UsageStore>, spill: Arc<dyn Spill>) -> (Self, LedgerWriter) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let writer = LedgerWriter { store: store.clone(), spill: spill.clone(), queue: receiver };
        (Self { store, spill, queue: sender }, writer)
    }

    /// Enters an end: it is in the spill when this returns, whatever becomes of the process. Where the queue is full, or
    /// its writer is gone, it is written by a task of its own.
    pub(crate) fn enter(&self, end: Settlement) {
        let part = line(&end).and_then(|line| self.spill.keep(&line));
        let refused = match self.queue.try_send(Entry::End(Box::new(Kept { end, part }))) {
            Ok(()) => return,
            Err(mpsc::error::TrySendError::Full(entry) | mpsc::error::TrySendError::Closed(entry)) => entry,
        };
        let Entry::End(kept) = refused else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::warn!(call = %kept.end.usage.id, "the end of a call is recorded at the next start");
            return;
        };
        let (store, spill) = (self.store.clone(), self.spill.clone());
        runtime.spawn(async move {
            if write(&*store, std::slice::from_ref(&kept.end), TRIES).await {
                kept.part.into_iter().for_each(|part| spill.written(part));
            }
        });
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
    /// Writes what a process before left, and then what comes, until nobody can send any more.
    pub async fn run(mut self) {
        self.recover().await;
        let mut entries = Vec::with_capacity(BATCH);
        while self.queue.recv_many(&mut entries, BATCH).await > 0 {
            let (mut ends, mut parts, mut flushed) =
                (Vec::with_capacity(entries.len()), Vec::new(), Vec::new());
            for entry in entries.drain(..) {
                match entry {
                    Entry::End(kept) => {
                        parts.extend(kept.part);
                        ends.push(kept.end);
                    }
                    Entry::Flush(done) => flushed.push(done),
                }
            }
            // What can't be written now is kept and tried again: the queue behind it fills, and is bounded.
            if !ends.is_empty() && write(&*self.store, &ends, u32::MAX).await {
                parts.into_iter().for_each(|part| self.spill.written(part));
            }
            for done in flushed {
                // Who waited may be gone.
                let _ = done.send(());
            }
        }
    }

    /// Writes what a process that was killed, or whose database was away, left in the spill. What the store has of it is
    /// not written again.
    async fn recover(&self) {
        while let Some((part, lines)) = self.spill.left() {
            let (ends, torn) = read(&lines);
            if torn > 0 {
                tracing::warn!(
                    lines = torn,
                    "ends of calls that were being written at the end of a process are unreadable"
                );
            }
            for batch in ends.chunks(BATCH) {
                write(&*self.store, batch, u32::MAX).await;
            }
            if !ends.is_empty() {
                tracing::info!(calls = ends.len(), "the usage of calls of a process before is recorded");
            }
            self.spill.forget(part);
        }
    }
}

/// The line of an end.
fn line(end: &Settlement) -> Option<Vec<u8>> {
    let line =
        Line { usage: &end.usage, reservation: end.reservation.as_ref(), audit: end.journal.audit.as_ref() };
    serde_json::to_vec(&line)
        .inspect_err(|error| tracing::error!(%error, "the end of a call can't be kept beyond the process"))
        .ok()
}

/// The ends of a part, and the number of lines that are none.
fn read(lines: &[u8]) -> (Vec<Settlement>, usize) {
    let mut torn = 0;
    let ends = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).filter_map(|line| {
        let read: Result<Line<UsageRow, Reservation, AuditEntry>, _> = serde_json::from_slice(line);
        torn += usize::from(read.is_err());
        let Line { usage, reservation, audit } = read.ok()?;
        Some(Settlement { usage, reservation, journal: Journal { audit, ..Journal::default() } })
    });
    (ends.collect(), torn)
}

/// Writes ends, trying again while the store is not there; gives whether they are written.
async fn write(store: &dyn UsageStore, ends: &[Settlement], tries: u32) -> bool {
    let mut wait = WAIT;
    for number in 1..=tries {
        match store.settle(ends).await {
            Ok(()) => return true,
            Err(error) if number == tries => {
                tracing::error!(%error, calls = ends.len(), "the usage of calls is recorded at the next start");
            }
            Err(error) => {
                tracing::warn!(%error, calls = ends.len(), "the usage of calls waits to be recorded");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST);
            }
        }
    }
    false
}
