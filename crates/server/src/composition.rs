//! The composition: database, stores, use cases, background. The HTTP side is put on top of it by [`crate::Server`]; the
//! command line uses it without.

use std::sync::Arc;
use std::time::Duration;

use heddle_cases::Cases;
use heddle_cases::definitions::{CaseTypes, Meaning};
use heddle_cases::versions::CompiledCaseTypes;
use heddle_edge::{Edge, descriptors};
use heddle_identity::audit_chain::AuditChain;
use heddle_identity::ports::InstallationStore;
use heddle_identity::{Identity, InstallationKey};
use heddle_installation::anchors::Anchors;
use heddle_installation::audit_keeper::AuditKeeper;
use heddle_installation::config::Config;
use heddle_installation::data_dir::DataDir;
use heddle_installation::deliveries::Deliveries;
use heddle_installation::denials::Denials;
use heddle_installation::error::StartError;
use heddle_installation::outside::Outside;
use heddle_installation::people::People;
use heddle_installation::sign_ins::SignIns;
use heddle_installation::{licensed, node, stores};
use heddle_kernel::Clock as _;
use heddle_models::Gateway;
use heddle_runtime::{
    CommitOptions, ComputeOptions, ComputePool, EventNotifier, GroupCommitter, Permit, RandomIds,
    RunnerPorts, ServerClock, ServiceExecutor, WebhookDirectory, Worker, WorkerOptions, system_random,
};
use heddle_service_nodes::{ModelNodes, StarterRights};
use heddle_store::Db;
use heddle_store_workflows::{SqlErrandStore, SqlRunStore, SqlWorkStore, SqlWorkflowStore};
use heddle_usecase::Compute;
use heddle_usecase::errand::Executor;
use heddle_vector_service::{BuiltInModels, Composed, VectorParts, Vectors};
use heddle_workflows::background::Background;
use heddle_workflows::definitions::{Definitions, TimerBell};
use heddle_workflows::models::CompiledVersions;
use heddle_workflows::ports::{Kinds, RunStore, ServiceWork, SourceQuota, WorkflowStore};
use heddle_workflows::quotas::QuotaSource;
use heddle_workflows::runs::{RunPorts, Runs};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::app::App;
use crate::handlers::webhooks::event_types;
use crate::identity::{self, FirstStart};
use crate::last_write::LastWrite;
use crate::models::{KnownModels, ModelParts, Models};

/// Batches of steps that wait for the disk beside the one that is written, where the database writes one at a time.
const BEHIND: usize = 7;
/// Steps for which a batch waits while another one waits for the disk, if not for too long: each batch writes the pages once
/// more on which all tables and indexes end.
const BESIDE: usize = 64;
/// Bytes of runs that were committed last, which are kept for their next step.
const RECENT_BYTES: u64 = 32 << 20;

/// A composed service with its background running.
pub struct Composition {
    /// Application state that handlers reach.
    pub app: Arc<App>,
    /// Credentials and demo that the first start made.
    pub first: FirstStart,
    /// Held while the service runs.
    data: DataDir,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    /// Id under which it stands among the servers of the database; none for a command.
    node: Option<Uuid>,
}

impl std::fmt::Debug for Composition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Composition").finish_non_exhaustive()
    }
}

/// Work that nobody asked for at this moment waits while the installation is restricted.
struct LicencePermit(Arc<Identity>);

impl Permit for LicencePermit {
    fn may_work(&self) -> bool {
        self.0.licence_state().restriction().is_none()
    }
}

impl Composition {
    /// Opens data directory and database, brings the database up to date, checks the key, and starts the background.
    ///
    /// # Errors
    /// [`StartError`], each with what to do.
    pub async fn open(config: Config) -> Result<Self, StartError> {
        let data = DataDir::open(&config.data_dir)?;
        Self::open_in(config, data, true).await
    }

    /// The same without the background, for a command of the command line. With PostgreSQL a server may run beside it.
    ///
    /// # Errors
    /// [`StartError`], each with what to do.
    pub async fn operate(config: Config) -> Result<Self, StartError> {
        let data = match config.database_url {
            Some(_) => DataDir::beside(&config.data_dir)?,
            None => DataDir::open(&config.data_dir)?,
        };
        Self::open_in(Config { demo: false, ..config }, data, false).await
    }

    async fn open_in(config: Config, data: DataDir, background: bool) -> Result<Self, StartError> {
        if config.database_url.is_none() {
            data.make_database()?;
        }
        let db = stores::open(&config, &data.database()).await?;
        let begins = config.clock_begins.filter(|_| config.test_clock);
        let clock = Arc::new(begins.map_or_else(ServerClock::default, ServerClock::beginning_at));
        db.migrate(&stores::migrations(), clock.now()).await?;
        SqlRunStore::new(db.clone()).go_on().await?;
        let store = Arc::new(stores::identity(db.clone()));
        let installed = store.load().await?;
        let key = data.key(installed.is_some())?;
        let outside = Outside::open(&config, &data, &db, &clock, event_types()).await?;
        let denials = Denials::start(store.clone());
        let identity = identity::open(&config, &store, &denials, key, &clock, outside.keyring.clone())?;
        let identity = Arc::new(identity.with_counters(stores::counters(&db)));
        let sign_ins = SignIns::open(&config, &identity, &store, &outside.egress)?;
        let chain = AuditChain::new(store, &InstallationKey::new(key)?, clock.clone())?;
        let anchors = Anchors::open(&config.data_dir);
        let audit =
            Arc::new(AuditKeeper::new(chain, anchors, Arc::clone(&clock), config.audit_retention_days));
        let (stop, stopped) = watch::channel(false);
        let compute = Arc::new(ComputePool::start(ComputeOptions::default()).map_err(StartError::Threads)?);
        let hub = Arc::new(EventNotifier::default());
        let built_in = BuiltInModels::of_node(&config);
        let models = Models::open(&ModelParts {
            config: &config,
            db: &db,
            identity: &identity,
            clock: &clock,
            compute: &compute,
            egress: &outside.egress,
            keyring: &outside.keyring,
            embedding: &built_in,
        });
        models.write_usage();
        let vectors = Vectors::open(&VectorParts {
            config: &config,
            db: &db,
            identity: &identity,
            clock: &clock,
            compute: &compute,
            egress: &outside.egress,
            hub: &hub,
            built_in: &built_in,
            deployments: &models.store(),
            gateway: &models.gateway,
            node: node::id(&config.data_dir),
        })?;
        let parts = Parts {
            db,
            denials,
            identity,
            audit,
            sign_ins,
            clock,
            compute,
            outside,
            hub,
            vectors,
            models,
            stop: stopped,
        };
        let app = compose(config, parts);
        let core = Self { app, first: FirstStart::default(), data, stop, tasks: Vec::new(), node: None };
        core.begun(background).await
    }

    /// The same once what every start does is done: accounts and roles, the background, the demo.
    async fn begun(mut self, background: bool) -> Result<Self, StartError> {
        self.first = identity::first_start(&self.app).await?;
        if background {
            identity::provided(&self.app).await;
            self.node = Some(identity::join(&self.app).await?);
            self.app.identity.warn_of_licence();
            self.start_background();
        }
        identity::add_system_roles(&self.app).await?;
        crate::selectors::read_stored(&self.app).await?;
        if let (Some(tenant), Some(founder)) = (self.first.organization, self.first.founder) {
            crate::demo::fill(&self.app, tenant, founder).await?;
        }
        Ok(self)
    }

    fn start_background(&mut self) {
        let stopped = &self.app.stop;
        if self.app.config.background {
            self.tasks = self.app.worker.start(stopped);
            let permit: Arc<dyn Permit> = Arc::new(LicencePermit(Arc::clone(&self.app.identity)));
            self.tasks.push(tokio::spawn(Arc::clone(&self.app.models).keep(permit, stopped.clone())));
            if self.app.config.roles.iter().any(|role| role == "vector") {
                self.app.vectors.warm_up();
                let permit: Arc<dyn Permit> = Arc::new(LicencePermit(Arc::clone(&self.app.identity)));
                let keeping = Arc::clone(&self.app.vectors).keep(permit, stopped.clone());
                self.tasks.push(tokio::spawn(keeping));
            }
        } else {
            tracing::warn!(
                "started with --no-background: no timer fires, no message and no webhook is delivered, and nothing \
                 expires until the server is started without it"
            );
        }
        let keeping = identity::keep(Arc::clone(&self.app.identity), self.node, stopped.clone());
        self.tasks.push(tokio::spawn(keeping));
        // Whatever else the background does, what was done is sealed.
        self.tasks.push(tokio::spawn(Arc::clone(&self.app.audit).keep(stopped.clone())));
    }

    /// Writes the server's address into the data directory, for commands that find it taken.
    ///
    /// # Errors
    /// `DataDir`.
    pub fn announce(&self, address: &str) -> Result<(), StartError> {
        Ok(self.data.announce(address)?)
    }

    /// Whether set-up is still to be done.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        self.first.setup_token.is_some()
    }

    /// Tells streams and loops to end, and waits for what is being written.
    pub async fn stop(self) {
        // Nobody listens any more when everything has ended by itself.
        let _ = self.stop.send(true);
        self.app.runs.end_waits();
        self.app.denials.close().await;
        self.app.models.flush().await;
        for task in self.tasks {
            let _ = tokio::time::timeout(Duration::from_secs(3), task).await;
        }
        if let Some(node) = self.node {
            // One that can't say so counts until it was not seen for some minutes.
            let left = tokio::time::timeout(Duration::from_secs(1), self.app.identity.leave(node)).await;
            if !matches!(left, Ok(Ok(()))) {
                tracing::warn!("the database was not told that this server stops");
            }
        }
    }

    /// Tells streams and loops to end.
    pub fn signal_stop(&self) {
        self.app.runs.end_waits();
        let _ = self.stop.send(true);
    }
}

/// Parts that the service is put together from.
struct Parts {
    db: Db,
    denials: Denials,
    identity: Arc<Identity>,
    audit: Arc<AuditKeeper>,
    sign_ins: SignIns,
    clock: Arc<ServerClock>,
    compute: Arc<ComputePool>,
    outside: Outside,
    hub: Arc<EventNotifier>,
    vectors: Composed,
    models: Arc<Models>,
    stop: watch::Receiver<bool>,
}

/// The store of definitions: workflows and case types.
fn definition_store(parts: &Parts, quotas: &Arc<dyn QuotaSource>) -> Arc<SqlWorkflowStore> {
    let store = SqlWorkflowStore::new(parts.db.clone()).with_quotas(Arc::clone(quotas));
    Arc::new(store.with_compute(parts.compute.clone()))
}

/// The ports of runs, with the compiled versions of workflows.
fn run_ports(
    config: &Config,
    parts: &Parts,
    quotas: &Arc<dyn QuotaSource>,
    hub: &Arc<EventNotifier>,
    definitions: &Arc<SqlWorkflowStore>,
) -> (RunPorts, Arc<CompiledVersions>) {
    let (db, threads): (&Db, Arc<dyn Compute>) = (&parts.db, parts.compute.clone());
    let workflows: Arc<dyn WorkflowStore> = definitions.clone();
    let runs_and_jobs = Arc::new(
        SqlRunStore::new(db.clone()).with_quotas(Arc::clone(quotas)).with_compute(Arc::clone(&threads)),
    );
    let runs: Arc<dyn RunStore> = runs_and_jobs.clone();
    let models = Arc::new(CompiledVersions::new(Arc::clone(&workflows)).with_compute(Arc::clone(&threads)));
    let case_types = CompiledCaseTypes::new(definitions.clone()).with_compute(Arc::clone(&threads));
    let options = match db {
        // It writes one batch at a time; those before it get to the disk meanwhile.
        Db::Sqlite(_) => {
            CommitOptions { writers: 1, behind: BEHIND, beside: BESIDE, ..CommitOptions::default() }
        }
        Db::Postgres(_) => CommitOptions { writers: 2, ..CommitOptions::default() },
    };
    let ports = RunPorts {
        committer: Arc::new(GroupCommitter::start(Arc::clone(&runs), options)),
        runs,
        jobs: runs_and_jobs,
        work: Arc::new(SqlWorkStore::new(db.clone()).with_quotas(Arc::clone(quotas))),
        limits: licensed::rates(config, &parts.identity),
        hub: hub.clone(),
        versions: Kinds::workflows(models.clone()).with_cases(Arc::new(case_types)),
        ids: Arc::new(RandomIds),
        compute: threads,
        clock: parts.clock.clone(),
        directory: Arc::new(People {
            identity: Arc::new(stores::identity(db.clone())),
            clock: parts.clock.clone(),
        }),
    };
    (ports, models)
}

/// The quota of previewed files.
fn previews(config: &Config) -> SourceQuota {
    SourceQuota { files: config.preview_files as usize, bytes: u64::from(config.preview_megabytes) << 20 }
}

/// Runs within the bounds of a configuration.
fn runs_within(config: &Config, ports: &RunPorts, permit: &Arc<dyn Permit>) -> Runs {
    let runs = Runs::new(ports.clone()).with_budget(config.budget).with_recent(RECENT_BYTES);
    let runs = runs.with_permit(Arc::clone(permit)).with_patience(config.step_limit);
    runs.with_job_lapses(config.job_lapses)
}

/// Executors of errands on this node: those of nodes that the service does itself, and, where it has the service role
/// `vector`, those of files and of nodes about them.
fn executors(
    config: &Config,
    vectors: &Composed,
    gateway: &Gateway,
    runs: &Arc<Runs>,
    rights: StarterRights,
    clock: &Arc<ServerClock>,
) -> Vec<Arc<dyn Executor>> {
    let ingestion = vectors.vectors.executor(config);
    let mut work: Vec<Arc<dyn ServiceWork>> = vec![Arc::new(ModelNodes::new(gateway.clone(), clock.clone()))];
    if ingestion.is_some() {
        work.extend(vectors.nodes.iter().cloned());
    }
    let service = ServiceExecutor::new(Arc::clone(runs), Arc::new(rights), clock.clone(), work);
    let service: Arc<dyn Executor> = Arc::new(service);
    ingestion.into_iter().chain([service]).collect()
}

fn compose(config: Config, parts: Parts) -> Arc<App> {
    let quotas = licensed::quotas(&config, &parts.identity);
    let hub = Arc::clone(&parts.hub);
    let drafts = definition_store(&parts, &quotas);
    let (ports, versions) = run_ports(&config, &parts, &quotas, &hub, &drafts);
    let Parts { db, identity, clock, compute, outside, vectors, models, .. } = parts;
    let shared = db.postgres().is_some();
    let store = Arc::clone(&ports.runs);
    let (ids, directory) = (Arc::clone(&ports.ids), Arc::clone(&ports.directory));
    let permit: Arc<dyn Permit> = Arc::new(LicencePermit(Arc::clone(&identity)));
    // Another node may write to a shared database; nobody tells this one.
    let poll = Duration::from_secs(if shared { 1 } else { 30 });
    let runs = runs_within(&config, &ports, &permit).with_job_poll(shared.then_some(poll));
    let webhooks = Arc::new(WebhookDirectory::new(Arc::clone(&outside.receivers.source)));
    let runs = Arc::new(runs.with_subscribers(webhooks.clone()));
    let node = node::id(&config.data_dir);
    let background = Arc::new(Background::new(Arc::clone(&runs), ports, node));
    let options = WorkerOptions { poll, sweep: Duration::from_secs(60) };
    let rights = StarterRights::new(Arc::clone(&identity), drafts.clone(), Arc::clone(&ids));
    let errands = RunnerPorts {
        store: Arc::new(SqlErrandStore::new(db.clone()).with_quotas(quotas)),
        executors: executors(&config, &vectors, &models.gateway, &runs, rights, &clock),
        hub: hub.clone(),
        clock: clock.clone(),
        permit: Arc::clone(&permit),
        random: system_random,
    };
    let deliveries = Deliveries::new(webhooks, outside.receivers, errands, node, poll);
    let worker = Worker::new(background, store, hub.clone(), clock.clone(), permit, options);
    let worker = Arc::new(worker.with_runner(deliveries.runner));
    let bell = Arc::new(TimerBell::new(hub.clone()));
    let case_types = CaseTypes::new(drafts.clone(), Arc::clone(&directory), Arc::clone(&ids), bell)
        .with_meaning(Meaning { manual_by_default: config.manual_activation_default })
        .with_compute(compute.clone());
    let definitions = Definitions::new(drafts, ids, &versions, hub.clone(), directory)
        .with_previews(previews(&config))
        .with_deployments(Arc::new(KnownModels(models.gateway.clone())))
        .with_budget(config.budget);
    let edge = Edge::new(config.edge, config.trusted_proxies.clone(), descriptors::raise());
    Arc::new(App {
        config,
        db,
        identity,
        sign_ins: parts.sign_ins,
        definitions,
        case_types,
        connections: outside.connections,
        webhooks: outside.webhooks,
        hooks: outside.hooks,
        webhook_changes: deliveries.changes,
        vectors: vectors.vectors,
        models,
        blobs: vectors.blobs,
        egress: outside.egress,
        keyring: outside.keyring,
        keys: outside.keys,
        cases: Cases::new(Arc::clone(&runs)),
        runs,
        hub,
        compute,
        worker,
        clock,
        ids: RandomIds,
        denials: parts.denials,
        audit: parts.audit,
        edge,
        last_write: LastWrite::default(),
        stop: parts.stop,
    })
}
