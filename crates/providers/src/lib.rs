//! Speech to providers of models and to local runtimes, over the one way out: single exchanges for the gateway, whose
//! answers come piece by piece on connections that are kept, and the calls by which catalogues and residency are known.
//!
//! What goes wrong is told by phase, kind and a sentence: never by what a provider answered, and never with a key.

mod fault;
mod runtimes;
mod upstream;

pub use runtimes::ProviderRuntimes;
pub use upstream::Providers;
