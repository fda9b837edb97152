//! OpenAPI document of a run: its operations and samples of its bodies.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Map, Value, json};

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "query"];
/// Deeper members of a sample are left out; required ones this deep do not occur.
const DEPTH: usize = 12;

/// An OpenAPI document.
#[derive(Debug, Clone)]
pub(crate) struct Document(pub Value);

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    /// Upper case.
    pub method: String,
    /// With its `{parameters}`.
    pub path: String,
}

impl Operation {
    /// `GET /path/{id}`, as the tool writes it.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Names of the path's parameters.
    pub(crate) fn parameters(&self) -> Vec<&str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
    }
}

impl Document {
    /// Every operation, in the document's order.
    pub(crate) fn operations(&self) -> Vec<Operation> {
        let mut found = Vec::new();
        for (path, item) in self.0["paths"].as_object().into_iter().flatten() {
            for method in METHODS {
                if item.get(method).is_some() {
                    found.push(Operation { method: method.to_uppercase(), path: path.clone() });
                }
            }
        }
        found
    }

    /// A body that the operation should take: required members only; none when it takes no JSON.
    pub(crate) fn sample(&self, operation: &Operation) -> Option<Value> {
        let body = &self.0["paths"][&operation.path][operation.method.to_lowercase()]["requestBody"];
        let body = self.resolve(body);
        let schema = body.get("content")?.get("application/json")?.get("schema")?;
        Some(self.value("", schema, 0))
    }

    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return value };
        reference.strip_prefix('#').and_then(|pointer| self.0.pointer(pointer)).unwrap_or(value)
    }

    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let schema = self.resolve(schema);
        for key in ["const", "default"] {
            if let Some(value) = schema.get(key) {
                return value.clone();
            }
        }
        if let Some(value) = schema["examples"].get(0).or_else(|| schema["enum"].get(0)) {
            let mut value = value.clone();
            refresh(&mut value);
            return value;
        }
        for key in ["oneOf", "anyOf"] {
            let branches = schema[key].as_array().map(Vec::as_slice).unwrap_or_default();
            let branch = branches.iter().find(|branch| branch["type"].as_str() != Some("null"));
            if let Some(branch) = branch.filter(|_| depth < DEPTH) {
                return self.value(name, branch, depth + 1);
            }
        }
        if let Some(parts) = schema["allOf"].as_array().filter(|_| depth < DEPTH) {
            let mut joined = Map::new();
            for part in parts {
                if let Value::Object(members) = self.value(name, part, depth + 1) {
                    joined.extend(members);
                }
            }
            return Value::Object(joined);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => {
                let least = schema["minItems"].as_u64().unwrap_or(u64::from(hint_item(name).is_some()));
                let item =
                    || hint_item(name).unwrap_or_else(|| self.value(name, &schema["items"], depth + 1));
                Value::Array((0..least.min(4)).map(|_| item()).collect())
            }
            "integer" | "number" => json!(schema["minimum"].as_i64().unwrap_or(1)),
            "boolean" => json!(false),
            "null" => Value::Null,
            "string" => Value::String(text(name, schema)),
            _ => json!({}),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let mut members = Map::new();
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if depth < DEPTH {
                members.insert(name.to_owned(), self.value(name, &schema["properties"][name], depth + 1));
            }
        }
        Value::Object(members)
    }
}

fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            if schema.get("properties").is_some() { "object" } else { "" }
        }
    }
}

/// A number that no other sample has.
pub(crate) fn unique() -> u32 {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// A text that fits the member's name, format and length.
fn text(name: &str, schema: &Value) -> String {
    let number = unique();
    let lower = name.to_lowercase();
    let mut text = match schema["format"].as_str() {
        Some("email") => format!("sample-{number}@example.org"),
        Some("date-time") => "2099-01-01T00:00:00.000Z".to_owned(),
        Some("uuid") => format!("00000000-0000-7000-8000-{number:012}"),
        _ if lower.contains("email") => format!("sample-{number}@example.org"),
        _ if lower.contains("password") => format!("Sample-Pass-{number}-long-enough"),
        _ if lower.contains("expiresat") => "2099-01-01T00:00:00.000Z".to_owned(),
        _ if lower == "advance" => "PT1S".to_owned(),
        _ => format!("sample-{number}"),
    };
    let least = usize::try_from(schema["minLength"].as_u64().unwrap_or_default()).unwrap_or_default();
    while text.chars().count() < least {
        text.push('x');
    }
    text
}

/// Gives the members of an example that must be unique a value of their own.
fn refresh(value: &mut Value) {
    const UNIQUE: [&str; 6] = ["email", "slug", "name", "displayName", "idempotencyKey", "correlationKey"];
    for (name, member) in value.as_object_mut().into_iter().flatten() {
        if member.is_string() && UNIQUE.contains(&name.as_str()) {
            *member = Value::String(text(name, &Value::Null));
        } else {
            refresh(member);
        }
    }
}

/// One item of a list whose words are fixed elsewhere.
fn hint_item(name: &str) -> Option<Value> {
    match name {
        "roles" | "roleIds" => Some(json!("viewer")),
        "permissions" => Some(json!("workflows.view")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document(json!({
            "paths": {
                "/a/{aId}/b/{bId}": {"get": {}, "parameters": []},
                "/a": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}}}
            },
            "components": {"schemas": {
                "A": {"type": "object", "required": ["email", "kind", "inner", "roles", "maybe", "count", "long"], "properties": {
                    "email": {"type": "string"}, "kind": {"type": "string", "enum": ["one", "two"]},
                    "inner": {"allOf": [{"$ref": "#/components/schemas/B"}]}, "roles": {"type": "array", "items": {"type": "string"}},
                    "maybe": {"oneOf": [{"type": "null"}, {"type": "boolean"}]}, "count": {"type": ["integer", "null"], "minimum": 3},
                    "long": {"type": "string", "minLength": 20}, "unused": {"type": "string"}}},
                "C": {"type": "object", "examples": [{"slug": "acme", "inner": {"email": "a@b.c", "kind": "x"}}]},
                "B": {"type": "object", "required": ["b"], "properties": {"b": {"$ref": "#/components/schemas/B"}}}
            }}
        }))
    }

    #[test]
    fn operations_and_their_parameters_are_listed() {
        let operations = document().operations();
        let labels: Vec<String> = operations.iter().map(Operation::label).collect();
        assert_eq!(labels.len(), 2);
        assert!(labels.contains(&"GET /a/{aId}/b/{bId}".to_owned()));
        let get = operations.iter().find(|operation| operation.method == "GET").unwrap();
        assert_eq!(get.parameters(), ["aId", "bId"]);
    }

    #[test]
    fn an_example_is_taken_with_unique_members_of_its_own() {
        let document = document();
        let schema = json!({"$ref": "#/components/schemas/C"});
        let (one, two) = (document.value("", &schema, 0), document.value("", &schema, 0));
        assert_ne!(one["slug"], two["slug"]);
        assert_ne!(one["inner"]["email"], json!("a@b.c"));
        assert_eq!(one["inner"]["kind"], "x");
    }

    #[test]
    fn a_sample_has_the_required_members_and_ends_in_recursion() {
        let post = Operation { method: "POST".to_owned(), path: "/a".to_owned() };
        let sample = document().sample(&post).unwrap();
        assert!(sample["email"].as_str().unwrap().ends_with("@example.org"));
        assert_eq!(sample["kind"], "one");
        assert_eq!(sample["roles"], json!(["viewer"]));
        assert_eq!(sample["maybe"], json!(false));
        assert_eq!(sample["count"], json!(3));
        assert!(sample["long"].as_str().unwrap().len() >= 20);
        assert!(sample["inner"]["b"].is_object());
        assert!(sample.get("unused").is_none());
        let get = Operation { method: "GET".to_owned(), path: "/a/{aId}/b/{bId}".to_owned() };
        assert_eq!(document().sample(&get), None);
    }
}
