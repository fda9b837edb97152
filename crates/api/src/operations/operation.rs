//! Operations as types, and the reading of their requests.

use heddle_policy::Access;
use serde::{Serialize, de::DeserializeOwned};
use utoipa::ToSchema;

use super::{BodyMedia, OperationId};
use crate::contract::{MediaType, PathParams, RequestBody};
use crate::decode::schema::{SchemaFault, compiled};
use crate::decode::{Problems, from_open_query, from_query};
use crate::error::{ApiError, ErrorCode};

/// An operation as a type, so that a handler is bound to its types and its kind of access.
pub trait Operation: Send + Sync + 'static {
    /// Kind of access that the row grants.
    type Access: Access;
    /// The path's parameters.
    type Path: PathParams;
    /// The query.
    type Query: ToSchema + DeserializeOwned + Send + 'static;
    /// The body.
    type Body: RequestBody;
    /// Type of `data`, of each item of a list, or of each event.
    type Output: ToSchema + Serialize + 'static;
    /// The row.
    const ID: OperationId;
}

/// Visitor of one operation as a type: what is asked of every row without a macro of its own.
pub trait Visitor {
    /// Result of a visit.
    type Output;

    /// Visits an operation.
    fn visit<O: Operation>(self) -> Self::Output;
}

/// Compiler of the schemas that an operation's query and body are checked against.
struct Prepare;

impl Visitor for Prepare {
    type Output = Result<(), SchemaFault>;

    fn visit<O: Operation>(self) -> Self::Output {
        compiled::<O::Query>()?;
        if O::ID.spec().body != BodyMedia::None {
            compiled::<<O::Body as RequestBody>::Json>()?;
        }
        Ok(())
    }
}

impl OperationId {
    /// Compiles the schemas that the row's query and body are checked against.
    ///
    /// # Errors
    /// When one does not compile: a fault of this crate.
    pub fn prepare(self) -> Result<(), SchemaFault> {
        self.visit(Prepare)
    }
}

/// Reads an operation's body. An empty body of an operation that may be called without one reads as `{}`.
///
/// # Errors
/// Every problem with its place. The media type has been judged before ([`super::BodyMedia::accepts`]).
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
    let spec = O::ID.spec();
    match spec.errors.contains(&400) {
        true if spec.ignores_unknown_parameters() => from_open_query(raw),
        true => from_query(raw),
        false => from_query(""),
    }
}

/// Reads the path parameters. A text that can't be an id names nothing.
///
/// # Errors
/// [`ErrorCode::NotFound`].
pub fn decode_path<'a, O: Operation>(get: impl Fn(&str) -> Option<&'a str>) -> Result<O::Path, ApiError> {
    <O::Path as PathParams>::read(&|name| get(name).map(str::to_owned))
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound))
}
