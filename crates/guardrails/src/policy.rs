//! Protection of a definition as it is read: a preset, and checks of its own.

use crate::custom::{self, CustomCheck};
use crate::model::{ModelCheck, ModelRule};
use crate::preset::Preset;
use crate::rule::{Rule, Test};
use crate::words::{Action, Stage};

/// Most checks of a definition's own.
pub(crate) const MOST_CHECKS: usize = 100;

/// Caps that a preset sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Most tokens that one answer of a model may have; none where the node alone says it.
    pub answer_tokens: Option<u32>,
}

/// A fault of protection in a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// Place below `protection`, such as `preset` or `customChecks[2]`.
    pub place: String,
    /// A sentence.
    pub message: String,
}

impl PolicyError {
    pub(crate) fn at(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

/// Protection of a definition.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub(crate) rules: Vec<Rule>,
    pub(crate) custom: Vec<CustomCheck>,
    limits: Limits,
    is_on: bool,
}

impl Policy {
    /// The checks of a preset.
    #[must_use]
    pub fn of(preset: Preset) -> Self {
        let limits = Limits {
            answer_tokens: match preset {
                Preset::Off | Preset::Basic => None,
                Preset::Standard => Some(8_192),
                Preset::Strict => Some(4_096),
            },
        };
        let is_on = preset != Preset::Off;
        Self { rules: preset.rules(), custom: Vec::new(), limits, is_on }
    }

    /// Reads protection: the preset's word, and checks, each the name of one of the catalogue, a FEEL condition behind
    /// `=`, or the text of a JSON object `{id, stage, kind, configuration, action, nodeIds}`.
    ///
    /// # Errors
    /// Every fault with its place.
    pub fn read(preset: Option<&str>, checks: &[String]) -> Result<Self, Vec<PolicyError>> {
        let mut faults = Vec::new();
        let preset = match preset {
            None => Preset::Off,
            Some(word) => Preset::parse(word).unwrap_or_else(|| {
                let message = format!(
                    "There is no protection preset {word:?}: there are off, basic, standard and strict."
                );
                faults.push(PolicyError::at("preset", message));
                Preset::Off
            }),
        };
        let mut policy = Self::of(preset);
        if checks.len() > MOST_CHECKS {
            let message = format!("There are more than {MOST_CHECKS} checks.");
            faults.push(PolicyError::at("customChecks", message));
        }
        for (at, text) in checks.iter().enumerate().take(MOST_CHECKS) {
            match custom::read(text, at) {
                Ok(check) => policy.add(check),
                Err(message) => faults.push(PolicyError::at(format!("customChecks[{at}]"), message)),
            }
        }
        if faults.is_empty() { Ok(policy) } else { Err(faults) }
    }

    /// Adds a check. One that names a check of the catalogue takes the place of the preset's, for the nodes that it names or
    /// for all; one that is not enabled takes those before it away there.
    fn add(&mut self, check: CustomCheck) {
        self.is_on = true;
        if check.is_named {
            let mut before: Vec<&mut Rule> = self.rules.iter_mut().collect();
            if !check.is_enabled {
                let own = self.custom.iter_mut().filter(|own| own.is_named);
                before.extend(own.map(|own| &mut own.rule));
            }
            for rule in before.into_iter().filter(|rule| rule.check == check.rule.check) {
                match &check.rule.nodes {
                    // Of no node.
                    None => rule.nodes = Some(Vec::new()),
                    Some(nodes) => rule.except.extend(nodes.iter().cloned()),
                }
            }
            let is_made = |rule: &Rule| rule.nodes.as_ref().is_none_or(|nodes| !nodes.is_empty());
            self.rules.retain(is_made);
            self.custom.retain(|own| !own.is_named || is_made(&own.rule));
        }
        if check.is_enabled {
            self.custom.push(check);
        }
    }

    /// The checks that are not made at a stage.
    #[must_use]
    pub fn without(&self, stage: Stage) -> Self {
        let mut left = self.clone();
        left.rules.retain(|rule| !rule.stages.contains(&stage));
        left.custom.retain(|own| !own.rule.stages.contains(&stage));
        left
    }

    /// The checks of the preset that are left.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Checks that the definition names.
    #[must_use]
    pub fn custom(&self) -> &[CustomCheck] {
        &self.custom
    }

    /// Caps beside the checks.
    #[must_use]
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether any check is made at all.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether a check is made before or after a node that asks no model.
    #[must_use]
    pub fn concerns(&self, node: &str, stage: Stage) -> bool {
        let wants = |rule: &Rule| rule.is_for(node, stage) && rule.test.is_for_any_node();
        self.rules.iter().any(wants) || self.custom.iter().any(|own| wants(&own.rule))
    }

    /// The checks by models for a node at a stage, in order.
    #[must_use]
    pub fn model_checks(&self, node: &str, stage: Stage) -> Vec<ModelRule> {
        let all = self.rules.iter().map(|rule| NamedRule { id: rule.check, rule });
        let own = self.custom.iter().map(|own| NamedRule { id: &own.id, rule: &own.rule });
        let check = |named: NamedRule<'_>| match &named.rule.test {
            Test::Model(check) if named.rule.is_for(node, stage) => {
                let check = ModelCheck { id: named.id.to_owned(), ..check.clone() };
                Some(ModelRule { check, action: named.rule.action })
            }
            _ => None,
        };
        all.chain(own).filter_map(check).collect()
    }

    /// Whether a call of a tool without an approval of its own waits for somebody, and what becomes of it.
    #[must_use]
    pub fn tool_calls(&self, node: &str) -> Option<Action> {
        let own = self.custom.iter().map(|own| &own.rule);
        let all = self.rules.iter().chain(own);
        let waits = |rule: &&Rule| matches!(rule.test, Test::ToolCalls) && rule.is_for(node, Stage::ToolCall);
        all.filter(waits).map(|rule| rule.action).max()
    }
}

/// A rule under the name that events have for it.
struct NamedRule<'r> {
    id: &'r str,
    rule: &'r Rule,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(checks: &[&str], node: &str) -> Vec<Action> {
        let checks: Vec<String> = checks.iter().map(|own| (*own).to_owned()).collect();
        let policy = Policy::read(Some("strict"), &checks).unwrap();
        let all = policy.model_checks(node, Stage::Input).into_iter();
        all.filter(|rule| rule.check.check == "nsfw").map(|rule| rule.action).collect()
    }

    #[test]
    fn a_check_for_one_node_takes_the_presets_place_there_alone() {
        let flag = r#"{"id": "nsfw", "nodeIds": ["a"], "action": "flag"}"#;
        assert_eq!(actions(&[flag], "a"), [Action::Flag]);
        assert_eq!(actions(&[flag], "b"), [Action::Block]);
        // A name of the catalogue at a check of another kind is no name of the preset's.
        let own =
            r#"{"id": "nsfw", "kind": "llm", "action": "flag", "configuration": {"question": "Rude?"}}"#;
        assert_eq!(actions(&[own], "a"), [Action::Block]);
    }

    #[test]
    fn an_exemption_for_one_node_holds_there_alone() {
        let none = r#"{"id": "nsfw", "nodeIds": ["a"], "enabled": false}"#;
        assert_eq!(actions(&[none], "a"), []);
        assert_eq!(actions(&[none], "b"), [Action::Block]);
        let flag = r#"{"id": "nsfw", "action": "flag"}"#;
        assert_eq!(actions(&[flag, none], "a"), [], "it holds against a check of the definition's own, too");
        assert_eq!(actions(&[flag, none], "b"), [Action::Flag]);
        let everywhere = r#"{"id": "nsfw", "enabled": false}"#;
        assert_eq!(actions(&[everywhere], "b"), []);
        let checks = [r#"{"id": "pii", "nodeIds": ["a"], "enabled": false}"#.to_owned()];
        let policy = Policy::read(None, &[vec!["pii".to_owned()], checks.to_vec()].concat()).unwrap();
        assert!(!policy.concerns("a", Stage::Input) && policy.concerns("b", Stage::Input));
    }
}
