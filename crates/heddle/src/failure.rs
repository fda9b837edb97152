//! Errors of the program, and their exit codes.

use std::{fmt, io};

use heddle_server::StartError;
use serde_json::Value;

/// The program's own reasons to end without success; the number is the exit code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Something unforeseen, or a refusal of the program itself.
    #[error("{0}")]
    Refused(String),
    /// The command line or the configuration is wrong.
    #[error("{0}")]
    Configuration(String),
    /// Something that was named is not there.
    #[error("{0}")]
    NotFound(String),
    /// The licence is none.
    #[error("{0}")]
    Licence(String),
    /// `heddle doctor` found something.
    #[error("{0} of the checks failed")]
    Unhealthy(usize),
    /// Some of several things failed; they are told one by one.
    #[error("{failed} of {all} failed{which}")]
    Several {
        /// Number of those that failed.
        failed: usize,
        /// Number of all.
        all: usize,
        /// Names of those that failed, behind a colon; empty where they stand elsewhere.
        which: String,
        /// Exit code that they have in common, or 1.
        code: u8,
    },
}

impl Failure {
    const fn exit_code(&self) -> u8 {
        match self {
            Self::Refused(_) => 1,
            Self::Configuration(_) => 2,
            Self::NotFound(_) => 3,
            Self::Licence(_) => 6,
            Self::Unhealthy(_) => 7,
            Self::Several { code, .. } => *code,
        }
    }
}

/// Number of the exit code for an error: 2 configuration, 3 something not there, 4 in use, 5 dependency, 6 key or
/// licence, 7 failed checks, 1 anything else.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    error
        .downcast_ref::<Failure>()
        .map(Failure::exit_code)
        .or_else(|| error.downcast_ref::<StartError>().map(StartError::exit_code))
        .or_else(|| error.downcast_ref::<Refusal>().map(Refusal::exit_code))
        .or_else(|| error.downcast_ref::<Unreachable>().map(|_| 5))
        .or_else(|| error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).and_then(of_file))
        .unwrap_or(1)
}

/// Number of the exit code for a file that is not there, or that this user may not use.
fn of_file(error: &io::Error) -> Option<u8> {
    match error.kind() {
        io::ErrorKind::NotFound => Some(3),
        io::ErrorKind::PermissionDenied => Some(2),
        _ => None,
    }
}

/// An error with its causes in one sentence, each said once: many an error holds its cause already.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let next = cause.to_string();
        if text.is_empty() {
            text = next;
        } else if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
    }
    text
}

/// An answer that refuses what was asked, with what the service says about it.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// Code of the error, such as `NOT_FOUND`.
    pub code: String,
    /// Message of the error.
    pub message: String,
    /// Details, one for each thing that is wrong.
    pub details: Vec<Value>,
    /// Id of the request, by which the log has it.
    pub request_id: Option<String>,
}

/// A server that does not answer.
#[derive(Debug, thiserror::Error)]
#[error("the server does not answer at {address}: {cause}")]
pub(crate) struct Unreachable {
    /// Address of the server.
    pub address: String,
    /// The innermost cause.
    pub cause: String,
}

impl Unreachable {
    pub(crate) fn new(address: &str, error: &reqwest::Error) -> Self {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        Self { address: address.to_owned(), cause: cause.to_string() }
    }
}

impl Refusal {
    /// Refusal of an answer: of an error's body, or of whatever else stands there.
    pub(crate) fn of(status: u16, body: &Value) -> Self {
        let error = body.get("error").unwrap_or(&Value::Null);
        let member = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            status,
            code: member("code").unwrap_or_default(),
            message: member("message").unwrap_or_else(|| format!("the server answered with status {status}")),
            details: error.get("details").and_then(Value::as_array).cloned().unwrap_or_default(),
            request_id: member("requestId"),
        }
    }

    /// The program's exit code (`docs/configuration.md`).
    const fn exit_code(&self) -> u8 {
        match self.status {
            401 => 2,
            404 => 3,
            402 | 423 => 6,
            503 => 5,
            _ => 1,
        }
    }

    /// Whether one of the details has this reason.
    pub(crate) fn is(&self, reason: &str) -> bool {
        self.details.iter().any(|one| one.get("reason").and_then(Value::as_str) == Some(reason))
    }

    /// Whether one of the details is about this field.
    pub(crate) fn is_about(&self, field: &str) -> bool {
        self.details.iter().any(|one| one.get("field").and_then(Value::as_str) == Some(field))
    }

    /// Details for people, one line each.
    fn lines(&self) -> Vec<String> {
        self.details.iter().map(detail).collect()
    }
}

/// An error whose details of this reason name a way out, where the service names none.
pub(crate) fn advised(mut error: anyhow::Error, reason: &str, remedy: &str) -> anyhow::Error {
    let details = error.downcast_mut::<Refusal>().into_iter().flat_map(|refusal| &mut refusal.details);
    for detail in details.filter_map(Value::as_object_mut) {
        if detail.get("reason").and_then(Value::as_str) == Some(reason) {
            detail.entry("remedy").or_insert_with(|| remedy.into());
        }
    }
    error
}

/// A detail for people: what it is about, what is wrong, and what to do.
fn detail(one: &Value) -> String {
    let member = |name: &str| one.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let element = member("elementId").map(|id| match member("elementName") {
        Some(name) => format!("{id} \"{name}\""),
        None => id.to_owned(),
    });
    let about = element.or_else(|| member("field").map(str::to_owned));
    let message = member("message").or_else(|| member("reason")).unwrap_or_default();
    let mut text = about.map_or_else(|| message.to_owned(), |about| format!("{about}: {message}"));
    if let Some(told) = member("providerMessage") {
        text += &format!(" It says: {told}");
    }
    if let Some(remedy) = member("remedy") {
        text += &format!(" ({remedy})");
    }
    text
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lines().as_slice() {
            [] => f.write_str(&self.message),
            [one] => f.write_str(one),
            many => {
                f.write_str(&self.message)?;
                many.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_exit_code_tells_what_kind_of_error_it_is() {
        let missing = io::Error::from(io::ErrorKind::NotFound);
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let cases = [
            (anyhow::Error::from(missing).context("`a.bpmn`"), 3),
            (anyhow::Error::from(denied).context("`a.bpmn`"), 2),
            (Failure::Licence("no".to_owned()).into(), 6),
            (Failure::Several { failed: 2, all: 3, which: String::new(), code: 3 }.into(), 3),
            (anyhow::anyhow!("anything"), 1),
        ];
        for (error, expected) in cases {
            assert_eq!(code(&error), expected, "{error:#}");
        }
    }

    #[test]
    fn what_a_provider_says_is_said_too() {
        let detail =
            json!({ "reason": "modelNotFound", "message": "There is none.", "providerMessage": "Fetch it." });
        let refusal = Refusal::of(503, &json!({ "error": { "details": [detail] } }));
        assert_eq!(refusal.to_string(), "There is none. It says: Fetch it.");
    }

    #[test]
    fn a_cause_is_said_once() {
        let taken = io::Error::new(io::ErrorKind::AddrInUse, "Address already in use (os error 98)");
        let address = "127.0.0.1:1".parse().unwrap();
        let error = anyhow::Error::from(StartError::Listen { address, source: taken });
        assert_eq!(sentence(&error), "cannot listen on 127.0.0.1:1: Address already in use (os error 98)");
        let missing = anyhow::Error::from(io::Error::from(io::ErrorKind::NotFound)).context("`a.bpmn`");
        assert_eq!(sentence(&missing), "`a.bpmn`: entity not found");
    }

    #[test]
    fn a_way_out_is_added_where_the_service_names_none() {
        let told = json!({ "reason": "notCandidate", "message": "Not yours.", "remedy": "Ask." });
        let bare = json!({ "reason": "notCandidate", "message": "Not yours." });
        let other = json!({ "reason": "ended", "message": "It is done." });
        for (detail, shown) in
            [(told, "Not yours. (Ask.)"), (bare, "Not yours. (Take it.)"), (other, "It is done.")]
        {
            let refusal = Refusal::of(403, &json!({ "error": { "details": [detail] } }));
            assert_eq!(advised(refusal.into(), "notCandidate", "Take it.").to_string(), shown);
        }
    }

    #[test]
    fn a_refusal_names_element_field_and_remedy() {
        let body = |details: Value| json!({ "error": { "code": "X", "message": "No.", "details": details } });
        let slug = json!({ "field": "slug", "reason": "notUnique", "message": "Taken." });
        let call = json!({ "elementId": "c1", "reason": "unsupported", "message": "Not there.", "remedy": "Take another." });
        let cases = [
            (json!([]), "No."),
            (json!([slug]), "slug: Taken."),
            (json!([slug, call]), "No.\n  slug: Taken.\n  c1: Not there. (Take another.)"),
        ];
        for (details, told) in cases {
            assert_eq!(Refusal::of(400, &body(details)).to_string(), told);
        }
        assert_eq!(Refusal::of(502, &Value::Null).to_string(), "the server answered with status 502");
    }

    #[test]
    fn the_exit_code_follows_the_status() {
        for (status, code) in [(400, 1), (401, 2), (402, 6), (403, 1), (404, 3), (409, 1), (423, 6), (503, 5)]
        {
            assert_eq!(Refusal::of(status, &Value::Null).exit_code(), code, "{status}");
        }
    }
}
