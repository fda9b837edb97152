//! Handlers: wire types to domain types, a use case, and back. Nothing is decided here.

pub(crate) mod accounts;
pub(crate) mod audit;
pub(crate) mod case_events;
mod changes;
pub(crate) mod conformance;
pub(crate) mod decisions;
pub(crate) mod directory;
pub(crate) mod licence;
mod literals;
pub(crate) mod platform;
pub(crate) mod roles;
pub(crate) mod run_view;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod tasks;
pub(crate) mod transform;
pub(crate) mod workflows;
