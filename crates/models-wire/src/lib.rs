//! Wires of model providers: requests to them and what comes back, without a connection: requests are values, answers are
//! bytes.
//!
//! A [`ChatRequest`] is in OpenAI's words. A [`Target`] says it in its family's ([`Target::chat`]), reads the answer
//! ([`Target::chat_response`]) or the stream ([`Target::stream`], a push parser), and gives both back in OpenAI's words.
//! Where the provider speaks those itself, the caller's bytes and the provider's pass as they are, but for the model's
//! name. The same for embeddings ([`Target::embeddings`]), for refusals ([`Target::refusal`]), for lists of models
//! ([`catalogue`]) and for the order of texts ([`rerank`]).
//!
//! [`Messages`] is the other way round: what clients of Anthropic's interface ask, as a [`ChatRequest`], and its answer as
//! they read it.
//!
//! Members that a family cannot express are errors that name them: nothing is left out in silence. Frames, depths and
//! counts have bounds. No `Debug`, `Display` or error shows a prompt, an answer or a key.

mod anthropic;
mod bounds;
pub mod catalogue;
mod chunk;
mod embedding;
mod error;
mod estimate;
mod family;
mod frames;
mod gemini;
mod members;
mod message;
mod messages;
mod ollama;
mod openai;
mod refusal;
mod request;
mod rerank;
mod response;
mod schema;
mod spoken;
mod stream;
mod upstream;
mod usage;
mod wire;

pub use bounds::{MAX_ANSWER, MAX_DEPTH, MAX_FRAME};
pub use chunk::{CallPiece, ChatChunk, ChunkBody, ChunkChoice, Delta, FunctionPiece, StreamEvent};
pub use embedding::{EmbeddingRequest, EmbeddingResponse, Encoding};
pub use error::{AnswerFault, Failure, Refusal, WireError};
pub use estimate::{tokens_of_bytes, tokens_of_json};
pub use family::{Family, KeyHeader, SchemaBy, Target};
pub use message::{
    Content, Function, FunctionCall, JsonSchema, Message, ResponseFormat, Role, Schema, Tool, ToolCall,
    ToolChoice,
};
pub use messages::{MessageForm, MessageStream, Messages};
pub use refusal::{RefusalHead, retry_after};
pub use request::ChatRequest;
pub use rerank::{Ranked, Ranking, RerankBy, read_rerank, rerank};
pub use response::{Answer, AssistantMessage, ChatResponse, Choice, Completion, FinishReason};
pub use stream::StreamDecoder;
pub use upstream::{Header, Method, UpstreamRequest};
pub use usage::Usage;
