//! Requests and responses as types.
//!
//! Requests refuse unknown members and carry their rules in the schema, which is also what they are checked
//! against. In responses a member that may be absent is left out, one that may be null is always there.

#[macro_use]
mod shape;
#[macro_use]
mod drafted;
pub mod access;
pub mod audit;
pub mod authorization;
pub mod camunda7;
pub mod camunda8;
pub mod case_events;
pub mod case_types;
pub mod cases;
pub mod conformance;
pub mod connections;
pub mod dead_letters;
pub mod decisions;
pub mod definition;
pub mod diagnostic;
pub mod directory;
pub mod duration;
pub mod envelope;
pub mod health;
pub mod hooks;
pub mod inference;
pub mod jobs;
pub mod licence;
pub mod literal;
pub mod messages;
pub mod model_connections;
pub mod model_deployments;
pub mod protection;
pub mod runs;
pub mod sessions;
pub mod tasks;
pub mod transform;
pub mod usage;
pub mod vector_databases;
pub mod vector_files;
pub mod vector_jobs;
pub mod vector_query;
pub mod webhooks;
pub mod workflows;
