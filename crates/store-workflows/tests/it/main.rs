//! The stores on SQLite and PostgreSQL: what the ports promise.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod commit;
mod inbox;
mod lists;
mod runs;
mod support;
mod tasks;
mod work;
mod workflows;
