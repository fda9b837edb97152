//! Bounds of a schema: its size, its nesting, and how often it evaluates itself at one place of a value.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Bytes of the largest schema.
const MAX_BYTES: usize = 256 * 1024;
/// Subschemas of the largest schema.
const MAX_SUBSCHEMAS: usize = 5_000;
/// Levels of subschemas within each other, by nesting and by reference.
const MAX_LEVELS: usize = 200;
/// Evaluations of subschemas at one place of a value.
const MAX_BRANCHES: u64 = 10_000;
/// Evaluations that a schema about schemas counts as.
const META: u64 = 100;

/// Keywords whose schema is held against the same place.
const SAME: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords with schemas that are.
const SAME_EACH: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords with named schemas that are.
const SAME_NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords whose schema is held against each member or item.
pub(super) const EACH: [&str; 6] = [
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];
/// Keywords with references.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords whose values are compared one by one.
const COMPARED: [&str; 4] = ["enum", "const", "required", "dependentRequired"];

/// Address of a subschema in its document, which lies still while it is borrowed.
pub(super) type Place = usize;

pub(super) fn place(schema: &Value) -> Place {
    std::ptr::from_ref(schema).addr()
}

/// Facts about a schema that stays within the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Number of subschemas.
    pub subschemas: u64,
    /// Whether it refers to parts of itself.
    pub refers: bool,
    /// Whether it has alternatives, of which a failure tells all.
    pub branches: bool,
}

/// Subschemas that a schema holds against the same place of a value, those that it refers to among them.
pub(super) fn same<'s>(schema: &'s Map<String, Value>, names: &Names<'s>) -> Vec<&'s Value> {
    let mut found: Vec<&Value> = SAME.iter().filter_map(|name| schema.get(*name)).collect();
    for name in SAME_EACH {
        found.extend(schema.get(name).and_then(Value::as_array).into_iter().flatten());
    }
    for name in SAME_NAMED {
        let named = schema.get(name).and_then(Value::as_object).into_iter().flat_map(Map::values);
        found.extend(named.filter(|own| !own.is_array()));
    }
    for name in REFERENCES {
        let text = schema.get(name).and_then(Value::as_str);
        found.extend(text.and_then(|text| names.find(text)));
    }
    found
}

/// Subschemas for what lies within a value.
fn within(schema: &Map<String, Value>) -> Vec<&Value> {
    let each = EACH.iter().chain(&["propertyNames"]);
    let mut found: Vec<&Value> =
        each.filter_map(|name| schema.get(*name)).filter(|own| !own.is_array()).collect();
    for name in ["prefixItems", "items"] {
        found.extend(schema.get(name).and_then(Value::as_array).into_iter().flatten());
    }
    for name in ["properties", "patternProperties"] {
        found.extend(schema.get(name).and_then(Value::as_object).into_iter().flat_map(Map::values));
    }
    found
}

/// Evaluations that a schema counts as by itself: comparing with many values is as much work as many schemas.
pub(super) fn own(schema: &Map<String, Value>) -> u64 {
    let compared = COMPARED.iter().filter_map(|name| schema.get(*name)).map(values).sum::<usize>();
    1 + compared as u64 / 4
}

/// Number of values within a value.
pub(super) fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(values).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len() / 32,
    }
}

/// Names by which a schema refers to its parts.
#[derive(Debug, Default)]
pub(super) struct Names<'s> {
    root: Option<&'s Value>,
    /// Parts by `$id`, `$anchor` and `$dynamicAnchor`.
    named: HashMap<&'s str, &'s Value>,
    documents: Vec<&'s Value>,
}

impl<'s> Names<'s> {
    pub(super) fn of(schema: &'s Value) -> Self {
        let mut names = Self { root: Some(schema), ..Self::default() };
        names.collect(schema);
        names
    }

    fn collect(&mut self, value: &'s Value) {
        match value {
            Value::Object(members) => {
                for keyword in ["$id", "id", "$anchor", "$dynamicAnchor"] {
                    if let Some(Value::String(name)) = members.get(keyword) {
                        self.named.insert(name.trim_matches('#'), value);
                        if keyword.ends_with("id") && !name.starts_with('#') {
                            self.documents.push(value);
                        }
                    }
                }
                members.values().for_each(|member| self.collect(member));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The part that a reference means; none for one to another document, and for one that leads nowhere, which the
    /// validator refuses.
    pub(super) fn find(&self, text: &str) -> Option<&'s Value> {
        let (document, fragment) = text.split_once('#').unwrap_or((text, ""));
        let known = |name: &str| {
            let exact = self.named.get(name).copied();
            let mut ends = self.named.iter().filter(|(id, _)| id.rsplit('/').next() == Some(name));
            exact.or_else(|| ends.next().map(|(_, part)| *part))
        };
        let document = if document.is_empty() { self.root } else { known(document) };
        match fragment {
            "" => document,
            pointer if pointer.starts_with('/') => {
                let pointer = decoded(pointer);
                // A part with an id of its own is what its pointers begin at.
                let parts = document.into_iter().chain(self.documents.iter().copied());
                parts.filter_map(|part| part.pointer(&pointer)).next()
            }
            anchor => self.named.get(anchor).copied(),
        }
    }
}

/// A fragment without its percent signs.
fn decoded(pointer: &str) -> String {
    let bytes = pointer.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = (byte == b'%').then(|| pointer.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(own) => {
                plain.push(own);
                at += 3;
            }
            None => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// Checks a schema against the bounds.
pub(super) fn measure(schema: &Value) -> Result<Shape, String> {
    let bytes = schema.to_string().len();
    if bytes > MAX_BYTES {
        return Err(format!("it has {bytes} bytes, and {MAX_BYTES} are allowed"));
    }
    let names = Names::of(schema);
    let mut walk = Walk {
        names: &names,
        branches: HashMap::new(),
        shape: Shape { subschemas: 0, refers: false, branches: false },
        pending: vec![(schema, 0)],
    };
    while let Some((part, level)) = walk.pending.pop() {
        if !walk.branches.contains_key(&place(part)) {
            walk.visit(part, level)?;
        }
    }
    Ok(walk.shape)
}

struct Walk<'w, 's> {
    names: &'w Names<'s>,
    /// Evaluations at one place by subschema; none while it is being measured.
    branches: HashMap<Place, Option<u64>>,
    shape: Shape,
    /// Subschemas for what lies within the value, with their levels: going into the value ends what refers to itself.
    pending: Vec<(&'s Value, usize)>,
}

impl<'s> Walk<'_, 's> {
    /// Evaluations of subschemas at one place of a value.
    fn visit(&mut self, schema: &'s Value, level: usize) -> Result<u64, String> {
        let Value::Object(members) = schema else { return Ok(1) };
        match self.branches.get(&place(schema)) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => {
                return Err(
                    "a subschema refers to itself at the same place of a value, without end".to_owned()
                );
            }
            None => {}
        }
        if level > MAX_LEVELS {
            return Err(format!("its subschemas lie more than {MAX_LEVELS} levels within each other"));
        }
        self.shape.subschemas += 1;
        if self.shape.subschemas > MAX_SUBSCHEMAS as u64 {
            return Err(format!("it has more than {MAX_SUBSCHEMAS} subschemas"));
        }
        self.shape.branches |= members.contains_key("anyOf") || members.contains_key("oneOf");
        self.branches.insert(place(schema), None);
        let mut count = own(members);
        for name in REFERENCES {
            let Some(text) = members.get(name).and_then(Value::as_str) else { continue };
            self.shape.refers = true;
            if self.names.find(text).is_none() {
                count += META;
            }
        }
        for part in same(members, self.names) {
            count = count.saturating_add(self.visit(part, level + 1)?);
        }
        if members.keys().any(|name| name.starts_with("unevaluated")) {
            // What was evaluated is found by evaluating once more.
            count = count.saturating_mul(2);
        }
        if count > MAX_BRANCHES {
            let message = format!("it evaluates more than {MAX_BRANCHES} subschemas at one place of a value");
            return Err(message);
        }
        self.branches.insert(place(schema), Some(count));
        self.pending.extend(within(members).into_iter().map(|part| (part, level + 1)));
        Ok(count)
    }
}
