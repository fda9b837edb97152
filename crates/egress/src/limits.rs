//! Bounds of requests and answers.

use std::time::Duration;

/// Size up to which the headers of an answer are read, in bytes.
pub const HEADER_BYTES: usize = 64 * 1024;
/// Number of headers up to which an answer is read.
pub const HEADERS: usize = 100;
/// Bounds of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time for resolution, connection and TLS handshake together.
    pub connect: Duration,
    /// Time from the request to the answer's headers.
    pub first_byte: Duration,
    /// Time between two pieces of the answer's body.
    pub idle: Duration,
    /// Time for everything.
    pub total: Duration,
    /// Size up to which a body is read as it comes, in bytes.
    pub body_bytes: u64,
    /// Size up to which a body is unpacked, in bytes.
    pub unpacked_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(30),
            body_bytes: 10 << 20,
            unpacked_bytes: 10 << 20,
        }
    }
}
