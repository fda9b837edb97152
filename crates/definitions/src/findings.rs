//! Findings about a definition, as problems of a request.

use heddle_kernel::{Diagnostic, Severity};
use heddle_usecase::Problem;

/// A diagnostic as a problem of the request, with the element it is about.
pub(crate) fn problem(diagnostic: &Diagnostic) -> Problem {
    let field = diagnostic.path.as_ref().map_or_else(
        || "definition".to_owned(),
        |path| match path.as_str() {
            path if path.starts_with("definition") => path.to_owned(),
            path => format!("definition.{path}"),
        },
    );
    let mut problem = Problem::at(field, "notExecutable", diagnostic.message.clone())
        .with("code", diagnostic.code.clone())
        .with("severity", "error");
    if let Some(element) = &diagnostic.element_id {
        problem = problem.with("elementId", element.clone());
    }
    for (name, told) in
        [("clause", &diagnostic.clause), ("rule", &diagnostic.rule), ("remedy", &diagnostic.remedy)]
    {
        if let Some(text) = told {
            problem = problem.with(name, text.clone());
        }
    }
    for (name, place) in [("line", diagnostic.line), ("column", diagnostic.column)] {
        if let Some(place) = place {
            problem = problem.with(name, place);
        }
    }
    if let Some(at) = diagnostic.expression {
        problem = problem.with("expression", serde_json::json!({"line": at.line, "column": at.column}));
    }
    problem
}

/// Whether a finding stands against a publication.
#[must_use]
pub fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}
