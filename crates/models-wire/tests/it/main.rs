//! Wires of providers, by the shapes that their references show.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail the test")]

mod anthropic;
mod catalogue;
mod embeddings;
mod gemini;
mod messages;
mod ollama;
mod openai;
mod refusals;
mod streams;
mod support;
