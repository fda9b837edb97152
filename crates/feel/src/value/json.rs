//! Values read from and written as JSON.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::number::Number;
use super::text::months_text;
use super::{Context, Value};

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

/// As [`number`], with [`Number::ABSENT`] for none.
#[inline]
pub(crate) fn quick_number(number: &serde_json::Number) -> Number {
    match number.as_i64() {
        Some(whole) => Number::from_i64(whole),
        None => self::number(number).unwrap_or(Number::ABSENT),
    }
}

/// A JSON value as FEEL reads it: strings stay strings, whatever they look like.
#[must_use]
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Boolean(*value),
        Json::Number(value) => number(value).map_or(Value::Null, Value::Number),
        Json::String(text) => Value::string(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(from_json).collect()),
        Json::Object(members) => Value::context(object(members)),
    }
}

/// A JSON object as a context.
#[must_use]
pub fn object(members: &Map<String, Json>) -> Context {
    Context::of_distinct(members.iter().map(|(name, value)| (Arc::from(name.as_str()), from_json(value))))
}

/// The value as JSON. Dates, times, durations and ranges become their text, functions null; a number with more
/// digits than a float holds becomes the nearest float.
#[must_use]
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null | Value::Function(_) => Json::Null,
        Value::Boolean(value) => Json::Bool(*value),
        Value::Number(value) => match value.to_i64() {
            Some(whole) => Json::from(whole),
            None => match value.is_integer().then(|| value.to_string().parse::<u64>().ok()).flatten() {
                Some(whole) => Json::from(whole),
                None => Json::from(value.to_f64()),
            },
        },
        Value::String(text) => Json::String(text.to_string()),
        Value::Date(date) => Json::String(date.to_string()),
        Value::Time(time) => Json::String(time.to_string()),
        Value::DateTime(time) => Json::String(time.to_string()),
        Value::DaysAndTimeDuration(duration) => Json::String(duration.to_string()),
        Value::YearsAndMonthsDuration(months) => Json::String(months_text(*months)),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Context(context) => {
            Json::Object(context.iter().map(|(name, value)| (name.to_string(), to_json(value))).collect())
        }
        Value::Range(_) => Json::String(value.to_string()),
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
