//! The HTTP server: authentication, the gate, handlers, errors, event streams; and the composition of all parts.

pub mod acting;
pub mod app;
mod audit;
mod bind;
mod call;
pub mod composition;
pub mod config;
mod credentials;
mod data_dir;
pub mod demo;
mod denials;
mod error;
mod evidence;
mod failure;
mod gate;
mod handlers;
mod http;
mod identity;
mod incoming;
mod modes;
pub mod operator;
mod reply;
mod routes;
mod serve;
mod stores;
mod stream;
mod swagger;
mod tally;

pub use composition::Composition;
pub use config::{Config, Durability};
pub use data_dir::{DATABASE_FILE, DataDirError, KEY_FILE};
pub use error::StartError;
pub use identity::FirstStart;
pub use serve::Server;
