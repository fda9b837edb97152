//! Vector databases: the use cases over this node's index, models, readers of files and store of bytes.

mod chunker;
mod deployments;
mod embedder;
mod extractor;
mod index;
mod limits;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use heddle_blobs::BlobStore;
use heddle_egress::Egress;
use heddle_extract::{Limits, Ocr};
use heddle_identity::Identity;
use heddle_installation::config::{BlobPlace, Config};
use heddle_installation::data_dir::VECTORS_FOLDER;
use heddle_installation::error::StartError;
use heddle_kernel::{Clock, IdSource};
use heddle_models::Gateway;
use heddle_models::ports::ModelStore;
use heddle_runtime::{ComputePool, EventNotifier, Permit, RandomIds, ServerClock};
use heddle_service_nodes::{DefinitionsOfDatabases, DocumentNodes, VectorNodePorts, VectorNodes};
use heddle_store::Db;
use heddle_store_vectors::{PassageIndexes, SqlVectorStore};
use heddle_store_workflows::SqlWorkflowStore;
use heddle_usecase::Compute;
use heddle_usecase::errand::Executor;
use heddle_vectors::ports::{Blobs, Chunker, Embedder, Extractor, NodeIdentity, PassageIndex, Reranker};
use heddle_vectors::{
    DatabasePorts, FilePorts, Indexer, IngestPorts, IngestSettings, Ingestion, IngestionJobs, QueryPorts,
    QuotaSource, VectorDatabases, VectorFiles, VectorQueries,
};
use heddle_workflows::ports::ServiceWork;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use uuid::Uuid;

use self::chunker::ModelChunker;
use self::deployments::WithDeployments;
pub use self::embedder::BuiltInModels;
use self::extractor::ProcessExtractor;
use self::index::EmbeddedIndex;
use self::limits::LicensedQuotas;

/// Longest time between two looks at what deletions left behind.
const CLEANING: Duration = Duration::from_secs(10);
/// Rest between two rounds of what there is more of.
const REST: Duration = Duration::from_millis(200);
/// Time between two sweeps of bytes that no file has.
const SWEEP: Duration = Duration::from_hours(1);

/// Vector databases of this node.
pub struct Vectors {
    /// Databases.
    pub databases: VectorDatabases,
    /// Files.
    pub files: Arc<VectorFiles>,
    /// Ingestion jobs.
    pub jobs: IngestionJobs,
    /// Queries.
    pub queries: VectorQueries,
    /// Models of this node.
    models: BuiltInModels,
    ingestion: Arc<Ingestion>,
    cleaning: Notify,
}

impl std::fmt::Debug for Vectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vectors").finish_non_exhaustive()
    }
}

/// Parts that vector databases are put together from.
pub struct VectorParts<'a> {
    /// Configuration of the server.
    pub config: &'a Config,
    /// Database of all areas.
    pub db: &'a Db,
    /// Identity, for quotas that a licence names.
    pub identity: &'a Arc<Identity>,
    /// Clock of the node.
    pub clock: &'a Arc<ServerClock>,
    /// Threads that compute.
    pub compute: &'a Arc<ComputePool>,
    /// The way out, for files in a bucket.
    pub egress: &'a Egress,
    /// Bell of errands.
    pub hub: &'a Arc<EventNotifier>,
    /// Models of this node.
    pub built_in: &'a BuiltInModels,
    /// Deployments of organisations.
    pub deployments: &'a Arc<dyn ModelStore>,
    /// The way to deployments.
    pub gateway: &'a Gateway,
    /// Id of the node.
    pub node: Uuid,
}

impl std::fmt::Debug for VectorParts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorParts").finish_non_exhaustive()
    }
}

/// Vector databases with the store of files, which uploads reach by themselves.
pub struct Composed {
    /// Vector databases.
    pub vectors: Arc<Vectors>,
    /// Store of files.
    pub blobs: Arc<BlobStore>,
    /// Work of the nodes that are about vector databases and their files.
    pub nodes: Vec<Arc<dyn ServiceWork>>,
}

impl std::fmt::Debug for Composed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Composed").finish_non_exhaustive()
    }
}

impl Vectors {
    /// Opens the directories of a node and puts the use cases together.
    ///
    /// # Errors
    /// `Vectors` when a directory can't be used, or the settings of the bucket make no address.
    pub fn open(parts: &VectorParts<'_>) -> Result<Composed, StartError> {
        let VectorParts { config, db, identity, clock, compute, egress, built_in, node, .. } = parts;
        let settings = &config.vectors;
        let folder = config.data_dir.join(VECTORS_FOLDER);
        let blobs = Arc::new(opened_blobs(config, clock, egress)?);
        let kept: Arc<dyn Blobs> = blobs.clone();
        let models = (*built_in).clone();
        let bytes = u64::from(settings.index_megabytes) << 20;
        let embedded = EmbeddedIndex::open(&folder.join("index"), bytes, (*compute).clone())?;
        let index: Arc<dyn PassageIndex> = Arc::new(PassageIndexes::new(db, Arc::new(embedded)));
        let store = Arc::new(SqlVectorStore::new((*db).clone()));
        let indexer = Indexer::new(store.clone(), Arc::clone(&index));
        let ocr = if settings.ocr { Ocr::default() } else { Ocr::off() };
        let limits = Limits { file_bytes: settings.bounds.file_bytes, ..Limits::default() };
        let reader = reader(settings.reader.as_ref())?;
        let extractor: Arc<dyn Extractor> =
            Arc::new(ProcessExtractor::new(reader, settings.workers, Arc::clone(&kept), limits, ocr));
        let chunker: Arc<dyn Chunker> = Arc::new(ModelChunker::new(models.clone()));
        let all = WithDeployments::new(models.clone(), parts.deployments.clone(), parts.gateway.clone());
        let (embedder, reranker): (Arc<dyn Embedder>, Arc<dyn Reranker>) =
            (Arc::new(all.clone()), Arc::new(all));
        let quotas: Arc<dyn QuotaSource> = Arc::new(LicensedQuotas::new(settings.quotas, identity));
        let ids: Arc<dyn IdSource> = Arc::new(RandomIds);
        let time: Arc<dyn Clock> = (*clock).clone();
        let databases = VectorDatabases::new(DatabasePorts {
            store: store.clone(),
            embedder: Arc::clone(&embedder),
            chunker: Arc::clone(&chunker),
            index,
            uses: Arc::new(DefinitionsOfDatabases::new(Arc::new(SqlWorkflowStore::new((*db).clone())))),
            quotas: Arc::clone(&quotas),
            ids: Arc::clone(&ids),
        });
        let ports = FilePorts {
            store: store.clone(),
            blobs: Arc::clone(&kept),
            extractor: Arc::clone(&extractor),
            chunker: Arc::clone(&chunker),
            quotas: Arc::clone(&quotas),
            ids: Arc::clone(&ids),
        };
        let files = Arc::new(VectorFiles::new(ports.clone(), settings.bounds));
        let queries = VectorQueries::new(QueryPorts {
            store: store.clone(),
            passages: store.clone(),
            embedder: Arc::clone(&embedder),
            reranker: Some(reranker),
            indexer: indexer.clone(),
        });
        let nodes = nodes(parts, &files, &queries, Arc::clone(&embedder), ports);
        let ports = IngestPorts {
            store: store.clone(),
            passages: store.clone(),
            blobs: kept,
            extractor,
            chunker,
            embedder,
            compute: (*compute).clone(),
            quotas,
            indexer,
            ids,
            clock: time,
        };
        let ingestion = Arc::new(Ingestion::new(ports, ingest_settings(config, *node)));
        let jobs = IngestionJobs::new(store);
        let cleaning = Notify::new();
        let vectors = Arc::new(Self { databases, files, jobs, queries, models, ingestion, cleaning });
        Ok(Composed { vectors, blobs, nodes })
    }

    /// The executor of files' errands; none on a node without the service role `vector`.
    pub fn executor(&self, config: &Config) -> Option<Arc<dyn Executor>> {
        let is_worker = config.roles.iter().any(|role| role == "vector");
        let executor: Arc<dyn Executor> = self.ingestion.clone();
        is_worker.then_some(executor)
    }

    /// Tells that a deletion left something behind that goes in the background.
    pub fn left_behind(&self) {
        self.cleaning.notify_one();
    }

    /// Begins to read the embedding models, so that the first query need not wait for them.
    pub fn warm_up(&self) {
        self.models.begin();
    }

    /// Removes what deletions and uploads left behind, until the server stops. Work that nobody asked for at this moment waits
    /// while the installation is restricted.
    pub async fn keep(self: Arc<Self>, permit: Arc<dyn Permit>, mut stopped: watch::Receiver<bool>) {
        let work = async {
            let mut swept: Option<Instant> = None;
            loop {
                let mut wait = CLEANING;
                if permit.may_work() {
                    match self.ingestion.clean().await {
                        Ok(true) => wait = REST,
                        Ok(false) => {}
                        Err(error) => tracing::debug!(%error, "what deletions left behind is removed later"),
                    }
                    if wait == CLEANING && swept.is_none_or(|at| at.elapsed() >= SWEEP) {
                        swept = Some(Instant::now());
                        self.attend().await;
                        self.sweep().await;
                    }
                }
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = self.cleaning.notified() => {}
                }
            }
        };
        tokio::select! {
            () = work => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
    }

    async fn attend(&self) {
        match self.ingestion.attend().await {
            Ok(0) => {}
            Ok(count) => tracing::warn!(count, "work on files that was given up is ended"),
            Err(error) => tracing::warn!(%error, "work on files that was given up is ended later"),
        }
    }

    async fn sweep(&self) {
        match self.ingestion.sweep().await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "bytes that no file has were removed"),
            Err(error) => tracing::warn!(%error, "bytes that no file has are removed later"),
        }
    }
}

/// Work of the nodes that are about vector databases and their files.
fn nodes(
    parts: &VectorParts<'_>,
    files: &Arc<VectorFiles>,
    queries: &VectorQueries,
    embedder: Arc<dyn Embedder>,
    ports: FilePorts,
) -> Vec<Arc<dyn ServiceWork>> {
    let FilePorts { blobs, extractor, chunker, ids, store: _, quotas: _ } = ports;
    let (bounds, cutting): (_, Arc<dyn Compute>) = (parts.config.vectors.bounds, parts.compute.clone());
    let documents =
        DocumentNodes::new(Arc::clone(&blobs), Arc::clone(&extractor), chunker, embedder, cutting, bounds);
    let vectors = VectorNodes::new(VectorNodePorts {
        queries: queries.clone(),
        files: Arc::clone(files),
        blobs,
        extractor,
        bell: parts.hub.clone(),
        ids,
        bounds,
    });
    vec![Arc::new(vectors), Arc::new(documents)]
}

/// Reads one file as the standard input asks for it, and answers on the standard output: the life of a process that a
/// server starts for a file.
///
/// # Errors
/// What the operating system says, where the server is gone or the limits can't be set.
pub fn read_one_file() -> std::io::Result<()> {
    heddle_extract::worker::stdio()
}

/// The store of files' bytes.
fn opened_blobs(config: &Config, clock: &Arc<ServerClock>, egress: &Egress) -> Result<BlobStore, StartError> {
    let (time, ids): (Arc<dyn Clock>, Arc<dyn IdSource>) = (clock.clone(), Arc::new(RandomIds));
    let opened = match &config.vectors.blobs {
        BlobPlace::DataDirectory => {
            BlobStore::directory(&config.data_dir.join(VECTORS_FOLDER).join("files"), time, ids)
        }
        BlobPlace::Directory(path) => BlobStore::directory(path, time, ids),
        BlobPlace::Bucket => BlobStore::bucket(&config.vectors.bucket, egress.clone(), time, ids),
    };
    opened.map_err(|error| StartError::Vectors(error.to_string()))
}

/// The program that reads files: this one, unless another one is named.
fn reader(named: Option<&PathBuf>) -> Result<PathBuf, StartError> {
    let own = || std::env::current_exe();
    let unknown = |error| StartError::Vectors(format!("the program that reads files is not known: {error}"));
    named.map_or_else(|| own().map_err(unknown), |path| Ok(path.clone()))
}

fn ingest_settings(config: &Config, node: Uuid) -> IngestSettings {
    let host = rustix::system::uname();
    IngestSettings {
        node: NodeIdentity {
            id: node,
            host_name: host.nodename().to_string_lossy().into_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        files: config.vectors.workers,
        file_passages: config.vectors.bounds.file_passages,
    }
}
