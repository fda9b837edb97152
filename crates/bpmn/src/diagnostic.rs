//! What a reader, a writer or a check has to say about a definition.

use serde::{Deserialize, Serialize};

/// How much a [`Diagnostic`] weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The definition breaks a rule.
    #[default]
    Error,
    /// The definition is usable, but probably not what its author meant.
    Warning,
    /// A fact worth telling.
    Info,
}

/// One finding about a definition.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diagnostic {
    /// How much the finding weighs.
    pub severity: Severity,
    /// Machine word of the rule, camelCase.
    pub code: String,
    /// One sentence for people.
    pub message: String,
    /// The id of the element it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element_id: Option<String>,
    /// JSON path of the place within the definition, such as `bpmn.processes[0].nodes[2]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Clause of the standard that states the rule, such as `10.5.2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// The rule's name in the published catalogue of BPMN constraints, such as `EXT096`; none where the
    /// catalogue has no such rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What to do about it, as one sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Line in the XML of a decision model, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the XML of a decision model, in characters, from 1.
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
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub example: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A place within a text of FEEL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExpressionPosition {
    /// Line in the text, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Diagnostic {
    /// A finding of the given weight, with no place yet.
    pub fn new(severity: Severity, code: impl Into<String>, message: impl Into<String>) -> Self {
        let code = code.into();
        let remedy = crate::remedy::remedy(&code).map(str::to_owned);
        Self { severity, code, message: message.into(), remedy, ..Self::default() }
    }

    /// A broken rule.
    pub fn error(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A doubtful place.
    pub fn warning(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A fact worth telling.
    pub fn info(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, message)
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
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
