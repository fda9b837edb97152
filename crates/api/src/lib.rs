//! The operations table, wire types, error codes and the OpenAPI documents.
//!
//! One table ([`operations`]) declares every operation; the server routes, gates and decodes by it, and the
//! OpenAPI documents ([`openapi`]) are made from it. The types that go over the wire stand in [`wire`], the
//! strict reading of them in [`decode`], failures in [`error`].

pub mod contract;
pub mod decode;
pub mod error;
pub mod face;
pub mod openapi;
pub mod operations;
pub mod wire;

pub use error::{ApiError, Detail, ErrorBody, ErrorCode, ErrorObject, Problem};
pub use face::Face;
pub use operations::{Operation, OperationId, OperationSpec, ops};
