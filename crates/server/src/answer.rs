//! Bodies of answers, handed over piece by piece as the client reads.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use bytes::Bytes;
use heddle_edge::connection::Open;

use crate::reply::ByteStream;
use crate::request_log::AtTheEnd;

/// Most bytes of a piece: what the connection copies before the client has read them.
pub(crate) const PIECE: usize = 32 * 1024;

/// Body of an answer with the request that it answers.
pub(crate) struct Answer {
    content: Answered,
    open: Open,
    /// Whether the answer ends as soon as its reader ends their side of the connection.
    ends_with_reader: bool,
}

enum Answered {
    Bytes(Bytes),
    Stream(ByteStream, AtTheEnd),
}

impl Answer {
    pub(crate) const fn bytes(bytes: Bytes, open: Open) -> Self {
        Self { content: Answered::Bytes(bytes), open, ends_with_reader: false }
    }

    pub(crate) const fn stream(stream: ByteStream, open: Open, line: AtTheEnd) -> Self {
        Self { content: Answered::Stream(stream, line), open, ends_with_reader: false }
    }

    /// The same, which ends as soon as its reader hangs up: what makes it costs something elsewhere.
    pub(crate) fn ending_with_reader(self, ends_with_reader: bool) -> Self {
        Self { ends_with_reader, ..self }
    }
}

impl MessageBody for Answer {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        match &self.content {
            Answered::Bytes(bytes) => BodySize::Sized(bytes.len() as u64),
            Answered::Stream(..) => BodySize::Stream,
        }
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        if self.ends_with_reader && self.open.has_left() {
            return Poll::Ready(None);
        }
        match &mut self.content {
            Answered::Bytes(bytes) if bytes.is_empty() => Poll::Ready(None),
            Answered::Bytes(bytes) => Poll::Ready(Some(Ok(bytes.split_to(bytes.len().min(PIECE))))),
            Answered::Stream(stream, _line) => stream.as_mut().poll_next(cx),
        }
    }
}
