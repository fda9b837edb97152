//! The event stream of a run: `text/event-stream`. It reads the events from the database behind the reader's place and
//! waits to be told of more, so that there is neither a gap nor a repeat, over restarts and across nodes.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use heddle_api::ErrorCode;
use heddle_api::operations::ops;
use heddle_kernel::Clock as _;
use heddle_policy::capability::RunRead;
use heddle_policy::resource::Run;
use heddle_policy::{Key, RequestContext};
use heddle_runtime::RunWatch;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, Response};

/// The time between signs of life; the right to read is checked again at each.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Time between two looks for events of other nodes.
const POLL: Duration = Duration::from_secs(1);

/// GET /api/workflows/{workflowId}/runs/{runId}/events/stream
pub(crate) async fn stream(call: Call<ops::StreamRunEvents>) -> HandlerResult {
    let key = call.authorized.key().clone();
    // Watched before the first look: what is committed in between is told.
    let watch = call.app.hub.watch(key.id());
    call.app.runs.get(&call.authorized).await?;
    let asked = call.query.after.and_then(|after| u64::try_from(after).ok());
    let reader = Reader {
        watch,
        stop: call.app.stop.clone(),
        key,
        after: call.meta.last_event_id.or(asked).unwrap_or(0),
        token: call.meta.token.clone().unwrap_or_default(),
        context: call.context,
        app: call.app,
        waiting: VecDeque::new(),
        next_heartbeat: Instant::now() + HEARTBEAT,
        ended: false,
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
    next_heartbeat: Instant,
    ended: bool,
}

impl Reader {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if let Some(chunk) = self.waiting.pop_front() {
                return Some((Ok(chunk), self));
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

    /// Takes what is there; whether there was anything.
    async fn read(&mut self) -> Result<bool, Failure> {
        let events = self.app.runs.events_behind(&self.key, self.after).await?;
        for event in &events {
            self.after = event.get("sequence").and_then(Value::as_u64).unwrap_or(self.after);
            self.waiting.push_back(frame(event));
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            self.ended |= matches!(kind, "run.completed" | "run.failed" | "run.cancelled");
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
        let Ok(authorized) = self.context.snapshot().authorize_key::<RunRead>(self.key.clone()) else {
            return Ok(true);
        };
        let view = self.app.runs.get(&authorized).await?;
        Ok(view.run.state.is_terminal() && view.run.last_sequence <= self.after)
    }

    async fn wait(&mut self) {
        let heartbeat = tokio::time::sleep_until(self.next_heartbeat);
        let shared = self.app.db.postgres().is_some();
        let due = tokio::select! {
            () = self.watch.changed() => false,
            () = tokio::time::sleep(POLL), if shared => false,
            _ = self.stop.wait_for(|stopped| *stopped) => false,
            () = heartbeat => true,
        };
        if !due {
            return;
        }
        self.next_heartbeat = Instant::now() + HEARTBEAT;
        if self.may_read().await {
            self.waiting.push_back(Bytes::from_static(b": heartbeat\n\n"));
        } else {
            self.ended = true;
        }
    }

    /// Whether session, grant and licence still allow it.
    async fn may_read(&self) -> bool {
        let app = &self.app;
        if app.identity.licence_state().restriction().is_some() {
            return false;
        }
        match app.identity.authenticate(&self.token, Some(self.context.tenant()), app.clock.now()).await {
            Ok(Some(caller)) => caller.snapshot.authorize_key::<RunRead>(self.key.clone()).is_ok(),
            Ok(None) => false,
            // A database that is away for a moment takes no right away; the stream itself ends by its own reads.
            Err(error) => Failure::from(error).error.code == ErrorCode::DependencyUnavailable,
        }
    }
}

/// One event: its sequence number as id, its type, and all of it as data.
fn frame(event: &Value) -> Bytes {
    let sequence = event.get("sequence").and_then(Value::as_u64).unwrap_or(0);
    let kind = event.get("type").and_then(Value::as_str).unwrap_or("message");
    Bytes::from(format!("id: {sequence}\nevent: {kind}\ndata: {event}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_event_on_one_line() {
        let event =
            serde_json::json!({ "sequence": 3, "type": "node.completed", "data": { "text": "a\nb" } });
        let frame = String::from_utf8(frame(&event).to_vec()).unwrap();
        assert!(frame.starts_with("id: 3\nevent: node.completed\ndata: {"));
        assert!(frame.ends_with("}\n\n") && frame.matches('\n').count() == 4);
    }
}
