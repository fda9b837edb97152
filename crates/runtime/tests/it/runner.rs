//! The runner of errands: at least once, in order, fair, bounded, and to its end. Time is paused; the clock of due times is
//! moved by the tests.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::Clock as _;
use heddle_runtime::{EventNotifier, MOST_TRIES, Permit, Runner, RunnerOptions, RunnerPorts, ServerClock};
use heddle_usecase::errand::{AsideReason, Bounds, Errand, ErrandKind, Executor, Lane, Outcome, Settlement};
use heddle_workflows::ports::Notifier as _;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::errands::{Kept, lane};
use crate::{Log, log};

const BOUNDS: Bounds = Bounds {
    total: 8,
    organization: 4,
    target: 2,
    ahead: 4,
    time_limit: Duration::from_secs(20),
    backlog: 100,
    oldest: Duration::from_secs(3600),
};
/// Far more than what a test waits for takes.
const A_WHILE: Duration = Duration::from_secs(5);

struct Licence(AtomicBool);

impl Permit for Licence {
    fn may_work(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// What an executor does with an errand.
#[derive(Debug, Clone, Copy)]
enum Does {
    Succeeds,
    Takes(Duration),
    Fails,
    Hangs,
    Panics,
    IsGone,
    IsOfOthers,
}

/// An executor that notes what it was asked for: lane, payload and the second.
struct Notes {
    does: Mutex<HashMap<Lane, Does>>,
    log: Log<(Lane, String, u64)>,
    began: Instant,
    now: Mutex<usize>,
    most: Mutex<usize>,
}

#[async_trait]
impl Executor for Notes {
    fn kind(&self) -> ErrandKind {
        ErrandKind::Webhook
    }

    fn bounds(&self) -> Bounds {
        BOUNDS
    }

    fn does(&self, lane: &Lane) -> bool {
        !matches!(self.does.lock().get(lane), Some(Does::IsOfOthers))
    }

    async fn run(&self, errand: &Errand) -> Outcome {
        let of = &errand.errand;
        self.log.lock().push((of.lane.clone(), of.payload.clone(), self.began.elapsed().as_secs()));
        let does = self.does.lock().get(&of.lane).copied().unwrap_or(Does::Succeeds);
        {
            let (mut now, mut most) = (self.now.lock(), self.most.lock());
            *now += 1;
            *most = (*now).max(*most);
        }
        let outcome = match does {
            Does::Succeeds | Does::IsOfOthers => Outcome::Done,
            Does::Takes(time) => {
                sleep(time).await;
                Outcome::Done
            }
            Does::Fails => Outcome::Failed { message: "It failed.".to_owned(), after: None },
            Does::Hangs => std::future::pending().await,
            Does::Panics => panic!("a fault"),
            Does::IsGone => Outcome::Gone,
        };
        *self.now.lock() -= 1;
        outcome
    }
}

struct World {
    kept: Arc<Kept>,
    notes: Arc<Notes>,
    hub: Arc<EventNotifier>,
    clock: Arc<ServerClock>,
    licence: Arc<Licence>,
    stop: watch::Sender<bool>,
}

impl World {
    fn new(kept: &Arc<Kept>, does: &[(Lane, Does)]) -> Self {
        let notes = Notes {
            does: Mutex::new(does.iter().cloned().collect()),
            log: log(),
            began: Instant::now(),
            now: Mutex::default(),
            most: Mutex::default(),
        };
        Self {
            kept: Arc::clone(kept),
            notes: Arc::new(notes),
            hub: Arc::new(EventNotifier::default()),
            clock: Arc::new(ServerClock::default()),
            licence: Arc::new(Licence(AtomicBool::new(true))),
            stop: watch::channel(false).0,
        }
    }

    fn runner(&self) -> Arc<Runner> {
        let ports = RunnerPorts {
            store: self.kept.clone(),
            executors: vec![self.notes.clone()],
            hub: Arc::clone(&self.hub),
            clock: Arc::clone(&self.clock),
            permit: self.licence.clone(),
            random: || 20,
        };
        let options = RunnerOptions { poll: Duration::from_secs(3600), lease: Duration::from_secs(60) };
        Arc::new(Runner::new(ports, Uuid::from_u128(1), options))
    }

    fn start(&self) -> Vec<tokio::task::JoinHandle<()>> {
        self.runner().start(&self.stop.subscribe())
    }

    /// Moves the clock, and has the runner look.
    async fn later(&self, seconds: i64) {
        self.clock.move_to(self.clock.now().plus_seconds(seconds));
        self.hub.errand_asked();
        sleep(A_WHILE).await;
    }

    /// Payloads that were sent of a lane, in order.
    fn sent(&self, of: &Lane) -> Vec<String> {
        let log = self.notes.log.lock();
        log.iter().filter(|(lane, ..)| lane == of).map(|(_, payload, _)| payload.clone()).collect()
    }
}

fn numbers(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| n.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn each_lane_is_done_in_its_order_and_everything_once() {
    let (one, two) = (lane(1, 1), lane(2, 2));
    let kept = Kept::with(&[(one.clone(), 20), (two.clone(), 20)]);
    let world = World::new(&kept, &[]);
    let _loops = world.start();
    sleep(A_WHILE).await;
    assert_eq!((world.sent(&one), world.sent(&two)), (numbers(0..20), numbers(20..40)));
    assert_eq!(kept.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_another_node_does_is_left_to_it_and_holds_up_nothing() {
    let (own, of_others) = (lane(1, 1), lane(1, 2));
    let kept = Kept::with(&[(own.clone(), 2), (of_others.clone(), 2)]);
    let world = World::new(&kept, &[(of_others.clone(), Does::IsOfOthers)]);
    let _loops = world.start();
    sleep(A_WHILE).await;
    assert_eq!((world.sent(&own).len(), world.sent(&of_others).len(), kept.len()), (2, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_of_one_organization_do_not_stand_before_one_of_another() {
    let flood: Vec<_> = (0..100).map(|line| (lane(1, line), 100)).collect();
    let one = lane(2, 1000);
    let kept = Kept::with(&[&flood[..], &[(one.clone(), 1)]].concat());
    let mut slow: Vec<_> =
        flood.iter().map(|(lane, _)| (lane.clone(), Does::Takes(Duration::from_secs(10)))).collect();
    slow.push((one.clone(), Does::Takes(Duration::from_secs(1))));
    let world = World::new(&kept, &slow);
    let _loops = world.start();
    sleep(Duration::from_secs(25)).await;
    let log = world.notes.log.lock();
    let seconds = log.iter().find(|(lane, ..)| *lane == one).map(|(.., seconds)| *seconds);
    assert_eq!(seconds, Some(0));
    assert_eq!(*world.notes.most.lock(), BOUNDS.organization + 1, "slots are left for others");
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_slower_than_what_comes_in_has_a_bounded_backlog() {
    let of = lane(1, 1);
    let kept = Kept::with(&[(of.clone(), 300)]);
    let world = World::new(&kept, &[(of.clone(), Does::Takes(Duration::from_secs(1)))]);
    let _loops = world.start();
    sleep(A_WHILE).await;
    assert!(kept.len() <= 100, "{} wait", kept.len());
    assert_eq!(world.sent(&of)[..5], ["0", "1", "2", "3", "200"], "the oldest went");
}

#[tokio::test(start_paused = true)]
async fn what_is_hastened_while_it_is_tried_is_tried_again_at_once() {
    let of = lane(1, 1);
    let kept = Kept::with(&[(of.clone(), 1)]);
    let world = World::new(&kept, &[(of.clone(), Does::Hangs)]);
    let runner = world.runner();
    let _loops = runner.start(&world.stop.subscribe());
    sleep(Duration::from_secs(1)).await;
    world.notes.does.lock().clear();
    runner.hasten(&of).await.unwrap();
    sleep(BOUNDS.time_limit + A_WHILE).await;
    assert_eq!((world.sent(&of).len(), kept.len()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_but_not_ended_when_the_process_died_is_sent_again_under_the_same_id() {
    let of = lane(1, 1);
    let kept = Kept::with(&[(of.clone(), 2)]);
    let dead = World::new(&kept, &[(of.clone(), Does::Hangs)]);
    let loops = dead.start();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(dead.sent(&of), ["0"]);
    loops.iter().for_each(tokio::task::JoinHandle::abort);
    let world = World::new(&kept, &[]);
    let _loops = world.start();
    sleep(A_WHILE).await;
    assert_eq!(world.sent(&of), ["0", "1"]);
    assert_eq!(kept.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_failing_one_holds_up_its_line_alone_until_it_is_set_aside_and_the_line_goes_on() {
    let (bad, good) = (lane(1, 1), lane(1, 2));
    let kept = Kept::with(&[(bad.clone(), 2), (good.clone(), 2)]);
    let world = World::new(&kept, &[(bad.clone(), Does::Fails)]);
    let _loops = world.start();
    sleep(A_WHILE).await;
    assert_eq!((world.sent(&bad).len(), world.sent(&good).len()), (1, 2));
    for tried in 2..=MOST_TRIES as usize {
        assert!(kept.aside.lock().is_empty());
        world.later(36_001).await;
        assert_eq!(world.sent(&bad)[..tried.min(11)], vec!["0"; tried.min(11)][..]);
    }
    let aside = kept.aside.lock().clone();
    let [one] = &aside[..] else { panic!("{aside:?}") };
    let Settlement::Aside { reason, message, attempts, .. } = &one.settlement else { panic!("{one:?}") };
    assert_eq!((*reason, message.as_str(), *attempts), (AsideReason::Failed, "It failed.", MOST_TRIES));
    assert_eq!(world.sent(&bad).last().map(String::as_str), Some("1"), "the line goes on at once");
}

#[tokio::test(start_paused = true)]
async fn a_fault_and_a_target_that_never_answers_are_failures_and_what_is_gone_takes_its_line_with_it() {
    let (faulty, silent, gone) = (lane(1, 1), lane(2, 2), lane(3, 3));
    let kept = Kept::with(&[(faulty.clone(), 1), (silent.clone(), 1), (gone.clone(), 9)]);
    let does = [(faulty, Does::Panics), (silent, Does::Hangs), (gone.clone(), Does::IsGone)];
    let world = World::new(&kept, &does);
    let _loops = world.start();
    sleep(Duration::from_secs(30)).await;
    assert_eq!(world.sent(&gone).len(), 1);
    let rows = kept.rows.lock().clone();
    let attempts: Vec<_> = rows.iter().map(|row| (row.errand.attempts, row.node)).collect();
    assert_eq!(attempts, [(1, None), (1, None)], "{rows:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_gives_back_what_is_not_ended_and_a_restricted_licence_begins_nothing() {
    let of = lane(1, 1);
    let kept = Kept::with(&[(of.clone(), 3)]);
    let world = World::new(&kept, &[(of.clone(), Does::Hangs)]);
    let loops = world.start();
    sleep(Duration::from_secs(1)).await;
    assert!(kept.rows.lock().iter().all(|row| row.node.is_some()));
    world.stop.send(true).unwrap();
    for one in loops {
        one.await.unwrap();
    }
    assert!(kept.rows.lock().iter().all(|row| row.node.is_none() && !row.errand.is_suspect));

    let world = World::new(&kept, &[]);
    world.licence.0.store(false, Ordering::SeqCst);
    let _loops = world.start();
    sleep(A_WHILE).await;
    assert!(world.sent(&of).is_empty());
    world.licence.0.store(true, Ordering::SeqCst);
    sleep(A_WHILE).await;
    assert_eq!(world.sent(&of), numbers(0..3));
}
