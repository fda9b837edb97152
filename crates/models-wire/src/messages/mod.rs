//! Anthropic's messages as its clients speak them: a request becomes a [`ChatRequest`], and the answer, whole or as a stream,
//! what these clients read. [`crate::Target`] speaks the same wire to providers.
//!
//! Sources: Anthropic's API reference (create a message, streaming messages, errors), version 2023-06-01.

mod answer;
mod ask;
mod blocks;
mod stream;

pub use stream::MessageStream;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::error::WireError;
use crate::request::ChatRequest;
use crate::response::FinishReason;
use crate::usage::Usage;

/// A request for a message, in the words of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Messages {
    /// The chat.
    pub request: ChatRequest,
    /// Form of its answer.
    pub form: MessageForm,
}

impl Messages {
    /// Reads a body.
    ///
    /// # Errors
    /// `Member` with the place in the body that came: missing, malformed, or without a word in a chat.
    pub fn read(body: Bytes) -> Result<Self, WireError> {
        ask::read(body)
    }
}

/// Form of the answer to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageForm {
    /// Whether the caller asked for thoughts, and reads their blocks.
    thoughts: bool,
    /// Tokens that the prompt is likely to have: told until the provider has counted, and where it does not.
    input: u64,
}

impl MessageForm {
    /// The answer: JSON of a message, from that of a `chat.completion`.
    ///
    /// # Errors
    /// `Answer`: malformed, without an end, or a tool's call whose arguments are no JSON object.
    pub fn whole(&self, completion: &[u8]) -> Result<Bytes, WireError> {
        answer::whole(*self, completion)
    }

    /// The writer of the answer as a stream.
    #[must_use]
    pub const fn stream(&self) -> MessageStream {
        MessageStream::new(*self)
    }
}

/// Word for a message's end. Providers that call a tool and say `stop` have called a tool.
const fn stop_reason(finish: FinishReason, calls: bool, refused: bool) -> &'static str {
    match finish {
        FinishReason::ContentFilter => "refusal",
        FinishReason::Length => "max_tokens",
        FinishReason::Stop | FinishReason::ToolCalls if calls => "tool_use",
        FinishReason::Stop | FinishReason::ToolCalls if refused => "refusal",
        FinishReason::Stop | FinishReason::ToolCalls => "end_turn",
    }
}

/// Tokens in Anthropic's words: what was read from a cache and written to one stands beside `input_tokens`.
fn usage_json(usage: Usage) -> Value {
    let input = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_written);
    json!({
        "input_tokens": input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": usage.cache_written,
    })
}
