//! One exchange with a provider, and its waits.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use heddle_models_wire::{AnswerFault, Failure, MAX_ANSWER, RefusalHead, Target, UpstreamRequest, WireError};
use tokio::time::Instant;

use super::Gateway;
use super::error::Missed;
use super::route::Route;
use crate::ports::{Body, Exchange, Reply};

/// Bytes of a refusal that are read.
const REFUSAL: usize = 64 * 1024;
/// Time for the body of a refusal.
const REFUSAL_WAIT: Duration = Duration::from_secs(5);

/// An error for what can't be: a route that has no wire is not sent anywhere.
fn no_wire() -> Missed {
    Missed { lasting: true, ..Missed::of(Failure::Unavailable) }
}

/// The wire of a route.
pub(super) fn target(route: &Route) -> Result<&Target, Missed> {
    route.target.as_ref().ok_or_else(no_wire)
}

impl Gateway {
    /// Sends a request; gives the answer of a status of success.
    ///
    /// # Errors
    /// The refusal of another status, or the fault of the way.
    pub(super) async fn send(
        &self,
        route: &Route,
        request: UpstreamRequest,
        answer: Duration,
        until: Instant,
    ) -> Result<Reply, Missed> {
        let base = route.connection.base_url().ok_or_else(no_wire)?;
        self.send_to(route, base, request, answer, until).await
    }

    /// The same to another base address of the connection.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub(super) async fn send_to(
        &self,
        route: &Route,
        base: &str,
        request: UpstreamRequest,
        answer: Duration,
        until: Instant,
    ) -> Result<Reply, Missed> {
        let target = target(route)?;
        let left = until.saturating_duration_since(Instant::now());
        let bounds = Exchange {
            connect: route.waits.connect.min(left),
            answer: answer.min(left),
            between: route.waits.between.min(left),
            total: left,
            body_bytes: MAX_ANSWER as u64,
        };
        let reply = self.0.ports.upstream.exchange(&route.connection, base, request, bounds).await?;
        if (200..300).contains(&reply.status) {
            return Ok(reply);
        }
        let now = std::time::SystemTime::UNIX_EPOCH
            + Duration::from_micros(self.0.ports.clock.now().micros().unsigned_abs());
        let head = RefusalHead::read(target.family, reply.status, now, |name| reply.header(name));
        let body = tokio::time::timeout(REFUSAL_WAIT, beginning(reply.body)).await.unwrap_or_default();
        Err(target.refusal(&head, &body).into())
    }
}

/// The first bytes of a refusal; those that came until it broke.
async fn beginning(mut body: Body) -> Bytes {
    let mut read = BytesMut::new();
    while read.len() < REFUSAL
        && let Some(Ok(piece)) = body.next().await
    {
        read.extend_from_slice(&piece);
    }
    read.freeze()
}

/// The whole of an answer.
///
/// # Errors
/// A fault of the way; an answer longer than is taken.
pub(super) async fn whole(reply: Reply) -> Result<Bytes, Missed> {
    let mut body = reply.body;
    let mut read = BytesMut::new();
    while let Some(piece) = body.next().await {
        let piece = piece?;
        if read.len() + piece.len() > MAX_ANSWER {
            return Err(WireError::from(AnswerFault::Oversized).into());
        }
        read.extend_from_slice(&piece);
    }
    Ok(read.freeze())
}
