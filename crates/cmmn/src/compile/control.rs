//! Item control: the rules of an item, each its own or else that of its definition (clause 5.4.11).

use super::{At, Builder, Node};
use crate::finding::Severity;
use crate::model::{self, ItemControl, PlanItemDefinition};
use crate::plan::{Condition, Control, ParentCompletion, Reactivation, Repeats, Rule};
use heddle_settings::Setting;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Settings of item controls, which items may have as well.
pub(super) const OF_CONTROLS: &[&str] = &["completionNeutral", "parentCompletion", "reactivation"];

impl<'m> Builder<'m> {
    /// The control of an item: each rule of its own, else the one of its definition.
    pub(super) fn control(
        &mut self,
        node: &Node<'m>,
        definition: &'m PlanItemDefinition,
        at: At<'_>,
        defined: &str,
    ) -> Control {
        let mut found = Control::default();
        if let Some(control) = definition.default_control.as_ref() {
            let place = At { id: node.definition_ref, path: defined };
            self.rules_of(control, place, "defaultControl", &mut found);
        }
        if let Some(control) = node.control {
            self.rules_of(control, at, "itemControl", &mut found);
        }
        // Words of an item that has no control of its own.
        if let Some(settings) = node.configuration {
            let own = settings.iter().filter(|(name, _)| OF_CONTROLS.contains(&name.as_str()));
            let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
            self.control_settings(&own, at, &mut found);
        }
        self.default_reactivation(definition, At { id: node.definition_ref, path: defined });
        let controls = [node.control, definition.default_control.as_ref()];
        let is_silent = controls.into_iter().flatten().all(|own| own.manual_activation_rule.is_none());
        let kind = definition.r#type.as_deref().unwrap_or_default();
        let begins = kind == "stage" || kind == "task" || kind.ends_with("Task");
        if self.meaning.manual_by_default && is_silent && begins {
            found.manual = Rule::Yes;
        }
        if !begins && !kind.is_empty() && !matches!(found.manual, Rule::No) {
            let message =
                format!("a manual activation rule has no effect at a {kind}, which occurs by itself");
            self.tell(Severity::Warning, at, ("ruleUnused", "5.4.11.1"), message);
        }
        found
    }

    fn rules_of(&mut self, control: &'m ItemControl, at: At<'_>, member: &str, found: &mut Control) {
        let required = control.required_rule.as_ref();
        let manual = control.manual_activation_rule.as_ref();
        if required.is_some() {
            found.required = self.rule(required, at, &format!("{member}.requiredRule"));
        }
        if manual.is_some() {
            found.manual = self.rule(manual, at, &format!("{member}.manualActivationRule"));
        }
        for settings in
            [required, manual].into_iter().flatten().filter_map(|rule| rule.configuration.as_ref())
        {
            self.no_settings(at, settings, "the rule");
        }
        let repetition = control.repetition_rule.as_ref();
        if let Some(rule) = repetition {
            found.repetition = self.rule(repetition, at, &format!("{member}.repetitionRule"));
            found.repeats = rule.configuration.as_ref().map(|own| self.repeats(own, at)).unwrap_or_default();
        }
        if let Some(settings) = control.configuration.as_ref() {
            self.control_settings(settings, at, found);
        }
    }

    /// A rule: absent is no, one without a condition or with an empty one is yes.
    fn rule(&mut self, rule: Option<&'m model::Rule>, at: At<'_>, member: &str) -> Rule {
        let Some(rule) = rule else { return Rule::No };
        if Self::text(rule.condition.as_ref()).is_none() {
            return Rule::Yes;
        }
        match self.condition(at, member, rule.condition.as_ref(), rule.context_ref.as_deref()) {
            // Refused and told of: the plan is not used.
            None => Rule::No,
            Some(condition) => when(condition),
        }
    }

    /// The rule that the listener for the reactivation of a case has for all items.
    fn default_reactivation(&mut self, definition: &PlanItemDefinition, at: At<'_>) {
        let given = |name: &str| {
            definition.configuration.as_ref().and_then(|own| own.get(name)).filter(|own| !own.is_null())
        };
        let Some(rule) = given("reactivation") else { return };
        let member = "configuration.reactivation";
        if given("listenerType").and_then(Value::as_str) == Some("reactivate") {
            let found = self.reactivation(rule, at, member);
            self.plan.reactivation = Some(found);
        } else {
            let message = format!(
                "{member}: beside items, whose own control has it, only a listener for the reactivation of the case has it"
            );
            self.error(at, ("settingUnused", "5.4.11"), message);
        }
    }

    /// Rules of what becomes of an item in a case that is reactivated.
    fn reactivation(&mut self, value: &Value, at: At<'_>, member: &str) -> Reactivation {
        let mut found = Reactivation::default();
        let Some(members) = value.as_object() else {
            self.error(at, ("wrongSetting", "5.4.11"), format!("{member}: must be an object of conditions"));
            return found;
        };
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            let member = format!("{member}.{name}");
            let rule = match name.as_str() {
                "activateCondition" => &mut found.activate,
                "ignoreCondition" => &mut found.ignore,
                "defaultCondition" => &mut found.anew,
                _ => {
                    let message = format!("{member}: there is no such setting");
                    self.error(at, ("unknownSetting", "5.4.11"), message);
                    continue;
                }
            };
            *rule = match value {
                Value::Bool(true) => Rule::Yes,
                Value::Bool(false) => Rule::No,
                Value::String(text) if text.trim().is_empty() => Rule::No,
                Value::String(text) => self.text_condition(at, &member, text).map(when).unwrap_or_default(),
                Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    let message = format!("{member}: must be true, false or a condition");
                    self.error(at, ("wrongSetting", "5.4.11"), message);
                    Rule::No
                }
            };
        }
        found
    }

    /// Settings of a repetition rule.
    fn repeats(&mut self, settings: &Map<String, Value>, at: At<'_>) -> Repeats {
        let mut found = Repeats::default();
        for (name, value) in settings.iter().filter(|(_, value)| !value.is_null()) {
            let member = format!("repetitionRule.configuration.{name}");
            match name.as_str() {
                "maxInstanceCount" => match most(value) {
                    Ok(most) => found.max_instances = most,
                    Err(()) => {
                        let message = format!("{member}: must be a whole number from 1 on, or `unlimited`");
                        self.error(at, ("wrongSetting", "5.4.11"), message);
                    }
                },
                "collection" => found.collection = self.collection(value, at, &member),
                "elementVariable" => found.element_variable = self.name(value, at, &member),
                "elementIndexVariable" => found.index_variable = self.name(value, at, &member),
                "counterVariable" => found.counter_variable = self.name(value, at, &member),
                "repeatOnStandardEvent" => match value.as_str().map(str::trim) {
                    // An item without an entry criterion comes again when it ends.
                    Some("" | "complete" | "occur") => {}
                    _ => {
                        let message = format!(
                            "{member}: an item comes again on `complete` and `occur` alone, not on {value}"
                        );
                        self.error(at, ("unsupportedSetting", "5.4.11"), message);
                    }
                },
                _ => {
                    self.error(
                        at,
                        ("unknownSetting", "5.4.11"),
                        format!("{member}: there is no such setting"),
                    );
                }
            }
        }
        if found.collection.is_none() && found.element_variable.is_some() {
            let message =
                "repetitionRule.configuration.elementVariable: only an item of a `collection` has one";
            self.error(at, ("settingUnused", "5.4.11"), message);
        }
        found
    }

    /// The collection of a repetition: the name of a variable, a list, or an expression.
    fn collection(&mut self, value: &Value, at: At<'_>, member: &str) -> Option<Setting> {
        let read = match super::translated(value) {
            Ok(Value::String(text)) if !text.trim_start().starts_with('=') => {
                Setting::read(&format!("={}", text.trim()).into())
            }
            Ok(value @ (Value::String(_) | Value::Array(_))) => Setting::read(&value),
            Ok(_) => Err("must be the name of a variable, a list, or an expression".to_owned()),
            Err(error) => Err(error),
        };
        match read {
            Ok(found) => Some(found),
            Err(error) => {
                self.error(at, ("wrongSetting", "5.4.11"), format!("{member}: {error}"));
                None
            }
        }
    }

    /// The name of a variable.
    pub(super) fn name(&mut self, value: &Value, at: At<'_>, member: &str) -> Option<Arc<str>> {
        let found = value.as_str().map(str::trim).filter(|name| !name.is_empty()).map(Arc::from);
        if found.is_none() {
            self.error(at, ("wrongSetting", "5.4"), format!("{member}: must be the name of a variable"));
        }
        found
    }

    fn control_settings(&mut self, settings: &Map<String, Value>, at: At<'_>, found: &mut Control) {
        for (name, value) in settings.iter().filter(|(_, value)| !value.is_null()) {
            let member = format!("itemControl.configuration.{name}");
            match (name.as_str(), value) {
                ("completionNeutral", Value::Bool(own)) => {
                    found.completion_neutral = Some(if *own { Rule::Yes } else { Rule::No });
                }
                ("completionNeutral", Value::String(text)) => {
                    let condition = self.text_condition(at, &member, text);
                    found.completion_neutral = condition.map(|own| Rule::When(Box::new(own)));
                }
                ("parentCompletion", Value::String(word)) => match parent_completion(word) {
                    Some(own) => found.parent_completion = own,
                    None => {
                        let message = format!("{member}: {word:?} is not executed");
                        self.error(at, ("unsupportedSetting", "5.4.11"), message);
                    }
                },
                ("completionNeutral" | "parentCompletion", _) => {
                    self.error(at, ("wrongSetting", "5.4.11"), format!("{member}: must be a text"));
                }
                ("reactivation", rules) => {
                    found.reactivation = Some(Box::new(self.reactivation(rules, at, &member)));
                }
                _ => {
                    self.error(
                        at,
                        ("unknownSetting", "5.4.11"),
                        format!("{member}: there is no such setting"),
                    );
                }
            }
        }
    }
}

/// The rule of a condition, which its text may decide.
fn when(condition: Condition) -> Rule {
    match condition.expression.constant() {
        Some(heddle_feel::Value::Boolean(true)) => Rule::Yes,
        Some(heddle_feel::Value::Boolean(false)) => Rule::No,
        Some(_) | None => Rule::When(Box::new(condition)),
    }
}

/// The most instances at once that a setting allows; none is any number.
fn most(value: &Value) -> Result<Option<u32>, ()> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|own| u32::try_from(own).ok()),
        Value::String(text) if matches!(text.trim(), "unlimited" | "n") => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|own| *own > 0)
    .map(Some)
    .ok_or(())
}

fn parent_completion(word: &str) -> Option<ParentCompletion> {
    Some(match word.trim() {
        "" | "default" | "standard" => ParentCompletion::Standard,
        "ignore" => ParentCompletion::Ignore,
        "ignoreIfAvailable" => ParentCompletion::IgnoreIfAvailable,
        "ignoreAfterFirstCompletion" => ParentCompletion::IgnoreAfterFirstCompletion,
        "ignoreIfAvailableOrEnabled" => ParentCompletion::IgnoreIfAvailableOrEnabled,
        "ignoreAfterFirstCompletionIfAvailableOrEnabled" => {
            ParentCompletion::IgnoreAfterFirstCompletionIfAvailableOrEnabled
        }
        _ => return None,
    })
}
