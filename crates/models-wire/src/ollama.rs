//! Ollama's own `/api`: chats as a line of JSON each, and embeddings.
//!
//! Sources: Ollama's API reference (`/api/chat`, `/api/embed`) and its pages on tools, structured outputs and thinking.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json as value};

use crate::chunk::{ChunkWriter, StreamEvent};
use crate::embedding::{EmbeddingRequest, EmbeddingResponse, check_dimensions};
use crate::error::{AnswerFault, WireError};
use crate::family::{Family, Target};
use crate::message::{
    Content, FunctionCall, Message, Part, ResponseFormat, Role, Schema, Source, Tool, ToolCall, ToolChoice,
};
use crate::refusal;
use crate::request::ChatRequest;
use crate::response::{Answer, ChatResponse, FinishReason, Made, completion};
use crate::spoken::{
    Raw, Renamed, StreamReader, arguments, array, call_id, called, check, json, no_more, numbers, object,
    stops,
};
use crate::upstream::UpstreamRequest;
use crate::usage::{Usage, count};

const FAMILY: Family = Family::Ollama;

/// Members with a word here; the last ones are the wire's own and pass as they are.
const SAID: &[&str] = &[
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "tools",
    "tool_choice",
    "response_format",
    "reasoning_effort",
    "options",
    "keep_alive",
    "think",
];

const OPTIONS: &[Renamed] = &[
    Renamed { ours: "temperature", theirs: "temperature" },
    Renamed { ours: "top_p", theirs: "top_p" },
    Renamed { ours: "top_k", theirs: "top_k" },
    Renamed { ours: "seed", theirs: "seed" },
    Renamed { ours: "frequency_penalty", theirs: "frequency_penalty" },
    Renamed { ours: "presence_penalty", theirs: "presence_penalty" },
];

/// The request.
pub(crate) fn chat(target: &Target, request: &ChatRequest) -> Result<UpstreamRequest, WireError> {
    check(request, FAMILY, SAID)?;
    let messages = request.messages()?;
    let told: Vec<Value> =
        (0..messages.len()).map(|place| of_message(&messages, place)).collect::<Result<_, _>>()?;
    let mut body = Map::new();
    let mut raw = Vec::new();
    body.insert("model".into(), target.model.as_str().into());
    body.insert("messages".into(), told.into());
    body.insert("stream".into(), request.stream().into());
    let mut options =
        request.members().read_as::<Map<String, Value>>("options", "must be an object")?.unwrap_or_default();
    numbers(request, OPTIONS, &mut options)?;
    if let Some(count) = request.max_tokens() {
        options.insert("num_predict".into(), count.into());
    }
    if let Some(stops) = stops(request)? {
        options.insert("stop".into(), stops.into());
    }
    resident_context(target, &mut options);
    if !options.is_empty() {
        body.insert("options".into(), options.into());
    }
    match request.response_format()? {
        ResponseFormat::Text => {}
        ResponseFormat::JsonObject => {
            body.insert("format".into(), "json".into());
        }
        ResponseFormat::JsonSchema(schema) => {
            raw.push(Raw::new("format", schema.described()));
        }
    }
    for name in ["keep_alive", "think"] {
        if let Some(value) = request.members().read_as::<Value>(name, "is not read")? {
            body.insert(name.into(), value);
        }
    }
    resident_time(target, &mut body);
    effort(request, &mut body)?;
    tools(request, &mut raw)?;
    Ok(UpstreamRequest::post("/api/chat", object(body, &raw)))
}

/// Adds the context of the target: a call with another one than the last has the model read anew.
fn resident_context(target: &Target, options: &mut Map<String, Value>) {
    if let Some(length) = target.context_length {
        options.entry("num_ctx").or_insert_with(|| length.into());
    }
}

/// Adds the time for which the model stays: one that was told once holds until another call tells another.
fn resident_time(target: &Target, body: &mut Map<String, Value>) {
    if let Some(seconds) = target.keep_alive {
        body.entry("keep_alive").or_insert_with(|| seconds.into());
    }
}

fn effort(request: &ChatRequest, body: &mut Map<String, Value>) -> Result<(), WireError> {
    match request.members().read_as::<String>("reasoning_effort", "must be a text")?.as_deref() {
        None => {}
        Some("none") => {
            body.insert("think".into(), false.into());
        }
        Some(effort @ ("low" | "medium" | "high")) => {
            body.insert("think".into(), effort.into());
        }
        Some(_) => return Err(WireError::inexpressible("reasoning_effort", FAMILY)),
    }
    Ok(())
}

/// Tools: the wire leaves the choice to the model, or has none.
fn tools(request: &ChatRequest, raw: &mut Vec<Raw<'_>>) -> Result<(), WireError> {
    let tools = request.tools()?;
    let mut list = Vec::with_capacity(tools.len());
    for (place, tool) in tools.iter().enumerate() {
        list.push(of_tool(tool, &format!("tools[{place}]"))?);
    }
    match request.tool_choice()? {
        None | Some(ToolChoice::Auto) if list.is_empty() => {}
        None | Some(ToolChoice::Auto) => raw.push(Raw::new("tools", array(&list))),
        Some(ToolChoice::None) => {}
        Some(ToolChoice::Required | ToolChoice::Function(_)) => {
            return Err(WireError::inexpressible("tool_choice", FAMILY));
        }
    }
    Ok(())
}

fn of_tool(tool: &Tool, path: &str) -> Result<String, WireError> {
    let Some(function) = tool.function.as_ref().filter(|_| tool.kind == "function") else {
        return Err(WireError::inexpressible(format!("{path}.type"), FAMILY));
    };
    no_more(&tool.extra, path, FAMILY)?;
    no_more(&function.extra, &format!("{path}.function"), FAMILY)?;
    if function.strict == Some(true) {
        return Err(WireError::inexpressible(format!("{path}.function.strict"), FAMILY));
    }
    let mut out = Map::new();
    out.insert("name".into(), function.name.as_str().into());
    out.insert("description".into(), function.description.clone().unwrap_or_default().into());
    let schema = function.parameters.as_ref().map_or(r#"{"type":"object","properties":{}}"#, Schema::text);
    let function = object(out, &[Raw::new("parameters", schema)]);
    let mut tool = Map::new();
    tool.insert("type".into(), "function".into());
    Ok(object(tool, &[Raw::new("function", function)]))
}

fn of_message(messages: &[Message], place: usize) -> Result<Value, WireError> {
    let Some(message) = messages.get(place) else { return Ok(Value::Null) };
    let path = format!("messages[{place}]");
    if message.name.is_some() {
        return Err(WireError::inexpressible(format!("{path}.name"), FAMILY));
    }
    if message.thinking_blocks.is_some() && message.reasoning_content.is_none() {
        return Err(WireError::inexpressible(format!("{path}.thinking_blocks"), FAMILY));
    }
    no_more(&message.extra, &path, FAMILY)?;
    let role = match message.role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut told = Map::new();
    told.insert("role".into(), role.into());
    let mut content = of_content(message, &path)?;
    if let Some(refusal) = &message.refusal {
        content.text.push_str(refusal);
    }
    told.insert("content".into(), content.text.into());
    if !content.images.is_empty() {
        told.insert("images".into(), content.images.into());
    }
    if let Some(thought) = &message.reasoning_content {
        told.insert("thinking".into(), thought.as_str().into());
    }
    if message.role == Role::Tool {
        told.insert("tool_name".into(), called(messages, place)?.function.name.as_str().into());
    }
    let mut calls = Vec::new();
    for (number, call) in message.calls().iter().enumerate() {
        let path = format!("{path}.tool_calls[{number}]");
        no_more(&call.extra, &path, FAMILY)?;
        let arguments = arguments(&call.function, &path)?;
        calls.push(value!({"function": {"name": call.function.name, "arguments": arguments}}));
    }
    if !calls.is_empty() {
        told.insert("tool_calls".into(), calls.into());
    }
    Ok(told.into())
}

/// A content: its texts in one, and its pictures beside.
#[derive(Default)]
struct Told {
    text: String,
    images: Vec<Value>,
}

fn of_content(message: &Message, path: &str) -> Result<Told, WireError> {
    match &message.content {
        None if message.calls().is_empty() && message.refusal.is_none() => {
            Err(WireError::member(format!("{path}.content"), "must be a text or a list of parts"))
        }
        None => Ok(Told::default()),
        Some(Content::Text(text)) => Ok(Told { text: text.clone(), images: Vec::new() }),
        Some(Content::Parts(parts)) => {
            let mut told = Told::default();
            for (number, part) in parts.iter().enumerate() {
                let path = format!("{path}.content[{number}]");
                let extra =
                    part.iter().filter(|(name, _)| !["type", "text", "image_url"].contains(&name.as_str()));
                no_more(&extra.map(|(name, value)| (name.clone(), value.clone())).collect(), &path, FAMILY)?;
                match Part::read(part, &path)? {
                    Part::Text(text) => told.text.push_str(text),
                    Part::Image(Source::Data { base64, .. }) => told.images.push(base64.into()),
                    Part::Image(Source::Url(_)) => {
                        return Err(WireError::inexpressible(format!("{path}.image_url.url"), FAMILY));
                    }
                    Part::Audio { .. } | Part::File { .. } => {
                        return Err(WireError::inexpressible(path, FAMILY));
                    }
                }
            }
            Ok(told)
        }
    }
}

/// An answer, or a piece of one.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default, deserialize_with = "count")]
    prompt_eval_count: u64,
    #[serde(default, deserialize_with = "count")]
    eval_count: u64,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: Option<String>,
    function: CallOf,
}

#[derive(Deserialize)]
struct CallOf {
    name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

impl Call {
    fn told(self, answer: &str, number: usize) -> ToolCall {
        ToolCall {
            id: self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| call_id(answer, number)),
            kind: "function".to_owned(),
            function: FunctionCall {
                name: self.function.name,
                arguments: Value::Object(self.function.arguments.unwrap_or_default()).to_string(),
            },
            extra: Map::new(),
        }
    }
}

impl Line {
    fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut line: Self = json(bytes)?;
        match line.error.take() {
            Some(error) => Err(refusal::of_error(FAMILY, &value!({"error": error}))),
            None => Ok(line),
        }
    }

    fn usage(&self) -> Option<Usage> {
        let told = self.prompt_eval_count > 0 || self.eval_count > 0;
        told.then_some(Usage { input: self.prompt_eval_count, output: self.eval_count, ..Usage::default() })
    }

    fn finish(&self, calls: bool) -> FinishReason {
        match self.done_reason.as_deref() {
            Some("length") => FinishReason::Length,
            Some(_) | None if calls => FinishReason::ToolCalls,
            Some(_) | None => FinishReason::Stop,
        }
    }
}

/// The answer.
pub(crate) fn chat_response(
    target: &Target,
    answer: &Answer,
    body: &[u8],
) -> Result<ChatResponse, WireError> {
    let mut line = Line::read(body)?;
    if !line.done {
        return Err(AnswerFault::Truncated.into());
    }
    let said = line.message.take().ok_or(AnswerFault::Malformed)?;
    let calls: Vec<ToolCall> = said
        .tool_calls
        .unwrap_or_default()
        .into_iter()
        .enumerate()
        .map(|(number, call)| call.told(&answer.id, number))
        .collect();
    let made = Made {
        text: said.content.unwrap_or_default(),
        reasoning: said.thinking.unwrap_or_default(),
        finish: Some(line.finish(!calls.is_empty())),
        calls,
        ..Made::default()
    };
    let model = line.model.as_deref().unwrap_or(&target.model);
    completion(answer, model, vec![made], line.usage())
}

/// The reader of a stream.
pub(crate) struct Reader {
    writer: ChunkWriter,
    calls: usize,
    usage: Option<Usage>,
}

impl Reader {
    pub(crate) fn new(target: &Target, answer: Answer) -> Self {
        Self { writer: ChunkWriter::new(answer, &target.model), calls: 0, usage: None }
    }

    fn call(&mut self, call: Call) -> StreamEvent {
        let call = call.told(&self.writer.answer().id, self.calls);
        let weight = call.function.arguments.len();
        let mut told = serde_json::to_value(call).unwrap_or_default();
        if let Some(members) = told.as_object_mut() {
            members.insert("index".into(), self.calls.into());
        }
        self.calls += 1;
        self.writer.call(0, told, weight)
    }
}

impl StreamReader for Reader {
    fn frame(&mut self, data: Bytes, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let mut line = Line::read(&data)?;
        if let Some(model) = line.model.take() {
            self.writer.model = model;
        }
        self.usage = line.usage().or(self.usage);
        match line.message.take() {
            Some(said) => {
                if let Some(text) = said.thinking.filter(|text| !text.is_empty()) {
                    out.push(self.writer.text(0, "reasoning_content", &text));
                }
                if let Some(text) = said.content.filter(|text| !text.is_empty()) {
                    out.push(self.writer.text(0, "content", &text));
                }
                for call in said.tool_calls.unwrap_or_default() {
                    let event = self.call(call);
                    out.push(event);
                }
            }
            None if line.done => {}
            None => return Err(AnswerFault::Malformed.into()),
        }
        if line.done {
            let reason = line.finish(self.calls > 0);
            out.push(self.writer.end(0, reason));
            out.extend(self.writer.usage(self.usage));
            out.push(StreamEvent::Done);
        }
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        Err(AnswerFault::Truncated.into())
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

/// Members of a request for embeddings with a word here; the last two are the wire's own.
const EMBEDS: [&str; 6] = ["model", "input", "dimensions", "encoding_format", "keep_alive", "options"];

/// The requests for embeddings. A text that is longer than the context is refused rather than cut.
pub(crate) fn embeddings(
    target: &Target,
    request: &EmbeddingRequest,
    batch: usize,
) -> Result<Vec<UpstreamRequest>, WireError> {
    if let Some(other) = request.members().names().find(|name| !EMBEDS.contains(name)) {
        return Err(WireError::inexpressible(other, FAMILY));
    }
    let mut common = Map::new();
    common.insert("model".into(), target.model.as_str().into());
    common.insert("truncate".into(), false.into());
    if let Some(count) = request.dimensions() {
        common.insert("dimensions".into(), count.into());
    }
    if let Some(value) = request.members().read_as::<Value>("keep_alive", "is not read")? {
        common.insert("keep_alive".into(), value);
    }
    resident_time(target, &mut common);
    let mut options =
        request.members().read_as::<Map<String, Value>>("options", "must be an object")?.unwrap_or_default();
    resident_context(target, &mut options);
    if !options.is_empty() {
        common.insert("options".into(), options.into());
    }
    let texts = request.texts()?;
    Ok(request
        .batches(batch)
        .into_iter()
        .map(|places| {
            let mut body = common.clone();
            body.insert("input".into(), texts.get(places).unwrap_or_default().into());
            UpstreamRequest::post("/api/embed", Value::Object(body).to_string())
        })
        .collect())
}

#[derive(Deserialize)]
struct Vectors {
    #[serde(default)]
    embeddings: Vec<Vec<f32>>,
    #[serde(default, deserialize_with = "count")]
    prompt_eval_count: u64,
    #[serde(default)]
    error: Option<Value>,
}

/// The embeddings.
pub(crate) fn embedding_response(
    target: &Target,
    request: &EmbeddingRequest,
    batch: usize,
    bodies: &[Bytes],
) -> Result<EmbeddingResponse, WireError> {
    let batches = request.batches(batch);
    if bodies.len() != batches.len() {
        return Err(AnswerFault::Truncated.into());
    }
    let mut vectors = Vec::with_capacity(request.len());
    let mut usage = Usage::default();
    for (body, places) in bodies.iter().zip(batches) {
        let body: Vectors = json(body)?;
        if let Some(error) = body.error {
            return Err(refusal::of_error(FAMILY, &value!({"error": error})));
        }
        if body.embeddings.len() != places.len() {
            return Err(AnswerFault::Truncated.into());
        }
        vectors.extend(body.embeddings);
        usage.input = usage.input.saturating_add(body.prompt_eval_count);
    }
    check_dimensions(request, &vectors)?;
    let usage = Some(usage).filter(|usage| usage.input > 0);
    EmbeddingResponse::of_vectors(&target.model, &vectors, request.encoding(), usage)
}
