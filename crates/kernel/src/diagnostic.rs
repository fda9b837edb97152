//! Findings about a definition or a model: how much they weigh, where, and what to do about them.
//!
//! The crates of the formats make them with their own words (`heddle_bpmn::diagnostic`, `heddle_dmn::diagnostic`), which
//! know the remedy of a code and the places of the format.

use crate::shorten;
use serde::{Deserialize, Serialize};

/// Weight of a [`Diagnostic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// A fact worth telling.
    Info,
    /// The definition is usable, but probably not what its author meant.
    Warning,
    /// The definition breaks a rule.
    #[default]
    Error,
}

/// One finding about a definition.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diagnostic {
    /// Weight of the finding.
    pub severity: Severity,
    /// Machine word of the rule, camelCase.
    pub code: String,
    /// One sentence for people.
    pub message: String,
    /// The id of the element it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element_id: Option<String>,
    /// The name of the decision, function or type that it lies in; the message of a definition's finding has it.
    #[serde(skip)]
    pub element_name: Option<String>,
    /// JSON path of the place within the definition, such as `bpmn.processes[0].nodes[2]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Clause of the standard that states the rule, such as `10.5.2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// The rule's name in a published catalogue of constraints, such as `EXT096`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Remedy, as one sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Line in the XML of a model, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the XML of a model, in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The place within a text of FEEL, when it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<ExpressionPosition>,
    /// Rules of a decision table that it concerns, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<usize>,
    /// Values of a decision table's inputs, by their texts, for which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A place within a text of FEEL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExpressionPosition {
    /// Line in the text, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Diagnostic {
    /// A finding of the given weight, with no place yet and no remedy.
    pub fn new(severity: Severity, code: impl Into<String>, message: impl Into<String>) -> Self {
        let message = shorten::shortened(&message.into()).into_owned();
        Self { severity, code: code.into(), message, ..Self::default() }
    }

    /// The same finding, about this element.
    #[must_use]
    pub fn with_element(mut self, id: impl Into<String>) -> Self {
        self.element_id = Some(id.into());
        self
    }

    /// The same finding, at this JSON path.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same finding, with the standard's clause.
    #[must_use]
    pub fn with_clause(mut self, clause: impl Into<String>) -> Self {
        self.clause = Some(clause.into());
        self
    }

    /// The same finding, with the rule's name in the catalogue of constraints.
    #[must_use]
    pub fn with_rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// The same finding, with what to do about it.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Whether the finding is a broken rule.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_weighs_most() {
        let mut found = [Severity::Warning, Severity::Error, Severity::Info];
        found.sort_unstable();
        assert_eq!(found, [Severity::Info, Severity::Warning, Severity::Error]);
    }
}
