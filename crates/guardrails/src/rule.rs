//! Rules: checks with their settings, and the tests that they make.

use regex::Regex;
use serde_json::Value;

use crate::model::ModelCheck;
use crate::urls::Hosts;
use crate::words::{Action, Stage};

/// Most bytes of all texts that are searched; more is a hit of `size` under every preset but `off`.
pub(crate) const MOST_BYTES: usize = 8 << 20;

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
    /// Nodes for which it is not made: another check takes its place there, or none.
    pub(crate) except: Vec<String>,
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

impl Rule {
    /// Whether it is made for a node at a stage.
    #[must_use]
    pub fn is_for(&self, node: &str, stage: Stage) -> bool {
        self.stages.contains(&stage)
            && self.nodes.as_ref().is_none_or(|nodes| nodes.iter().any(|own| own == node))
            && !self.except.iter().any(|own| own == node)
    }
}

impl Test {
    /// Whether a node that asks no model has it.
    pub(crate) const fn is_for_any_node(&self) -> bool {
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
