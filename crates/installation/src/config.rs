//! Configuration of a server. Every value is checked before the first connection is taken.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use heddle_blobs::S3Settings;
use heddle_edge::EdgeLimits;
pub use heddle_egress::AllowRule;
pub use heddle_engine::Budget;
pub use heddle_identity::{PlaceRules, ProviderRules};
use heddle_kernel::Timestamp;
pub use heddle_models::records::{
    Budget as ModelBudget, BudgetPeriod as ModelBudgetPeriod, Limits as ModelLimits,
};
pub use heddle_oidc::{ClientAuthentication, ClientSecret, Settings as OidcSettings};
pub use heddle_vectors::UploadBounds;
pub use heddle_vectors::ports::Quotas as VectorQuotas;
pub use heddle_workflows::quotas::Quotas;

/// Durability of an answered write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Survives a loss of power.
    #[default]
    Full,
    /// Survives the end of the process, not of the machine; SQLite only.
    Process,
}

/// A value of the configuration that shows itself to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretSetting(String);

impl SecretSetting {
    /// From its text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretSetting(..)")
    }
}

/// A provider by which people sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInProvider {
    /// Name for people.
    pub display_name: String,
    /// Settings of the protocol.
    pub client: OidcSettings,
    /// Rules about who gets in, with which roles.
    pub rules: ProviderRules,
}

/// Place of the bytes of files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BlobPlace {
    /// `vectors/files` in the data directory.
    #[default]
    DataDirectory,
    /// A directory, which all nodes of a database share.
    Directory(PathBuf),
    /// A bucket that speaks as Amazon S3 does.
    Bucket,
}

/// Settings of vector databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorSettings {
    /// Directory of the embedding models; `models` in the data directory without it.
    pub model_dir: Option<PathBuf>,
    /// Threads that embed.
    pub model_threads: usize,
    /// Megabytes of memory that opened indexes take, about.
    pub index_megabytes: u32,
    /// Files that are read at a time.
    pub workers: usize,
    /// Bounds of an upload.
    pub bounds: UploadBounds,
    /// Quotas of what one organisation has in its vector databases.
    pub quotas: VectorQuotas,
    /// Whether text of pictures is recognised, where Tesseract is installed.
    pub ocr: bool,
    /// Place of the bytes of files.
    pub blobs: BlobPlace,
    /// The bucket, where files stand in one.
    pub bucket: S3Settings,
    /// Whether the demo has a vector database.
    pub demo: bool,
    /// Program that reads files when it is called with `parse-worker`; this one without it.
    pub reader: Option<PathBuf>,
}

/// Threads that embed, or files that are read, where nobody says how many: half of the processors.
fn half_of_the_processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| (count.get() / 2).max(1))
}

impl Default for VectorSettings {
    fn default() -> Self {
        Self {
            model_dir: None,
            model_threads: half_of_the_processors(),
            index_megabytes: 512,
            workers: half_of_the_processors().max(2),
            bounds: UploadBounds::default(),
            quotas: VectorQuotas {
                licensed_databases: None,
                databases: Some(1_000),
                files: Some(1_000_000),
                passages: Some(10_000_000),
                bytes: Some(1 << 40),
                waiting: Some(10_000),
            },
            ocr: true,
            blobs: BlobPlace::default(),
            bucket: S3Settings::default(),
            demo: true,
            reader: None,
        }
    }
}

/// Settings of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettings {
    /// Limits over all calls of one organisation on this node, and its budget.
    pub limits: ModelLimits,
    /// Deployments that one organisation may have.
    pub deployments: u32,
    /// Days after which single calls are forgotten; the sums stay.
    pub usage_days: u32,
    /// Seconds for which answers at temperature 0 are kept for the same question; 0 keeps none.
    pub cache_seconds: u32,
    /// Whether organisations have the models inside the service.
    pub built_in: bool,
    /// Whether the demo has deployments of the models inside the service.
    pub demo: bool,
    /// Directory of the files of models that chat in the process.
    #[cfg(feature = "local-candle")]
    pub chat_dir: Option<PathBuf>,
    /// Megabytes that those models may have in memory.
    #[cfg(feature = "local-candle")]
    pub chat_megabytes: u32,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            limits: ModelLimits::default(),
            deployments: 1_000,
            usage_days: 90,
            cache_seconds: 0,
            built_in: true,
            demo: true,
            #[cfg(feature = "local-candle")]
            chat_dir: None,
            #[cfg(feature = "local-candle")]
            chat_megabytes: 2_048,
        }
    }
}

/// The configuration of a server.
#[derive(Debug, Clone)]
pub struct Config {
    /// Directory of the database, the key and the lock.
    pub data_dir: PathBuf,
    /// Address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// `postgres://...`; none means SQLite in the data directory.
    pub database_url: Option<String>,
    /// Durability of an answered write.
    pub durability: Durability,
    /// Serve plain HTTP beyond the loopback interface.
    pub insecure_http: bool,
    /// File of the certificate with its chain, as PEM; with it and its key the server speaks TLS.
    pub tls_cert: Option<PathBuf>,
    /// File of the certificate's private key, as PEM.
    pub tls_key: Option<PathBuf>,
    /// Addresses of proxies whose forwarded headers are believed.
    pub trusted_proxies: Vec<std::net::IpAddr>,
    /// Address under which browsers reach the service, for sign-in by providers.
    pub public_url: Option<String>,
    /// Providers by which people sign in.
    pub sign_in_providers: Vec<SignInProvider>,
    /// File with a licence that a start installs, if it is newer than the one installed.
    pub licence_file: Option<PathBuf>,
    /// Serve the API pages at `/docs`.
    pub docs: bool,
    /// Serve `POST /api/test/clock`.
    pub test_clock: bool,
    /// Instant at which the clock begins, with `test_clock` alone: for data of another day.
    pub clock_begins: Option<Timestamp>,
    /// Make the demo organisation, its administrator and workflows, if the database is new.
    pub demo: bool,
    /// Fire timers, deliver messages and let expire what is over; without it only what callers ask for is done.
    pub background: bool,
    /// Addresses beyond the public ones that connections may lead to.
    pub egress_allow: Vec<AllowRule>,
    /// Whether connections may lead to public addresses; without it only to those of `egress_allow`.
    pub egress_public: bool,
    /// File of authorities, as PEM, whose certificates pass beside those of the system.
    pub egress_ca: Option<PathBuf>,
    /// Whether connections may lead to this machine itself, as in a demonstration; never to the server's own address.
    pub egress_loopback: bool,
    /// Keys under which secrets are sealed, instead of the file in the data directory.
    pub keyring: Option<SecretSetting>,
    /// Runs that callers of one organisation may start in a second.
    pub starts_per_second: u32,
    /// Messages and signals of one organisation in a second.
    pub messages_per_second: u32,
    /// The service roles of this node: `workflow`, `vector`.
    pub roles: Vec<String>,
    /// Threads that serve requests.
    pub workers: usize,
    /// Minutes after which an unused session ends.
    pub session_idle_minutes: u32,
    /// Hours after which every session ends.
    pub session_hours: u32,
    /// Limits on connections, slow clients, anonymous requests and open streams.
    pub edge: EdgeLimits,
    /// Most previewed files that an organisation has unclaimed.
    pub preview_files: u32,
    /// Most megabytes of these files.
    pub preview_megabytes: u32,
    /// Whether a task or stage of a case without a manual activation rule waits to be started by hand.
    pub manual_activation_default: bool,
    /// Budgets of steps and of runs.
    pub budget: Budget,
    /// Quotas of what one organisation has stored.
    pub quotas: Quotas,
    /// Time after which a step of a run that computes is given up, unrecorded.
    pub step_limit: Duration,
    /// Times in a row that the lock of a job may run out before the job is set aside.
    pub job_lapses: u32,
    /// Days after which audit events are dropped; 0 keeps them for ever.
    pub audit_retention_days: u32,
    /// Vector databases.
    pub vectors: VectorSettings,
    /// Models.
    pub models: ModelSettings,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("heddle-data"),
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            database_url: None,
            durability: Durability::Full,
            insecure_http: false,
            tls_cert: None,
            tls_key: None,
            trusted_proxies: Vec::new(),
            public_url: None,
            sign_in_providers: Vec::new(),
            licence_file: None,
            docs: true,
            test_clock: false,
            clock_begins: None,
            demo: false,
            background: true,
            egress_allow: Vec::new(),
            egress_public: true,
            egress_ca: None,
            egress_loopback: false,
            keyring: None,
            starts_per_second: heddle_workflows::limits::Limits::STARTS,
            messages_per_second: heddle_workflows::limits::Limits::MESSAGES,
            roles: vec!["workflow".to_owned(), "vector".to_owned()],
            workers: std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
            session_idle_minutes: 30,
            session_hours: 12,
            edge: EdgeLimits::default(),
            preview_files: 1_000,
            preview_megabytes: 256,
            manual_activation_default: false,
            budget: Budget::DEFAULT,
            quotas: Quotas::DEFAULT,
            step_limit: heddle_workflows::runs::PATIENCE,
            job_lapses: heddle_workflows::runs::DEFAULT_LAPSES,
            audit_retention_days: 0,
            vectors: VectorSettings::default(),
            models: ModelSettings::default(),
        }
    }
}

impl Config {
    /// Whether the server speaks TLS itself.
    #[must_use]
    pub const fn speaks_tls(&self) -> bool {
        self.tls_cert.is_some()
    }
}
