//! Revision checks: a change is written only over the revision that it was made from.

use heddle_kernel::Revision;

use crate::StoreError;
use crate::error::Error;

/// Checks the revision of a row that was read and locked.
///
/// # Errors
/// `Stale` when it is not the expected one.
pub fn check(stored: i64, expected: Revision) -> Result<(), Error> {
    if stored == expected.0 { Ok(()) } else { Err(StoreError::Stale.into()) }
}

/// Checks that a change conditioned on a revision met its row.
///
/// # Errors
/// `Stale` when it met none.
pub fn met(rows: usize) -> Result<(), Error> {
    if rows == 0 { Err(StoreError::Stale.into()) } else { Ok(()) }
}

/// Checks that a change of a named row met it.
///
/// # Errors
/// `NotFound` when it met none.
pub fn found(rows: usize) -> Result<(), Error> {
    if rows == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}

/// The error of a conditioned change that met no row: `Stale` when the row is there, else `NotFound`.
#[must_use]
pub const fn unmet(is_there: bool) -> StoreError {
    if is_there { StoreError::Stale } else { StoreError::NotFound }
}
