//! Requests that the scanners begin with: known-good calls of the operations of a document.

use heddle_harness_kit::client::encode;
use serde_json::Value;

use crate::schemathesis::apart;
use crate::schemathesis::document::{Document, Operation};
use crate::schemathesis::fixtures::Fixtures;

/// A request to begin with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    /// The operation, as `GET /path/{id}`.
    pub label: String,
    /// Upper case.
    pub method: String,
    /// Path with its parameters filled in.
    pub path: String,
    /// Query without the `?`; empty without any.
    pub query: String,
    /// JSON body with at least one member.
    pub body: Option<Value>,
}

/// Whether an operation is scanned: answers without an end are not, nor what ends the scanners' own session.
pub(crate) fn is_scanned(operation: &Operation) -> bool {
    !apart::is_apart(operation) && !operation.path.ends_with("/stream") && operation.path != "/docs"
}

/// Request of an operation; none when no call of it is known.
pub(crate) fn target(document: &Document, fixtures: &Fixtures, operation: &Operation) -> Option<Target> {
    let label = operation.label();
    let case = fixtures.cases.get(&label)?.first()?;
    let mut path = operation.path.clone();
    for name in operation.parameters() {
        let value = case.get("path")?.get(name)?.as_str()?;
        path = path.replace(&format!("{{{name}}}"), &encode(value));
    }
    let body = case.get("body").filter(|body| body.as_object().is_some_and(|members| !members.is_empty()));
    Some(Target {
        label,
        method: operation.method.clone(),
        path,
        query: query(document, operation),
        body: body.cloned(),
    })
}

/// Every parameter of a query that a plain value is good for.
fn query(document: &Document, operation: &Operation) -> String {
    let place = format!("/paths/{}/{}", operation.path.replace('/', "~1"), operation.method.to_lowercase());
    let parameters = document.0.pointer(&place).and_then(|one| one.get("parameters"));
    let all = parameters.and_then(Value::as_array).into_iter().flatten().filter_map(|parameter| {
        let name = parameter.get("name")?.as_str()?;
        let is_query = parameter.get("in")?.as_str()? == "query" && name != "cursor";
        let value = plain(parameter.get("schema")?)?;
        is_query.then(|| format!("{}={}", encode(name), encode(&value)))
    });
    all.collect::<Vec<_>>().join("&")
}

/// Value of a schema that needs no knowledge of what it is about.
fn plain(schema: &Value) -> Option<String> {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return first.as_str().map(str::to_owned);
    }
    if schema.get("format").is_some_and(|format| format != "int32" && format != "int64") {
        return None;
    }
    let kind = match schema.get("type")? {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null")?,
        one => one.as_str()?,
    };
    match kind {
        "string" => Some("a".to_owned()),
        "integer" => Some("1".to_owned()),
        "boolean" => Some("true".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_target_has_its_ids_its_query_and_its_body() {
        let operation = Operation { method: "GET".to_owned(), path: "/a/{id}".to_owned() };
        let parameters = json!([
            { "name": "q", "in": "query", "schema": { "type": "string" } },
            { "name": "limit", "in": "query", "schema": { "type": ["integer", "null"] } },
            { "name": "from", "in": "query", "schema": { "type": "string", "format": "date-time" } },
            { "name": "cursor", "in": "query", "schema": { "type": "string" } },
            { "$ref": "#/components/parameters/RequestId" },
        ]);
        let document = Document(json!({ "paths": { "/a/{id}": { "get": { "parameters": parameters } } } }));
        let mut fixtures = Fixtures::default();
        assert_eq!(target(&document, &fixtures, &operation), None);
        let case = json!({ "path": { "id": "x y" }, "body": {} });
        fixtures.cases.insert(operation.label(), vec![case]);
        let target = target(&document, &fixtures, &operation).unwrap();
        assert_eq!((target.path.as_str(), target.query.as_str()), ("/a/x%20y", "q=a&limit=1"));
        assert_eq!(target.body, None);
    }
}
