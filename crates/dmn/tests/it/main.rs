//! The crate as its users see it.

#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests fail like the tests")]

mod analysis;
mod documents;
mod standard;
mod tck;
