//! Findings of reading, compiling and analysing a model, and their places in its XML.

pub use heddle_kernel::{Diagnostic, ExpressionPosition, Severity};

use crate::model::At;

/// A broken rule: what it concerns is null when evaluated.
pub(crate) fn error(code: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Severity::Error, code, message)
}

/// A doubtful place.
pub(crate) fn warning(code: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Severity::Warning, code, message)
}

/// Places in the XML.
pub(crate) trait Placed: Sized {
    /// The same about that element.
    fn about(self, id: Option<&String>, name: Option<&String>, at: At) -> Self;

    /// The same at that place.
    fn at(self, at: At) -> Self;

    /// The same within a text of FEEL that begins at `start`.
    fn within(self, start: At, place: ExpressionPosition) -> Self;
}

impl Placed for Diagnostic {
    fn about(mut self, id: Option<&String>, name: Option<&String>, at: At) -> Self {
        self.element_id = id.cloned();
        self.element_name = name.cloned();
        self.at(at)
    }

    fn at(mut self, at: At) -> Self {
        if at.line > 0 {
            (self.line, self.column) = (Some(at.line), Some(at.column));
        }
        self
    }

    fn within(mut self, start: At, place: ExpressionPosition) -> Self {
        if start.line > 0 {
            let column = if place.line == 1 { start.column + place.column - 1 } else { place.column };
            (self.line, self.column) = (Some(start.line + place.line - 1), Some(column));
        }
        self.expression = Some(place);
        self
    }
}
