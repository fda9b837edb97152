//! What a caller may send, what they are told when it is wrong, and what the two documents promise.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of a test program may fail loudly"
)]

mod bodies;
mod documents;
mod errors;
mod fields;
mod operations;
mod parameters;
mod requests;
mod responses;
mod support;
