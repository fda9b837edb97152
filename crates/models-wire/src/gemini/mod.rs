//! Google's `generateContent`, its stream and its embeddings.
//!
//! Sources: the Gemini API's reference (`v1beta`: models.generateContent, streamGenerateContent, embedContent,
//! batchEmbedContents) and its pages on function calling, structured output, thinking and thought signatures.

mod answer;
mod ask;
mod embed;

pub(crate) use answer::{Reader, chat_response};
pub(crate) use ask::chat;
pub(crate) use embed::{embedding_response, embeddings};

use percent_encoding::utf8_percent_encode;

use crate::family::Target;
use crate::openai::SEGMENT;

/// The path of a method of the target's model.
fn path(target: &Target, method: &str) -> String {
    format!("/v1beta/models/{}:{method}", utf8_percent_encode(name(target), SEGMENT))
}

/// The model's name without the collection that discovery shows before it.
fn name(target: &Target) -> &str {
    target.model.strip_prefix("models/").unwrap_or(&target.model)
}
