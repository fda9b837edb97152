//! Variables between the typed values of Camunda 7 and JSON.
//!
//! A run's variables are JSON. What JSON has no form for is kept so that it comes back as it came: a `Date` as a text with
//! milliseconds and an offset, which expressions read as a date and time; `Bytes` and a `File` as an object that says so
//! in `$type`. Objects and lists go out as `Json`.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_api::wire::camunda7::{TypedValue, TypedVariable};
use heddle_api::wire::envelope::JsonObject;
use heddle_api::{ApiError, Detail};
use heddle_kernel::Timestamp;
use serde_json::{Map, Value, json};

/// Member that tells what an object stands for.
const TYPE: &str = "$type";
/// Word for bytes.
const BYTES: &str = "bytes";
/// Word for a file.
const FILE: &str = "file";

/// Reads the variables of a member of a body.
///
/// # Errors
/// 400 with every variable that is not what its type says.
pub fn read_all(
    member: &str,
    given: Option<&BTreeMap<String, TypedValue>>,
) -> Result<Map<String, Value>, ApiError> {
    let (mut values, mut problems) = (Map::new(), Vec::new());
    for (name, typed) in given.into_iter().flatten() {
        match read(typed) {
            Ok(value) => {
                values.insert(name.clone(), value);
            }
            Err(Fault { at, reason, message }) => {
                problems.push(Detail::at(format!("{member}.{name}.{at}"), reason, message));
            }
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(ApiError::invalid(problems)) }
}

/// Fault of a typed value, with the member that has it.
#[derive(Debug)]
struct Fault {
    at: &'static str,
    reason: &'static str,
    message: String,
}

fn fault(at: &'static str, reason: &'static str, message: impl Into<String>) -> Fault {
    Fault { at, reason, message: message.into() }
}

fn read(typed: &TypedValue) -> Result<Value, Fault> {
    let info = typed.value_info.as_ref();
    let said = |name: &str| info.and_then(|info| info.get(name)).filter(|value| !value.is_null());
    if said("transient").is_some_and(|value| *value != Value::Bool(false)) {
        let message = "A variable that is not kept can't be given: a run's variables are kept.";
        return Err(fault("valueInfo.transient", "notSupported", message));
    }
    let word = typed.r#type.as_deref().unwrap_or_default().to_ascii_lowercase();
    if typed.value.is_null() && word != FILE {
        return Ok(Value::Null);
    }
    match word.as_str() {
        // The type is read from the value.
        "" => Ok(typed.value.clone()),
        "null" => Err(fault("value", "wrongType", "A value of the type `Null` is null.")),
        "boolean" if typed.value.is_boolean() => Ok(typed.value.clone()),
        "boolean" => Err(fault("value", "wrongType", "This must be true or false.")),
        "short" => integer(&typed.value, i64::from(i16::MIN), i64::from(i16::MAX)),
        "integer" => integer(&typed.value, i64::from(i32::MIN), i64::from(i32::MAX)),
        "long" => integer(&typed.value, i64::MIN, i64::MAX),
        "double" | "number" if typed.value.is_number() => Ok(typed.value.clone()),
        "double" | "number" => Err(fault("value", "wrongType", "This must be a number.")),
        "string" | "xml" => text(&typed.value).map(Value::from),
        "date" => date(text(&typed.value)?),
        "json" => serialized(text(&typed.value)?),
        "object" => {
            let format = said("serializationDataFormat").and_then(Value::as_str).unwrap_or_default();
            if format.split(';').next().is_some_and(|media| media.trim() == "application/json") {
                return serialized(text(&typed.value)?);
            }
            let message = "An object is taken in the format `application/json`.";
            Err(fault("valueInfo.serializationDataFormat", "notSupported", message))
        }
        BYTES => Ok(json!({ TYPE: BYTES, "content": base64_text(&typed.value)? })),
        FILE => file(&typed.value, info),
        _ => {
            let known = "Boolean, Short, Integer, Long, Double, String, Date, Bytes, File, Json, Object, Xml and Null";
            Err(fault("type", "notAllowed", format!("The types are {known}.")))
        }
    }
}

fn text(value: &Value) -> Result<&str, Fault> {
    value.as_str().ok_or_else(|| fault("value", "wrongType", "A value of this type is a text."))
}

fn integer(value: &Value, least: i64, most: i64) -> Result<Value, Fault> {
    let number = value.as_i64().filter(|number| (least..=most).contains(number));
    let message = || format!("This must be an integer from {least} to {most}.");
    number.map(Value::from).ok_or_else(|| fault("value", "wrongType", message()))
}

/// JSON in a text, read as strictly as a body is.
fn serialized(text: &str) -> Result<Value, Fault> {
    heddle_api::decode::read_json(text.as_bytes()).map_err(|problems| {
        let first = problems.into_iter().next().map(|problem| problem.message).unwrap_or_default();
        fault("value", "malformed", format!("The text is not JSON: {first}"))
    })
}

fn base64_text(value: &Value) -> Result<&str, Fault> {
    let text = text(value)?;
    match STANDARD.decode(text) {
        Ok(_) => Ok(text),
        Err(_) => Err(fault("value", "format", "The text is not base64.")),
    }
}

fn file(value: &Value, info: Option<&JsonObject>) -> Result<Value, Fault> {
    let said = |name: &str| info.and_then(|info| info.get(name)).and_then(Value::as_str);
    let Some(name) = said("filename").filter(|name| !name.is_empty()) else {
        return Err(fault("valueInfo.filename", "required", "A file has a name."));
    };
    let mut file = Map::new();
    file.insert(TYPE.to_owned(), FILE.into());
    file.insert("fileName".to_owned(), name.into());
    for (member, theirs) in [("mimeType", "mimetype"), ("mimeType", "mimeType"), ("encoding", "encoding")] {
        if let Some(text) = said(theirs) {
            file.insert(member.to_owned(), text.into());
        }
    }
    let content = if value.is_null() { "" } else { base64_text(value)? };
    file.insert("content".to_owned(), content.into());
    Ok(Value::Object(file))
}

/// Length of a date as it is kept: `2015-10-06T16:34:42.000+02:00`.
const KEPT: usize = 29;

/// A date as Camunda writes it, `2015-10-06T16:34:42.000+0200`, or as RFC 3339 has it.
fn date(text: &str) -> Result<Value, Fault> {
    let wrong = || {
        let message = "A date is needed, such as 2015-10-06T16:34:42.000+0200.";
        fault("value", "format", message)
    };
    let (whole, rest) = text.split_at_checked(19).ok_or_else(wrong)?;
    let digits = rest.strip_prefix('.').map_or(0, |part| part.bytes().take_while(u8::is_ascii_digit).count());
    let (fraction, zone) =
        if digits == 0 { ("", rest) } else { rest.split_at_checked(digits + 1).ok_or_else(wrong)? };
    let millis: String = fraction.chars().skip(1).chain("000".chars()).take(3).collect();
    let zone = match (zone, zone.len()) {
        ("Z" | "z", _) => "+00:00".to_owned(),
        (_, 5) => {
            let (hours, minutes) = zone.split_at_checked(3).ok_or_else(wrong)?;
            format!("{hours}:{minutes}")
        }
        (other, _) => other.to_owned(),
    };
    let kept = format!("{whole}.{millis}{zone}");
    if is_date(&kept) { Ok(kept.into()) } else { Err(wrong()) }
}

/// Whether a text is a date as it is kept: nothing else writes milliseconds and an offset in digits.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let at = |index: usize| bytes.get(index).copied();
    let offset = matches!(at(23), Some(b'+' | b'-')) && at(26) == Some(b':');
    bytes.len() == KEPT
        && at(10) == Some(b'T')
        && at(19) == Some(b'.')
        && offset
        && text.parse::<Timestamp>().is_ok()
}

/// A variable with the type that its value has.
pub fn write(value: &Value) -> TypedVariable {
    let plain = |r#type: &'static str, value: Value| TypedVariable { r#type, value, value_info: Map::new() };
    match value {
        Value::Null => plain("Null", Value::Null),
        Value::Bool(_) => plain("Boolean", value.clone()),
        Value::Number(number) => {
            let kind = match number.as_i64() {
                Some(integer) if i32::try_from(integer).is_ok() => "Integer",
                Some(_) => "Long",
                None => "Double",
            };
            plain(kind, value.clone())
        }
        Value::String(text) => match text.split_at_checked(26).filter(|_| is_date(text)) {
            Some((begin, minutes)) => {
                plain("Date", format!("{begin}{}", minutes.trim_start_matches(':')).into())
            }
            None => plain("String", value.clone()),
        },
        Value::Object(members) => binary(members).unwrap_or_else(|| plain("Json", value.to_string().into())),
        Value::Array(_) => plain("Json", value.to_string().into()),
    }
}

/// Bytes or a file, if an object stands for such.
fn binary(members: &JsonObject) -> Option<TypedVariable> {
    let said = |name: &str| members.get(name).and_then(Value::as_str);
    let content = Value::from(said("content")?);
    match said(TYPE)? {
        BYTES => Some(TypedVariable { r#type: "Bytes", value: content, value_info: Map::new() }),
        FILE => {
            let mut info = Map::new();
            info.insert("filename".to_owned(), said("fileName")?.into());
            for (theirs, member) in [("mimetype", "mimeType"), ("encoding", "encoding")] {
                if let Some(text) = said(member) {
                    info.insert(theirs.to_owned(), text.into());
                }
            }
            Some(TypedVariable { r#type: "File", value: content, value_info: info })
        }
        _ => None,
    }
}

/// An instant as Camunda writes it.
pub fn instant(at: Timestamp) -> String {
    let text = at.to_string();
    text.strip_suffix('Z').map_or_else(|| text.clone(), |begin| format!("{begin}+0000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(value: Value) -> TypedValue {
        serde_json::from_value(value).unwrap()
    }

    /// Values as a client sends them, as they are kept, and as they come back.
    #[test]
    fn each_type_comes_back_as_it_came() {
        let plain = |kind: &str, value: Value| json!({"type": kind, "value": value, "valueInfo": {}});
        let file = json!({"filename": "a.txt", "mimetype": "text/plain", "encoding": "UTF-8"});
        for (sent, kept, back) in [
            (json!({"value": 1}), json!(1), plain("Integer", json!(1))),
            (json!({"value": {"a": [1]}}), json!({"a": [1]}), plain("Json", json!("{\"a\":[1]}"))),
            (json!({"type": "null", "value": null}), Value::Null, plain("Null", Value::Null)),
            (json!({"type": "Boolean", "value": true}), json!(true), plain("Boolean", json!(true))),
            (json!({"type": "integer", "value": -7}), json!(-7), plain("Integer", json!(-7))),
            (
                json!({"type": "long", "value": 9_007_199_254_740_993_i64}),
                json!(9_007_199_254_740_993_i64),
                plain("Long", json!(9_007_199_254_740_993_i64)),
            ),
            (json!({"type": "Double", "value": 1.5}), json!(1.5), plain("Double", json!(1.5))),
            (json!({"type": "string", "value": "x"}), json!("x"), plain("String", json!("x"))),
            (
                json!({"type": "Date", "value": "2015-10-06T16:34:42.000+0200"}),
                json!("2015-10-06T16:34:42.000+02:00"),
                plain("Date", json!("2015-10-06T16:34:42.000+0200")),
            ),
            (
                json!({"type": "date", "value": "2015-10-06T16:34:42Z"}),
                json!("2015-10-06T16:34:42.000+00:00"),
                plain("Date", json!("2015-10-06T16:34:42.000+0000")),
            ),
            (
                json!({"type": "json", "value": "{\"b\":null}", "valueInfo": {}}),
                json!({"b": null}),
                plain("Json", json!("{\"b\":null}")),
            ),
            (
                json!({"type": "Object", "value": "[1,2]",
                    "valueInfo": {"objectTypeName": "java.util.ArrayList", "serializationDataFormat": "application/json"}}),
                json!([1, 2]),
                plain("Json", json!("[1,2]")),
            ),
            (
                json!({"type": "Bytes", "value": "aGk="}),
                json!({"$type": "bytes", "content": "aGk="}),
                plain("Bytes", json!("aGk=")),
            ),
            (
                json!({"type": "file", "value": "aGk=", "valueInfo": file}),
                json!({"$type": "file", "fileName": "a.txt", "mimeType": "text/plain", "encoding": "UTF-8",
                    "content": "aGk="}),
                json!({"type": "File", "value": "aGk=", "valueInfo": file}),
            ),
        ] {
            let read = read(&typed(sent.clone())).unwrap();
            assert_eq!(read, kept, "{sent}");
            assert_eq!(serde_json::to_value(write(&read)).unwrap(), back, "{sent}");
        }
    }

    #[test]
    fn a_value_that_is_not_of_its_type_is_named() {
        for (sent, at) in [
            (json!({"type": "Integer", "value": 2_147_483_648_i64}), "value"),
            (json!({"type": "Integer", "value": "1"}), "value"),
            (json!({"type": "Boolean", "value": "true"}), "value"),
            (json!({"type": "String", "value": 1}), "value"),
            (json!({"type": "Json", "value": "{"}), "value"),
            (json!({"type": "Json", "value": "{\"a\":1,\"a\":2}"}), "value"),
            (json!({"type": "Json", "value": {"a": 1}}), "value"),
            (json!({"type": "Date", "value": "yesterday"}), "value"),
            (json!({"type": "Date", "value": "2015-10-06"}), "value"),
            (json!({"type": "Date", "value": "2015-10-06T16:34:42.000"}), "value"),
            (json!({"type": "Bytes", "value": "not base64!"}), "value"),
            (json!({"type": "File", "value": "aGk="}), "valueInfo.filename"),
            (json!({"type": "Object", "value": "{}"}), "valueInfo.serializationDataFormat"),
            (json!({"type": "Colour", "value": "red"}), "type"),
            (json!({"value": 1, "valueInfo": {"transient": true}}), "valueInfo.transient"),
        ] {
            assert_eq!(read(&typed(sent.clone())).unwrap_err().at, at, "{sent}");
        }
    }

    #[test]
    fn texts_that_only_look_like_dates_stay_texts() {
        for text in [
            "2015-10-06T16:34:42Z",
            "2015-10-06T16:34:42.000Z",
            "2015-10-06T16:34:42+02:00",
            "2015-13-06T16:34:42.000+02:00",
        ] {
            assert_eq!(write(&json!(text)).r#type, "String", "{text}");
        }
    }
}
