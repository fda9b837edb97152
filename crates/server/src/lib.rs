//! The HTTP server: authentication, the gate, handlers, errors, event streams; and the composition of all parts.

pub mod app;
mod bind;
mod call;
pub mod config;
pub mod core;
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
pub mod operator;
mod reply;
mod routes;
mod serve;
mod stores;
mod stream;
mod swagger;

pub use config::{Config, Durability};
pub use core::{Core, FirstStart};
pub use data_dir::{DATABASE_FILE, DataDirError, KEY_FILE};
pub use error::StartError;
pub use serve::Server;
