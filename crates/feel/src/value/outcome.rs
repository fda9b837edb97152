//! Outcome of an operation on values: a value, null for a reason, or the end of the evaluation.

use std::borrow::Cow;

use super::Value;
use super::number::NumberError;
use crate::error::LimitError;

/// Reason why there is no value.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The evaluation ends.
    Limit(LimitError),
    /// The result is null for this reason.
    Null(Cow<'static, str>),
}

/// Outcome of an operation.
pub(crate) type Outcome<T = Value> = Result<T, Failure>;

/// Null for a reason.
pub(crate) fn null<T>(reason: impl Into<Cow<'static, str>>) -> Outcome<T> {
    Err(Failure::Null(reason.into()))
}

impl From<LimitError> for Failure {
    fn from(limit: LimitError) -> Self {
        Self::Limit(limit)
    }
}

impl From<NumberError> for Failure {
    fn from(error: NumberError) -> Self {
        match error {
            NumberError::Overflow => Self::Limit(LimitError::Exponent),
            NumberError::Undefined => Self::Null("the operation has no result for these numbers".into()),
        }
    }
}
