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

pub use json::read as read_json;

/// The deepest nesting of objects and arrays that is read.
pub const MAX_DEPTH: usize = 64;
/// The most objects and arrays of a document: a definition of some 100,000 nodes.
pub const MAX_CONTAINERS: usize = 500_000;
/// The most problems that one answer tells.
pub const MAX_DETAILS: usize = 200;

/// Faults of a request: a 400 with these details.
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
    let mut value = value;
    if schema::has_whole_float(&value) {
        compiled.settle_integers(&mut value);
    }
    fill(value)
}

/// The schema has spoken; what serde still refuses is a number or a date beyond its type's range.
fn fill<T: DeserializeOwned>(value: Value) -> Result<T, Problems> {
    serde_json::from_value(value).map_err(|error| {
        let text: String = error.to_string().chars().take(200).collect();
        Problems::one(Detail::new("notAllowed", format!("A value is not allowed: {text}.")))
    })
}

/// Reads a query string, without the `?`.
///
/// # Errors
/// Unknown (`unknownField`) and repeated (`duplicateKey`) parameters, and values that aren't allowed.
pub fn from_query<T: ToSchema + DeserializeOwned + 'static>(raw: &str) -> Result<T, Problems> {
    query::read(raw, false)
}

/// Reads a query string as [`from_query`] does, but ignores parameters that the type does not know.
///
/// # Errors
/// Every problem with the parameter's name.
pub fn from_open_query<T: ToSchema + DeserializeOwned + 'static>(raw: &str) -> Result<T, Problems> {
    query::read(raw, true)
}

#[cfg(test)]
mod tests;
