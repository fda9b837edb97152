//! Chunks of a stream as OpenAI's clients read them.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

use crate::error::{AnswerFault, WireError};
use crate::response::{Answer, FinishReason, STOP_REASON, usage_json};
use crate::usage::Usage;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// A chunk for the client.
    Chunk(ChatChunk),
    /// The end: the client gets `[DONE]`, and nothing follows.
    Done,
}

/// A chunk. `Debug` shows no answer.
#[derive(Clone, PartialEq, Eq)]
pub struct ChatChunk {
    /// JSON of a `chat.completion.chunk`, in one line, without the frame around it.
    pub json: Bytes,
    /// Bytes of what the model says in it: text, thoughts and arguments; 0 for a chunk of the wire alone.
    pub weight: u64,
}

impl fmt::Debug for ChatChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatChunk").field("bytes", &self.json.len()).field("weight", &self.weight).finish()
    }
}

impl ChatChunk {
    /// The chunk, read.
    ///
    /// # Errors
    /// `Answer(Malformed)`.
    pub fn read(&self) -> Result<ChunkBody, WireError> {
        match serde_json::from_slice(&self.json) {
            Ok(body) => Ok(body),
            Err(_unread) => Err(AnswerFault::Malformed.into()),
        }
    }

    /// The stream of a provider whose filter withheld the answer by a refusal.
    #[must_use]
    pub fn withheld(answer: Answer, model: &str) -> Vec<StreamEvent> {
        vec![ChunkWriter::new(answer, model).end(0, FinishReason::ContentFilter), StreamEvent::Done]
    }

    /// The chunk with the usage, which is a stream's last one when the caller wants it.
    #[must_use]
    pub fn of_usage(answer: &Answer, model: &str, usage: Usage) -> Self {
        let body = serde_json::json!({
            "id": answer.id,
            "object": "chat.completion.chunk",
            "created": answer.created,
            "model": model,
            "choices": [],
            "usage": usage_json(usage),
        });
        Self { json: Bytes::from(body.to_string()), weight: 0 }
    }
}

/// A chunk, read.
#[derive(Clone, PartialEq, Deserialize)]
pub struct ChunkBody {
    /// Choices; none in a chunk that has the usage alone.
    #[serde(default)]
    pub choices: Vec<ChunkChoice>,
}

impl fmt::Debug for ChunkBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkBody").field("choices", &self.choices.len()).finish()
    }
}

/// A choice's piece.
#[derive(Clone, PartialEq, Deserialize)]
pub struct ChunkChoice {
    /// Index of the choice.
    #[serde(default)]
    pub index: u32,
    /// The piece.
    #[serde(default)]
    pub delta: Delta,
    /// Reason of the choice's end, in its last chunk.
    #[serde(default, deserialize_with = "crate::response::finish")]
    pub finish_reason: Option<FinishReason>,
}

/// A piece of what the model says.
#[derive(Clone, PartialEq, Default, Deserialize)]
pub struct Delta {
    /// Text.
    #[serde(default)]
    pub content: Option<String>,
    /// Thoughts.
    #[serde(default)]
    pub reasoning_content: Option<String>,
    /// Thoughts with Anthropic's signatures, each behind the pieces of its text.
    #[serde(default)]
    pub thinking_blocks: Option<Vec<Value>>,
    /// Refusal.
    #[serde(default)]
    pub refusal: Option<String>,
    /// Calls of tools: the first piece of a call has its id and name, all have a piece of its arguments.
    #[serde(default)]
    pub tool_calls: Option<Vec<CallPiece>>,
}

/// A piece of a tool's call.
#[derive(Clone, PartialEq, Deserialize)]
pub struct CallPiece {
    /// Index of the call within the message.
    #[serde(default)]
    pub index: u32,
    /// Id, in the first piece.
    #[serde(default)]
    pub id: Option<String>,
    /// Name and arguments.
    #[serde(default)]
    pub function: Option<FunctionPiece>,
}

/// A piece of a function's call.
#[derive(Clone, PartialEq, Default, Deserialize)]
pub struct FunctionPiece {
    /// Name, in the first piece.
    #[serde(default)]
    pub name: Option<String>,
    /// Piece of the arguments' text.
    #[serde(default)]
    pub arguments: Option<String>,
}

macro_rules! silent_debug {
    ($($name:ident),+) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )+};
}
silent_debug!(ChunkChoice, Delta, CallPiece, FunctionPiece);

/// The writer of chunks for a wire that has others.
pub(crate) struct ChunkWriter {
    answer: Answer,
    pub(crate) model: String,
    begun: Vec<u32>,
}

impl ChunkWriter {
    pub(crate) fn new(answer: Answer, model: &str) -> Self {
        Self { answer, model: model.to_owned(), begun: Vec::new() }
    }

    pub(crate) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// A chunk with a choice's piece; the choice's first one names the role.
    pub(crate) fn piece(&mut self, index: u32, mut delta: Map<String, Value>, weight: usize) -> StreamEvent {
        if !self.begun.contains(&index) {
            self.begun.push(index);
            delta.insert("role".into(), "assistant".into());
        }
        let choice =
            serde_json::json!({"index": index, "delta": delta, "logprobs": null, "finish_reason": null});
        self.event(&choice, weight)
    }

    /// A piece with one member of text.
    pub(crate) fn text(&mut self, index: u32, member: &str, text: &str) -> StreamEvent {
        let mut delta = Map::new();
        delta.insert(member.to_owned(), text.into());
        self.piece(index, delta, text.len())
    }

    /// A piece of a tool's call.
    pub(crate) fn call(&mut self, index: u32, call: Value, weight: usize) -> StreamEvent {
        let mut delta = Map::new();
        delta.insert("tool_calls".into(), Value::Array(vec![call]));
        self.piece(index, delta, weight)
    }

    /// A choice's last chunk.
    pub(crate) fn end(&mut self, index: u32, reason: FinishReason) -> StreamEvent {
        self.end_by(index, reason, None)
    }

    /// A choice's last chunk, with the text that ended it where the wire tells it.
    pub(crate) fn end_by(&mut self, index: u32, reason: FinishReason, stop: Option<&str>) -> StreamEvent {
        let mut delta = Map::new();
        if !self.begun.contains(&index) {
            self.begun.push(index);
            delta.insert("role".into(), "assistant".into());
            delta.insert("content".into(), "".into());
        }
        let mut choice =
            serde_json::json!({"index": index, "delta": delta, "logprobs": null, "finish_reason": reason});
        if let (Some(stop), Some(members)) = (stop, choice.as_object_mut()) {
            members.insert(STOP_REASON.to_owned(), stop.into());
        }
        self.event(&choice, 0)
    }

    /// The chunk with the usage, when it is wanted and known.
    pub(crate) fn usage(&self, usage: Option<Usage>) -> Option<StreamEvent> {
        let usage = usage.filter(|_| self.answer.include_usage)?;
        Some(StreamEvent::Chunk(ChatChunk::of_usage(&self.answer, &self.model, usage)))
    }

    fn event(&self, choice: &Value, weight: usize) -> StreamEvent {
        let body = serde_json::json!({
            "id": self.answer.id,
            "object": "chat.completion.chunk",
            "created": self.answer.created,
            "model": self.model,
            "choices": [choice],
        });
        StreamEvent::Chunk(ChatChunk { json: Bytes::from(body.to_string()), weight: weight as u64 })
    }
}
