//! Anthropic's messages as its clients speak them: a request becomes a [`ChatRequest`], and the answer, whole or as a stream,
//! what these clients read. [`crate::Target`] speaks the same wire to providers.
//!
//! Sources: Anthropic's API reference (create a message, streaming messages, errors), version 2023-06-01.

mod answer;
mod ask;
mod blocks;
mod stream;

pub use stream::MessageStream;

use std::fmt;
use std::sync::Arc;

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

    /// Reads a body whose tokens are to be counted, which has nothing about its answer: the prompt, as a chat.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn prompt(body: Bytes) -> Result<ChatRequest, WireError> {
        ask::prompt(body)
    }
}

/// Form of the answer to a message. `Debug` shows nothing of the request.
#[derive(Clone, PartialEq, Eq)]
pub struct MessageForm {
    /// Whether the caller asked for thoughts, and reads their blocks.
    thoughts: bool,
    /// Tokens that the prompt is likely to have: told until the provider has counted, and where it does not.
    input: u64,
    /// Texts at which the caller wants the answer to end.
    stops: Arc<[String]>,
}

impl fmt::Debug for MessageForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stops = self.stops.len();
        f.debug_struct("MessageForm")
            .field("thoughts", &self.thoughts)
            .field("input", &self.input)
            .field("stops", &stops)
            .finish()
    }
}

impl MessageForm {
    /// The answer: JSON of a message, from that of a `chat.completion`.
    ///
    /// # Errors
    /// `Answer`: malformed, without an end, or a tool's call whose arguments are no JSON object.
    pub fn whole(&self, completion: &[u8]) -> Result<Bytes, WireError> {
        answer::whole(self, completion)
    }

    /// The writer of the answer as a stream.
    #[must_use]
    pub fn stream(&self) -> MessageStream {
        MessageStream::new(self.clone())
    }

    /// The text that ended the answer, where the provider tells it and it is one of the caller's: some providers have words
    /// of their own in its place.
    fn stopped_by(&self, told: Option<&Value>) -> Option<&str> {
        let told = told.and_then(Value::as_str)?;
        self.stops.iter().map(String::as_str).find(|stop| *stop == told)
    }
}

/// End of a message.
struct End<'a> {
    reason: &'static str,
    /// The text of the caller's that ended it.
    stop: Option<&'a str>,
}

impl<'a> End<'a> {
    /// The end by the chat's reason. Providers that call a tool and say `stop` have called a tool.
    const fn of(finish: FinishReason, calls: bool, refused: bool, stop: Option<&'a str>) -> Self {
        let reason = match finish {
            FinishReason::ContentFilter => "refusal",
            FinishReason::Length => "max_tokens",
            FinishReason::Stop | FinishReason::ToolCalls if calls => "tool_use",
            FinishReason::Stop | FinishReason::ToolCalls if refused => "refusal",
            FinishReason::Stop if stop.is_some() => return Self { reason: "stop_sequence", stop },
            FinishReason::Stop | FinishReason::ToolCalls => "end_turn",
        };
        Self { reason, stop: None }
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
