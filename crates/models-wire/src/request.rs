//! Requests for a chat, in OpenAI's words and with whatever else stands there.

use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

use crate::error::WireError;
use crate::estimate;
use crate::members::{Change, Members};
use crate::message::{Message, ResponseFormat, Tool, ToolChoice};
use crate::schema;

/// Kind of a part that is a picture.
const PICTURE: &str = "image_url";

/// Choices that one request may ask for.
const MOST_CHOICES: u64 = 128;

/// A request for a chat: OpenAI's chat completion and whatever else it holds, which passes untouched to providers that
/// speak the same. Only its head is read at once; messages and tools are read when a family has to say them anew.
/// `Debug` shows no prompt.
#[derive(Clone, PartialEq, Eq)]
pub struct ChatRequest {
    members: Members,
    model: String,
    stream: bool,
    include_usage: bool,
    choices: u32,
    max_tokens: Option<u64>,
}

impl fmt::Debug for ChatRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatRequest")
            .field("model", &self.model)
            .field("stream", &self.stream)
            .field("bytes", &self.members.body().len())
            .finish_non_exhaustive()
    }
}

#[derive(serde::Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

/// A thing of a kind: a part of a content, a format.
#[derive(serde::Deserialize)]
struct Kinded<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'a, str>>,
}

/// A message of which the content alone is looked at.
#[derive(serde::Deserialize)]
struct Shown<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

impl Shown<'_> {
    fn has_picture(&self) -> bool {
        let list = self.content.map(RawValue::get).filter(|text| text.starts_with('['));
        let parts: Vec<Kinded<'_>> =
            list.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        parts.iter().any(|part| part.kind.as_deref() == Some(PICTURE))
    }
}

impl ChatRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// `Member`: no JSON object, too deep, a member twice; `model`, `messages`, `stream`, `stream_options`, `n`,
    /// `max_tokens` or `max_completion_tokens` of another shape; a schema whose references only lead to each other.
    pub fn read(body: Bytes) -> Result<Self, WireError> {
        let members = Members::read(body)?;
        let model: String = members
            .read_as("model", "must be a text")?
            .filter(|name: &String| !name.is_empty())
            .ok_or_else(|| WireError::member("model", "must name a deployment"))?;
        match members.get("messages") {
            Some(text) if text.starts_with('[') && text != "[]" && !is_blank_list(text) => {}
            Some(_) | None => {
                return Err(WireError::member("messages", "must be a list with a message at least"));
            }
        }
        let stream = members.read_as("stream", "must be true or false")?.unwrap_or(false);
        let options: Option<StreamOptions> =
            members.read_as("stream_options", "must be an object with `include_usage`")?;
        let count = members.read_as::<u64>("n", "must be an integer from 1 to 128")?.unwrap_or(1);
        let choices = u32::try_from(count)
            .ok()
            .filter(|_| (1..=MOST_CHOICES).contains(&count))
            .ok_or_else(|| WireError::member("n", "must be an integer from 1 to 128"))?;
        let completion = bound(&members, "max_completion_tokens")?;
        let max_tokens = completion.or(bound(&members, "max_tokens")?);
        schema::check_text("tools", members.get("tools"))?;
        schema::check_text("response_format", members.get("response_format"))?;
        let include_usage = options.and_then(|options| options.include_usage).unwrap_or(false);
        Ok(Self { members, model, stream, include_usage, choices, max_tokens })
    }

    /// A request of members, for callers within the program.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of(members: &Map<String, Value>) -> Result<Self, WireError> {
        match serde_json::to_vec(members) {
            Ok(body) => Self::read(Bytes::from(body)),
            Err(_unwritten) => Err(WireError::member("", "is not a JSON object")),
        }
    }

    /// The deployment: an id or an alias.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether the answer is to come as a stream.
    #[must_use]
    pub const fn stream(&self) -> bool {
        self.stream
    }

    /// Whether the caller wants the usage as the stream's last chunk.
    #[must_use]
    pub const fn include_usage(&self) -> bool {
        self.include_usage
    }

    /// Number of choices that are asked for.
    #[must_use]
    pub const fn choices(&self) -> u32 {
        self.choices
    }

    /// Bound of the answer's tokens: `max_completion_tokens`, or else `max_tokens`.
    #[must_use]
    pub const fn max_tokens(&self) -> Option<u64> {
        self.max_tokens
    }

    /// The body as it came.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        self.members.body()
    }

    /// The JSON text of a member; none when it is absent or null.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&str> {
        self.members.get(name)
    }

    /// The request with some members replaced or added, or, where the value is null, taken out.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn with(&self, members: &Map<String, Value>) -> Result<Self, WireError> {
        let changes: Vec<Change<'_>> = members
            .iter()
            .map(|(name, value)| match value {
                Value::Null => Change::none(name),
                value => Change::json(name, value.to_string()),
            })
            .collect();
        if changes.is_empty() { Ok(self.clone()) } else { Self::read(self.members.with(&changes)) }
    }

    /// The request with a deployment's defaults where it says nothing itself. A default of one of the two bounds of
    /// tokens yields to the other.
    ///
    /// # Errors
    /// As [`read`](Self::read): a default of a wrong shape is told by its name.
    pub fn with_defaults(&self, defaults: &Map<String, Value>) -> Result<Self, WireError> {
        let bounded = self.max_tokens.is_some();
        let missing: Map<String, Value> = defaults
            .iter()
            .filter(|(name, value)| !value.is_null() && self.members.get(name).is_none())
            .filter(|(name, _)| !(bounded && is_bound(name)))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        self.with(&missing)
    }

    /// The messages.
    ///
    /// # Errors
    /// `Member` with the message's place.
    pub fn messages(&self) -> Result<Vec<Message>, WireError> {
        Message::list(self.members.get("messages"))
    }

    /// The tools.
    ///
    /// # Errors
    /// `Member` with the tool's place.
    pub fn tools(&self) -> Result<Vec<Tool>, WireError> {
        Tool::list(self.members.get("tools"))
    }

    /// The choice among the tools.
    ///
    /// # Errors
    /// `Member`.
    pub fn tool_choice(&self) -> Result<Option<ToolChoice>, WireError> {
        ToolChoice::read(self.members.get("tool_choice"))
    }

    /// The answer's format.
    ///
    /// # Errors
    /// `Member`.
    pub fn response_format(&self) -> Result<ResponseFormat, WireError> {
        ResponseFormat::read(self.members.get("response_format"))
    }

    /// Whether the model may call tools: there are some, or one has to be called. What has another shape is told when it is
    /// said to a provider.
    #[must_use]
    pub fn calls_tools(&self) -> bool {
        match self.members.get("tool_choice") {
            Some(r#""none""#) => false,
            Some(r#""auto""#) | None => self.members.get("tools").is_some_and(|tools| !is_blank_list(tools)),
            Some(_one) => true,
        }
    }

    /// Whether a message shows a picture.
    #[must_use]
    pub fn shows_pictures(&self) -> bool {
        // Most show none: they are not read.
        let text = self.members.get("messages").filter(|text| text.contains(PICTURE));
        let messages: Vec<Shown<'_>> =
            text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        messages.iter().any(Shown::has_picture)
    }

    /// Whether the answer is to be JSON by a schema.
    #[must_use]
    pub fn asks_for_schema(&self) -> bool {
        let format: Option<Kinded<'_>> =
            self.members.get("response_format").and_then(|text| serde_json::from_str(text).ok());
        format.and_then(|format| format.kind).as_deref() == Some("json_schema")
    }

    /// Tokens that the prompt is likely to have: messages, tools and schema, by the length of their texts.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        ["messages", "tools", "response_format"]
            .into_iter()
            .filter_map(|name| self.members.get(name))
            .map(estimate::tokens_of_json)
            .sum()
    }

    pub(crate) const fn members(&self) -> &Members {
        &self.members
    }
}

fn is_blank_list(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'[' || byte == b']' || byte.is_ascii_whitespace())
}

fn is_bound(name: &str) -> bool {
    name == "max_tokens" || name == "max_completion_tokens"
}

fn bound(members: &Members, name: &str) -> Result<Option<u64>, WireError> {
    const REASON: &str = "must be a positive integer";
    match members.read_as::<u64>(name, REASON)? {
        Some(0) => Err(WireError::member(name, REASON)),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(more: &Value) -> ChatRequest {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "an image_url?"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ChatRequest::read(Bytes::from(body.to_string())).unwrap()
    }

    #[test]
    fn what_a_request_needs_is_seen_in_its_members() {
        let tools = json!([{"type": "function", "function": {"name": "look"}}]);
        for (more, expected) in [
            (json!({}), [false, false, false]),
            (json!({"tools": []}), [false, false, false]),
            (json!({"tools": tools}), [true, false, false]),
            (json!({"tools": tools, "tool_choice": "auto"}), [true, false, false]),
            (json!({"tools": tools, "tool_choice": "none"}), [false, false, false]),
            (json!({"tool_choice": "required"}), [true, false, false]),
            (
                json!({"tool_choice": {"type": "function", "function": {"name": "look"}}}),
                [true, false, false],
            ),
            (
                json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}]}),
                [false, true, false],
            ),
            (
                json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "image_url"}]}]}),
                [false; 3],
            ),
            (json!({"response_format": {"type": "json_object"}}), [false, false, false]),
            (
                json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}}),
                [false, false, true],
            ),
        ] {
            let request = asked(&more);
            let found = [request.calls_tools(), request.shows_pictures(), request.asks_for_schema()];
            assert_eq!(found, expected, "{more}");
        }
    }
}
