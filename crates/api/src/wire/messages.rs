//! Messages of models in the bodies of Anthropic's interface.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::envelope::{AnyJson, JsonObject};
use crate::contract::{MediaType, RequestBody};
use crate::decode::{Problems, from_json};

/// A question to a model, as Anthropic's messages have it. A member that is not here is refused by its name. `Debug` shows
/// no prompt.
#[derive(Clone, PartialEq, Deserialize, ToSchema)]
#[schema(examples(json!({"model": "built-in-answers", "max_tokens": 256, "messages": [{"role": "user", "content": "What is a loom?"}]})))]
pub struct MessagesRequest {
    /// The deployment: its alias, or its identifier.
    #[schema(min_length = 1, max_length = 200)]
    pub model: String,
    /// The turns: `role` (`user`, `assistant`, `system`) and `content`: a text, or blocks of `text`, `image`, `document`, `tool_use`,
    /// `tool_result`, `thinking`.
    #[schema(min_items = 1, max_items = 10000, value_type = Vec<Object>)]
    pub messages: Vec<JsonObject>,
    /// The most tokens of the answer.
    #[schema(minimum = 1)]
    pub max_tokens: u64,
    /// Instructions: a text, or blocks of text.
    #[schema(value_type = AnyJson, required = false)]
    pub system: Option<Value>,
    /// Whether the answer comes piece by piece, as `text/event-stream`.
    pub stream: Option<bool>,
    /// Temperature of the choice of words.
    #[schema(minimum = 0, maximum = 1)]
    pub temperature: Option<f64>,
    /// Part of the likely words that is chosen from.
    #[schema(minimum = 0, maximum = 1)]
    pub top_p: Option<f64>,
    /// Number of the likeliest words that is chosen from.
    #[schema(minimum = 0)]
    pub top_k: Option<u64>,
    /// Texts at which the answer ends.
    pub stop_sequences: Option<Vec<String>>,
    /// Tools that the model may call: `name`, `description`, `input_schema`.
    #[schema(max_items = 1000, value_type = Option<Vec<Object>>)]
    pub tools: Option<Vec<JsonObject>>,
    /// Tool that the model is to call: `type` is `auto`, `any`, `none`, or `tool` with its `name`.
    #[schema(value_type = Option<Object>)]
    pub tool_choice: Option<JsonObject>,
    /// The caller's name for who asks, as `user_id`.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<JsonObject>,
    /// Thoughts before the answer, as the provider has them.
    #[schema(value_type = Option<Object>)]
    pub thinking: Option<JsonObject>,
    /// Tier of the provider's service.
    pub service_tier: Option<String>,
    /// Form of the answer: `format` with a JSON Schema, and `effort`.
    #[schema(value_type = Option<Object>)]
    pub output_config: Option<JsonObject>,
}

impl std::fmt::Debug for MessagesRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessagesRequest").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Body of a message: checked by its schema, and kept as it came. Its `Debug` shows no prompt.
#[derive(Clone, PartialEq)]
pub struct MessagesBody {
    /// The members that the schema names.
    pub request: MessagesRequest,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for MessagesBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (model, bytes) = (&self.request.model, self.bytes.len());
        f.debug_struct("MessagesBody").field("model", model).field("bytes", &bytes).finish_non_exhaustive()
    }
}

impl RequestBody for MessagesBody {
    type Json = MessagesRequest;

    fn read(_: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        Ok(Self { request: from_json(bytes)?, bytes: bytes.to_vec() })
    }
}

/// A question to a model whose tokens are counted before it is asked. A member that is not here is refused by its name.
/// `Debug` shows no prompt.
#[derive(Clone, PartialEq, Deserialize, ToSchema)]
#[schema(examples(json!({"model": "built-in-answers", "messages": [{"role": "user", "content": "What is a loom?"}]})))]
pub struct TokenCountRequest {
    /// The deployment: its alias, or its identifier.
    #[schema(min_length = 1, max_length = 200)]
    pub model: String,
    /// The turns, as a message has them.
    #[schema(min_items = 1, max_items = 10000, value_type = Vec<Object>)]
    pub messages: Vec<JsonObject>,
    /// Instructions: a text, or blocks of text.
    #[schema(value_type = AnyJson, required = false)]
    pub system: Option<Value>,
    /// Tools that the model may call: `name`, `description`, `input_schema`.
    #[schema(max_items = 1000, value_type = Option<Vec<Object>>)]
    pub tools: Option<Vec<JsonObject>>,
    /// Tool that the model is to call: `type` is `auto`, `any`, `none`, or `tool` with its `name`.
    #[schema(value_type = Option<Object>)]
    pub tool_choice: Option<JsonObject>,
    /// Thoughts before the answer, as the provider has them.
    #[schema(value_type = Option<Object>)]
    pub thinking: Option<JsonObject>,
    /// Form of the answer: `format` with a JSON Schema, and `effort`.
    #[schema(value_type = Option<Object>)]
    pub output_config: Option<JsonObject>,
}

impl std::fmt::Debug for TokenCountRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCountRequest").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Body of a question whose tokens are counted: checked by its schema, and kept as it came. Its `Debug` shows no prompt.
#[derive(Clone, PartialEq)]
pub struct TokenCountBody {
    /// The members that the schema names.
    pub request: TokenCountRequest,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for TokenCountBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (model, bytes) = (&self.request.model, self.bytes.len());
        f.debug_struct("TokenCountBody").field("model", model).field("bytes", &bytes).finish_non_exhaustive()
    }
}

impl RequestBody for TokenCountBody {
    type Json = TokenCountRequest;

    fn read(_: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        Ok(Self { request: from_json(bytes)?, bytes: bytes.to_vec() })
    }
}

/// Tokens of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TokenCount {
    /// Tokens of the question: as its provider counts them where it does, else an estimate by the length of its texts.
    #[schema(minimum = 0)]
    pub input_tokens: u64,
}

/// Tokens of a message, each counted once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MessageTokens {
    /// Tokens of the question, without those of the provider's cache.
    #[schema(minimum = 0)]
    pub input_tokens: u64,
    /// Tokens of the answer.
    #[schema(minimum = 0)]
    pub output_tokens: u64,
    /// Tokens of the question that the provider had kept.
    #[schema(minimum = 0)]
    pub cache_read_input_tokens: u64,
    /// Tokens of the question that the provider keeps from now on.
    #[schema(minimum = 0)]
    pub cache_creation_input_tokens: u64,
}

/// Answer of a model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ModelMessage {
    /// Identifier of the answer.
    pub id: String,
    /// Always `message`.
    pub r#type: String,
    /// Always `assistant`.
    pub role: String,
    /// The model, as its provider names it.
    pub model: String,
    /// Content: what the model says: blocks of `thinking`, `text`, `tool_use`.
    #[schema(value_type = Vec<Object>)]
    pub content: Vec<JsonObject>,
    /// Reason of its end: `end_turn`, `max_tokens`, `stop_sequence`, `tool_use`, `refusal`.
    pub stop_reason: String,
    /// Text of `stop_sequences` that ended it, where its provider tells which one did.
    #[schema(required = true)]
    pub stop_sequence: Option<String>,
    /// Tokens.
    pub usage: MessageTokens,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_kept_as_it_came_and_shows_no_prompt() {
        let body = br#"{"model":"m","max_tokens":4,"messages":[{"role":"user","content":"canary"}]}"#;
        let read = MessagesBody::read(MediaType::Json, body).unwrap();
        assert_eq!(read.bytes, body);
        assert!(!format!("{read:?}{:?}", read.request).contains("canary"), "{read:?}");
        let unbound = br#"{"model":"m","messages":[{"role":"user","content":"q"}]}"#;
        let problems = MessagesBody::read(MediaType::Json, unbound).unwrap_err();
        assert!(format!("{problems:?}").contains("max_tokens"), "{problems:?}");
        let read = TokenCountBody::read(MediaType::Json, body).unwrap();
        assert_eq!(read.bytes, body);
        assert!(!format!("{read:?}{:?}", read.request).contains("canary"), "{read:?}");
    }
}
