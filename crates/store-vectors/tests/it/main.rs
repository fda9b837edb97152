//! The store of vector databases on SQLite and PostgreSQL: what the ports promise.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

mod ingestion;
mod lists;
mod support;
