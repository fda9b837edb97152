//! Signals: broadcast to all that listen at this moment.

use heddle_policy::capability::SignalCreate;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::records::{InboxEvent, InboxState, RunState};
use crate::runs::{Received, SignalCall, StartRun};
use crate::tests::support::{World, at, caller, chain, event, input, journal, model, of_kind, reasons, set};

fn stock(key: Option<&str>) -> SignalCall {
    SignalCall {
        name: "stock".to_owned(),
        idempotency_key: key.map(str::to_owned),
        payload: json!({ "left": 4 }),
    }
}

async fn broadcast(world: &World, call: SignalCall) -> Result<Received, UseCaseError> {
    let context = caller("ida", "integrator").context();
    let may = of_kind::<SignalCreate>(&context);
    let record = |event: &InboxEvent| journal(event.state.as_str());
    world.runs.signal(&may, &context, call, &record).await
}

fn listening() -> Value {
    chain(&[("hear", "intermediateCatchEvent", event("signal sig"))])
}

fn started_by_signal() -> Value {
    model(&[("s", "startEvent", event("signal sig")), ("e", "endEvent", json!({}))], &[("s", "e")])
}

#[tokio::test]
async fn a_signal_reaches_all_that_listen_and_starts_all_that_it_can_in_one_unit() {
    let world = World::new();
    let waiting = world.published("waiting", &listening()).await;
    let starting = world.published("starting", &started_by_signal()).await;
    let mut heard = Vec::new();
    for key in [Some("order-1"), None] {
        let request = StartRun { correlation_key: key.map(str::to_owned), ..StartRun::default() };
        heard.push(world.start(waiting, request).await.id);
    }
    let before = world.memory.commit_count();
    let received = broadcast(&world, stock(Some("k1"))).await.unwrap();
    assert_eq!(world.memory.commit_count(), before + 1);
    assert_eq!((received.event.state, received.event.run_ids.len()), (InboxState::Consumed, 3));
    assert!(received.event.run_ids.is_sorted());
    for id in &received.event.run_ids {
        let run = world.memory.run(*id);
        assert_eq!(run.state, RunState::Completed);
        assert_eq!(run.snapshot.variables(), Some(&input(json!({ "left": 4 }))));
        assert!(heard.contains(id) || run.workflow == starting);
    }
    let started = received.event.run_ids.iter().find(|id| !heard.contains(id)).unwrap();
    let trigger = world.memory.run(*started).trigger;
    assert_eq!((trigger.kind.as_str(), trigger.name.as_deref()), ("signal", Some("stock")));
}

#[tokio::test]
async fn every_listener_of_one_run_hears_a_signal_and_its_rows_are_one_write() {
    let definition = model(
        &[
            ("s", "startEvent", json!({})),
            ("split", "parallelGateway", json!({})),
            ("a", "intermediateCatchEvent", event("signal sig")),
            ("b", "intermediateCatchEvent", event("signal sig")),
            ("join", "parallelGateway", json!({})),
            ("later", "intermediateCatchEvent", event("timer PT1H")),
            ("e", "endEvent", json!({})),
        ],
        &[
            ("s", "split"),
            ("split", "a"),
            ("split", "b"),
            ("a", "join"),
            ("b", "join"),
            ("join", "later"),
            ("later", "e"),
        ],
    );
    let (world, run) = World::running(&definition).await;
    let opened = world.memory.last_write().subscriptions_added.len();
    let received = broadcast(&world, stock(None)).await.unwrap();
    assert_eq!((opened, received.event.run_ids), (2, vec![run.id]));
    let write = world.memory.last_write();
    assert_eq!((write.subscriptions_removed.len(), write.timers_added.len()), (2, 1));
    assert_eq!((write.expected, write.first_sequence), (Some(run.revision), run.last_sequence + 1));
    let events: Vec<Value> = serde_json::from_slice(&write.events.unwrap()).unwrap();
    let sequences: Vec<u64> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (run.last_sequence + 1..=write.run.last_sequence).collect();
    assert_eq!(sequences, expected, "no gap and no repeat between the two steps");
    assert!(world.memory.0.lock().subscriptions.is_empty());
}

#[tokio::test]
async fn a_signal_that_nobody_hears_is_not_kept() {
    let world = World::new();
    let unheard = broadcast(&world, stock(Some("k1"))).await.unwrap().event;
    assert_eq!((unheard.state, unheard.expires_at, unheard.run_ids.len()), (InboxState::Expired, None, 0));
    let workflow = world.published("w", &listening()).await;
    let run = world.start(workflow, StartRun::default()).await;
    world.deliver().await.unwrap();
    assert_eq!(world.memory.run(run.id).state, RunState::Waiting, "it listens from now on");
}

#[tokio::test]
async fn a_signal_with_a_key_is_sent_once_and_without_one_each_time() {
    let world = World::new();
    let workflow = world.published("w", &started_by_signal()).await;
    let runs = || world.memory.0.lock().runs.values().filter(|run| run.workflow == workflow).count();
    let first = broadcast(&world, stock(Some("k1"))).await.unwrap();
    let again = broadcast(&world, stock(Some("k1"))).await.unwrap();
    assert!(again.replayed && again.event == first.event && runs() == 1);
    let other = SignalCall { payload: json!({ "left": 5 }), ..stock(Some("k1")) };
    assert_eq!(reasons(broadcast(&world, other).await), [at("idempotencyKey", "idempotencyKeyReused")]);
    for expected in [2, 3] {
        assert!(!broadcast(&world, stock(None)).await.unwrap().replayed);
        assert_eq!(runs(), expected);
    }
}

#[tokio::test]
async fn a_signal_and_a_message_of_one_name_are_two_things() {
    let mut definition = listening();
    set(&mut definition, "/bpmn/signals/0/name", json!("paid"));
    let (world, run) = World::running(&definition).await;
    let context = caller("ida", "integrator").context();
    let may = of_kind::<heddle_policy::capability::CaseEventCreate>(&context);
    let message = crate::runs::CaseEvent {
        correlation_key: "order-1".to_owned(),
        event_type: "paid".to_owned(),
        idempotency_key: "k1".to_owned(),
        payload: json!({ "left": 4 }),
    };
    let kept = world.runs.receive(&may, &context, message, &|_: &_| journal("m")).await.unwrap();
    assert_eq!((kept.event.state, world.memory.run(run.id).state), (InboxState::Buffered, RunState::Waiting));
    // Keys of signals and of messages are kept apart as well.
    let signal = SignalCall { name: "paid".to_owned(), ..stock(Some("k1")) };
    let heard = broadcast(&world, signal).await.unwrap();
    assert_eq!((heard.replayed, heard.event.run_ids), (false, vec![run.id]));
}
