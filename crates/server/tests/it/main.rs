//! The service over HTTP, on SQLite and PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it runs on"
)]

mod main_job;
mod models;
mod runs;
mod workflows;
