//! Values read from and written as JSON.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::number::Number;
use super::text::months_text;
use super::{Context, MAX_VALUE_DEPTH, Value};

/// The number of a JSON number; `None` beyond decimal128.
pub(crate) fn number(number: &serde_json::Number) -> Option<Number> {
    if let Some(whole) = number.as_i64() {
        return Some(Number::from_i64(whole));
    }
    if let Some(whole) = number.as_u64() {
        return Number::new(i128::from(whole), 0).ok();
    }
    number.as_f64().and_then(Number::from_f64)
}

/// The number as [`number`] reads it, with [`Number::ABSENT`] for none.
#[inline]
pub(crate) fn quick_number(number: &serde_json::Number) -> Number {
    match number.as_i64() {
        Some(whole) => Number::from_i64(whole),
        None => self::number(number).unwrap_or(Number::ABSENT),
    }
}

/// A JSON value as FEEL reads it: strings stay strings, whatever they look like. Lists and objects are read to the
/// level that [`Limits`](crate::Limits) tells of; what lies below is null, and an evaluation that uses a value so deep
/// ends with [`LimitError::Depth`](crate::LimitError::Depth).
#[must_use]
pub fn from_json(json: &Json) -> Value {
    at_level(json, MAX_VALUE_DEPTH + 1)
}

fn at_level(json: &Json, levels: u32) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Boolean(*value),
        Json::Number(value) => number(value).map_or(Value::Null, Value::Number),
        Json::String(text) => Value::string(text.as_str()),
        Json::Array(_) | Json::Object(_) if levels == 0 => Value::Null,
        Json::Array(items) => Value::list(items.iter().map(|item| at_level(item, levels - 1)).collect()),
        Json::Object(members) => Value::context(members_at_level(members, levels - 1)),
    }
}

fn members_at_level(members: &Map<String, Json>, levels: u32) -> Context {
    let entries = members.iter().map(|(name, value)| (Arc::from(name.as_str()), at_level(value, levels)));
    Context::of_distinct(entries)
}

/// A JSON object as a context, as [`from_json`] reads it.
#[must_use]
pub fn object(members: &Map<String, Json>) -> Context {
    members_at_level(members, MAX_VALUE_DEPTH + 1)
}

/// The value as JSON. Dates, times, durations and ranges become their text, functions null; a number with more
/// digits than a float holds becomes the nearest float, one beyond a float's range its text. A value nested more than 400 levels deep, which no
/// evaluation gives, becomes null.
#[must_use]
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null | Value::Function(_) => Json::Null,
        Value::Boolean(value) => Json::Bool(*value),
        Value::Number(value) => match value.to_i64() {
            Some(whole) => Json::from(whole),
            None => match value.is_integer().then(|| value.to_string().parse::<u64>().ok()).flatten() {
                Some(whole) => Json::from(whole),
                // JSON has no number beyond a float's range; a text loses nothing.
                None => match value.to_f64() {
                    near if near.is_finite() => Json::from(near),
                    _ => Json::String(value.to_string()),
                },
            },
        },
        Value::String(text) => Json::String(text.to_string()),
        Value::Date(date) => Json::String(date.to_string()),
        Value::Time(time) => Json::String(time.to_string()),
        Value::DateTime(time) => Json::String(time.to_string()),
        Value::DaysAndTimeDuration(duration) => Json::String(duration.to_string()),
        Value::YearsAndMonthsDuration(months) => Json::String(months_text(*months)),
        // Only a program around FEEL makes values so deep.
        deep if deep.depth() > MAX_VALUE_DEPTH * 2 => Json::Null,
        Value::List(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Context(context) => {
            Json::Object(context.iter().map(|(name, value)| (name.to_string(), to_json(value))).collect())
        }
        Value::Range(_) => Json::String(value.to_string()),
    }
}

/// Bytes that a value counts beside its texts.
const FLAT: u64 = 16;

/// Estimated bytes of a value as JSON in memory and in the database: 16 for each value and the length of each text and
/// name. Counting ends soon after `most`, which a value that shares its parts may exceed without end.
#[must_use]
pub fn size(value: &Value, most: u64) -> u64 {
    match value {
        Value::String(text) => FLAT + text.len() as u64,
        Value::List(items) => {
            items.iter().fold(
                FLAT,
                |sum, item| {
                    if sum > most { sum } else { sum.saturating_add(size(item, most - sum)) }
                },
            )
        }
        Value::Context(context) => context.iter().fold(FLAT, |sum, (name, item)| {
            if sum > most { sum } else { sum.saturating_add(name.len() as u64 + size(item, most - sum)) }
        }),
        _ => FLAT,
    }
}

/// The estimate of [`size`] for JSON.
#[must_use]
pub fn size_of_json(value: &Json) -> u64 {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => FLAT,
        Json::String(text) => FLAT + text.len() as u64,
        Json::Array(items) => items.iter().fold(FLAT, |sum, item| sum + size_of_json(item)),
        Json::Object(members) => {
            members.iter().fold(FLAT, |sum, (name, item)| sum + name.len() as u64 + size_of_json(item))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let json = serde_json::json!({
            "a": [1, 2.5, -3, 18_446_744_073_709_551_615_u64, 1e300], "b": {"c": null, "d": true}, "e": "2024-01-01"
        });
        assert_eq!(to_json(&from_json(&json)), json);
    }
}
