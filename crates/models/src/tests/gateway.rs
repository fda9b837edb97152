//! Calls from their deployment to their end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use heddle_kernel::{FixedClock, ModelDeploymentId, SequentialIds, TenantId};
use heddle_models_wire::{
    ChatRequest, ChatResponse, EmbeddingRequest, Failure, StreamEvent, UpstreamRequest,
};
use heddle_usecase::StoreError;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{TENANT, USER, connection, deployment, now};
use crate::gateway::ledger::Ledger;
use crate::gateway::{Caller, Gateway, GatewayError, GatewayPorts, GatewaySettings, untold};
use crate::keys::Opening;
use crate::ports::{
    Bounds, Exchange, Fault, FaultKind, FixedBounds, LocalFault, LocalModel, LocalModels, MockDependents,
    MockKeySealer, MockModelStore, MockSpill, MockUsageStore, Random, Reply, Reserved, Spill, Upstream,
};
use crate::records::{
    Budget, BudgetPeriod, BudgetScope, CallOutcome, CallTokens, Capabilities, Capability, CatalogueEntry,
    CatalogueModel, Defaults, Deployment, Limits, Memory, MemoryPolicy, ModelConnection, Observed,
    OpenModelConnection, Phase, PriceTable, ProviderKind, Settlement, StoredModelConnection,
};
use crate::{Problem, UseCaseError};

/// What a provider does when it is asked.
enum Does {
    Answers(u16, &'static [(&'static str, &'static str)], String),
    /// Pieces, and whether the connection breaks behind them; none hangs.
    Streams(Vec<&'static str>, bool),
    Hangs,
    Breaks,
}

/// A provider that does one thing after the other, and notes what it was asked.
#[derive(Default)]
struct Script {
    todo: Mutex<VecDeque<Does>>,
    asked: Mutex<Vec<String>>,
    bodies: Mutex<Vec<Value>>,
}

fn broken() -> Fault {
    Fault { phase: Phase::Request, kind: FaultKind::Broken, message: "The connection broke.".to_owned() }
}

#[async_trait]
impl Upstream for Script {
    async fn exchange(
        &self,
        connection: &OpenModelConnection,
        _base: &str,
        request: UpstreamRequest,
        _bounds: Exchange,
    ) -> Result<Reply, Fault> {
        let name = connection.connection.name.clone();
        self.asked.lock().unwrap().push(format!("{name}{}", request.path));
        self.bodies.lock().unwrap().push(serde_json::from_slice(&request.body).unwrap());
        let next = self.todo.lock().unwrap().pop_front();
        let (status, headers, body): (u16, &[(&str, &str)], crate::ports::Body) = match next {
            Some(Does::Answers(status, headers, body)) => {
                (status, headers, Box::pin(futures::stream::iter([Ok(Bytes::from(body))])))
            }
            Some(Does::Streams(pieces, breaks)) => {
                let pieces: Vec<_> = pieces.into_iter().map(|piece| Ok(Bytes::from(piece))).collect();
                let end = breaks.then(|| Err(broken()));
                (200, &[], Box::pin(futures::stream::iter(pieces.into_iter().chain(end))))
            }
            Some(Does::Hangs) => (200, &[], Box::pin(futures::stream::pending())),
            Some(Does::Breaks) | None => return Err(broken()),
        };
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Ok(Reply { status, headers, body })
    }
}

struct NoLocal;

#[async_trait]
impl LocalModels for NoLocal {
    fn models(&self) -> Vec<LocalModel> {
        Vec::new()
    }

    async fn looked_for(&self) -> Vec<LocalModel> {
        Vec::new()
    }

    async fn embed(&self, _: TenantId, _: &str, _: Vec<String>) -> Result<Vec<Vec<f32>>, LocalFault> {
        Err(LocalFault::Missing("none".to_owned()))
    }

    fn tokens(&self, _: &str, _: &[String]) -> u64 {
        0
    }

    async fn chat(&self, _: TenantId, _: &str, _: ChatRequest) -> Result<ChatResponse, LocalFault> {
        Err(LocalFault::Missing("none".to_owned()))
    }
}

struct Half;

impl Random for Half {
    fn fraction(&self) -> f64 {
        0.5
    }
}

/// A spill in memory: lines by part, with what a process before left.
#[derive(Default)]
struct Lines {
    parts: Mutex<BTreeMap<u64, Vec<String>>>,
    open: Mutex<u64>,
    written: Mutex<usize>,
    read: Mutex<BTreeSet<u64>>,
}

impl Lines {
    fn left_behind(text: &str) -> Self {
        let spill = Self { open: Mutex::new(1), ..Self::default() };
        spill.parts.lock().unwrap().insert(0, vec![text.to_owned()]);
        spill.behind(0);
        spill
    }

    fn text(&self) -> String {
        self.parts.lock().unwrap().values().flatten().cloned().collect()
    }
}

impl Spill for Lines {
    fn keep(&self, line: &[u8]) -> Option<u64> {
        let open = *self.open.lock().unwrap();
        let line = format!("{}\n", String::from_utf8(line.to_vec()).unwrap());
        self.parts.lock().unwrap().entry(open).or_default().push(line);
        Some(open)
    }

    fn written(&self, _part: u64) {
        *self.written.lock().unwrap() += 1;
    }

    fn behind(&self, part: u64) {
        self.read.lock().unwrap().insert(part);
    }

    fn left(&self) -> Option<(u64, Vec<u8>)> {
        let part = *self.read.lock().unwrap().first()?;
        *self.open.lock().unwrap() = part + 1;
        let lines = self.parts.lock().unwrap().get(&part).cloned().unwrap_or_default();
        Some((part, lines.concat().into_bytes()))
    }

    fn forget(&self, part: u64) {
        self.read.lock().unwrap().remove(&part);
        self.parts.lock().unwrap().remove(&part);
    }
}

/// Number from which on connections lead to Ollama.
const OLLAMA: u128 = 50;

/// A gateway over deployments, with what was recorded.
struct Bench {
    gateway: Gateway,
    script: Arc<Script>,
    ends: Arc<Mutex<Vec<Settlement>>>,
    released: Arc<Mutex<u32>>,
    spill: Arc<Lines>,
}

fn bench(
    deployments: Vec<Deployment>,
    todo: Vec<Does>,
    bounds: Bounds,
    exhausted: Option<BudgetScope>,
) -> Bench {
    bench_with(deployments, todo, bounds, exhausted, GatewaySettings::default(), Lines::default())
}

fn bench_with(
    deployments: Vec<Deployment>,
    todo: Vec<Does>,
    bounds: Bounds,
    exhausted: Option<BudgetScope>,
    settings: GatewaySettings,
    spill: Lines,
) -> Bench {
    let spill = Arc::new(spill);
    let mut store = MockModelStore::new();
    store.expect_version().returning(|_| Ok(1));
    store.expect_deployment().returning(move |_, id| {
        deployments.iter().find(|one| one.id == id).cloned().ok_or(StoreError::NotFound)
    });
    store.expect_stored().returning(|_, id| {
        let number = id.0.as_u128();
        let kind = if number < OLLAMA { ProviderKind::Custom } else { ProviderKind::Ollama };
        let connection = ModelConnection { kind, ..connection(number) };
        Ok(StoredModelConnection { connection, sealed: None })
    });
    store.expect_whole_catalogue().returning(|_, _| {
        let entry = CatalogueEntry {
            model: "m60".to_owned(),
            display_name: "m60".to_owned(),
            capabilities: Capabilities::default(),
            context_length: None,
            dimensions: None,
            revision: None,
            bytes: Some(1_000),
        };
        Ok(vec![CatalogueModel { entry, deployment: None, discovered_at: now() }])
    });
    let (ends, released) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
    let mut usage = MockUsageStore::new();
    let kept = ends.clone();
    usage.expect_settle().returning(move |all| {
        kept.lock().unwrap().extend(all.iter().cloned());
        Ok(())
    });
    usage.expect_reserve().returning(move |_| Ok(exhausted.map_or(Reserved::Yes, Reserved::Exhausted)));
    let count = released.clone();
    usage.expect_release().returning(move |_| {
        *count.lock().unwrap() += 1;
        Ok(())
    });
    let store = Arc::new(store);
    let script = Arc::new(Script { todo: Mutex::new(todo.into()), ..Script::default() });
    let ports = GatewayPorts {
        opening: Opening::new(store.clone(), Arc::new(MockKeySealer::new())),
        store,
        usage: Arc::new(usage),
        spill: spill.clone(),
        upstream: script.clone(),
        local: Arc::new(NoLocal),
        bounds: Arc::new(FixedBounds(bounds)),
        dependents: Arc::new(MockDependents::new()),
        clock: Arc::new(FixedClock::at(now())),
        ids: Arc::new(SequentialIds::default()),
        random: Arc::new(Half),
    };
    assert_eq!(ports.clock.now(), now());
    let (gateway, writer) = Gateway::new(ports, settings);
    tokio::spawn(writer.run());
    Bench { gateway, script, ends, released, spill }
}

fn caller() -> Caller {
    Caller { tenant: TENANT, principal: USER, workflow: None, request_id: "r1".to_owned(), rights: None }
}

fn id(number: u128) -> ModelDeploymentId {
    ModelDeploymentId(Uuid::from_u128(number))
}

fn question(stream: bool) -> ChatRequest {
    let body =
        json!({ "model": "a", "stream": stream, "messages": [{ "role": "user", "content": "canary" }] });
    ChatRequest::read(Bytes::from(body.to_string())).unwrap()
}

fn answer() -> Does {
    let body = json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": "m1",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "yes" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    });
    Does::Answers(200, &[], body.to_string())
}

const PIECE: &str = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"yes\"},\"finish_reason\":null}]}\n\n";
const LAST: &str = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\ndata: [DONE]\n\n";

impl Bench {
    async fn rows(&self) -> Vec<Settlement> {
        self.gateway.flush().await;
        self.ends.lock().unwrap().clone()
    }

    fn asked(&self) -> Vec<String> {
        self.script.asked.lock().unwrap().clone()
    }

    /// The body that was sent last.
    fn sent(&self) -> Value {
        self.script.bodies.lock().unwrap().last().unwrap().clone()
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_call_outlives_the_process() {
    let ask = |bench: &Bench| {
        let gateway = bench.gateway.clone();
        async move { gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap() }
    };
    let killed = bench(vec![deployment(1, "a")], vec![answer()], Bounds::default(), None);
    ask(&killed).await;
    let line = killed.spill.text();
    assert!(line.contains("completed") && !line.contains("canary"), "{line}");
    let rows = killed.rows().await;
    assert_eq!((rows.len(), *killed.spill.written.lock().unwrap()), (1, 1));
    // The next process: the line whole, and one that was torn by the end of the one before.
    let spill = Lines::left_behind(&format!("{line}{}", &line[..line.len() / 2]));
    let settings = GatewaySettings::default();
    let next = bench_with(vec![deployment(1, "a")], vec![answer()], Bounds::default(), None, settings, spill);
    ask(&next).await;
    let both = next.rows().await;
    assert_eq!((both.len(), &both[0]), (2, &rows[0]));
    assert!(next.spill.left().is_none());
}

/// The store is away for a while: what does not fit into the queue is in the spill alone, and written once it is back.
#[tokio::test(start_paused = true)]
async fn more_calls_than_wait_cost_no_memory_and_are_counted() {
    const CALLS: usize = 5_000;
    let (ends, is_there) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let mut usage = MockUsageStore::new();
    let (kept, there) = (ends.clone(), is_there.clone());
    usage.expect_settle().returning(move |all| {
        if !there.load(Ordering::Relaxed) {
            return Err(StoreError::Unavailable("away".into()));
        }
        kept.lock().unwrap().extend(all.iter().map(|end: &Settlement| end.usage.id));
        Ok(())
    });
    let spill = Arc::new(Lines::default());
    let (ledger, writer) = Ledger::new(Arc::new(usage), spill.clone());
    tokio::spawn(writer.run());
    let one = bench(vec![deployment(1, "a")], vec![answer()], Bounds::default(), None);
    one.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap();
    let end = one.rows().await.remove(0);
    for number in 0..CALLS {
        let mut end = end.clone();
        end.usage.id = Uuid::from_u128(number as u128);
        ledger.enter(end);
    }
    assert!(!spill.read.lock().unwrap().is_empty(), "the queue is bounded");
    is_there.store(true, Ordering::Relaxed);
    ledger.flush().await;
    let all: BTreeSet<Uuid> = ends.lock().unwrap().iter().copied().collect();
    assert_eq!((all.len(), spill.left()), (CALLS, None));
}

/// An end that the database never takes holds up no other, whether it comes by the queue or by the spill, and stays in the
/// spill for a program that can write it.
#[tokio::test(start_paused = true)]
async fn an_end_that_is_refused_is_set_aside() {
    let one = bench(vec![deployment(1, "a")], vec![answer()], Bounds::default(), None);
    one.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap();
    let text = one.spill.text();
    let end = one.rows().await.remove(0);
    let [refused, other] = [7, 8].map(|number| {
        let mut end = end.clone();
        end.usage.id = Uuid::from_u128(number);
        end
    });
    let bad = end.usage.id;
    let written = Arc::new(Mutex::new(Vec::new()));
    let mut usage = MockUsageStore::new();
    let (kept, poison) = (written.clone(), [bad, refused.usage.id]);
    usage.expect_settle().returning(move |all| {
        if all.iter().any(|end| poison.contains(&end.usage.id)) {
            return Err(StoreError::Unavailable("a value out of range".into()));
        }
        kept.lock().unwrap().extend(all.iter().map(|end: &Settlement| end.usage.id));
        Ok(())
    });
    let spill = Arc::new(Lines::left_behind(&text));
    let (ledger, writer) = Ledger::new(Arc::new(usage), spill.clone());
    tokio::spawn(writer.run());
    let last = Uuid::from_u128(8);
    ledger.enter(refused);
    ledger.enter(other);
    ledger.flush().await;
    assert_eq!((written.lock().unwrap().as_slice(), spill.left()), ([last].as_slice(), None));
    let kept = spill.text();
    assert!(kept.contains(&bad.to_string()) && kept.contains(&Uuid::from_u128(7).to_string()), "{kept}");
    assert_eq!(*spill.written.lock().unwrap(), 1);
}

/// A disk is full: the spill keeps nothing and the database answers and refuses. Once there is room, nothing is lost.
#[tokio::test(start_paused = true)]
async fn an_end_that_only_the_memory_has_is_tried_until_it_is_written() {
    let one = bench(vec![deployment(1, "a")], vec![answer()], Bounds::default(), None);
    one.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap();
    let end = one.rows().await.remove(0);
    let (expected, tries) = (end.usage.id, Arc::new(Mutex::new(0)));
    let written = Arc::new(Mutex::new(Vec::new()));
    let mut usage = MockUsageStore::new();
    let (kept, count) = (written.clone(), tries.clone());
    usage.expect_settle().returning(move |all| {
        *count.lock().unwrap() += usize::from(!all.is_empty());
        if !all.is_empty() && *count.lock().unwrap() < 20 {
            return Err(StoreError::Unavailable("database or disk is full".into()));
        }
        kept.lock().unwrap().extend(all.iter().map(|end: &Settlement| end.usage.id));
        Ok(())
    });
    let mut spill = MockSpill::new();
    spill.expect_keep().returning(|_| None);
    spill.expect_left().returning(|| None);
    let (ledger, writer) = Ledger::new(Arc::new(usage), Arc::new(spill));
    tokio::spawn(writer.run());
    ledger.enter(end);
    ledger.flush().await;
    assert_eq!((written.lock().unwrap().as_slice(), *tries.lock().unwrap()), ([expected].as_slice(), 20));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_answered_counted_and_priced_and_tells_no_prompt() {
    let prices = PriceTable {
        version: 3,
        currency: "EUR".to_owned(),
        input: 1_000_000,
        output: 2_000_000,
        cached_input: None,
    };
    let one = Deployment { prices: Some(prices), ..deployment(1, "a") };
    let bench = bench(vec![one], vec![answer()], Bounds::default(), None);
    let answered = bench.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap();
    assert_eq!(answered.response.read().unwrap().choices.len(), 1);
    let rows = bench.rows().await;
    let [end] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((end.usage.tokens.input, end.usage.tokens.output, end.usage.cost_micros), (10, 5, 20));
    assert_eq!((end.usage.price_version, end.usage.attempts), (Some(3), 1));
    assert_eq!((end.usage.outcome, end.usage.estimated), (CallOutcome::Completed, false));
    assert!(!format!("{end:?} {answered:?}").contains("canary"));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_falters_is_asked_again_and_what_it_asks_for_is_waited_for() {
    let busy = || Does::Answers(429, &[("retry-after", "2")], "{}".to_owned());
    let bench =
        bench(vec![deployment(1, "a")], vec![busy(), Does::Breaks, answer()], Bounds::default(), None);
    let began = tokio::time::Instant::now();
    bench.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap();
    assert!(began.elapsed() >= std::time::Duration::from_secs(2));
    assert_eq!(bench.rows().await[0].usage.attempts, 3);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_request_is_not_repeated_and_a_wrong_key_is_the_provider_s_fault() {
    let refused = Does::Answers(400, &[], json!({ "error": { "message": "no such member" } }).to_string());
    let key = Does::Answers(401, &[], "{}".to_owned());
    let bench = bench(vec![deployment(1, "a")], vec![refused, key], Bounds::default(), None);
    for (failure, status) in [(Failure::InvalidRequest, 400), (Failure::ProviderAuth, 401)] {
        let error = bench.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap_err();
        let GatewayError::Provider(fault) = error else { panic!("{error}") };
        assert_eq!((fault.failure, fault.upstream_status, fault.attempts), (failure, Some(status), 1));
    }
    let rows = bench.rows().await;
    assert!(rows.iter().all(|end| end.usage.outcome == CallOutcome::Failed && end.usage.cost_micros == 0));
    assert_eq!(rows.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_answers_and_the_row_says_which() {
    let first = Deployment {
        fallbacks: vec![id(2), id(3)],
        limits: Limits {
            budget: Some(Budget { period: BudgetPeriod::Day, cost_micros: Some(1), tokens: None }),
            ..Limits::default()
        },
        ..deployment(1, "a")
    };
    let off = Deployment { enabled: false, ..deployment(2, "b") };
    let gone = Does::Answers(404, &[], "{}".to_owned());
    let bench = bench(vec![first, off, deployment(3, "c")], vec![gone, answer()], Bounds::default(), None);
    let answered = bench.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap();
    assert_eq!(answered.alias, "c");
    assert_eq!(bench.asked(), ["c1/chat/completions", "c3/chat/completions"]);
    let rows = bench.rows().await;
    assert_eq!((rows[0].usage.requested, rows[0].usage.deployment), (id(1), id(3)));
    assert_eq!((rows.len(), *bench.released.lock().unwrap()), (1, 1), "what was set aside came back");
}

#[tokio::test(start_paused = true)]
async fn a_circuit_opens_and_asks_nobody() {
    let failing = (0..20).map(|_| Does::Breaks).collect();
    let bench = bench(vec![deployment(1, "a")], failing, Bounds::default(), None);
    for _ in 0..2 {
        bench.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap_err();
    }
    let asked = bench.asked().len();
    let error = bench.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap_err();
    assert!(matches!(&error, GatewayError::Provider(fault) if fault.circuit_open), "{error}");
    assert_eq!((asked, bench.asked().len()), (5, 5));
    assert!(bench.gateway.is_open(id(1)) && error.retry_after().is_some());
}

#[tokio::test(start_paused = true)]
async fn rates_and_budgets_refuse_before_anybody_is_asked() {
    let limits = Limits { requests_per_minute: Some(1), ..Limits::default() };
    let bounds = Bounds { limits, ..Bounds::default() };
    let limited = bench(vec![deployment(1, "a")], vec![answer(), answer()], bounds, None);
    limited.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap();
    let error = limited.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap_err();
    assert!(matches!(error, GatewayError::Limited { limit: "requestsPerMinute", most: 1, .. }), "{error}");
    let budget = Budget { period: BudgetPeriod::Month, cost_micros: None, tokens: Some(1) };
    let bounds = Bounds { limits: Limits { budget: Some(budget), ..Limits::default() }, ..Bounds::default() };
    let spent = bench(vec![deployment(1, "a")], vec![answer()], bounds, Some(BudgetScope::Organisation));
    let error = spent.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap_err();
    let GatewayError::Exhausted { until, .. } = error else { panic!("{error}") };
    assert!(until > now());
    assert_eq!((limited.asked().len(), spent.asked().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_as_a_request_among_the_others_and_without_a_row() {
    let limits = Limits { requests_per_minute: Some(2), tokens_per_minute: Some(1), ..Limits::default() };
    let bounds = Bounds { limits, ..Bounds::default() };
    let off = Deployment { enabled: false, ..deployment(2, "b") };
    let bench = bench(vec![deployment(1, "a"), off], Vec::new(), bounds, None);
    let count = async |number: u128| bench.gateway.count_at(TENANT, id(number), &question(false)).await;
    for _ in 0..2 {
        assert!(count(1).await.unwrap() > 0, "its tokens are none that a rate counts");
    }
    let error = count(1).await.unwrap_err();
    assert!(matches!(error, GatewayError::Limited { limit: "requestsPerMinute", most: 2, .. }), "{error}");
    assert!(matches!(count(2).await.unwrap_err(), GatewayError::Disabled));
    assert!(matches!(count(3).await.unwrap_err(), GatewayError::NotFound));
    assert_eq!((bench.rows().await.len(), bench.asked().len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_stream_flows_to_its_end_and_one_without_an_end_is_an_error() {
    let whole = Does::Streams(vec![PIECE, LAST], false);
    let cut = Does::Streams(vec![PIECE], false);
    let breaks = Does::Streams(vec![PIECE], true);
    let bench = bench(vec![deployment(1, "a")], vec![whole, cut, breaks], Bounds::default(), None);
    let stream = bench.gateway.chat_stream_as(&caller(), id(1), question(true), untold()).await.unwrap();
    let events: Vec<_> = stream.collect().await;
    assert!(matches!(events.last(), Some(Ok(StreamEvent::Done))), "{events:?}");
    for _ in 0..2 {
        let stream = bench.gateway.chat_stream_as(&caller(), id(1), question(true), untold()).await.unwrap();
        let events: Vec<_> = stream.collect().await;
        assert!(matches!(events.last(), Some(Err(GatewayError::Provider(_)))), "{events:?}");
        assert!(!events.iter().any(|event| matches!(event, Ok(StreamEvent::Done))));
        assert!(matches!(events.first(), Some(Ok(StreamEvent::Chunk(_)))), "what came is given first");
    }
    let rows = bench.rows().await;
    let outcomes: Vec<_> = rows.iter().map(|end| end.usage.outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Completed, CallOutcome::Failed, CallOutcome::Failed]);
    assert_eq!((rows[0].usage.tokens.output, rows[0].usage.estimated), (5, false));
    assert!(rows[1].usage.estimated && rows[1].usage.tokens.output > 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_s_filter_withholds_is_an_answer_that_says_so_and_no_failure() {
    let withheld = || {
        let body = json!({ "error": { "code": "content_filter", "message": "withheld" } });
        Does::Answers(400, &[], body.to_string())
    };
    let bench = bench(vec![deployment(1, "a")], vec![withheld(), withheld()], Bounds::default(), None);
    let whole = bench.gateway.chat_as(&caller(), id(1), question(false), untold()).await.unwrap();
    let choices = whole.response.read().unwrap().choices;
    assert_eq!(choices[0].finish_reason, Some(heddle_models_wire::FinishReason::ContentFilter));
    let stream = bench.gateway.chat_stream_as(&caller(), id(1), question(true), untold()).await.unwrap();
    let events: Vec<_> = stream.collect().await;
    assert!(matches!(events.last(), Some(Ok(StreamEvent::Done))), "{events:?}");
    let rows = bench.rows().await;
    assert!(rows.iter().all(|end| end.usage.outcome == CallOutcome::Completed && end.usage.attempts == 1));
    assert_eq!(rows.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_leaves_a_row_and_a_place() {
    let bench = bench(
        vec![deployment(1, "a")],
        vec![Does::Streams(vec![PIECE, LAST], false), Does::Hangs],
        Bounds::default(),
        None,
    );
    let mut stream = bench.gateway.chat_stream_as(&caller(), id(1), question(true), untold()).await.unwrap();
    stream.next().await.unwrap().unwrap();
    assert_eq!(bench.gateway.running(), 1);
    drop(stream);
    let who = caller();
    let call = bench.gateway.chat_as(&who, id(1), question(false), untold());
    assert!(tokio::time::timeout(std::time::Duration::from_secs(1), call).await.is_err());
    assert_eq!(bench.gateway.running(), 0);
    let rows = bench.rows().await;
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|end| end.usage.outcome == CallOutcome::Aborted));
    // The provider had the question of the second one, too.
    assert!(rows.iter().all(|end| end.usage.estimated && end.usage.tokens.input > 0), "{rows:?}");
}

/// A piece of an answer whose provider tells the question's tokens first, and those of the answer at its end.
const BEGUN: &str = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"A loom weaves cloth of wool and of linen, all day long and for many years.\"},\"finish_reason\":null}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1,\"total_tokens\":11}}\n\n";

#[tokio::test(start_paused = true)]
async fn who_hangs_up_before_the_tokens_are_told_pays_for_what_was_said() {
    let streams = Does::Streams(vec![BEGUN, LAST], false);
    let bench = bench(vec![deployment(1, "a")], vec![streams], Bounds::default(), None);
    let mut stream = bench.gateway.chat_stream_as(&caller(), id(1), question(true), untold()).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let end = bench.rows().await[0].usage.clone();
    assert_eq!((end.outcome, end.tokens.input, end.estimated), (CallOutcome::Aborted, 10, true));
    assert!(end.tokens.output > 10, "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_for_the_same_question_of_the_same_organisation_alone() {
    let settings =
        GatewaySettings { keep_answers: std::time::Duration::from_secs(60), ..GatewaySettings::default() };
    let answers = (0..8).map(|_| answer()).collect();
    let both = vec![deployment(1, "a"), deployment(2, "b")];
    let bench = bench_with(both, answers, Bounds::default(), None, settings, Lines::default());
    let certain = |text: &str| {
        let messages = json!([{ "role": "user", "content": text }]);
        let body = json!({ "model": "a", "temperature": 0, "messages": messages });
        ChatRequest::read(Bytes::from(body.to_string())).unwrap()
    };
    let other = Caller { tenant: TenantId(Uuid::from_u128(99)), ..caller() };
    let ask = async |who: &Caller, number: u128, request: ChatRequest| {
        let before = bench.asked().len();
        let answered = bench.gateway.chat_as(who, id(number), request, untold()).await.unwrap();
        let asked = bench.asked().len() - before;
        assert_eq!(answered.attempts as usize, asked);
        (asked, answered.response.body)
    };
    let (first, body) = ask(&caller(), 1, certain("q")).await;
    assert_eq!(ask(&caller(), 1, certain("q")).await, (0, body), "the same question is not asked again");
    assert_eq!(first, 1);
    assert_eq!(ask(&other, 1, certain("q")).await.0, 1, "another organisation's is another question");
    assert_eq!(ask(&caller(), 2, certain("q")).await.0, 1, "so is one to another deployment");
    assert_eq!(ask(&caller(), 1, certain("r")).await.0, 1);
    assert_eq!(ask(&caller(), 1, question(false)).await.0, 1, "what is left to chance is asked");
    assert_eq!(ask(&caller(), 1, question(false)).await.0, 1);
    let rows = bench.rows().await;
    let kept = &rows[1].usage;
    assert_eq!((kept.tokens, kept.cost_micros, kept.estimated), (CallTokens::default(), 0, false));
    assert_eq!((kept.outcome, kept.attempts), (CallOutcome::Completed, 0));
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    assert_eq!(ask(&caller(), 1, certain("q")).await.0, 1, "it is kept for a while");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_stalls_before_its_first_piece_goes_elsewhere() {
    let first = Deployment { fallbacks: vec![id(2)], ..deployment(1, "a") };
    let stalls = || Does::Hangs;
    let todo = vec![stalls(), stalls(), stalls(), Does::Streams(vec![PIECE, LAST], false)];
    let bench = bench(vec![first, deployment(2, "b")], todo, Bounds::default(), None);
    let stream = bench.gateway.chat_stream_as(&caller(), id(1), question(true), untold()).await.unwrap();
    assert_eq!(stream.alias(), "b");
    assert!(matches!(stream.collect::<Vec<_>>().await.last(), Some(Ok(StreamEvent::Done))));
}

#[tokio::test(start_paused = true)]
async fn embeddings_fall_back_to_the_same_model_alone() {
    let first = Deployment { fallbacks: vec![id(2)], ..deployment(1, "a") };
    let gone = || Does::Answers(404, &[], "{}".to_owned());
    let vectors = || {
        let body = json!({ "object": "list", "model": "m1", "data": [{ "object": "embedding", "index": 0, "embedding": [0.6, 0.8] }], "usage": { "prompt_tokens": 2, "total_tokens": 2 } });
        Does::Answers(200, &[], body.to_string())
    };
    let request = || EmbeddingRequest::of_texts("a", &["x".to_owned()], None).unwrap();
    let other =
        bench(vec![first.clone(), deployment(2, "b")], vec![gone(), vectors()], Bounds::default(), None);
    other.gateway.embed_as(&caller(), id(1), request(), untold()).await.unwrap_err();
    let twin = Deployment { model: "m1".to_owned(), ..deployment(2, "b") };
    let same = bench(vec![first, twin], vec![gone(), vectors()], Bounds::default(), None);
    let answer = same.gateway.embed_as(&caller(), id(1), request(), untold()).await.unwrap();
    assert_eq!(answer.response.vectors().unwrap(), [[0.6, 0.8]]);
    assert_eq!((answer.usage.tokens.input, &*answer.usage.operation), (2, "embeddings"));
}

/// A question with further members.
fn question_with(more: Value) -> ChatRequest {
    question(false).with(more.as_object().unwrap()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_a_deployment_cannot_do_is_refused_and_a_fallback_without_it_passed_over() {
    let tools = || json!({ "tools": [{ "type": "function", "function": { "name": "look" } }] });
    let picture =
        json!([{ "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } }]);
    let schema =
        json!({ "type": "json_schema", "json_schema": { "name": "a", "schema": { "type": "object" } } });
    let plain = Deployment { capabilities: Capabilities::of([Capability::Chat]), ..deployment(1, "a") };
    let refusing = bench(vec![plain], vec![answer(), answer()], Bounds::default(), None);
    for (request, ability) in [
        (question_with(tools()), Capability::Tools),
        (question_with(json!({ "messages": [{ "role": "user", "content": picture }] })), Capability::Vision),
        (question_with(json!({ "response_format": schema })), Capability::JsonSchema),
    ] {
        let error = refusing.gateway.chat_as(&caller(), id(1), request, untold()).await.unwrap_err();
        assert!(matches!(error, GatewayError::Incapable(one) if one == ability), "{error}");
    }
    let error =
        refusing.gateway.chat_stream_as(&caller(), id(1), question(true), untold()).await.unwrap_err();
    assert!(matches!(error, GatewayError::Incapable(Capability::Stream)), "{error}");
    // The same caller asks for it whole, and with an object of any kind.
    let any = question_with(json!({ "response_format": { "type": "json_object" } }));
    for request in [question(true), any] {
        refusing.gateway.chat_as(&caller(), id(1), request, untold()).await.unwrap();
    }
    assert_eq!(refusing.asked().len(), 2);

    let can = |number, alias, all: &[Capability]| Deployment {
        capabilities: Capabilities::of(all.iter().copied()),
        ..deployment(number, alias)
    };
    let both = [Capability::Chat, Capability::Tools];
    let first = Deployment { fallbacks: vec![id(2), id(3)], ..can(1, "a", &both) };
    let gone = Does::Answers(404, &[], "{}".to_owned());
    let others = vec![first, can(2, "b", &[Capability::Chat]), can(3, "c", &both)];
    let bench = bench(others, vec![gone, answer()], Bounds::default(), None);
    let answered = bench.gateway.chat_as(&caller(), id(1), question_with(tools()), untold()).await.unwrap();
    assert_eq!((answered.alias.as_str(), bench.asked().len()), ("c", 2));
}

fn vectors_of_ollama() -> Does {
    Does::Answers(200, &[], json!({ "embeddings": [[0.6, 0.8]], "prompt_eval_count": 2 }).to_string())
}

#[tokio::test(start_paused = true)]
async fn defaults_stand_in_embeddings_as_in_chats_and_each_call_has_its_own() {
    let defaults = json!({ "dimensions": 2, "temperature": 0.5, "keep_alive": "9m" });
    let Value::Object(members) = defaults else { unreachable!() };
    let of = |number| Deployment { defaults: Defaults(members.clone()), ..deployment(number, "a") };
    let bench = bench(vec![of(50)], vec![vectors_of_ollama(), vectors_of_ollama()], Bounds::default(), None);
    let request = |dimensions| EmbeddingRequest::of_texts("a", &["x".to_owned()], dimensions).unwrap();
    bench.gateway.embed_as(&caller(), id(50), request(None), untold()).await.unwrap();
    let sent = bench.sent();
    assert_eq!((&sent["dimensions"], &sent["keep_alive"]), (&json!(2), &json!("9m")));
    assert_eq!(sent.get("temperature"), None, "it is one of chats");
    // What the request says stands; what comes back is looked at by it.
    bench.gateway.embed_as(&caller(), id(50), request(Some(3)), untold()).await.unwrap_err();
    assert_eq!(bench.sent()["dimensions"], 3);
    let chats = bench_of_chat(of(1)).await;
    assert_eq!((&chats["temperature"], chats.get("dimensions")), (&json!(0.5), None));
}

/// The body of a chat to a deployment.
async fn bench_of_chat(of: Deployment) -> Value {
    let named = of.id;
    let bench = bench(vec![of], vec![answer()], Bounds::default(), None);
    bench.gateway.chat_as(&caller(), named, question(false), untold()).await.unwrap();
    bench.sent()
}

#[tokio::test(start_paused = true)]
async fn calls_keep_a_model_as_its_memory_says_and_one_that_is_too_large_is_not_read() {
    let with = |number, memory: Memory| Deployment { memory, ..deployment(number, "a") };
    let pinned = Memory { policy: MemoryPolicy::Pinned, context_length: Some(8_192), ..Memory::default() };
    let idles = Memory { idle_ttl_seconds: Some(300), ..Memory::default() };
    let said = json!({ "model": "m", "message": { "role": "assistant", "content": "yes" }, "done": true });
    let chat = || Does::Answers(200, &[], said.to_string());
    let all = vec![with(50, pinned), with(51, idles), with(52, Memory::default())];
    let kept = bench(all, vec![chat(), vectors_of_ollama(), chat(), chat()], Bounds::default(), None);
    kept.gateway.chat_as(&caller(), id(50), question(false), untold()).await.unwrap();
    let sent = kept.sent();
    assert_eq!((&sent["keep_alive"], &sent["options"]), (&json!(-1), &json!({ "num_ctx": 8192 })));
    let texts = EmbeddingRequest::of_texts("a", &["x".to_owned()], None).unwrap();
    kept.gateway.embed_as(&caller(), id(50), texts, untold()).await.unwrap();
    let sent = kept.sent();
    assert_eq!((&sent["keep_alive"], &sent["options"]), (&json!(-1), &json!({ "num_ctx": 8192 })));
    kept.gateway.chat_as(&caller(), id(51), question(false), untold()).await.unwrap();
    assert_eq!((&kept.sent()["keep_alive"], kept.sent().get("options")), (&json!(300), None));
    kept.gateway.chat_as(&caller(), id(52), question(false), untold()).await.unwrap();
    assert_eq!(kept.sent().get("keep_alive"), None);

    // By what its runtime told, and by the catalogue where it told nothing yet.
    let bound = |most| Memory { max_bytes: Some(most), ..Memory::default() };
    let observed = Observed { file_bytes: Some(2_000), ..Observed::default() };
    let seen = Deployment { observed, ..with(59, bound(1_999)) };
    let fallback = Deployment { fallbacks: vec![id(60)], ..with(61, Memory::default()) };
    let all = vec![seen, with(60, bound(999)), with(62, bound(1)), fallback];
    let small = bench(all, vec![Does::Answers(404, &[], "{}".to_owned()), chat()], Bounds::default(), None);
    for number in [59, 60] {
        let error =
            small.gateway.chat_as(&caller(), id(number), question(false), untold()).await.unwrap_err();
        let GatewayError::Inner(UseCaseError::Conflict(problems)) = &error else { panic!("{error}") };
        assert_eq!(problems.first().map(|one: &Problem| one.reason), Some("modelTooLarge"));
    }
    assert!(small.asked().is_empty());
    small.gateway.chat_as(&caller(), id(61), question(false), untold()).await.unwrap_err();
    assert_eq!(small.asked(), ["c61/api/chat"], "nor is it read as a fallback");
    // Of this one nobody knows how large it is.
    small.gateway.chat_as(&caller(), id(62), question(false), untold()).await.unwrap();
}
