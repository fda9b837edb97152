//! Errors of a query, and their meaning to a use case.

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind};
use heddle_usecase::StoreError;

/// An error inside the body of a `read!` or `write_tx!`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database refused or failed.
    #[error(transparent)]
    Diesel(#[from] diesel::result::Error),
    /// The body's own decision: not found, stale.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No connection.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A stored document can't be read or made.
    #[error("a stored document is damaged: {0}")]
    Document(String),
}

/// Messages with which the databases say that they can't serve now. Neither driver passes the code on:
/// SQLite's texts are fixed (`sqlite3_errstr`), PostgreSQL's are those of the English catalogue.
const TRANSIENT: [&str; 22] = [
    "database is locked",
    "database table is locked",
    "database schema is locked",
    "database or disk is full",
    "disk I/O error",
    "unable to open database file",
    "attempt to write a readonly database",
    "out of memory",
    "terminating connection",
    "the database system is",
    "server closed the connection",
    "connection closed",
    "too many clients",
    "too many connections",
    "remaining connection slots",
    "No space left on device",
    "could not extend file",
    "could not write",
    "deadlock detected",
    "canceling statement",
    "cannot execute",
    "recovery is in progress",
];

/// Whether a message says that the database can't serve now.
pub(crate) fn is_transient(message: &str) -> bool {
    TRANSIENT.iter().any(|text| message.contains(text))
}

/// Subject of a unique violation: `table.column` for each column, joined by `, `; the organisation's
/// column is left out, since it is part of every key. The same text on both databases.
pub(crate) fn duplicate(info: &dyn DatabaseErrorInformation) -> String {
    let columns = |table: &str, columns: &str| {
        let names: Vec<_> = columns
            .split(", ")
            .map(|column| column.rsplit('.').next().unwrap_or(column).trim_matches('"'))
            .filter(|column| *column != "organization_id")
            .map(|column| format!("{table}.{column}"))
            .collect();
        names.join(", ")
    };
    // SQLite: `UNIQUE constraint failed: users.organization_id, users.email`.
    if let Some(list) = info.message().strip_prefix("UNIQUE constraint failed: ") {
        return columns(list.split('.').next().unwrap_or_default(), list);
    }
    // PostgreSQL: the table, and in the details `Key (organization_id, email)=(...) already exists.`
    let list =
        info.details().and_then(|text| text.strip_prefix("Key (")).and_then(|text| text.split(")=(").next());
    match (info.table_name(), list) {
        (Some(table), Some(list)) => columns(table, list),
        _ => info.constraint_name().unwrap_or_default().to_owned(),
    }
}

/// Whether an error of the database kind says that it can't serve now.
pub(crate) fn is_outage(kind: &DatabaseErrorKind, message: &str) -> bool {
    match kind {
        DatabaseErrorKind::UnableToSendCommand
        | DatabaseErrorKind::ClosedConnection
        | DatabaseErrorKind::ReadOnlyTransaction
        | DatabaseErrorKind::SerializationFailure => true,
        _ => is_transient(message),
    }
}

/// An error with its causes: of a column that can't be read, diesel's own text names the column but not what is wrong.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error,
            Error::Diesel(diesel::result::Error::NotFound) => Self::NotFound,
            Error::Diesel(diesel::result::Error::DatabaseError(DatabaseErrorKind::UniqueViolation, info)) => {
                Self::Duplicate(duplicate(info.as_ref()))
            }
            // What the row points at is not there (any more).
            Error::Diesel(diesel::result::Error::DatabaseError(
                DatabaseErrorKind::ForeignKeyViolation,
                _,
            )) => Self::NotFound,
            Error::Diesel(diesel::result::Error::DatabaseError(kind, info))
                if is_outage(&kind, info.message()) =>
            {
                Self::Unavailable(info.message().to_owned())
            }
            Error::Unavailable(why) => Self::Unavailable(why),
            // Ours to mend, not the operator's; the caller can't tell the two apart.
            error @ (Error::Diesel(_) | Error::Document(_)) => {
                let why = whole(&error);
                tracing::error!(error = why, "a query failed");
                Self::Unavailable(why)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_is_named_alike_on_both() {
        struct Info(&'static str, Option<&'static str>, Option<&'static str>);
        impl DatabaseErrorInformation for Info {
            fn message(&self) -> &str {
                self.0
            }
            fn details(&self) -> Option<&str> {
                self.1
            }
            fn hint(&self) -> Option<&str> {
                None
            }
            fn table_name(&self) -> Option<&str> {
                self.2
            }
            fn column_name(&self) -> Option<&str> {
                None
            }
            fn constraint_name(&self) -> Option<&str> {
                Some("a_constraint")
            }
            fn statement_position(&self) -> Option<i32> {
                None
            }
        }
        let sqlite =
            Info("UNIQUE constraint failed: users.organization_id, users.email, users.kind", None, None);
        let detail = "Key (organization_id, email, kind)=(x, a)=(b, c) already exists.";
        let postgres = Info("duplicate key value", Some(detail), Some("users"));
        assert_eq!(duplicate(&sqlite), "users.email, users.kind");
        assert_eq!(duplicate(&postgres), "users.email, users.kind");
        assert_eq!(duplicate(&Info("duplicate key value", None, None)), "a_constraint");
    }

    #[test]
    fn outages_are_told_from_mistakes() {
        use DatabaseErrorKind::{ClosedConnection, Unknown};
        for (kind, message, outage) in [
            (Unknown, "database is locked", true),
            (Unknown, "database or disk is full", true),
            (Unknown, "disk I/O error", true),
            (Unknown, "terminating connection due to administrator command", true),
            (ClosedConnection, "", true),
            (Unknown, "no such table: x", false),
            (DatabaseErrorKind::CheckViolation, "CHECK constraint failed", false),
        ] {
            assert_eq!(is_outage(&kind, message), outage, "{message}");
        }
    }
}
