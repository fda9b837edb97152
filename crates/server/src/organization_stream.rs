//! The event stream over all runs of an organisation that the caller may list and read, and over its cases as far as they
//! may list and read those: `text/event-stream`.
//!
//! It reads what was committed from the database behind the reader's place, in the order of commits, and waits to be told
//! of more. The place is the id of each event, so that a reader comes back with it and misses nothing. The reader's rights
//! are looked at again before anything is handed over, as in the stream of one run; what waits for them is read anew when
//! they have changed.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use heddle_api::ErrorCode;
use heddle_api::operations::{Operation as _, ops};
use heddle_edge::Places;
use heddle_kernel::{Clock as _, Timestamp};
use heddle_policy::capability::{CaseList, CaseRead, RunList, RunRead};
use heddle_policy::{DenialError, InstanceFilter, RequestContext, SessionKind, Snapshot};
use heddle_runtime::OrganizationWatch;
use heddle_workflows::ports::{FeedMark, FeedPosition, FeedRest};
use heddle_workflows::runs::{FeedEvent, FeedFilter};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::answer::PIECE;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::gate;
use crate::handlers::id_of;
use crate::reply::{Content, HandlerResult, Response};

/// Time between two looks for events of other nodes.
const POLL: Duration = Duration::from_secs(1);
/// Time after which is looked again whether a transaction that holds others back has ended.
const HELD: Duration = Duration::from_millis(20);
/// Most bytes of stored events that are read ahead of the reader; one slice is read whatever its size.
const READ_AHEAD: usize = 128 * 1024;

/// GET /api/runs/events/stream
pub(crate) async fn stream(call: Call<ops::StreamEvents>) -> HandlerResult {
    let tenant = call.context.tenant();
    // Watched before the first look: what is committed in between is told.
    let watch = call.app.hub.watch_organization(tenant);
    let end = call.app.runs.feed_end(tenant).await?;
    let (after, seen) = match call.meta.last_position {
        // A place of another database, such as one that was restored from a copy, would pass over events in silence.
        Some(mark) if mark.place.commit > end.place.commit.max(end.seen.last().copied().unwrap_or(0)) => {
            let message = "The stream has no such event: begin anew without `Last-Event-ID`.";
            return Err(Failure::at("Last-Event-ID", "notAllowed", message));
        }
        Some(mark) => (mark.place, mark.seen),
        None => (end.place, end.seen),
    };
    let filter = FeedFilter {
        workflow: id_of(call.query.workflow_id.as_deref(), "workflowId")?,
        types: call.query.types.into_iter().flatten().map(|one| one.as_str().to_owned()).collect(),
    };
    let reach = Reach::of(call.context.snapshot());
    let reach = reach.map_err(|denial| gate::denied(ops::StreamEvents::ID.spec(), &denial))?;
    let places = call.app.edge.stream(call.context.principal().session, tenant)?;
    let mut reader = Reader {
        watch,
        stop: call.app.stop.clone(),
        filter,
        after,
        seen: seen.into_iter().collect(),
        handed: after,
        token: call.meta.token.clone().unwrap_or_default(),
        reach,
        rights_until: call.context.snapshot().valid_until(),
        context: call.context,
        next_check: Instant::now() + call.app.edge.limits().stream_check,
        app: call.app,
        waiting: VecDeque::new(),
        rest: FeedRest::More,
        _places: places,
    };
    // A reader who comes back before the first event goes on from here.
    reader.note_place();
    let content =
        Content::Stream(Box::pin(futures::stream::unfold(reader, Reader::next)), "text/event-stream");
    let headers = vec![("x-accel-buffering", "no".to_owned())];
    Ok(Response { status: 200, headers, content })
}

/// Bytes that wait to be handed over, and the place that the reader has reached with the last of them.
struct Frame {
    bytes: Bytes,
    place: FeedPosition,
    /// Whether some of it was handed over.
    is_begun: bool,
}

/// Reach of the reader: what they are told of. The stream tells whole events: who may list a run or a case and not read
/// it is told none of it.
#[derive(PartialEq)]
struct Reach {
    /// Runs, and cases, that the reader may list.
    lists: Vec<InstanceFilter>,
    /// Runs, and cases, that the reader may read.
    reads: Vec<InstanceFilter>,
}

impl Reach {
    /// Reach by the rights of now: on runs, without which there is no stream, and on cases where there are any.
    fn of(snapshot: &Snapshot) -> Result<Self, DenialError> {
        let runs = snapshot.authorize_list::<RunList>()?;
        let mut reach = Self {
            lists: vec![runs.filter().into()],
            reads: vec![(&snapshot.authorize_some::<RunRead>()?).into()],
        };
        let cases = (snapshot.authorize_list::<CaseList>(), snapshot.authorize_some::<CaseRead>());
        if let (Ok(list), Ok(reads)) = cases {
            reach.lists.push(list.filter().into());
            reach.reads.push((&reads).into());
        }
        Ok(reach)
    }
}

struct Reader {
    app: Arc<App>,
    context: RequestContext,
    token: String,
    reach: Reach,
    filter: FeedFilter,
    watch: OrganizationWatch,
    stop: watch::Receiver<bool>,
    /// Place up to which the stream was read.
    after: FeedPosition,
    /// Numbers of commits behind the place where the reader began that were there before them: not told. Each id carries
    /// them, so that a reader who comes back is not told of them either.
    seen: BTreeSet<i64>,
    /// Place up to which it was handed over.
    handed: FeedPosition,
    waiting: VecDeque<Frame>,
    rest: FeedRest,
    next_check: Instant,
    /// Instant at which the first of the reader's rights ends.
    rights_until: Option<Timestamp>,
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
            if *self.stop.borrow() {
                return None;
            }
            if let Err(failure) = self.read().await {
                // The reader comes back with its last id; nothing is lost.
                tracing::warn!(cause = failure.cause, "an event stream was cut");
                return None;
            }
            if self.waiting.is_empty() && self.rest != FeedRest::More {
                self.wait().await;
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
        if front.bytes.len() > PIECE {
            front.is_begun = true;
            return Some(front.bytes.split_to(PIECE));
        }
        let frame = self.waiting.pop_front()?;
        self.handed = frame.place;
        Some(frame.bytes)
    }

    /// Takes what is there, as far as it is read ahead.
    async fn read(&mut self) -> Result<(), Failure> {
        let (tenant, runs) = (self.context.tenant(), &self.app.runs);
        let Reach { lists, reads } = &self.reach;
        let look = runs.feed(tenant, lists, reads, &self.filter, self.after, READ_AHEAD).await?;
        (self.after, self.rest) = (look.reached, look.rest);
        let is_new = |event: &&FeedEvent| !self.seen.contains(&event.position.commit);
        let frames = look.events.iter().filter(is_new).map(|event| Frame {
            bytes: frame(event, &self.seen),
            place: event.position,
            is_begun: false,
        });
        self.waiting.extend(frames);
        if self.waiting.is_empty() {
            self.handed = self.after;
        }
        Ok(())
    }

    /// Tells the reader the place that was reached, without an event.
    fn note_place(&mut self) {
        let mark = FeedMark::of(self.after, &self.seen);
        let bytes = Bytes::from(format!(": heartbeat\nid: {mark}\n\n"));
        self.waiting.push_back(Frame { bytes, place: self.after, is_begun: false });
    }

    async fn wait(&mut self) {
        let due = tokio::time::sleep_until(self.next_check);
        let again = match self.rest {
            FeedRest::Held => Some(HELD),
            FeedRest::Nothing | FeedRest::More => self.app.db.postgres().is_some().then_some(POLL),
        };
        let is_due = tokio::select! {
            () = self.watch.changed() => false,
            () = tokio::time::sleep(again.unwrap_or(POLL)), if again.is_some() => false,
            _ = self.stop.wait_for(|stopped| *stopped) => false,
            () = due => true,
        };
        if is_due {
            // The next turn checks the right to read before it gives this sign of life.
            self.note_place();
        }
    }

    /// Whether session, grant and licence still allow it, with the rights of now. Reading on is no use of the session: it
    /// ends when nothing else is done with it.
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
                let Ok(reach) = Reach::of(&caller.snapshot) else { return false };
                self.turn_to(reach);
                true
            }
            Ok(None) => false,
            // A database that is away for a moment takes no right away; the stream itself ends by its own reads.
            Err(error) => Failure::from(error).error.code == ErrorCode::DependencyUnavailable,
        }
    }

    /// Goes on with these rights. What was read with others and is not begun is read anew.
    fn turn_to(&mut self, reach: Reach) {
        if self.reach == reach {
            return;
        }
        self.reach = reach;
        self.waiting.retain(|frame| frame.is_begun);
        self.after = self.waiting.back().map_or(self.handed, |frame| frame.place);
        self.rest = FeedRest::More;
    }
}

/// One event: its place as id, its type, and all of it as data.
fn frame(event: &FeedEvent, seen: &BTreeSet<i64>) -> Bytes {
    let FeedEvent { position, kind, json } = event;
    let mark = FeedMark::of(*position, seen);
    // A line ends the data; JSON has none but between its parts.
    let line = json.replace(['\n', '\r'], " ");
    Bytes::from(format!("id: {mark}\nevent: {kind}\ndata: {line}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::RunId;
    use uuid::Uuid;

    #[test]
    fn a_frame_is_one_event_on_one_line_with_its_place() {
        let position = FeedPosition { commit: 3, run: RunId(Uuid::from_u128(1)), sequence: 2 };
        let json = "{\"runId\":\"r\",\n\"sequence\":2}".to_owned();
        let event = FeedEvent { position, kind: "run.started".to_owned(), json };
        let told = frame(&event, &BTreeSet::new());
        let told = String::from_utf8(told.to_vec()).unwrap();
        assert!(told.starts_with(&format!("id: {position}\nevent: run.started\ndata: {{")), "{told}");
        assert!(told.ends_with("}\n\n") && told.matches('\n').count() == 4, "{told}");
        // What was there before the reader began is carried along until it lies behind them.
        let told = String::from_utf8(frame(&event, &BTreeSet::from([2, 5])).to_vec()).unwrap();
        assert!(told.starts_with(&format!("id: {position}~2\n")), "{told}");
    }
}
