//! Work that holding a value against a schema takes, known before it is done.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::bounds::{EACH, Names, Place, Shape, own, place, same, values};

/// Work below which it is not worth knowing exactly.
const SMALL: u64 = 100_000;
/// Levels of schemas and values that are followed.
const MAX_LEVELS: usize = 2_000;

/// Evaluations of subschemas that a value takes, or any number above `most`. It may be too high, never too low: all of
/// a pattern's schemas count for each member.
pub(super) fn of(schema: &Value, shape: &Shape, value: &Value, most: u64) -> u64 {
    let product = shape.subschemas.saturating_mul(values(value) as u64);
    // Without references each subschema meets a place of the value once.
    if !shape.refers && product <= SMALL {
        return product;
    }
    let names = Names::of(schema);
    let mut count = Count { names: &names, known: HashMap::new(), most };
    count.of(schema, value, 0)
}

struct Count<'w, 's> {
    names: &'w Names<'s>,
    known: HashMap<Pair, u64>,
    most: u64,
}

/// A subschema and a place of the value.
type Pair = (Place, Place);

impl<'s> Count<'_, 's> {
    fn of(&mut self, schema: &'s Value, value: &Value, level: usize) -> u64 {
        let Value::Object(members) = schema else { return 1 };
        let pair = (place(schema), place(value));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        if level > MAX_LEVELS || self.known.len() as u64 > self.most {
            return self.most + 1;
        }
        let mut sum = own(members) + (values_at(value) as u64) / 16;
        for part in same(members, self.names) {
            sum = self.plus(sum, part, value, level);
        }
        match value {
            Value::Object(object) => sum = self.members(members, object, sum, level),
            Value::Array(items) => sum = self.items(members, items, sum, level),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        if members.keys().any(|name| name.starts_with("unevaluated")) {
            sum = sum.saturating_mul(2);
        }
        self.known.insert(pair, sum);
        sum
    }

    fn plus(&mut self, sum: u64, schema: &'s Value, value: &Value, level: usize) -> u64 {
        if sum > self.most { sum } else { sum.saturating_add(self.of(schema, value, level + 1)) }
    }

    fn members(
        &mut self,
        schema: &'s Map<String, Value>,
        object: &Map<String, Value>,
        mut sum: u64,
        level: usize,
    ) -> u64 {
        let named = schema.get("properties").and_then(Value::as_object);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        for (name, member) in object {
            let own = named.and_then(|named| named.get(name));
            let by_pattern = patterns.into_iter().flat_map(Map::values);
            let rest = ["additionalProperties", "unevaluatedProperties", "propertyNames"];
            let rest = rest.iter().filter_map(|keyword| schema.get(*keyword));
            for part in own.into_iter().chain(by_pattern).chain(rest) {
                sum = self.plus(sum, part, member, level);
            }
        }
        sum
    }

    fn items(&mut self, schema: &'s Map<String, Value>, items: &[Value], mut sum: u64, level: usize) -> u64 {
        let first =
            ["prefixItems", "items"].iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten();
        for (part, item) in first.zip(items) {
            sum = self.plus(sum, part, item, level);
        }
        let each = EACH.iter().filter(|keyword| !keyword.ends_with("Properties"));
        for part in each.filter_map(|keyword| schema.get(*keyword)).filter(|part| !part.is_array()) {
            for item in items {
                sum = self.plus(sum, part, item, level);
            }
        }
        sum
    }
}

/// Values that comparing, or looking for the same item twice, looks at.
const fn values_at(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::String(text) => text.len() / 32,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => 0,
    }
}
