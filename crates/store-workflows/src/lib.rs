//! Rows and queries of workflows and runs, on SQLite and PostgreSQL.
//!
//! The ports' docstrings say what each method owes; what is said here is how. Each query is held to the
//! tenant. Documents are bytes that no query looks into.

mod commit;
mod rows;
mod runs;
mod search;
mod workflows;

pub use runs::SqlRunStore;
pub use workflows::SqlWorkflowStore;

use std::str::FromStr;

use heddle_kernel::PageRequest;
use heddle_store::{Error, Id};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use serde::de::DeserializeOwned;

/// Kinds of tombstones.
mod tomb {
    pub const RUN: &str = "run";
    pub const WORKFLOW: &str = "workflow";
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

/// Where a page goes on: the key in its cursor.
fn position<K: DeserializeOwned>(page: &PageRequest) -> Result<Option<K>, StoreError> {
    page.cursor.as_ref().map(|cursor| cursor.key().or(Err(StoreError::InvalidCursor))).transpose()
}

/// The ids that a reach names. What is no id of this kind names nothing of it.
fn ids<'a, T: FromStr + Into<Id>>(names: impl IntoIterator<Item = &'a String>) -> Vec<Id> {
    names.into_iter().filter_map(|name| name.parse::<T>().ok()).map(Into::into).collect()
}

/// One row more than the page holds: it tells that there is more.
fn surplus(page: &PageRequest) -> i64 {
    i64::from(page.limit) + 1
}

/// When the change was made, as its audit event says.
fn at(unit: &Journal) -> Option<heddle_kernel::Timestamp> {
    unit.audit.as_ref().map(|entry| entry.at)
}

/// A stored word that this version does not know.
fn unknown(what: &str, word: &str) -> Error {
    Error::Document(format!("{what} `{word}` is not known"))
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
