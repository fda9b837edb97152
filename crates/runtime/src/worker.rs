//! The loops: timers, deliveries, kept events, and sweeping.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use heddle_kernel::{Clock as _, Timestamp};
use heddle_usecase::UseCaseError;
use heddle_workflows::background::{Background, Round};
use heddle_workflows::ports::{Permit, Queue, RunStore};
use tokio::sync::{Mutex, Notify, OnceCell, watch};

use crate::runner::Runner;
use crate::{EventNotifier, ServerClock};

/// Rest of the loops when the database does not answer.
const REST: Duration = Duration::from_secs(1);
/// Least rest behind a look at kept events that found none: under load something begins to wait at any time.
const LEAST_REST: Duration = Duration::from_millis(20);
/// Wait for an organisation's rate to allow more.
const HELD: Duration = Duration::from_millis(20);
/// The queues that move with the clock.
const DUE: &[Queue] = &[Queue::Timers, Queue::Starts];

/// Options of the loops that look for work that this process was not told of.
#[derive(Debug, Clone, Copy)]
pub struct WorkerOptions {
    /// The longest time without a look: short where other nodes write to the same database.
    pub poll: Duration,
    /// The time between sweeps.
    pub sweep: Duration,
}

/// The background of the runs.
pub struct Worker {
    background: Arc<Background>,
    store: Arc<dyn RunStore>,
    hub: Arc<EventNotifier>,
    clock: Arc<ServerClock>,
    permit: Arc<dyn Permit>,
    options: WorkerOptions,
    /// Runner of errands, which moves with the clock, too.
    runner: Option<Arc<Runner>>,
    /// Held while due timers fire, so that a moved clock can wait for them.
    firing: Mutex<()>,
    /// Whether it is known what a process before this one left behind.
    recovered: OnceCell<()>,
    /// Whether the database was away at the last look.
    away: AtomicBool,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl Worker {
    /// With what it works on.
    #[must_use]
    pub fn new(
        background: Arc<Background>,
        store: Arc<dyn RunStore>,
        hub: Arc<EventNotifier>,
        clock: Arc<ServerClock>,
        permit: Arc<dyn Permit>,
        options: WorkerOptions,
    ) -> Self {
        let (firing, recovered) = (Mutex::new(()), OnceCell::new());
        let away = AtomicBool::new(false);
        Self { background, store, hub, clock, permit, options, runner: None, firing, recovered, away }
    }

    /// The same with a runner of errands.
    #[must_use]
    pub fn with_runner(self, runner: Arc<Runner>) -> Self {
        Self { runner: Some(runner), ..self }
    }

    /// Starts the loops; they end when `stop` turns true.
    pub fn start(self: &Arc<Self>, stop: &watch::Receiver<bool>) -> Vec<tokio::task::JoinHandle<()>> {
        let look = |queues: &'static [Queue]| {
            let (worker, stop) = (Arc::clone(self), stop.clone());
            tokio::spawn(async move {
                until(stop, worker.look(queues)).await;
                worker.background.leave(queues).await;
            })
        };
        let errands = self.runner.iter().flat_map(|runner| runner.start(stop));
        let errands: Vec<_> = errands.collect();
        let sweeping = tokio::spawn(until(stop.clone(), {
            let worker = Arc::clone(self);
            async move { worker.sweeping().await }
        }));
        let queues = [look(DUE), look(&[Queue::Outbox]), look(&[Queue::Kept]), sweeping];
        queues.into_iter().chain(errands).collect()
    }

    /// Moves the clock forward, stopping at each instant at which something is due, so that what fires sees the time
    /// that it was set for; returns when nothing is due and nothing is to be delivered. From the instant on at which no
    /// work may begin, what is due stays so.
    ///
    /// # Errors
    /// What the firing met.
    pub async fn advance_clock(&self, target: Timestamp) -> Result<Timestamp, UseCaseError> {
        self.settle().await?;
        while let Some(due) = self.next_by(target).await? {
            self.clock.move_to(due);
            if !self.permit.may_work() {
                break;
            }
            self.settle().await?;
        }
        self.clock.move_to(target);
        self.settle().await?;
        // What is over by now is over for every reader, and the loop sleeps until an instant of the clock as it was.
        self.store.sweep(self.clock.now()).await?;
        self.hub.timers.notify_one();
        self.background.clock_moved();
        Ok(self.clock.now())
    }

    /// The next instant at which a timer is due, if it is by then.
    async fn next_by(&self, target: Timestamp) -> Result<Option<Timestamp>, UseCaseError> {
        let mut next = self.background.next_due(DUE, self.clock.now()).await?;
        if let Some(runner) = &self.runner {
            next = next.into_iter().chain(runner.next_due().await?).min();
        }
        Ok(next.filter(|due| *due <= target))
    }

    /// Does all that may be done now. An errand's end begins nothing in the queues.
    async fn settle(&self) -> Result<(), UseCaseError> {
        while self.permit.may_work() {
            let round = self.round(Queue::ALL).await?;
            if round.held {
                tokio::time::sleep(HELD).await;
            } else if round.done == 0 {
                break;
            }
        }
        match &self.runner {
            Some(runner) => Ok(runner.settle().await?),
            None => Ok(()),
        }
    }

    /// Does one round of each queue. One whose database does not answer spares the others.
    async fn round(&self, queues: &[Queue]) -> Result<Round, UseCaseError> {
        let _one_at_a_time =
            if queues.contains(&Queue::Timers) { Some(self.firing.lock().await) } else { None };
        let mut all = Round { done: 0, held: false, looked_at: self.clock.now() };
        let mut failed = Ok(());
        for queue in queues {
            match self.background.round(*queue).await {
                Ok(round) => {
                    all.done += round.done;
                    all.held |= round.held;
                }
                Err(error) => failed = failed.and(Err(error)),
            }
        }
        failed.map(|()| all)
    }

    /// Looks for what the process before this one left behind; before anything is begun.
    async fn recover(&self) {
        let recovered = self.recovered.get_or_init(|| async {
            while let Err(error) = self.background.recover().await {
                self.rest("recovery", &error).await;
            }
            tracing::info!("background work begins: what the process before this one left behind is known");
        });
        recovered.await;
    }

    async fn look(&self, queues: &[Queue]) {
        self.recover().await;
        let what = queues.first().map_or("nothing", |queue| queue.as_str());
        loop {
            if !self.permit.may_work() {
                tokio::time::sleep(REST).await;
                continue;
            }
            let began = tokio::time::Instant::now();
            let round = self.round(queues).await;
            if round.is_ok() {
                self.goes_on();
            }
            match round {
                Ok(Round { done: 0, held: true, .. }) => tokio::time::sleep(HELD).await,
                Ok(Round { done: 0, looked_at, .. }) => {
                    if queues.contains(&Queue::Kept) {
                        // Whatever begins to wait is told here, and hardly any of it finds something: what was kept just
                        // now its own sender delivers.
                        tokio::time::sleep((began.elapsed() * 4).clamp(LEAST_REST, REST)).await;
                    }
                    self.wait(queues, looked_at, what).await;
                }
                Ok(_) => {}
                Err(error) => self.rest(what, &error).await,
            }
        }
    }

    /// Waits until something is told or due.
    async fn wait(&self, queues: &[Queue], looked_at: Timestamp, what: &str) {
        let next = match self.background.next_due(queues, looked_at).await {
            Ok(next) => next,
            Err(error) => return self.rest(what, &error).await,
        };
        let until =
            next.map_or(self.options.poll, |due| due.duration_since(self.clock.now()).min(self.options.poll));
        // A millisecond more, so that the instant has passed when the loop looks again.
        let slept = tokio::time::sleep(until + Duration::from_millis(1));
        tokio::select! { () = slept => {}, () = self.told(queues).notified() => {} }
    }

    fn told(&self, queues: &[Queue]) -> &Notify {
        if queues.contains(&Queue::Outbox) {
            &self.hub.outbox
        } else if queues.contains(&Queue::Kept) {
            &self.hub.kept
        } else {
            &self.hub.timers
        }
    }

    async fn sweeping(&self) {
        loop {
            tokio::time::sleep(self.options.sweep).await;
            if let Err(error) = self.store.sweep(self.clock.now()).await {
                tracing::warn!(error = %error, "sweeping failed");
            }
        }
    }
}

impl Worker {
    /// Rests after a failure. A database that is away is told once, whichever loop meets it first; the rest is told
    /// each time.
    async fn rest(&self, what: &str, error: &UseCaseError) {
        if let UseCaseError::Unavailable(cause) = error {
            if !self.away.swap(true, Ordering::Relaxed) {
                tracing::warn!(what, %cause, "background work waits for the database");
            }
        } else {
            tracing::warn!(what, %error, "background work failed; it is tried again");
        }
        tokio::time::sleep(REST).await;
    }

    /// Notes that a round was done.
    fn goes_on(&self) {
        if self.away.load(Ordering::Relaxed) && self.away.swap(false, Ordering::Relaxed) {
            tracing::info!("background work goes on");
        }
    }
}

async fn until(mut stop: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        _ = stop.wait_for(|stopped| *stopped) => {}
    }
}
