//! The use cases against what the design promises of each operation: what is answered, and what is handed to be
//! written.

mod definitions;
mod runs;
pub(crate) mod support;
