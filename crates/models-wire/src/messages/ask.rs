//! Requests.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use super::{MessageForm, Messages, blocks};
use crate::error::WireError;
use crate::members::Members;
use crate::message::{Content, Function, Message, Schema, Tool, each};
use crate::request::ChatRequest;
use crate::spoken::{Raw, array, object, says_more};

/// Members of which a prompt is made.
const PROMPT: [&str; 7] =
    ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"];

/// Members about the answer alone.
const ANSWER: [&str; 8] =
    ["max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "stream", "metadata", "service_tier"];

/// Reason for members that nothing here has a word for.
pub(super) const UNKNOWN: &str = "is not known to this interface";

/// Reads a body.
pub(super) fn read(body: Bytes) -> Result<Messages, WireError> {
    let members = Members::read(body)?;
    if let Some(name) = members.names().find(|name| !PROMPT.contains(name) && !ANSWER.contains(name)) {
        return Err(WireError::member(name, UNKNOWN));
    }
    let (mut made, mut raw) = (Map::new(), Vec::new());
    let stops = head(&members, &mut made, &mut raw)?;
    let request = chat(&members, made, raw)?;
    let form = MessageForm {
        thoughts: thoughts(&members)?,
        input: request.estimated_tokens(),
        stops: Arc::from(stops),
    };
    Ok(Messages { request, form })
}

/// Reads a body whose tokens are to be counted: a prompt without what is about its answer.
pub(super) fn prompt(body: Bytes) -> Result<ChatRequest, WireError> {
    let members = Members::read(body)?;
    if let Some(name) = members.names().find(|name| !PROMPT.contains(name)) {
        return Err(WireError::member(name, UNKNOWN));
    }
    thoughts(&members)?;
    chat(&members, Map::new(), Vec::new())
}

/// The chat of a prompt, beside members about its answer.
fn chat<'a>(
    members: &'a Members,
    mut made: Map<String, Value>,
    mut raw: Vec<Raw<'a>>,
) -> Result<ChatRequest, WireError> {
    let model = members.read_as::<String>("model", "must be a text")?.filter(|name| !name.is_empty());
    let model = model.ok_or_else(|| WireError::member("model", "must name a deployment"))?;
    made.insert("model".into(), model.into());
    raw.extend(members.get("thinking").map(|text| Raw::new("thinking", text)));
    tools(members, &mut made, &mut raw)?;
    output(members, &mut made, &mut raw)?;
    let messages = conversation(members)?;
    let Ok(messages) = serde_json::to_string(&messages) else {
        return Err(WireError::member("messages", "can't be written"));
    };
    raw.push(Raw::new("messages", messages));
    ChatRequest::read(Bytes::from(object(made, &raw)))
}

/// Members about the answer, which stand by themselves; gives the texts at which it ends.
fn head<'a>(
    members: &'a Members,
    made: &mut Map<String, Value>,
    raw: &mut Vec<Raw<'a>>,
) -> Result<Vec<String>, WireError> {
    const BOUND: &str = "must be a positive integer";
    let most = members.read_as::<u64>("max_tokens", BOUND)?.filter(|most| *most > 0);
    made.insert("max_tokens".into(), most.ok_or_else(|| WireError::member("max_tokens", BOUND))?.into());
    for name in ["temperature", "top_p", "top_k"] {
        if members.read_as::<Number>(name, "must be a number")?.is_some() {
            raw.extend(members.get(name).map(|text| Raw::new(name, text)));
        }
    }
    let stops = members.read_as::<Vec<String>>("stop_sequences", "must be a list of texts")?;
    let stops = stops.unwrap_or_default();
    if !stops.is_empty() {
        made.insert("stop".into(), stops.clone().into());
    }
    if members.read_as::<bool>("stream", "must be true or false")?.unwrap_or(false) {
        made.insert("stream".into(), true.into());
        made.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if let Some(mut labels) = members.read_as::<Map<String, Value>>("metadata", "must be an object")? {
        match labels.remove("user_id") {
            None | Some(Value::Null) => {}
            Some(Value::String(user)) => {
                made.insert("user".into(), user.into());
            }
            Some(_) => return Err(WireError::member("metadata.user_id", "must be a text")),
        }
        nothing_more(&labels, "metadata")?;
    }
    if let Some(tier) = members.read_as::<String>("service_tier", "must be a text")? {
        made.insert("service_tier".into(), tier.into());
    }
    Ok(stops)
}

/// Refuses members of other names than those read, unless they are null, false or empty.
pub(super) fn nothing_more(extra: &Map<String, Value>, path: &str) -> Result<(), WireError> {
    match says_more(extra) {
        Some(name) => Err(WireError::member(format!("{path}.{name}"), UNKNOWN)),
        None => Ok(()),
    }
}

/// Whether thoughts are asked for.
fn thoughts(members: &Members) -> Result<bool, WireError> {
    let thinking = members.read_as::<Map<String, Value>>("thinking", "must be an object")?;
    Ok(match thinking {
        None => false,
        Some(thinking) => match thinking.get("type").and_then(Value::as_str) {
            Some(kind) => kind != "disabled",
            None => return Err(WireError::member("thinking.type", "must be a text")),
        },
    })
}

#[derive(Deserialize)]
struct ToolIn {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Option<Schema>,
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    strict: Option<bool>,
    #[serde(default)]
    cache_control: Option<Value>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl ToolIn {
    fn said(self, path: &str) -> Result<String, WireError> {
        if self.kind.is_some_and(|kind| kind != "custom") {
            return Err(WireError::member(
                format!("{path}.type"),
                "names a tool that a provider runs itself",
            ));
        }
        nothing_more(&self.extra, path)?;
        let Some(schema) = self.input_schema else {
            return Err(WireError::member(format!("{path}.input_schema"), "must be a JSON schema"));
        };
        let tool = Tool {
            kind: "function".to_owned(),
            function: Some(Function {
                name: self.name,
                description: self.description,
                parameters: Some(schema),
                strict: self.strict,
                extra: Map::new(),
            }),
            extra: self.cache_control.map(|cache| ("cache_control".to_owned(), cache)).into_iter().collect(),
        };
        match serde_json::to_string(&tool) {
            Ok(text) => Ok(text),
            Err(_unwritten) => Err(WireError::member(path, "can't be written")),
        }
    }
}

#[derive(Deserialize)]
struct ChoiceIn {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    disable_parallel_tool_use: Option<bool>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// Tools, and the choice among them.
fn tools(members: &Members, made: &mut Map<String, Value>, raw: &mut Vec<Raw<'_>>) -> Result<(), WireError> {
    const TOOL: &str = "is no tool: `name`, `input_schema` and their shapes";
    const CHOICE: &str = "must be an object with `type` `auto`, `any`, `tool` (with `name`) or `none`";
    let mut list = Vec::new();
    for (place, tool) in each::<ToolIn>("tools", members.get("tools"), TOOL)?.into_iter().enumerate() {
        list.push(tool.said(&format!("tools[{place}]"))?);
    }
    if !list.is_empty() {
        raw.push(Raw::new("tools", array(&list)));
    }
    let Some(choice) = members.read_as::<ChoiceIn>("tool_choice", CHOICE)? else { return Ok(()) };
    nothing_more(&choice.extra, "tool_choice")?;
    let chosen = match (choice.kind.as_str(), choice.name) {
        ("auto", None) => json!("auto"),
        ("any", None) => json!("required"),
        ("none", None) => json!("none"),
        ("tool", Some(name)) => json!({"type": "function", "function": {"name": name}}),
        (_, _) => return Err(WireError::member("tool_choice", CHOICE)),
    };
    if list.is_empty() && matches!(choice.kind.as_str(), "any" | "tool") {
        return Err(WireError::member("tool_choice", "needs `tools`"));
    }
    if !list.is_empty() {
        made.insert("tool_choice".into(), chosen);
        if choice.disable_parallel_tool_use == Some(true) {
            made.insert("parallel_tool_calls".into(), false.into());
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct OutputIn {
    #[serde(default)]
    effort: Option<String>,
    #[serde(default)]
    format: Option<FormatIn>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatIn {
    #[serde(rename = "type")]
    kind: String,
    schema: Schema,
}

/// The answer's format, and the effort for it.
fn output(members: &Members, made: &mut Map<String, Value>, raw: &mut Vec<Raw<'_>>) -> Result<(), WireError> {
    const REASON: &str = "must be an object with `effort` and `format`, whose `type` is `json_schema`";
    let Some(output) = members.read_as::<OutputIn>("output_config", REASON)? else { return Ok(()) };
    nothing_more(&output.extra, "output_config")?;
    if let Some(effort) = output.effort {
        made.insert("reasoning_effort".into(), effort.into());
    }
    if let Some(format) = output.format {
        if format.kind != "json_schema" {
            return Err(WireError::member("output_config.format.type", "must be `json_schema`"));
        }
        let named =
            Map::from_iter([("name".to_owned(), json!("answer")), ("strict".to_owned(), json!(true))]);
        let schema = object(named, &[Raw::new("schema", format.schema.text())]);
        let kind = Map::from_iter([("type".to_owned(), json!("json_schema"))]);
        raw.push(Raw::new("response_format", object(kind, &[Raw::new("json_schema", schema)])));
    }
    Ok(())
}

#[derive(Deserialize)]
struct MessageIn {
    role: String,
    content: Content,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// The instructions, and the turns.
fn conversation(members: &Members) -> Result<Vec<Message>, WireError> {
    const TURN: &str = "is no message: `role`, and `content`, a text or a list of blocks";
    let mut out = Vec::new();
    let system = members.read_as::<Content>("system", "must be a text or a list of blocks of text")?;
    out.extend(system.map(|content| blocks::system(content, "system")).transpose()?.flatten());
    let turns = each::<MessageIn>("messages", members.get("messages"), TURN)?;
    if turns.is_empty() {
        return Err(WireError::member("messages", "must be a list with a message at least"));
    }
    for (place, turn) in turns.into_iter().enumerate() {
        let path = format!("messages[{place}]");
        nothing_more(&turn.extra, &path)?;
        match turn.role.as_str() {
            "user" => blocks::user(turn.content, &path, &mut out)?,
            "assistant" => out.push(blocks::assistant(turn.content, &path)?),
            "system" => out.extend(blocks::system(turn.content, &format!("{path}.content"))?),
            _ => {
                let reason = "must be `user`, `assistant` or `system`";
                return Err(WireError::member(format!("{path}.role"), reason));
            }
        }
    }
    Ok(out)
}
