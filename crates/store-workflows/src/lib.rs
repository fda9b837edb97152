//! Rows and queries of workflows and runs, on SQLite and PostgreSQL.
//!
//! The ports' docstrings say what each method owes; what is said here is how. Each query is held to the
//! tenant. Documents are bytes that no query looks into.

mod commit;
mod contents;
mod counts;
mod errands;
mod jobs;
mod kept;
mod names;
mod quotas;
mod rows;
mod runs;
mod schema;
mod search;
mod statement;
mod words;
mod work;
mod workflows;

pub use contents::WorkflowContents;
pub use errands::SqlErrandStore;
pub use runs::SqlRunStore;
pub use schema::MIGRATIONS;
pub use work::SqlWorkStore;
pub use workflows::SqlWorkflowStore;

use heddle_usecase::StoreError;

/// Kinds of tombstones.
mod tomb {
    use heddle_kernel::{DefinitionKind, UserId};
    use heddle_store::Id;

    /// Kind of the tombstones of dead letters that a user dropped: nobody else learns that they were there.
    pub(crate) fn letter_of(user: UserId) -> String {
        format!("dead letter dropped by {user}")
    }

    /// Kind of the tombstones of runs that were purged before those named their workflow.
    pub(crate) const RUN: &str = "run";

    /// Kind of the tombstones of a workflow's runs.
    pub(crate) fn run_of(workflow: Id) -> String {
        format!("run of {}", workflow.0)
    }

    /// Kind of the tombstones of definitions of a kind.
    pub(crate) const fn definition(kind: DefinitionKind) -> &'static str {
        match kind {
            DefinitionKind::Workflow => "workflow",
            DefinitionKind::Case => "case-type",
        }
    }
}

/// The ports' names of what must be unique.
fn named(error: StoreError) -> StoreError {
    match error {
        StoreError::Duplicate(columns) => StoreError::Duplicate(match columns.as_str() {
            "workflows.slug" => "slug".to_owned(),
            "case_events.idempotency_key" => "idempotencyKey".to_owned(),
            _ => columns,
        }),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_have_the_ports_names() {
        for (columns, name) in [
            ("workflows.slug", "slug"),
            ("case_events.idempotency_key", "idempotencyKey"),
            ("runs.id", "runs.id"),
        ] {
            assert_eq!(
                named(StoreError::Duplicate(columns.to_owned())),
                StoreError::Duplicate(name.to_owned())
            );
        }
        assert_eq!(named(StoreError::Stale), StoreError::Stale);
    }
}
