//! JSON Schemas of what connections are told.

use serde_json::{Map, Value, json};

use super::{KeyNeed, Provider};

/// Schema of the members of a connection of a type, but for those that all have (name, limits, waits).
pub(super) fn of(provider: &Provider) -> Value {
    let mut members = Map::new();
    let mut required = Vec::new();
    if provider.family.is_some() {
        let mut url = json!({
            "type": "string", "format": "uri", "maxLength": 2048, "title": "Address",
            "description": "Address to which the paths of the interface are added.",
        });
        match (provider.default_base_url, url.as_object_mut()) {
            (Some(preset), Some(url)) => {
                url.insert("default".to_owned(), json!(preset));
            }
            (None, _) => required.push("baseUrl"),
            (Some(_), None) => {}
        }
        members.insert("baseUrl".to_owned(), url);
        members.insert(
            "headers".to_owned(),
            json!({
                "type": "object", "maxProperties": 20, "title": "Headers",
                "description": "Headers that go with each call; keys don't belong here.",
                "propertyNames": { "pattern": "^[A-Za-z0-9-]{1,100}$" },
                "additionalProperties": { "type": "string", "minLength": 1, "maxLength": 1000 },
            }),
        );
        members.insert(
            "certificateAuthority".to_owned(),
            json!({
                "type": "string", "maxLength": 65_536, "title": "Authority",
                "description": "Certificates (PEM) of authorities that are trusted beside the usual ones.",
            }),
        );
    }
    if provider.takes_api_version {
        members.insert(
            "apiVersion".to_owned(),
            json!({
                "type": "string", "minLength": 1, "maxLength": 40, "pattern": "^[A-Za-z0-9.-]+$",
                "title": "Version of the interface",
                "description": "For addresses by deployment; none for those under `/openai/v1`.",
            }),
        );
    }
    if provider.key != KeyNeed::None {
        members.insert(
            super::SECRET.to_owned(),
            json!({
                "type": "string", "minLength": 1, "maxLength": 8192, "writeOnly": true, "title": "Key",
                "description": "Goes in and never comes out.",
            }),
        );
    }
    if provider.key == KeyNeed::Required {
        required.push(super::SECRET);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": provider.display_name,
        "properties": members,
        "required": required,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ProviderKind;

    #[test]
    fn schemas_hold_and_ask_for_what_the_type_needs() {
        let takes = |kind: ProviderKind, value: &Value| {
            jsonschema::validator_for(&kind.provider().config_schema()).unwrap().is_valid(value)
        };
        assert!(takes(ProviderKind::Openai, &json!({ "apiKey": "k" })));
        assert!(!takes(ProviderKind::Openai, &json!({})));
        assert!(!takes(ProviderKind::Openai, &json!({ "apiKey": "k", "apiVersion": "1" })));
        assert!(!takes(ProviderKind::AzureOpenai, &json!({ "apiKey": "k" })));
        let azure =
            json!({ "apiKey": "k", "baseUrl": "https://a.openai.azure.com", "apiVersion": "2024-10-21" });
        assert!(takes(ProviderKind::AzureOpenai, &azure));
        assert!(takes(ProviderKind::Ollama, &json!({})));
        assert!(takes(ProviderKind::Local, &json!({})));
        assert!(!takes(ProviderKind::Local, &json!({ "baseUrl": "http://a" })));
    }
}
