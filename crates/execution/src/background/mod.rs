//! Background work in rounds: timers, deliveries of thrown messages and of kept events.
//!
//! Each piece stands for itself: one that fails is tried again later and then set aside, and none behind it waits. Of
//! each organisation a round takes a share. What a round begins is marked first, so that after a crash its pieces are
//! done one by one and only the one that ends the process collects crashes.

mod setback;

pub use setback::{MOST_ATTEMPTS, MOST_CRASHES, back_off_seconds};

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::{FutureExt as _, StreamExt as _};
use heddle_kernel::{EventId, TenantId, Timestamp};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::UseCaseError;
use crate::ports::{Queue, Turn};
use crate::records::{MarkedWork, PendingWork, Setback, Work, WorkKey, WorkMark};
use crate::runs::{RunPorts, Runs};

/// Most pieces that are read at once.
const PAGE: i64 = 128;
/// Most pieces of one organisation in a round.
const SHARE: usize = 64;
/// Number of pieces that are done side by side; they share commits.
const ABREAST: usize = 64;
/// Time after which another node's mark is taken for one that it left behind, in seconds.
const GIVEN_UP: i64 = 600;

/// Outcome of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// Pieces that were tried.
    pub done: usize,
    /// Whether pieces wait for their organisation's rate.
    pub held: bool,
    /// Instant at which the queue was looked at.
    pub looked_at: Timestamp,
}

/// The background work of one node.
pub struct Background {
    runs: Arc<Runs>,
    ports: RunPorts,
    node: Uuid,
    /// Pieces that were being done together when the process ended: from now on each alone.
    careful: Mutex<HashSet<WorkKey>>,
    /// The organisation that was served last, by queue.
    served: Mutex<HashMap<Queue, TenantId>>,
}

impl std::fmt::Debug for Background {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Background").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Background {
    /// Builds it for a node, which has the same id after a restart.
    #[must_use]
    pub fn new(runs: Arc<Runs>, ports: RunPorts, node: Uuid) -> Self {
        Self { runs, ports, node, careful: Mutex::default(), served: Mutex::default() }
    }

    /// Looks for what was being done when the process ended, before anything is begun.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn recover(&self) -> Result<(), UseCaseError> {
        let now = self.ports.clock.now();
        for mark in self.ports.work.left_behind(self.node, now.plus_seconds(-GIVEN_UP)).await? {
            if mark.single {
                for piece in mark.pieces {
                    // One that can't be read is left as it is, and keeps nothing else from its recovery.
                    if let Err(error) = self.crashed(piece, now).await {
                        tracing::error!(%error, "a crash is not counted");
                    }
                }
            } else {
                let mut careful = self.careful.lock();
                careful.extend(mark.pieces.into_iter().map(|piece| piece.key));
            }
        }
        Ok(())
    }

    /// A crash of a piece that was done alone, unless it was recorded since, or is done.
    async fn crashed(&self, piece: MarkedWork, now: Timestamp) -> Result<(), UseCaseError> {
        let Some(pending) = self.ports.work.find(&piece.key).await? else { return Ok(()) };
        if MarkedWork::of(&pending) != piece {
            return Ok(());
        }
        let setback = setback::after_crash(pending, now, EventId(self.ports.ids.next(now)));
        tracing::error!(piece = ?piece.key, crashes = piece.tries.crashes + 1, "the process ended while this was done");
        Ok(self.ports.work.record(vec![setback]).await?)
    }

    /// Has workers that wait for jobs look again: the clock was moved.
    pub fn clock_moved(&self) {
        self.runs.look_for_jobs();
    }

    /// Takes the marks of these queues away: their loop ends in order.
    pub async fn leave(&self, queues: &[Queue]) {
        for queue in queues {
            // Without a database the mark stays, and costs some care at the next start.
            if let Err(error) = self.ports.work.unmark(self.node, *queue).await {
                tracing::debug!(%error, %queue, "a mark stays");
            }
        }
    }

    /// The earliest instant after another from which work of these queues may be tried.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn next_due(
        &self,
        queues: &[Queue],
        after: Timestamp,
    ) -> Result<Option<Timestamp>, UseCaseError> {
        let mut next: Option<Timestamp> = None;
        for queue in queues {
            let due = self.ports.work.next_due(*queue, after).await?;
            next = next.into_iter().chain(due).min();
        }
        Ok(next)
    }

    /// Does one round of a queue.
    ///
    /// # Errors
    /// `Unavailable`: everything else is the own matter of a piece.
    pub async fn round(&self, queue: Queue) -> Result<Round, UseCaseError> {
        let now = self.ports.clock.now();
        let after = self.served.lock().get(&queue).copied();
        let turn = Turn { limit: PAGE, share: i64::try_from(SHARE).unwrap_or(PAGE), after };
        let found = self.ports.work.pending(queue, now, turn).await?;
        if let Some(last) = found.last() {
            self.served.lock().insert(queue, last.work.tenant());
        }
        let (picked, held) = self.pick(queue, found, now);
        let done = picked.len();
        let (alone, together): (Vec<_>, Vec<_>) = {
            let careful = self.careful.lock();
            let suspect = |one: &PendingWork| one.tries.crashes > 0 || careful.contains(&one.work.key());
            picked.into_iter().partition(suspect)
        };
        self.perform(queue, together, now).await?;
        for one in alone {
            let key = one.work.key();
            self.perform(queue, vec![one], now).await?;
            self.careful.lock().remove(&key);
        }
        Ok(Round { done, held, looked_at: now })
    }

    /// Share of each organisation, one piece of each in turn; and whether a rate held something back.
    fn pick(&self, queue: Queue, found: Vec<PendingWork>, now: Timestamp) -> (Vec<PendingWork>, bool) {
        let mut lanes: Vec<(TenantId, VecDeque<PendingWork>)> = Vec::new();
        let mut places: HashMap<TenantId, usize> = HashMap::new();
        for one in found {
            let tenant = one.work.tenant();
            let place = *places.entry(tenant).or_insert_with(|| {
                lanes.push((tenant, VecDeque::new()));
                lanes.len() - 1
            });
            if let Some((_, lane)) = lanes.get_mut(place).filter(|(_, lane)| lane.len() < SHARE) {
                lane.push_back(one);
            }
        }
        let mut held = false;
        // What begins runs and throws messages takes from the rates that callers take from, and waits for them.
        let rate = match queue {
            Queue::Outbox => Some(&self.ports.limits.messages),
            Queue::Starts => Some(&self.ports.limits.starts),
            Queue::Timers | Queue::Kept => None,
        };
        if let Some(rate) = rate {
            for (tenant, lane) in &mut lanes {
                let may = rate.take_up_to(*tenant, lane.len(), now);
                held |= may < lane.len();
                lane.truncate(may);
            }
        }
        let mut picked = Vec::new();
        while lanes.iter().any(|(_, lane)| !lane.is_empty()) {
            picked.extend(lanes.iter_mut().filter_map(|(_, lane)| lane.pop_front()));
        }
        (picked, held)
    }

    /// Marks pieces, does them, and records those that did not succeed.
    async fn perform(
        &self,
        queue: Queue,
        pieces: Vec<PendingWork>,
        now: Timestamp,
    ) -> Result<(), UseCaseError> {
        if pieces.is_empty() {
            return Ok(());
        }
        let mark =
            WorkMark { single: pieces.len() == 1, pieces: pieces.iter().map(MarkedWork::of).collect() };
        self.ports.work.mark(self.node, queue, &mark, now).await?;
        let outcomes = futures::stream::iter(in_order(pieces))
            .map(|lane| async move { self.perform_lane(lane).await })
            .buffer_unordered(ABREAST)
            .collect::<Vec<_>>()
            .await;
        let (mut setbacks, mut down) = (Vec::new(), None);
        for outcome in outcomes {
            setbacks.extend(outcome.setbacks);
            down = down.or(outcome.down);
        }
        if !setbacks.is_empty() {
            self.ports.work.record(setbacks).await?;
        }
        down.map_or(Ok(()), Err)
    }

    /// Does pieces one behind the other, until the database is down.
    async fn perform_lane(&self, lane: Vec<PendingWork>) -> LaneOutcome {
        let mut outcome = LaneOutcome::default();
        for pending in lane {
            // A fault of ours that panics is the piece's own, too.
            let tried = AssertUnwindSafe(self.perform_one(&pending.work)).catch_unwind().await;
            let error = match tried.unwrap_or_else(|_| Err(UseCaseError::Internal("it panicked".to_owned())))
            {
                Ok(()) => continue,
                Err(error @ UseCaseError::Unavailable(_)) => {
                    outcome.down = Some(error);
                    return outcome;
                }
                Err(error) => error,
            };
            outcome.setbacks.push(self.setback(pending, &error));
        }
        outcome
    }

    fn setback(&self, pending: PendingWork, error: &UseCaseError) -> Setback {
        let now = self.ports.clock.now();
        let (kind, tenant) = (pending.work.kind(), pending.work.tenant());
        let (run, workflow) = (pending.work.run(), pending.work.workflow());
        let setback = setback::after(pending, error, now, EventId(self.ports.ids.next(now)));
        let what = match &setback {
            Setback::Later { .. } => "background work failed; it is tried again",
            Setback::Aside(_) => "background work failed; it is a dead letter",
        };
        tracing::warn!(
            %kind, organization = %tenant, run = run.map(tracing::field::display),
            workflow = workflow.map(tracing::field::display), error = error.in_words(), "{what}"
        );
        setback
    }

    async fn perform_one(&self, work: &Work) -> Result<(), UseCaseError> {
        match work {
            Work::Thrown(thrown) => self.runs.deliver(thrown).await,
            Work::Timer(timer) => self.runs.fire(timer).await,
            Work::TimerStart(binding) => self.runs.fire_start(binding).await,
            Work::Kept(event) => self.runs.deliver_kept(event).await,
            // Only among what was set aside.
            Work::Start(_) | Work::Errand(_) => Ok(()),
        }
    }
}

#[derive(Default)]
struct LaneOutcome {
    setbacks: Vec<Setback>,
    down: Option<UseCaseError>,
}

/// Lanes of pieces that keep their order: what one run threw, the timers of one run, kept events of one key.
fn in_order(pieces: Vec<PendingWork>) -> Vec<Vec<PendingWork>> {
    let mut lanes: Vec<Vec<PendingWork>> = Vec::new();
    let mut places: HashMap<(TenantId, String), usize> = HashMap::new();
    for piece in pieces {
        let of = match &piece.work {
            Work::Thrown(thrown) => thrown.run.to_string(),
            Work::Timer(timer) => timer.run.to_string(),
            Work::TimerStart(binding) => format!("{} {}", binding.workflow, binding.node_id),
            Work::Kept(event) => format!("{} {:?}", event.event_type, event.correlation_key),
            Work::Start(refused) => refused.event.id.to_string(),
            Work::Errand(errand) => errand.id.to_string(),
        };
        let place = *places.entry((piece.work.tenant(), of)).or_insert_with(|| {
            lanes.push(Vec::new());
            lanes.len() - 1
        });
        if let Some(lane) = lanes.get_mut(place) {
            lane.push(piece);
        }
    }
    lanes
}
