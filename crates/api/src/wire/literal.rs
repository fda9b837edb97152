//! Literals of stored records.

use std::borrow::Cow;

use heddle_kernel::Stored;
use serde::Serialize;
use utoipa::openapi::schema::{AnyOfBuilder, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A literal of `W`, or one that a later version has stored, as it is stored: one such record does not hide the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OrStored<W> {
    /// One of the known literals.
    Known(W),
    /// Another one.
    Stored(String),
}

impl<W> OrStored<W> {
    /// The literal of what was stored.
    pub fn of<T>(stored: Stored<T>, known: fn(T) -> W) -> Self {
        match stored {
            Stored::Known(value) => Self::Known(known(value)),
            Stored::Other(literal) => Self::Stored(literal),
        }
    }
}

impl<W: PartialSchema> PartialSchema for OrStored<W> {
    fn schema() -> RefOr<Schema> {
        let other = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .description(Some("A literal that a later version has stored."));
        AnyOfBuilder::new().item(W::schema()).item(other).into()
    }
}

impl<W: ToSchema> ToSchema for OrStored<W> {
    fn name() -> Cow<'static, str> {
        W::name()
    }
}
