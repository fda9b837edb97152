//! Presets of protection, and the rules that each makes.

use crate::model::ModelCheck;
use crate::personal::KINDS;
use crate::rule::{Rule, Test};
use crate::urls::Hosts;
use crate::words::{Action, Stage};

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

    /// Rules of the preset, in the order in which their checks are made.
    pub(crate) fn rules(self) -> Vec<Rule> {
        use Stage::{Input, Output, ToolCall, ToolResult};
        let all = Stage::ALL;
        let is_strict = self == Self::Strict;
        // Strict ends what the others take out.
        let removal = if is_strict { Action::Block } else { Action::Redact };
        let mut rules = Vec::new();
        if self == Self::Off {
            return rules;
        }
        rules.push(rule("secretKeys", &all, removal, Test::Secrets));
        if self != Self::Basic {
            let most = if is_strict { 256 << 10 } else { 1 << 20 };
            rules.insert(0, rule("size", &all, Action::Block, Test::Size(most)));
            rules.push(rule("pii", &all, removal, Test::Personal(KINDS.to_vec())));
            let threshold = if is_strict { 0.7 } else { 0.8 };
            rules.push(rule(
                "promptInjection",
                &[Input, ToolResult],
                Action::Block,
                Test::Injection(threshold),
            ));
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
}

fn rule(check: &'static str, stages: &[Stage], action: Action, test: Test) -> Rule {
    Rule { check, stages: stages.to_vec(), action, nodes: None, except: Vec::new(), test }
}
