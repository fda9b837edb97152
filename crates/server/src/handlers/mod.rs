//! Handlers: wire types to domain types, a use case, and back. Nothing is decided here.

pub(crate) mod accounts;
pub(crate) mod audit;
pub(crate) mod authorization;
pub(crate) mod camunda7;
pub(crate) mod camunda8;
pub(crate) mod case_events;
pub(crate) mod case_types;
pub(crate) mod cases;
mod changes;
pub(crate) mod conformance;
pub(crate) mod connections;
pub(crate) mod dead_letters;
pub(crate) mod decisions;
pub(crate) mod directory;
mod drafted;
pub(crate) mod groups;
pub(crate) mod hooks;
pub(crate) mod inference;
pub(crate) mod jobs;
pub(crate) mod licence;
pub(crate) mod model_connections;
pub(crate) mod model_deployments;
pub(crate) mod model_residency;
pub(crate) mod platform;
pub(crate) mod protection;
pub(crate) mod roles;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod sign_ins;
pub(crate) mod tasks;
pub(crate) mod transform;
pub(crate) mod vector_databases;
pub(crate) mod vector_files;
pub(crate) mod vector_jobs;
pub(crate) mod vector_query;
pub(crate) mod webhooks;
mod workers;
pub(crate) mod workflows;

use crate::failure::Failure;

/// The id in a parameter of a query.
pub(crate) fn id_of<T: std::str::FromStr>(text: Option<&str>, field: &str) -> Result<Option<T>, Failure> {
    match text.map(str::parse) {
        None => Ok(None),
        Some(Ok(id)) => Ok(Some(id)),
        Some(Err(_)) => Err(Failure::at(field, "wrongType", "An id is needed.")),
    }
}

/// The one of two ids that is given: a thing is of a run or of a case.
fn either<T, U: Into<T>>(run: Option<T>, case: Option<U>, field: &str) -> Result<Option<T>, Failure> {
    match (run, case) {
        (Some(_), Some(_)) => {
            Err(Failure::at(field, "contradiction", "It is of a run or of a case, not of both."))
        }
        (run, case) => Ok(run.or(case.map(Into::into))),
    }
}
