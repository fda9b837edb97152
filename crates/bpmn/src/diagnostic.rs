//! Findings about a definition, each with the remedy of its code.

pub use heddle_kernel::{Diagnostic, ExpressionPosition, Severity};

use crate::remedy;

/// A finding of the given weight, with no place yet.
pub fn new(severity: Severity, code: impl Into<String>, message: impl Into<String>) -> Diagnostic {
    with_remedy(Diagnostic::new(severity, code, message))
}

/// A broken rule.
pub fn error(code: impl Into<String>, message: impl Into<String>) -> Diagnostic {
    new(Severity::Error, code, message)
}

/// A doubtful place.
pub fn warning(code: impl Into<String>, message: impl Into<String>) -> Diagnostic {
    new(Severity::Warning, code, message)
}

/// A fact worth telling.
pub fn info(code: impl Into<String>, message: impl Into<String>) -> Diagnostic {
    new(Severity::Info, code, message)
}

/// The same finding, with the remedy of its code.
#[must_use]
pub fn with_remedy(found: Diagnostic) -> Diagnostic {
    let remedy = remedy::remedy(&found.code).map(str::to_owned);
    Diagnostic { remedy, ..found }
}
