//! Findings of the reader and the writer, each with the remedy of its code.

pub(crate) use heddle_kernel::{Diagnostic, Severity};

/// A finding with the remedy of its code.
fn found(severity: Severity, code: &'static str, message: impl Into<String>) -> Diagnostic {
    let diagnostic = Diagnostic::new(severity, code, message);
    match remedy(code) {
        Some(remedy) => diagnostic.with_remedy(remedy),
        None => diagnostic,
    }
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

fn remedy(code: &str) -> Option<&'static str> {
    Some(match code {
        "unknownElement" => "Use the name of a CMMN 1.1 element.",
        "unknownDefinition" => {
            "Use the name of a CMMN 1.1 stage, task, milestone or event listener as the type."
        }
        "invalidValue" | "invalidData" => "Use a value of the type that the standard gives.",
        "residueWithoutElement" => "Take the fragment out of `fragments`, or name an element that is there.",
        "unsupportedExtension" => "Say it with settings of this product, or take the word out of the model.",
        "lostInVersion" => "Write the model as CMMN 1.1.",
        _ => return None,
    })
}
