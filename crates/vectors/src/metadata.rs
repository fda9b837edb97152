//! Metadata of files: the rules of its members, and their values as filters know them.

use heddle_kernel::Timestamp;
use serde_json::{Map, Value};

use crate::ports::FieldValue;
use crate::records::{FieldType, MetadataSchema};
use crate::{Problem, Problems};

/// The most members.
const MEMBERS: usize = 64;
/// The most characters of a member's name.
const NAME: usize = 64;
/// The most characters of a text.
const TEXT: usize = 1_000;
/// The most texts of a list.
const TEXTS: usize = 100;
/// The most declared members.
const DECLARED: usize = 64;

/// Whether a text can be the name of a member: 1 to 64 letters, digits, `_` and `-`.
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=NAME).contains(&name.len()) && name.bytes().all(fits)
}

/// Checks declared members.
pub(crate) fn check_schema(problems: &mut Problems, schema: &MetadataSchema) {
    if schema.len() > DECLARED {
        problems.add("metadataSchema", "tooMany", format!("At most {DECLARED} members."));
    }
    for name in schema.keys().filter(|name| !is_name(name)) {
        let message = "1 to 64 letters, digits, underscores and hyphens.";
        problems.add(&format!("metadataSchema.{name}"), "pattern", message);
    }
}

/// Checks the metadata of a file: flat, with names and texts of bounded length, and of the declared types.
pub(crate) fn check(
    problems: &mut Problems,
    field: &str,
    metadata: &Map<String, Value>,
    schema: &MetadataSchema,
    most_bytes: u64,
) {
    let bytes = serde_json::to_vec(metadata).map_or(usize::MAX, |text| text.len());
    if bytes as u64 > most_bytes {
        problems.add(field, "tooLong", format!("At most {most_bytes} bytes; these are {bytes}."));
        return;
    }
    if metadata.len() > MEMBERS {
        problems.add(field, "tooMany", format!("At most {MEMBERS} members."));
    }
    for (name, value) in metadata {
        let path = format!("{field}.{name}");
        if !is_name(name) {
            problems.add(&path, "pattern", "1 to 64 letters, digits, underscores and hyphens.");
        }
        if let Some(problem) = fault(&path, value, schema.get(name).map(|one| one.kind)) {
            problems.push(problem);
        }
    }
}

fn fault(path: &str, value: &Value, kind: Option<FieldType>) -> Option<Problem> {
    let is_short = |text: &str| text.chars().count() <= TEXT;
    let texts = |all: &[Value]| all.iter().all(|one| one.as_str().is_some_and(is_short));
    let is_sound = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => is_short(text),
        Value::Array(all) => all.len() <= TEXTS && texts(all),
        Value::Object(_) => false,
    };
    if !is_sound {
        let message = format!(
            "A number, true, false, null, a text of at most {TEXT} characters or a list of at most {TEXTS} such."
        );
        return Some(Problem::at(path, "wrongFormat", message));
    }
    let kind = kind.filter(|_| !value.is_null())?;
    let fits = match kind {
        FieldType::String => value.is_string() || value.is_array(),
        FieldType::Number => value.is_number(),
        FieldType::Boolean => value.is_boolean(),
        FieldType::DateTime => value.as_str().is_some_and(|text| text.parse::<Timestamp>().is_ok()),
    };
    (!fits).then(|| Problem::at(path, "wrongType", format!("The declared type is {kind}.")))
}

/// Values by which filters find a file: every member by the type that it has, an instant as a text as well. So a member
/// that is declared later can be filtered by at once.
#[must_use]
pub fn values_of(metadata: &Map<String, Value>) -> Vec<(String, FieldValue)> {
    let mut all = Vec::new();
    for (name, value) in metadata {
        let mut push = |value| all.push((format!("metadata.{name}"), value));
        match value {
            Value::Null | Value::Object(_) => {}
            Value::Bool(value) => push(FieldValue::Boolean(*value)),
            Value::Number(number) => {
                if let Some(number) = number.as_f64().filter(|number| number.is_finite()) {
                    push(FieldValue::Number(number));
                }
            }
            Value::String(text) => {
                if let Ok(instant) = text.parse::<Timestamp>() {
                    push(FieldValue::Instant(instant));
                }
                push(FieldValue::Text(text.clone()));
            }
            Value::Array(texts) => {
                let mut texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
                texts.sort_unstable();
                texts.dedup();
                texts.into_iter().for_each(|text| push(FieldValue::Text(text.to_owned())));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::MetadataField;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(members) = value else { panic!("no object") };
        members
    }

    #[test]
    fn members_have_their_declared_types_and_others_are_kept() {
        let year = MetadataField { kind: FieldType::Number, filterable: true };
        let day = MetadataField { kind: FieldType::DateTime, filterable: true };
        let schema = MetadataSchema::from([("year".to_owned(), year), ("day".to_owned(), day)]);
        let reasons = |value| {
            let mut problems = Problems::default();
            check(&mut problems, "metadata", &object(value), &schema, 1_000);
            problems.into_iter().map(|one| (one.field.unwrap_or_default(), one.reason)).collect::<Vec<_>>()
        };
        assert_eq!(
            reasons(json!({"year": 2024, "day": "2024-01-01T00:00:00Z", "tags": ["a"], "x": null})),
            []
        );
        assert_eq!(reasons(json!({"year": "2024"})), [("metadata.year".to_owned(), "wrongType")]);
        assert_eq!(reasons(json!({"day": "soon"})), [("metadata.day".to_owned(), "wrongType")]);
        assert_eq!(reasons(json!({"a": {"b": 1}})), [("metadata.a".to_owned(), "wrongFormat")]);
        assert_eq!(reasons(json!({"a b": 1})), [("metadata.a b".to_owned(), "pattern")]);
        assert_eq!(reasons(json!({"a": "x".repeat(1_000)})), [("metadata".to_owned(), "tooLong")]);
    }

    #[test]
    fn a_list_is_found_by_each_of_its_texts_once() {
        let values = values_of(&object(json!({"tags": ["b", "a", "b"], "n": 1, "none": null})));
        let text = |text: &str| ("metadata.tags".to_owned(), FieldValue::Text(text.to_owned()));
        assert_eq!(values, [("metadata.n".to_owned(), FieldValue::Number(1.0)), text("a"), text("b")]);
    }
}
