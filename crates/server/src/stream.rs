//! The event stream of a run: `text/event-stream`. It reads the events from the database behind the reader's place and
//! waits to be told of more, so that there is neither a gap nor a repeat, over restarts and across nodes. It reads no
//! further ahead than a few bytes, and checks the reader's rights by a deadline, however slowly they read.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use heddle_api::ErrorCode;
use heddle_api::operations::ops;
use heddle_edge::Places;
use heddle_kernel::{Clock as _, Timestamp};
use heddle_policy::capability::RunRead;
use heddle_policy::resource::Run;
use heddle_policy::{Key, RequestContext, SessionKind};
use heddle_runtime::RunWatch;
use heddle_workflows::runs::StoredEvent;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::answer::PIECE;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, Response};

/// Time between two looks for events of other nodes.
const POLL: Duration = Duration::from_secs(1);
/// Most bytes of events that are read ahead of the reader; one event is read whatever its size.
const READ_AHEAD: usize = 128 * 1024;

/// GET /api/workflows/{workflowId}/runs/{runId}/events/stream
pub(crate) async fn stream(call: Call<ops::StreamRunEvents>) -> HandlerResult {
    let key = call.authorized.key().clone();
    // Watched before the first look: what is committed in between is told.
    let watch = call.app.hub.watch(key.id());
    call.app.runs.progress(&call.authorized).await?;
    let places = call.app.edge.stream(call.context.principal().session, call.context.tenant())?;
    let asked = call.query.after.and_then(|after| u64::try_from(after).ok());
    let reader = Reader {
        watch,
        stop: call.app.stop.clone(),
        key,
        after: call.meta.last_event_id.or(asked).unwrap_or(0),
        token: call.meta.token.clone().unwrap_or_default(),
        rights_until: call.context.snapshot().valid_until(),
        context: call.context,
        next_check: Instant::now() + call.app.edge.limits().stream_check,
        app: call.app,
        waiting: VecDeque::new(),
        ended: false,
        _places: places,
    };
    let content =
        Content::Stream(Box::pin(futures::stream::unfold(reader, Reader::next)), "text/event-stream");
    let headers = vec![("x-accel-buffering", "no".to_owned())];
    Ok(Response { status: 200, headers, content })
}

struct Reader {
    app: Arc<App>,
    context: RequestContext,
    token: String,
    key: Key<Run>,
    watch: RunWatch,
    stop: watch::Receiver<bool>,
    after: u64,
    waiting: VecDeque<Bytes>,
    next_check: Instant,
    /// Instant at which the first of the reader's rights ends.
    rights_until: Option<Timestamp>,
    ended: bool,
    _places: Places,
}

impl Reader {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            // Before anything is handed over, backlog or not: a slow reader does not outlive their rights.
            if Instant::now() >= self.next_check || self.has_outlived_a_right() {
                if !self.may_read().await {
                    return None;
                }
                self.next_check = Instant::now() + self.app.edge.limits().stream_check;
            }
            if let Some(piece) = self.piece() {
                return Some((Ok(piece), self));
            }
            if self.ended || *self.stop.borrow() {
                return None;
            }
            match self.read().await {
                Ok(true) => {}
                Ok(false) => self.wait().await,
                Err(failure) => {
                    // The reader comes back with its last id; nothing is lost.
                    tracing::warn!(cause = failure.cause, "an event stream was cut");
                    return None;
                }
            }
        }
    }

    /// Whether something of the reader's rights has ended since they were looked at.
    fn has_outlived_a_right(&self) -> bool {
        self.rights_until.is_some_and(|end| self.app.clock.now() >= end)
    }

    /// Next bytes that wait to be handed over.
    fn piece(&mut self) -> Option<Bytes> {
        let front = self.waiting.front_mut()?;
        if front.len() > PIECE {
            return Some(front.split_to(PIECE));
        }
        self.waiting.pop_front()
    }

    /// Takes what is there, as far as it is read ahead; whether there was anything.
    async fn read(&mut self) -> Result<bool, Failure> {
        let events = self.app.runs.events_behind(&(&self.key).into(), self.after, READ_AHEAD).await?;
        for event in &events {
            self.after = event.sequence;
            self.waiting.push_back(frame(event));
            self.ended |= matches!(event.kind.as_str(), "run.completed" | "run.failed" | "run.cancelled");
        }
        // Who comes to an ended run with its last id has seen everything.
        if events.is_empty() && !self.ended {
            self.ended = self.run_has_ended().await?;
        }
        if self.ended {
            self.waiting.push_back(Bytes::from_static(b"event: end\ndata: {}\n\n"));
        }
        Ok(!events.is_empty() || self.ended)
    }

    async fn run_has_ended(&self) -> Result<bool, Failure> {
        let caller = self.context.snapshot();
        let ownership = self.app.runs.ownership::<RunRead>(caller, self.key.id()).await?;
        let Ok(authorized) = caller.authorize_owned::<RunRead>(self.key.clone(), ownership) else {
            return Ok(true);
        };
        let progress = self.app.runs.progress(&authorized).await?;
        Ok(progress.state.is_terminal() && progress.last_sequence <= self.after)
    }

    async fn wait(&mut self) {
        let due = tokio::time::sleep_until(self.next_check);
        let shared = self.app.db.postgres().is_some();
        tokio::select! {
            () = self.watch.changed() => {}
            () = tokio::time::sleep(POLL), if shared => {}
            _ = self.stop.wait_for(|stopped| *stopped) => {}
            // The next turn checks the right to read before it gives this sign of life.
            () = due => self.waiting.push_back(Bytes::from_static(b": heartbeat\n\n")),
        }
    }

    /// Whether session, grant and licence still allow it. Reading on is no use of the session: it ends when nothing
    /// else is done with it.
    async fn may_read(&mut self) -> bool {
        let app = &self.app;
        // On the machine itself one's own is read whatever the licence says.
        let by_licence = !matches!(self.context.principal().session, SessionKind::CommandLine(_));
        if by_licence && app.identity.licence_state().restriction().is_some() {
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
                match app.runs.ownership::<RunRead>(&caller.snapshot, self.key.id()).await {
                    Ok(ownership) => {
                        caller.snapshot.authorize_owned::<RunRead>(self.key.clone(), ownership).is_ok()
                    }
                    // Whose the run is was not told: nothing is handed over that may be somebody else's by now.
                    Err(error) => {
                        tracing::warn!(%error, "an event stream was cut");
                        false
                    }
                }
            }
            Ok(None) => false,
            // A database that is away for a moment takes no right away; the stream itself ends by its own reads.
            Err(error) => Failure::from(error).error.code == ErrorCode::DependencyUnavailable,
        }
    }
}

/// One event: its sequence number as id, its type, and all of it as data.
fn frame(event: &StoredEvent) -> Bytes {
    let StoredEvent { sequence, kind, json, .. } = event;
    // A line ends the data; JSON has none but between its parts.
    let line = json.get().replace(['\n', '\r'], " ");
    Bytes::from(format!("id: {sequence}\nevent: {kind}\ndata: {line}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    #[test]
    fn a_frame_is_one_event_on_one_line() {
        let json = "{\"sequence\":3,\n\"type\":\"node.completed\",\"data\":{\"text\":\"a\\nb\"}}";
        let json = RawValue::from_string(json.to_owned()).unwrap();
        let event = StoredEvent { sequence: 3, kind: "node.completed".to_owned(), node_id: None, json };
        let frame = String::from_utf8(frame(&event).to_vec()).unwrap();
        assert!(frame.starts_with("id: 3\nevent: node.completed\ndata: {"));
        assert!(frame.ends_with("}\n\n") && frame.matches('\n').count() == 4, "{frame}");
    }
}
