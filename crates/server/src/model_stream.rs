//! Answers of models piece by piece: `text/event-stream`.
//!
//! Each piece is handed over as it comes. A comment is a sign of life while nothing does, and the reader's rights are looked
//! at again in the same rhythm, as in the streams of events. An answer that breaks is told by one `error`, behind which
//! there is no `[DONE]` and no `message_stop`: nobody takes it for a whole one. Dropped before its end, it leaves the
//! provider at once.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures::StreamExt as _;
use heddle_api::{ApiError, Detail, ErrorCode, Face};
use heddle_edge::Places;
use heddle_kernel::{Clock as _, ModelDeploymentId, Timestamp};
use heddle_models::{ChatStream, GatewayError};
use heddle_models_wire::{MessageStream, StreamEvent};
use heddle_policy::capability::DeploymentChat;
use heddle_policy::{RequestContext, SessionKind};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::app::App;
use crate::failure::Failure;
use crate::models::failure::unreadable;
use crate::reply::ByteStream;

/// Sign of life.
const PING: &[u8] = b": ping\n\n";
/// The same where each event has a name.
const NAMED_PING: &[u8] = b"event: ping\ndata: {\"type\":\"ping\"}\n\n";
/// End of an answer that is whole.
const DONE: &[u8] = b"data: [DONE]\n\n";

/// Form in which an answer's pieces are told.
pub(crate) enum Form {
    /// Chunks, as clients of OpenAI's interface read them.
    Chunks,
    /// Events of a message, as clients of Anthropic's interface read them.
    Messages(Box<MessageStream>),
}

/// Parts that a stream is made of.
pub(crate) struct Parts {
    /// The service.
    pub app: Arc<App>,
    /// The caller, the organisation, and the request.
    pub context: RequestContext,
    /// Token that the caller came with.
    pub token: String,
    /// Deployment that was asked.
    pub deployment: ModelDeploymentId,
    /// Form in which the caller reads failures.
    pub face: Face,
    /// Form of the pieces.
    pub form: Form,
    /// The answer.
    pub pieces: ChatStream,
    /// Places among the streams of session and organisation.
    pub places: Places,
}

struct Reader {
    app: Arc<App>,
    context: RequestContext,
    token: String,
    deployment: ModelDeploymentId,
    face: Face,
    form: Form,
    pieces: ChatStream,
    stop: watch::Receiver<bool>,
    next_check: Instant,
    /// Instant at which the first of the reader's rights ends.
    rights_until: Option<Timestamp>,
    is_over: bool,
    _places: Places,
}

/// Event that a stream goes on with.
enum Turn {
    Came(Option<Result<StreamEvent, GatewayError>>),
    Due,
    Stopped,
}

/// The stream of an answer.
pub(crate) fn answer(parts: Parts) -> ByteStream {
    let Parts { app, context, token, deployment, face, form, pieces, places } = parts;
    let reader = Reader {
        stop: app.stop.clone(),
        next_check: Instant::now() + app.edge.limits().stream_check,
        rights_until: context.snapshot().valid_until(),
        app,
        context,
        token,
        deployment,
        face,
        form,
        pieces,
        is_over: false,
        _places: places,
    };
    Box::pin(futures::stream::unfold(reader, Reader::next))
}

impl Reader {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if self.is_over || (self.is_due() && !self.may_go_on().await) {
                return None;
            }
            let due = self.next_check;
            let turn = tokio::select! {
                biased;
                _ = self.stop.wait_for(|stopped| *stopped) => Turn::Stopped,
                event = self.pieces.next() => Turn::Came(event),
                () = tokio::time::sleep_until(due) => Turn::Due,
            };
            let bytes = match turn {
                Turn::Came(Some(Ok(event))) => self.told(&event),
                Turn::Came(Some(Err(error))) => {
                    let told = self.failure(error.into());
                    self.last(told)
                }
                Turn::Came(None) => return None,
                Turn::Due => match self.may_go_on().await {
                    true => self.ping(),
                    false => return None,
                },
                Turn::Stopped => {
                    let detail = Detail::new("stopping", "The server stops.");
                    let told =
                        self.failure(ApiError::because(ErrorCode::DependencyUnavailable, detail).into());
                    self.last(told)
                }
            };
            // A piece may say nothing in the reader's form, and bytes of no length would end the body.
            if !bytes.is_empty() {
                return Some((Ok(bytes), self));
            }
        }
    }

    /// An event in the reader's form; one that can't be said so is a failure, and the last.
    fn told(&mut self, event: &StreamEvent) -> Bytes {
        let told = match (&mut self.form, event) {
            (Form::Chunks, StreamEvent::Chunk(chunk)) => Ok(frame(&chunk.json)),
            (Form::Chunks, StreamEvent::Done) => Ok(Bytes::from_static(DONE)),
            (Form::Messages(writer), event) => writer.event(event),
        };
        self.is_over = told.is_err() || matches!(event, StreamEvent::Done);
        told.unwrap_or_else(|error| self.failure(unreadable(&error)))
    }

    fn ping(&self) -> Bytes {
        Bytes::from_static(match self.form {
            Form::Chunks => PING,
            Form::Messages(_) => NAMED_PING,
        })
    }

    /// The last bytes of the stream.
    fn last(&mut self, bytes: Bytes) -> Bytes {
        self.is_over = true;
        bytes
    }

    /// A failure as the reader's kind of clients reads it. Its cause is for the log alone.
    fn failure(&self, failure: Failure) -> Bytes {
        if let Some(cause) = &failure.cause {
            tracing::warn!(cause, "an answer of a model broke");
        }
        let id = self.context.request_id();
        let encoded = match self.face {
            Face::OpenAi => serde_json::to_vec(&failure.error.to_openai(id)),
            Face::Anthropic => serde_json::to_vec(&failure.error.to_anthropic(id)),
            Face::Own | Face::Camunda7 | Face::Camunda8 => serde_json::to_vec(&failure.error.to_body(id)),
        };
        // The body is made of texts: it always encodes.
        let framed = frame(&encoded.unwrap_or_default());
        match self.form {
            Form::Chunks => framed,
            Form::Messages(_) => [b"event: error\n".as_slice(), framed.as_ref()].concat().into(),
        }
    }

    /// Whether the reader's rights are to be looked at.
    fn is_due(&self) -> bool {
        let has_outlived = self.rights_until.is_some_and(|end| self.app.clock.now() >= end);
        has_outlived || Instant::now() >= self.next_check
    }

    /// Whether session, grant and licence still allow it, with the rights of now.
    async fn may_go_on(&mut self) -> bool {
        self.next_check = Instant::now() + self.app.edge.limits().stream_check;
        let app = &self.app;
        if app.identity.licence_state().restriction().is_some() {
            return false;
        }
        let (tenant, now) = (self.context.tenant(), app.clock.now());
        let known = match self.context.principal().session {
            SessionKind::CommandLine(_) => {
                app.identity.of_command_line(self.context.user_id(), tenant, now).await
            }
            SessionKind::Session(_) | SessionKind::ApiToken(_) | SessionKind::ServiceToken(_) => {
                app.identity.recognize(&self.token, Some(tenant), now).await
            }
        };
        match known {
            Ok(Some(caller)) => {
                self.rights_until = caller.snapshot.valid_until();
                caller.snapshot.authorize_one::<DeploymentChat>(self.deployment, ()).is_ok()
            }
            Ok(None) => false,
            // A database that is away for a moment takes no right away.
            Err(error) => Failure::from(error).error.code == ErrorCode::DependencyUnavailable,
        }
    }
}

/// One event with these bytes as its data. JSON has line breaks between its parts alone.
fn frame(json: &[u8]) -> Bytes {
    let mut whole = BytesMut::with_capacity(json.len() + 8);
    whole.put_slice(b"data: ");
    match json.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        false => whole.put_slice(json),
        true => {
            whole.extend(json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }))
        }
    }
    whole.put_slice(b"\n\n");
    whole.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_one_event_on_one_line() {
        assert_eq!(&frame(b"{\"a\":1}")[..], b"data: {\"a\":1}\n\n");
        assert_eq!(&frame(b"{\n\"a\":1}")[..], b"data: { \"a\":1}\n\n");
    }
}
