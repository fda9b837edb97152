//! The store of vector databases on SQLite and PostgreSQL: what the ports promise.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod generations;
mod ingestion;
mod lists;
mod plans;
mod support;
