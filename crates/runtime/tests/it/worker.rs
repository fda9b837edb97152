//! The loops: timers, deliveries, sweeping. Time is paused: it jumps to the next thing that somebody waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use heddle_kernel::{Clock as _, SequentialIds, Timestamp};
use heddle_runtime::{EventNotifier, Permit, ServerClock, Worker, WorkerOptions};
use heddle_usecase::StoreError;
use heddle_workflows::background;
use heddle_workflows::limits::Limits;
use heddle_workflows::ports::{
    Kinds, MockCommitter, MockRunStore, MockVersions, MockWorkStore, Notifier as _, Queue, RunStore,
    WorkStore,
};
use heddle_workflows::records::{DueTimer, PendingWork, Tries, Work};
use heddle_workflows::runs::{RunPorts, Runs};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::{Log, log, run, tenant};

const POLL: Duration = Duration::from_secs(60);
const SWEEP: Duration = Duration::from_secs(3600);
/// The loops look once as they start; this is shorter than anything else that they wait for.
const A_MOMENT: Duration = Duration::from_millis(10);

struct Licence(AtomicBool);

impl Permit for Licence {
    fn may_work(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

struct Background {
    worker: Arc<Worker>,
    hub: Arc<EventNotifier>,
    clock: Arc<ServerClock>,
    licence: Arc<Licence>,
    stop: watch::Sender<bool>,
}

/// Stores of a test: of runs, and of background work.
struct Stores {
    runs: MockRunStore,
    work: MockWorkStore,
}

impl Stores {
    fn new() -> Self {
        Self { runs: MockRunStore::new(), work: MockWorkStore::new() }
    }

    /// Answers a look into a queue.
    fn on(
        &mut self,
        queue: Queue,
        mut answer: impl FnMut(Timestamp) -> Result<Vec<PendingWork>, StoreError> + Send + 'static,
    ) {
        let looks = self.work.expect_pending().withf(move |asked, _, _| *asked == queue);
        looks.returning(move |_, now, _| answer(now));
    }
}

impl Background {
    /// With stores whose other answers are that there is nothing to do.
    fn new(stores: Stores) -> Self {
        let Stores { mut runs, mut work } = stores;
        work.expect_pending().returning(|_, _, _| Ok(Vec::new()));
        work.expect_next_due().returning(|_, _| Ok(None));
        work.expect_left_behind().returning(|_, _| Ok(Vec::new()));
        work.expect_mark().returning(|_, _, _, _| Ok(()));
        work.expect_unmark().returning(|_, _| Ok(()));
        work.expect_forget().returning(|_| Ok(()));
        work.expect_record().returning(|_| Ok(()));
        runs.expect_sweep().returning(|_| Ok(0));
        let (store, work): (Arc<dyn RunStore>, Arc<dyn WorkStore>) = (Arc::new(runs), Arc::new(work));
        let (hub, clock) = (Arc::new(EventNotifier::default()), Arc::new(ServerClock::default()));
        let ports = RunPorts {
            compute: Arc::new(heddle_usecase::InPlace),
            runs: Arc::clone(&store),
            jobs: Arc::new(heddle_workflows::ports::MockJobStore::new()),
            work,
            limits: Arc::new(Limits::default()),
            committer: Arc::new(MockCommitter::new()),
            hub: hub.clone(),
            versions: Kinds::workflows(Arc::new(MockVersions::new())),
            ids: Arc::new(SequentialIds::default()),
            clock: clock.clone(),
            directory: Arc::new(heddle_workflows::ports::MockDirectory::new()),
        };
        let runs = Arc::new(Runs::new(ports.clone()));
        let rounds = Arc::new(background::Background::new(runs, ports, uuid::Uuid::nil()));
        let licence = Arc::new(Licence(AtomicBool::new(true)));
        let options = WorkerOptions { poll: POLL, sweep: SWEEP };
        let worker = Worker::new(rounds, store, hub.clone(), clock.clone(), licence.clone(), options);
        let worker = Arc::new(worker);
        Self { worker, hub, clock, licence, stop: watch::channel(false).0 }
    }

    fn start(&self) -> Vec<tokio::task::JoinHandle<()>> {
        self.worker.start(&self.stop.subscribe())
    }
}

fn timer(number: u128) -> PendingWork {
    let timer = DueTimer {
        tenant: tenant(),
        run: run(number),
        timer_id: "1".to_owned(),
        node_id: "wait".to_owned(),
        due_at: Timestamp::from_micros(0),
    };
    PendingWork { work: Work::Timer(timer), tries: Tries::default() }
}

fn down() -> StoreError {
    StoreError::Unavailable("down".to_owned())
}

/// Notes when something was asked for, in seconds since the start of the test.
fn clocked(log: &Log<u64>) -> impl Fn() + Send + Sync + 'static {
    let (log, began) = (Arc::clone(log), Instant::now());
    move || log.lock().push(began.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_due_timer_fires_and_the_loop_looks_again_at_once() {
    let (mut store, fired, looks) = (Stores::new(), log(), log());
    let look = clocked(&looks);
    let mut due = vec![vec![timer(2)], vec![timer(1)]];
    store.on(Queue::Timers, move |_| {
        look();
        Ok(due.pop().unwrap_or_default())
    });
    let seen = Arc::clone(&fired);
    store.runs.expect_load_any().returning(move |_, run| {
        seen.lock().push(run);
        // A run that was removed in the meantime has no timer any more, which is no error.
        Err(StoreError::NotFound)
    });
    let background = Background::new(store);
    let _loops = background.start();
    sleep(A_MOMENT).await;
    assert_eq!((fired.lock().clone(), looks.lock().clone()), (vec![run(1), run(2)], vec![0, 0, 0]));
}

#[tokio::test(start_paused = true)]
async fn the_loop_sleeps_until_the_next_timer_is_due_but_never_longer_than_agreed() {
    for (ahead, expected) in [(7, vec![0, 7]), (3600, vec![0, 60])] {
        let (mut store, looks) = (Stores::new(), log());
        let look = clocked(&looks);
        store.on(Queue::Timers, move |_| {
            look();
            Ok(Vec::new())
        });
        let due = ServerClock::default().now().plus_millis(ahead * 1000 + 500);
        store
            .work
            .expect_next_due()
            .withf(|of, _| *of == Queue::Timers)
            .times(1)
            .returning(move |_, _| Ok(Some(due)));
        let background = Background::new(store);
        let _loops = background.start();
        sleep(Duration::from_secs(62)).await;
        assert_eq!(looks.lock()[..2], expected[..], "{ahead}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_is_set_wakes_the_loop() {
    let (mut store, looks) = (Stores::new(), log());
    let look = clocked(&looks);
    store.on(Queue::Timers, move |_| {
        look();
        Ok(Vec::new())
    });
    let background = Background::new(store);
    // Told before the loop waits: that counts as well.
    background.hub.timer_set(Timestamp::from_micros(0));
    let _loops = background.start();
    sleep(Duration::from_secs(5)).await;
    background.hub.timer_set(Timestamp::from_micros(0));
    sleep(A_MOMENT).await;
    assert_eq!(*looks.lock(), [0, 0, 5]);
}

#[tokio::test(start_paused = true)]
async fn a_database_that_does_not_answer_is_left_alone_for_a_second() {
    let (mut store, looks) = (Stores::new(), log());
    let look = clocked(&looks);
    let mut answers = vec![Err(down()), Err(down())];
    store.on(Queue::Timers, move |_| {
        look();
        answers.pop().unwrap_or_else(|| Ok(Vec::new()))
    });
    store.work.expect_next_due().withf(|of, _| *of == Queue::Timers).times(1).returning(|_, _| Err(down()));
    let background = Background::new(store);
    let _loops = background.start();
    sleep(Duration::from_secs(30)).await;
    assert_eq!(*looks.lock(), [0, 1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn one_timer_that_fails_spares_the_others_and_is_tried_again() {
    let (mut store, fired) = (Stores::new(), log());
    let mut rounds = 2;
    store.on(Queue::Timers, move |_| {
        rounds -= 1;
        Ok(if rounds >= 0 { vec![timer(1), timer(2)] } else { Vec::new() })
    });
    let (seen, began) = (Arc::clone(&fired), Instant::now());
    store.runs.expect_load_any().returning(move |_, at| {
        seen.lock().push((at, began.elapsed().as_secs()));
        let first = began.elapsed() < Duration::from_secs(1);
        Err(if at == run(1) && first { down() } else { StoreError::NotFound })
    });
    let background = Background::new(store);
    let _loops = background.start();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(*fired.lock(), [(run(1), 0), (run(2), 0), (run(1), 1), (run(2), 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_restricted_installation_fires_and_delivers_nothing_until_it_is_free_again() {
    let (mut store, looks, deliveries) = (Stores::new(), log(), log());
    let (look, deliver) = (clocked(&looks), clocked(&deliveries));
    store.on(Queue::Timers, move |_| {
        look();
        Ok(Vec::new())
    });
    store.on(Queue::Outbox, move |_| {
        deliver();
        Ok(Vec::new())
    });
    let background = Background::new(store);
    background.licence.0.store(false, Ordering::SeqCst);
    let _loops = background.start();
    sleep(Duration::from_millis(4_500)).await;
    assert!(looks.lock().is_empty() && deliveries.lock().is_empty());
    background.licence.0.store(true, Ordering::SeqCst);
    sleep(Duration::from_secs(2)).await;
    assert_eq!((looks.lock().clone(), deliveries.lock().clone()), (vec![5], vec![5]));
}

#[tokio::test(start_paused = true)]
async fn what_has_begun_ends_when_the_installation_becomes_restricted() {
    let (mut store, looks, fired) = (Stores::new(), log(), log());
    let (look, seen) = (clocked(&looks), Arc::clone(&fired));
    store.on(Queue::Timers, move |_| {
        look();
        Ok(vec![timer(1), timer(2)])
    });
    let licence = Arc::new(std::sync::OnceLock::<Arc<Licence>>::new());
    let ends = Arc::clone(&licence);
    store.runs.expect_load_any().returning(move |_, run| {
        seen.lock().push(run);
        ends.get().unwrap().0.store(false, Ordering::SeqCst);
        Err(StoreError::NotFound)
    });
    let background = Background::new(store);
    assert!(licence.set(Arc::clone(&background.licence)).is_ok());
    let _loops = background.start();
    sleep(Duration::from_millis(4_500)).await;
    assert_eq!((fired.lock().clone(), looks.lock().clone()), (vec![run(1), run(2)], vec![0]));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_moved_on_a_restricted_installation_fires_nothing() {
    let (mut store, looks) = (Stores::new(), log());
    let look = clocked(&looks);
    store.on(Queue::Timers, move |_| {
        look();
        Ok(vec![timer(1)])
    });
    let begin = ServerClock::default().now();
    let due = begin.plus_seconds(3600);
    store.work.expect_next_due().returning(move |_, _| Ok(Some(due)));
    let background = Background::new(store);
    background.licence.0.store(false, Ordering::SeqCst);
    let reached = background.worker.advance_clock(begin.plus_seconds(7200)).await.unwrap();
    assert!(reached >= begin.plus_seconds(7200));
    assert!(looks.lock().is_empty(), "what is due stays so");
}

#[tokio::test(start_paused = true)]
async fn a_thrown_message_wakes_the_deliveries_and_a_failed_one_is_tried_again() {
    let (mut store, deliveries) = (Stores::new(), log());
    let deliver = clocked(&deliveries);
    let mut answers = vec![Err(down()), Ok(Vec::new())];
    store.on(Queue::Outbox, move |_| {
        deliver();
        answers.pop().unwrap_or_else(|| Ok(Vec::new()))
    });
    let background = Background::new(store);
    let _loops = background.start();
    sleep(Duration::from_millis(5_500)).await;
    background.hub.outbox_changed();
    sleep(Duration::from_secs(70)).await;
    // At the start; told; a second after the failure; after the longest time without a look.
    assert_eq!(*deliveries.lock(), [0, 5, 6, 66]);
}

#[tokio::test(start_paused = true)]
async fn sweeping_goes_on_after_a_failure() {
    let (mut store, sweeps) = (Stores::new(), log());
    let sweep = clocked(&sweeps);
    store.runs.expect_sweep().returning(move |_| {
        sweep();
        Err(down())
    });
    let background = Background::new(store);
    let _loops = background.start();
    sleep(SWEEP * 2 + A_MOMENT).await;
    assert_eq!(*sweeps.lock(), [3600, 7200]);
}

#[tokio::test(start_paused = true)]
async fn the_loops_end_when_they_are_told_to_stop() {
    let background = Background::new(Stores::new());
    let loops = background.start();
    sleep(A_MOMENT).await;
    assert!(loops.iter().all(|task| !task.is_finished()));
    background.stop.send(true).unwrap();
    for task in loops {
        task.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_moved_stops_at_each_instant_at_which_something_is_due() {
    let (mut store, fired) = (Stores::new(), log());
    let begin = ServerClock::default().now();
    let (one, two, beyond) = (begin.plus_seconds(3600), begin.plus_seconds(7200), begin.plus_seconds(90_000));
    let waiting = Arc::new(parking_lot::Mutex::new(vec![beyond, two, one]));
    let (next, due) = (Arc::clone(&waiting), Arc::clone(&waiting));
    store
        .work
        .expect_next_due()
        .withf(|of, _| *of == Queue::Timers)
        .returning(move |_, _| Ok(next.lock().last().copied()));
    let seen = Arc::clone(&fired);
    store.on(Queue::Timers, move |now| {
        let mut due = due.lock();
        let first = due.pop_if(|at| *at <= now);
        seen.lock().extend(first.map(|at| now.duration_since(at).as_secs()));
        Ok(first.map(|_| timer(1)).into_iter().collect())
    });
    store.runs.expect_load_any().returning(|_, _| Err(StoreError::NotFound));
    let background = Background::new(store);
    let reached = background.worker.advance_clock(begin.plus_seconds(10_000)).await.unwrap();
    // Each fired at its own time, not at the end of the move.
    assert_eq!(*fired.lock(), [0, 0]);
    assert!(reached >= begin.plus_seconds(10_000) && reached < beyond);
    assert_eq!(background.clock.now().duration_since(reached).as_secs(), 0);
    assert_eq!(*waiting.lock(), [beyond]);
}
