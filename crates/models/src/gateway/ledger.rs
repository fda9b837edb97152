//! The ledger: ends of calls go through a bounded queue and are written in batches. Each is in the spill before its caller
//! has the end of the answer, so that none is lost with the process; what does not fit into the queue is there alone, and
//! is read from it when the writer has time, so that a slow database costs no memory.

use std::sync::Arc;
use std::time::Duration;

use heddle_usecase::{AuditEntry, Journal};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::ports::{Spill, UsageStore};
use crate::records::{Reservation, Settlement, UsageRow};

/// Ends of calls that wait at most.
const QUEUE: usize = 1_024;
/// Ends of one batch.
const BATCH: usize = 500;
/// Time for which ends gather before they are written together: the spill has them meanwhile, and whoever reads usage waits
/// no longer than this.
const GATHER: Duration = Duration::from_millis(10);
/// First wait behind a failure.
const WAIT: Duration = Duration::from_millis(100);
/// Longest wait behind a failure.
const LONGEST: Duration = Duration::from_secs(5);
/// Tries of what is written outside of the queue, where the spill can't keep it.
const TRIES: u32 = 8;
/// Times that a store which answers may refuse ends, before they are tried one by one, and each before it is set aside.
const REFUSALS: u32 = 3;
/// Number of those that are written so at a time.
const BESIDE: usize = 256;

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
    beside: Arc<Semaphore>,
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
        (Self { store, spill, queue: sender, beside: Arc::new(Semaphore::new(BESIDE)) }, writer)
    }

    /// Enters an end: it is in the spill when this returns, whatever becomes of the process. Where the queue is full it is
    /// nowhere else; what the spill can't keep then is written by a task of its own, of which there are few.
    pub(crate) fn enter(&self, end: Settlement) {
        let part = line(&end).and_then(|line| self.spill.keep(&line));
        let refused = match self.queue.try_send(Entry::End(Box::new(Kept { end, part }))) {
            Ok(()) => return,
            Err(mpsc::error::TrySendError::Full(entry) | mpsc::error::TrySendError::Closed(entry)) => entry,
        };
        match refused {
            Entry::End(kept) => match kept.part {
                Some(part) => self.spill.behind(part),
                None => self.write_beside(kept.end),
            },
            Entry::Flush(_) => {}
        }
    }

    fn write_beside(&self, end: Settlement) {
        let place = self.beside.clone().try_acquire_owned();
        match (tokio::runtime::Handle::try_current(), place) {
            (Ok(runtime), Ok(place)) => {
                let store = self.store.clone();
                runtime.spawn(async move {
                    if !write(&*store, &[end]).await {
                        tracing::error!(calls = 1, "the usage of calls was not recorded");
                    }
                    drop(place);
                });
            }
            (Err(_), _) | (_, Err(_)) => {
                tracing::error!(call = %end.usage.id, "the end of a call was not recorded");
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
    /// Writes what a process before left, and then what comes, until nobody can send any more. What is in the spill alone
    /// is written when the queue is empty, and before anybody is told that all is written.
    pub async fn run(mut self) {
        self.catch_up().await;
        let mut entries = Vec::with_capacity(BATCH);
        while self.queue.recv_many(&mut entries, BATCH).await > 0 {
            if entries.len() < BATCH && entries.iter().all(|entry| matches!(entry, Entry::End(_))) {
                tokio::time::sleep(GATHER).await;
                while entries.len() < BATCH
                    && let Ok(entry) = self.queue.try_recv()
                {
                    entries.push(entry);
                }
            }
            let (mut ends, mut parts, mut flushed) =
                (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()), Vec::new());
            for entry in entries.drain(..) {
                match entry {
                    Entry::End(kept) => {
                        ends.push(kept.end);
                        parts.push(kept.part);
                    }
                    Entry::Flush(done) => flushed.push(done),
                }
            }
            // What can't be written now is kept and tried again: the queue behind it fills, and is bounded. What the store
            // refuses stays in the spill, for the next start.
            let refused = self.record(&ends, |index| parts.get(index).is_some_and(Option::is_some)).await;
            let done = parts.into_iter().enumerate().filter(|(index, _)| !refused.contains(index));
            done.filter_map(|(_, part)| part).for_each(|part| self.spill.written(part));
            if !flushed.is_empty() || self.queue.is_empty() {
                self.catch_up().await;
            }
            for done in flushed {
                // Who waited may be gone.
                let _ = done.send(());
            }
        }
    }

    /// Writes what is in the spill alone: of a process that was killed, or of calls beyond the queue. What the store has of
    /// it is not written again.
    async fn catch_up(&self) {
        while let Some((part, lines)) = self.spill.left() {
            let (ends, torn) = read(&lines);
            if torn > 0 {
                tracing::warn!(
                    lines = torn,
                    "ends of calls in the spill are unreadable: their process ended as it wrote them"
                );
            }
            for batch in ends.chunks(BATCH) {
                for index in self.record(batch, |_| true).await {
                    // In the open part it is left to the next start, whatever becomes of this one.
                    let kept = batch.get(index).and_then(line).and_then(|line| self.spill.keep(&line));
                    if kept.is_none() {
                        // It is in this part alone, which is read again then.
                        return;
                    }
                }
            }
            if !ends.is_empty() {
                tracing::info!(calls = ends.len(), "the usage of calls is recorded from the spill");
            }
            self.spill.forget(part);
        }
    }

    /// Writes ends, for as long as it takes while the store is not there. Gives the indices of those that it refuses
    /// though it answers: one such end holds up no other. One that the spill does not have is tried for as long as it takes:
    /// a full disk, too, is a store that answers, and refuses.
    async fn record(&self, ends: &[Settlement], is_in_spill: impl Fn(usize) -> bool) -> Vec<usize> {
        if ends.is_empty() || self.is_recorded(ends).await {
            return Vec::new();
        }
        let mut refused = Vec::new();
        for (index, end) in ends.iter().enumerate() {
            let mut recorded = self.is_recorded(std::slice::from_ref(end)).await;
            while !recorded && !is_in_spill(index) {
                tokio::time::sleep(LONGEST).await;
                recorded = self.is_recorded(std::slice::from_ref(end)).await;
            }
            if !recorded {
                tracing::error!(call = %end.usage.id, "the usage of a call is refused by the database and set aside");
                refused.push(index);
            }
        }
        refused
    }

    /// Writes ends together; gives whether they are written, and not refused by a store that answers.
    async fn is_recorded(&self, ends: &[Settlement]) -> bool {
        let (mut wait, mut refusals) = (WAIT, 0);
        while let Err(error) = self.store.settle(ends).await {
            tracing::warn!(%error, calls = ends.len(), "the usage of calls waits to be recorded");
            // Whether it is the store that is away or the ends that are refused is told by a transaction of nothing.
            refusals += u32::from(self.store.settle(&[]).await.is_ok());
            if refusals == REFUSALS {
                return false;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST);
        }
        true
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

/// Writes ends, trying some times; gives whether they are written.
async fn write(store: &dyn UsageStore, ends: &[Settlement]) -> bool {
    let mut wait = WAIT;
    for number in 1..=TRIES {
        match store.settle(ends).await {
            Ok(()) => return true,
            Err(error) if number == TRIES => tracing::error!(%error, "the usage of calls can't be recorded"),
            Err(error) => {
                tracing::warn!(%error, calls = ends.len(), "the usage of calls waits to be recorded");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST);
            }
        }
    }
    false
}
