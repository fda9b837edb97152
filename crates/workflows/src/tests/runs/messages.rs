//! Events from outside: given to who waits, starting what listens, or kept for the first that will wait.

use heddle_kernel::{CaseId, DefinitionKind, EventId};
use heddle_policy::capability::{CaseEventCreate, CaseEventRead};
use heddle_policy::{AuthorizedSome, GrantFacts, RequestContext};
use heddle_usecase::StoreError;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::ports::InboxWrite;
use crate::records::{BindingKind, InboxEvent, InboxState, RunState};
use crate::runs::{BUFFER_SECONDS, CaseEvent, Received, StartRun};
use crate::tests::support::{
    Caller, NOW, World, at, caller, chain, event, input, journal, model, of_kind, reasons, receive, uuid,
    whole,
};

fn paid(key: &str, order: &str) -> CaseEvent {
    CaseEvent {
        correlation_key: order.to_owned(),
        event_type: "paid".to_owned(),
        idempotency_key: key.to_owned(),
        payload: json!({ "amount": 3 }),
    }
}

async fn send(world: &World, event: CaseEvent) -> Result<Received, UseCaseError> {
    let context = caller("ida", "integrator").context();
    let may = of_kind::<CaseEventCreate>(&context);
    let record = |event: &InboxEvent| journal(event.state.as_str());
    world.runs.receive(&may, &context, event, &record).await
}

fn order(key: &str) -> StartRun {
    StartRun { correlation_key: Some(key.to_owned()), ..StartRun::default() }
}

/// A process that the message `paid` starts and that then waits.
fn started_by_message() -> Value {
    model(
        &[
            ("s", "startEvent", event("message m")),
            ("task", "userTask", json!({})),
            ("e", "endEvent", json!({})),
        ],
        &[("s", "task"), ("task", "e")],
    )
}

#[tokio::test]
async fn an_event_advances_the_run_that_waits_for_it_in_the_same_unit() {
    let (world, run) = World::running(&receive()).await;
    let subscription = world.memory.last_write().subscriptions_added[0].clone();
    assert_eq!((subscription.kind, subscription.name.as_str()), (BindingKind::Message, "paid"));
    assert_eq!(subscription.correlation_key.as_deref(), Some("order-1"));
    let received = send(&world, paid("k1", "order-1")).await.unwrap();
    assert_eq!((received.event.state, &received.event.run_ids), (InboxState::Consumed, &vec![run.id]));
    assert_eq!((received.event.received_by, received.event.received_at), (Some(Caller::id("ida")), NOW));
    assert_eq!((received.replayed, received.event.expires_at), (false, None));
    assert_eq!(world.memory.commit_count(), 2, "the event and the step are one unit");
    let last = world.memory.0.lock().commits.last().cloned().unwrap();
    assert!(matches!(&last.inbox, Some(InboxWrite::Insert(event)) if *event == received.event));
    assert_eq!(last.runs[0].run.state, RunState::Completed);
    assert_eq!(last.runs[0].subscriptions_removed, [subscription.subscription_id]);
    assert_eq!(last.runs[0].expected, Some(run.revision));
    assert_eq!(last.unit, journal("consumed"));
    assert_eq!(last.runs[0].run.snapshot.variables(), Some(&input(json!({ "amount": 3 }))));
}

#[tokio::test]
async fn only_the_name_and_the_key_find_a_run() {
    let named = |event_type: &str, key: &str| CaseEvent {
        event_type: event_type.to_owned(),
        ..paid(&format!("{event_type} {key}"), key)
    };
    let (world, run) = World::running(&receive()).await;
    for wrong in [
        named("Paid", "order-1"),
        named("paid", "order-2"),
        named("stock", "order-1"),
        named("paid", "ORDER-1"),
    ] {
        assert_eq!(send(&world, wrong).await.unwrap().event.state, InboxState::Buffered);
    }
    assert_eq!(world.memory.run(run.id).revision, run.revision);
    let other = caller("eve", "owner").elsewhere().context();
    let may = of_kind::<CaseEventCreate>(&other);
    let foreign =
        world.runs.receive(&may, &other, paid("k", "order-1"), &|_: &_| journal("x")).await.unwrap();
    assert_eq!((foreign.event.state, foreign.event.tenant), (InboxState::Buffered, other.tenant()));
    assert_eq!(world.memory.run(run.id).state, RunState::Waiting);
}

#[tokio::test]
async fn an_event_that_nobody_waits_for_is_kept_and_a_repeat_gets_the_first_answer() {
    let world = World::new();
    let first = send(&world, paid("k1", "order-1")).await.unwrap();
    assert_eq!(first.event.state, InboxState::Buffered);
    assert_eq!(first.event.expires_at, Some(NOW.plus_seconds(BUFFER_SECONDS)));
    let again = send(&world, paid("k1", "order-1")).await.unwrap();
    assert!(again.replayed && again.event == first.event);
    let cases = [
        CaseEvent { payload: json!({ "amount": 4 }), ..paid("k1", "order-1") },
        CaseEvent { event_type: "refunded".to_owned(), ..paid("k1", "order-1") },
        paid("k1", "order-2"),
    ];
    for other in cases {
        let refused = send(&world, other).await;
        assert_eq!(reasons(refused), [at("idempotencyKey", "idempotencyKeyReused")]);
    }
    assert_eq!(world.memory.commit_count(), 1);
    let elsewhere = caller("eve", "owner").elsewhere().context();
    let may = of_kind::<CaseEventCreate>(&elsewhere);
    let own =
        world.runs.receive(&may, &elsewhere, paid("k1", "order-9"), &|_: &_| journal("x")).await.unwrap();
    assert!(!own.replayed, "a key is one organisation's");
}

#[tokio::test]
async fn every_run_that_waits_gets_the_event_once_and_their_ids_are_sorted() {
    let world = World::new();
    let workflow = world.published("w", &receive()).await;
    let mut waiting = Vec::new();
    for _ in 0..3 {
        waiting.push(world.start(workflow, order("order-1")).await.id);
    }
    let other = world.start(workflow, order("order-2")).await;
    world.memory.0.lock().subscriptions.reverse();
    let received = send(&world, paid("k1", "order-1")).await.unwrap();
    waiting.sort_unstable();
    assert_eq!(received.event.run_ids, waiting);
    assert!(waiting.iter().all(|id| world.memory.run(*id).state == RunState::Completed));
    assert_eq!(world.memory.run(other.id).state, RunState::Waiting);
}

#[tokio::test]
async fn a_run_that_waits_twice_takes_a_message_once() {
    let wait = || json!({ "bpmn": { "messageRef": "m" } });
    let definition = model(
        &[
            ("s", "startEvent", json!({})),
            ("split", "parallelGateway", json!({})),
            ("a", "receiveTask", wait()),
            ("b", "receiveTask", wait()),
            ("e", "endEvent", json!({})),
        ],
        &[("s", "split"), ("split", "a"), ("split", "b"), ("a", "e"), ("b", "e")],
    );
    let (world, run) = World::running(&definition).await;
    let first = send(&world, paid("k1", "order-1")).await.unwrap();
    assert_eq!((first.event.run_ids, world.memory.run(run.id).state), (vec![run.id], RunState::Waiting));
    send(&world, paid("k2", "order-1")).await.unwrap();
    assert_eq!(world.memory.run(run.id).state, RunState::Completed);
}

#[tokio::test]
async fn a_message_starts_a_run_only_when_nobody_waits_for_it() {
    let world = World::new();
    let waiting = world.published("waiting", &receive()).await;
    let listening = world.published("listening", &started_by_message()).await;
    let first = world.start(waiting, order("order-1")).await;
    let taken = send(&world, paid("k1", "order-1")).await.unwrap();
    assert_eq!(taken.event.run_ids, [first.id]);
    let started = send(&world, paid("k2", "order-1")).await.unwrap();
    let [id] = started.event.run_ids[..] else { panic!("{:?}", started.event) };
    let run = world.memory.run(id);
    assert_eq!((run.workflow, run.version, run.state), (listening, 1, RunState::Waiting));
    assert_eq!((run.correlation_key.as_deref(), run.created_by), (Some("order-1"), Some(Caller::id("ida"))));
    assert_eq!(run.snapshot.variables(), Some(&input(json!({ "amount": 3 }))), "the payload is its input");
    let trigger = serde_json::to_value(&run.trigger).unwrap();
    let event_id = started.event.id.to_string();
    assert_eq!(trigger, json!({ "kind": "message", "name": "paid", "nodeId": "s", "eventId": event_id }));
    assert_eq!(started.event.state, InboxState::Consumed);
}

#[tokio::test]
async fn a_payload_of_any_shape_becomes_the_input_of_the_run_that_it_starts() {
    let cases = [
        (json!({ "a": 1 }), json!({ "a": 1 })),
        (json!([1, 2]), json!({ "payload": [1, 2] })),
        (json!("text"), json!({ "payload": "text" })),
        (Value::Null, json!({})),
    ];
    for (payload, expected) in cases {
        let world = World::new();
        world.published("w", &started_by_message()).await;
        let started = send(&world, CaseEvent { payload, ..paid("k", "order-1") }).await.unwrap();
        assert_eq!(world.memory.run(started.event.run_ids[0]).input, expected);
    }
}

#[tokio::test]
async fn a_kept_event_goes_to_the_first_run_that_waits_for_it() {
    let world = World::new();
    let kept = send(&world, paid("k1", "order-1")).await.unwrap().event;
    let workflow = world.published("w", &receive()).await;
    let run = world.start(workflow, order("order-1")).await;
    let late = world.start(workflow, order("order-1")).await;
    assert_eq!(world.deliver().await.unwrap(), 1);
    let states = [run.id, late.id].map(|id| world.memory.run(id).state);
    assert_eq!(states, [RunState::Completed, RunState::Waiting], "one event, one run");
    let told = world.memory.0.lock().inbox[0].clone();
    assert_eq!((told.id, told.state, told.run_ids), (kept.id, InboxState::Consumed, vec![run.id]));
    assert_eq!(world.deliver().await.unwrap(), 0);
    let again = send(&world, paid("k1", "order-1")).await.unwrap();
    assert!(again.replayed, "its key is used up");
    assert_eq!(world.memory.run(late.id).state, RunState::Waiting);
}

#[tokio::test]
async fn an_expired_event_is_given_to_nobody() {
    let world = World::new();
    send(&world, paid("k1", "order-1")).await.unwrap();
    let workflow = world.published("w", &receive()).await;
    let run = world.start(workflow, order("order-1")).await;
    world.clock.advance_millis(BUFFER_SECONDS * 1000);
    assert_eq!(world.deliver().await.unwrap(), 0);
    assert_eq!(world.memory.run(run.id).state, RunState::Waiting);
}

#[tokio::test]
async fn an_event_is_tried_anew_while_runs_change_under_it_and_then_given_up() {
    let (world, run) = World::running(&receive()).await;
    for _ in 0..2 {
        world.memory.fail_next(StoreError::Stale);
    }
    assert_eq!(send(&world, paid("k1", "order-1")).await.unwrap().event.run_ids, [run.id]);
    let (world, run) = World::running(&receive()).await;
    for _ in 0..50 {
        world.memory.fail_next(StoreError::Stale);
    }
    assert_eq!(reasons(send(&world, paid("k1", "order-1")).await), [whole("busy")]);
    assert_eq!((world.memory.run(run.id).state, world.memory.0.lock().inbox.len()), (RunState::Waiting, 0));
}

#[tokio::test]
async fn of_two_senders_with_one_key_the_second_gets_the_firsts_answer() {
    let (world, run) = World::running(&receive()).await;
    let (one, two) = tokio::join!(send(&world, paid("k1", "order-1")), send(&world, paid("k1", "order-1")));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one.event, two.event);
    assert_eq!([one.replayed, two.replayed].iter().filter(|replayed| **replayed).count(), 1);
    assert_eq!((world.memory.run(run.id).revision.0, world.memory.commit_count()), (run.revision.0 + 1, 2));
}

#[tokio::test]
async fn an_event_is_read_within_its_organisation_alone() {
    let world = World::new();
    let kept = send(&world, paid("k1", "order-1")).await.unwrap().event;
    let reader = caller("ida", "integrator").context();
    let read = world.runs.event(&reads_events(&reader), &reader, kept.id).await;
    assert_eq!(read.unwrap(), kept);
    let other = caller("eve", "owner").elsewhere().context();
    for (context, id) in [(&other, kept.id), (&reader, EventId(uuid(9)))] {
        let gone = world.runs.event(&reads_events(context), context, id).await;
        assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
    }
}

fn reads_events(context: &RequestContext) -> AuthorizedSome<CaseEventRead> {
    context.snapshot().authorize_found().unwrap()
}

#[tokio::test]
async fn of_an_event_nobody_reads_the_cases_that_are_denied_to_them() {
    let (world, run) = World::running(&receive()).await;
    let event = send(&world, paid("k1", "order-1")).await.unwrap().event;
    {
        let mut tables = world.memory.0.lock();
        tables.runs.get_mut(&run.id).unwrap().kind = DefinitionKind::Case;
        tables.inbox[0].case_ids = vec![CaseId::from(run.id)];
    }
    let all = caller("ida", "integrator").context();
    let read = world.runs.event(&reads_events(&all), &all, event.id).await.unwrap();
    assert_eq!(read.case_ids, [CaseId::from(run.id)]);
    let deny = || GrantFacts {
        id: "g".to_owned(),
        source: heddle_policy::Source::User,
        resource: "case".to_owned(),
        action: "read".to_owned(),
        selector: run.id.to_string(),
        effect: heddle_policy::Effect::Deny,
        expires_at: None,
    };
    let sender = caller("ida", "integrator").grant(deny()).context();
    let read = world.runs.event(&reads_events(&sender), &sender, event.id).await.unwrap();
    assert_eq!(read.case_ids, [], "who sent it reads it, without what is denied");
    let other = caller("oscar", "integrator").grant(deny()).context();
    let gone = world.runs.event(&reads_events(&other), &other, event.id).await;
    assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
}

#[tokio::test]
async fn a_held_run_gets_its_message_when_it_is_resumed() {
    use crate::runs::{Decision, DecisionKind};
    let (world, run) =
        World::running(&chain(&[("wait", "receiveTask", json!({ "bpmn": { "messageRef": "m" } }))])).await;
    let decide = async |kind| {
        let context = caller("oscar", "operator").context();
        let may = crate::tests::support::on_run::<heddle_policy::capability::RunDecide>(&context, &run);
        let decision = Decision {
            kind,
            node_id: None,
            node_instance_id: None,
            incident_id: None,
            feedback: None,
            variables: serde_json::Map::new(),
            target: None,
        };
        world.runs.decide(&may, &context, decision, &crate::tests::support::unrecorded).await.unwrap()
    };
    decide(DecisionKind::Suspend).await;
    assert_eq!(send(&world, paid("k1", "order-1")).await.unwrap().event.state, InboxState::Buffered);
    decide(DecisionKind::Resume).await;
    assert_eq!(world.deliver().await.unwrap(), 1);
    assert_eq!(world.memory.run(run.id).state, RunState::Completed);
}
