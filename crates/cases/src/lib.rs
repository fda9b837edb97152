//! Use cases of cases: a typed face of the use cases of anything that is defined and of anything that runs. What a case is
//! and how it goes on is the engine's; what is stored and told is the same as of runs, with another kind in every key.

mod commands;
pub mod definitions;
mod instances;
pub mod versions;

pub use commands::{CaseTransition, FileChange, FileTransition, ItemChange, ItemTransition};
pub use instances::{CaseFilter, CaseState, CaseView, Cases, StartCase};

pub(crate) use heddle_usecase::{JournalFor, Problem, UseCaseError};
