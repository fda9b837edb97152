//! Nodes that the service does itself: questions to models, extraction, classification, order, judgement, vectors, the
//! turns of agents, and protection before and after any node.
//!
//! [`Work`] is what a job of a reserved type asks for, read from its header; [`Work::perform`] does it over the port
//! [`ModelCalls`] and gives an [`Ending`], which whoever holds the job turns into its completion, failure or error. One
//! attempt of a job asks a model for one answer, and the answer stands in the history when the attempt ends: no recorded
//! answer is asked for again. An attempt that fails leaves [`Notes`] for the next one. Nothing here opens a connection, reads a clock or keeps anything.

mod agent;
mod answers;
mod asking;
mod evaluate;
mod fault;
mod formats;
mod notes;
mod ports;
mod prompts;
mod protection;
mod tasks;
#[cfg(test)]
mod tests;
mod work;

pub use fault::WorkFault;
pub use heddle_guardrails::{Hit, Policy, SchemaCheck, Span};
pub use heddle_settings::inside::InsideKind;
pub use notes::Notes;
pub use ports::{CallFault, Caller, FaultKind, ModelCalls};
pub use work::{Ending, Next, Setback, Tool, Work};

/// Code of the BPMN error by which protection ends a node.
pub const PROTECTION_VIOLATION: &str = "PROTECTION_VIOLATION";
/// Code of the BPMN error by which the caps of an agent end it.
pub const AGENT_LIMIT: &str = "AGENT_LIMIT";
/// Beginning of the message of an attempt that waits for somebody's decision: `retry` lets it pass.
pub const REVIEW: &str = "review: ";
/// Beginning of the message of an attempt whose answer did not fit.
pub const UNFIT: &str = "unfit answer: ";
