//! Random bytes.

use crate::SealError;

/// Source of random bytes that nobody can foresee.
pub trait Random {
    /// Fills all of `bytes`.
    ///
    /// # Errors
    /// `NoRandom`.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SealError>;
}

/// The system's random bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SealError> {
        getrandom::fill(bytes).map_err(|error| SealError::NoRandom(error.to_string()))
    }
}
