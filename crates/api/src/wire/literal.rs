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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::audit::{AuditOutcome, StoredOutcome};

    #[test]
    fn a_literal_of_a_later_version_is_told_as_it_is_stored() {
        let told = |stored| serde_json::to_value(StoredOutcome::of(stored, |known| known)).unwrap();
        assert_eq!(told(Stored::Known(AuditOutcome::Denied)), "denied");
        assert_eq!(told(Stored::Other("postponed".to_owned())), "postponed");
        let schema = serde_json::to_value(StoredOutcome::schema()).unwrap();
        assert_eq!(schema["anyOf"][0]["enum"], serde_json::json!(["success", "denied", "failure"]));
        assert_eq!(schema["anyOf"][1]["type"], "string");
        assert_eq!(StoredOutcome::name(), "AuditOutcome");
    }
}
