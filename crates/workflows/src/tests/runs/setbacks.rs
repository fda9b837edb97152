//! Background work that fails: each piece for itself, tried again, set aside, and taken up by an operator.

use heddle_kernel::{DefinitionKind, EventId, PageRequest, RunId, TenantId};
use heddle_policy::capability::{CaseEventCreate, DeadLetterDelete, DeadLetterList, DeadLetterRetry};
use heddle_policy::facts::GrantFacts;
use heddle_policy::{Authorized, RequestContext};
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::background::{MOST_ATTEMPTS, MOST_CRASHES};
use crate::limits::Limits;
use crate::ports::{LetterFilter, Queue, WorkStore as _};
use crate::records::{
    DeadLetter, Draft, InboxState, MarkedWork, Outgoing, RunState, SetAsideReason, ThrownKind, Tries, Work,
    WorkMark,
};
use crate::runs::{CaseEvent, StartRun};
use crate::tests::support::{
    NOW, World, caller, chain, event, input, model, of_kind, reasons, unrecorded, uuid, whole,
};

fn started_by(text: &str) -> Value {
    model(&[("s", "startEvent", event(text)), ("e", "endEvent", json!({}))], &[("s", "e")])
}

/// A process that a message or timer starts, and that refuses whatever has no member `nope`.
fn strict(text: &str) -> Value {
    let mut definition = started_by(text);
    definition["nodes"][0]["configuration"] = json!({ "inputSchema": { "required": ["nope"] } });
    definition
}

fn hearing() -> Value {
    chain(&[("hear", "intermediateCatchEvent", event("signal sig"))])
}

fn thrown(number: u128, tenant: TenantId, kind: ThrownKind, name: &str) -> Outgoing {
    Outgoing {
        tenant,
        id: EventId(uuid(number)),
        run: RunId(uuid(number)),
        kind,
        name: name.to_owned(),
        correlation_key: None,
        payload: json!({}),
        created_at: NOW,
        hops: 0,
    }
}

/// A world in which a run waits for the signal, and messages cannot be delivered: their run is of a version that
/// nobody has.
async fn with_poison(count: u128) -> (World, RunId) {
    let (world, waiting) = World::running(&hearing()).await;
    let broken = world
        .published("broken", &chain(&[("wait", "receiveTask", json!({ "bpmn": { "messageRef": "m" } }))]))
        .await;
    let request = StartRun { correlation_key: Some("bad".to_owned()), ..StartRun::default() };
    let run = world.start(broken, request).await;
    let mut tables = world.memory.0.lock();
    tables.runs.get_mut(&run.id).unwrap().version = 99;
    for number in 0..count {
        let bad = thrown(1000 + number, run.tenant, ThrownKind::Message, "paid");
        tables.outgoing.push(Outgoing { correlation_key: Some("bad".to_owned()), ..bad });
    }
    let good = thrown(9, run.tenant, ThrownKind::Signal, "stock");
    tables.outgoing.push(Outgoing { created_at: NOW.plus_millis(1), ..good });
    drop(tables);
    world.clock.advance_millis(1);
    (world, waiting.id)
}

#[tokio::test]
async fn poisoned_messages_let_those_behind_them_pass() {
    let (world, waiting) = with_poison(512).await;
    // As many rounds as it takes to try each once.
    for _ in 0..9 {
        world.background.round(Queue::Outbox).await.unwrap();
    }
    assert_eq!(world.memory.run(waiting).state, RunState::Completed, "what came later is delivered");
    assert_eq!(
        world.background.round(Queue::Outbox).await.unwrap().done,
        0,
        "the others wait for another try"
    );
    assert_eq!(world.memory.0.lock().outgoing.len(), 512);
}

#[tokio::test]
async fn what_fails_too_often_is_set_aside_with_its_reason() {
    let (world, _) = with_poison(1).await;
    for _ in 0..MOST_ATTEMPTS {
        world.background.round(Queue::Outbox).await.unwrap();
        world.clock.advance_millis(300_000);
    }
    let tables = world.memory.0.lock();
    let [letter] = &tables.letters[..] else { panic!("{:?}", tables.letters) };
    assert_eq!((letter.reason, letter.tries.attempts), (SetAsideReason::Failed, MOST_ATTEMPTS));
    assert!(tables.outgoing.is_empty());
}

#[tokio::test]
async fn one_write_marks_a_round_and_a_calm_queue_is_not_marked() {
    let (world, _) = with_poison(20).await;
    world.background.round(Queue::Outbox).await.unwrap();
    assert_eq!(world.memory.0.lock().marks_written, 1);
    world.background.round(Queue::Timers).await.unwrap();
    assert_eq!(world.memory.0.lock().marks_written, 1);
}

/// What the process leaves when it ends in the midst of these.
async fn die_amid(world: &World, pieces: &[Work], tries: Tries) {
    let piece = |work: &Work| MarkedWork { key: work.key(), tries, due_micros: work.due_micros() };
    let mark = WorkMark { single: pieces.len() == 1, pieces: pieces.iter().map(piece).collect() };
    world.memory.mark(uuid(77), Queue::Outbox, &mark, NOW).await.unwrap();
}

#[tokio::test]
async fn after_a_crash_each_piece_is_done_alone_and_only_the_one_that_kills_collects_crashes() {
    let (world, waiting) = with_poison(0).await;
    let tenant = world.memory.run(waiting).tenant;
    let killer = Work::Thrown(thrown(8, tenant, ThrownKind::Message, "paid"));
    let Work::Thrown(row) = killer.clone() else { unreachable!() };
    world.memory.0.lock().outgoing.insert(0, row);
    let good = Work::Thrown(world.memory.0.lock().outgoing[1].clone());
    die_amid(&world, &[killer.clone(), good.clone()], Tries::default()).await;
    let background = world.reopened().await;
    assert!(world.memory.0.lock().tried.is_empty(), "a crash of many is nobody's");
    let before = world.memory.0.lock().marks_written;
    background.round(Queue::Outbox).await.unwrap();
    assert_eq!(world.memory.0.lock().marks_written, before + 2, "each was marked by itself");

    // The killer alone, again and again.
    let Work::Thrown(row) = killer.clone() else { unreachable!() };
    world.memory.0.lock().outgoing.push(row);
    for crashes in 0..MOST_CRASHES {
        assert!(world.memory.0.lock().letters.is_empty(), "{crashes}");
        die_amid(&world, std::slice::from_ref(&killer), Tries { attempts: 0, crashes }).await;
        let _ = world.reopened().await;
    }
    let tables = world.memory.0.lock();
    let [letter] = &tables.letters[..] else { panic!("{:?}", tables.letters) };
    assert_eq!((letter.reason, &letter.work), (SetAsideReason::Crashed, &killer));
    assert!(tables.outgoing.is_empty());
}

#[tokio::test]
async fn a_mark_of_what_was_recorded_since_counts_no_crash() {
    let (world, _) = with_poison(1).await;
    world.background.round(Queue::Outbox).await.unwrap();
    let bad = Work::Thrown(world.memory.0.lock().outgoing[0].clone());
    assert_eq!(world.memory.0.lock().tried[&bad.key()].0, Tries { attempts: 1, crashes: 0 });
    die_amid(&world, std::slice::from_ref(&bad), Tries::default()).await;
    let _ = world.reopened().await;
    assert_eq!(world.memory.0.lock().tried[&bad.key()].0, Tries { attempts: 1, crashes: 0 });
}

#[tokio::test]
async fn a_mark_of_a_timer_that_fired_and_was_set_again_counts_no_crash() {
    let world = World::new();
    world.published("hourly", &started_by("cycle R/PT1H")).await;
    world.clock.advance_millis(3_600_000);
    assert_eq!(world.background.round(Queue::Starts).await.unwrap().done, 1);
    // The process ends while the loop sleeps: its last mark is still there.
    assert_eq!(world.memory.0.lock().marks.len(), 1);
    let _ = world.reopened().await;
    assert!(world.memory.0.lock().tried.is_empty());
    assert_eq!(world.memory.0.lock().bindings.len(), 1);
}

#[tokio::test]
async fn a_start_that_refuses_an_event_refuses_it_for_itself_alone() {
    let world = World::new();
    let refusing = world.published("strict", &strict("message m")).await;
    let honest = world.published("honest", &started_by("message m")).await;
    let context = caller("ida", "integrator").context();
    let send = async |key: &str| {
        let sent = CaseEvent {
            correlation_key: "order-1".to_owned(),
            event_type: "paid".to_owned(),
            idempotency_key: key.to_owned(),
            payload: json!({ "amount": 3 }),
        };
        let may = of_kind::<CaseEventCreate>(&context);
        world.runs.receive(&may, &context, sent, &unrecorded).await.unwrap().event
    };
    let taken = send("k1").await;
    let [begun] = taken.run_ids[..] else { panic!("{taken:?}") };
    assert_eq!(world.memory.run(begun).workflow, honest);
    let letter = world.memory.0.lock().letters[0].clone();
    assert_eq!((letter.workflow, letter.reason), (Some(refusing), SetAsideReason::Refused));
    assert!(letter.message.contains("nope"), "{}", letter.message);

    // Nothing begins where all refuse it; nobody else gets it later.
    world.memory.0.lock().bindings.retain(|binding| binding.workflow == refusing);
    let refused = send("k2").await;
    assert_eq!((refused.state, refused.run_ids.len()), (InboxState::Consumed, 0));
    assert_eq!(world.memory.0.lock().letters.len(), 2);
}

#[tokio::test]
async fn a_timer_start_that_its_schema_refuses_is_set_aside_and_spares_the_others() {
    let world = World::new();
    let refusing = world.published("strict", &started_by("cycle R/PT1H")).await;
    // One that was published before such starts were refused.
    world.memory.0.lock().workflows.get_mut(&refusing).unwrap().versions[0].1 = strict("cycle R/PT1H");
    let honest = world.published("honest", &started_by("cycle R/PT1H")).await;
    world.clock.advance_millis(3_600_000);
    world.background.round(Queue::Starts).await.unwrap();
    let tables = world.memory.0.lock();
    assert_eq!(tables.runs.values().map(|run| run.workflow).collect::<Vec<_>>(), [honest]);
    assert_eq!(tables.letters.iter().map(|letter| letter.workflow).collect::<Vec<_>>(), [Some(refusing)]);
    assert_eq!(tables.bindings.iter().map(|one| one.workflow).collect::<Vec<_>>(), [honest]);
}

fn on_letter<C: heddle_policy::Capability<On = heddle_policy::resource::DeadLetter>>(
    context: &RequestContext,
    letter: &DeadLetter,
) -> Result<Authorized<C>, heddle_policy::DenialError> {
    context.snapshot().authorize_key(letter.key())
}

async fn refused_start(world: &World) -> DeadLetter {
    let workflow = world.published("strict", &strict("message m")).await;
    let sender = caller("ida", "integrator").context();
    let sent = CaseEvent {
        correlation_key: "order-1".to_owned(),
        event_type: "paid".to_owned(),
        idempotency_key: "k".to_owned(),
        payload: json!({ "amount": 3 }),
    };
    let may = of_kind::<CaseEventCreate>(&sender);
    world.runs.receive(&may, &sender, sent, &unrecorded).await.unwrap();
    let letter = world.memory.0.lock().letters[0].clone();
    assert_eq!(letter.workflow, Some(workflow));
    letter
}

#[tokio::test]
async fn a_refused_start_is_retried_with_the_version_that_is_active_then() {
    let world = World::new();
    let letter = refused_start(&world).await;
    let context = caller("oscar", "operator").context();
    let may = on_letter::<DeadLetterRetry>(&context, &letter).unwrap();
    let again = world.runs.retry_dead_letter(&may, &context, &unrecorded).await;
    assert_eq!(reasons(again).len(), 1, "it refuses it still");
    assert_eq!(world.memory.0.lock().letters.len(), 1);
    let workflow = letter.workflow.unwrap();
    world.memory.0.lock().workflows.get_mut(&workflow).unwrap().draft = Draft::Value(started_by("message m"));
    world.publish(workflow).await;
    world.runs.retry_dead_letter(&may, &context, &unrecorded).await.unwrap();
    let run = world.memory.last_write().run;
    assert_eq!((run.version, run.state), (2, RunState::Completed));
    assert_eq!(run.input, Value::Object(input(json!({ "amount": 3 }))));
    assert!(world.memory.0.lock().letters.is_empty());
    let gone = world.runs.retry_dead_letter(&may, &context, &unrecorded).await;
    assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
}

#[tokio::test]
async fn a_message_is_put_back_as_new_and_what_has_no_place_is_refused() {
    let (world, waiting) = World::running(&hearing()).await;
    let context = caller("oscar", "operator").context();
    let signal = thrown(9, waiting.tenant, ThrownKind::Signal, "stock");
    let letter = DeadLetter {
        tenant: waiting.tenant,
        id: EventId(uuid(500)),
        work: Work::Thrown(signal),
        reason: SetAsideReason::Failed,
        message: "failed".to_owned(),
        tries: Tries { attempts: 10, crashes: 2 },
        instance_kind: DefinitionKind::Workflow,
        workflow: Some(waiting.workflow),
        run: None,
        created_at: NOW,
    };
    let ended =
        DeadLetter { id: EventId(uuid(501)), work: Work::Kept(kept(waiting.tenant)), ..letter.clone() };
    world.memory.0.lock().letters.extend([letter.clone(), ended.clone()]);
    let may = on_letter::<DeadLetterRetry>(&context, &ended).unwrap();
    let refused = world.runs.retry_dead_letter(&may, &context, &unrecorded).await;
    assert_eq!(reasons(refused), [whole("noPlace")]);
    let may = on_letter::<DeadLetterRetry>(&context, &letter).unwrap();
    world.runs.retry_dead_letter(&may, &context, &unrecorded).await.unwrap();
    assert_eq!(world.deliver().await.unwrap(), 1);
    assert_eq!(world.memory.run(waiting.id).state, RunState::Completed);
    let may = on_letter::<DeadLetterDelete>(&context, &ended).unwrap();
    world.runs.drop_dead_letter(&may, &crate::tests::support::journal("dropped")).await.unwrap();
    assert!(world.memory.0.lock().letters.is_empty());
}

fn kept(tenant: TenantId) -> crate::records::InboxEvent {
    crate::records::InboxEvent {
        tenant,
        id: EventId(uuid(70)),
        idempotency_key: "k".to_owned(),
        body_sha256: String::new(),
        correlation_key: None,
        event_type: "paid".to_owned(),
        payload: Value::Null,
        received_at: NOW,
        received_by: None,
        state: InboxState::Consumed,
        run_ids: Vec::new(),
        case_ids: Vec::new(),
        refused: Vec::new(),
        expires_at: None,
        hops: 0,
    }
}

#[tokio::test]
async fn a_deny_on_the_workflow_hides_its_dead_letters() {
    let world = World::new();
    let letter = refused_start(&world).await;
    let list = async |context: &RequestContext| {
        let may = context.snapshot().authorize_list::<DeadLetterList>().unwrap();
        let (filter, page) = (LetterFilter::default(), PageRequest { limit: 10, cursor: None });
        world.runs.dead_letters(&may, context, &filter, &page).await.unwrap().items.len()
    };
    let operator = caller("oscar", "operator").context();
    assert_eq!(list(&operator).await, 1);
    let deny = GrantFacts {
        id: "g".to_owned(),
        source: heddle_policy::Source::User,
        resource: "workflow".to_owned(),
        action: "*".to_owned(),
        selector: letter.workflow.unwrap().to_string(),
        effect: heddle_policy::Effect::Deny,
        expires_at: None,
    };
    let denied = caller("oscar", "operator").grant(deny).context();
    assert_eq!(list(&denied).await, 0);
    assert!(on_letter::<DeadLetterRetry>(&denied, &letter).is_err());
    assert!(on_letter::<DeadLetterDelete>(&denied, &letter).is_err());
}

#[tokio::test]
async fn organisations_share_a_round_and_one_that_floods_waits_for_its_rate() {
    let world = World::limited(Limits::per_second(100, 10));
    let (one, other) = (TenantId(uuid(1)), TenantId(uuid(2)));
    let flood = (0..200).map(|number| thrown(1000 + number, one, ThrownKind::Signal, "unheard"));
    world.memory.0.lock().outgoing.extend(flood);
    let late = Outgoing { created_at: NOW.plus_millis(5), ..thrown(9, other, ThrownKind::Signal, "unheard") };
    world.memory.0.lock().outgoing.push(late);
    world.clock.advance_millis(5);
    let round = world.background.round(Queue::Outbox).await.unwrap();
    // The burst of two seconds, and the one message behind two hundred.
    assert_eq!((round.done, round.held), (21, true));
    let left: Vec<TenantId> = world.memory.0.lock().outgoing.iter().map(|row| row.tenant).collect();
    assert!(!left.contains(&other) && left.len() == 180, "{}", left.len());
    let round = world.background.round(Queue::Outbox).await.unwrap();
    assert_eq!((round.done, round.held), (0, true));
    world.clock.advance_millis(1000);
    assert_eq!(world.background.round(Queue::Outbox).await.unwrap().done, 10, "what waits fails nothing");
    assert!(world.memory.0.lock().letters.is_empty());
}

/// A counted cycle whose slots have passed while nothing ran.
#[tokio::test]
async fn slots_that_are_caught_up_with_take_from_the_rate_of_starts_and_wait_for_it() {
    let world = World::limited(Limits::per_second(2, 10));
    world.published("w", &started_by("cycle R8/PT1H")).await;
    world.clock.advance_millis(8 * 3_600_000);
    let began = async || {
        while world.background.round(Queue::Starts).await.unwrap().done > 0 {}
        world.memory.0.lock().runs.len()
    };
    assert_eq!(began().await, 4, "the burst of two seconds");
    let round = world.background.round(Queue::Starts).await.unwrap();
    assert_eq!((round.done, round.held), (0, true));
    world.clock.advance_millis(1000);
    assert_eq!(began().await, 6);
    world.clock.advance_millis(1000);
    assert_eq!(began().await, 8, "none is lost");
    assert!(world.memory.0.lock().letters.is_empty());
}

#[tokio::test]
async fn calls_beyond_the_rate_are_refused_by_its_name() {
    let world = World::limited(Limits::per_second(1, 1));
    let workflow = world.published("w", &chain(&[])).await;
    let context = caller("olga", "owner").context();
    let start = async || {
        let may =
            crate::tests::support::on_workflow::<heddle_policy::capability::WorkflowRun>(&context, workflow);
        world.runs.start(&may, &context, StartRun::default(), &unrecorded).await
    };
    assert!(start().await.is_ok() && start().await.is_ok());
    let refused = start().await;
    let limited = matches!(refused, Err(UseCaseError::RateLimited { limit: "starts_per_second", .. }));
    assert!(limited, "{refused:?}");
}
