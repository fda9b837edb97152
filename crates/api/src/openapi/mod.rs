//! The OpenAPI 3.2.0 documents, made from the table of operations.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]

mod components;
mod document;
mod failures;
mod operation;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::contract::{PathParams, RequestBody};
use crate::decode::schema::{Components, reference, resolve};
use crate::operations::{BodyMedia, Document, Operation, OperationId, OutputKind, Visitor};

/// The schemas of an operation's types.
pub(crate) struct Shapes {
    /// The names of the path's parameters.
    pub path: &'static [&'static str],
    /// The query's parameters by name.
    pub query: BTreeMap<String, Value>,
    /// The names of the query's parameters that must be there.
    pub query_required: BTreeSet<String>,
    /// The body's JSON form.
    pub body: Option<Value>,
    /// Schema of `data`, of each of its rows, or of each event.
    pub output: Option<Value>,
    /// Named schemas that the others refer to.
    pub components: Components,
}

/// Collector of the schemas of an operation's types.
pub(crate) struct Shape;

impl Visitor for Shape {
    type Output = Shapes;

    fn visit<O: Operation>(self) -> Shapes {
        let spec = O::ID.spec();
        let mut components = Components::new();
        let mut query_components = Components::new();
        let query = resolve(&reference::<O::Query>(&mut query_components), &query_components);
        let members = query["properties"].as_object().cloned().unwrap_or_default();
        let required = query["required"].as_array().into_iter().flatten();
        let query_required = required.filter_map(Value::as_str).map(str::to_owned).collect();
        query_components.remove(<O::Query as utoipa::ToSchema>::name().as_ref());
        components.extend(query_components);
        let body = (spec.body != BodyMedia::None)
            .then(|| reference::<<O::Body as RequestBody>::Json>(&mut components));
        let has_output = !matches!(spec.output, OutputKind::None | OutputKind::Raw(_));
        let output = has_output.then(|| reference::<O::Output>(&mut components));
        Shapes {
            path: <O::Path as PathParams>::NAMES,
            query: members.into_iter().collect(),
            query_required,
            body,
            output,
            components,
        }
    }
}

/// The customer contract as JSON: the document that `/openapi.json` serves.
pub fn contract_json() -> &'static Value {
    static JSON: LazyLock<Value> = LazyLock::new(|| document::build(Document::Contract));
    &JSON
}

/// Document of the platform's additions, as JSON, served at `/openapi-platform.json`.
pub fn platform_json() -> &'static Value {
    static JSON: LazyLock<Value> = LazyLock::new(|| document::build(Document::Platform));
    &JSON
}

/// Document of what clients of other products call, as JSON, served at `/openapi-compatibility.json`.
pub fn compatibility_json() -> &'static Value {
    static JSON: LazyLock<Value> = LazyLock::new(|| document::build(Document::Compatibility));
    &JSON
}

/// The customer contract.
///
/// # Errors
/// When the document isn't OpenAPI; a test holds against it.
pub fn contract_document() -> Result<OpenApi, serde_json::Error> {
    serde_json::from_value(contract_json().clone())
}

/// Document of the platform's additions.
///
/// # Errors
/// When the document isn't OpenAPI; a test holds against it.
pub fn platform_document() -> Result<OpenApi, serde_json::Error> {
    serde_json::from_value(platform_json().clone())
}

/// Document of what clients of other products call.
///
/// # Errors
/// When the document isn't OpenAPI; a test holds against it.
pub fn compatibility_document() -> Result<OpenApi, serde_json::Error> {
    serde_json::from_value(compatibility_json().clone())
}

fn operations_of(document: Document) -> impl Iterator<Item = OperationId> {
    OperationId::ALL.iter().copied().filter(move |id| id.spec().document == document)
}
