//! The calls of a target, each by its family.

use bytes::Bytes;

use crate::bounds::MAX_ANSWER;
use crate::embedding::{EmbeddingRequest, EmbeddingResponse};
use crate::error::{AnswerFault, WireError};
use crate::family::{Family, Target};
use crate::refusal::{self, RefusalHead};
use crate::request::ChatRequest;
use crate::response::{Answer, ChatResponse};
use crate::stream::StreamDecoder;
use crate::upstream::UpstreamRequest;
use crate::{anthropic, gemini, ollama, openai};

impl Target {
    /// The request for a chat, as a stream when it asks for one.
    ///
    /// # Errors
    /// `Member` for what is malformed and has to be read here; `Inexpressible` for what the family has no word for.
    pub fn chat(&self, request: &ChatRequest) -> Result<UpstreamRequest, WireError> {
        match self.family {
            Family::OpenAi | Family::AzureOpenAi => Ok(openai::chat(self, request)),
            Family::Anthropic => anthropic::chat(self, request),
            Family::Gemini => gemini::chat(self, request),
            Family::Ollama => ollama::chat(self, request),
        }
    }

    /// The answer of a chat that was no stream: the body of a status in the two hundreds.
    ///
    /// # Errors
    /// `Answer`: malformed, without an end, larger than 64 MiB; `Refused` for an error in the body all the same.
    pub fn chat_response(
        &self,
        request: &ChatRequest,
        answer: &Answer,
        body: Bytes,
    ) -> Result<ChatResponse, WireError> {
        if body.len() > MAX_ANSWER {
            return Err(AnswerFault::Oversized.into());
        }
        match self.family {
            Family::OpenAi | Family::AzureOpenAi => openai::chat_response(body),
            Family::Anthropic => anthropic::chat_response(self, request, answer, &body),
            Family::Gemini => gemini::chat_response(self, answer, &body),
            Family::Ollama => ollama::chat_response(self, answer, &body),
        }
    }

    /// The request for the tokens of a chat's prompt; none for a family without such a count.
    ///
    /// # Errors
    /// As [`chat`](Self::chat).
    pub fn count(&self, request: &ChatRequest) -> Result<Option<UpstreamRequest>, WireError> {
        match self.family {
            Family::Anthropic => anthropic::count_request(self, request).map(Some),
            Family::OpenAi | Family::AzureOpenAi | Family::Gemini | Family::Ollama => Ok(None),
        }
    }

    /// The tokens of a prompt: the body of a status in the two hundreds.
    ///
    /// # Errors
    /// `Answer(Malformed)`; `Refused` for an error in the body all the same; `Inexpressible` for a family without a count.
    pub fn count_response(&self, body: &[u8]) -> Result<u64, WireError> {
        match self.family {
            Family::Anthropic => anthropic::count_response(body),
            Family::OpenAi | Family::AzureOpenAi | Family::Gemini | Family::Ollama => {
                Err(WireError::inexpressible("messages", self.family))
            }
        }
    }

    /// The reader of a chat's stream.
    #[must_use]
    pub fn stream(&self, request: &ChatRequest, answer: Answer) -> StreamDecoder {
        match self.family {
            Family::OpenAi | Family::AzureOpenAi => StreamDecoder::openai(self, request, answer),
            Family::Anthropic => StreamDecoder::anthropic(self, request, answer),
            Family::Gemini => StreamDecoder::gemini(self, answer),
            Family::Ollama => StreamDecoder::ollama(self, answer),
        }
    }

    /// The requests for embeddings: one for each batch of at most `batch` inputs, in their order.
    ///
    /// # Errors
    /// `Inexpressible`: tokens, or members that the family has no word for; all of it for a family without embeddings.
    pub fn embeddings(
        &self,
        request: &EmbeddingRequest,
        batch: usize,
    ) -> Result<Vec<UpstreamRequest>, WireError> {
        match self.family {
            Family::OpenAi | Family::AzureOpenAi => Ok(openai::embeddings(self, request, batch)),
            Family::Gemini => gemini::embeddings(self, request, batch),
            Family::Ollama => ollama::embeddings(self, request, batch),
            Family::Anthropic => Err(WireError::inexpressible("input", self.family)),
        }
    }

    /// The embeddings, from the bodies of all batches in their order. `batch` is the same as in
    /// [`embeddings`](Self::embeddings).
    ///
    /// # Errors
    /// `Answer`: malformed, fewer or more vectors than inputs, of different lengths, not of the dimensions asked for.
    pub fn embedding_response(
        &self,
        request: &EmbeddingRequest,
        batch: usize,
        bodies: Vec<Bytes>,
    ) -> Result<EmbeddingResponse, WireError> {
        if bodies.iter().any(|body| body.len() > MAX_ANSWER) {
            return Err(AnswerFault::Oversized.into());
        }
        match self.family {
            Family::OpenAi | Family::AzureOpenAi => openai::embedding_response(self, request, batch, bodies),
            Family::Gemini => gemini::embedding_response(self, request, batch, &bodies),
            Family::Ollama => ollama::embedding_response(self, request, batch, &bodies),
            Family::Anthropic => Err(WireError::inexpressible("input", self.family)),
        }
    }

    /// The error of an answer with a status of no success.
    #[must_use]
    pub fn refusal(&self, head: &RefusalHead, body: &[u8]) -> WireError {
        WireError::Refused(refusal::of_status(head, body))
    }
}
