//! Findings about definitions.

use heddle_kernel as kernel;
use serde::Serialize;
use utoipa::ToSchema;

/// Weight of a [`Diagnostic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The definition breaks a rule.
    Error,
    /// The definition is usable, but probably not what its author meant.
    Warning,
    /// A fact worth telling.
    Info,
}

/// One finding about a definition.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
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
    /// Remedy, as one sentence for people.
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
    #[schema(value_type = Option<Object>)]
    pub example: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A place within a text of FEEL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExpressionPosition {
    /// Line in the text, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl From<kernel::Severity> for Severity {
    fn from(severity: kernel::Severity) -> Self {
        match severity {
            kernel::Severity::Error => Self::Error,
            kernel::Severity::Warning => Self::Warning,
            kernel::Severity::Info => Self::Info,
        }
    }
}

impl From<kernel::Diagnostic> for Diagnostic {
    fn from(found: kernel::Diagnostic) -> Self {
        let kernel::Diagnostic { severity, code, message, element_id, element_name: _, path, clause, .. } =
            found;
        let kernel::Diagnostic { rule, remedy, line, column, expression, rules, example, .. } = found;
        let expression = expression.map(|at| ExpressionPosition { line: at.line, column: at.column });
        let severity = severity.into();
        Self {
            severity,
            code,
            message,
            element_id,
            path,
            clause,
            rule,
            remedy,
            line,
            column,
            expression,
            rules,
            example,
        }
    }
}
