//! Last try to write, which readiness is told by.

use tokio::sync::Mutex;
use tokio::time::Instant;

/// Last try to write; none before the first.
#[derive(Debug, Default)]
pub(crate) struct LastWrite(pub(crate) Mutex<Option<Tried>>);

/// Try to write.
#[derive(Debug)]
pub(crate) struct Tried {
    /// Time of the try.
    pub(crate) at: Instant,
    /// Problem that it met; none when it went well.
    pub(crate) problem: Option<&'static str>,
}
