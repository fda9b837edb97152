//! Due work: timers of runs and timer starts.

use heddle_kernel::RunId;
use heddle_usecase::StoreError;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::ports::{Queue, Turn, WorkStore as _};
use crate::records::{Draft, DueTimer, PendingWork, RunState, StartBinding, Work};
use crate::tests::support::{NOW, Notice, World, chain, event, model, uuid};

fn waiting() -> Value {
    chain(&[("wait", "intermediateCatchEvent", event("timer PT1H"))])
}

/// A process that a timer starts, so many times, every hour.
fn hourly(cycle: &str) -> Value {
    model(
        &[("s", "startEvent", event(&format!("cycle {cycle}"))), ("e", "endEvent", json!({}))],
        &[("s", "e")],
    )
}

const EVERYTHING: Turn = Turn { limit: 10, share: 10, after: None };

async fn due(world: &World) -> Vec<DueTimer> {
    let now = heddle_kernel::Clock::now(&*world.clock);
    let pending = world.memory.pending(Queue::Timers, now, EVERYTHING).await.unwrap();
    let timer = |one: PendingWork| match one.work {
        Work::Timer(timer) => timer,
        other => panic!("{other:?}"),
    };
    pending.into_iter().map(timer).collect()
}

async fn due_starts(world: &World) -> Vec<StartBinding> {
    let now = heddle_kernel::Clock::now(&*world.clock);
    let pending = world.memory.pending(Queue::Starts, now, EVERYTHING).await.unwrap();
    let start = |one: PendingWork| match one.work {
        Work::TimerStart(binding) => binding,
        other => panic!("{other:?}"),
    };
    pending.into_iter().map(start).collect()
}

const HOUR: i64 = 3_600_000;

#[tokio::test]
async fn a_timer_fires_once_when_its_time_has_come() {
    let (world, run) = World::running(&waiting()).await;
    let told = world.notices.take();
    assert!(told.contains(&Notice::Timer(NOW.plus_seconds(3600))), "{told:?}");
    world.clock.advance_millis(HOUR - 1);
    assert_eq!(due(&world).await, []);
    world.clock.advance_millis(1);
    let [timer] = &due(&world).await[..] else { panic!("no timer") };
    world.runs.fire(timer).await.unwrap();
    let ended = world.memory.run(run.id);
    assert_eq!((ended.state, ended.ended_at), (RunState::Completed, Some(NOW.plus_seconds(3600))));
    let written = world.memory.commit_count();
    world.runs.fire(timer).await.unwrap();
    assert_eq!(world.memory.commit_count(), written, "a second firing does nothing");
    assert_eq!(due(&world).await, []);
}

#[tokio::test]
async fn a_timer_that_is_gone_is_passed_over() {
    let (world, run) = World::running(&waiting()).await;
    let timer = |run: RunId, id: &str| DueTimer {
        tenant: world.memory.0.lock().runs.values().next().unwrap().tenant,
        run,
        timer_id: id.to_owned(),
        node_id: "wait".to_owned(),
        due_at: NOW,
    };
    for gone in [timer(RunId(uuid(9)), "n1"), timer(run.id, "n999"), timer(run.id, "no id")] {
        world.runs.fire(&gone).await.unwrap();
    }
    assert_eq!((world.memory.run(run.id).revision, world.memory.commit_count()), (run.revision, 1));
}

#[tokio::test]
async fn a_timer_whose_database_fails_is_left_for_another_try() {
    let (world, run) = World::running(&waiting()).await;
    world.clock.advance_millis(HOUR);
    let timer = due(&world).await.remove(0);
    world.memory.fail_next(StoreError::Unavailable("gone".to_owned()));
    let failed = world.runs.fire(&timer).await;
    assert!(matches!(failed, Err(UseCaseError::Unavailable(_))), "{failed:?}");
    assert_eq!(due(&world).await.first(), Some(&timer), "it is still set");
    world.runs.fire(&timer).await.unwrap();
    assert_eq!(world.memory.run(run.id).state, RunState::Completed);
}

#[tokio::test]
async fn one_runs_trouble_does_not_stop_the_timers_of_others() {
    let world = World::new();
    let workflow = world.published("w", &waiting()).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(world.start(workflow, crate::runs::StartRun::default()).await.id);
    }
    // The second run is of a version that nobody has.
    world.memory.0.lock().runs.get_mut(&runs[1]).unwrap().version = 99;
    world.clock.advance_millis(HOUR);
    for timer in due(&world).await {
        let fired = world.runs.fire(&timer).await;
        assert_eq!(fired.is_err(), timer.run == runs[1], "{fired:?}");
    }
    let states: Vec<_> = runs.iter().map(|id| world.memory.run(*id).state).collect();
    assert_eq!(states, [RunState::Completed, RunState::Waiting, RunState::Completed]);
}

#[tokio::test]
async fn a_timer_start_starts_a_run_and_moves_to_its_next_slot_in_one_unit() {
    let world = World::new();
    let workflow = world.published("w", &hourly("R2/PT1H")).await;
    let mut seen = Vec::new();
    for slot in 1..=2 {
        world.clock.advance_millis(HOUR);
        let [binding] = &due_starts(&world).await[..] else { panic!("slot {slot}") };
        world.runs.fire_start(binding).await.unwrap();
        assert_eq!(due_starts(&world).await, [], "slot {slot} is used up");
        let next = world.memory.0.lock().bindings[0].next_due_at;
        seen.push((world.memory.0.lock().runs.len(), next));
    }
    assert_eq!(seen, [(1, Some(NOW.plus_seconds(7200))), (2, None)]);
    let run = world.memory.0.lock().runs.values().next().cloned().unwrap();
    assert_eq!((run.workflow, run.created_by, run.state), (workflow, None, RunState::Completed));
    let trigger = serde_json::to_value(&run.trigger).unwrap();
    assert_eq!(trigger, json!({ "kind": "timer", "nodeId": "s" }));
}

#[tokio::test]
async fn each_slot_of_a_counted_cycle_is_a_run_however_late() {
    let world = World::new();
    world.published("w", &hourly("R3/PT1H")).await;
    let told = world.notices.take();
    assert!(
        told.contains(&Notice::Timer(NOW.plus_seconds(3600))),
        "the loop is woken by publishing: {told:?}"
    );
    world.clock.advance_millis(50 * HOUR);
    let mut rounds = 0;
    while let Some(binding) = due_starts(&world).await.first() {
        world.runs.fire_start(binding).await.unwrap();
        rounds += 1;
    }
    assert_eq!((rounds, world.memory.0.lock().runs.len()), (3, 3));
}

#[tokio::test]
async fn slots_that_were_missed_are_one_run() {
    let world = World::new();
    world.published("w", &hourly("R/PT1H")).await;
    world.clock.advance_millis(5 * HOUR + 1);
    let binding = due_starts(&world).await.remove(0);
    world.runs.fire_start(&binding).await.unwrap();
    let tables = world.memory.0.lock();
    assert_eq!((tables.runs.len(), tables.bindings[0].next_due_at), (1, Some(NOW.plus_seconds(6 * 3600))));
}

#[tokio::test]
async fn a_timer_start_that_another_node_fired_or_that_moved_starts_nothing() {
    let world = World::new();
    let workflow = world.published("w", &hourly("R/PT1H")).await;
    world.clock.advance_millis(HOUR);
    let binding = due_starts(&world).await.remove(0);
    world.runs.fire_start(&binding).await.unwrap();
    world.runs.fire_start(&binding).await.unwrap();
    assert_eq!(world.memory.0.lock().runs.len(), 1);
    world.clock.advance_millis(HOUR);
    let before = due_starts(&world).await.remove(0);
    let other = Draft::Value(hourly("R/PT2H"));
    world.memory.0.lock().workflows.get_mut(&workflow).unwrap().draft = other;
    world.publish(workflow).await;
    world.runs.fire_start(&before).await.unwrap();
    assert_eq!(world.memory.0.lock().runs.len(), 1, "the former version's timer is gone");
    let never = StartBinding { next_due_at: None, ..before };
    world.runs.fire_start(&never).await.unwrap();
    assert_eq!(world.memory.0.lock().runs.len(), 1);
}
