//! Streams: `message_start`, blocks with their deltas, `message_delta`, `message_stop`; `ping` and `error` in between.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json as value};

use super::{ANSWER_TOOL, AT_A_STOP, Tokens, answers_by_tool, finish};
use crate::bounds::MAX_FRAME;
use crate::chunk::{ChunkWriter, StreamEvent};
use crate::error::{AnswerFault, WireError};
use crate::family::{Family, Target};
use crate::refusal;
use crate::request::ChatRequest;
use crate::response::Answer;
use crate::spoken::{StreamReader, json};
use crate::usage::Usage;

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    message: Option<Start>,
    #[serde(default)]
    content_block: Option<Map<String, Value>>,
    #[serde(default)]
    delta: Option<Map<String, Value>>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Start {
    #[serde(default)]
    model: String,
    #[serde(default)]
    usage: Option<Tokens>,
}

/// The block that is open.
enum Block {
    None,
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    Call {
        index: usize,
        pieces: bool,
    },
    /// The answer in JSON.
    Answer {
        pieces: bool,
    },
}

/// The reader.
pub(crate) struct Reader {
    writer: ChunkWriter,
    by_tool: bool,
    answered: bool,
    /// Texts said where the answer is to be JSON by a tool: they are the answer when the tool was not called.
    aside: String,
    calls: usize,
    block: Block,
    tokens: Option<Tokens>,
    /// Reason that `message_delta` tells before `message_stop`.
    reason: Option<String>,
    /// The text that ended it, told beside the reason.
    stop: Option<String>,
}

impl Reader {
    pub(crate) fn new(target: &Target, request: &ChatRequest, answer: Answer) -> Self {
        Self {
            writer: ChunkWriter::new(answer, &target.model),
            // A format that can't be read was refused when the request was made.
            by_tool: answers_by_tool(target, request).unwrap_or(false),
            answered: false,
            aside: String::new(),
            calls: 0,
            block: Block::None,
            tokens: None,
            reason: None,
            stop: None,
        }
    }

    fn tell(&mut self, tokens: Option<Tokens>) {
        if let Some(tokens) = tokens {
            self.tokens = Some(self.tokens.unwrap_or_default().later(&tokens));
        }
    }

    fn open(&mut self, block: &Map<String, Value>, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let text = |name: &str| block.get(name).and_then(Value::as_str);
        self.block = match text("type").ok_or(AnswerFault::Malformed)? {
            "text" => {
                if let Some(begin) = text("text").filter(|begin| !begin.is_empty()) {
                    self.say(begin, out)?;
                }
                Block::Text
            }
            "thinking" => Block::Thinking { text: String::new(), signature: String::new() },
            "redacted_thinking" => {
                out.push(self.thought(Value::Object(block.clone())));
                Block::None
            }
            "tool_use" if self.by_tool && text("name") == Some(ANSWER_TOOL) => {
                self.answered = true;
                Block::Answer { pieces: false }
            }
            "tool_use" => {
                let index = self.calls;
                self.calls += 1;
                let id = text("id").ok_or(AnswerFault::Malformed)?;
                let name = text("name").ok_or(AnswerFault::Malformed)?;
                let call = value!({
                    "index": index,
                    "id": id,
                    "type": "function",
                    "function": {"name": name, "arguments": ""},
                });
                out.push(self.writer.call(0, call, name.len()));
                Block::Call { index, pieces: false }
            }
            _ => return Err(AnswerFault::Malformed.into()),
        };
        Ok(())
    }

    fn say(&mut self, text: &str, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        if !self.by_tool {
            out.push(self.writer.text(0, "content", text));
            return Ok(());
        }
        if self.aside.len() + text.len() > MAX_FRAME {
            return Err(AnswerFault::Oversized.into());
        }
        self.aside.push_str(text);
        Ok(())
    }

    fn thought(&mut self, block: Value) -> StreamEvent {
        let mut delta = Map::new();
        delta.insert("thinking_blocks".into(), Value::Array(vec![block]));
        self.writer.piece(0, delta, 0)
    }

    fn arguments(&mut self, index: usize, piece: &str) -> StreamEvent {
        let call = value!({"index": index, "function": {"arguments": piece}});
        self.writer.call(0, call, piece.len())
    }

    fn delta(&mut self, delta: &Map<String, Value>, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let text = |name: &str| delta.get(name).and_then(Value::as_str).ok_or(AnswerFault::Malformed);
        let mut block = std::mem::replace(&mut self.block, Block::None);
        match (text("type")?, &mut block) {
            ("text_delta", Block::Text) => self.say(text("text")?, out)?,
            ("thinking_delta", Block::Thinking { text: all, .. }) => {
                let piece = text("thinking")?;
                if all.len() + piece.len() > MAX_FRAME {
                    return Err(AnswerFault::Oversized.into());
                }
                all.push_str(piece);
                out.push(self.writer.text(0, "reasoning_content", piece));
            }
            ("signature_delta", Block::Thinking { signature, .. }) => {
                let piece = text("signature")?;
                if signature.len() + piece.len() > MAX_FRAME {
                    return Err(AnswerFault::Oversized.into());
                }
                signature.push_str(piece);
            }
            ("input_json_delta", Block::Call { index, pieces }) => {
                let piece = text("partial_json")?;
                if !piece.is_empty() {
                    *pieces = true;
                    out.push(self.arguments(*index, piece));
                }
            }
            ("input_json_delta", Block::Answer { pieces }) => {
                let piece = text("partial_json")?;
                if !piece.is_empty() {
                    *pieces = true;
                    out.push(self.writer.text(0, "content", piece));
                }
            }
            // Citations are about a text that has been said.
            ("citations_delta", Block::Text) => {}
            (_, _) => return Err(AnswerFault::Malformed.into()),
        }
        self.block = block;
        Ok(())
    }

    fn close(&mut self, out: &mut Vec<StreamEvent>) {
        match std::mem::replace(&mut self.block, Block::None) {
            Block::None | Block::Text | Block::Call { pieces: true, .. } | Block::Answer { pieces: true } => {
            }
            Block::Thinking { text, signature } => {
                if !signature.is_empty() {
                    let block = value!({"type": "thinking", "thinking": text, "signature": signature});
                    out.push(self.thought(block));
                }
            }
            Block::Call { index, pieces: false } => out.push(self.arguments(index, "{}")),
            Block::Answer { pieces: false } => out.push(self.writer.text(0, "content", "{}")),
        }
    }

    fn stop(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let reason = self.reason.take().ok_or(AnswerFault::Truncated)?;
        if !self.answered && !self.aside.is_empty() {
            let text = std::mem::take(&mut self.aside);
            out.push(self.writer.text(0, "content", &text));
        }
        let by_tool = self.answered && self.calls == 0;
        let stop = self.stop.take().filter(|_| reason == AT_A_STOP);
        out.push(self.writer.end_by(0, finish(&reason, by_tool), stop.as_deref()));
        out.extend(self.writer.usage(self.usage()));
        out.push(StreamEvent::Done);
        Ok(())
    }
}

impl StreamReader for Reader {
    fn frame(&mut self, data: Bytes, out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let event: Event = json(&data)?;
        match event.kind.as_str() {
            "message_start" => {
                let start = event.message.ok_or(AnswerFault::Malformed)?;
                if !start.model.is_empty() {
                    self.writer.model = start.model;
                }
                self.tell(start.usage);
            }
            "content_block_start" => {
                self.open(&event.content_block.ok_or(AnswerFault::Malformed)?, out)?;
            }
            "content_block_delta" => self.delta(&event.delta.ok_or(AnswerFault::Malformed)?, out)?,
            "content_block_stop" => self.close(out),
            "message_delta" => {
                self.tell(event.usage);
                let delta = event.delta.ok_or(AnswerFault::Malformed)?;
                let text = |name: &str| delta.get(name).and_then(Value::as_str).map(str::to_owned);
                self.reason = text("stop_reason").or_else(|| self.reason.take());
                self.stop = text("stop_sequence").or_else(|| self.stop.take());
            }
            "message_stop" => return self.stop(out),
            "error" => {
                return Err(refusal::of_error(
                    Family::Anthropic,
                    &event.error.ok_or(AnswerFault::Malformed)?,
                ));
            }
            // `ping`, and, as the provider asks of its readers, events of later versions.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        Err(AnswerFault::Truncated.into())
    }

    fn usage(&self) -> Option<Usage> {
        self.tokens.map(|tokens| tokens.counted())
    }
}
