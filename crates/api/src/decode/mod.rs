//! Reading what a caller sent: bodies, query strings and path parameters.
//!
//! Every problem is found in one pass and told with its place. A type's schema, the one that stands in the
//! document, is what a value is checked against; serde then fills the type.

mod check;
mod json;
mod path;
mod query;
pub mod schema;

use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::{ApiError, Detail};
use crate::operations::{MediaType, Operation, PathParams, RequestBody};

pub use json::read as read_json;

/// The deepest nesting of objects and arrays that is read.
pub const MAX_DEPTH: usize = 64;
/// The most objects and arrays of a document: a definition of some 100,000 nodes.
pub const MAX_CONTAINERS: usize = 500_000;
/// The most problems that one answer tells.
pub const MAX_DETAILS: usize = 200;

/// What is wrong with a request: a 400 with these details.
#[derive(Debug, Clone, PartialEq)]
pub struct Problems(pub Vec<Detail>);

impl Problems {
    /// One problem.
    #[must_use]
    pub fn one(detail: Detail) -> Self {
        Self(vec![detail])
    }
}

impl From<Problems> for ApiError {
    fn from(problems: Problems) -> Self {
        Self::invalid(problems.0)
    }
}

/// Reads JSON bytes into a type, by way of its schema.
///
/// # Errors
/// Every problem with its place.
pub fn from_json<T: ToSchema + DeserializeOwned + 'static>(bytes: &[u8]) -> Result<T, Problems> {
    from_value(json::read(bytes).map_err(Problems)?)
}

/// Reads a JSON value into a type, by way of its schema.
///
/// # Errors
/// Every problem with its place.
pub fn from_value<T: ToSchema + DeserializeOwned + 'static>(value: Value) -> Result<T, Problems> {
    let compiled = schema::compiled::<T>()
        .map_err(|fault| Problems::one(Detail::new("unreadable", fault.to_string())))?;
    check::check(&compiled, &value)?;
    fill(value)
}

/// The schema has spoken; what serde still refuses is a number or a date beyond its type's range.
fn fill<T: DeserializeOwned>(value: Value) -> Result<T, Problems> {
    serde_json::from_value(value).map_err(|error| {
        let text: String = error.to_string().chars().take(200).collect();
        Problems::one(Detail::new("notAllowed", format!("A value is not allowed: {text}.")))
    })
}

/// Reads an operation's body. An empty body of an operation that may be called without one reads as `{}`.
///
/// # Errors
/// Every problem with its place. The media type has been judged before ([`crate::operations::BodyMedia::accepts`]).
pub fn decode_body<O: Operation>(media: MediaType, bytes: &[u8]) -> Result<O::Body, Problems> {
    let optional = O::ID.spec().body.is_optional();
    if optional && media == MediaType::Json && bytes.is_empty() {
        return O::Body::read(MediaType::Json, b"{}");
    }
    O::Body::read(media, bytes)
}

/// Reads an operation's query string, without the `?`. An operation that documents no 400 ignores what it
/// doesn't know.
///
/// # Errors
/// Unknown (`unknownField`) and repeated (`duplicateKey`) parameters, and values that aren't allowed.
pub fn decode_query<O: Operation>(raw: &str) -> Result<O::Query, Problems> {
    if O::ID.spec().errors.contains(&400) { query::read(raw) } else { query::read("") }
}

/// Reads the path parameters. A text that can't be an id names nothing.
///
/// # Errors
/// [`crate::ErrorCode::NotFound`].
pub fn decode_path<'a, O: Operation>(get: impl Fn(&str) -> Option<&'a str>) -> Result<O::Path, ApiError> {
    <O::Path as PathParams>::read(&|name| get(name).map(str::to_owned))
        .ok_or_else(|| ApiError::new(crate::ErrorCode::NotFound))
}

#[cfg(test)]
mod tests;
