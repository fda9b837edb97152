//! Streams: `message_start`, blocks with their deltas one after the other, `message_delta`, `message_stop`.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt;

use super::{End, MessageForm, usage_json};
use crate::chunk::{CallPiece, ChatChunk, Delta, StreamEvent};
use crate::error::{AnswerFault, WireError};
use crate::estimate::tokens_of_bytes;
use crate::response::FinishReason;
use crate::spoken::{call_id, json as read};
use crate::usage::{OpenAiUsage, Usage};

#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    choices: Option<Vec<PieceChoice>>,
    #[serde(default)]
    usage: Option<OpenAiUsage>,
    /// Words of the service about an answer that is no language model's.
    #[serde(default)]
    heddle: Option<Value>,
}

#[derive(Deserialize)]
struct PieceChoice {
    #[serde(default)]
    index: u32,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "crate::response::finish")]
    finish_reason: Option<FinishReason>,
    /// The text that ended it, where the provider tells it.
    #[serde(default)]
    stop_reason: Option<Value>,
}

/// The block that is open.
enum Open {
    Text,
    Thinking,
    Call { index: u32, id: String },
}

/// The writer of a message's stream: the events of a chat in, frames of `text/event-stream` out.
pub struct MessageStream {
    form: MessageForm,
    /// Id of the answer, from its first piece on.
    id: Option<String>,
    open: Option<Open>,
    blocks: u32,
    calls: usize,
    refused: bool,
    finish: Option<FinishReason>,
    /// The text that ended it, where the provider tells it.
    stop: Option<Value>,
    usage: Option<Usage>,
    weight: u64,
    heddle: Option<Value>,
}

impl fmt::Debug for MessageStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageStream").field("blocks", &self.blocks).finish_non_exhaustive()
    }
}

impl MessageStream {
    pub(super) const fn new(form: MessageForm) -> Self {
        Self {
            form,
            id: None,
            open: None,
            blocks: 0,
            calls: 0,
            refused: false,
            finish: None,
            stop: None,
            usage: None,
            weight: 0,
            heddle: None,
        }
    }

    /// The frames of an event; none for a piece that says nothing.
    ///
    /// # Errors
    /// `Answer`: a piece in another shape, pieces of calls in no order, an end without a reason.
    pub fn event(&mut self, event: &StreamEvent) -> Result<Bytes, WireError> {
        let mut out = Vec::new();
        match event {
            StreamEvent::Chunk(chunk) => self.chunk(chunk, &mut out)?,
            StreamEvent::Done => self.done(&mut out)?,
        }
        Ok(Bytes::from(out))
    }

    fn chunk(&mut self, chunk: &ChatChunk, out: &mut Vec<u8>) -> Result<(), WireError> {
        let piece: Piece = read(&chunk.json)?;
        self.weight = self.weight.saturating_add(chunk.weight);
        if self.id.is_none() {
            self.start(piece.id.unwrap_or_default(), &piece.model.unwrap_or_default(), out);
        }
        self.usage = piece.usage.map(|usage| usage.counted()).or(self.usage);
        self.heddle = piece.heddle.or_else(|| self.heddle.take());
        for choice in piece.choices.unwrap_or_default().into_iter().filter(|choice| choice.index == 0) {
            self.delta(choice.delta.unwrap_or_default(), out)?;
            self.finish = choice.finish_reason.or(self.finish);
            self.stop = choice.stop_reason.or_else(|| self.stop.take());
        }
        Ok(())
    }

    fn start(&mut self, id: String, model: &str, out: &mut Vec<u8>) {
        let usage = Usage { input: self.form.input, ..Usage::default() };
        let message = json!({
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage_json(usage),
        });
        put(out, "message_start", &json!({"type": "message_start", "message": message}));
        self.id = Some(id);
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<u8>) -> Result<(), WireError> {
        if self.form.thoughts {
            if let Some(text) = delta.reasoning_content.filter(|text| !text.is_empty()) {
                self.think(&text, out);
            }
            for block in delta.thinking_blocks.unwrap_or_default() {
                self.thought(&block, out)?;
            }
        }
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.say(&text, out);
        }
        if let Some(text) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refused = true;
            self.say(&text, out);
        }
        for piece in delta.tool_calls.unwrap_or_default() {
            self.call(piece, out)?;
        }
        Ok(())
    }

    fn say(&mut self, text: &str, out: &mut Vec<u8>) {
        if !matches!(self.open, Some(Open::Text)) {
            self.begin(Open::Text, &json!({"type": "text", "text": ""}), out);
        }
        self.more(&json!({"type": "text_delta", "text": text}), out);
    }

    fn think(&mut self, text: &str, out: &mut Vec<u8>) {
        if !matches!(self.open, Some(Open::Thinking)) {
            self.begin(Open::Thinking, &json!({"type": "thinking", "thinking": "", "signature": ""}), out);
        }
        self.more(&json!({"type": "thinking_delta", "thinking": text}), out);
    }

    /// A thought with its signature, whose text has come in pieces before, or one that is hidden.
    fn thought(&mut self, block: &Value, out: &mut Vec<u8>) -> Result<(), WireError> {
        let text = |name: &str| block.get(name).and_then(Value::as_str).ok_or(AnswerFault::Malformed);
        if text("type")? == "redacted_thinking" {
            self.begin(Open::Thinking, block, out);
        } else {
            let (thought, signature) = (text("thinking")?, text("signature")?);
            if !matches!(self.open, Some(Open::Thinking)) {
                self.think(thought, out);
            }
            self.more(&json!({"type": "signature_delta", "signature": signature}), out);
        }
        self.close(out);
        Ok(())
    }

    fn call(&mut self, piece: CallPiece, out: &mut Vec<u8>) -> Result<(), WireError> {
        let function = piece.function.unwrap_or_default();
        let id = piece.id.filter(|id| !id.is_empty());
        let goes_on = match &self.open {
            Some(Open::Call { index, id: open }) => {
                *index == piece.index && id.as_ref().is_none_or(|id| id == open)
            }
            Some(Open::Text | Open::Thinking) | None => false,
        };
        if !goes_on {
            let name = function.name.filter(|name| !name.is_empty()).ok_or(AnswerFault::Malformed)?;
            let answer = self.id.as_deref().unwrap_or_default();
            let id = id.unwrap_or_else(|| call_id(answer, self.calls));
            self.calls += 1;
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            self.begin(Open::Call { index: piece.index, id }, &block, out);
        }
        if let Some(arguments) = function.arguments.filter(|arguments| !arguments.is_empty()) {
            self.more(&json!({"type": "input_json_delta", "partial_json": arguments}), out);
        }
        Ok(())
    }

    /// Begins a block, behind the one that is open.
    fn begin(&mut self, open: Open, block: &Value, out: &mut Vec<u8>) {
        self.close(out);
        let event = json!({"type": "content_block_start", "index": self.blocks, "content_block": block});
        put(out, "content_block_start", &event);
        self.open = Some(open);
    }

    fn more(&self, delta: &Value, out: &mut Vec<u8>) {
        let event = json!({"type": "content_block_delta", "index": self.blocks, "delta": delta});
        put(out, "content_block_delta", &event);
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            let event = json!({"type": "content_block_stop", "index": self.blocks});
            put(out, "content_block_stop", &event);
            self.blocks += 1;
        }
    }

    fn done(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let finish = self.finish.ok_or(AnswerFault::Truncated)?;
        self.close(out);
        let output = tokens_of_bytes(self.weight);
        let estimated = Usage { input: self.form.input, output, ..Usage::default() };
        let stop = self.form.stopped_by(self.stop.as_ref());
        let end = End::of(finish, self.calls > 0, self.refused, stop);
        let mut event = json!({
            "type": "message_delta",
            "delta": {"stop_reason": end.reason, "stop_sequence": end.stop},
            "usage": usage_json(self.usage.unwrap_or(estimated)),
        });
        if let (Some(heddle), Some(members)) = (self.heddle.take(), event.as_object_mut()) {
            members.insert("heddle".into(), heddle);
        }
        put(out, "message_delta", &event);
        put(out, "message_stop", &json!({"type": "message_stop"}));
        Ok(())
    }
}

/// Writes a frame. JSON that is written here has no line breaks.
fn put(out: &mut Vec<u8>, name: &str, event: &Value) {
    out.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
}
