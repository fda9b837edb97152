//! Runs of small models, and properties of random ones.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test's helpers fail as the test does, and a skipped test says so"
)]

mod budgets;
mod calls;
mod cases;
mod choreography;
mod cmmn_suite;
mod compensation;
mod computing;
mod data;
mod decisions;
mod edges;
mod errors;
mod events;
mod inside;
mod jobs;
mod loops;
mod patterns;
mod properties;
mod random_graphs;
mod suite;
mod support;
mod tasks;
mod tokens;
mod triggers;
