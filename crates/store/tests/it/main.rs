//! The store on real databases.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod backup;
mod kept;
mod migrations;
mod outage;
mod shared;
mod statistics;
mod transactions;
