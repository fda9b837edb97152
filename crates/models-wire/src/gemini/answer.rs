//! Answers, whole and as a stream: both are made of the same objects.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json as value};

use crate::chunk::{ChunkWriter, StreamEvent};
use crate::error::{AnswerFault, WireError};
use crate::family::{Family, Target};
use crate::message::{FunctionCall, ToolCall};
use crate::refusal;
use crate::response::{Answer, ChatResponse, FinishReason, Made, completion};
use crate::spoken::{StreamReader, call_id, json};
use crate::usage::{Usage, count};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    #[serde(default)]
    candidates: Vec<Candidate>,
    #[serde(default)]
    usage_metadata: Option<Tokens>,
    #[serde(default)]
    model_version: Option<String>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    content: Option<Spoken>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    index: u32,
}

#[derive(Deserialize)]
struct Spoken {
    #[serde(default)]
    parts: Vec<Piece>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    #[serde(default)]
    thought_signature: Option<String>,
    #[serde(default)]
    function_call: Option<Call>,
    #[serde(default)]
    inline_data: Option<Data>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: Option<String>,
    name: String,
    #[serde(default)]
    args: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    mime_type: String,
    data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default)]
    block_reason: Option<String>,
}

/// Tokens: the prompt's hold those of the cache; thoughts and the prompts of tools stand beside.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    #[serde(default, deserialize_with = "count")]
    prompt_token_count: u64,
    #[serde(default, deserialize_with = "count")]
    candidates_token_count: u64,
    #[serde(default, deserialize_with = "count")]
    cached_content_token_count: u64,
    #[serde(default, deserialize_with = "count")]
    thoughts_token_count: u64,
    #[serde(default, deserialize_with = "count")]
    tool_use_prompt_token_count: u64,
}

impl Tokens {
    fn counted(&self) -> Usage {
        let input = self.prompt_token_count.saturating_add(self.tool_use_prompt_token_count);
        Usage {
            input,
            output: self.candidates_token_count.saturating_add(self.thoughts_token_count),
            cached: self.cached_content_token_count.min(input),
            cache_written: 0,
            reasoning: self.thoughts_token_count,
        }
    }
}

/// The reason of a candidate's end. Reasons of withholding are many and grow in number: whatever is neither a whole answer nor a
/// broken one is withheld.
fn finish(reason: &str, calls: bool) -> Result<FinishReason, WireError> {
    match reason {
        "STOP" if calls => Ok(FinishReason::ToolCalls),
        "STOP" => Ok(FinishReason::Stop),
        "MAX_TOKENS" => Ok(FinishReason::Length),
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => {
            Err(AnswerFault::Malformed.into())
        }
        _ => Ok(FinishReason::ContentFilter),
    }
}

impl Call {
    /// The call in OpenAI's words, with the signature where Google's compatible face has it.
    fn told(self, answer: &str, number: usize, signature: Option<String>) -> ToolCall {
        let mut extra = Map::new();
        if let Some(signature) = signature {
            extra.insert("extra_content".into(), value!({"google": {"thought_signature": signature}}));
        }
        ToolCall {
            id: self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| call_id(answer, number)),
            kind: "function".to_owned(),
            function: FunctionCall {
                name: self.name,
                arguments: Value::Object(self.args.unwrap_or_default()).to_string(),
            },
            extra,
        }
    }
}

impl Data {
    fn told(&self) -> Value {
        let url = format!("data:{};base64,{}", self.mime_type, self.data);
        value!({"type": "image_url", "image_url": {"url": url}})
    }
}

fn read(bytes: &[u8]) -> Result<Body, WireError> {
    let mut body: Body = json(bytes)?;
    match body.error.take() {
        Some(error) => Err(refusal::of_error(Family::Gemini, &error)),
        None => Ok(body),
    }
}

fn is_blocked(body: &Body) -> bool {
    body.prompt_feedback.as_ref().is_some_and(|feedback| feedback.block_reason.is_some())
}

/// The answer.
pub(crate) fn chat_response(
    target: &Target,
    answer: &Answer,
    body: &[u8],
) -> Result<ChatResponse, WireError> {
    let mut body = read(body)?;
    let blocked = body.candidates.is_empty() && is_blocked(&body);
    body.candidates.sort_by_key(|candidate| candidate.index);
    let mut choices = Vec::with_capacity(body.candidates.len());
    let mut calls = 0;
    for candidate in body.candidates {
        let mut made = Made::default();
        for piece in candidate.content.map(|content| content.parts).unwrap_or_default() {
            match piece.text {
                Some(text) if piece.thought => made.reasoning.push_str(&text),
                Some(text) => made.text.push_str(&text),
                None => {}
            }
            if let Some(call) = piece.function_call {
                made.calls.push(call.told(&answer.id, calls, piece.thought_signature));
                calls += 1;
            }
            made.images.extend(piece.inline_data.as_ref().map(Data::told));
        }
        let reason = candidate.finish_reason.ok_or(AnswerFault::Truncated)?;
        made.finish = Some(finish(&reason, !made.calls.is_empty())?);
        choices.push(made);
    }
    if blocked {
        choices.push(Made { finish: Some(FinishReason::ContentFilter), ..Made::default() });
    }
    let model = body.model_version.as_deref().unwrap_or(&target.model);
    completion(answer, model, choices, body.usage_metadata.map(|tokens| tokens.counted()))
}

/// A candidate of a stream.
struct Seen {
    index: u32,
    calls: u32,
    ended: bool,
}

/// The reader of a stream. The wire has no word for its end: it ends with the bytes, when each candidate has.
pub(crate) struct Reader {
    writer: ChunkWriter,
    candidates: Vec<Seen>,
    /// Calls of all candidates, for the ids.
    calls: usize,
    usage: Option<Usage>,
}

impl Reader {
    pub(crate) fn new(target: &Target, answer: Answer) -> Self {
        Self {
            writer: ChunkWriter::new(answer, &target.model),
            candidates: Vec::new(),
            calls: 0,
            usage: None,
        }
    }

    fn place(&mut self, index: u32) -> Result<usize, WireError> {
        if let Some(place) = self.candidates.iter().position(|seen| seen.index == index) {
            return Ok(place);
        }
        if self.candidates.len() >= 128 {
            return Err(AnswerFault::Malformed.into());
        }
        self.candidates.push(Seen { index, calls: 0, ended: false });
        Ok(self.candidates.len() - 1)
    }

    fn candidate(&mut self, candidate: Candidate, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let index = candidate.index;
        let place = self.place(index)?;
        for piece in candidate.content.map(|content| content.parts).unwrap_or_default() {
            self.piece(index, place, piece, out);
        }
        let Some(seen) = self.candidates.get_mut(place) else { return Ok(()) };
        if let Some(reason) = candidate.finish_reason
            && !std::mem::replace(&mut seen.ended, true)
        {
            let reason = finish(&reason, seen.calls > 0)?;
            out.push(self.writer.end(index, reason));
        }
        Ok(())
    }

    fn piece(&mut self, index: u32, place: usize, piece: Piece, out: &mut Vec<StreamEvent>) {
        if let Some(text) = piece.text.filter(|text| !text.is_empty()) {
            let member = if piece.thought { "reasoning_content" } else { "content" };
            out.push(self.writer.text(index, member, &text));
        }
        if let Some(call) = piece.function_call {
            let call = call.told(&self.writer.answer().id, self.calls, piece.thought_signature);
            self.calls += 1;
            let weight = call.function.arguments.len();
            let mut told = serde_json::to_value(call).unwrap_or_default();
            if let (Some(seen), Some(members)) = (self.candidates.get_mut(place), told.as_object_mut()) {
                members.insert("index".into(), seen.calls.into());
                seen.calls += 1;
            }
            out.push(self.writer.call(index, told, weight));
        }
        if let Some(data) = piece.inline_data {
            let mut delta = Map::new();
            delta.insert("images".into(), value!([data.told()]));
            out.push(self.writer.piece(index, delta, 0));
        }
    }
}

impl StreamReader for Reader {
    fn frame(&mut self, data: Bytes, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let body = read(&data)?;
        if let Some(model) = &body.model_version {
            self.writer.model.clone_from(model);
        }
        if let Some(tokens) = body.usage_metadata {
            self.usage = Some(tokens.counted());
        }
        if body.candidates.is_empty() && is_blocked(&body) {
            let place = self.place(0)?;
            if let Some(seen) = self.candidates.get_mut(place)
                && !std::mem::replace(&mut seen.ended, true)
            {
                out.push(self.writer.end(0, FinishReason::ContentFilter));
            }
        }
        for candidate in body.candidates {
            self.candidate(candidate, out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        if self.candidates.is_empty() || self.candidates.iter().any(|seen| !seen.ended) {
            return Err(AnswerFault::Truncated.into());
        }
        out.extend(self.writer.usage(self.usage));
        out.push(StreamEvent::Done);
        Ok(())
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }
}
