//! Budgets that bind runs together: chains of thrown messages, cycles, and what a run may take.

use heddle_bpmn_graph::Schedule;
use heddle_engine::{Budget, IncidentCode};
use serde_json::json;

use crate::records::RunState;
use crate::runs::StartRun;
use crate::tests::support::{NOW, World, chain, event, model};

#[tokio::test]
async fn a_message_that_starts_who_throws_it_again_ends_in_an_incident() {
    let again = model(
        &[
            ("s", "startEvent", event("message m")),
            ("throw", "intermediateThrowEvent", event("message m")),
            ("e", "endEvent", json!({})),
        ],
        &[("s", "throw"), ("throw", "e")],
    );
    let world = World::new();
    world.published("again", &again).await;
    let sender =
        world.published("sender", &chain(&[("throw", "intermediateThrowEvent", event("message m"))])).await;
    world.start(sender, StartRun::default()).await;
    let mut delivered = 0;
    loop {
        let Some(thrown) = world.memory.0.lock().outgoing.first().cloned() else { break };
        delivered += 1;
        assert_eq!(thrown.hops, delivered, "each throw is one hop further");
        assert!(delivered <= Budget::DEFAULT.hops, "the chain ends");
        world.runs.deliver(&thrown).await.unwrap();
    }
    assert_eq!(delivered, Budget::DEFAULT.hops);
    let last = world.memory.last_write().run;
    assert_eq!((last.state, last.has_incident), (RunState::Waiting, true));
    assert_eq!(last.snapshot.incidents()[0].code, IncidentCode::Limit);
}

#[tokio::test]
async fn a_kept_message_keeps_the_length_of_its_chain() {
    let world = World::new();
    let sender =
        world.published("sender", &chain(&[("throw", "intermediateThrowEvent", event("message m"))])).await;
    world.start(sender, StartRun::default()).await;
    let mut thrown = world.memory.0.lock().outgoing[0].clone();
    thrown.hops = 41;
    world.runs.deliver(&thrown).await.unwrap();
    assert_eq!(world.memory.0.lock().inbox[0].hops, 41);
}

#[tokio::test]
async fn a_timer_start_of_before_there_was_a_least_period_slows_down_to_it() {
    let started =
        model(&[("s", "startEvent", event("cycle R/PT1S")), ("e", "endEvent", json!({}))], &[("s", "e")]);
    let world = World::new();
    world.published("often", &started).await;
    let mut binding = world.memory.0.lock().bindings[0].clone();
    let fast = json!({ "dueAt": NOW, "cycle": { "anchor": NOW, "period": "PT0.001S", "slot": 0 } });
    let schedule: Schedule = serde_json::from_value(fast.clone()).unwrap();
    assert_eq!(schedule.period_millis(), Some(1));
    (binding.next_due_at, binding.timer) = (Some(NOW), Some(fast));
    world.memory.0.lock().bindings = vec![binding.clone()];
    world.runs.fire_start(&binding).await.unwrap();
    assert_eq!(world.memory.0.lock().bindings[0].next_due_at, Some(NOW.plus_millis(1_000)));
}
