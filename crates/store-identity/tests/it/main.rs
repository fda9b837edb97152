//! The ports of identity on real databases.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod access;
mod audit_reads;
mod chain;
mod directory;
mod factors;
mod groups;
mod installation;
mod rules;
mod sessions;
mod world;
