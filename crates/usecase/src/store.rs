//! Errors of a store, for every area's ports.

/// Reason for which a store did not do what was asked. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no such row in this organisation.
    #[error("not found")]
    NotFound,
    /// A row with the same unique value exists; names the constraint or its columns.
    #[error("duplicate: {0}")]
    Duplicate(String),
    /// The cursor is not one of the list.
    #[error("the cursor is not one of this list")]
    InvalidCursor,
    /// The row was changed in the meantime.
    #[error("changed in the meantime")]
    Stale,
    /// The change would leave nobody in an organisation who could undo it.
    #[error("nobody could undo it")]
    LockOut,
    /// The organisation has as much stored as it may.
    #[error("the quota `{limit}` of the organisation is {most}, and {used} are used")]
    QuotaExceeded {
        /// Name of the quota: that of the configuration and of the licence.
        limit: &'static str,
        /// The quota.
        most: u64,
        /// Number in use.
        used: u64,
    },
    /// The database does not answer, or can't write.
    #[error("the database is not available: {0}")]
    Unavailable(String),
}
