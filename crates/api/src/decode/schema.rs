//! JSON Schemas of the wire types: one source for the document and for the checks.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// Prefix of references to named schemas, in the documents and in the checks.
pub const SCHEMAS: &str = "#/components/schemas/";

/// Named schemas, as they stand in `components.schemas`.
pub type Components = BTreeMap<String, Value>;

/// A wire type's schema, ready to check with.
pub struct Compiled {
    /// Checks a whole value.
    pub validator: Validator,
    /// The resolved schema of each member of an object type.
    pub members: BTreeMap<String, Value>,
    /// Whether the type has no members and takes none.
    pub is_empty: bool,
    /// The schema of the type, by which numbers are read.
    root: Value,
    /// Named schemas that it refers to.
    components: Components,
}

impl Compiled {
    /// Writes whole numbers as integers where the schema asks for integers: `1.0` is one (JSON Schema 2020-12, 4.2.3).
    pub fn settle_integers(&self, value: &mut Value) {
        settle(&self.root, &self.components, value);
    }
}

/// Whether a value has a whole number that is written with a point or an exponent.
pub(crate) fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|float| float.fract() == 0.0),
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(members) => members.values().any(has_whole_float),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn settle(schema: &Value, components: &Components, value: &mut Value) {
    if !schema.is_object() {
        return;
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(SCHEMAS)) {
        if let Some(named) = components.get(name) {
            settle(named, components, value);
        }
        return;
    }
    let asks = |word: &Value| word == "integer";
    if asks(&schema["type"]) || schema["type"].as_array().is_some_and(|types| types.iter().any(asks)) {
        settle_number(value);
    }
    for choices in ["allOf", "oneOf", "anyOf"] {
        schema[choices].as_array().into_iter().flatten().for_each(|one| settle(one, components, value));
    }
    settle_then(schema, components, value);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let own = &schema["properties"][name.as_str()];
                let known = if own.is_null() { &schema["additionalProperties"] } else { own };
                settle(known, components, member);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| settle(&schema["items"], components, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn settle_then(schema: &Value, components: &Components, value: &mut Value) {
    if schema["then"].is_object() {
        settle(&schema["then"], components, value);
    }
}

/// A number without a part behind the point that is exact as an integer.
fn settle_number(value: &mut Value) {
    /// The highest number up to which every integer is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Some(number) = value.as_f64().filter(|_| value.is_f64()) else { return };
    if number.fract() == 0.0
        && number.abs() <= EXACT
        && let Ok(integer) = format!("{number:.0}").parse::<i64>()
    {
        *value = integer.into();
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled").finish_non_exhaustive()
    }
}

/// The schema of a type could not be compiled: a fault of this crate.
#[derive(Debug, thiserror::Error)]
#[error("the schema of `{name}` does not compile: {reason}")]
pub struct SchemaFault {
    name: String,
    reason: String,
}

type Cache = std::sync::RwLock<std::collections::HashMap<TypeId, Arc<Compiled>>>;
static COMPILED: LazyLock<Cache> = LazyLock::new(Cache::default);

/// The compiled schema of a type; compiled once per type and process.
///
/// # Errors
/// When the type's schema refers to one that is missing or is not a JSON Schema; a test holds every operation
/// against this.
pub fn compiled<T: ToSchema + 'static>() -> Result<Arc<Compiled>, SchemaFault> {
    let key = TypeId::of::<T>();
    let known = COMPILED.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(&key).cloned();
    if let Some(known) = known {
        return Ok(known);
    }
    let made = Arc::new(compile::<T>()?);
    let mut cache = COMPILED.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Arc::clone(cache.entry(key).or_insert(made)))
}

fn compile<T: ToSchema>() -> Result<Compiled, SchemaFault> {
    let mut components = Components::new();
    let root = reference::<T>(&mut components);
    let members = resolve(&root, &components)["properties"].as_object().cloned().unwrap_or_default();
    let members: BTreeMap<String, Value> =
        members.into_iter().map(|(name, schema)| (name, resolve(&schema, &components))).collect();
    let is_empty = members.is_empty() && resolve(&root, &components)["additionalProperties"] == false;
    components.values_mut().for_each(by_kind);
    let (own, named) = (root.clone(), components.clone());
    let mut schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [root]});
    schema["components"] = json!({"schemas": components});
    let fault = |reason: String| SchemaFault { name: T::name().into_owned(), reason };
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .build(&schema)
        .map_err(|error| fault(error.to_string()))?;
    Ok(Compiled { validator, members, is_empty, root: own, components: named })
}

/// Makes a choice whose objects each have their own word as `type` one that looks at the word first. A choice tries all its
/// branches, which takes exponential time when they stand in each other, and can't tell which of them was meant.
fn by_kind(schema: &mut Value) {
    let Some(branches) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let word = |branch: &Value| match branch["properties"]["type"]["enum"].as_array().map(Vec::as_slice) {
        Some([Value::String(word)]) => Some(word.clone()),
        _ => None,
    };
    let words: Option<Vec<String>> = branches.iter().map(word).collect();
    let Some(words) = words else { return };
    let choices = words.iter().zip(branches);
    let choices = choices.map(|(word, branch)| {
        json!({"if": {"properties": {"type": {"const": word}}, "required": ["type"]}, "then": branch})
    });
    let choices: Vec<Value> = choices.collect();
    *schema = json!({"type": "object", "required": ["type"], "properties": {"type": {"enum": words}}, "allOf": choices});
}

/// The schema to write where the type is used: a reference for a named type, else the schema itself. What it
/// refers to is added to `components`.
pub fn reference<T: ToSchema>(components: &mut Components) -> Value {
    let own = plain(T::schema());
    let mut named = Vec::new();
    T::schemas(&mut named);
    for (name, schema) in named {
        components.entry(name).or_insert_with(|| plain(schema));
    }
    let is_object_or_choice =
        ["properties", "enum", "oneOf", "allOf", "anyOf"].iter().any(|key| own.get(*key).is_some());
    if own.get("$ref").is_some() || !is_object_or_choice {
        return own;
    }
    let name = T::name().into_owned();
    components.entry(name.clone()).or_insert(own);
    json!({"$ref": format!("{SCHEMAS}{name}")})
}

/// The schema behind a reference; one that isn't a reference is its own.
pub fn resolve(schema: &Value, components: &Components) -> Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(SCHEMAS));
    match name.and_then(|name| components.get(name)) {
        Some(named) => named.clone(),
        None => schema.clone(),
    }
}

fn plain(schema: RefOr<Schema>) -> Value {
    let mut value = serde_json::to_value(schema).unwrap_or_default();
    bound_integers(&mut value);
    value
}

/// Says in the schema what fits into the integer's type, so that a reader of the document knows it too.
fn bound_integers(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(bound_integers),
        Value::Object(map) => {
            let ends: Option<(Value, Value)> = match map.get("format").and_then(Value::as_str) {
                Some("int64") => Some((i64::MIN.into(), i64::MAX.into())),
                Some("int32") => Some((i32::MIN.into(), i32::MAX.into())),
                _ => None,
            };
            if let Some((least, most)) = ends {
                bound(map, "minimum", "exclusiveMinimum", least);
                bound(map, "maximum", "exclusiveMaximum", most);
            }
            map.values_mut().for_each(bound_integers);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn bound(map: &mut Map<String, Value>, inclusive: &str, exclusive: &str, limit: Value) {
    if !map.contains_key(inclusive) && !map.contains_key(exclusive) {
        map.insert(inclusive.to_owned(), limit);
    }
}
