//! Speech to providers of models and to local runtimes, over the one way out: single exchanges, whose answers come piece by
//! piece on connections that are kept.
//!
//! What goes wrong is told by phase, kind and a sentence: never by what a provider answered, and never with a key.

mod fault;
mod upstream;

pub use upstream::Providers;
