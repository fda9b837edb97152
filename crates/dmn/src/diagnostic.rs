//! What reading, compiling and analysing have to say about a model.

use serde::{Deserialize, Serialize};

use crate::model::At;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = DmnSeverity))]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// A fact worth telling.
    Info,
    /// A doubtful place.
    Warning,
    /// A broken rule: what it concerns is null when evaluated.
    #[default]
    Error,
}

/// A finding about a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = DmnDiagnostic))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diagnostic {
    /// How much it weighs.
    pub severity: Severity,
    /// Machine word, camelCase.
    pub code: String,
    /// One sentence for people.
    pub message: String,
    /// Id of the nearest element that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element_id: Option<String>,
    /// Name of the decision, function or type that it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element_name: Option<String>,
    /// Line in the XML, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the XML in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The place within the text of FEEL, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<ExpressionPosition>,
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
    /// Byte offset in the text.
    pub offset: usize,
}

impl Diagnostic {
    /// A finding without a place.
    #[must_use]
    pub fn new(severity: Severity, code: &str, message: impl Into<String>) -> Self {
        Self { severity, code: code.to_owned(), message: message.into(), ..Self::default() }
    }

    /// A broken rule.
    #[must_use]
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A doubtful place.
    #[must_use]
    pub fn warning(code: &str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// The same about that element.
    #[must_use]
    pub fn about(mut self, id: Option<&String>, name: Option<&String>, at: At) -> Self {
        self.element_id = id.cloned();
        self.element_name = name.cloned();
        self.at(at)
    }

    /// The same at that place.
    #[must_use]
    pub fn at(mut self, at: At) -> Self {
        if at.line > 0 {
            (self.line, self.column) = (Some(at.line), Some(at.column));
        }
        self
    }

    /// The same within a text of FEEL that begins at `start`.
    #[must_use]
    pub fn within(mut self, start: At, place: ExpressionPosition) -> Self {
        if start.line > 0 {
            let column = if place.line == 1 { start.column + place.column - 1 } else { place.column };
            (self.line, self.column) = (Some(start.line + place.line - 1), Some(column));
        }
        self.expression = Some(place);
        self
    }
}
