//! Requests.

use serde_json::{Map, Value, json};

use super::path;
use crate::error::WireError;
use crate::family::{Family, Target};
use crate::message::{Content, Message, Part, ResponseFormat, Role, Source, Tool, ToolChoice};
use crate::request::ChatRequest;
use crate::spoken::{Raw, Renamed, arguments, array, called, check, no_more, numbers, object, stops};
use crate::upstream::UpstreamRequest;

const FAMILY: Family = Family::Gemini;

/// Members with a word of their own here; the last ones are the wire's own and pass as they are.
const SAID: &[&str] = &[
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "n",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "tools",
    "tool_choice",
    "response_format",
    "reasoning_effort",
    "safetySettings",
    "cachedContent",
    "thinkingConfig",
];

const NUMBERS: &[Renamed] = &[
    Renamed { ours: "temperature", theirs: "temperature" },
    Renamed { ours: "top_p", theirs: "topP" },
    Renamed { ours: "top_k", theirs: "topK" },
    Renamed { ours: "seed", theirs: "seed" },
    Renamed { ours: "n", theirs: "candidateCount" },
    Renamed { ours: "frequency_penalty", theirs: "frequencyPenalty" },
    Renamed { ours: "presence_penalty", theirs: "presencePenalty" },
];

/// Tokens of thought for OpenAI's words of effort, as Google's own compatible face has them.
const EFFORTS: [Effort; 5] = [
    Effort { word: "none", tokens: 0 },
    Effort { word: "minimal", tokens: 1_024 },
    Effort { word: "low", tokens: 1_024 },
    Effort { word: "medium", tokens: 8_192 },
    Effort { word: "high", tokens: 24_576 },
];

struct Effort {
    word: &'static str,
    tokens: u32,
}

/// The request.
pub(crate) fn chat(target: &Target, request: &ChatRequest) -> Result<UpstreamRequest, WireError> {
    check(request, FAMILY, SAID)?;
    let messages = request.messages()?;
    let mut body = Map::new();
    let rest = instructions(&messages, &mut body)?;
    body.insert("contents".into(), turns(&messages, rest)?.into());
    let mut raw = Vec::new();
    let config = config(request)?;
    if config != "{}" {
        raw.push(Raw::new("generationConfig", config));
    }
    tools(request, &mut body, &mut raw)?;
    for name in ["safetySettings", "cachedContent"] {
        if let Some(value) = request.members().read_as::<Value>(name, "is not read")? {
            body.insert(name.into(), value);
        }
    }
    let method = if request.stream() { "streamGenerateContent?alt=sse" } else { "generateContent" };
    Ok(UpstreamRequest::post(path(target, method), object(body, &raw)))
}

/// Puts the leading instructions in their place; gives where the rest begins.
fn instructions(messages: &[Message], body: &mut Map<String, Value>) -> Result<usize, WireError> {
    let is_instruction = |message: &Message| matches!(message.role, Role::System | Role::Developer);
    let rest = messages.iter().take_while(|message| is_instruction(message)).count();
    if let Some(late) = messages.iter().skip(rest).position(is_instruction) {
        return Err(WireError::inexpressible(format!("messages[{}].role", rest + late), FAMILY));
    }
    let mut parts = Vec::new();
    for (place, message) in messages.iter().take(rest).enumerate() {
        let path = format!("messages[{place}]");
        plain(message, &path)?;
        parts.extend(content(message.content.as_ref(), &path)?);
    }
    if !parts.is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": parts}));
    }
    Ok(rest)
}

fn plain(message: &Message, path: &str) -> Result<(), WireError> {
    if message.name.is_some() {
        return Err(WireError::inexpressible(format!("{path}.name"), FAMILY));
    }
    if message.role != Role::Assistant && !message.calls().is_empty() {
        return Err(WireError::member(format!("{path}.tool_calls"), "belongs to the assistant alone"));
    }
    if message.thinking_blocks.is_some() && message.reasoning_content.is_none() {
        return Err(WireError::inexpressible(format!("{path}.thinking_blocks"), FAMILY));
    }
    no_more(&message.extra, path, FAMILY)
}

/// The turns: neighbours of one role are one, as results of parallel calls have to be.
fn turns(messages: &[Message], from: usize) -> Result<Vec<Value>, WireError> {
    let mut turns: Vec<Turn> = Vec::new();
    for (place, message) in messages.iter().enumerate().skip(from) {
        let path = format!("messages[{place}]");
        plain(message, &path)?;
        let model = message.role == Role::Assistant;
        let parts = match message.role {
            Role::Assistant => said(message, &path)?,
            Role::Tool => vec![result(messages, place, message, &path)?],
            Role::User | Role::System | Role::Developer => content(message.content.as_ref(), &path)?,
        };
        match turns.last_mut() {
            Some(turn) if turn.model == model => turn.parts.extend(parts),
            Some(_) | None => turns.push(Turn { model, parts }),
        }
    }
    let role = |model| if model { "model" } else { "user" };
    Ok(turns.into_iter().map(|turn| json!({"role": role(turn.model), "parts": turn.parts})).collect())
}

struct Turn {
    model: bool,
    parts: Vec<Value>,
}

fn said(message: &Message, path: &str) -> Result<Vec<Value>, WireError> {
    let mut parts = Vec::new();
    if let Some(thought) = message.reasoning_content.as_deref().filter(|text| !text.is_empty()) {
        parts.push(json!({"text": thought, "thought": true}));
    }
    if message.content.is_some() {
        parts.extend(content(message.content.as_ref(), path)?);
    }
    if let Some(refusal) = message.refusal.as_deref().filter(|text| !text.is_empty()) {
        parts.push(json!({"text": refusal}));
    }
    for (number, call) in message.calls().iter().enumerate() {
        let path = format!("{path}.tool_calls[{number}]");
        let signature = call
            .extra
            .get("extra_content")
            .and_then(|extra| extra.pointer("/google/thought_signature"))
            .and_then(Value::as_str);
        let extra = call.extra.iter().filter(|(name, _)| *name != "extra_content" || signature.is_none());
        no_more(&extra.map(|(name, value)| (name.clone(), value.clone())).collect(), &path, FAMILY)?;
        let mut function = json!({"name": call.function.name, "args": arguments(&call.function, &path)?});
        put_id(&mut function, &call.id);
        let mut part = json!({"functionCall": function});
        if let (Some(signature), Some(members)) = (signature, part.as_object_mut()) {
            members.insert("thoughtSignature".into(), signature.into());
        }
        parts.push(part);
    }
    if parts.is_empty() {
        return Err(WireError::member(
            format!("{path}.content"),
            "must hold something, or there must be `tool_calls`",
        ));
    }
    Ok(parts)
}

/// Puts an id of the provider's in; those that were made here mean nothing to it.
fn put_id(function: &mut Value, id: &str) {
    if let Some(members) = function.as_object_mut().filter(|_| !id.is_empty() && !id.starts_with("call_")) {
        members.insert("id".into(), id.into());
    }
}

/// The result of a function: an object as it is, any other text as its output.
fn result(messages: &[Message], place: usize, message: &Message, path: &str) -> Result<Value, WireError> {
    let call = called(messages, place)?;
    let Some(content) = &message.content else {
        return Err(WireError::member(format!("{path}.content"), "must be a text or a list of parts"));
    };
    if let Content::Parts(parts) = content
        && let Some(other) = parts.iter().position(|part| part.get("text").is_none())
    {
        return Err(WireError::inexpressible(format!("{path}.content[{other}]"), FAMILY));
    }
    let text = content.text();
    let response = match serde_json::from_str::<Value>(&text) {
        Ok(value) if value.is_object() => value,
        Ok(_) | Err(_) => json!({"output": text}),
    };
    let mut function = json!({"name": call.function.name, "response": response});
    put_id(&mut function, &call.id);
    Ok(json!({"functionResponse": function}))
}

fn content(content: Option<&Content>, path: &str) -> Result<Vec<Value>, WireError> {
    match content {
        None => Err(WireError::member(format!("{path}.content"), "must be a text or a list of parts")),
        Some(Content::Text(text)) if text.is_empty() => Ok(Vec::new()),
        Some(Content::Text(text)) => Ok(vec![json!({"text": text})]),
        Some(Content::Parts(parts)) => parts
            .iter()
            .enumerate()
            .map(|(number, part)| of_part(part, &format!("{path}.content[{number}]")))
            .collect(),
    }
}

const READ: [&str; 5] = ["type", "text", "image_url", "file", "input_audio"];

fn of_part(part: &Map<String, Value>, path: &str) -> Result<Value, WireError> {
    let extra = part.iter().filter(|(name, _)| !READ.contains(&name.as_str()));
    no_more(&extra.map(|(name, value)| (name.clone(), value.clone())).collect(), path, FAMILY)?;
    Ok(match Part::read(part, path)? {
        Part::Text(text) => json!({"text": text}),
        Part::Image(source) => of_source(source),
        Part::File { name: None, source } => of_source(source),
        Part::File { name: Some(name), source } => {
            let mut part = of_source(source);
            if let Some(data) = part.get_mut("inlineData").and_then(Value::as_object_mut) {
                data.insert("displayName".into(), name.into());
            }
            part
        }
        Part::Audio { format, data } => {
            json!({"inlineData": {"mimeType": format!("audio/{format}"), "data": data}})
        }
    })
}

fn of_source(source: Source<'_>) -> Value {
    match source {
        Source::Data { media, base64 } => json!({"inlineData": {"mimeType": media, "data": base64}}),
        Source::Url(url) => match media_of(url) {
            Some(media) => json!({"fileData": {"fileUri": url, "mimeType": media}}),
            None => json!({"fileData": {"fileUri": url}}),
        },
    }
}

/// The media type by an address' ending.
fn media_of(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    match path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "webp" => Some("image/webp"),
        "gif" => Some("image/gif"),
        "heic" => Some("image/heic"),
        "pdf" => Some("application/pdf"),
        _ => None,
    }
}

fn config(request: &ChatRequest) -> Result<String, WireError> {
    let mut config = Map::new();
    let mut raw = Vec::new();
    numbers(request, NUMBERS, &mut config)?;
    if let Some(count) = request.max_tokens() {
        config.insert("maxOutputTokens".into(), count.into());
    }
    if let Some(stops) = stops(request)? {
        config.insert("stopSequences".into(), stops.into());
    }
    match request.response_format()? {
        ResponseFormat::Text => {}
        ResponseFormat::JsonObject => {
            config.insert("responseMimeType".into(), "application/json".into());
        }
        ResponseFormat::JsonSchema(schema) => {
            config.insert("responseMimeType".into(), "application/json".into());
            raw.push(Raw::new("responseJsonSchema", schema.described()));
        }
    }
    let thinking = request.members().read_as::<Map<String, Value>>("thinkingConfig", "must be an object")?;
    let mut thinking = thinking.unwrap_or_default();
    if let Some(word) = request.members().read_as::<String>("reasoning_effort", "must be a text")? {
        let effort = EFFORTS.iter().find(|effort| effort.word == word);
        let effort = effort.ok_or_else(|| WireError::inexpressible("reasoning_effort", FAMILY))?;
        thinking.insert("thinkingBudget".into(), effort.tokens.into());
    }
    if !thinking.is_empty() {
        config.insert("thinkingConfig".into(), thinking.into());
    }
    Ok(object(config, &raw))
}

fn tools(
    request: &ChatRequest,
    body: &mut Map<String, Value>,
    raw: &mut Vec<Raw<'_>>,
) -> Result<(), WireError> {
    let tools = request.tools()?;
    let choice = request.tool_choice()?;
    if tools.is_empty() {
        return match choice {
            Some(ToolChoice::Required | ToolChoice::Function(_)) => {
                Err(WireError::member("tool_choice", "needs `tools`"))
            }
            Some(ToolChoice::Auto | ToolChoice::None) | None => Ok(()),
        };
    }
    let mut functions = Vec::with_capacity(tools.len());
    for (place, tool) in tools.iter().enumerate() {
        functions.push(declaration(tool, &format!("tools[{place}]"))?);
    }
    let declared = object(Map::new(), &[Raw::new("functionDeclarations", array(&functions))]);
    raw.push(Raw::new("tools", array(&[declared])));
    let strict =
        tools.iter().any(|tool| tool.function.as_ref().is_some_and(|function| function.strict == Some(true)));
    let config = match choice {
        // The mode in which arguments obey their schemas holds for all functions.
        None | Some(ToolChoice::Auto) if strict => Some(json!({"mode": "VALIDATED"})),
        None => None,
        Some(ToolChoice::Auto) => Some(json!({"mode": "AUTO"})),
        Some(ToolChoice::None) => Some(json!({"mode": "NONE"})),
        Some(ToolChoice::Required) => Some(json!({"mode": "ANY"})),
        Some(ToolChoice::Function(name)) => Some(json!({"mode": "ANY", "allowedFunctionNames": [name]})),
    };
    if let Some(config) = config {
        body.insert("toolConfig".into(), json!({"functionCallingConfig": config}));
    }
    Ok(())
}

fn declaration(tool: &Tool, path: &str) -> Result<String, WireError> {
    let Some(function) = tool.function.as_ref().filter(|_| tool.kind == "function") else {
        return Err(WireError::inexpressible(format!("{path}.type"), FAMILY));
    };
    no_more(&tool.extra, path, FAMILY)?;
    no_more(&function.extra, &format!("{path}.function"), FAMILY)?;
    let mut out = Map::new();
    out.insert("name".into(), function.name.as_str().into());
    if let Some(text) = &function.description {
        out.insert("description".into(), text.as_str().into());
    }
    let schema = function.parameters.as_ref().map(|schema| Raw::new("parametersJsonSchema", schema.text()));
    Ok(object(out, schema.as_slice()))
}
