//! Use cases around workflows: definitions with their drafts and versions, runs, human tasks, events from
//! outside; and the ports through which they reach storage and the background.
//!
//! A use case takes a [`heddle_policy::Authorized`] for what it does and a [`heddle_policy::RequestContext`] for who does it
//! where; both can only be built by the policy crate, so that no use case can be called past the gate.

pub mod background;
pub mod decisions;
pub mod definitions;
pub mod limits;
pub mod models;
pub mod plan;
pub mod ports;
pub mod quotas;
pub mod records;
pub mod runs;
pub mod schema;
mod told;

pub(crate) use heddle_usecase::{JournalFor, Problem, UseCaseError};

#[cfg(test)]
mod tests;
