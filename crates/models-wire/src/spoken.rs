//! Tools that the families share: which members of a request have a word in a wire, and the face of their readers of streams.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::borrow::Cow;

use crate::chunk::StreamEvent;
use crate::error::{AnswerFault, WireError};
use crate::family::Family;
use crate::message::{FunctionCall, Message, ToolCall};
use crate::request::ChatRequest;
use crate::usage::Usage;

/// The reader of one wire's frames.
pub(crate) trait StreamReader: Send + Sync {
    /// Reads a frame and adds the events that it makes; [`StreamEvent::Done`] comes last of all.
    fn frame(&mut self, frame: Bytes, out: &mut Vec<StreamEvent>) -> Result<(), WireError>;

    /// Hears that no more frames come.
    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), WireError>;

    /// The tokens as far as they were told.
    fn usage(&self) -> Option<Usage>;
}

/// Members that every wire has a word for, or that the gateway itself answers.
const EVERYWHERE: [&str; 4] = ["model", "messages", "stream", "stream_options"];

/// Values that ask for what happens anyway.
const OF_NO_EFFECT: &[Neutral] = &[
    Neutral { member: "n", values: &["1"] },
    Neutral { member: "logprobs", values: &["false"] },
    Neutral { member: "top_logprobs", values: &["0"] },
    Neutral { member: "frequency_penalty", values: &["0", "0.0"] },
    Neutral { member: "presence_penalty", values: &["0", "0.0"] },
    Neutral { member: "parallel_tool_calls", values: &["true"] },
    Neutral { member: "store", values: &["false"] },
    Neutral { member: "service_tier", values: &["\"auto\""] },
    Neutral { member: "verbosity", values: &["\"medium\""] },
    Neutral { member: "modalities", values: &["[\"text\"]", "[ \"text\" ]"] },
];

struct Neutral {
    member: &'static str,
    values: &'static [&'static str],
}

/// Refuses members that a wire has no word for.
///
/// # Errors
/// `Inexpressible` with the first of them.
pub(crate) fn check(request: &ChatRequest, family: Family, said: &[&str]) -> Result<(), WireError> {
    for name in request.members().names() {
        let value = request.member(name).unwrap_or_default();
        let neutral = is_empty(value)
            || OF_NO_EFFECT.iter().any(|entry| entry.member == name && entry.values.contains(&value));
        if !(EVERYWHERE.contains(&name) || said.contains(&name) || neutral) {
            return Err(WireError::inexpressible(name, family));
        }
    }
    let options: Option<Map<String, Value>> =
        request.members().read_as("stream_options", "must be an object with `include_usage`")?;
    let options = options.unwrap_or_default();
    let rest = options.into_iter().filter(|(name, _)| name != "include_usage").collect();
    no_more(&rest, "stream_options", family)
}

fn is_empty(json: &str) -> bool {
    matches!(json, "{}" | "[]")
}

/// Refuses members of other names than those known, unless they are null, false or empty.
///
/// # Errors
/// `Inexpressible` with the path of the first.
pub(crate) fn no_more(extra: &Map<String, Value>, path: &str, family: Family) -> Result<(), WireError> {
    match says_more(extra) {
        Some(name) => Err(WireError::inexpressible(format!("{path}.{name}"), family)),
        None => Ok(()),
    }
}

/// The first member that is not null, false or empty.
pub(crate) fn says_more(extra: &Map<String, Value>) -> Option<&str> {
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => true,
    };
    extra.iter().find(|(_, value)| says(value)).map(|(name, _)| name.as_str())
}

/// The arguments of a call as the object that a wire demands.
///
/// # Errors
/// `Member` when they are none.
pub(crate) fn arguments(call: &FunctionCall, path: &str) -> Result<Value, WireError> {
    if call.arguments.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str::<Value>(&call.arguments) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) | Err(_) => {
            Err(WireError::member(format!("{path}.function.arguments"), "must be the text of a JSON object"))
        }
    }
}

/// The name of the function whose result a message is.
///
/// # Errors
/// `Member` when no earlier message calls it.
pub(crate) fn called(messages: &[Message], place: usize) -> Result<&ToolCall, WireError> {
    let wrong = |reason| WireError::member(format!("messages[{place}].tool_call_id"), reason);
    let id = messages
        .get(place)
        .and_then(|message| message.tool_call_id.as_deref())
        .ok_or_else(|| wrong("must name the call"))?;
    messages
        .iter()
        .take(place)
        .rev()
        .flat_map(Message::calls)
        .find(|call| call.id == id)
        .ok_or_else(|| wrong("names a call that no earlier message makes"))
}

/// Stop sequences: one or a list.
///
/// # Errors
/// `Member`.
pub(crate) fn stops(request: &ChatRequest) -> Result<Option<Vec<String>>, WireError> {
    const REASON: &str = "must be a text or a list of texts";
    match request.members().read_as::<Value>("stop", REASON)? {
        None => Ok(None),
        Some(Value::String(stop)) => Ok(Some(vec![stop])),
        Some(list) => match serde_json::from_value(list) {
            Ok(stops) => Ok(Some(stops)),
            Err(_unread) => Err(WireError::member("stop", REASON)),
        },
    }
}

/// A number that passes as it was written.
///
/// # Errors
/// `Member` when it is none.
pub(crate) fn number(request: &ChatRequest, name: &str) -> Result<Option<Value>, WireError> {
    const REASON: &str = "must be a number";
    match request.members().read_as::<Value>(name, REASON)? {
        None => Ok(None),
        Some(value) if value.is_number() => Ok(Some(value)),
        Some(_) => Err(WireError::member(name, REASON)),
    }
}

/// Puts numbers under the names of a wire.
///
/// # Errors
/// As [`number`].
pub(crate) fn numbers(
    request: &ChatRequest,
    names: &[Renamed],
    into: &mut Map<String, Value>,
) -> Result<(), WireError> {
    for Renamed { ours, theirs } in names {
        if let Some(value) = number(request, ours)? {
            into.insert((*theirs).to_owned(), value);
        }
    }
    Ok(())
}

/// A member whose JSON text stands as it came.
pub(crate) struct Raw<'a> {
    pub(crate) name: &'static str,
    pub(crate) text: Cow<'a, str>,
}

impl<'a> Raw<'a> {
    pub(crate) fn new(name: &'static str, text: impl Into<Cow<'a, str>>) -> Self {
        Self { name, text: text.into() }
    }
}

/// The JSON text of an object: members that were made, and members as they came.
pub(crate) fn object(made: Map<String, Value>, raw: &[Raw<'_>]) -> String {
    let mut text = Value::Object(made).to_string();
    text.pop();
    for Raw { name, text: value } in raw {
        if text.len() > 1 {
            text.push(',');
        }
        text.push('"');
        text.push_str(name);
        text.push_str("\":");
        text.push_str(value);
    }
    text.push('}');
    text
}

/// The JSON text of a list of texts.
pub(crate) fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// A member's name here and in a wire.
pub(crate) struct Renamed {
    pub(crate) ours: &'static str,
    pub(crate) theirs: &'static str,
}

/// A frame or a body in the shape of a wire.
///
/// # Errors
/// `Answer(Malformed)`.
pub(crate) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Ok(value),
        Err(_unread) => Err(AnswerFault::Malformed.into()),
    }
}

/// The id of a call where the wire gives none: unique within the answer.
pub(crate) fn call_id(answer: &str, number: usize) -> String {
    let from = answer.len().saturating_sub(24);
    format!("call_{}_{number}", answer.get(from..).unwrap_or(answer).trim_start_matches('-'))
}
