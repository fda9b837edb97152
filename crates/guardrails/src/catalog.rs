//! Catalogue of what protection there is: presets, and checks with their stages, engines, actions and settings.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Value, json};

use crate::personal::KINDS;
use crate::preset::Preset;
use crate::words::{Action, Engine, Stage};

/// A check of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Name of the check in definitions and events.
    pub id: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// A sentence on what it finds.
    pub description: &'static str,
    /// Stages at which it can be made.
    pub stages: Vec<Stage>,
    /// Engine of the check.
    pub engine: Engine,
    /// Actions that it can have.
    pub actions: Vec<Action>,
    /// Weight, from 0 to 1, from which on a hit counts, where the check has one.
    pub default_threshold: Option<f64>,
    /// JSON Schema of its `configuration`.
    pub configuration_schema: Value,
}

/// Use that a preset makes of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PresetRule {
    /// The check.
    pub check_id: String,
    /// Stages at which it is made.
    pub stages: Vec<Stage>,
    /// Action on a hit.
    pub action: Action,
}

/// A preset of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PresetEntry {
    /// Name of the preset.
    pub id: &'static str,
    /// A sentence on it.
    pub description: &'static str,
    /// Checks of the preset, in the order in which they are made.
    pub rules: Vec<PresetRule>,
}

/// The catalogue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Catalog {
    /// Presets, the mildest first.
    pub presets: Vec<PresetEntry>,
    /// Checks, in the order in which they are made.
    pub checks: Vec<Entry>,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(entries);

/// The checks, in the order in which they are made: deterministic ones first.
#[must_use]
pub fn checks() -> &'static [Entry] {
    &ENTRIES
}

/// The check of this name.
#[must_use]
pub fn check(id: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|own| own.id == id)
}

/// The whole catalogue.
#[must_use]
pub fn catalog() -> Catalog {
    let preset = |preset: Preset| PresetEntry {
        id: preset.as_str(),
        description: preset.description(),
        rules: preset
            .rules()
            .into_iter()
            .map(|rule| PresetRule {
                check_id: rule.check.to_owned(),
                stages: rule.stages,
                action: rule.action,
            })
            .collect(),
    };
    Catalog { presets: Preset::ALL.into_iter().map(preset).collect(), checks: ENTRIES.clone() }
}

fn object(properties: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn list(description: &str) -> Value {
    json!({ "type": "array", "maxItems": 1000, "items": { "type": "string" }, "description": description })
}

fn found(id: &'static str, title: &'static str, description: &'static str, schema: Value) -> Entry {
    Entry {
        id,
        title,
        description,
        stages: Stage::ALL.to_vec(),
        engine: Engine::Deterministic,
        actions: Action::ALL.to_vec(),
        default_threshold: None,
        configuration_schema: schema,
    }
}

fn told(id: &'static str, title: &'static str, description: &'static str, schema: Value) -> Entry {
    // What is no part of a text cannot be taken out of it.
    let actions = Action::ALL.into_iter().filter(|action| *action != Action::Redact).collect();
    Entry { actions, ..found(id, title, description, schema) }
}

fn asked(id: &'static str, title: &'static str, description: &'static str, extra: &Value) -> Entry {
    let mut properties = json!({
        "model": { "type": "string", "description": "Alias or id of the deployment that is asked; else the node's own." },
        "threshold": { "type": "number", "minimum": 0, "maximum": 1 },
    });
    if let (Some(all), Some(more)) = (properties.as_object_mut(), extra.as_object()) {
        all.extend(more.clone());
    }
    Entry {
        engine: Engine::Model,
        stages: vec![Stage::Input, Stage::Output],
        default_threshold: Some(0.7),
        ..told(id, title, description, object(&properties))
    }
}

fn entries() -> Vec<Entry> {
    let threshold = json!({ "threshold": { "type": "number", "minimum": 0, "maximum": 1 } });
    let bytes = json!({ "maxBytes": { "type": "integer", "minimum": 1, "maximum": 8_388_608 } });
    let kinds = json!({ "kinds": { "type": "array", "items": { "enum": KINDS } } });
    let hosts = json!({
        "allowed": list("Hosts that addresses may name; `*.example.org` is every host below. Absent is any host."),
        "denied": list("Hosts that they may not name."),
    });
    let words = json!({ "words": list("Words and phrases, without regard to case, accents and disguise.") });
    let schema = json!({ "schema": { "type": "object", "description": "JSON Schema that the value is held against." } });
    let regex = json!({ "pattern": { "type": "string", "maxLength": 4096, "description": "A regular expression without references and look-around." } });
    let feel = json!({ "condition": { "type": "string", "description": "FEEL that is true for a violation, over `text`, `value`, `stage`, `node` and `variables`." } });
    let topics = json!({ "topics": list("Topics that the text may be about.") });
    let question = json!({ "question": { "type": "string", "maxLength": 4096, "description": "What the model decides: yes is a violation." } });
    let mut all = vec![
        told("size", "Size", "Texts together larger than a number of bytes.", object(&bytes)),
        found(
            "secretKeys",
            "Secret keys",
            "Keys of known formats, by checksum or entropy; private keys, tokens, passwords.",
            object(&json!({})),
        ),
        found(
            "pii",
            "Personal data",
            "Cards, accounts and national numbers by their check digits; telephone numbers and addresses of mail.",
            object(&kinds),
        ),
        Entry {
            default_threshold: Some(0.8),
            ..found(
                "promptInjection",
                "Prompt injection",
                "Orders to a model that stand in a text, in eight languages, also in disguise.",
                object(&threshold),
            )
        },
        found(
            "urls",
            "Addresses",
            "Addresses of hosts that are not allowed, and addresses that run or hold content.",
            object(&hosts),
        ),
        found("keywords", "Keywords", "Words of a list.", object(&words)),
        found("regex", "Regular expression", "What a pattern finds, in linear time.", object(&regex)),
        told("schema", "Schema", "Values that do not fit a JSON Schema.", object(&schema)),
        told("feel", "Condition", "Values for which a condition in FEEL is true.", object(&feel)),
        asked("topicalAlignment", "Topic", "Texts about something else.", &topics),
        asked("nsfw", "Unsafe content", "Sexual, violent, hateful or self-harming content.", &json!({})),
        asked("jailbreak", "Jailbreak", "Attempts to make a model act against its instructions.", &json!({})),
        asked(
            "grounding",
            "Grounding",
            "Statements that what the node was given does not support.",
            &json!({}),
        ),
        asked("llm", "Question to a model", "What a question of your own asks for.", &question),
    ];
    all.push(Entry {
        stages: vec![Stage::ToolCall],
        actions: vec![Action::Flag, Action::Review, Action::Block],
        ..told(
            "toolCalls",
            "Calls of tools",
            "Every call of a tool that has no approval of its own.",
            object(&json!({})),
        )
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_names_checks_that_there_are_with_stages_and_actions_that_they_have() {
        let catalog = catalog();
        assert_eq!(catalog.presets.len(), 4);
        let mut before = 0;
        for preset in &catalog.presets {
            assert!(preset.rules.len() >= before, "a stricter preset has no fewer checks");
            before = preset.rules.len();
            for rule in &preset.rules {
                let entry = check(&rule.check_id).unwrap();
                assert!(entry.actions.contains(&rule.action), "{rule:?}");
                assert!(rule.stages.iter().all(|stage| entry.stages.contains(stage)), "{rule:?}");
            }
        }
        let engines: Vec<_> =
            catalog.checks.iter().take_while(|own| own.engine == Engine::Deterministic).collect();
        assert!(engines.len() >= 9, "what asks a model stands behind what does not");
    }
}
