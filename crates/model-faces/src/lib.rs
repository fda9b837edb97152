//! Models on the wire: what callers send as the use cases take it, and what they are shown of it. Each direction is a function
//! of plain values; nothing is decided here.

pub mod connections;
pub mod deployments;
pub mod literals;
pub mod usage;
