//! Messages and signals that runs throw: written with the step, delivered once.

use heddle_usecase::StoreError;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::records::{InboxState, RunState, ThrownKind};
use crate::runs::StartRun;
use crate::tests::support::{Notice, World, chain, event, input, model, receive};

/// A process that throws this with a payload, for the order `order-1`.
fn throwing(text: &str) -> Value {
    let mut thrown = event(text);
    thrown["configuration"] = json!({ "correlationKey": "order-1", "payload": { "total": 3 } });
    chain(&[("throw", "intermediateThrowEvent", thrown)])
}

#[tokio::test]
async fn what_a_run_throws_is_written_with_its_step_and_told() {
    for (text, kind, name, key) in [
        ("message m", ThrownKind::Message, "paid", Some("order-1")),
        ("signal sig", ThrownKind::Signal, "stock", None),
    ] {
        let world = World::new();
        let workflow = world.published("w", &throwing(text)).await;
        let run = world.start(workflow, StartRun::default()).await;
        let write = world.memory.last_write();
        let [thrown] = &write.outgoing[..] else { panic!("{text}") };
        assert_eq!((thrown.run, thrown.kind, thrown.name.as_str()), (run.id, kind, name));
        assert_eq!((thrown.correlation_key.as_deref(), &thrown.payload), (key, &json!({ "total": 3 })));
        assert!(world.notices.take().contains(&Notice::Thrown), "{text}");
    }
}

#[tokio::test]
async fn a_thrown_message_reaches_who_waits_and_its_row_goes_in_the_same_unit() {
    let (world, waiting) = World::running(&receive()).await;
    let sender = world.published("sender", &throwing("message m")).await;
    world.start(sender, StartRun::default()).await;
    let thrown = world.memory.0.lock().outgoing[0].clone();
    let before = world.memory.commit_count();
    world.runs.deliver(&thrown).await.unwrap();
    assert_eq!((world.memory.commit_count(), world.memory.0.lock().outgoing.len()), (before + 1, 0));
    let taken = world.memory.run(waiting.id);
    assert_eq!(
        (taken.state, taken.snapshot.variables()),
        (RunState::Completed, Some(&input(json!({ "total": 3 }))))
    );
    // Another node, which had seen the row before.
    world.runs.deliver(&thrown).await.unwrap();
    assert_eq!(world.memory.commit_count(), before + 1);
}

#[tokio::test]
async fn a_thrown_message_that_nobody_waits_for_is_kept_like_one_from_outside() {
    let world = World::new();
    let sender = world.published("sender", &throwing("message m")).await;
    world.start(sender, StartRun::default()).await;
    assert_eq!(world.deliver().await.unwrap(), 1);
    let kept = world.memory.0.lock().inbox[0].clone();
    assert_eq!((kept.state, kept.event_type.as_str()), (InboxState::Buffered, "paid"));
    assert_eq!((kept.correlation_key.as_deref(), kept.received_by), (Some("order-1"), None));
    let receiver = world.published("receiver", &receive()).await;
    let request = StartRun { correlation_key: Some("order-1".to_owned()), ..StartRun::default() };
    let run = world.start(receiver, request).await;
    assert_eq!(world.deliver().await.unwrap(), 1);
    assert_eq!(world.memory.run(run.id).state, RunState::Completed);
}

#[tokio::test]
async fn a_thrown_message_starts_a_run_and_two_thrown_are_two() {
    let started =
        model(&[("s", "startEvent", event("message m")), ("e", "endEvent", json!({}))], &[("s", "e")]);
    let world = World::new();
    let receiver = world.published("receiver", &started).await;
    let sender = world.published("sender", &throwing("message m")).await;
    for _ in 0..2 {
        world.start(sender, StartRun::default()).await;
    }
    assert_eq!(world.deliver().await.unwrap(), 2);
    let runs = world.memory.0.lock().runs.values().filter(|run| run.workflow == receiver).count();
    assert_eq!(runs, 2);
    assert_eq!(world.deliver().await.unwrap(), 0);
}

#[tokio::test]
async fn a_thrown_signal_reaches_other_runs_and_not_its_sender_again() {
    let mut thrown = event("signal sig");
    thrown["configuration"] = json!({ "payload": { "left": 1 } });
    // The sender listens itself, and again once it has heard.
    let definition = model(
        &[
            ("s", "startEvent", json!({})),
            ("split", "parallelGateway", json!({})),
            ("hear", "intermediateCatchEvent", event("signal sig")),
            ("again", "intermediateCatchEvent", event("signal sig")),
            ("wait", "userTask", json!({})),
            ("throw", "intermediateThrowEvent", thrown),
            ("e", "endEvent", json!({})),
        ],
        &[
            ("s", "split"),
            ("split", "hear"),
            ("hear", "again"),
            ("again", "e"),
            ("split", "throw"),
            ("throw", "wait"),
            ("wait", "e"),
        ],
    );
    let (world, listener) =
        World::running(&chain(&[("hear", "intermediateCatchEvent", event("signal sig"))])).await;
    let workflow = world.published("sender", &definition).await;
    let sender = world.start(workflow, StartRun::default()).await;
    let listens = |run: &crate::records::Run| {
        run.snapshot.subscriptions().iter().map(|own| own.node_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listens(&sender), ["again"], "its own listener heard it in the step that threw it");
    assert_eq!(world.deliver().await.unwrap(), 1);
    assert_eq!(world.memory.run(listener.id).state, RunState::Completed);
    assert_eq!(listens(&world.memory.run(sender.id)), ["again"], "no run hears its signal twice");
}

#[tokio::test]
async fn a_delivery_that_fails_leaves_the_message_to_be_delivered() {
    let (world, waiting) = World::running(&receive()).await;
    let sender = world.published("sender", &throwing("message m")).await;
    world.start(sender, StartRun::default()).await;
    world.memory.fail_next(StoreError::Unavailable("gone".to_owned()));
    let failed = world.deliver().await;
    assert!(matches!(failed, Err(UseCaseError::Unavailable(_))), "{failed:?}");
    assert_eq!(world.memory.run(waiting.id).state, RunState::Waiting);
    assert_eq!(world.memory.0.lock().outgoing.len(), 1);
    assert_eq!(world.deliver().await.unwrap(), 1);
    assert_eq!(world.memory.run(waiting.id).state, RunState::Completed);
}

#[tokio::test]
async fn a_message_that_a_schema_refuses_stops_none_behind_it() {
    let start_by =
        |text: &str| model(&[("s", "startEvent", event(text)), ("e", "endEvent", json!({}))], &[("s", "e")]);
    let mut strict = start_by("message m");
    strict["nodes"][0]["configuration"] = json!({ "inputSchema": { "required": ["nope"] } });
    let (world, waiting) =
        World::running(&chain(&[("hear", "intermediateCatchEvent", event("signal sig"))])).await;
    let _ = world.published("strict", &strict).await;
    let refused = world.published("refused", &throwing("message m")).await;
    let honest = world.published("honest", &throwing("signal sig")).await;
    world.start(refused, StartRun::default()).await;
    world.start(honest, StartRun::default()).await;
    assert_eq!(world.deliver().await.unwrap(), 2);
    assert_eq!(world.memory.run(waiting.id).state, RunState::Completed, "what came later is delivered");
    let tables = world.memory.0.lock();
    assert!(tables.outgoing.is_empty());
    assert_eq!(tables.letters.len(), 1, "what was refused is set aside");
}
