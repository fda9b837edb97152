//! Group commit: while one batch is being written the next one gathers, so that many callers share one sync of the
//! disk and one caller waits for little more than one. A batch goes beside others that are under way once many wait, or have
//! waited long: each costs statements and pages of its own, which a few units pay dearly. Where the database writes one
//! batch at a time, a batch is not closed before its turn to write comes, and several that are written wait for the disk
//! together: one sync is for all that was written before it begins. Where that takes less time than units wait for others
//! anyway, the next batch waits for those that are about to be answered, and is with them. A batch takes of each organisation
//! in turn, so that one that floods does not stand before the others.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::TenantId;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{Committer, RunStore, Transaction, WriteTurn};
use tokio::sync::{Mutex, Notify, oneshot};
use tokio::time::Instant;

/// A unit and the caller who waits for it.
struct Waiting {
    unit: Transaction,
    caller: oneshot::Sender<Result<(), StoreError>>,
}

/// Options of the committer: sizes of its batches and its writers.
#[derive(Debug, Clone, Copy)]
pub struct CommitOptions {
    /// The most units of one batch.
    pub batch: usize,
    /// Number of batches that are written side by side.
    pub writers: usize,
    /// Number of batches beside them that are written and wait for the disk.
    pub behind: usize,
    /// Units that a batch beside another has at least, unless they have waited for [`patience`](Self::patience): one of few
    /// costs nearly as much as one of many.
    pub beside: usize,
    /// Longest time for which units wait for others while a batch is under way; where batches under way merely wait for the
    /// disk, and it has lately taken less than this, the time from when the last of them was written.
    pub patience: Duration,
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self { batch: 1024, writers: 1, behind: 0, beside: 32, patience: Duration::from_millis(2) }
    }
}

/// Units that wait, by organisation.
#[derive(Default)]
struct Lanes {
    lanes: HashMap<Option<TenantId>, VecDeque<Waiting>>,
    /// The organisations with a lane, in the order in which they are served.
    turns: VecDeque<Option<TenantId>>,
    /// Units that wait.
    waiting: usize,
    /// Batches that are not answered yet.
    under_way: usize,
    /// Batches of them that are being written.
    written: usize,
    /// Time that batches which are written have lately waited for the disk, each with an eighth of what counts.
    disk: Option<Duration>,
    /// Time at which the last batch was written.
    last_written: Option<Instant>,
    /// Batches that are written side by side at most.
    side_by_side: usize,
    /// Units that a batch beside another has at least.
    beside: usize,
    /// Writers that are left.
    writers: usize,
    closed: bool,
}

impl Lanes {
    fn push(&mut self, waiting: Waiting) {
        let tenant = waiting.unit.tenant;
        let lane = self.lanes.entry(tenant).or_insert_with(|| {
            self.turns.push_back(tenant);
            VecDeque::new()
        });
        lane.push_back(waiting);
        self.waiting += 1;
    }

    /// Whether a batch is worth its while now: beside another it is with many.
    const fn is_ripe(&self) -> bool {
        self.waiting > 0 && self.has_turn() && (self.under_way == 0 || self.waiting >= self.beside)
    }

    /// Whether a batch could be written now.
    const fn has_turn(&self) -> bool {
        self.written < self.side_by_side
    }

    /// Until when the disk is waited for, where it is soon done with all that is under way.
    fn until_disk(&self, patience: Duration) -> Option<Instant> {
        let is_soon =
            self.written == 0 && self.under_way > 0 && self.disk.is_some_and(|disk| disk <= patience);
        self.last_written.filter(|_| is_soon).map(|written| written + patience)
    }

    /// Notes how long a batch that is written has waited for the disk.
    fn note_disk(&mut self, waited: Duration) {
        self.disk = Some(self.disk.map_or(waited, |disk| (disk * 7 + waited) / 8));
    }

    /// The next batch: one unit of each organisation in turn.
    fn batch(&mut self, most: usize) -> Vec<Waiting> {
        let mut batch = Vec::new();
        while batch.len() < most {
            let Some(tenant) = self.turns.pop_front() else { break };
            let Some(lane) = self.lanes.get_mut(&tenant) else { continue };
            batch.extend(lane.pop_front());
            if lane.is_empty() {
                self.lanes.remove(&tenant);
            } else {
                self.turns.push_back(tenant);
            }
        }
        self.waiting -= batch.len();
        batch
    }
}

#[derive(Default)]
struct Gathering {
    lanes: parking_lot::Mutex<Lanes>,
    arrived: Notify,
    /// One writer gathers at a time; the others write.
    turn: Mutex<()>,
}

impl Gathering {
    /// Waits for units that are worth a batch; none when there will be no more.
    async fn next(self: &Arc<Self>, options: CommitOptions) -> Option<Batch> {
        let _turn = self.turn.lock().await;
        let mut first_due: Option<Instant> = None;
        loop {
            let (is_waiting, has_turn, until_disk) = {
                let mut lanes = self.lanes.lock();
                let until_disk = lanes.until_disk(options.patience);
                let is_due = first_due
                    .is_some_and(|due| until_disk.map_or(due, |disk| due.max(disk)) <= Instant::now());
                if lanes.has_turn() && (lanes.closed || is_due || lanes.is_ripe()) {
                    let units = lanes.batch(options.batch);
                    if !units.is_empty() {
                        lanes.under_way += 1;
                        lanes.written += 1;
                        let written = Arc::new(OnceLock::new());
                        let under_way = UnderWay { queue: Arc::clone(self), written: Arc::clone(&written) };
                        return Some(Batch {
                            units,
                            under_way,
                            writing: Writing { queue: Arc::clone(self), written },
                        });
                    }
                }
                if lanes.closed && lanes.waiting == 0 {
                    return None;
                }
                (lanes.waiting > 0, lanes.has_turn(), until_disk)
            };
            let news = self.arrived.notified();
            if is_waiting {
                let due = *first_due.get_or_insert_with(|| Instant::now() + options.patience);
                if has_turn {
                    // Whichever it was: the next look tells.
                    let _ = tokio::time::timeout_at(due.max(until_disk.unwrap_or(due)), news).await;
                    continue;
                }
            }
            news.await;
        }
    }
}

/// Units that are written together.
struct Batch {
    units: Vec<Waiting>,
    under_way: UnderWay,
    writing: Writing,
}

/// A batch that is not answered yet. When it is no more, those who wait for others wait no longer.
struct UnderWay {
    queue: Arc<Gathering>,
    /// Time at which it was written.
    written: Arc<OnceLock<Instant>>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        {
            let mut lanes = self.queue.lanes.lock();
            lanes.under_way -= 1;
            if let Some(written) = self.written.get() {
                lanes.note_disk(written.elapsed());
            }
        }
        self.queue.arrived.notify_one();
    }
}

/// A batch that is being written: the turn of whoever writes it.
struct Writing {
    queue: Arc<Gathering>,
    /// Time at which it was written, which is when this is dropped.
    written: Arc<OnceLock<Instant>>,
}

impl Drop for Writing {
    fn drop(&mut self) {
        let now = *self.written.get_or_init(Instant::now);
        let had_turn = {
            let mut lanes = self.queue.lanes.lock();
            let had_turn = lanes.has_turn();
            lanes.written -= 1;
            lanes.last_written = Some(now);
            had_turn
        };
        // Who could write before is not woken: it would find the batch over a moment later, before those who are answered
        // have asked for more.
        if !had_turn {
            self.queue.arrived.notify_one();
        }
    }
}

/// A writer's share in the queue: when the last writer goes, nobody who waits is answered any more.
struct Writer(Arc<Gathering>);

impl Drop for Writer {
    fn drop(&mut self) {
        let mut lanes = self.0.lanes.lock();
        lanes.writers = lanes.writers.saturating_sub(1);
        if lanes.writers == 0 {
            lanes.closed = true;
            lanes.turns.clear();
            lanes.lanes.clear();
            lanes.waiting = 0;
        }
    }
}

/// Writes units in batches.
pub struct GroupCommitter {
    queue: Arc<Gathering>,
}

impl std::fmt::Debug for GroupCommitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupCommitter").finish_non_exhaustive()
    }
}

impl GroupCommitter {
    /// Starts the writers on the present runtime; they end when the committer is dropped and the queue is empty.
    #[must_use]
    pub fn start(store: Arc<dyn RunStore>, options: CommitOptions) -> Self {
        let queue = Arc::new(Gathering::default());
        let options = CommitOptions { batch: options.batch.max(1), ..options };
        let writers = options.writers.max(1);
        {
            let mut lanes = queue.lanes.lock();
            lanes.writers = writers + options.behind;
            lanes.side_by_side = writers;
            lanes.beside = options.beside;
        }
        for _ in 0..writers + options.behind {
            let writer = Writer(Arc::clone(&queue));
            tokio::spawn(write_batches(Arc::clone(&store), writer, options));
        }
        Self { queue }
    }
}

impl Drop for GroupCommitter {
    fn drop(&mut self) {
        self.queue.lanes.lock().closed = true;
        self.queue.arrived.notify_one();
    }
}

async fn write_batches(store: Arc<dyn RunStore>, writer: Writer, options: CommitOptions) {
    while let Some(Batch { units, under_way, writing }) = writer.0.next(options).await {
        let (units, callers): (Vec<_>, Vec<_>) =
            units.into_iter().map(|waiting| (waiting.unit, waiting.caller)).unzip();
        let count = units.len();
        let turn: WriteTurn = Box::new(writing);
        let mut answers = store.commit_in_turn(units, turn).await;
        drop(under_way);
        // A store that answers too little has not said that the rest is durable.
        answers.resize_with(count, || Err(StoreError::Unavailable("no answer".to_owned())));
        for (caller, answer) in callers.into_iter().zip(answers) {
            // A caller that went away does not need the answer; the write stands.
            let _ = caller.send(answer);
        }
    }
}

#[async_trait]
impl Committer for GroupCommitter {
    async fn commit(&self, unit: Transaction) -> Result<(), StoreError> {
        let gone = || StoreError::Unavailable("the writer has stopped".to_owned());
        let (caller, answered) = oneshot::channel();
        let is_news = {
            let mut lanes = self.queue.lanes.lock();
            if lanes.closed {
                return Err(gone());
            }
            lanes.push(Waiting { unit, caller });
            // The first one has somebody look when it has waited long enough.
            lanes.waiting == 1 || lanes.is_ripe()
        };
        if is_news {
            self.queue.arrived.notify_one();
        }
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_workflows::ports::MockRunStore;

    #[test]
    fn a_batch_takes_of_each_organisation_in_turn() {
        let mut lanes = Lanes::default();
        let unit = |tenant: u128| Transaction {
            tenant: Some(TenantId(uuid::Uuid::from_u128(tenant))),
            ..Transaction::default()
        };
        for tenant in [1, 1, 1, 1, 1, 2, 3, 3] {
            lanes.push(Waiting { unit: unit(tenant), caller: oneshot::channel().0 });
        }
        let mut batch = |most| {
            let taken = lanes.batch(most);
            taken.iter().filter_map(|one| Some(one.unit.tenant?.0.as_u128())).collect::<Vec<_>>()
        };
        assert_eq!(batch(4), [1, 2, 3, 1]);
        assert_eq!(batch(3), [3, 1, 1]);
        assert_eq!(batch(9), [1]);
        assert!(batch(9).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_disk_that_is_soon_done_is_waited_for_and_a_slow_one_is_not() {
        let (patience, written) = (Duration::from_millis(2), Instant::now());
        let mut lanes = Lanes { under_way: 1, last_written: Some(written), ..Lanes::default() };
        assert_eq!(lanes.until_disk(patience), None, "nobody knows how long it takes");
        lanes.note_disk(Duration::from_millis(1));
        assert_eq!(lanes.until_disk(patience), Some(written + patience));
        // One that is being written is another matter, and so is none.
        for (under_way, being_written) in [(2, 1), (0, 0)] {
            lanes = Lanes { under_way, written: being_written, ..lanes };
            assert_eq!(lanes.until_disk(patience), None);
        }
        lanes = Lanes { under_way: 2, written: 0, ..lanes };
        lanes.note_disk(Duration::from_millis(8));
        assert_eq!(lanes.disk, Some(Duration::from_micros(1_875)));
        assert!(lanes.until_disk(patience).is_some(), "one stall is none of its habits");
        lanes.note_disk(Duration::from_millis(8));
        assert_eq!(lanes.until_disk(patience), None);
    }

    #[tokio::test]
    async fn callers_that_wait_share_a_batch_and_each_gets_its_own_answer() {
        let (first, rest) = (std::sync::atomic::AtomicBool::new(true), Arc::new(tokio::sync::Notify::new()));
        let mut store = MockRunStore::new();
        let batches = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let seen = Arc::clone(&batches);
        store.expect_commit_in_turn().returning(move |units, _| {
            seen.lock().push(units.len());
            first.store(false, std::sync::atomic::Ordering::SeqCst);
            units
                .iter()
                .map(|unit| if unit.delivered.is_some() { Err(StoreError::Stale) } else { Ok(()) })
                .collect()
        });
        rest.notify_one();
        let committer = GroupCommitter::start(Arc::new(store), CommitOptions::default());
        let stale = Transaction {
            delivered: Some(heddle_kernel::EventId(uuid::Uuid::nil())),
            ..Transaction::default()
        };
        let (one, two, three) = tokio::join!(
            committer.commit(Transaction::default()),
            committer.commit(stale),
            committer.commit(Transaction::default())
        );
        assert!(one.is_ok() && three.is_ok());
        assert!(matches!(two, Err(StoreError::Stale)));
        assert_eq!(*batches.lock(), [3]);
    }
}
