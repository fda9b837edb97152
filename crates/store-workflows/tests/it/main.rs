//! The stores on SQLite and PostgreSQL: what the ports promise.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod calls;
mod commit;
mod counts;
mod errands;
#[path = "../../examples/fill/rows.rs"]
mod fill;
mod inbox;
mod jobs;
mod kinds;
mod lists;
mod own;
mod plans;
mod runs;
mod support;
mod tasks;
mod work;
mod workflows;
