//! Key of a database in the tables of its area.

use heddle_store::Id;

/// Key of a database: its organisation's id, and its own behind the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DatabaseKey {
    /// Id of the organisation.
    pub(crate) tenant: Id,
    /// Id of the database.
    pub(crate) database: Id,
}

impl DatabaseKey {
    /// Key of a database of an organisation.
    pub(crate) fn of(tenant: impl Into<Id>, database: impl Into<Id>) -> Self {
        Self { tenant: tenant.into(), database: database.into() }
    }

    /// Both ids, as the primary key of `vector_databases` takes them.
    pub(crate) const fn pair(self) -> (Id, Id) {
        (self.tenant, self.database)
    }
}
