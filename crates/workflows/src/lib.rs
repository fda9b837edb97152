//! Use cases around workflows: definitions with their drafts and versions, runs, human tasks, events from
//! outside; and the ports through which they reach storage and the background.
//!
//! A use case takes a [`heddle_policy::Authorized`] for what it does and a [`heddle_policy::RequestContext`] for who does it
//! where; both can only be built by the policy crate, so that no use case can be called past the gate.

pub mod decisions;
pub mod definitions;
pub mod error;
pub mod models;
pub mod plan;
pub mod ports;
pub mod records;
pub mod runs;
pub mod schema;

pub use error::{Problem, UseCaseError};

use heddle_policy::journal::Journal;

/// Builds what is written beside a change, in its own transaction: the audit event and, when the caller sent an
/// idempotency key, the answer that a repeat of the call gets. It is called with the changed resource.
pub type JournalFor<'a, T> = dyn Fn(&T) -> Journal + Send + Sync + 'a;

#[cfg(test)]
mod tests;
