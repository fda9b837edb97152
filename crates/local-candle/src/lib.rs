//! Chat in the process: quantised models of GGUF files, computed on the processor by candle.
//!
//! A shelf is a directory of files; a model is read when it is first asked, and the one that was asked longest ago makes
//! room when the budget of bytes is used up. The tokenizer and the template of a chat come from the file itself. It is for
//! demonstrations and tests: a server of its own (Ollama, llama.cpp, vLLM) is several times as fast. The engine stands
//! behind the feature `engine`, which no build has by default. Nothing here opens a connection.

mod error;
mod files;
mod held;
mod template;

#[cfg(feature = "engine")]
mod engine;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "engine")]
mod shelf;

pub use error::ChatError;
pub use files::{ModelFile, list};
pub use held::Held;
pub use template::{Role, Template, Turn, held_back};

#[cfg(feature = "engine")]
pub use engine::{End, Options, Said};
#[cfg(feature = "models")]
pub use models::WithShelf;
#[cfg(feature = "engine")]
pub use shelf::Shelf;
