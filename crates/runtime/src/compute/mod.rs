//! Compute pool: threads of their own for work that computes for long, so that the threads that answer stay free.
//! A future is polled there turn by turn, each poll in the turn of its organisation; what it waits for meanwhile
//! (the database, another task) holds no thread.

mod queues;

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use async_task::Runnable;
use futures::FutureExt as _;
use heddle_kernel::TenantId;
use heddle_usecase::{Admission, Compute, Done, UseCaseError, Work};
use parking_lot::{Condvar, Mutex};
use tokio::runtime::Handle;

use queues::{Lane, Queues};

/// Name of the bound on an organisation's unfinished work, as callers are told.
pub const QUEUE_LIMIT: &str = "compute_queue";

/// Options of the pool.
#[derive(Debug, Clone, Copy)]
pub struct ComputeOptions {
    /// Number of threads; one organisation has at most one less of them.
    pub threads: usize,
    /// Most pieces of work of one organisation that are not finished.
    pub places: usize,
}

impl Default for ComputeOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { threads: cores.max(2), places: 256 }
    }
}

struct Shared {
    queues: Mutex<State>,
    more: Condvar,
}

struct State {
    queues: Queues<Runnable>,
    is_open: bool,
}

/// The pool. Its threads end when it is dropped.
pub struct ComputePool {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for ComputePool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ComputePool").finish_non_exhaustive()
    }
}

/// Reason for which a piece of work has no result.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ComputeError {
    /// Too much of the organisation waits already.
    #[error("the organisation's queue is full")]
    Full,
    /// The pool has ended.
    #[error("the threads that compute have ended")]
    Stopped,
    /// A panic ended it.
    #[error("a computation panicked")]
    Panicked,
}

impl From<ComputeError> for UseCaseError {
    fn from(error: ComputeError) -> Self {
        match error {
            ComputeError::Full => Self::QueueFull { limit: QUEUE_LIMIT },
            ComputeError::Stopped | ComputeError::Panicked => Self::Internal(error.to_string()),
        }
    }
}

/// A piece of work on the pool, to be waited for. Dropped, it is cancelled at its next wait, unless it was told to
/// go to its end.
#[derive(Debug)]
pub struct Job<T> {
    task: Option<async_task::FallibleTask<Result<T, ComputeError>>>,
    to_the_end: bool,
}

impl<T> Job<T> {
    /// The same, which nobody's going away cuts short: for what may write.
    #[must_use]
    pub fn to_the_end(mut self) -> Self {
        self.to_the_end = true;
        self
    }
}

impl<T> Future for Job<T> {
    type Output = Result<T, ComputeError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.task {
            // A pool that has ended does nothing any more: its work is over without a result.
            Some(task) => task.poll_unpin(context).map(|done| done.unwrap_or(Err(ComputeError::Stopped))),
            None => Poll::Ready(Err(ComputeError::Stopped)),
        }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        if let (Some(task), true) = (self.task.take(), self.to_the_end) {
            task.detach();
        }
    }
}

/// A place in an organisation's queue; given back when the work ends or is cancelled.
struct Place {
    shared: Arc<Shared>,
    lane: Lane,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.queues.lock().queues.leave(self.lane);
    }
}

impl ComputePool {
    /// Starts the threads on the present runtime.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn start(options: ComputeOptions) -> std::io::Result<Self> {
        let threads = options.threads.max(2);
        let queues = Queues::new(threads - 1, options.places);
        let shared =
            Arc::new(Shared { queues: Mutex::new(State { queues, is_open: true }), more: Condvar::new() });
        for number in 0..threads {
            let (shared, runtime) = (Arc::clone(&shared), Handle::current());
            let thread = std::thread::Builder::new().name(format!("compute-{number}"));
            thread.spawn(move || {
                // What the work waits for lives on the server's runtime.
                let _inside = runtime.enter();
                shared.work();
            })?;
        }
        Ok(Self { shared })
    }

    /// Puts a future into the queue of an organisation.
    ///
    /// # Errors
    /// `Full`, when too much of the organisation is unfinished.
    pub fn spawn<F>(&self, lane: Option<TenantId>, work: F) -> Result<Job<F::Output>, ComputeError>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        if !self.shared.queues.lock().queues.admit(lane) {
            return Err(ComputeError::Full);
        }
        Ok(self.spawn_admitted(lane, work))
    }

    fn spawn_admitted<F>(&self, lane: Lane, work: F) -> Job<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let place = Place { shared: Arc::clone(&self.shared), lane };
        let work = async move {
            let _place = place;
            AssertUnwindSafe(work).catch_unwind().await.or(Err(ComputeError::Panicked))
        };
        let shared = Arc::clone(&self.shared);
        let (runnable, task) = async_task::spawn(work, move |runnable| shared.push(lane, runnable));
        runnable.schedule();
        Job { task: Some(task.fallible()), to_the_end: false }
    }
}

impl Drop for ComputePool {
    fn drop(&mut self) {
        let left = {
            let mut state = self.shared.queues.lock();
            state.is_open = false;
            state.queues.drain()
        };
        self.shared.more.notify_all();
        drop(left);
    }
}

impl Shared {
    fn push(&self, lane: Lane, runnable: Runnable) {
        let mut state = self.queues.lock();
        if state.is_open {
            state.queues.push(lane, runnable);
            drop(state);
            self.more.notify_one();
        } else {
            drop(state);
            drop(runnable);
        }
    }

    fn work(&self) {
        loop {
            let mut state = self.queues.lock();
            let (lane, runnable) = loop {
                if let Some(next) = state.queues.next() {
                    break next;
                }
                if !state.is_open {
                    return;
                }
                self.more.wait(&mut state);
            };
            drop(state);
            let began = Instant::now();
            runnable.run();
            let took = began.elapsed();
            self.queues.lock().queues.finish(lane, took);
            // A queue that had its number of jobs on threads may have one more now.
            self.more.notify_one();
        }
    }
}

impl Compute for ComputePool {
    fn run(&self, tenant: TenantId, admission: Admission, work: Work) -> Done<'_> {
        let lane = Some(tenant);
        let future = async move { work() };
        let job = match admission {
            Admission::Refuse => self.spawn(lane, future),
            Admission::Take => {
                self.shared.queues.lock().queues.take_in(lane);
                Ok(self.spawn_admitted(lane, future))
            }
        };
        Box::pin(async move { Ok(job?.await?) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use uuid::Uuid;

    use super::*;

    fn tenant(number: u128) -> TenantId {
        TenantId(Uuid::from_u128(number))
    }

    fn pool(places: usize) -> ComputePool {
        ComputePool::start(ComputeOptions { threads: 2, places }).unwrap()
    }

    #[tokio::test]
    async fn another_organisation_is_served_while_one_computes_without_end() {
        let pool = pool(8);
        let (go_on, wait) = mpsc::channel::<()>();
        let long = pool.spawn(Some(tenant(1)), async move { wait.recv().is_ok() }).unwrap();
        let queued = pool.spawn(Some(tenant(1)), async { 1 }).unwrap();
        assert_eq!(pool.spawn(Some(tenant(2)), async { 2 }).unwrap().await, Ok(2));
        assert_eq!(pool.spawn(None, async { 3 }).unwrap().await, Ok(3));
        go_on.send(()).unwrap();
        assert_eq!(long.await, Ok(true));
        assert_eq!(queued.await, Ok(1));
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_takes_again_what_nobody_waits_for() {
        let pool = pool(1);
        let (go_on, wait) = mpsc::channel::<()>();
        let long = pool.spawn(Some(tenant(1)), async move { wait.recv().is_ok() }).unwrap();
        let refused = pool.run(tenant(1), Admission::Refuse, Box::new(|| {})).await;
        assert!(matches!(refused, Err(UseCaseError::QueueFull { limit: QUEUE_LIMIT })));
        let taken = pool.run(tenant(1), Admission::Take, Box::new(|| {}));
        go_on.send(()).unwrap();
        assert!(long.await.unwrap());
        taken.await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_gives_its_place_back() {
        let pool = pool(1);
        for _ in 0..3 {
            let job = pool.spawn(None, async { panic!("as it was asked to") }).unwrap();
            assert_eq!(job.await, Err::<(), _>(ComputeError::Panicked));
        }
        assert_eq!(pool.spawn(None, async { 1 }).unwrap().await, Ok(1));
    }

    #[tokio::test]
    async fn who_goes_away_cancels_what_has_no_effect_and_nothing_else() {
        let pool = pool(8);
        let done = Arc::new(AtomicUsize::new(0));
        let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
        let counting = |gate: Arc<tokio::sync::Semaphore>| {
            let (done, started) = (Arc::clone(&done), started.clone());
            async move {
                started.send(()).unwrap();
                gate.acquire().await.unwrap().forget();
                done.fetch_add(1, Ordering::SeqCst);
            }
        };
        let gate = Arc::new(tokio::sync::Semaphore::new(0));
        let preview = pool.spawn(Some(tenant(1)), counting(Arc::clone(&gate))).unwrap();
        let write = pool.spawn(Some(tenant(1)), counting(Arc::clone(&gate))).unwrap().to_the_end();
        starts.recv().await.unwrap();
        starts.recv().await.unwrap();
        drop(preview);
        drop(write);
        gate.add_permits(2);
        // The places are given back when both have ended.
        while pool.shared.queues.lock().queues.is_used() {
            tokio::task::yield_now().await;
        }
        assert_eq!(done.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn what_waits_when_the_pool_ends_is_told_so() {
        let pool = pool(8);
        let (go_on, wait) = mpsc::channel::<()>();
        let (started, starts) = mpsc::channel();
        let long = async move {
            started.send(()).unwrap();
            wait.recv().is_ok()
        };
        let running = pool.spawn(Some(tenant(1)), long).unwrap();
        starts.recv().unwrap();
        let queued = pool.spawn(Some(tenant(1)), async { 1 }).unwrap();
        drop(pool);
        assert_eq!(queued.await, Err(ComputeError::Stopped));
        go_on.send(()).unwrap();
        assert_eq!(running.await, Ok(true));
    }

    #[tokio::test]
    async fn what_is_waited_for_holds_no_thread() {
        let pool = pool(100);
        let gate = Arc::new(tokio::sync::Semaphore::new(0));
        let waiting: Vec<_> = (0..50)
            .map(|_| {
                let gate = Arc::clone(&gate);
                pool.spawn(Some(tenant(1)), async move { gate.acquire().await.is_ok() }).unwrap()
            })
            .collect();
        assert_eq!(pool.spawn(Some(tenant(1)), async { 1 }).unwrap().await, Ok(1));
        gate.add_permits(50);
        for job in waiting {
            assert_eq!(job.await, Ok(true));
        }
    }
}
