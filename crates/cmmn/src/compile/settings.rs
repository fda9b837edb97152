//! Settings of definitions and items: an item's own stand before its definition's; JUEL in them becomes FEEL.

use super::{At, Builder};
use heddle_settings::juel;
use serde_json::{Map, Value};

/// Most bytes of settings in a plan, counted once for every item.
const MAX_BYTES: u64 = 64 << 20;

/// Settings whose texts are not expressions, or are read with their languages.
const AS_WRITTEN: &[&str] = &[
    "availableCondition",
    "form",
    "formKey",
    "headers",
    "listeners",
    "reactivation",
    "script",
    "scriptFormat",
    "category",
    "retry",
];

impl Builder<'_> {
    /// The settings of an item with those of its definition, as FEEL.
    pub(super) fn merged(
        &mut self,
        at: At<'_>,
        item: Option<&Map<String, Value>>,
        definition: Option<&Map<String, Value>>,
    ) -> Map<String, Value> {
        let mut found = definition.cloned().unwrap_or_default();
        found.extend(item.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
        found.retain(|_, value| !value.is_null());
        // A definition may stand in the plan many times, and each item has the settings for itself.
        self.bytes += found.values().map(heddle_feel::size_of_json).sum::<u64>();
        if self.bytes > MAX_BYTES {
            self.too_much(at);
            return Map::new();
        }
        for (name, value) in &mut found {
            // The type of a job may name code in the other engine's words.
            let names_code = name == "jobType" && !value.as_str().is_some_and(begins_with_juel);
            if AS_WRITTEN.contains(&name.as_str()) || names_code {
                continue;
            }
            match translated(value) {
                Ok(own) => *value = own,
                Err(error) => {
                    let message = format!("configuration.{name}: {error}");
                    self.error(at, ("expressionLanguage", "5.1.6"), message);
                }
            }
        }
        found
    }

    /// Tells of settings where there are none.
    pub(super) fn no_settings(&mut self, at: At<'_>, settings: &Map<String, Value>, what: &str) {
        self.only_settings(at, settings, what, &[]);
    }

    /// Tells of settings that an element has beside those that it knows.
    pub(super) fn only_settings(
        &mut self,
        at: At<'_>,
        settings: &Map<String, Value>,
        what: &str,
        known: &[&[&str]],
    ) {
        for (name, _) in settings.iter().filter(|(_, value)| !value.is_null()) {
            if !known.iter().any(|list| list.contains(&name.as_str())) {
                let message = format!("configuration.{name}: {what} has no such setting");
                self.error(at, ("unknownSetting", "5.4"), message);
            }
        }
    }
}

fn begins_with_juel(text: &str) -> bool {
    text.starts_with("${") || text.starts_with("#{")
}

/// A setting in which every text with JUEL in it has become FEEL behind `=`.
///
/// # Errors
/// When a text is not translated.
pub(crate) fn translated(value: &Value) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) if juel::is_juel(text) => {
            let feel = juel::value(text).map_err(|error| {
                format!("`{}` is JUEL and is not translated to FEEL: {error}", text.trim())
            })?;
            Value::String(format!("={feel}"))
        }
        Value::Array(items) => Value::Array(items.iter().map(translated).collect::<Result<_, _>>()?),
        Value::Object(members) => {
            let members =
                members.iter().map(|(name, value)| Ok::<_, String>((name.clone(), translated(value)?)));
            Value::Object(members.collect::<Result<_, _>>()?)
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}
