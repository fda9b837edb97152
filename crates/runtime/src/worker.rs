//! The loops: timers, deliveries, and sweeping.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use heddle_kernel::{Clock as _, Timestamp};
use heddle_usecase::UseCaseError;
use heddle_workflows::ports::RunStore;
use heddle_workflows::runs::Runs;
use tokio::sync::{Mutex, watch};

use crate::{EventNotifier, ServerClock};

/// Most timers that are read at once.
const PAGE: i64 = 512;
/// Number of them that fire side by side; they share commits.
const ABREAST: usize = 64;
/// Rest of the loops when the database does not answer.
const REST: Duration = Duration::from_secs(1);

/// Whether work may begin that nobody asked for at this moment: not on a restricted installation.
pub trait Permit: Send + Sync {
    /// Whether timers may fire and messages be delivered.
    fn may_work(&self) -> bool;
}

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
    runs: Arc<Runs>,
    store: Arc<dyn RunStore>,
    hub: Arc<EventNotifier>,
    clock: Arc<ServerClock>,
    permit: Arc<dyn Permit>,
    options: WorkerOptions,
    /// Held while due timers fire, so that a moved clock can wait for them.
    firing: Mutex<()>,
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
        runs: Arc<Runs>,
        store: Arc<dyn RunStore>,
        hub: Arc<EventNotifier>,
        clock: Arc<ServerClock>,
        permit: Arc<dyn Permit>,
        options: WorkerOptions,
    ) -> Self {
        Self { runs, store, hub, clock, permit, options, firing: Mutex::new(()) }
    }

    /// Starts the loops; they end when `stop` turns true.
    pub fn start(self: &Arc<Self>, stop: &watch::Receiver<bool>) -> Vec<tokio::task::JoinHandle<()>> {
        let timers = tokio::spawn(until(stop.clone(), {
            let worker = Arc::clone(self);
            async move { worker.timers().await }
        }));
        let deliveries = tokio::spawn(until(stop.clone(), {
            let worker = Arc::clone(self);
            async move { worker.deliveries().await }
        }));
        let sweeping = tokio::spawn(until(stop.clone(), {
            let worker = Arc::clone(self);
            async move { worker.sweeping().await }
        }));
        vec![timers, deliveries, sweeping]
    }

    /// Moves the clock forward, stopping at each instant at which something is due, so that what fires sees the time
    /// that it was set for; returns when nothing is due and nothing is to be delivered.
    ///
    /// # Errors
    /// What the firing met.
    pub async fn advance_clock(&self, target: Timestamp) -> Result<Timestamp, UseCaseError> {
        self.settle().await?;
        while let Some(due) = self.store.next_due().await?.filter(|due| *due <= target) {
            self.clock.move_to(due);
            self.settle().await?;
        }
        self.clock.move_to(target);
        self.settle().await?;
        Ok(self.clock.now())
    }

    async fn settle(&self) -> Result<(), UseCaseError> {
        loop {
            let fired = self.fire_due().await?;
            let delivered = self.runs.deliver_pending(self.clock.now(), PAGE).await?;
            if fired + delivered == 0 {
                return Ok(());
            }
        }
    }

    /// Fires what is due; returns how many. The first error stands for all; the others fire nevertheless.
    async fn fire_due(&self) -> Result<usize, UseCaseError> {
        let _one_at_a_time = self.firing.lock().await;
        let now = self.clock.now();
        let timers = self.store.due_timers(now, PAGE).await?;
        let starts = self.store.due_starts(now, PAGE).await?;
        let count = timers.len() + starts.len();
        let fired = futures::stream::iter(timers)
            .map(|due| async move { self.runs.fire(&due).await })
            .buffer_unordered(ABREAST)
            .collect::<Vec<_>>()
            .await;
        let started = futures::stream::iter(starts)
            .map(|binding| async move { self.runs.fire_start(&binding).await })
            .buffer_unordered(ABREAST)
            .collect::<Vec<_>>()
            .await;
        fired.into_iter().chain(started).collect::<Result<Vec<()>, _>>()?;
        Ok(count)
    }

    async fn timers(&self) {
        loop {
            if !self.permit.may_work() {
                tokio::time::sleep(REST).await;
                continue;
            }
            match self.fire_due().await {
                Ok(0) => self.wait_for_due().await,
                Ok(_) => {}
                Err(error) => rest("timers", &error).await,
            }
        }
    }

    async fn wait_for_due(&self) {
        let next = match self.store.next_due().await {
            Ok(next) => next,
            Err(error) => return rest("timers", &error.into()).await,
        };
        let until =
            next.map_or(self.options.poll, |due| due.duration_since(self.clock.now()).min(self.options.poll));
        // A millisecond more, so that the instant has passed when the loop looks again.
        let slept = tokio::time::sleep(until + Duration::from_millis(1));
        tokio::select! { () = slept => {}, () = self.hub.timers.notified() => {} }
    }

    async fn deliveries(&self) {
        loop {
            if !self.permit.may_work() {
                tokio::time::sleep(REST).await;
                continue;
            }
            match self.runs.deliver_pending(self.clock.now(), PAGE).await {
                Ok(0) => {
                    let slept = tokio::time::sleep(self.options.poll);
                    tokio::select! { () = slept => {}, () = self.hub.outbox.notified() => {} }
                }
                Ok(_) => {}
                Err(error) => rest("deliveries", &error).await,
            }
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

async fn rest(what: &str, error: &UseCaseError) {
    tracing::warn!(what, error = %error, "background work failed; it is tried again");
    tokio::time::sleep(REST).await;
}

async fn until(mut stop: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        _ = stop.wait_for(|stopped| *stopped) => {}
    }
}
