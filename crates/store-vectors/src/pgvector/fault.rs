//! Reasons for which a partition does not do what was asked.

use heddle_store::StoreError;
use heddle_vectors::ports::IndexError;

/// Reason for which a partition does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// The port's own.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The database's.
    #[error(transparent)]
    Store(#[from] heddle_store::Error),
}

impl From<diesel::result::Error> for Fault {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

impl From<Fault> for IndexError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Index(error) => error,
            // A partition that somebody dropped: there is no other way for the table to be absent.
            Fault::Store(heddle_store::Error::Diesel(diesel::result::Error::DatabaseError(_, info)))
                if info.message().contains("does not exist") =>
            {
                Self::Rebuild(info.message().to_owned())
            }
            Fault::Store(error) => Self::Unavailable(StoreError::from(error).to_string()),
        }
    }
}
