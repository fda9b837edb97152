//! The HTTP server: authentication, the gate, handlers, errors, event streams; and the composition of all parts.

mod accept;
pub mod acting;
mod answer;
pub mod app;
mod audit;
mod audit_export;
mod bind;
mod call;
mod command_line;
pub mod composition;
mod credentials;
pub mod demo;
mod dispatch;
mod failure;
mod gate;
mod handlers;
mod http;
mod identity;
mod incoming;
mod last_write;
mod local;
mod model_stream;
mod models;
pub mod operator;
mod organization_stream;
mod paths;
mod readiness;
mod reply;
mod request_log;
mod routes;
mod selectors;
mod serve;
mod sign_in_pages;
mod stream;
mod swagger;
mod upload;

pub use command_line::{ACCOUNT_HEADER, ORGANIZATION_HEADER};
pub use composition::Composition;
pub use heddle_edge::tls::TlsError;
pub use heddle_edge::{EdgeLimits, Pace};
pub use heddle_installation::config::{
    AllowRule, BlobPlace, Budget, ClientAuthentication, ClientSecret, Config, Durability, ModelBudget,
    ModelBudgetPeriod, ModelLimits, ModelSettings, OidcSettings, PlaceRules, ProviderRules, Quotas,
    S3Settings, SecretSetting, SignInProvider, UploadBounds, VectorQuotas, VectorSettings,
};
pub use heddle_installation::data_dir::{DATABASE_FILE, DataDirError, KEY_FILE, KEYRING_FILE, MODELS_DIR};
pub use heddle_installation::error::StartError;
pub use heddle_installation::socket::{SOCKET_FILE, SocketPath};
pub use heddle_vector_service::read_one_file;
pub use identity::FirstStart;
pub use local::LocalService;
pub use serve::Server;
