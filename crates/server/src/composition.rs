//! The composition: database, stores, use cases, background. The HTTP side is put on top of it by [`crate::Server`]; the
//! command line uses it without.

use std::sync::Arc;
use std::time::Duration;

use heddle_identity::Identity;
use heddle_identity::ports::InstallationStore;
use heddle_kernel::{Clock as _, IdSource};
use heddle_runtime::{
    CommitOptions, ComputeOptions, ComputePool, EventNotifier, GroupCommitter, Permit, RandomIds,
    ServerClock, Worker, WorkerOptions,
};
use heddle_store::Db;
use heddle_store_workflows::{SqlRunStore, SqlWorkStore, SqlWorkflowStore};
use heddle_usecase::Compute;
use heddle_workflows::background::Background;
use heddle_workflows::definitions::Definitions;
use heddle_workflows::models::CompiledVersions;
use heddle_workflows::ports::{Committer, Directory, RunStore, SourceQuota, WorkflowStore};
use heddle_workflows::runs::{RunPorts, Runs};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::denials::Denials;
use crate::edge::{Edge, descriptors};
use crate::error::StartError;
use crate::identity::{self, FirstStart};
use crate::last_write::LastWrite;
use crate::people::People;
use crate::{licensed, stores};

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
        let store = Arc::new(stores::identity(db.clone()));
        let installed = store.load().await?;
        let key = data.key(installed.is_some())?;
        let denials = Denials::start(store.clone());
        let identity = Arc::new(identity::open(&config, &store, &denials, key, &clock)?);
        let (stop, stopped) = watch::channel(false);
        let compute = Arc::new(ComputePool::start(ComputeOptions::default()).map_err(StartError::Threads)?);
        let app = compose(config, db, denials, identity, clock, compute, stopped);
        let mut core = Self { app, first: FirstStart::default(), data, stop, tasks: Vec::new() };
        if background {
            core.start_background();
        }
        core.first = identity::first_start(&core.app).await?;
        crate::selectors::read_stored(&core.app).await?;
        if let (Some(tenant), Some(founder)) = (core.first.organization, core.first.founder) {
            crate::demo::fill(&core.app, tenant, founder).await?;
        }
        Ok(core)
    }

    fn start_background(&mut self) {
        let stopped = &self.app.stop;
        if self.app.config.background {
            self.tasks = self.app.worker.start(stopped);
        } else {
            tracing::warn!(
                "started with --no-background: no timer fires, no message is delivered and nothing expires until \
                 the server is started without it"
            );
        }
        self.tasks.push(tokio::spawn(identity::keep(Arc::clone(&self.app.identity), stopped.clone())));
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
        for task in self.tasks {
            let _ = tokio::time::timeout(Duration::from_secs(3), task).await;
        }
    }

    /// Tells streams and loops to end.
    pub fn signal_stop(&self) {
        self.app.runs.end_waits();
        let _ = self.stop.send(true);
    }
}

fn compose(
    config: Config,
    db: Db,
    denials: Denials,
    identity: Arc<Identity>,
    clock: Arc<ServerClock>,
    compute: Arc<ComputePool>,
    stop: watch::Receiver<bool>,
) -> Arc<App> {
    let shared = db.postgres().is_some();
    let quotas = licensed::quotas(&config, &identity);
    let threads: Arc<dyn Compute> = compute.clone();
    let workflows =
        SqlWorkflowStore::new(db.clone()).with_quotas(Arc::clone(&quotas)).with_compute(Arc::clone(&threads));
    let workflows: Arc<dyn WorkflowStore> = Arc::new(workflows);
    let runs_and_jobs = Arc::new(
        SqlRunStore::new(db.clone()).with_quotas(Arc::clone(&quotas)).with_compute(Arc::clone(&threads)),
    );
    let store: Arc<dyn RunStore> = runs_and_jobs.clone();
    let ids: Arc<dyn IdSource> = Arc::new(RandomIds);
    let models = CompiledVersions::new(Arc::clone(&workflows)).with_compute(Arc::clone(&threads));
    let models = Arc::new(models);
    let hub = Arc::new(EventNotifier::default());
    let options = CommitOptions { writers: if shared { 2 } else { 1 }, ..CommitOptions::default() };
    let committer: Arc<dyn Committer> = Arc::new(GroupCommitter::start(Arc::clone(&store), options));
    let directory: Arc<dyn Directory> = Arc::new(People(Arc::new(stores::identity(db.clone()))));
    let ports = RunPorts {
        runs: Arc::clone(&store),
        jobs: runs_and_jobs,
        work: Arc::new(SqlWorkStore::new(db.clone()).with_quotas(quotas)),
        limits: licensed::rates(&config, &identity),
        committer,
        hub: hub.clone(),
        workflows: Arc::clone(&workflows),
        models: Arc::clone(&models),
        ids: Arc::clone(&ids),
        compute: threads,
        clock: clock.clone(),
        directory: Arc::clone(&directory),
    };
    let runs = Runs::new(ports.clone()).with_budget(config.budget).with_recent(RECENT_BYTES);
    // Another node may write to a shared database; nobody tells this one.
    let poll = Duration::from_secs(if shared { 1 } else { 30 });
    let runs = runs.with_patience(config.step_limit).with_job_poll(shared.then_some(poll));
    let runs = Arc::new(runs);
    let background = Arc::new(Background::new(Arc::clone(&runs), ports, crate::node::id(&config.data_dir)));
    let options = WorkerOptions { poll, sweep: Duration::from_secs(60) };
    let permit = Arc::new(LicencePermit(Arc::clone(&identity)));
    let worker = Worker::new(background, store, hub.clone(), clock.clone(), permit, options);
    let worker = Arc::new(worker);
    let previews = SourceQuota {
        files: config.preview_files as usize,
        bytes: u64::from(config.preview_megabytes) << 20,
    };
    let definitions = Definitions::new(workflows, ids, models, hub.clone(), directory)
        .with_previews(previews)
        .with_budget(config.budget);
    let edge = Edge::new(config.edge, config.trusted_proxies.clone(), descriptors::raise());
    Arc::new(App {
        config,
        db,
        identity,
        definitions,
        runs,
        hub,
        compute,
        worker,
        clock,
        ids: RandomIds,
        denials,
        edge,
        last_write: LastWrite::default(),
        stop,
    })
}
