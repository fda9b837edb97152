//! Findings about a case definition, each with the remedy of its code.

pub(crate) use heddle_kernel::{Diagnostic, ExpressionPosition, Severity};

use crate::remedy::remedy;

/// Place of an element: its id and its JSON path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub id: &'a str,
    pub path: &'a str,
}

/// Code of a finding with the clause of the standard that it cites.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cited {
    pub code: &'static str,
    pub clause: &'static str,
}

impl From<(&'static str, &'static str)> for Cited {
    fn from((code, clause): (&'static str, &'static str)) -> Self {
        Self { code, clause }
    }
}

/// A finding of the given weight about an element.
pub(crate) fn found(
    severity: Severity,
    rule: impl Into<Cited>,
    At { id, path }: At<'_>,
    message: impl Into<String>,
) -> Diagnostic {
    let Cited { code, clause } = rule.into();
    let finding = Diagnostic::new(severity, code, message).with_clause(clause).with_path(path);
    let finding = if id.is_empty() { finding } else { finding.with_element(id) };
    Diagnostic { remedy: remedy(code).map(str::to_owned), ..finding }
}
