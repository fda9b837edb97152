//! Requests.

use serde_json::{Map, Value, json};

use super::{ANSWER_TOOL, answers_by_tool};
use crate::error::WireError;
use crate::family::{Family, Target};
use crate::message::{Content, Message, Part, ResponseFormat, Role, Schema, Source, Tool, ToolChoice};
use crate::request::ChatRequest;
use crate::spoken::{Raw, Renamed, arguments, array, called, check, no_more, numbers, object, stops};
use crate::upstream::{Header, UpstreamRequest};

const FAMILY: Family = Family::Anthropic;

/// Members with a word of their own here.
const SAID: &[&str] = &[
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "stop",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "user",
    "thinking",
    "service_tier",
];

const NUMBERS: &[Renamed] = &[
    Renamed { ours: "temperature", theirs: "temperature" },
    Renamed { ours: "top_p", theirs: "top_p" },
    Renamed { ours: "top_k", theirs: "top_k" },
];

const VERSION: Header = Header { name: "anthropic-version", value: "2023-06-01" };

/// The request.
pub(crate) fn chat(target: &Target, request: &ChatRequest) -> Result<UpstreamRequest, WireError> {
    check(request, FAMILY, SAID)?;
    let mut body = Map::new();
    body.insert("max_tokens".into(), request.max_tokens().unwrap_or(target.max_tokens).into());
    numbers(request, NUMBERS, &mut body)?;
    if let Some(stops) = stops(request)? {
        body.insert("stop_sequences".into(), stops.into());
    }
    if request.stream() {
        body.insert("stream".into(), true.into());
    }
    person(request, &mut body)?;
    Ok(UpstreamRequest::post("/v1/messages", prompt(target, request, body)?).with(VERSION))
}

/// The request for the tokens of a chat's prompt: nothing is said of its answer.
pub(crate) fn count_request(target: &Target, request: &ChatRequest) -> Result<UpstreamRequest, WireError> {
    check(request, FAMILY, SAID)?;
    let body = prompt(target, request, Map::new())?;
    Ok(UpstreamRequest::post("/v1/messages/count_tokens", body).with(VERSION))
}

/// The body of a prompt, beside members about its answer.
fn prompt(target: &Target, request: &ChatRequest, mut body: Map<String, Value>) -> Result<String, WireError> {
    body.insert("model".into(), target.model.as_str().into());
    let messages = request.messages()?;
    let Leading { system, rest } = Leading::read(&messages)?;
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), turns(&messages, rest)?.into());
    thinking(request, &mut body)?;
    let mut raw = Vec::new();
    tools(target, request, &mut body, &mut raw)?;
    format(target, request, &mut body, &mut raw)?;
    Ok(object(body, &raw))
}

/// The instructions that lead, and where the rest begins: the wire has one place for them.
struct Leading {
    system: Vec<Value>,
    rest: usize,
}

impl Leading {
    fn read(messages: &[Message]) -> Result<Self, WireError> {
        let is_instruction = |message: &Message| matches!(message.role, Role::System | Role::Developer);
        let rest = messages.iter().take_while(|message| is_instruction(message)).count();
        if let Some(late) = messages.iter().skip(rest).position(is_instruction) {
            return Err(WireError::inexpressible(format!("messages[{}].role", rest + late), FAMILY));
        }
        let mut system = Vec::new();
        for (place, message) in messages.iter().take(rest).enumerate() {
            let path = format!("messages[{place}]");
            plain(message, &path)?;
            for block in content(message.content.as_ref(), &path)? {
                if block.get("type").and_then(Value::as_str) != Some("text") {
                    return Err(WireError::inexpressible(format!("{path}.content"), FAMILY));
                }
                system.push(block);
            }
        }
        Ok(Self { system, rest })
    }
}

/// Refuses what a message holds beyond what its role has a word for.
fn plain(message: &Message, path: &str) -> Result<(), WireError> {
    if message.name.is_some() {
        return Err(WireError::inexpressible(format!("{path}.name"), FAMILY));
    }
    if message.role != Role::Assistant && !message.calls().is_empty() {
        return Err(WireError::member(format!("{path}.tool_calls"), "belongs to the assistant alone"));
    }
    let known = |name: &str| message.role == Role::Tool && name == IS_ERROR;
    let extra = message.extra.iter().filter(|(name, _)| !known(name));
    no_more(&extra.map(|(name, value)| (name.clone(), value.clone())).collect(), path, FAMILY)
}

/// Member of a tool's result that failed, which OpenAI's words do not have.
const IS_ERROR: &str = "is_error";

/// The turns: neighbours of one role are one, results of tools come first in the turn of the user.
fn turns(messages: &[Message], from: usize) -> Result<Vec<Value>, WireError> {
    let mut turns: Vec<Turn> = Vec::new();
    for (place, message) in messages.iter().enumerate().skip(from) {
        let path = format!("messages[{place}]");
        plain(message, &path)?;
        let assistant = message.role == Role::Assistant;
        let blocks = match message.role {
            Role::Assistant => said(message, &path)?,
            Role::Tool => vec![result(messages, place, &path)?],
            Role::User | Role::System | Role::Developer => content(message.content.as_ref(), &path)?,
        };
        match turns.last_mut() {
            Some(turn) if turn.assistant == assistant => turn.blocks.extend(blocks),
            Some(_) | None => turns.push(Turn { assistant, blocks }),
        }
    }
    Ok(turns
        .into_iter()
        .map(|turn| {
            let role = if turn.assistant { "assistant" } else { "user" };
            json!({"role": role, "content": turn.blocks})
        })
        .collect())
}

struct Turn {
    assistant: bool,
    blocks: Vec<Value>,
}

/// Words of the assistant: its signed thoughts, its text, its calls.
fn said(message: &Message, path: &str) -> Result<Vec<Value>, WireError> {
    if message.reasoning_content.is_some() && message.thinking_blocks.is_none() {
        return Err(WireError::inexpressible(format!("{path}.reasoning_content"), FAMILY));
    }
    let mut blocks = message.thinking_blocks.clone().unwrap_or_default();
    let signed = |block: &Value| {
        matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
    };
    if !blocks.iter().all(signed) {
        return Err(WireError::member(
            format!("{path}.thinking_blocks"),
            "must hold blocks of type `thinking` or `redacted_thinking`",
        ));
    }
    if message.content.is_some() {
        blocks.extend(content(message.content.as_ref(), path)?);
    }
    if let Some(refusal) = message.refusal.as_deref().filter(|text| !text.is_empty()) {
        blocks.push(json!({"type": "text", "text": refusal}));
    }
    for (number, call) in message.calls().iter().enumerate() {
        let path = format!("{path}.tool_calls[{number}]");
        let extra = call.extra.iter().filter(|(name, _)| *name != "cache_control");
        no_more(&extra.map(|(name, value)| (name.clone(), value.clone())).collect(), &path, FAMILY)?;
        let input = arguments(&call.function, &path)?;
        let mut block =
            json!({"type": "tool_use", "id": call.id, "name": call.function.name, "input": input});
        if let (Some(cache), Some(members)) = (call.extra.get("cache_control"), block.as_object_mut()) {
            members.insert("cache_control".into(), cache.clone());
        }
        blocks.push(block);
    }
    if blocks.is_empty() {
        return Err(WireError::member(
            format!("{path}.content"),
            "must hold something, or there must be `tool_calls`",
        ));
    }
    Ok(blocks)
}

/// The result of a tool.
fn result(messages: &[Message], place: usize, path: &str) -> Result<Value, WireError> {
    let call = called(messages, place)?;
    let message = messages.get(place);
    let blocks = content(message.and_then(|message| message.content.as_ref()), path)?;
    let mut block = json!({"type": "tool_result", "tool_use_id": call.id, "content": blocks});
    let failed = message.and_then(|message| message.extra.get(IS_ERROR)).and_then(Value::as_bool);
    if let (Some(true), Some(members)) = (failed, block.as_object_mut()) {
        members.insert(IS_ERROR.into(), true.into());
    }
    Ok(block)
}

/// A content as blocks. Empty texts are none: the wire refuses them.
fn content(content: Option<&Content>, path: &str) -> Result<Vec<Value>, WireError> {
    match content {
        None => Err(WireError::member(format!("{path}.content"), "must be a text or a list of parts")),
        Some(Content::Text(text)) if text.is_empty() => Ok(Vec::new()),
        Some(Content::Text(text)) => Ok(vec![json!({"type": "text", "text": text})]),
        Some(Content::Parts(parts)) => parts
            .iter()
            .enumerate()
            .map(|(number, part)| block(part, &format!("{path}.content[{number}]")))
            .collect(),
    }
}

/// Members of a part that are read, for each kind.
const READ: [&str; 5] = ["type", "text", "image_url", "file", "cache_control"];

fn block(part: &Map<String, Value>, path: &str) -> Result<Value, WireError> {
    let extra = part.iter().filter(|(name, _)| !READ.contains(&name.as_str()) && *name != "input_audio");
    no_more(&extra.map(|(name, value)| (name.clone(), value.clone())).collect(), path, FAMILY)?;
    let mut block = match Part::read(part, path)? {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(source) => json!({"type": "image", "source": of_source(source)}),
        Part::File { name, source } => {
            let mut block = json!({"type": "document", "source": of_source(source)});
            if let (Some(name), Some(members)) = (name, block.as_object_mut()) {
                members.insert("title".into(), name.into());
            }
            block
        }
        Part::Audio { .. } => return Err(WireError::inexpressible(format!("{path}.input_audio"), FAMILY)),
    };
    if let (Some(cache), Some(members)) = (part.get("cache_control"), block.as_object_mut()) {
        members.insert("cache_control".into(), cache.clone());
    }
    Ok(block)
}

fn of_source(source: Source<'_>) -> Value {
    match source {
        Source::Data { media, base64 } => json!({"type": "base64", "media_type": media, "data": base64}),
        Source::Url(url) => json!({"type": "url", "url": url}),
    }
}

/// The person in whose name the call is.
fn person(request: &ChatRequest, body: &mut Map<String, Value>) -> Result<(), WireError> {
    if let Some(user) = request.members().read_as::<String>("user", "must be a text")? {
        body.insert("metadata".into(), json!({"user_id": user}));
    }
    match request.members().read_as::<String>("service_tier", "must be a text")?.as_deref() {
        None | Some("auto") => Ok(()),
        Some("default" | "standard_only") => {
            body.insert("service_tier".into(), "standard_only".into());
            Ok(())
        }
        Some(_) => Err(WireError::inexpressible("service_tier", FAMILY)),
    }
}

/// Thinking: the wire's own member as it is, and the effort in OpenAI's word.
fn thinking(request: &ChatRequest, body: &mut Map<String, Value>) -> Result<(), WireError> {
    if let Some(thinking) =
        request.members().read_as::<Map<String, Value>>("thinking", "must be an object")?
    {
        body.insert("thinking".into(), thinking.into());
    }
    match request.members().read_as::<String>("reasoning_effort", "must be a text")?.as_deref() {
        None => Ok(()),
        Some("none") if !body.contains_key("thinking") => {
            body.insert("thinking".into(), json!({"type": "disabled"}));
            Ok(())
        }
        Some(effort @ ("low" | "medium" | "high" | "xhigh" | "max")) => {
            body.insert("output_config".into(), json!({"effort": effort}));
            Ok(())
        }
        Some(_) => Err(WireError::inexpressible("reasoning_effort", FAMILY)),
    }
}

fn tools(
    target: &Target,
    request: &ChatRequest,
    body: &mut Map<String, Value>,
    raw: &mut Vec<Raw<'_>>,
) -> Result<(), WireError> {
    let mut list = Vec::new();
    for (place, tool) in request.tools()?.iter().enumerate() {
        list.push(of_tool(tool, &format!("tools[{place}]"))?);
    }
    let by_tool = answers_by_tool(target, request)?;
    let choice = request.tool_choice()?;
    let own = !list.is_empty();
    if !own
        && !by_tool
        && choice.as_ref().is_some_and(|choice| !matches!(choice, ToolChoice::Auto | ToolChoice::None))
    {
        return Err(WireError::member("tool_choice", "needs `tools`"));
    }
    let one = request.member("parallel_tool_calls") == Some("false");
    let chosen = match (by_tool, choice) {
        (true, None) if own => Some(json!({"type": "any"})),
        (true, None | Some(ToolChoice::None)) => Some(json!({"type": "tool", "name": ANSWER_TOOL})),
        (true, Some(ToolChoice::Required)) => Some(json!({"type": "any"})),
        (true, Some(ToolChoice::Auto)) if own => Some(json!({"type": "any"})),
        (true, Some(ToolChoice::Auto)) => Some(json!({"type": "tool", "name": ANSWER_TOOL})),
        (true, Some(ToolChoice::Function(_))) => {
            return Err(WireError::inexpressible("response_format", FAMILY));
        }
        (false, None) if one && own => Some(json!({"type": "auto"})),
        (false, None) => None,
        (false, Some(_)) if !own => None,
        (false, Some(ToolChoice::Auto)) => Some(json!({"type": "auto"})),
        (false, Some(ToolChoice::None)) => Some(json!({"type": "none"})),
        (false, Some(ToolChoice::Required)) => Some(json!({"type": "any"})),
        (false, Some(ToolChoice::Function(name))) => Some(json!({"type": "tool", "name": name})),
    };
    if by_tool {
        list.push(answer_tool(request)?);
    }
    if !list.is_empty() {
        raw.push(Raw::new("tools", array(&list)));
    }
    if let Some(mut chosen) = chosen {
        let takes = chosen.get("type").and_then(Value::as_str) != Some("none");
        if let Some(members) = chosen.as_object_mut().filter(|_| one && takes) {
            members.insert("disable_parallel_tool_use".into(), true.into());
        }
        body.insert("tool_choice".into(), chosen);
    }
    Ok(())
}

fn of_tool(tool: &Tool, path: &str) -> Result<String, WireError> {
    let Some(function) = tool.function.as_ref().filter(|_| tool.kind == "function") else {
        return Err(WireError::inexpressible(format!("{path}.type"), FAMILY));
    };
    let extra = tool.extra.iter().filter(|(name, _)| *name != "cache_control");
    no_more(&extra.map(|(name, value)| (name.clone(), value.clone())).collect(), path, FAMILY)?;
    no_more(&function.extra, &format!("{path}.function"), FAMILY)?;
    if function.name == ANSWER_TOOL {
        return Err(WireError::member(format!("{path}.function.name"), "is the gateway's own"));
    }
    let mut out = Map::new();
    out.insert("name".into(), function.name.as_str().into());
    if let Some(text) = &function.description {
        out.insert("description".into(), text.as_str().into());
    }
    if function.strict == Some(true) {
        out.insert("strict".into(), true.into());
    }
    if let Some(cache) = tool.extra.get("cache_control") {
        out.insert("cache_control".into(), cache.clone());
    }
    let schema = function.parameters.as_ref().map_or(r#"{"type":"object","properties":{}}"#, Schema::text);
    Ok(object(out, &[Raw::new("input_schema", schema)]))
}

/// The tool whose arguments are the answer.
fn answer_tool(request: &ChatRequest) -> Result<String, WireError> {
    const WORDS: &str = "Gives the answer. Call it once, with the whole answer.";
    const ANY: &str = r#"{"type":"object","additionalProperties":true}"#;
    let mut tool = Map::new();
    tool.insert("name".into(), ANSWER_TOOL.into());
    Ok(match request.response_format()? {
        ResponseFormat::JsonSchema(schema) => {
            tool.insert("description".into(), schema.description.as_deref().unwrap_or(WORDS).into());
            if schema.strict == Some(true) {
                tool.insert("strict".into(), true.into());
            }
            object(tool, &[Raw::new("input_schema", schema.schema.text())])
        }
        ResponseFormat::JsonObject | ResponseFormat::Text => {
            tool.insert("description".into(), WORDS.into());
            object(tool, &[Raw::new("input_schema", ANY)])
        }
    })
}

/// The answer's format where the wire has a word for it.
fn format(
    target: &Target,
    request: &ChatRequest,
    body: &mut Map<String, Value>,
    raw: &mut Vec<Raw<'_>>,
) -> Result<(), WireError> {
    if answers_by_tool(target, request)? {
        return Ok(());
    }
    if let ResponseFormat::JsonSchema(schema) = request.response_format()? {
        let mut format = Map::new();
        format.insert("type".into(), "json_schema".into());
        let format = object(format, &[Raw::new("schema", schema.described())]);
        let config = match body.remove("output_config") {
            Some(Value::Object(config)) => config,
            Some(_) | None => Map::new(),
        };
        raw.push(Raw::new("output_config", object(config, &[Raw::new("format", format)])));
    }
    Ok(())
}
