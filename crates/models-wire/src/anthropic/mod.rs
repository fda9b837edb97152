//! Anthropic's messages.
//!
//! Sources: Anthropic's API reference (create a message, streaming messages, errors), its pages on tool use, vision, PDF
//! files, extended thinking and structured outputs (`output_config`), version 2023-06-01.

mod answer;
mod ask;
mod stream;

pub(crate) use answer::{chat_response, count_response};
pub(crate) use ask::{chat, count_request};
pub(crate) use stream::Reader;

use crate::error::WireError;
use crate::family::{SchemaBy, Target};
use crate::message::ResponseFormat;
use crate::request::ChatRequest;
use crate::response::FinishReason;
use crate::usage::{Usage, count};

/// The tool by which an answer comes that has to be JSON and has no other way.
const ANSWER_TOOL: &str = "answer_in_json";

/// Whether the answer comes as the arguments of [`ANSWER_TOOL`].
fn answers_by_tool(target: &Target, request: &ChatRequest) -> Result<bool, WireError> {
    Ok(match (request.response_format()?, target.schema) {
        (ResponseFormat::Text, _) | (ResponseFormat::JsonSchema(_), SchemaBy::Native) => false,
        (ResponseFormat::JsonObject, _) | (ResponseFormat::JsonSchema(_), SchemaBy::Tool) => true,
    })
}

/// Tokens in Anthropic's words: what was read from a cache and written to one stands beside `input_tokens`.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize)]
struct Tokens {
    #[serde(default, deserialize_with = "count")]
    input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    output_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_read_input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Clone, Copy, Default, serde::Deserialize)]
struct OutputDetails {
    #[serde(default, deserialize_with = "count")]
    thinking_tokens: u64,
}

impl Tokens {
    /// The later of two counts: within a stream they grow, and a later event may leave the prompt's out.
    fn later(&self, other: &Self) -> Self {
        Self {
            input_tokens: self.input_tokens.max(other.input_tokens),
            output_tokens: self.output_tokens.max(other.output_tokens),
            cache_read_input_tokens: self.cache_read_input_tokens.max(other.cache_read_input_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .max(other.cache_creation_input_tokens),
            output_tokens_details: other.output_tokens_details.or(self.output_tokens_details),
        }
    }

    fn counted(&self) -> Usage {
        Usage {
            input: self
                .input_tokens
                .saturating_add(self.cache_read_input_tokens)
                .saturating_add(self.cache_creation_input_tokens),
            output: self.output_tokens,
            cached: self.cache_read_input_tokens,
            cache_written: self.cache_creation_input_tokens,
            reasoning: self
                .output_tokens_details
                .map_or(0, |details| details.thinking_tokens)
                .min(self.output_tokens),
        }
    }
}

/// The reason of an end at one of the texts that were asked for.
const AT_A_STOP: &str = "stop_sequence";

/// The reason of a message's end. A reason of a later version is an end all the same.
fn finish(reason: &str, by_tool: bool) -> FinishReason {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" if !by_tool => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        _ => FinishReason::Stop,
    }
}
