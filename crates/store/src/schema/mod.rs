//! The tables as diesel sees them: one text for both databases, shared by the store crates.
#![expect(missing_docs, reason = "diesel's table macro writes the items; the migrations say what each holds")]

mod identity_tables;
mod shared_tables;
mod workflows_tables;

pub use identity_tables::*;
pub use shared_tables::*;
pub use workflows_tables::*;

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::*;

    /// The migrations that the database holds.
    schema_migrations (name) {
        name -> Text,
        applied_at -> DbInstant,
    }
}
