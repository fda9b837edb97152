//! What runs in the background, with ports that do as they are told and a time that nobody waits for.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test"
)]

mod committer;
mod errands;
mod hub;
mod runner;
mod webhooks;
mod worker;

use std::sync::Arc;

use heddle_kernel::{RunId, TenantId};
use parking_lot::Mutex;
use uuid::Uuid;

/// What happened, in order.
type Log<T> = Arc<Mutex<Vec<T>>>;

fn log<T>() -> Log<T> {
    Arc::new(Mutex::new(Vec::new()))
}

fn tenant() -> TenantId {
    TenantId(Uuid::nil())
}

fn run(number: u128) -> RunId {
    RunId(Uuid::from_u128(number))
}
