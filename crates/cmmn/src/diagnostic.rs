//! Findings of the reader and the writer, each with the remedy of its code.

pub(crate) use heddle_kernel::{Diagnostic, Severity};

use crate::remedy::remedy;

/// A finding with the remedy of its code.
fn found(severity: Severity, code: &'static str, message: impl Into<String>) -> Diagnostic {
    let remedy = remedy(code).map(str::to_owned);
    Diagnostic { remedy, ..Diagnostic::new(severity, code, message) }
}

/// A broken rule.
pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
    found(Severity::Error, code, message)
}

/// A doubtful place.
pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
    found(Severity::Warning, code, message)
}

/// A fact worth telling.
pub(crate) fn info(code: &'static str, message: impl Into<String>) -> Diagnostic {
    found(Severity::Info, code, message)
}
