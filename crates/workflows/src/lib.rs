//! Use cases around workflows: definitions with their drafts and versions, and what compiles them. What runs by them is
//! `heddle_execution`'s, and told under its names here.
//!
//! A use case takes a [`heddle_policy::Authorized`] for what it does and a [`heddle_policy::RequestContext`] for who does it
//! where; both can only be built by the policy crate, so that no use case can be called past the gate.

pub mod decisions;
pub mod definitions;
pub mod models;
pub mod ports;
pub mod records;

pub use heddle_execution::{background, limits, plan, quotas, runs, schema};

pub(crate) use heddle_usecase::{JournalFor, Problem, UseCaseError};

#[cfg(test)]
mod tests;
