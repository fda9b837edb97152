//! Errors of FEEL: the text is not FEEL, or an evaluation asks for more than its limits allow.

use heddle_kernel::shortened;
use serde::Serialize;

/// Error of a text that is not an expression of the grammar (DMN 1.5, 10.3.1.2) or is nested or long beyond the limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// Message of what was expected or is wrong, as a sentence without its end point.
    pub message: String,
    /// 1-based line in the source as given.
    pub line: u32,
    /// 1-based column in characters in that line.
    pub column: u32,
    /// Byte offset in the source as given.
    pub offset: usize,
}

impl SyntaxError {
    /// Locates `offset` (in bytes) within `source`.
    pub(crate) fn at(source: &str, offset: usize, message: impl Into<String>) -> Self {
        let mut offset = offset.min(source.len());
        while !source.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = source.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Self {
            message: shortened(&message.into()).into_owned(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            offset,
        }
    }
}

/// Error of an evaluation that was ended because it reached one of its [`Limits`](crate::Limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LimitError {
    /// More evaluation steps than allowed.
    #[error("the evaluation took more than {0} steps")]
    Steps(u64),
    /// Calls or nested values deeper than allowed.
    #[error("the evaluation is nested more than {0} levels deep")]
    Depth(u32),
    /// A list or context with more entries than allowed.
    #[error("a list has more than {0} items")]
    ListSize(usize),
    /// A string longer than allowed.
    #[error("a string is longer than {0} bytes")]
    StringSize(usize),
    /// More evaluation steps than several evaluations may take together.
    #[error("the evaluations took more than {0} steps together")]
    Budget(u64),
    /// A number beyond the exponents of decimal128.
    #[error("a number exceeds the exponent range of 128-bit decimals")]
    Exponent,
    /// The caller cancelled the evaluation.
    #[error("the evaluation was cancelled")]
    Cancelled,
}

/// Note of why a part of an expression came out as null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The reason as a sentence without its end point.
    pub message: String,
    /// Byte offset in the source of the part concerned.
    pub offset: usize,
}
