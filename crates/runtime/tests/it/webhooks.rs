//! Webhooks: who is told, what an answer leads to, and what is noted of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::{EventId, TenantId, Timestamp, WorkflowId};
use heddle_runtime::{
    Sent, ServerClock, WebhookDelivery, WebhookDirectory, WebhookExecutor, WebhookMessage, WebhookSender,
    WebhookSource, WebhookState,
};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{Errand, ErrandKind, Executor as _, Lane, NewErrand, Outcome};
use heddle_workflows::ports::{EventSubscriber, EventSubscribers as _};
use parking_lot::Mutex;
use tokio::time::sleep;
use uuid::Uuid;

const HOOK: Uuid = Uuid::from_u128(7);
const FLOW: WorkflowId = WorkflowId(Uuid::from_u128(8));

/// Webhooks, and what was noted of them.
#[derive(Default)]
struct Source {
    states: Mutex<Vec<WebhookState>>,
    reads: Mutex<usize>,
    noted: Mutex<Vec<WebhookDelivery>>,
    paused: Mutex<Vec<Uuid>>,
    is_down: Mutex<bool>,
}

#[async_trait]
impl WebhookSource for Source {
    async fn webhooks(&self, _: TenantId) -> Result<Vec<WebhookState>, StoreError> {
        *self.reads.lock() += 1;
        if *self.is_down.lock() {
            return Err(StoreError::Unavailable("down".to_owned()));
        }
        Ok(self.states.lock().clone())
    }

    async fn webhook(&self, tenant: TenantId, webhook: Uuid) -> Result<Option<WebhookState>, StoreError> {
        let all = self.webhooks(tenant).await?;
        Ok(all.into_iter().find(|one| one.subscriber.id == webhook))
    }

    async fn delivered(&self, _: TenantId, _: Uuid, delivery: &WebhookDelivery) -> Result<(), StoreError> {
        self.noted.lock().push(delivery.clone());
        Ok(())
    }

    async fn pause(&self, _: TenantId, webhook: Uuid, _: Timestamp) -> Result<(), StoreError> {
        self.paused.lock().push(webhook);
        Ok(())
    }
}

/// A receiver that answers as it is told.
struct Receiver {
    answer: Mutex<Sent>,
    got: Mutex<Vec<WebhookMessage>>,
}

#[async_trait]
impl WebhookSender for Receiver {
    async fn send(&self, message: &WebhookMessage) -> Sent {
        self.got.lock().push(message.clone());
        self.answer.lock().clone()
    }
}

fn answer(status: u16) -> Sent {
    Sent {
        ok: status == 200,
        is_gone: status == 410,
        is_held: false,
        status: Some(status),
        after: (status == 503).then_some(Duration::from_secs(120)),
        message: format!("It answered {status}."),
    }
}

fn hook(paused: bool) -> WebhookState {
    let subscriber = EventSubscriber {
        id: HOOK,
        target: "connection".to_owned(),
        types: Some(vec!["run.completed".to_owned()]),
        workflows: Some(vec![FLOW]),
    };
    WebhookState { subscriber, is_paused: paused }
}

fn errand(name: &str, workflow: WorkflowId) -> Errand {
    let tenant = TenantId(Uuid::from_u128(1));
    let (kind, line) = (ErrandKind::Webhook, Some(HOOK.to_string()));
    let errand = NewErrand {
        id: EventId(Uuid::from_u128(3)),
        lane: Lane { tenant, kind, target: "before".to_owned(), line },
        workflow: Some(workflow),
        run: None,
        name: name.to_owned(),
        payload: "{}".to_owned(),
        created_at: Timestamp::from_micros(0),
    };
    Errand { errand, epoch: 1, attempts: 2, crashes: 0, is_suspect: false }
}

struct World {
    source: Arc<Source>,
    receiver: Arc<Receiver>,
    directory: Arc<WebhookDirectory>,
    executor: WebhookExecutor,
}

impl World {
    fn new(states: Vec<WebhookState>) -> Self {
        let source = Arc::new(Source { states: Mutex::new(states), ..Source::default() });
        let receiver = Receiver { answer: Mutex::new(answer(200)), got: Mutex::default() };
        let receiver = Arc::new(receiver);
        let directory = Arc::new(WebhookDirectory::new(source.clone()));
        let clock = Arc::new(ServerClock::default());
        let executor = WebhookExecutor::new(Arc::clone(&directory), source.clone(), receiver.clone(), clock);
        Self { source, receiver, directory, executor }
    }

    async fn run(&self, errand: &Errand) -> Outcome {
        self.executor.run(errand).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_is_sent_over_the_present_connection_and_the_answer_decides() {
    let world = World::new(vec![hook(false)]);
    let wanted = errand("run.completed", FLOW);
    assert_eq!(world.run(&wanted).await, Outcome::Done);
    let got = world.receiver.got.lock().pop().unwrap();
    assert_eq!(
        (got.connection.as_str(), got.id, got.body.as_str()),
        ("connection", wanted.errand.id.to_string(), "{}")
    );
    for (status, after) in [(500, None), (503, Some(Duration::from_secs(120)))] {
        *world.receiver.answer.lock() = answer(status);
        let message = format!("It answered {status}.");
        assert_eq!(world.run(&wanted).await, Outcome::Failed { message, after });
    }
    // What fails on our side is no try of the receiver's.
    let noted = world.source.noted.lock().len();
    *world.receiver.answer.lock() = Sent { is_held: true, status: None, ..answer(500) };
    assert!(matches!(world.run(&errand("run.completed", FLOW)).await, Outcome::Held { .. }));
    assert_eq!(world.source.noted.lock().len(), noted);
    *world.receiver.answer.lock() = answer(410);
    assert!(matches!(world.run(&wanted).await, Outcome::Held { .. }));
    assert_eq!(*world.source.paused.lock(), [HOOK]);
    let noted = world.source.noted.lock();
    let told: Vec<_> = noted.iter().map(|one| (one.ok, one.status, one.attempts)).collect();
    assert_eq!(
        told,
        [(true, Some(200), 3), (false, Some(500), 3), (false, Some(503), 3), (false, Some(410), 3)]
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_to_who_is_paused_or_gone_or_wants_it_no_more() {
    let paused = World::new(vec![hook(true)]);
    assert!(matches!(paused.run(&errand("run.completed", FLOW)).await, Outcome::Held { .. }));
    let gone = World::new(Vec::new());
    assert_eq!(gone.run(&errand("run.completed", FLOW)).await, Outcome::Gone);
    let other = World::new(vec![hook(false)]);
    for (name, workflow) in [("run.started", FLOW), ("run.completed", WorkflowId(Uuid::from_u128(9)))] {
        assert_eq!(other.run(&errand(name, workflow)).await, Outcome::Done);
    }
    let down = World::new(vec![hook(false)]);
    *down.source.is_down.lock() = true;
    assert!(matches!(down.run(&errand("run.completed", FLOW)).await, Outcome::Held { .. }));
    for world in [paused, gone, other, down] {
        assert!(world.receiver.got.lock().is_empty() && world.source.noted.lock().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn successes_are_noted_once_in_a_while_and_webhooks_are_read_once_a_second() {
    let world = World::new(vec![hook(false)]);
    let wanted = errand("run.completed", FLOW);
    for _ in 0..100 {
        assert_eq!(world.run(&wanted).await, Outcome::Done);
    }
    assert_eq!((world.source.noted.lock().len(), *world.source.reads.lock()), (1, 1));
    assert_eq!(world.directory.of(wanted.errand.lane.tenant).await.unwrap().len(), 1);
    assert_eq!(*world.source.reads.lock(), 1, "commits ask the same memory");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(world.run(&wanted).await, Outcome::Done);
    assert_eq!((world.source.noted.lock().len(), *world.source.reads.lock()), (2, 2));
}
