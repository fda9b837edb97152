//! Tests of the way out against servers on loopback that do as they should, and worse.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail the test")]

mod bounds;
mod guard;
mod peer;
mod reuse;
mod tls;
