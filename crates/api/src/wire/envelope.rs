//! Envelopes, pages, and the schemas of plain values.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A free JSON object.
pub type JsonObject = Map<String, Value>;

/// `{"data": ...}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Data<T> {
    /// The one thing.
    pub data: T,
}

/// `{"data": [...], "page": {...}}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct List<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Position of the page in the list, with the cursor of the next one.
    pub page: PageInfo,
}

response! {
    /// Position of a page in a list.
    struct PageInfo {
        /// The `cursor` of the next page; null at the end.
        #[schema(required = true)]
        next_cursor: Option<String>,
        /// The most rows of a page.
        #[schema(minimum = 1, maximum = 200)]
        limit: u32,
    }
}

request! {
    /// Which part of a list.
    struct PageQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
    }

    /// Which part of a list that can be searched.
    struct SearchQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that names or descriptions must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
    }
}

impl<T> Data<T> {
    /// The envelope around one thing.
    pub const fn of(data: T) -> Self {
        Self { data }
    }
}

impl<T> List<T> {
    /// The envelope around a page.
    #[must_use]
    pub fn of<U>(page: heddle_kernel::Page<U>, limit: u32, change: impl FnMut(U) -> T) -> Self {
        let next_cursor = page.next.as_ref().map(|cursor| cursor.as_str().to_owned());
        Self { data: page.items.into_iter().map(change).collect(), page: PageInfo { next_cursor, limit } }
    }
}

/// The schema of an instant.
#[derive(Debug)]
pub struct Instant;

impl PartialSchema for Instant {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("An instant: RFC 3339, in answers in UTC with milliseconds."))
            .into()
    }
}

impl ToSchema for Instant {}

/// A JSON value of an answer: a value, or the text of one, which is not read for it.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Document {
    /// A value.
    Value(Value),
    /// Text of a value.
    Text(Arc<RawValue>),
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(own), Self::Value(other)) => own == other,
            (Self::Text(own), Self::Text(other)) => own.get() == other.get(),
            (Self::Value(value), Self::Text(text)) | (Self::Text(text), Self::Value(value)) => {
                serde_json::from_str::<Value>(text.get()).is_ok_and(|read| read == *value)
            }
        }
    }
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<Arc<RawValue>> for Document {
    fn from(text: Arc<RawValue>) -> Self {
        Self::Text(text)
    }
}

/// The schema of any JSON value.
#[derive(Debug)]
pub struct AnyJson;

impl AnyJson {
    /// The schema of any JSON value, with one that may stand there.
    #[must_use]
    pub fn with_example(example: serde_json::Value) -> RefOr<Schema> {
        any().examples([example]).into()
    }
}

/// The schema of a value of each type.
fn any() -> ObjectBuilder {
    let types = [Type::Object, Type::Array, Type::String, Type::Number, Type::Boolean, Type::Null];
    ObjectBuilder::new().schema_type(SchemaType::from_iter(types)).description(Some("Any JSON value."))
}

impl PartialSchema for AnyJson {
    fn schema() -> RefOr<Schema> {
        any().into()
    }
}

impl ToSchema for AnyJson {}
