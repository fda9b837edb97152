//! JSON Schemas of types, made from their table.

use serde_json::{Map, Value, json};

use super::form::{HOST_MAX, URL_MAX};
use super::{ConnectionType, Field, Need, Preset, SecretField, SecretForm, Shape};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

pub(super) fn of_config(of: &ConnectionType) -> Value {
    let mut properties = Map::new();
    for field in of.config {
        properties.insert(field.name.to_owned(), member(field));
    }
    let mut rules = Vec::new();
    for field in of.config {
        match field.need {
            Need::Always | Need::Optional => {}
            Need::With(other, words) => {
                let holds = json!({ "required": [field.name] });
                rules.push(rule(of, field, &Condition { other, words }, Some(holds)));
            }
            Need::MayWith(other, words) => rules.push(rule(of, field, &Condition { other, words }, None)),
            Need::Beside(other) => rules.push(json!({
                "if": { "required": [other] },
                "then": { "required": [field.name] },
                "else": { "properties": { (field.name): false } },
            })),
        }
    }
    let needed = of.config.iter().filter(|field| field.need == Need::Always).map(|field| field.name);
    let mut schema = json!({
        "$schema": DRAFT,
        "title": of.title,
        "type": "object",
        "properties": properties,
        "required": needed.collect::<Vec<_>>(),
        "additionalProperties": false,
    });
    if let (Some(schema), false) = (schema.as_object_mut(), rules.is_empty()) {
        schema.insert("allOf".to_owned(), rules.into());
    }
    schema
}

/// Another member and the words on which a member depends.
struct Condition {
    other: &'static str,
    words: &'static [&'static str],
}

fn rule(of: &ConnectionType, field: &Field, condition: &Condition, then: Option<Value>) -> Value {
    let Condition { other, words } = condition;
    let preset = of.field(other).and_then(|other| other.preset).and_then(Preset::text);
    // What is left out counts as its preset.
    let required: &[&str] =
        if preset.is_some_and(|word| words.contains(&word)) { &[] } else { std::slice::from_ref(other) };
    let mut rule = json!({
        "if": { "properties": { (*other): { "enum": words } }, "required": required },
        "else": { "properties": { (field.name): false } },
    });
    if let (Some(rule), Some(then)) = (rule.as_object_mut(), then) {
        rule.insert("then".to_owned(), then);
    }
    rule
}

fn member(field: &Field) -> Value {
    let mut member = shape(field.shape);
    if let Some(member) = member.as_object_mut() {
        member.insert("description".to_owned(), field.description.into());
        if let Some(value) = field.preset {
            member.insert("default".to_owned(), preset(value));
        }
    }
    member
}

/// A preset as JSON.
pub(super) fn preset(value: Preset) -> Value {
    match value {
        Preset::Text(text) => text.into(),
        Preset::Port(port) => port.into(),
    }
}

fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Line(most) => json!({ "type": "string", "minLength": 1, "maxLength": most }),
        Shape::Token(most) => {
            json!({ "type": "string", "minLength": 1, "maxLength": most, "pattern": "^[!-~]+$" })
        }
        Shape::Header => {
            json!({ "type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[A-Za-z0-9-]+$" })
        }
        Shape::Url { .. } | Shape::Origin => {
            json!({ "type": "string", "format": "uri", "pattern": "^https?://", "maxLength": URL_MAX })
        }
        Shape::Path => json!({ "type": "string", "pattern": "^/([^/]|$)", "maxLength": URL_MAX }),
        Shape::Host => json!({ "type": "string", "minLength": 1, "maxLength": HOST_MAX }),
        Shape::Port => json!({ "type": "integer", "minimum": 1, "maximum": 65_535 }),
        Shape::Word(words) => json!({ "type": "string", "enum": words }),
        Shape::Tokens(most) => json!({
            "type": "array",
            "maxItems": most,
            "items": { "type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$" },
        }),
        Shape::Certificates => {
            json!({ "type": "string", "pattern": "-----BEGIN CERTIFICATE-----", "maxLength": 65_536 })
        }
        Shape::Mailbox => json!({ "type": "string", "format": "email", "maxLength": 254 }),
    }
}

pub(super) fn of_secrets(of: &ConnectionType) -> Value {
    let mut properties = Map::new();
    for secret in of.secrets {
        properties.insert(secret.name.to_owned(), secret_member(secret));
    }
    let needed = of.secrets.iter().filter(|secret| secret.need == Need::Always).map(|secret| secret.name);
    json!({
        "$schema": DRAFT,
        "title": format!("Secrets: {}", of.title),
        "type": "object",
        "properties": properties,
        "required": needed.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

fn secret_member(secret: &SecretField) -> Value {
    let description = match secret.need {
        Need::Always | Need::Optional => secret.description.to_owned(),
        Need::With(other, words) => {
            format!("{} Needed when `{other}` is {}, else refused.", secret.description, words.join(" or "))
        }
        Need::MayWith(other, words) => {
            format!("{} Only when `{other}` is {}.", secret.description, words.join(" or "))
        }
        Need::Beside(other) => {
            format!("{} Needed when there is a `{other}`, else refused.", secret.description)
        }
    };
    let form = match secret.form {
        SecretForm::Text => json!({ "minLength": 1, "maxLength": 8192 }),
        SecretForm::SigningKey => json!({ "pattern": "^whsec_[A-Za-z0-9+/]+=*$", "maxLength": 100 }),
    };
    let mut member = json!({ "type": "string", "writeOnly": true, "description": description });
    if let (Some(member), Value::Object(form)) = (member.as_object_mut(), form) {
        member.extend(form);
    }
    member
}
