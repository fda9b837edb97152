//! Values of a node's settings, as the work reads them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use heddle_execution::ports::ServiceFault;
use heddle_kernel::DatabaseName;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Values of the settings, in the type of their kind. Those that are null are as if they were absent, but for those of
/// `needed`, in which there is no null at any depth: what an expression was to narrow, and gave nothing for, is not done
/// without it.
pub(crate) fn read<T: DeserializeOwned>(
    arguments: &Map<String, Value>,
    needed: &[&str],
) -> Result<T, ServiceFault> {
    let lost = needed.iter().find_map(|name| null_in(arguments.get(*name)?, name));
    if let Some(place) = lost {
        return Err(refused(format!("{place}: its value is null, and the node does nothing without it.")));
    }
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    let given: Map<String, Value> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    serde_json::from_value(Value::Object(given))
        .map_err(|error| refused(format!("The settings of the node do not fit: {error}")))
}

/// Place of the first null of a value that has a place itself.
fn null_in(value: &Value, place: &str) -> Option<String> {
    match value {
        Value::Null => Some(place.to_owned()),
        Value::Array(all) => {
            let mut all = all.iter().enumerate();
            all.find_map(|(number, one)| null_in(one, &format!("{place}[{number}]")))
        }
        Value::Object(members) => {
            members.iter().find_map(|(name, one)| null_in(one, &format!("{place}.{name}")))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// A fault that another attempt meets as well.
pub(crate) fn refused(message: impl Into<String>) -> ServiceFault {
    ServiceFault::Refused { message: message.into() }
}

/// Name of a database.
pub(crate) fn database(text: &str) -> Result<DatabaseName, ServiceFault> {
    DatabaseName::parse(text)
        .map_err(|fault| refused(format!("`{text}` is no name of a vector database: {fault}.")))
}

/// Content of a file: text, or bytes in base64.
pub(crate) fn content(text: Option<String>, encoded: Option<&str>) -> Result<Bytes, ServiceFault> {
    match (text, encoded) {
        (Some(text), None) => Ok(Bytes::from(text)),
        (None, Some(encoded)) => match STANDARD.decode(encoded) {
            Ok(bytes) => Ok(Bytes::from(bytes)),
            Err(error) => Err(refused(format!("contentBase64: the content is not in base64: {error}."))),
        },
        (Some(_), Some(_)) => Err(refused("Either `text` or `contentBase64` is needed, not both.")),
        (None, None) => Err(refused("Either `text` or `contentBase64` is needed.")),
    }
}

/// A text, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Texts {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Texts {
    pub(crate) fn all(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Several(texts) => texts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        names: Option<Texts>,
    }

    #[test]
    fn null_is_absent_and_what_does_not_fit_is_told() {
        let read_of = |value: Value| read::<Asked>(value.as_object().unwrap(), &[]);
        assert!(read_of(json!({ "names": null })).unwrap().names.is_none());
        assert_eq!(read_of(json!({ "names": "a" })).unwrap().names.unwrap().all(), ["a"]);
        assert!(matches!(read_of(json!({ "names": 1 })), Err(ServiceFault::Refused { .. })));
        let narrowed = |value: Value| read::<Asked>(value.as_object().unwrap(), &["names"]);
        assert!(narrowed(json!({})).is_ok());
        for (given, place) in [
            (json!({ "names": null }), "names: "),
            (json!({ "names": ["a", null] }), "names[1]: "),
            (json!({ "names": { "candidates": null } }), "names.candidates: "),
        ] {
            let Err(ServiceFault::Refused { message }) = narrowed(given) else {
                panic!("what was to narrow the work is left out")
            };
            assert!(message.starts_with(place), "{message}");
        }
    }

    #[test]
    fn content_is_given_once() {
        assert_eq!(content(None, Some("aGk=")).unwrap(), "hi");
        assert!(content(Some("a".to_owned()), Some("aGk=")).is_err());
        assert!(content(None, None).is_err() && content(None, Some("%")).is_err());
    }
}
