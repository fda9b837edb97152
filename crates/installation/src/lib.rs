//! An installation: its configuration, data directory and keys, its databases, its ways out, its audit trail, who signs in
//! by which provider, and the commands of its operator that need no server. It serves nobody: HTTP is the server's.

pub mod anchors;
pub mod audit_keeper;
pub mod config;
pub mod data_dir;
pub mod deliveries;
pub mod denials;
pub mod error;
mod factors;
pub mod identity;
pub mod keyring;
pub mod licensed;
mod model_keys;
mod modes;
pub mod node;
pub mod operator;
pub mod outside;
mod own;
pub mod people;
mod refusals;
pub mod sign_ins;
pub mod socket;
pub mod stores;

pub use own::own_context;
