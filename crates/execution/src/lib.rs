//! Use cases of anything that runs: runs and cases, their human tasks and jobs, events from outside; and the ports through
//! which they reach storage and the background.
//!
//! Runs of workflows and cases are a closed set and share one engine, one state, one commit unit and one set of tables: what
//! tells them apart is data, the [`heddle_kernel::DefinitionKind`] that stands in every key and every load. What they run by
//! comes through the port [`ports::Versions`].
//!
//! A use case takes a [`heddle_policy::Authorized`] for what it does, or the [`heddle_policy::InstanceKey`] of one, and a
//! [`heddle_policy::RequestContext`] for who does it where; both can only be built by the policy crate, so that no use case
//! can be called past the gate.

pub mod background;
pub mod compiled;
pub mod limits;
pub mod people;
pub mod plan;
pub mod ports;
pub mod quotas;
pub mod records;
pub mod runs;
pub mod schema;
mod told;

pub use heddle_policy::{InstanceFilter, InstanceKey};

pub(crate) use heddle_usecase::{JournalFor, Problem, UseCaseError};
