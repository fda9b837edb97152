//! The HTTP server: authentication, the gate, handlers, errors, event streams; and the composition of all parts.

mod accept;
pub mod acting;
mod anchors;
pub mod app;
mod audit;
mod audit_export;
pub mod audit_keeper;
mod audit_view;
mod bind;
mod call;
mod command_line;
pub mod composition;
pub mod config;
mod credentials;
mod data_dir;
mod deliveries;
pub mod demo;
mod denials;
mod dispatch;
mod edge;
mod error;
mod evidence;
mod factors;
mod failure;
mod gate;
mod handlers;
mod http;
mod identity;
mod incoming;
mod keyring;
mod last_write;
mod licensed;
mod local;
mod models;
mod modes;
mod node;
pub mod operator;
mod organization_stream;
mod outside;
mod people;
mod readiness;
mod refusals;
mod reply;
mod request_log;
mod routes;
mod selectors;
mod serve;
mod sign_in_pages;
mod sign_ins;
mod socket;
mod stores;
mod stream;
mod swagger;
mod tls;
mod upload;
mod vectors;

pub use command_line::{ACCOUNT_HEADER, ORGANIZATION_HEADER};
pub use composition::Composition;
pub use config::{
    AllowRule, BlobPlace, Budget, ClientAuthentication, ClientSecret, Config, Durability, ModelBudget,
    ModelBudgetPeriod, ModelLimits, ModelSettings, OidcSettings, PlaceRules, ProviderRules, Quotas,
    S3Settings, SecretSetting, SignInProvider, UploadBounds, VectorQuotas, VectorSettings,
};
pub use data_dir::{DATABASE_FILE, DataDirError, KEY_FILE, KEYRING_FILE, MODELS_DIR};
pub use edge::{EdgeLimits, Pace};
pub use error::StartError;
pub use identity::FirstStart;
pub use local::LocalService;
pub use serve::Server;
pub use socket::{SOCKET_FILE, SocketPath};
pub use tls::TlsError;
pub use vectors::read_one_file;
