//! Answers as OpenAI's clients read them.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

use crate::error::{AnswerFault, WireError};
use crate::message::{Content, ToolCall};
use crate::usage::{OpenAiUsage, Usage};

/// The reason of an answer's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// Complete, or a stop sequence came.
    Stop,
    /// The bound of tokens or the context was reached.
    Length,
    /// Calls of tools.
    ToolCalls,
    /// The provider withheld it.
    ContentFilter,
}

impl FinishReason {
    /// The literal.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
        }
    }

    /// The reason by OpenAI's literal. Providers have words of their own (`eos`, `end_turn`): any other end is an end.
    #[must_use]
    pub fn of_openai(literal: &str) -> Self {
        match literal {
            "length" | "max_tokens" => Self::Length,
            "tool_calls" | "function_call" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            _ => Self::Stop,
        }
    }
}

/// Values that the caller lends to answers whose wire lacks them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Id of the completion, such as `chatcmpl-...`; ids of tool calls begin with it where the wire has none.
    pub id: String,
    /// Seconds since 1970.
    pub created: i64,
    /// Whether the caller wants the usage as the stream's last chunk.
    pub include_usage: bool,
}

/// A chat's answer. `body` is what the client gets: the provider's own bytes where it speaks OpenAI, else made of them.
/// `Debug` shows no answer.
#[derive(Clone, PartialEq, Eq)]
pub struct ChatResponse {
    /// JSON of a `chat.completion`.
    pub body: Bytes,
    /// Tokens; none when the provider tells none.
    pub usage: Option<Usage>,
    /// Reasons of the choices' ends, by their index.
    pub finish: Vec<FinishReason>,
    /// Bytes of what the model said: text, thoughts and arguments.
    pub weight: u64,
}

impl fmt::Debug for ChatResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatResponse")
            .field("bytes", &self.body.len())
            .field("usage", &self.usage)
            .field("finish", &self.finish)
            .finish_non_exhaustive()
    }
}

impl ChatResponse {
    /// The answer of a provider whose filter withheld it by a refusal ([`Refusal::is_content_filter`]): no text, and the
    /// reason `content_filter`.
    ///
    /// [`Refusal::is_content_filter`]: crate::Refusal::is_content_filter
    #[must_use]
    pub fn withheld(answer: &Answer, model: &str) -> Self {
        let made = Made { finish: Some(FinishReason::ContentFilter), ..Made::default() };
        let finish = vec![FinishReason::ContentFilter];
        Self {
            body: body_of(answer, model, vec![told(0, made, FinishReason::ContentFilter)], None),
            usage: None,
            finish,
            weight: 0,
        }
    }

    /// The answer, read.
    ///
    /// # Errors
    /// `Answer(Malformed)`.
    pub fn read(&self) -> Result<Completion, WireError> {
        match serde_json::from_slice(&self.body) {
            Ok(completion) => Ok(completion),
            Err(_unread) => Err(AnswerFault::Malformed.into()),
        }
    }
}

/// A `chat.completion`.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// Id.
    #[serde(default)]
    pub id: String,
    /// Model, as the provider names it.
    #[serde(default)]
    pub model: String,
    /// Choices.
    pub choices: Vec<Choice>,
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion")
            .field("model", &self.model)
            .field("choices", &self.choices.len())
            .finish_non_exhaustive()
    }
}

/// A choice.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Index.
    #[serde(default)]
    pub index: u32,
    /// Message.
    pub message: AssistantMessage,
    /// Reason of its end.
    #[serde(default, deserialize_with = "finish")]
    pub finish_reason: Option<FinishReason>,
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Reads a reason in whatever word.
pub(crate) fn finish<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<FinishReason>, D::Error> {
    let literal = Option::<std::borrow::Cow<'de, str>>::deserialize(input)?;
    Ok(literal.filter(|literal| !literal.is_empty()).map(|literal| FinishReason::of_openai(&literal)))
}

/// A message of the model.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Text; none when it only calls tools.
    #[serde(default)]
    pub content: Option<Content>,
    /// Calls of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// Refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Thoughts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// Thoughts with Anthropic's signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_blocks: Option<Vec<Value>>,
    /// Members of other names.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl fmt::Debug for AssistantMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssistantMessage").field("calls", &self.calls().len()).finish_non_exhaustive()
    }
}

impl AssistantMessage {
    /// The calls of tools.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        self.tool_calls.as_deref().unwrap_or_default()
    }
}

/// Member of a choice with the text that ended it, where a wire tells it: as vLLM names it beside `finish_reason`.
pub(crate) const STOP_REASON: &str = "stop_reason";

/// A choice as a family's reader makes it.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) thinking: Vec<Value>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) images: Vec<Value>,
    pub(crate) finish: Option<FinishReason>,
    /// The text that ended it, where the wire tells it.
    pub(crate) stop: Option<String>,
}

impl Made {
    fn weight(&self) -> u64 {
        let calls: usize = self.calls.iter().map(|call| call.function.arguments.len()).sum();
        (self.text.len() + self.reasoning.len() + calls) as u64
    }

    fn message(self) -> Value {
        let mut message = Map::new();
        message.insert("role".into(), "assistant".into());
        let silent = self.text.is_empty() && !self.calls.is_empty();
        message.insert("content".into(), if silent { Value::Null } else { self.text.into() });
        message.insert("refusal".into(), Value::Null);
        if !self.reasoning.is_empty() {
            message.insert("reasoning_content".into(), self.reasoning.into());
        }
        if !self.thinking.is_empty() {
            message.insert("thinking_blocks".into(), self.thinking.into());
        }
        if !self.images.is_empty() {
            message.insert("images".into(), self.images.into());
        }
        if !self.calls.is_empty() {
            let calls: Vec<Value> =
                self.calls.into_iter().filter_map(|call| serde_json::to_value(call).ok()).collect();
            message.insert("tool_calls".into(), calls.into());
        }
        message.into()
    }
}

/// A `chat.completion` of choices.
///
/// # Errors
/// `Answer(Truncated)` when there is no choice, or one without an end.
pub(crate) fn completion(
    answer: &Answer,
    model: &str,
    choices: Vec<Made>,
    usage: Option<Usage>,
) -> Result<ChatResponse, WireError> {
    let mut finish = Vec::with_capacity(choices.len());
    let mut weight = 0;
    let mut list = Vec::with_capacity(choices.len());
    for (index, choice) in choices.into_iter().enumerate() {
        let reason = choice.finish.ok_or(AnswerFault::Truncated)?;
        finish.push(reason);
        weight += choice.weight();
        list.push(told(index, choice, reason));
    }
    if list.is_empty() {
        return Err(AnswerFault::Truncated.into());
    }
    Ok(ChatResponse { body: body_of(answer, model, list, usage), usage, finish, weight })
}

fn told(index: usize, mut choice: Made, reason: FinishReason) -> Value {
    let stop = choice.stop.take();
    let mut told = serde_json::json!({
        "index": index,
        "message": choice.message(),
        "logprobs": null,
        "finish_reason": reason,
    });
    if let (Some(stop), Some(members)) = (stop, told.as_object_mut()) {
        members.insert(STOP_REASON.to_owned(), stop.into());
    }
    told
}

fn body_of(answer: &Answer, model: &str, choices: Vec<Value>, usage: Option<Usage>) -> Bytes {
    let mut body = serde_json::json!({
        "id": answer.id,
        "object": "chat.completion",
        "created": answer.created,
        "model": model,
        "choices": choices,
    });
    if let (Some(usage), Some(members)) = (usage, body.as_object_mut()) {
        members.insert("usage".into(), usage_json(usage));
    }
    Bytes::from(body.to_string())
}

/// Usage in OpenAI's words.
pub(crate) fn usage_json(usage: Usage) -> Value {
    serde_json::to_value(OpenAiUsage::from(usage)).unwrap_or(Value::Null)
}
