//! The runner of errands: at least once, in the order of each lane, each under a lease that one node holds and renews,
//! fair between organisations and bounded by kind and target. What each kind does is its executor's; which come next and
//! what becomes of them is decided by pure functions ([`schedule`], [`verdict`]).

mod bounding;
mod leases;
mod schedule;
mod settling;
mod verdict;

pub use verdict::MOST_TRIES;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use heddle_kernel::{Clock as _, TenantId, Timestamp};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{
    Backlog, Claimed, Errand, ErrandKind, ErrandStore, Executor, Held, Holder, Lane, Look, MOST_TRIMMED,
    Outcome, Settled, Written,
};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, watch};
use uuid::Uuid;

use self::bounding::Bounding;
use self::leases::Leases;
use self::schedule::Load;
use self::settling::Settling;
use self::verdict::Outlook;
use crate::{EventNotifier, ServerClock};
use heddle_workflows::ports::Permit;

/// Rest of the loop when the database does not answer, or the licence does not permit work.
const REST: Duration = Duration::from_secs(1);
/// Most lanes of one look.
const LANES: i64 = 1024;
/// Most looks of one round.
const LOOKS: usize = 16;
/// A look costs the database something: the loop rests so many times as long before the next one, unless it found work.
const REST_OF_LOOK: u32 = 4;
/// Time that errands have to end when the server stops.
const LAST: Duration = Duration::from_secs(2);

/// Options of the runner.
#[derive(Debug, Clone, Copy)]
pub struct RunnerOptions {
    /// The longest time without a look: short where other nodes write to the same database.
    pub poll: Duration,
    /// Length of a lease, which is renewed three times as often.
    pub lease: Duration,
}

/// Ports of the runner.
#[derive(Clone)]
pub struct RunnerPorts {
    /// Store of the errands.
    pub store: Arc<dyn ErrandStore>,
    /// Executors, one for each kind.
    pub executors: Vec<Arc<dyn Executor>>,
    /// Teller of new errands.
    pub hub: Arc<EventNotifier>,
    /// The present time.
    pub clock: Arc<ServerClock>,
    /// Permission by the licence.
    pub permit: Arc<dyn Permit>,
    /// Randomness of the waits.
    pub random: fn() -> u64,
}

impl std::fmt::Debug for RunnerPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunnerPorts").finish_non_exhaustive()
    }
}

/// Randomness of the system.
#[must_use]
pub fn system_random() -> u64 {
    Uuid::new_v4().as_u64_pair().1
}

/// Errands of a kind on this node.
#[derive(Debug, Default)]
struct OfKind {
    load: Load,
    /// The organisation that was served last.
    served: Option<TenantId>,
    /// The lane behind which the next round looks, when the last one did not see them all.
    reached: Option<Uuid>,
    /// The next instant at which one of the lanes before that may be done.
    next_due: Option<Timestamp>,
}

/// The runner of one node.
pub struct Runner {
    ports: RunnerPorts,
    node: Uuid,
    options: RunnerOptions,
    kinds: Mutex<HashMap<ErrandKind, OfKind>>,
    leases: Leases,
    settling: Settling,
    bounding: Bounding,
    /// One look at a time: what a look found is claimed before the next one.
    looking: tokio::sync::Mutex<()>,
    /// Whether the leases of a process before this one were ended.
    recovered: OnceCell<()>,
    /// Told when a slot is free again.
    freed: watch::Sender<u64>,
    stopping: AtomicBool,
    away: AtomicBool,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("node", &self.node).finish_non_exhaustive()
    }
}

/// Result of a round.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    /// Errands that were begun.
    begun: usize,
    /// The next instant at which another one may be done.
    next_due: Option<Timestamp>,
    /// Whether there are lanes at which it did not look.
    is_partial: bool,
}

impl Runner {
    /// Of a node, which has the same id after a restart.
    #[must_use]
    pub fn new(ports: RunnerPorts, node: Uuid, options: RunnerOptions) -> Self {
        Self {
            ports,
            node,
            options,
            kinds: Mutex::default(),
            leases: Leases::default(),
            settling: Settling::default(),
            bounding: Bounding::default(),
            looking: tokio::sync::Mutex::new(()),
            recovered: OnceCell::new(),
            freed: watch::channel(0).0,
            stopping: AtomicBool::new(false),
            away: AtomicBool::new(false),
        }
    }

    /// Starts the loops. When `stop` turns true nothing more is begun; what is being done has a moment to end, and the
    /// rest is given back.
    pub fn start(self: &Arc<Self>, stop: &watch::Receiver<bool>) -> Vec<tokio::task::JoinHandle<()>> {
        let (runner, mut stopped) = (Arc::clone(self), stop.clone());
        let working = tokio::spawn(async move {
            runner.working(&mut stopped).await;
            runner.leave().await;
        });
        let (runner, mut stopped) = (Arc::clone(self), stop.clone());
        let renewing = tokio::spawn(async move {
            tokio::select! {
                () = runner.renewing() => {}
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
        });
        vec![working, renewing]
    }

    /// Lets the first errand of a lane be tried now: what held it is over, or the lane is wanted no more. One that is being
    /// tried, here or on another node, is tried again at once when that ends without success.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn hasten(&self, lane: &Lane) -> Result<(), StoreError> {
        self.ports.store.hasten(lane, self.ports.clock.now()).await?;
        self.ports.hub.errands.notify_one();
        Ok(())
    }

    /// Does all that may be done now, and returns when nothing is being done.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(crate) async fn settle(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut freed = self.freed.subscribe();
        while self.ports.permit.may_work() {
            freed.mark_unchanged();
            let round = self.round().await?;
            if round.begun > 0 || round.is_partial {
                continue;
            }
            if self.is_idle() {
                break;
            }
            // The sender lives as long as the runner.
            let _ = freed.changed().await;
        }
        Ok(())
    }

    /// Whether nothing is being done.
    fn is_idle(&self) -> bool {
        self.kinds.lock().values().all(|of| of.load.is_empty())
    }

    /// The next instant at which an errand may be done.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(crate) async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        if !self.ports.permit.may_work() {
            return Ok(None);
        }
        let mut next = None;
        for executor in &self.ports.executors {
            let look = self.look(executor.kind(), None).await?;
            next = next.into_iter().chain(look.next_due).min();
        }
        Ok(next)
    }

    /// Does rounds until `stopped` turns true. A round is not left in the middle, or what it took would stay under leases
    /// that nobody holds; one that takes too long is.
    async fn working(self: &Arc<Self>, stopped: &mut watch::Receiver<bool>) {
        let mut freed = self.freed.subscribe();
        while !*stopped.borrow() {
            freed.mark_unchanged();
            let began = tokio::time::Instant::now();
            let mut stuck = stopped.clone();
            let stuck = async {
                drop(stuck.wait_for(|stopped| *stopped).await);
                tokio::time::sleep(LAST).await;
            };
            let round = tokio::select! {
                round = self.round_if_permitted() => round,
                () = stuck => return,
            };
            tokio::select! {
                () = self.pause(round, began, &mut freed) => {}
                _ = stopped.wait_for(|stopped| *stopped) => return,
            }
        }
    }

    /// Does one round; none when the licence does not permit work.
    async fn round_if_permitted(self: &Arc<Self>) -> Result<Option<Round>, StoreError> {
        if !self.ports.permit.may_work() {
            return Ok(None);
        }
        self.round().await.map(Some)
    }

    /// Pauses after a round until the next one.
    async fn pause(
        &self,
        round: Result<Option<Round>, StoreError>,
        began: tokio::time::Instant,
        freed: &mut watch::Receiver<u64>,
    ) {
        match round {
            Ok(None) => tokio::time::sleep(REST).await,
            Ok(Some(round)) => {
                if self.away.swap(false, Ordering::Relaxed) {
                    tracing::info!("errands go on");
                }
                if round.begun == 0 {
                    tokio::time::sleep((began.elapsed() * REST_OF_LOOK).min(REST)).await;
                    if !round.is_partial {
                        self.wait(round.next_due, freed).await;
                    }
                }
            }
            Err(error) => self.rest(&error).await,
        }
    }

    /// Waits until something is told, due or free.
    async fn wait(&self, next_due: Option<Timestamp>, freed: &mut watch::Receiver<u64>) {
        let until = next_due.map_or(self.options.poll, |due| {
            due.duration_since(self.ports.clock.now()).min(self.options.poll)
        });
        // A millisecond more, so that the instant has passed when the loop looks again.
        let slept = tokio::time::sleep(until + Duration::from_millis(1));
        tokio::select! {
            () = slept => {}
            () = self.ports.hub.errands.notified() => {}
            _ = freed.changed() => {}
        }
    }

    /// Rests after a failure. A database that is away is told once.
    async fn rest(&self, error: &StoreError) {
        if !self.away.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "errands wait for the database");
        }
        tokio::time::sleep(REST).await;
    }

    /// Does one round of each kind.
    async fn round(self: &Arc<Self>) -> Result<Round, StoreError> {
        let _one_at_a_time = self.looking.lock().await;
        // Leases that the process before this one left behind end before the first are taken.
        let (store, now) = (&self.ports.store, self.ports.clock.now());
        self.recovered.get_or_try_init(|| async { store.recover(self.node, now).await.map(drop) }).await?;
        let mut all = Round::default();
        for executor in &self.ports.executors {
            let round = self.round_of(executor).await?;
            all.begun += round.begun;
            all.next_due = all.next_due.into_iter().chain(round.next_due).min();
            all.is_partial |= round.is_partial;
        }
        Ok(all)
    }

    async fn round_of(self: &Arc<Self>, executor: &Arc<dyn Executor>) -> Result<Round, StoreError> {
        let (kind, bounds) = (executor.kind(), executor.bounds());
        let after = {
            let mut kinds = self.kinds.lock();
            let of = kinds.entry(kind).or_default();
            if !of.load.has_room(&bounds) {
                return Ok(Round::default());
            }
            of.reached
        };
        let mut look = self.look(kind, after).await?;
        look.ready.retain(|ready| executor.does(&ready.lane));
        let is_partial = look.reached.is_some();
        let (claims, next_due) = {
            let mut kinds = self.kinds.lock();
            let of = kinds.entry(kind).or_default();
            let claims = schedule::pick(look.ready, &of.load, &bounds, of.served);
            of.served = claims.last().map(|claim| claim.lane.tenant).or(of.served);
            of.reached = look.reached;
            let next_due = of.next_due.take().into_iter().chain(look.next_due).min();
            of.next_due = next_due.filter(|_| is_partial);
            (claims, next_due)
        };
        if claims.is_empty() {
            return Ok(Round { begun: 0, next_due, is_partial });
        }
        let holder = self.holder();
        let Claimed { taken, unreadable } = self.ports.store.claim(&claims, holder).await?;
        // What stands behind one that went may be done now.
        let begun = taken.len() + unreadable.len();
        for errands in slots(taken) {
            self.begin(executor, errands, holder);
        }
        for (lane, count) in unreadable {
            executor.trimmed(&lane, count).await;
        }
        Ok(Round { begun, next_due, is_partial })
    }

    /// Looks at lanes of a kind behind one of them: those that are ready, when the next one is, and how far it came.
    async fn look(&self, kind: ErrandKind, after: Option<Uuid>) -> Result<Look, StoreError> {
        let now = self.ports.clock.now();
        let mut all = Look { reached: after, ..Look::default() };
        for _ in 0..LOOKS {
            let look = self.ports.store.look(kind, now, all.reached, LANES).await?;
            all.ready.extend(look.ready);
            all.next_due = all.next_due.into_iter().chain(look.next_due).min();
            all.reached = look.reached;
            if all.reached.is_none() {
                break;
            }
        }
        Ok(all)
    }

    fn holder(&self) -> Holder {
        let now = self.ports.clock.now();
        let lease = i64::try_from(self.options.lease.as_millis()).unwrap_or(i64::MAX);
        Holder { node: self.node, now, until: now.plus_millis(lease) }
    }

    /// Begins errands of one slot, one behind the other.
    fn begin(self: &Arc<Self>, executor: &Arc<dyn Executor>, errands: Vec<Errand>, holder: Holder) {
        let Some(first) = errands.first() else { return };
        let slot = Slot {
            runner: Arc::clone(self),
            lane: first.errand.lane.clone(),
            is_suspect: first.is_suspect,
            held: errands.iter().map(Held::of).collect(),
        };
        self.kinds.lock().entry(slot.lane.kind).or_default().load.begin(&slot.lane, slot.is_suspect);
        self.leases.take(&slot.held, holder.until);
        let executor = Arc::clone(executor);
        tokio::spawn(async move {
            let runner = Arc::clone(&slot.runner);
            runner.perform(&*executor, &slot.lane, errands).await;
            drop(slot);
        });
    }

    /// Does errands one behind the other, until one of them holds up the rest, which is given back.
    async fn perform(&self, executor: &dyn Executor, lane: &Lane, errands: Vec<Errand>) {
        let mut left = errands.into_iter();
        let (mut given_back, mut outlook) = (Vec::new(), Outlook::GoesOn);
        while outlook == Outlook::GoesOn
            && let Some(errand) = left.next()
        {
            if self.stopping.load(Ordering::Relaxed) || !self.permits(&errand) {
                given_back.push(Held::of(&errand));
                break;
            }
            outlook = self.perform_one(executor, errand).await;
        }
        given_back.extend(left.map(|errand| Held::of(&errand)));
        self.give_back(&given_back).await;
        match outlook {
            // One that goes on may be slower than what comes in.
            Outlook::GoesOn | Outlook::Waits => {
                if self.bounding.is_due(lane.id(), self.ports.clock.now()) {
                    self.trim(executor, lane, false).await;
                }
            }
            Outlook::Grows => self.trim(executor, lane, false).await,
            Outlook::Gone => self.trim(executor, lane, true).await,
        }
    }

    /// Whether an errand may be begun: its lease lasts, and the licence permits it.
    fn permits(&self, errand: &Errand) -> bool {
        self.leases.lasts(&Held::of(errand), self.ports.clock.now()) && self.ports.permit.may_work()
    }

    /// Does one errand; the outlook of those behind it.
    async fn perform_one(&self, executor: &dyn Executor, errand: Errand) -> Outlook {
        let (settlement, outlook) = match verdict::before(&errand) {
            Some(settlement) => (settlement, Outlook::GoesOn),
            None => {
                let outcome = tried(executor, &errand).await;
                verdict::after(&errand, outcome, self.ports.clock.now(), (self.ports.random)())
            }
        };
        let held = Held::of(&errand);
        let settled = Settled { errand, settlement };
        let now = self.ports.clock.now();
        let written = self.settling.settle(&*self.ports.store, settled.clone(), self.node, now).await;
        if written == Written::Lost {
            // The lease runs out, and the errand is done again.
            tracing::warn!(errand = %held.id, "the end of an errand is not written: it is done again");
            return Outlook::Waits;
        }
        self.leases.end(&held);
        if written == Written::Settled {
            executor.ended(&settled).await;
        }
        verdict::behind(written, outlook)
    }

    /// Removes what waits in a lane beyond its bounds, or all of it.
    async fn trim(&self, executor: &dyn Executor, lane: &Lane, all: bool) {
        let bounds = executor.bounds();
        let oldest = i64::try_from(bounds.oldest.as_millis()).unwrap_or(i64::MAX);
        let since = self.ports.clock.now().plus_millis(oldest.saturating_neg());
        let backlog = (!all).then_some(Backlog { most: bounds.backlog, since });
        let gone = self.ports.store.trim(lane, backlog).await;
        if gone.as_ref().is_ok_and(|count| *count >= MOST_TRIMMED) {
            // There may be more of it: the next errand that ends goes on.
            self.bounding.again(lane.id());
        }
        match gone {
            Ok(0) => {}
            Ok(count) if all => {
                tracing::info!(organization = %lane.tenant, count, "errands that nobody wants went")
            }
            Ok(count) => {
                tracing::warn!(
                    organization = %lane.tenant, kind = %lane.kind, line = lane.line, count,
                    "errands that waited for too long, or were too many, went undone"
                );
                executor.trimmed(lane, count).await;
            }
            Err(error) => tracing::warn!(%error, "what waits in a lane is not bounded: it is tried again"),
        }
    }

    /// Gives errands back that were not begun.
    async fn give_back(&self, held: &[Held]) {
        if held.is_empty() {
            return;
        }
        // Without a database the leases run out.
        if let Err(error) = self.ports.store.release(held, self.node, self.ports.clock.now()).await {
            tracing::debug!(%error, "errands are not given back: their leases run out");
        }
        held.iter().for_each(|one| self.leases.end(one));
    }

    async fn renewing(&self) {
        loop {
            tokio::time::sleep(self.options.lease / 3).await;
            let held = self.leases.all();
            if held.is_empty() {
                continue;
            }
            let holder = self.holder();
            match self.ports.store.renew(&held, holder).await {
                Ok(renewed) => self.leases.renewed(&held, &renewed, holder.until),
                Err(error) => tracing::warn!(%error, "leases are not renewed: it is tried again"),
            }
        }
    }

    /// Ends in order: what is being done has a moment, and the rest is given back.
    async fn leave(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        let mut freed = self.freed.subscribe();
        let ended = async {
            while !self.is_idle() {
                // The sender lives as long as the runner.
                let _ = freed.changed().await;
            }
        };
        if tokio::time::timeout(LAST, ended).await.is_err() {
            self.give_back(&self.leases.all()).await;
        }
    }
}

/// A slot that is taken: free again when it goes, however that comes.
struct Slot {
    runner: Arc<Runner>,
    lane: Lane,
    is_suspect: bool,
    held: Vec<Held>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.held.iter().for_each(|one| self.runner.leases.end(one));
        if let Some(of) = self.runner.kinds.lock().get_mut(&self.lane.kind) {
            of.load.end(&self.lane, self.is_suspect);
        }
        self.runner.freed.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// Errands of each slot: those of a lane in order together, the others each alone.
fn slots(taken: Vec<Errand>) -> Vec<Vec<Errand>> {
    let mut slots: Vec<Vec<Errand>> = Vec::new();
    // The target of a lane in order may have changed: it is one lane all the same.
    let mut places: HashMap<Uuid, usize> = HashMap::new();
    for errand in taken {
        let lane = &errand.errand.lane;
        let place = places.get(&lane.id()).copied().filter(|_| lane.is_in_order());
        match place.and_then(|place| slots.get_mut(place)) {
            Some(slot) => slot.push(errand),
            None => {
                places.insert(lane.id(), slots.len());
                slots.push(vec![errand]);
            }
        }
    }
    slots
}

/// A try within the kind's time. A fault of ours that panics is a failure of the errand's own.
async fn tried(executor: &dyn Executor, errand: &Errand) -> Outcome {
    let limit = executor.bounds().time_limit;
    let failed = |message: String| Outcome::Failed { message, after: None };
    let run = AssertUnwindSafe(executor.run(errand)).catch_unwind();
    match tokio::time::timeout(limit, run).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => {
            tracing::error!(errand = %errand.errand.id, "an errand panicked");
            failed("It failed by a fault of the server.".to_owned())
        }
        Err(_) => failed(format!("It took longer than {} seconds.", limit.as_secs())),
    }
}
