//! Chats that are answered piece by piece.

use std::collections::VecDeque;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use heddle_kernel::ModelDeploymentId;
use heddle_models_wire::{
    AnswerFault, ChatChunk, ChatRequest, ChatResponse, Failure, StreamDecoder, StreamEvent, Usage, WireError,
};
use heddle_policy::capability::DeploymentChat;
use heddle_policy::{Authorized, RequestContext};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, Sleep};

use super::call::{Estimate, Kind, Running, broken};
use super::chat::{Chat, counted, estimate, lacks};
use super::error::{GatewayError, Missed};
use super::exchange::target;
use super::route::Route;
use super::{CallJournal, Caller, Gateway};
use crate::ports::Body;
use crate::records::{CallOutcome, Capabilities, Capability};

/// Letters of a piece of an answer that came whole.
const PIECE: usize = 48;

/// An answer whose first piece is there.
pub(super) struct Open {
    source: Source,
    ready: VecDeque<StreamEvent>,
}

enum Source {
    /// A provider's answer, with its reader.
    Wire(Box<StreamDecoder>, Body),
    /// An answer that broke: told behind the pieces that came before.
    Broken(Box<Missed>, Option<Usage>),
    /// Answer that ended, or that a model inside this service gave whole, with its usage.
    Whole(Option<Usage>),
}

/// A chat whose answer is read as it comes.
struct Streamed(Chat);

#[async_trait]
impl Kind for Streamed {
    type Got = Open;
    const WORD: &'static str = "chat";

    fn capability(&self) -> Capability {
        Capability::Chat
    }

    fn lacks(&self, own: &Capabilities) -> Option<Capability> {
        lacks(&self.0.request, own)
    }

    fn estimate(&self, route: &Route) -> Result<Estimate, GatewayError> {
        estimate(&self.0.request, route)
    }

    async fn exchange(&self, gateway: &Gateway, route: &Route, until: Instant) -> Result<Open, Missed> {
        let request = self.0.filled(route)?;
        if route.target.is_none() {
            let (tenant, model) = (route.deployment.tenant, route.deployment.model.as_str());
            let input = request.estimated_tokens();
            let response = gateway.0.ports.local.chat(tenant, model, request).await?;
            return pieces(&self.0, &response, input).map_err(Missed::from);
        }
        let target = target(route)?;
        let first_by = (Instant::now() + route.waits.first).min(until);
        let reply = match gateway.send(route, target.chat(&request)?, route.waits.first, until).await {
            Err(missed) if missed.withheld => {
                let ready = ChatChunk::withheld(self.0.answer(), &route.deployment.model);
                return Ok(Open { source: Source::Whole(None), ready: ready.into() });
            }
            other => other?,
        };
        let mut decoder = target.stream(&request, self.0.answer());
        let (mut body, mut events) = (reply.body, Vec::new());
        // Until its first event the answer may still be asked for elsewhere.
        while events.is_empty() {
            let late = || Missed::of(Failure::ProviderTimeout);
            let piece = tokio::time::timeout_at(first_by, body.next()).await.map_err(|_late| late())?;
            match piece {
                Some(piece) => decoder.push(&piece?, &mut events)?,
                None => {
                    decoder.finish(&mut events)?;
                    if events.is_empty() {
                        return Err(WireError::from(AnswerFault::Truncated).into());
                    }
                }
            }
        }
        Ok(Open { source: Source::Wire(Box::new(decoder), body), ready: events.into() })
    }

    fn fits(&self, _named: &Route, _other: &Route) -> bool {
        true
    }
}

/// The pieces of an answer that came whole.
fn pieces(chat: &Chat, response: &ChatResponse, input: u64) -> Result<Open, WireError> {
    let completion = response.read()?;
    let beside = beside(&response.body);
    let mut ready = VecDeque::new();
    let mut chunk = |index: u32, delta: Value, finish: Option<&str>, weight: usize| {
        let mut body = json!({
            "id": chat.id,
            "object": "chat.completion.chunk",
            "created": chat.created,
            "model": completion.model,
            "choices": [{ "index": index, "delta": delta, "logprobs": null, "finish_reason": finish }],
        });
        // What the answer says of itself (that it is no language model's) comes with its end.
        if let Some(members) = body.as_object_mut().filter(|_| finish.is_some()) {
            members.extend(beside.clone());
        }
        let json = Bytes::from(body.to_string());
        ready.push_back(StreamEvent::Chunk(ChatChunk { json, weight: weight as u64 }));
    };
    for choice in &completion.choices {
        let text = choice.message.content.as_ref().map(heddle_models_wire::Content::text).unwrap_or_default();
        chunk(choice.index, json!({ "role": "assistant", "content": "" }), None, 0);
        for piece in cut(&text) {
            chunk(choice.index, json!({ "content": piece }), None, piece.len());
        }
        // What the answer has beside its text (citations) comes once, in a piece of its own.
        if !choice.message.extra.is_empty() {
            chunk(choice.index, Value::Object(choice.message.extra.clone()), None, 0);
        }
        let finish = choice.finish_reason.map_or("stop", heddle_models_wire::FinishReason::as_str);
        chunk(choice.index, json!({}), Some(finish), 0);
    }
    let usage = counted(response.usage, input, response.weight);
    if chat.request.include_usage() {
        let answer = chat.answer();
        ready.push_back(StreamEvent::Chunk(ChatChunk::of_usage(&answer, &completion.model, usage)));
    }
    ready.push_back(StreamEvent::Done);
    Ok(Open { source: Source::Whole(Some(usage)), ready })
}

/// Members of a whole answer that OpenAI's interface does not have.
fn beside(body: &[u8]) -> Map<String, Value> {
    const KNOWN: [&str; 6] = ["id", "object", "created", "model", "choices", "usage"];
    let mut members: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    members.retain(|name, _| !KNOWN.contains(&name.as_str()));
    members
}

/// A text in pieces that end behind a space.
fn cut(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((at, letter)) = rest.char_indices().skip(PIECE).find(|(_, letter)| letter.is_whitespace())
    {
        let (piece, behind) = rest.split_at(at + letter.len_utf8());
        pieces.push(piece);
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// An answer that comes piece by piece: chunks for the client, and their end. Dropped before it the provider is left at
/// once, and what came so far is recorded. An error ends it: no [`StreamEvent::Done`] follows.
pub struct ChatStream {
    running: Running,
    open: Open,
    /// Chunks in the making.
    events: Vec<StreamEvent>,
    wait: Pin<Box<Sleep>>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Flowing,
    Ended,
}

impl std::fmt::Debug for ChatStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatStream").field("state", &self.state).finish_non_exhaustive()
    }
}

impl ChatStream {
    fn new(running: Running, open: Open) -> Self {
        let until = Self::next_by(&running);
        Self {
            running,
            open,
            events: Vec::new(),
            wait: Box::pin(tokio::time::sleep_until(until)),
            state: State::Flowing,
        }
    }

    /// Instant by which the next piece must be there.
    fn next_by(running: &Running) -> Instant {
        (Instant::now() + running.route().waits.between).min(running.until())
    }

    /// Alias of the deployment that answers.
    #[must_use]
    pub fn alias(&self) -> &str {
        &self.running.route().deployment.alias
    }

    /// Id of the call, as its row of usage has it.
    #[must_use]
    pub fn id(&self) -> uuid::Uuid {
        self.running.id()
    }

    /// Takes what came of the provider's answer; one that broke or ended is read no further.
    fn take(&mut self, piece: Option<Result<Bytes, crate::ports::Fault>>) {
        let Source::Wire(decoder, _) = &mut self.open.source else { return };
        let ends = piece.is_none();
        let read = match piece {
            Some(Ok(bytes)) => decoder.push(&bytes, &mut self.events).map_err(Missed::from),
            Some(Err(fault)) => Err(Missed::from(fault)),
            None => decoder.finish(&mut self.events).map_err(Missed::from),
        };
        let told = decoder.usage();
        self.running.note(0, told);
        self.open.ready.extend(self.events.drain(..));
        match read {
            Err(missed) => self.open.source = Source::Broken(Box::new(missed), told),
            Ok(()) if ends => self.open.source = Source::Whole(told),
            Ok(()) => {}
        }
    }

    fn finish(&mut self, outcome: CallOutcome, fault: Option<&'static str>) {
        let told = match &self.open.source {
            Source::Wire(decoder, _) => decoder.usage(),
            Source::Broken(_, usage) | Source::Whole(usage) => *usage,
        };
        self.running.note(0, told);
        if outcome == CallOutcome::Completed {
            self.running.flowed();
        }
        self.running.close(outcome, fault);
        self.state = State::Ended;
        // The provider is left.
        self.open.source = Source::Whole(told);
    }

    fn broke(&mut self, missed: Missed) -> GatewayError {
        if missed.failure.is_of_health() {
            self.running.broke();
        }
        let error = broken(&self.running, missed);
        self.finish(CallOutcome::Failed, Some(error.word()));
        error
    }

    fn next_ready(&mut self) -> Option<StreamEvent> {
        let event = self.open.ready.pop_front()?;
        match &event {
            StreamEvent::Chunk(chunk) => self.running.note(chunk.weight, None),
            StreamEvent::Done => self.finish(CallOutcome::Completed, None),
        }
        Some(event)
    }
}

impl Stream for ChatStream {
    type Item = Result<StreamEvent, GatewayError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if this.state == State::Ended {
                return Poll::Ready(None);
            }
            if let Some(event) = this.next_ready() {
                return Poll::Ready(Some(Ok(event)));
            }
            let body = match &mut this.open.source {
                Source::Wire(_, body) => body,
                Source::Broken(missed, _) => {
                    let missed = Missed::clone(missed);
                    return Poll::Ready(Some(Err(this.broke(missed))));
                }
                // The end of what came whole is among its pieces.
                Source::Whole(_) => {
                    this.finish(CallOutcome::Completed, None);
                    return Poll::Ready(None);
                }
            };
            match body.as_mut().poll_next(context) {
                Poll::Ready(piece) => {
                    let by = Self::next_by(&this.running);
                    this.wait.as_mut().reset(by);
                    this.take(piece);
                }
                Poll::Pending => {
                    if this.wait.as_mut().poll(context).is_ready() {
                        let late = Missed::of(Failure::ProviderTimeout);
                        return Poll::Ready(Some(Err(this.broke(late))));
                    }
                    return Poll::Pending;
                }
            }
        }
    }
}

impl Gateway {
    /// Answers a chat piece by piece, for the caller of a request.
    ///
    /// # Errors
    /// As [`Self::chat_stream_as`].
    pub async fn chat_stream(
        &self,
        authorized: &Authorized<DeploymentChat>,
        context: &RequestContext,
        request: ChatRequest,
        journal: CallJournal,
    ) -> Result<ChatStream, GatewayError> {
        self.chat_stream_as(&Caller::of_request(context), authorized.id(), request, journal).await
    }

    /// Answers a chat piece by piece, for a caller who was found to be allowed to. The first piece is there when it
    /// returns.
    ///
    /// # Errors
    /// What stood against the call before the first piece.
    pub async fn chat_stream_as(
        &self,
        caller: &Caller,
        id: ModelDeploymentId,
        request: ChatRequest,
        journal: CallJournal,
    ) -> Result<ChatStream, GatewayError> {
        let request = if request.stream() { request } else { streamed(&request)? };
        let chat = Streamed(Chat::of(self, request));
        let (open, running) = self.run(caller, id, &chat, journal).await?;
        Ok(ChatStream::new(running, open))
    }
}

/// The same request for an answer piece by piece.
fn streamed(request: &ChatRequest) -> Result<ChatRequest, GatewayError> {
    let mut members = Map::new();
    members.insert("stream".to_owned(), Value::Bool(true));
    request.with(&members).map_err(GatewayError::Request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_says_of_itself_comes_with_its_end() {
        let question =
            json!({ "model": "a", "stream": true, "messages": [{ "role": "user", "content": "q" }] });
        let request = ChatRequest::read(Bytes::from(question.to_string())).unwrap();
        let chat = Chat { request, id: "c".to_owned(), created: 1 };
        let message = json!({ "role": "assistant", "content": "It weaves." });
        let body = json!({ "model": "m", "heddle": { "kind": "extractive" },
            "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
        let response =
            ChatResponse { body: Bytes::from(body.to_string()), usage: None, finish: Vec::new(), weight: 10 };
        let open = pieces(&chat, &response, 1).unwrap();
        let text = |event: &StreamEvent| match event {
            StreamEvent::Chunk(chunk) => Some(String::from_utf8_lossy(&chunk.json).into_owned()),
            StreamEvent::Done => None,
        };
        let told: Vec<String> = open.ready.iter().filter_map(text).collect();
        assert_eq!(told.iter().filter(|piece| piece.contains("extractive")).count(), 1, "{told:?}");
        assert!(told.last().is_some_and(|last| last.contains("\"finish_reason\":\"stop\"")), "{told:?}");
        assert!(told.last().is_some_and(|last| last.contains("extractive")), "{told:?}");
    }
}
