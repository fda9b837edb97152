//! Runs of small models, and properties of random ones.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test's helpers fail as the test does, and a skipped test says so"
)]

mod budgets;
mod calls;
mod compensation;
mod computing;
mod data;
mod decisions;
mod errors;
mod events;
mod properties;
mod suite;
mod support;
mod tasks;
mod tokens;
