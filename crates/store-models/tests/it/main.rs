//! The store of models on SQLite and PostgreSQL: what the ports promise.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

mod budgets;
mod deployments;
mod plans;
mod support;
