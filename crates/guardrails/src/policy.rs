//! Protection of a definition as it is read: a preset, and checks of its own.

use regex::Regex;
use serde_json::Value;

use crate::catalog;
use crate::custom::{self, CustomCheck};
use crate::model::ModelCheck;
use crate::personal::KINDS;
use crate::text::Folded;
use crate::urls::Hosts;
use crate::words::{Action, Engine, Stage};

/// Most checks of a definition's own.
pub(crate) const MOST_CHECKS: usize = 100;
/// Most bytes of all texts that are searched; more is a hit of `size` under every preset but `off`.
pub(crate) const MOST_BYTES: usize = 8 << 20;

/// Preset of protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preset {
    /// No checks but those that the definition names.
    #[default]
    Off,
    /// Secrets and schemas.
    Basic,
    /// Besides personal data, orders to models, addresses and caps.
    Standard,
    /// Besides topics, unsafe content, grounding and calls of tools; what others take out ends the node.
    Strict,
}

impl Preset {
    /// Every preset, the mildest first.
    pub const ALL: [Self; 4] = [Self::Off, Self::Basic, Self::Standard, Self::Strict];

    /// The word in definitions.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Basic => "basic",
            Self::Standard => "standard",
            Self::Strict => "strict",
        }
    }

    /// The preset of this word; none for another one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.as_str() == word)
    }

    pub(crate) const fn description(self) -> &'static str {
        match self {
            Self::Off => "Only the checks that the definition names.",
            Self::Basic => "Secrets are taken out; values that do not fit a schema end the node.",
            Self::Standard => {
                "Secrets and personal data are taken out; orders to models, addresses and sizes are bounded."
            }
            Self::Strict => {
                "What is found ends the node; models check topics, unsafe content and grounding; calls of tools wait."
            }
        }
    }
}

/// Caps that a preset sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Most tokens that one answer of a model may have; none where the node alone says it.
    pub answer_tokens: Option<u32>,
}

/// A check with its settings.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Name in the catalogue.
    pub check: &'static str,
    /// Stages at which it is made.
    pub stages: Vec<Stage>,
    /// Action on a hit.
    pub action: Action,
    /// Nodes for which it is made; none for all.
    pub nodes: Option<Vec<String>>,
    pub(crate) test: Test,
}

/// The test that a rule makes.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Size(usize),
    Secrets,
    Personal(Vec<&'static str>),
    Injection(f64),
    Urls(Hosts),
    /// Words, folded.
    Keywords(Option<Regex>),
    Regex(Regex),
    Schema(Option<Value>),
    Feel(heddle_feel::Expression),
    Model(ModelCheck),
    ToolCalls,
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
        Self { rules: preset_rules(preset), custom: Vec::new(), limits, is_on }
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

    /// Adds a check. One that names a check of the catalogue takes the place of the preset's.
    fn add(&mut self, check: CustomCheck) {
        self.is_on = true;
        if check.is_named && check.rule.nodes.is_none() {
            self.rules.retain(|rule| rule.check != check.rule.check);
        }
        if check.is_enabled {
            self.custom.push(check);
        }
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
    pub fn model_checks(&self, node: &str, stage: Stage) -> Vec<ModelCheck> {
        let all = self.rules.iter().map(|rule| NamedRule { id: rule.check, rule });
        let own = self.custom.iter().map(|own| NamedRule { id: &own.id, rule: &own.rule });
        let check = |named: NamedRule<'_>| match &named.rule.test {
            Test::Model(check) if named.rule.is_for(node, stage) => {
                Some(ModelCheck { id: named.id.to_owned(), ..check.clone() })
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

impl Rule {
    /// Whether it is made for a node at a stage.
    #[must_use]
    pub fn is_for(&self, node: &str, stage: Stage) -> bool {
        self.stages.contains(&stage)
            && self.nodes.as_ref().is_none_or(|nodes| nodes.iter().any(|own| own == node))
    }
}

impl Test {
    /// Whether a node that asks no model has it.
    const fn is_for_any_node(&self) -> bool {
        match self {
            Self::Size(_)
            | Self::Secrets
            | Self::Personal(_)
            | Self::Injection(_)
            | Self::Urls(_)
            | Self::Keywords(_)
            | Self::Regex(_)
            | Self::Feel(_) => true,
            Self::Schema(schema) => schema.is_some(),
            // The model of a preset's check is the node's own.
            Self::Model(check) => check.model.is_some(),
            Self::ToolCalls => false,
        }
    }
}

fn rule(check: &'static str, stages: &[Stage], action: Action, test: Test) -> Rule {
    Rule { check, stages: stages.to_vec(), action, nodes: None, test }
}

fn preset_rules(preset: Preset) -> Vec<Rule> {
    use Stage::{Input, Output, ToolCall, ToolResult};
    let all = Stage::ALL;
    let is_strict = preset == Preset::Strict;
    // Strict ends what the others take out.
    let removal = if is_strict { Action::Block } else { Action::Redact };
    let mut rules = Vec::new();
    if preset == Preset::Off {
        return rules;
    }
    rules.push(rule("secretKeys", &all, removal, Test::Secrets));
    if preset != Preset::Basic {
        let most = if is_strict { 256 << 10 } else { 1 << 20 };
        rules.insert(0, rule("size", &all, Action::Block, Test::Size(most)));
        rules.push(rule("pii", &all, removal, Test::Personal(KINDS.to_vec())));
        let threshold = if is_strict { 0.7 } else { 0.8 };
        rules.push(rule("promptInjection", &[Input, ToolResult], Action::Block, Test::Injection(threshold)));
        rules.push(rule("urls", &[Output, ToolCall], removal, Test::Urls(Hosts::default())));
    }
    rules.push(rule("schema", &[Output, ToolCall], Action::Block, Test::Schema(None)));
    if is_strict {
        let model = |id: &str| Test::Model(ModelCheck::preset(id));
        rules.push(rule("topicalAlignment", &[Input], Action::Block, model("topicalAlignment")));
        rules.push(rule("nsfw", &[Input, Output], Action::Block, model("nsfw")));
        rules.push(rule("grounding", &[Output], Action::Block, model("grounding")));
        rules.push(rule("toolCalls", &[ToolCall], Action::Review, Test::ToolCalls));
    }
    rules
}

/// The usual rule of a check of the catalogue, without settings.
pub(crate) fn usual(check: &'static str) -> Rule {
    let entry = catalog::check(check);
    let mut stages = entry.map(|entry| entry.stages.clone()).unwrap_or_default();
    if check == "promptInjection" {
        stages.retain(|stage| matches!(stage, Stage::Input | Stage::ToolResult));
    }
    let redacts = matches!(check, "secretKeys" | "pii" | "urls");
    let action = match check {
        "toolCalls" => Action::Review,
        _ if redacts => Action::Redact,
        _ => Action::Block,
    };
    let is_asked = entry.is_some_and(|entry| entry.engine == Engine::Model);
    let test = match check {
        "size" => Test::Size(1 << 20),
        "secretKeys" => Test::Secrets,
        "pii" => Test::Personal(KINDS.to_vec()),
        "promptInjection" => Test::Injection(0.8),
        "urls" => Test::Urls(Hosts::default()),
        "keywords" => Test::Keywords(None),
        "toolCalls" => Test::ToolCalls,
        _ if is_asked => Test::Model(ModelCheck::preset(check)),
        _ => Test::Schema(None),
    };
    Rule { check, stages, action, nodes: None, test }
}

/// The pattern of a list of words, folded as texts are.
pub(crate) fn words(words: &[String]) -> Option<Regex> {
    let part = |word: &String| {
        let own = Folded::of(word).text;
        let own = own.trim();
        (!own.is_empty()).then(|| {
            // Letters of scripts without spaces have no bounds of words.
            let bound = |letter: Option<char>| letter.is_some_and(|own| own.is_ascii_alphanumeric());
            let before = if bound(own.chars().next()) { r"\b" } else { "" };
            let behind = if bound(own.chars().next_back()) { r"\b" } else { "" };
            format!("{before}{}{behind}", regex::escape(own))
        })
    };
    let parts: Vec<String> = words.iter().filter_map(part).collect();
    if parts.is_empty() {
        return None;
    }
    regex::RegexBuilder::new(&parts.join("|")).size_limit(4 << 20).build().ok()
}
