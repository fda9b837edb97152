//! Residency that is set, and what runtimes are told of it.

use std::sync::{Arc, Mutex};

use heddle_kernel::FixedClock;
use heddle_policy::Authorized;
use heddle_policy::capability::DeploymentUpdate;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::inside::{context, silent};
use super::{connection, deployment, now};
use crate::keys::Opening;
use crate::ports::{
    Bounds, FixedBounds, MockDependents, MockKeySealer, MockLocalModels, MockModelStore, MockRuntimes,
};
use crate::records::{
    Deployment, DeploymentState, Memory, MemoryPolicy, ModelConnection, Observed, ProviderKind,
    StoredModelConnection,
};
use crate::{LocalStates, MemorySet, PreloadSet, Refreshed, Residency, ResidencyPorts, UseCaseError};

/// Use cases over one deployment of a runtime, which notes what it is told.
struct Bench {
    residency: Residency,
    told: UnboundedReceiver<String>,
    row: Arc<Mutex<Deployment>>,
}

fn noting(told: &UnboundedSender<String>, text: String) {
    told.send(text).unwrap();
}

fn bench(kind: ProviderKind, memory: Memory, observed: Observed) -> Bench {
    let (send, told) = unbounded_channel();
    let row = Arc::new(Mutex::new(Deployment { memory, ..deployment(1, "a") }));
    let led = move || ModelConnection { kind, ..connection(1) };
    let mut store = MockModelStore::new();
    let of = row.clone();
    store.expect_deployment().returning(move |_, _| Ok(of.lock().unwrap().clone()));
    store.expect_connection().returning(move |_, _| Ok(led()));
    store
        .expect_stored()
        .returning(move |_, _| Ok(StoredModelConnection { connection: led(), sealed: None }));
    store.expect_whole_catalogue().returning(|_, _| Ok(Vec::new()));
    let of = row.clone();
    store.expect_change_deployments().returning(move |_, change, _, _| {
        if let Some((after, _)) = change.update.first() {
            *of.lock().unwrap() = after.clone();
        }
        Ok(())
    });
    let sent = send.clone();
    store.expect_seen().returning(move |states| {
        let state = &states[0];
        noting(&sent, format!("{} {}", state.state, state.detail.clone().unwrap_or_default()));
        Ok(())
    });
    let of = row.clone();
    store.expect_resident().returning(move |after, _| match after {
        None => Ok(vec![of.lock().unwrap().clone()]),
        Some(_) => Ok(Vec::new()),
    });
    let mut runtimes = MockRuntimes::new();
    runtimes.expect_observe().returning(move |_, _| Ok(Some(observed.clone())));
    let sent = send.clone();
    runtimes.expect_load().returning(move |_, of| {
        noting(&sent, format!("load {} {:?}", of.memory.policy, of.memory.context_length));
        Ok(())
    });
    let sent = send.clone();
    runtimes.expect_leave().returning(move |_, of, was_pinned| {
        noting(&sent, format!("leave {:?} {was_pinned}", of.memory.idle_ttl_seconds));
        Ok(())
    });
    runtimes.expect_unload().returning(move |_, _| {
        noting(&send, "unload".to_owned());
        Ok(())
    });
    runtimes.expect_revision().returning(|_, _| Ok(None));
    let store = Arc::new(store);
    let clock = Arc::new(FixedClock::at(now()));
    let local = Arc::new(MockLocalModels::new());
    let residency = Residency::new(ResidencyPorts {
        opening: Opening::new(store.clone(), Arc::new(MockKeySealer::new())),
        states: LocalStates::new(store.clone(), local, clock.clone()),
        store,
        runtimes: Arc::new(runtimes),
        dependents: Arc::new(MockDependents::new()),
        bounds: Arc::new(FixedBounds(Bounds::default())),
        clock,
    });
    Bench { residency, told, row }
}

fn authorized() -> Authorized<DeploymentUpdate> {
    context().snapshot().authorize_one::<DeploymentUpdate>(deployment(1, "a").id, ()).unwrap()
}

impl Bench {
    async fn set(&self, memory: Memory) -> Result<MemorySet, UseCaseError> {
        self.residency.set_memory(&authorized(), &context(), memory, None, &silent::<MemorySet>).await
    }

    async fn next(&mut self) -> String {
        self.told.recv().await.unwrap()
    }
}

fn pinned() -> Memory {
    Memory { policy: MemoryPolicy::Pinned, ..Memory::default() }
}

/// A model in memory for good, whose files have a thousand bytes.
fn held() -> Observed {
    let expires_at = Some(now().plus_seconds(86_400 * 365));
    Observed { loaded: true, file_bytes: Some(1_000), expires_at, ..Observed::default() }
}

fn problem(error: &UseCaseError) -> String {
    let (UseCaseError::Invalid(problems) | UseCaseError::Conflict(problems)) = error else {
        panic!("{error}")
    };
    let told =
        problems.iter().map(|one| format!("{}:{}", one.field.as_deref().unwrap_or_default(), one.reason));
    told.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn what_is_set_is_told_to_a_model_that_is_in_memory() {
    let mut bench = bench(ProviderKind::Ollama, pinned(), held());
    let idles = Memory { idle_ttl_seconds: Some(300), ..Memory::default() };
    assert!(bench.set(idles.clone()).await.unwrap().changed);
    assert_eq!(
        (bench.next().await, bench.next().await),
        ("leave Some(300) true".to_owned(), "ready ".to_owned())
    );
    // Said again it is told again: what did not arrive does now.
    assert!(!bench.set(idles).await.unwrap().changed);
    assert_eq!(
        (bench.next().await, bench.next().await),
        ("leave Some(300) false".to_owned(), "ready ".to_owned())
    );
    bench.set(Memory { context_length: Some(8_192), ..pinned() }).await.unwrap();
    assert_eq!(bench.next().await, "load pinned Some(8192)");
    assert_eq!(bench.next().await, "ready ");
    bench.set(Memory { context_length: Some(4_096), ..pinned() }).await.unwrap();
    assert_eq!(bench.next().await, "load pinned Some(4096)", "another context of one that is pinned already");
    assert_eq!(bench.next().await, "ready ");
    // One that is larger than it may be is let go, and not read again.
    bench.set(Memory { max_bytes: Some(999), ..pinned() }).await.unwrap();
    assert_eq!(bench.next().await, "unload");
    assert_eq!(bench.next().await, "error The model has 1000 bytes; 999 are allowed.");
    bench.residency.reconciler().run_once(true).await.unwrap();
    assert_eq!(bench.next().await, "error The model has 1000 bytes; 999 are allowed.");
}

#[tokio::test]
async fn a_preloaded_model_is_read_at_a_start_and_not_again_when_it_idled_out() {
    let idles = Memory { idle_ttl_seconds: Some(60), ..Memory::default() };
    let mut bench = bench(ProviderKind::Ollama, idles, Observed::default());
    bench.row.lock().unwrap().preload = true;
    let reconciler = bench.residency.reconciler();
    reconciler.run_once(true).await.unwrap();
    assert_eq!(
        (bench.next().await, bench.next().await),
        ("load onDemand None".to_owned(), "loading ".to_owned())
    );
    bench.row.lock().unwrap().state = DeploymentState::Ready;
    for _ in 0..2 {
        reconciler.run_once(false).await.unwrap();
        assert_eq!(bench.next().await, "unloaded ");
    }
}

#[tokio::test]
async fn what_a_runtime_cannot_be_told_is_refused_by_name_and_nothing_is_written() {
    let idles = || Memory { idle_ttl_seconds: Some(300), ..Memory::default() };
    for kind in [ProviderKind::LlamaCpp, ProviderKind::LmStudio, ProviderKind::Vllm] {
        let bench = bench(kind, Memory::default(), held());
        let error = bench.set(idles()).await.unwrap_err();
        assert_eq!(problem(&error), "idleTtlSeconds:notSupported", "{kind}");
        assert_eq!(bench.row.lock().unwrap().memory, Memory::default());
    }
    for kind in [ProviderKind::Local, ProviderKind::HuggingfaceTei, ProviderKind::Openai] {
        let bench = bench(kind, Memory::default(), held());
        assert_eq!(problem(&bench.set(idles()).await.unwrap_err()), ":noResidency", "{kind}");
        let preloaded = bench
            .residency
            .set_preload(&authorized(), &context(), true, None, &silent::<PreloadSet>)
            .await
            .unwrap_err();
        assert_eq!(problem(&preloaded), ":noResidency", "{kind}");
    }
}

#[tokio::test]
async fn a_provider_that_tells_no_revision_says_so_and_one_that_lost_the_model_too() {
    for (kind, reason) in [
        (ProviderKind::LlamaCpp, ":noRevision"),
        (ProviderKind::Vllm, ":noRevision"),
        (ProviderKind::Ollama, ":modelMissing"),
    ] {
        let bench = bench(kind, Memory::default(), held());
        let refreshed =
            bench.residency.refresh_revision(&authorized(), &context(), None, &silent::<Refreshed>).await;
        assert_eq!(problem(&refreshed.unwrap_err()), reason, "{kind}");
    }
}
