//! Messages, tools and formats in OpenAI's words, read in full where a family has to say them anew.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::WireError;

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// Instructions, in the newer word.
    Developer,
    /// The person or the program that asks.
    User,
    /// The model.
    Assistant,
    /// The result of a tool.
    Tool,
}

/// A message. `Debug` is left out on purpose where it would show a prompt: it names the role alone.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Role.
    pub role: Role,
    /// Content; an assistant that only calls tools has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Name of whoever speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Calls of tools by the assistant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// The call whose result this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Refusal of the assistant, said instead of content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Thoughts of the assistant, as DeepSeek, vLLM and llama.cpp call them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// Thoughts with Anthropic's signatures, which have to come back with the results of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_blocks: Option<Vec<Value>>,
    /// Members of other names.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Message").field("role", &self.role).finish_non_exhaustive()
    }
}

/// The content of a message: a text, or parts.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(String),
    /// Parts: texts, pictures, sound, files.
    Parts(Vec<Map<String, Value>>),
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Parts(parts) => write!(f, "Parts({})", parts.len()),
        }
    }
}

impl Content {
    /// The text alone: of parts, their texts one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        }
    }
}

/// A call of a tool.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Id, by which the result refers to it.
    #[serde(default)]
    pub id: String,
    /// Kind: `function`.
    #[serde(rename = "type", default = "function")]
    pub kind: String,
    /// The function and its arguments.
    pub function: FunctionCall,
    /// Members of other names, such as `extra_content` with Gemini's signature of the thought behind the call.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl std::fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolCall").field("name", &self.function.name).finish_non_exhaustive()
    }
}

fn function() -> String {
    "function".to_owned()
}

/// A function and its arguments.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Name.
    pub name: String,
    /// Arguments: a text that should be a JSON object. A model may have written something else.
    #[serde(default)]
    pub arguments: String,
}

impl std::fmt::Debug for FunctionCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FunctionCall").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Message {
    /// A message with a text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            content: Some(Content::Text(text.into())),
            name: None,
            tool_calls: None,
            tool_call_id: None,
            refusal: None,
            reasoning_content: None,
            thinking_blocks: None,
            extra: Map::new(),
        }
    }

    /// The result of a tool's call.
    #[must_use]
    pub fn tool_result(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call.into()), ..Self::text(Role::Tool, text) }
    }

    /// The calls of tools.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        self.tool_calls.as_deref().unwrap_or_default()
    }

    pub(crate) fn list(json: Option<&str>) -> Result<Vec<Self>, WireError> {
        each("messages", json, "is no message: `role`, `content`, `tool_calls` and their shapes")
    }
}

/// Items of a list, each read by itself, so that an error names the item.
pub(crate) fn each<T: serde::de::DeserializeOwned>(
    name: &str,
    json: Option<&str>,
    reason: &'static str,
) -> Result<Vec<T>, WireError> {
    let Some(json) = json else { return Ok(Vec::new()) };
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) else {
        return Err(WireError::member(name, "must be a list"));
    };
    items
        .into_iter()
        .enumerate()
        .map(|(place, item)| match serde_json::from_str(item.get()) {
            Ok(value) => Ok(value),
            Err(_unread) => Err(WireError::member(format!("{name}[{place}]"), reason)),
        })
        .collect()
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Kind: `function`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Function>,
    /// Members of other names.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A function that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Name.
    pub name: String,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON schema of the arguments; none for a function without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Schema>,
    /// Whether the arguments have to obey the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Members of other names.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Tool {
    /// A function as a tool.
    #[must_use]
    pub fn function(name: impl Into<String>, description: impl Into<String>, parameters: &Value) -> Self {
        Self {
            kind: function(),
            function: Some(Function {
                name: name.into(),
                description: Some(description.into()),
                parameters: Some(Schema::of(parameters)),
                strict: None,
                extra: Map::new(),
            }),
            extra: Map::new(),
        }
    }

    pub(crate) fn list(json: Option<&str>) -> Result<Vec<Self>, WireError> {
        each("tools", json, "is no tool: `type` and `function` with `name` and `parameters`")
    }
}

/// The choice among the tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model's.
    Auto,
    /// None is called.
    None,
    /// One at least is called.
    Required,
    /// The one of this name is called.
    Function(String),
}

impl ToolChoice {
    pub(crate) fn read(json: Option<&str>) -> Result<Option<Self>, WireError> {
        const REASON: &str = "must be `auto`, `none`, `required` or a function by its name";
        let Some(json) = json else { return Ok(None) };
        let Ok(value) = serde_json::from_str::<Value>(json) else {
            return Err(WireError::member("tool_choice", REASON));
        };
        match (value.as_str(), value.pointer("/function/name").and_then(Value::as_str)) {
            (Some("auto"), _) => Ok(Some(Self::Auto)),
            (Some("none"), _) => Ok(Some(Self::None)),
            (Some("required"), _) => Ok(Some(Self::Required)),
            (_, Some(name)) => Ok(Some(Self::Function(name.to_owned()))),
            (_, None) => Err(WireError::member("tool_choice", REASON)),
        }
    }
}

/// The answer's format.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseFormat {
    /// Text.
    Text,
    /// A JSON object of any kind.
    JsonObject,
    /// JSON by a schema.
    JsonSchema(JsonSchema),
}

/// A schema for the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JsonSchema {
    /// Name.
    pub name: String,
    /// Description for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema.
    pub schema: Schema,
    /// Whether the answer has to obey it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

#[derive(Deserialize)]
struct Format {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    json_schema: Option<JsonSchema>,
}

impl ResponseFormat {
    pub(crate) fn read(json: Option<&str>) -> Result<Self, WireError> {
        const REASON: &str = "must be `text`, `json_object`, or `json_schema` with `json_schema.name` and `json_schema.schema`";
        let Some(json) = json else { return Ok(Self::Text) };
        let wrong = || WireError::member("response_format", REASON);
        let Ok(format) = serde_json::from_str::<Format>(json) else { return Err(wrong()) };
        match (format.kind.as_str(), format.json_schema) {
            ("text", None) => Ok(Self::Text),
            ("json_object", None) => Ok(Self::JsonObject),
            ("json_schema", Some(schema)) if schema.schema.is_object() => Ok(Self::JsonSchema(schema)),
            (_, _) => Err(wrong()),
        }
    }
}

impl JsonSchema {
    /// The schema, with the description in it when it has none of its own.
    pub(crate) fn described(&self) -> String {
        match &self.description {
            Some(text) => self.schema.with_description(text),
            None => self.schema.text().to_owned(),
        }
    }
}

/// A JSON schema as it was written: a model fills its members in the order in which they stand.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema(Box<RawValue>);

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Schema {
    /// A schema of a value.
    #[must_use]
    pub fn of(schema: &Value) -> Self {
        Self(RawValue::from_string(schema.to_string()).unwrap_or_else(|_none| RawValue::TRUE.to_owned()))
    }

    /// The JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }

    fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }

    fn with_description(&self, words: &str) -> String {
        let text = self.text();
        let known = serde_json::from_str::<Described>(text).is_ok_and(|schema| schema.description.is_some());
        match text.strip_prefix('{') {
            Some(rest) if !known => {
                let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
                format!("{{\"description\":{}{comma}{rest}", Value::from(words))
            }
            Some(_) | None => text.to_owned(),
        }
    }
}

#[derive(Deserialize)]
struct Described {
    #[serde(default)]
    description: Option<serde::de::IgnoredAny>,
}

/// A part of a message's content, read.
pub(crate) enum Part<'a> {
    /// Text.
    Text(&'a str),
    /// A picture.
    Image(Source<'a>),
    /// Sound: its format (`wav`, `mp3`) and its bytes in base64.
    Audio { format: &'a str, data: &'a str },
    /// A file: its name and its bytes.
    File { name: Option<&'a str>, source: Source<'a> },
}

/// Bytes in base64 with their media type, or an address.
pub(crate) enum Source<'a> {
    /// Bytes.
    Data { media: &'a str, base64: &'a str },
    /// An `https` address that the provider reads.
    Url(&'a str),
}

/// Details of a picture that change nothing.
const DETAIL_OF_NO_EFFECT: &str = "auto";

impl<'a> Part<'a> {
    /// Reads a part.
    ///
    /// # Errors
    /// `Member` with the part's path; an unknown kind, and a picture's `detail` that asks for something, are told too.
    pub(crate) fn read(part: &'a Map<String, Value>, path: &str) -> Result<Self, WireError> {
        let text = |pointer: [&str; 2]| part.get(pointer[0])?.get(pointer[1])?.as_str();
        let wrong = |reason| WireError::member(path, reason);
        match part.get("type").and_then(Value::as_str) {
            Some("text") => part
                .get("text")
                .and_then(Value::as_str)
                .map(Self::Text)
                .ok_or_else(|| wrong("must have a text")),
            Some("image_url") => {
                if text(["image_url", "detail"]).is_some_and(|detail| detail != DETAIL_OF_NO_EFFECT) {
                    return Err(WireError::member(
                        format!("{path}.image_url.detail"),
                        "is not known to this provider",
                    ));
                }
                let url = text(["image_url", "url"]).ok_or_else(|| wrong("must have `image_url.url`"))?;
                Source::read(url, path, "image_url.url").map(Self::Image)
            }
            Some("input_audio") => match (text(["input_audio", "format"]), text(["input_audio", "data"])) {
                (Some(format), Some(data)) => {
                    check_base64(data, path)?;
                    Ok(Self::Audio { format, data })
                }
                (_, _) => Err(wrong("must have `input_audio.format` and `input_audio.data`")),
            },
            Some("file") => {
                let data = text(["file", "file_data"]).ok_or_else(|| {
                    wrong("must have `file.file_data`: files of a provider's own store are not reached")
                })?;
                let source = Source::read(data, path, "file.file_data")?;
                Ok(Self::File { name: text(["file", "filename"]), source })
            }
            Some(_) => Err(wrong("is of a kind that this provider is not given")),
            None => Err(wrong("must have a `type`")),
        }
    }
}

impl<'a> Source<'a> {
    fn read(url: &'a str, path: &str, name: &str) -> Result<Self, WireError> {
        if let Some(data) = url.strip_prefix("data:") {
            let (head, base64) = data.split_once(',').unwrap_or((data, ""));
            let Some(media) = head.strip_suffix(";base64").filter(|media| media.contains('/')) else {
                return Err(WireError::member(format!("{path}.{name}"), "must be `data:TYPE;base64,...`"));
            };
            check_base64(base64, path)?;
            return Ok(Self::Data { media: media.split(';').next().unwrap_or(media), base64 });
        }
        if url.starts_with("https://") || url.starts_with("http://") {
            return Ok(Self::Url(url));
        }
        Err(WireError::member(
            format!("{path}.{name}"),
            "must be a data URL or an address that begins with https://",
        ))
    }
}

/// Refuses what is no base64: a few bytes at the end are decoded, the rest is looked at.
fn check_base64(text: &str, path: &str) -> Result<(), WireError> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let tail = text.len().saturating_sub(4);
    let whole = !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.bytes().all(known)
        && text.get(tail..).is_some_and(|end| STANDARD.decode(end).is_ok());
    if whole { Ok(()) } else { Err(WireError::member(path, "holds no base64")) }
}
