//! Calls and replies: requests in the form of data, and the answers' bodies.

use serde_json::Value;
use thiserror::Error;

/// Longest body that is read, in bytes.
pub(crate) const LONGEST: usize = 8 * 1024 * 1024;
/// Most models of one list.
pub(crate) const MOST_MODELS: usize = 5_000;
/// Longest name of a model, in bytes.
pub(crate) const LONGEST_NAME: usize = 512;
/// Characters of a runtime's own words that are passed on.
const WORDS: usize = 200;

/// Method of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Asks.
    Get,
    /// Does.
    Post,
}

impl Method {
    /// Word of the method in HTTP.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// Call to a runtime.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Method.
    pub method: Method,
    /// Path with its query, behind the runtime's [`root`](crate::root).
    pub path: String,
    /// JSON body.
    pub body: Option<Value>,
    /// Whether versions without it are read all the same: a 404, 405 or 501 is no failure, and its reply is given on.
    pub optional: bool,
}

impl Call {
    pub(crate) fn get(path: &str) -> Self {
        Self { method: Method::Get, path: path.to_owned(), body: None, optional: false }
    }

    pub(crate) fn post(path: &str, body: Option<Value>) -> Self {
        Self { method: Method::Post, path: path.to_owned(), body, optional: false }
    }

    pub(crate) fn if_there(self) -> Self {
        Self { optional: true, ..self }
    }
}

/// Reply to a call.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// Status.
    pub status: u16,
    /// Body, as it came.
    pub body: &'a [u8],
}

/// Failure of a runtime to tell or to do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LocalError {
    /// The runtime has no such thing, such as residency that is not its callers' matter.
    #[error("{runtime} cannot {what}")]
    Unsupported {
        /// Name of the runtime.
        runtime: &'static str,
        /// Deed in words.
        what: &'static str,
    },
    /// Name that the runtime does not know.
    #[error("the runtime has no model of this name")]
    UnknownModel,
    /// Refusal.
    #[error("the runtime answered with status {status}: {message}")]
    Refused {
        /// Status.
        status: u16,
        /// Words of the runtime, cut to 200 characters; empty without any.
        message: String,
    },
    /// Answer that is not what the documents say.
    #[error("the runtime's answer cannot be read: {0}")]
    Malformed(&'static str),
    /// A reply is absent: each call has one, in its order.
    #[error("a call had no reply")]
    Missing,
}

/// Refusal of what a runtime leaves to itself.
pub(crate) const fn cannot(runtime: &'static str, what: &'static str) -> LocalError {
    LocalError::Unsupported { runtime, what }
}

/// The reply at a place, of a call that must succeed, as JSON.
pub(crate) fn json_at(replies: &[Reply<'_>], at: usize) -> Result<Value, LocalError> {
    json(replies.get(at).ok_or(LocalError::Missing)?)
}

/// The reply at a place, of an optional call; none when the runtime has no such path.
pub(crate) fn optional_at(replies: &[Reply<'_>], at: usize) -> Result<Option<Value>, LocalError> {
    let reply = replies.get(at).ok_or(LocalError::Missing)?;
    if matches!(reply.status, 404 | 405 | 501) { Ok(None) } else { json(reply).map(Some) }
}

/// Looks whether a reply is good; its body may be empty.
pub(crate) fn done(reply: &Reply<'_>) -> Result<(), LocalError> {
    match reply.status {
        200..=299 => Ok(()),
        404 => Err(LocalError::UnknownModel),
        status => Err(LocalError::Refused { status, message: words(reply.body) }),
    }
}

fn json(reply: &Reply<'_>) -> Result<Value, LocalError> {
    done(reply)?;
    if reply.body.len() > LONGEST {
        return Err(LocalError::Malformed("it is too long"));
    }
    serde_json::from_slice(reply.body).map_err(|_not_json| LocalError::Malformed("it is no JSON"))
}

/// Words of a refusal: `error`, as text or with a `message`, else nothing.
fn words(body: &[u8]) -> String {
    let body: Value =
        serde_json::from_slice(body.get(..body.len().min(LONGEST)).unwrap_or_default()).unwrap_or_default();
    let error = body.get("error").unwrap_or(&body);
    let text = error.as_str().or_else(|| error.get("message")?.as_str()).unwrap_or_default();
    short(text)
}

/// A text cut to what is passed on, without control characters.
pub(crate) fn short(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(WORDS).collect()
}

/// The objects of a list member.
pub(crate) fn objects<'a>(value: &'a Value, member: &str) -> Result<Vec<&'a Value>, LocalError> {
    let list = value
        .get(member)
        .and_then(Value::as_array)
        .ok_or(LocalError::Malformed("it has no list of models"))?;
    if list.len() > MOST_MODELS {
        return Err(LocalError::Malformed("it has too many models"));
    }
    Ok(list.iter().filter(|item| item.is_object()).collect())
}

/// A text member that is not empty.
pub(crate) fn text(value: &Value, member: &str) -> Option<String> {
    let text = value.get(member)?.as_str()?;
    (!text.is_empty() && text.len() <= LONGEST_NAME).then(|| text.to_owned())
}

/// A whole number that is not negative.
pub(crate) fn number(value: &Value, member: &str) -> Option<u64> {
    value.get(member)?.as_u64()
}

/// A whole number above zero: runtimes that do not know one say 0.
pub(crate) fn size(value: &Value, member: &str) -> Option<u64> {
    number(value, member).filter(|number| *number > 0)
}

/// Whether a list of texts has one.
pub(crate) fn has(value: &Value, member: &str, word: &str) -> bool {
    value
        .get(member)
        .and_then(Value::as_array)
        .is_some_and(|list| list.iter().any(|item| item.as_str() == Some(word)))
}
