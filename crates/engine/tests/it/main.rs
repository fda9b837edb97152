//! Runs of small models, and properties of random ones.

mod decisions;
mod events;
mod properties;
mod suite;
mod support;
mod tasks;
mod tokens;
