//! The store of models on SQLite and PostgreSQL: what the ports promise.
#![expect(clippy::panic, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

mod budgets;
mod deployments;
mod plans;
mod support;
