//! Servers of local models: what they are asked about their models and what is in memory, and what their answers say.
//!
//! A [`Runtime`] gives [`Call`]s, whoever has a way out makes them, and their [`Reply`]s come back to be read: nothing
//! here opens a connection or waits. Five are known, each as its own documents and sources describe it in November 2026:
//! Ollama (`docs/api.md`), llama.cpp's server with its router (`tools/server/README.md`), LM Studio (REST API v1, and v0
//! of versions before 0.4), vLLM (`features/sleep_mode`, development endpoints) and Hugging Face's
//! text-embeddings-inference (`/info`).

mod llama_cpp;
mod lm_studio;
mod ollama;
mod records;
mod reply;
mod runtime;
mod tei;
#[cfg(test)]
mod tests;
mod vllm;

pub use records::{ContextWish, Features, Keep, LocalModel, Residence, Residency, Wish, Wishes};
pub use reply::{Call, LocalError, Method, Reply};
pub use runtime::{Runtime, root};
