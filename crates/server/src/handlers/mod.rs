//! Handlers: wire types to domain types, a use case, and back. Nothing is decided here.

pub mod accounts;
pub mod conformance;
pub mod decisions;
pub mod directory;
pub mod licence;
mod literals;
pub mod platform;
pub mod roles;
pub mod run_view;
pub mod runs;
pub mod sessions;
pub mod transform;
pub mod workflows;
