//! Chat completions and embeddings as OpenAI has them: the caller's bytes and the provider's pass as they are, but for the
//! model's name.
//!
//! Sources: OpenAI's API reference (chat completions, their streams, embeddings), Azure's reference of its inference
//! API, and what llama.cpp, vLLM, DeepSeek, xAI, Groq and OpenRouter add to them.

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

use crate::chunk::{ChatChunk, StreamEvent};
use crate::embedding::{
    EmbeddingRequest, EmbeddingResponse, Item, Listed, check_dimensions, check_vectors, vector,
};
use crate::error::{AnswerFault, WireError};
use crate::family::{Family, Target};
use crate::members::Change;
use crate::refusal;
use crate::request::ChatRequest;
use crate::response::{Answer, ChatResponse, FinishReason, finish};
use crate::spoken::{StreamReader, json};
use crate::upstream::UpstreamRequest;
use crate::usage::{OpenAiUsage, Usage};

/// Letters of a path's segment that stand for themselves.
pub(crate) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The path of an operation: under the base address, or, at Azure, under the deployment or `/openai/v1`.
fn path(target: &Target, operation: &str) -> String {
    match (target.family, &target.azure_api_version) {
        (Family::AzureOpenAi, Some(version)) => format!(
            "/openai/deployments/{}/{operation}?api-version={}",
            utf8_percent_encode(&target.model, SEGMENT),
            utf8_percent_encode(version, SEGMENT),
        ),
        (Family::AzureOpenAi, None) => format!("/openai/v1/{operation}"),
        (Family::OpenAi | Family::Anthropic | Family::Gemini | Family::Ollama, _) => format!("/{operation}"),
    }
}

/// The request: the caller's bytes with the provider's name of the model, and, for a stream, the wish to be told the
/// usage, which the caller need not have.
pub(crate) fn chat(target: &Target, request: &ChatRequest) -> UpstreamRequest {
    let mut changes = vec![Change::text("model", &target.model)];
    if request.stream() && target.stream_usage && !request.include_usage() {
        let options = request.member("stream_options").and_then(|text| serde_json::from_str(text).ok());
        let mut options: Map<String, Value> = options.unwrap_or_default();
        options.insert("include_usage".into(), true.into());
        changes.push(Change::json("stream_options", Value::Object(options).to_string()));
    }
    UpstreamRequest::post(path(target, "chat/completions"), request.members().with(&changes))
}

/// Reads a part of what passes on. What is left out is no less to be text: a client would stumble over it.
fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, WireError> {
    let text = std::str::from_utf8(bytes).ok().ok_or(AnswerFault::Malformed)?;
    serde_json::from_str(text).ok().ok_or_else(|| AnswerFault::Malformed.into())
}

/// Members that are read of a whole answer; all else passes.
#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(default, borrow)]
    choices: Option<Vec<WholeChoice<'a>>>,
    #[serde(default)]
    usage: Option<OpenAiUsage>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WholeChoice<'a> {
    #[serde(default, deserialize_with = "finish")]
    finish_reason: Option<FinishReason>,
    #[serde(default, borrow)]
    message: Option<Said<'a>>,
}

/// Words of the model, by their length.
#[derive(Deserialize)]
struct Said<'a> {
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(default, borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(default, borrow)]
    tool_calls: Option<&'a RawValue>,
}

impl Said<'_> {
    fn weight(&self) -> u64 {
        [self.content, self.reasoning_content, self.reasoning, self.refusal, self.tool_calls]
            .into_iter()
            .flatten()
            .map(|text| text.get().len().saturating_sub(2) as u64)
            .sum()
    }
}

/// The answer: the provider's bytes, of which usage and ends are read.
pub(crate) fn chat_response(body: Bytes) -> Result<ChatResponse, WireError> {
    let whole: Whole<'_> = read(&body)?;
    if let Some(error) = whole.error {
        return Err(refusal::of_error(Family::OpenAi, &json(error.get().as_bytes())?));
    }
    let choices = whole.choices.ok_or(AnswerFault::Malformed)?;
    let mut ends = Vec::with_capacity(choices.len());
    let mut weight = 0;
    for choice in &choices {
        let message = choice.message.as_ref().ok_or(AnswerFault::Malformed)?;
        ends.push(choice.finish_reason.ok_or(AnswerFault::Truncated)?);
        weight += message.weight();
    }
    if ends.is_empty() {
        return Err(AnswerFault::Truncated.into());
    }
    let usage = whole.usage.map(|usage| usage.counted());
    drop(choices);
    Ok(ChatResponse { body, usage, finish: ends, weight })
}

/// Members that are read of a chunk; all else passes.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(default, borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    created: Option<i64>,
    #[serde(default, borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    choices: Option<Vec<FrameChoice<'a>>>,
    #[serde(default)]
    usage: Option<OpenAiUsage>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct FrameChoice<'a> {
    #[serde(default)]
    index: u32,
    #[serde(default, deserialize_with = "finish")]
    finish_reason: Option<FinishReason>,
    #[serde(default, borrow)]
    delta: Option<Said<'a>>,
}

/// A choice of a stream.
struct Seen {
    index: u32,
    ended: bool,
}

/// The reader of a stream: each chunk passes as it is; ends and usage are read.
pub(crate) struct Reader {
    answer: Answer,
    model: String,
    asked: bool,
    usage: Option<Usage>,
    shown: bool,
    choices: Vec<Seen>,
}

impl Reader {
    pub(crate) fn new(target: &Target, request: &ChatRequest, answer: Answer) -> Self {
        Self {
            model: target.model.clone(),
            asked: request.include_usage() || answer.include_usage,
            answer,
            usage: None,
            shown: false,
            choices: Vec::new(),
        }
    }

    fn see(&mut self, choice: &FrameChoice<'_>) -> Result<(), WireError> {
        let ended = choice.finish_reason.is_some();
        if let Some(seen) = self.choices.iter_mut().find(|seen| seen.index == choice.index) {
            seen.ended |= ended;
            return Ok(());
        }
        if self.choices.len() >= 128 {
            return Err(AnswerFault::Malformed.into());
        }
        self.choices.push(Seen { index: choice.index, ended });
        Ok(())
    }

    /// The end, which no stream has before each of its choices.
    fn done(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        if self.choices.is_empty() || self.choices.iter().any(|seen| !seen.ended) {
            return Err(AnswerFault::Truncated.into());
        }
        if let Some(usage) = self.usage.filter(|_| self.asked && !self.shown) {
            out.push(StreamEvent::Chunk(ChatChunk::of_usage(&self.answer, &self.model, usage)));
        }
        out.push(StreamEvent::Done);
        Ok(())
    }
}

impl StreamReader for Reader {
    fn frame(&mut self, data: Bytes, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        if data.trim_ascii() == b"[DONE]" {
            return self.done(out);
        }
        let frame: Frame<'_> = read(&data)?;
        if let Some(error) = frame.error {
            return Err(refusal::of_error(Family::OpenAi, &json(error.get().as_bytes())?));
        }
        let choices = frame.choices.unwrap_or_default();
        for choice in &choices {
            self.see(choice)?;
        }
        let alone = choices.is_empty() && frame.usage.is_some();
        if let Some(usage) = frame.usage {
            self.usage = Some(usage.counted());
        }
        if alone && !self.asked {
            return Ok(());
        }
        self.shown |= alone;
        if let (Some(id), Some(model)) = (frame.id, frame.model)
            && self.answer.id != id
        {
            self.answer.id = id.into_owned();
            self.answer.created = frame.created.unwrap_or(self.answer.created);
            self.model = model.into_owned();
        }
        let weight = choices.iter().filter_map(|choice| choice.delta.as_ref()).map(Said::weight).sum();
        drop(choices);
        out.push(StreamEvent::Chunk(ChatChunk { json: in_one_line(data), weight }));
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        self.done(out)
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

/// The chunk in one line: within its texts JSON has no line's end, between its members a blank does as well.
fn in_one_line(data: Bytes) -> Bytes {
    if !data.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return data;
    }
    data.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

/// The requests for embeddings.
pub(crate) fn embeddings(target: &Target, request: &EmbeddingRequest, batch: usize) -> Vec<UpstreamRequest> {
    let batches = request.batches(batch);
    let whole = batches.len() == 1;
    batches
        .into_iter()
        .map(|places| {
            let mut changes = vec![Change::text("model", &target.model)];
            if !whole {
                changes.push(Change::json("input", format!("[{}]", request.inputs(places).join(","))));
            }
            UpstreamRequest::post(path(target, "embeddings"), request.members().with(&changes))
        })
        .collect()
}

/// The embeddings. The body of a single batch whose vectors come in order and in the encoding that was asked for passes as
/// it is.
pub(crate) fn embedding_response(
    target: &Target,
    request: &EmbeddingRequest,
    batch: usize,
    bodies: Vec<Bytes>,
) -> Result<EmbeddingResponse, WireError> {
    let batches = request.batches(batch);
    if bodies.len() != batches.len() {
        return Err(AnswerFault::Truncated.into());
    }
    let mut vectors = Vec::with_capacity(request.len());
    let mut usage: Option<Usage> = None;
    let mut model = target.model.clone();
    let mut passes = bodies.len() == 1;
    for (body, places) in bodies.iter().zip(&batches) {
        let Ok(mut listed) = read::<Listed<'_>>(body) else { return Err(not_listed(body)) };
        if listed.data.len() != places.len() {
            return Err(AnswerFault::Truncated.into());
        }
        passes &= are_in_order(&listed.data) && are_as_asked(&listed.data, request);
        listed.data.sort_by_key(|item| item.index);
        if !are_in_order(&listed.data) {
            return Err(AnswerFault::Malformed.into());
        }
        for item in &listed.data {
            vectors.push(vector(item.embedding)?);
        }
        if let Some(told) = listed.usage {
            usage = Some(usage.unwrap_or_default().plus(&told.counted()));
        }
        if let Some(told) = listed.model {
            model = told.into_owned();
        }
    }
    check_dimensions(request, &vectors)?;
    match bodies.into_iter().next() {
        Some(body) if passes => {
            check_vectors(&vectors)?;
            Ok(EmbeddingResponse { body, usage })
        }
        Some(_) | None => EmbeddingResponse::of_vectors(&model, &vectors, request.encoding(), usage),
    }
}

fn not_listed(body: &Bytes) -> WireError {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) if value.get("error").is_some_and(|error| !error.is_null()) => {
            refusal::of_error(Family::OpenAi, &value)
        }
        Ok(_) | Err(_) => AnswerFault::Malformed.into(),
    }
}

fn are_in_order(items: &[Item<'_>]) -> bool {
    items.iter().enumerate().all(|(place, item)| item.index == place)
}

fn are_as_asked(items: &[Item<'_>], request: &EmbeddingRequest) -> bool {
    let base64 = request.encoding() == crate::embedding::Encoding::Base64;
    items.iter().all(|item| item.embedding.get().starts_with('"') == base64)
}
