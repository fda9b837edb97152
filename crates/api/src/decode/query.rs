//! Query strings: each parameter once, each known, each of its type.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use utoipa::ToSchema;

use super::{Problems, check, fill, path::shown, schema};
use crate::error::Detail;

/// Reads a query string by the schema of its type. With `is_open` parameters that the type does not know are ignored.
///
/// # Errors
/// Every problem with the parameter's name.
pub(crate) fn read<T: ToSchema + DeserializeOwned + 'static>(
    raw: &str,
    is_open: bool,
) -> Result<T, Problems> {
    let compiled = schema::compiled::<T>()
        .map_err(|fault| Problems::one(Detail::new("unreadable", fault.to_string())))?;
    let mut map = Map::new();
    let mut details = Vec::new();
    let mut unknown = BTreeSet::new();
    for pair in raw.split('&').filter(|pair| !pair.is_empty()).take(super::MAX_DETAILS) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(value)) = (text(name), text(value)) else {
            let message = "The parameter is not UTF-8 text, or has the character U+0000.";
            details.push(Detail::at(shown(name), "malformed", message));
            continue;
        };
        if is_open && !compiled.members.contains_key(&name) {
            continue;
        }
        if let Some((group, member)) = member_of_group(&name, &compiled.members) {
            let members = map.entry(group).or_insert_with(|| Value::Object(Map::new()));
            match members.as_object_mut() {
                Some(members) if !members.contains_key(member) => {
                    members.insert(member.to_owned(), Value::String(value));
                }
                Some(_) | None => {
                    details.push(Detail::at(shown(&name), "duplicateKey", "The parameter stands twice."));
                }
            }
            continue;
        }
        let is_known = compiled.members.contains_key(&name);
        if !is_known && unknown.insert(name.clone()) {
            let message = format!("There is no parameter `{}` here.", shown(&name));
            details.push(Detail::at(shown(&name), "unknownField", message));
            continue;
        }
        if !is_known || map.contains_key(&name) {
            details.push(Detail::at(shown(&name), "duplicateKey", "The parameter stands twice."));
            continue;
        }
        let value = typed(value, compiled.members.get(&name));
        map.insert(name, value);
    }
    let map = Value::Object(map);
    if let Err(Problems(more)) = check::check(&compiled, &map) {
        // What could not be read is there, and not told as missing.
        let told: Vec<Option<String>> = details.iter().map(|detail| detail.field.clone()).collect();
        details.extend(more.into_iter().filter(|d| d.reason != "required" || !told.contains(&d.field)));
    }
    if details.is_empty() { fill(map) } else { Err(Problems(details)) }
}

/// The group of a parameter such as `metadata.year`, where the type has such a group, and its name within it.
fn member_of_group<'a>(name: &'a str, members: &BTreeMap<String, Value>) -> Option<(&'a str, &'a str)> {
    let (group, member) = name.split_once('.').filter(|(_, member)| !member.is_empty())?;
    let types = &members.get(group)?["type"];
    let is_object = |one: &Value| one == "object";
    let is_group = is_object(types) || types.as_array().is_some_and(|types| types.iter().any(is_object));
    is_group.then_some((group, member))
}

/// Percent-decodes; `+` is a space, as forms write it.
fn text(raw: &str) -> Option<String> {
    let spaced = raw.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().ok()?;
    (!decoded.contains('\0')).then(|| decoded.into_owned())
}

/// The text as the JSON value that the parameter's schema asks for; what doesn't fit stays a text, which the
/// schema then refuses.
fn typed(text: String, schema: Option<&Value>) -> Value {
    let Some(schema) = schema else { return Value::String(text) };
    let wants = |name: &str| match &schema["type"] {
        Value::String(one) => one == name,
        Value::Array(several) => several.iter().any(|one| one == name),
        _ => false,
    };
    if wants("array") {
        return text.split(',').map(|item| typed(item.to_owned(), schema.get("items"))).collect();
    }
    let number = |text: &str| -> Option<Number> {
        if wants("integer") {
            // `+1` and ` 1` are no integers of a query string.
            text.parse::<i64>().ok().filter(|_| !text.starts_with('+')).map(Number::from)
        } else if wants("number") {
            text.parse::<f64>().ok().and_then(Number::from_f64)
        } else {
            None
        }
    };
    match text.as_str() {
        "true" if wants("boolean") => Value::Bool(true),
        "false" if wants("boolean") => Value::Bool(false),
        other => number(other).map_or_else(|| Value::String(text.clone()), Value::Number),
    }
}
