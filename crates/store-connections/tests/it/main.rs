//! The stores of connections on SQLite and PostgreSQL: what the ports promise.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod connections;
mod hooks;
mod keys;
mod plans;
mod support;
mod webhooks;
