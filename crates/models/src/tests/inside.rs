//! States of deployments over the models inside this service.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use heddle_kernel::{FixedClock, RequestId, SequentialIds, SessionId, TenantId};
use heddle_models_wire::{ChatRequest, ChatResponse};
use heddle_policy::capability::{DeploymentCreate, DeploymentSync, ModelConnectionImport};
use heddle_policy::{Facts, Principal, RequestContext, RequestFacts, SessionKind, Snapshot};
use heddle_usecase::{Journal, StoreError};
use uuid::Uuid;

use super::{TENANT, USER, connection, deployment, now};
use crate::keys::Opening;
use crate::ports::{
    Bounds, FixedBounds, LocalFault, LocalModel, LocalModels, MockDependents, MockKeySealer, MockModelStore,
    MockRuntimes,
};
use crate::records::{
    Capabilities, Capability, CatalogueEntry, CatalogueModel, Defaults, Deployment, DeploymentState, Limits,
    Memory, MemoryPolicy, ModelConnection, StoredModelConnection, Timeouts,
};
use crate::types::ProviderKind;
use crate::{
    Catalogue, CataloguePorts, DeploymentPorts, Deployments, ImportedModel, LocalStates, LocalSync,
    NewDeployment, NewImport, Residency, ResidencyPorts, SyncOutcome, SyncPorts, SyncRequest,
};

/// Name of the model inside the service.
const MODEL: &str = "embeds";
/// Help of a model whose files are not here.
const HELP: &str = "Fetch it.";

/// The model in a state.
fn model(state: DeploymentState) -> LocalModel {
    LocalModel {
        entry: CatalogueEntry {
            model: MODEL.to_owned(),
            display_name: MODEL.to_owned(),
            capabilities: Capabilities::of([Capability::Embeddings]),
            context_length: None,
            dimensions: Some(4),
            revision: Some("1".to_owned()),
            bytes: None,
        },
        alias: "built-in".to_owned(),
        state,
        detail: (state != DeploymentState::Ready).then(|| HELP.to_owned()),
    }
}

/// Models that are set, as they are known and as a look finds them.
struct Set {
    known: Mutex<DeploymentState>,
    found: Mutex<DeploymentState>,
}

impl Set {
    fn to(&self, state: DeploymentState) {
        *self.known.lock().unwrap() = state;
        *self.found.lock().unwrap() = state;
    }
}

#[async_trait]
impl LocalModels for Set {
    fn models(&self) -> Vec<LocalModel> {
        vec![model(*self.known.lock().unwrap())]
    }

    async fn looked_for(&self) -> Vec<LocalModel> {
        vec![model(*self.found.lock().unwrap())]
    }

    async fn embed(&self, _: TenantId, _: &str, _: Vec<String>) -> Result<Vec<Vec<f32>>, LocalFault> {
        Err(LocalFault::Missing(HELP.to_owned()))
    }

    fn tokens(&self, _: &str, _: &[String]) -> u64 {
        0
    }

    async fn chat(&self, _: TenantId, _: &str, _: ChatRequest) -> Result<ChatResponse, LocalFault> {
        Err(LocalFault::Missing(HELP.to_owned()))
    }
}

/// Rows in memory, behind the use cases.
struct Bench {
    models: Arc<Set>,
    rows: Arc<Mutex<Vec<Deployment>>>,
    /// Number of the reads of all rows inside the service.
    reads: Arc<AtomicU32>,
    /// Whether such reads fail.
    fails: Arc<Mutex<bool>>,
    states: LocalStates,
    store: Arc<MockModelStore>,
}

/// The connection to the models inside the service.
fn inside() -> ModelConnection {
    ModelConnection { kind: ProviderKind::Local, ..connection(1) }
}

fn store(
    rows: &Arc<Mutex<Vec<Deployment>>>,
    reads: &Arc<AtomicU32>,
    fails: &Arc<Mutex<bool>>,
) -> MockModelStore {
    let mut store = MockModelStore::new();
    store.expect_local_connections().returning(|_| Ok(vec![inside()]));
    store.expect_connection().returning(|_, _| Ok(inside()));
    store.expect_stored().returning(|_, _| Ok(StoredModelConnection { connection: inside(), sealed: None }));
    store.expect_discovered().returning(|_, _| Ok(()));
    store.expect_whole_catalogue().returning(|_, _| {
        let entry = model(DeploymentState::Ready).entry;
        Ok(vec![CatalogueModel { entry, deployment: None, discovered_at: now() }])
    });
    store.expect_by_alias().returning(|_, _| Err(StoreError::NotFound));
    let of = rows.clone();
    store.expect_deployments_of().returning(move |_, _| Ok(of.lock().unwrap().clone()));
    let of = rows.clone();
    store.expect_resident().returning(move |after, _| match after {
        None => Ok(of.lock().unwrap().clone()),
        Some(_) => Ok(Vec::new()),
    });
    let (of, reads, fails) = (rows.clone(), reads.clone(), fails.clone());
    store.expect_inside().returning(move |after, _| {
        if *fails.lock().unwrap() {
            return Err(StoreError::Stale);
        }
        match after {
            None => {
                reads.fetch_add(1, Ordering::Relaxed);
                Ok(of.lock().unwrap().clone())
            }
            Some(_) => Ok(Vec::new()),
        }
    });
    let of = rows.clone();
    store.expect_change_deployments().returning(move |_, change, _, _| {
        let mut rows = of.lock().unwrap();
        rows.extend(change.insert.iter().cloned());
        for (after, _) in &change.update {
            let row = rows.iter_mut().find(|row| row.id == after.id).unwrap();
            // What is seen of a row stays.
            let (state, detail) = (row.state, row.state_detail.clone());
            *row = Deployment { state, state_detail: detail, ..after.clone() };
        }
        Ok(())
    });
    let of = rows.clone();
    store.expect_seen().returning(move |states| {
        for seen in states {
            let mut rows = of.lock().unwrap();
            let row = rows.iter_mut().find(|row| row.id == seen.id).unwrap();
            row.state = seen.state;
            row.state_detail.clone_from(&seen.detail);
            row.observed = seen.observed.clone();
        }
        Ok(())
    });
    store
}

impl Bench {
    fn of(state: DeploymentState) -> Self {
        let models = Arc::new(Set { known: Mutex::new(state), found: Mutex::new(state) });
        let (rows, reads, fails) = (Arc::default(), Arc::default(), Arc::default());
        let store = Arc::new(store(&rows, &reads, &fails));
        let states = LocalStates::new(store.clone(), models.clone(), Arc::new(FixedClock::at(now())));
        Self { models, rows, reads, fails, states, store }
    }

    fn opening(&self) -> Opening {
        Opening::new(self.store.clone(), Arc::new(MockKeySealer::new()))
    }

    fn sync(&self) -> LocalSync {
        LocalSync::new(SyncPorts {
            store: self.store.clone(),
            opening: self.opening(),
            runtimes: Arc::new(MockRuntimes::new()),
            local: self.models.clone(),
            states: self.states.clone(),
            dependents: Arc::new(MockDependents::new()),
            bounds: Arc::new(FixedBounds(Bounds::default())),
            ids: Arc::new(SequentialIds::default()),
        })
    }

    /// The state and its reason, as a list shows them.
    fn shown(&self) -> (DeploymentState, Option<String>) {
        let rows = self.rows.lock().unwrap();
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        (row.state, row.state_detail.clone())
    }

    fn reads(&self) -> u32 {
        self.reads.load(Ordering::Relaxed)
    }
}

/// The context of an owner.
pub(crate) fn context() -> RequestContext {
    let principal = Principal {
        user_id: USER,
        session: SessionKind::Session(SessionId(Uuid::from_u128(400))),
        email: "ada@example.com".to_owned(),
        display: "Ada".to_owned(),
        groups: Vec::new(),
    };
    let request_id = RequestId::from_caller("request-1").unwrap();
    let request = RequestFacts { request_id, now: now(), client_ip: None };
    let facts = Facts::member(USER, TENANT).with_system_role("owner");
    RequestContext::of_caller(&Snapshot::new(&facts, now()), principal, request)
}

pub(crate) fn silent<T>(_of: &T) -> Journal {
    Journal::default()
}

/// A deployment of the model whose row says this.
fn row(state: DeploymentState) -> Deployment {
    let told = model(state).entry;
    Deployment {
        model: told.model,
        dimensions: told.dimensions,
        model_revision: told.revision,
        state,
        ..deployment(1, "built-in")
    }
}

#[tokio::test]
async fn a_model_whose_files_are_not_here_is_deployed_as_missing_with_what_helps() {
    let bench = Bench::of(DeploymentState::Missing);
    let made = bench.sync().ensure_built_in(&context(), &silent::<SyncOutcome>).await.unwrap();
    assert_eq!(made.created.first().unwrap().state, DeploymentState::Missing);
    assert_eq!(bench.shown(), (DeploymentState::Missing, Some(HELP.to_owned())));
    assert!(!bench.rows.lock().unwrap()[0].observed.loaded);
}

#[tokio::test]
async fn a_row_that_cannot_be_written_stops_none_behind_it_and_is_tried_again() {
    let missing = |id| Deployment { id: deployment(id, "x").id, ..row(DeploymentState::Missing) };
    let rows = Arc::new(Mutex::new(vec![missing(1), missing(2), missing(3)]));
    let poisoned = missing(2).id;
    let mut store = MockModelStore::new();
    let of = rows.clone();
    store
        .expect_inside()
        .returning(move |after, _| Ok(if after.is_none() { of.lock().unwrap().clone() } else { Vec::new() }));
    let of = rows.clone();
    store.expect_seen().returning(move |states| {
        if states.iter().any(|seen| seen.id == poisoned) {
            return Err(StoreError::Stale);
        }
        for row in of.lock().unwrap().iter_mut() {
            row.state = states.iter().find(|seen| seen.id == row.id).map_or(row.state, |seen| seen.state);
        }
        Ok(())
    });
    let ready = || Mutex::new(DeploymentState::Ready);
    let models = Arc::new(Set { known: ready(), found: ready() });
    let states = LocalStates::new(Arc::new(store), models, Arc::new(FixedClock::at(now())));
    for _ in 0..2 {
        states.look().await.unwrap_err();
        let shown: Vec<_> = rows.lock().unwrap().iter().map(|row| row.state).collect();
        assert_eq!(shown, [DeploymentState::Ready, DeploymentState::Missing, DeploymentState::Ready]);
    }
}

#[tokio::test]
async fn a_deployment_that_somebody_makes_or_imports_begins_as_its_model_is() {
    let bench = Bench::of(DeploymentState::Missing);
    let context = context();
    let deployments = Deployments::new(DeploymentPorts {
        store: bench.store.clone(),
        states: bench.states.clone(),
        dependents: Arc::new(MockDependents::new()),
        bounds: Arc::new(FixedBounds(Bounds::default())),
        ids: Arc::new(SequentialIds::default()),
    });
    let new = |model: &str| NewDeployment {
        connection_id: inside().id,
        model: model.to_owned(),
        alias: "mine".to_owned(),
        capabilities: None,
        context_length: None,
        dimensions: None,
        defaults: Defaults::default(),
        limits: Limits::default(),
        timeouts: Timeouts::default(),
        fallbacks: Vec::new(),
        prices: None,
        enabled: true,
    };
    let create = context.snapshot().authorize_kind::<DeploymentCreate>().unwrap();
    for (model, detail) in [(MODEL, HELP), ("another", crate::inside::ABSENT)] {
        let made = deployments.create(&create, &context, new(model), &silent).await.unwrap();
        assert_eq!((made.state, made.state_detail.as_deref()), (DeploymentState::Missing, Some(detail)));
    }

    bench.rows.lock().unwrap().clear();
    let catalogue = Catalogue::new(CataloguePorts {
        store: bench.store.clone(),
        opening: bench.opening(),
        runtimes: Arc::new(MockRuntimes::new()),
        states: bench.states.clone(),
        bounds: Arc::new(FixedBounds(Bounds::default())),
        ids: Arc::new(SequentialIds::default()),
    });
    let import = context.snapshot().authorize_one::<ModelConnectionImport>(inside().id, ()).unwrap();
    let wanted = ImportedModel { model: MODEL.to_owned(), alias: None, capabilities: None };
    let new = NewImport { models: vec![wanted], atomic: true };
    catalogue.import(&import, &context, new, &silent).await.unwrap();
    assert_eq!(bench.shown(), (DeploymentState::Missing, Some(HELP.to_owned())));
}

#[tokio::test]
async fn a_sync_waits_for_what_is_read_tells_what_became_of_it_once_and_changes_nothing_again() {
    let bench = Bench::of(DeploymentState::Ready);
    bench.rows.lock().unwrap().push(row(DeploymentState::Missing));
    *bench.models.known.lock().unwrap() = DeploymentState::Loading;
    let context = context();
    let may = context.snapshot().authorize_kind::<DeploymentSync>().unwrap();
    let sync = bench.sync();
    let done = sync.sync(&may, &context, SyncRequest::default(), &silent).await.unwrap();
    assert_eq!(done.updated.first().map(|one| one.state), Some(DeploymentState::Ready));
    assert_eq!(bench.shown(), (DeploymentState::Ready, None));
    let again = sync.sync(&may, &context, SyncRequest::default(), &silent).await.unwrap();
    assert_eq!((again.updated.len(), again.unchanged), (0, 1));
    // Files that go away are told as well, though the model stays in the list of what there could be.
    bench.models.to(DeploymentState::Missing);
    let gone = sync.sync(&may, &context, SyncRequest::default(), &silent).await.unwrap();
    assert_eq!(gone.updated.first().map(|one| one.state), Some(DeploymentState::Missing));
    assert_eq!(bench.shown(), (DeploymentState::Missing, Some(HELP.to_owned())));
}

#[tokio::test]
async fn a_look_writes_what_changed_and_reads_no_row_where_nothing_did() {
    let bench = Bench::of(DeploymentState::Missing);
    bench.rows.lock().unwrap().push(row(DeploymentState::Ready));
    // A row of before this was seen.
    assert_eq!(bench.states.look().await.unwrap(), 1);
    assert_eq!(bench.shown(), (DeploymentState::Missing, Some(HELP.to_owned())));
    for _ in 0..3 {
        assert_eq!(bench.states.look().await.unwrap(), 0);
    }
    assert_eq!(bench.reads(), 1);

    // While the files that came are read, the row says what was seen last.
    bench.models.to(DeploymentState::Loading);
    assert_eq!(bench.states.look().await.unwrap(), 0);
    assert_eq!(bench.shown().0, DeploymentState::Missing);
    bench.models.to(DeploymentState::Ready);
    assert_eq!(bench.states.look().await.unwrap(), 1);
    assert_eq!(bench.shown(), (DeploymentState::Ready, None));
    assert!(bench.rows.lock().unwrap()[0].observed.loaded);

    // A look that fails is no look.
    bench.models.to(DeploymentState::Error);
    *bench.fails.lock().unwrap() = true;
    assert!(bench.states.look().await.is_err());
    *bench.fails.lock().unwrap() = false;
    assert_eq!(bench.states.look().await.unwrap(), 1);
    assert_eq!(bench.shown(), (DeploymentState::Error, Some(HELP.to_owned())));
}

#[tokio::test]
async fn deployments_that_are_made_while_a_model_is_read_are_looked_at_once_it_is() {
    let bench = Bench::of(DeploymentState::Missing);
    assert_eq!(bench.states.look().await.unwrap(), 0);
    *bench.models.known.lock().unwrap() = DeploymentState::Loading;
    bench.sync().ensure_built_in(&context(), &silent::<SyncOutcome>).await.unwrap();
    assert_eq!(bench.shown().0, DeploymentState::Loading);
    // Whoever keeps states is woken, and the rows are read although the models are as they were at the last look.
    bench.states.wanted().await;
    assert_eq!(bench.states.look().await.unwrap(), 1);
    assert_eq!(bench.shown(), (DeploymentState::Missing, Some(HELP.to_owned())));
}

#[tokio::test]
async fn whoever_keeps_residency_says_of_a_model_inside_the_service_what_it_says_itself() {
    let bench = Bench::of(DeploymentState::Missing);
    let memory = Memory { policy: MemoryPolicy::Pinned, ..Memory::default() };
    bench.rows.lock().unwrap().push(Deployment { memory, preload: true, ..row(DeploymentState::Ready) });
    let residency = Residency::new(ResidencyPorts {
        store: bench.store.clone(),
        opening: bench.opening(),
        runtimes: Arc::new(MockRuntimes::new()),
        states: bench.states.clone(),
        dependents: Arc::new(MockDependents::new()),
        bounds: Arc::new(FixedBounds(Bounds::default())),
        clock: Arc::new(FixedClock::at(now())),
    });
    assert_eq!(residency.reconciler().run_once(true).await.unwrap(), 1);
    assert_eq!(bench.shown(), (DeploymentState::Missing, Some(HELP.to_owned())));
    bench.models.to(DeploymentState::Ready);
    assert_eq!(residency.reconciler().run_once(false).await.unwrap(), 1);
    assert_eq!(bench.shown(), (DeploymentState::Ready, None));
}
