//! Chat, embeddings and the models that a caller may use, in the bodies of OpenAI's interface. What a body has beside the
//! members that stand here goes to the provider as it came.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::envelope::{AnyJson, JsonObject};
use super::model_connections::ModelCapability;
use super::model_deployments::DeploymentState;
use crate::contract::{MediaType, RequestBody};
use crate::decode::{Problems, from_json};

words! {
    /// Form of an answer.
    enum AnswerFormat {
        /// As OpenAI's interface has it, without the envelope of the service.
        OpenAi = "openai",
    }
}

/// Options of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
pub struct StreamOptions {
    /// Whether the last piece tells the usage; when absent it does at `/api/chat` and does not at `/v1`.
    pub include_usage: Option<bool>,
}

/// A question to a model, as OpenAI's chat completions have it. Members beside these go to the provider as they came. `Debug`
/// shows no prompt.
#[derive(Clone, PartialEq, Deserialize, ToSchema)]
#[schema(examples(json!({"model": "built-in-answers", "messages": [{"role": "user", "content": "What is a loom?"}]})))]
pub struct ChatRequest {
    /// The deployment: its alias, or its identifier.
    #[schema(min_length = 1, max_length = 200)]
    pub model: String,
    /// The messages: `role` (`system`, `developer`, `user`, `assistant`, `tool`), `content` (a text, or parts of text and
    /// images), and what belongs to tools.
    #[schema(min_items = 1, max_items = 10000, value_type = Vec<Object>)]
    pub messages: Vec<JsonObject>,
    /// Whether the answer comes piece by piece, as `text/event-stream`.
    pub stream: Option<bool>,
    /// Options of a stream.
    pub stream_options: Option<StreamOptions>,
    /// Temperature of the choice of words.
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f64>,
    /// Part of the likely words that is chosen from.
    #[schema(minimum = 0, maximum = 1)]
    pub top_p: Option<f64>,
    /// The most tokens of the answer.
    #[schema(minimum = 1)]
    pub max_tokens: Option<u64>,
    /// The most tokens of the answer, those of reasoning among them.
    #[schema(minimum = 1)]
    pub max_completion_tokens: Option<u64>,
    /// Text, or texts, at which the answer ends.
    #[schema(value_type = AnyJson, required = false)]
    pub stop: Option<Value>,
    /// Seed of the choice of words.
    pub seed: Option<i64>,
    /// Number of answers.
    #[schema(minimum = 1, maximum = 128)]
    pub n: Option<u32>,
    /// Tools that the model may call.
    #[schema(max_items = 1000, value_type = Option<Vec<Object>>)]
    pub tools: Option<Vec<JsonObject>>,
    /// Tool that the model is to call: `none`, `auto`, `required`, or one by name.
    #[schema(value_type = AnyJson, required = false)]
    pub tool_choice: Option<Value>,
    /// Form of the answer: `text`, `json_object`, or `json_schema` with its schema.
    #[schema(value_type = Option<Object>)]
    pub response_format: Option<JsonObject>,
    /// Labels of the caller's own.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<JsonObject>,
    /// The caller's name for who asks.
    pub user: Option<String>,
}

/// Texts to embed, as OpenAI's interface has them. `Debug` shows no text.
#[derive(Clone, PartialEq, Deserialize, ToSchema)]
#[schema(examples(json!({"model": "built-in-embeddings", "input": ["What is a loom?", "A loom weaves."]})))]
pub struct EmbeddingsRequest {
    /// The deployment: its alias, or its identifier.
    #[schema(min_length = 1, max_length = 200)]
    pub model: String,
    /// A text, texts, or texts as numbers of tokens.
    #[schema(value_type = AnyJson)]
    pub input: Value,
    /// Dimensions of the vectors, where the model leaves a choice.
    #[schema(minimum = 1, maximum = 100000)]
    pub dimensions: Option<u32>,
    /// Form of the vectors: `float`, or `base64` of their 32-bit numbers, the lowest byte first.
    pub encoding_format: Option<EncodingFormat>,
    /// The caller's name for who asks.
    pub user: Option<String>,
}

words! {
    /// Form of vectors.
    enum EncodingFormat {
        /// Numbers.
        Float = "float",
        /// Base64 of 32-bit numbers, the lowest byte first.
        Base64 = "base64",
    }
}

/// Declares types whose `Debug` shows the model alone.
macro_rules! silent {
    ($($name:ident),+) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("model", &self.model).finish_non_exhaustive()
            }
        }
    )+};
}

silent!(ChatRequest, EmbeddingsRequest);

/// Declares bodies that are checked by their schema and kept as they came: what the schema does not name passes untouched.
macro_rules! kept_bodies {
    ($($(#[$doc:meta])* $name:ident of $shape:ty;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq)]
        pub struct $name {
            /// The members that the schema names.
            pub request: $shape,
            /// The body as it came.
            pub bytes: Vec<u8>,
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let (model, bytes) = (&self.request.model, self.bytes.len());
                f.debug_struct(stringify!($name)).field("model", model).field("bytes", &bytes).finish_non_exhaustive()
            }
        }

        impl RequestBody for $name {
            type Json = $shape;

            fn read(_: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
                Ok(Self { request: from_json(bytes)?, bytes: bytes.to_vec() })
            }
        }
    )+};
}

kept_bodies! {
    /// Body of a chat. Its `Debug` shows no prompt.
    ChatBody of ChatRequest;
    /// Body of embeddings. Its `Debug` shows no text.
    EmbeddingsBody of EmbeddingsRequest;
}

request! {
    /// Form of the answer.
    struct AnswerQuery {
        /// `openai` leaves the service's envelope out. A stream has none in any case.
        format: Option<AnswerFormat>,
    }

    /// Which models, and in which form.
    struct ModelListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those with this ability.
        capability: Option<ModelCapability>,
        /// `openai` gives all of them as the list that OpenAI's clients read.
        format: Option<AnswerFormat>,
    }
}

response! {
    /// A model that the caller may use.
    struct CallableModel {
        /// Name by which it is called: the deployment's alias.
        id: String,
        /// The deployment.
        deployment_id: String,
        /// Abilities.
        capabilities: Vec<ModelCapability>,
        /// The most tokens of a call; null where it is not known.
        #[schema(required = true, minimum = 1)]
        context_length: Option<u32>,
        /// Dimensions of its vectors; null where it makes none or they are not known.
        #[schema(required = true, minimum = 1)]
        dimensions: Option<u32>,
        /// Type of its provider.
        provider: String,
        /// State as it was seen last.
        state: DeploymentState,
    }
}

/// Part of the tokens of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PromptTokens {
    /// Those that the provider had kept.
    #[schema(minimum = 0)]
    pub cached_tokens: u64,
}

/// Part of the tokens of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CompletionTokens {
    /// Those of reasoning.
    #[schema(minimum = 0)]
    pub reasoning_tokens: u64,
}

/// Tokens of a call, each counted once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChatUsage {
    /// Tokens of the question.
    #[schema(minimum = 0)]
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    #[schema(minimum = 0)]
    pub completion_tokens: u64,
    /// All of them.
    #[schema(minimum = 0)]
    pub total_tokens: u64,
    /// Part of the tokens of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub prompt_tokens_details: Option<PromptTokens>,
    /// Part of the tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub completion_tokens_details: Option<CompletionTokens>,
}

/// An answer among those that were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChatChoice {
    /// Place among the choices, from 0.
    #[schema(minimum = 0)]
    pub index: u32,
    /// The message: `role`, `content`, `tool_calls`.
    #[schema(value_type = Object)]
    pub message: JsonObject,
    /// Reason of its end: `stop`, `length`, `tool_calls`, `content_filter`.
    #[schema(required = true)]
    pub finish_reason: Option<String>,
}

/// Answer of a model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChatCompletion {
    /// Identifier of the answer.
    pub id: String,
    /// Always `chat.completion`.
    pub object: String,
    /// Second of the answer, since 1970.
    #[schema(minimum = 0)]
    pub created: u64,
    /// The model, as its provider names it.
    pub model: String,
    /// The answers.
    pub choices: Vec<ChatChoice>,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub usage: Option<ChatUsage>,
}

/// Vector of a text.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Embedding {
    /// Always `embedding`.
    pub object: String,
    /// Place of the text among those that were sent.
    #[schema(minimum = 0)]
    pub index: u32,
    /// The vector: numbers, or their base64.
    #[schema(value_type = AnyJson)]
    pub embedding: Value,
}

/// Tokens of a call for embeddings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct EmbeddingUsage {
    /// Tokens of the texts.
    #[schema(minimum = 0)]
    pub prompt_tokens: u64,
    /// All of them.
    #[schema(minimum = 0)]
    pub total_tokens: u64,
}

/// Vectors of texts, in the order of the texts.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Embeddings {
    /// Always `list`.
    pub object: String,
    /// The vectors.
    pub data: Vec<Embedding>,
    /// The model, as its provider names it.
    pub model: String,
    /// Tokens.
    pub usage: EmbeddingUsage,
}

/// A model as OpenAI's clients list it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OpenAiModel {
    /// Name by which it is called.
    pub id: String,
    /// Always `model`.
    pub object: String,
    /// Second of its creation, since 1970.
    pub created: i64,
    /// Type of its provider.
    pub owned_by: String,
}

/// Models as OpenAI's clients list them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OpenAiModels {
    /// Always `list`.
    pub object: String,
    /// The models.
    pub data: Vec<OpenAiModel>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_member_names_is_kept_and_no_prompt_shows_itself() {
        let body =
            br#"{"model":"m","messages":[{"role":"user","content":"canary"}],"reasoning_effort":"high"}"#;
        let read = ChatBody::read(MediaType::Json, body).unwrap();
        assert_eq!(read.bytes, body);
        assert!(!format!("{read:?}").contains("canary"), "{read:?}");
    }
}
