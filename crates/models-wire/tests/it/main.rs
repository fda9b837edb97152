//! Wires of providers, by the shapes that their references show.

mod anthropic;
mod catalogue;
mod embeddings;
mod gemini;
mod ollama;
mod openai;
mod refusals;
mod streams;
mod support;
