//! Findings about a case definition, each with the remedy of its code.

pub(crate) use heddle_kernel::{Diagnostic, ExpressionPosition, Severity};

use crate::remedy::remedy;

/// A finding of the given weight about an element, by its id and its JSON path.
pub(crate) fn found(
    severity: Severity,
    (code, clause): (&'static str, &'static str),
    (id, path): (&str, &str),
    message: impl Into<String>,
) -> Diagnostic {
    let finding = Diagnostic::new(severity, code, message).with_clause(clause).with_path(path);
    let finding = if id.is_empty() { finding } else { finding.with_element(id) };
    Diagnostic { remedy: remedy(code).map(str::to_owned), ..finding }
}
