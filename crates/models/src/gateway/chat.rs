//! Chats that are answered whole.

use async_trait::async_trait;
use bytes::Bytes;
use heddle_kernel::ModelDeploymentId;
use heddle_models_wire::{Answer, ChatRequest, ChatResponse, Usage};
use heddle_policy::capability::DeploymentChat;
use heddle_policy::{Authorized, RequestContext};
use tokio::time::Instant;

use super::call::{Estimate, Kind};
use super::error::{GatewayError, Missed};
use super::exchange::{target, whole};
use super::kept::Question;
use super::route::Route;
use super::{CallJournal, Caller, Gateway};
use crate::records::{Capabilities, Capability, UsageRow};

/// Answer to a chat.
#[derive(Debug)]
pub struct ChatAnswer {
    /// The answer, as clients of OpenAI's interface read it.
    pub response: ChatResponse,
    /// The row of the call: tokens, costs, the deployment that answered.
    pub usage: UsageRow,
    /// Alias of the deployment that answered.
    pub alias: String,
    /// Exchanges that it took; none where the answer was kept.
    pub attempts: u32,
}

/// A chat.
pub(super) struct Chat {
    pub(super) request: ChatRequest,
    pub(super) id: String,
    pub(super) created: i64,
}

impl Chat {
    pub(super) fn of(gateway: &Gateway, request: ChatRequest) -> Self {
        let now = gateway.0.ports.clock.now();
        let id = format!("chatcmpl-{}", gateway.0.ports.ids.next(now).simple());
        Self { request, id, created: now.micros() / 1_000_000 }
    }

    pub(super) fn answer(&self) -> Answer {
        Answer { id: self.id.clone(), created: self.created, include_usage: self.request.include_usage() }
    }

    /// The question as its answer is kept; none where it is not.
    fn question(&self, gateway: &Gateway, caller: &Caller, route: &Route) -> Option<Question> {
        if !gateway.0.kept.is_on() {
            return None;
        }
        Question::of(caller.tenant, route, &self.filled(route).ok()?)
    }

    /// The request with what the deployment says where it says nothing.
    pub(super) fn filled(&self, route: &Route) -> Result<ChatRequest, Missed> {
        let defaults = &route.defaults.chat;
        if defaults.is_empty() {
            Ok(self.request.clone())
        } else {
            Ok(self.request.with_defaults(defaults)?)
        }
    }
}

/// Ability that a chat needs, and that is not among these.
pub(super) fn lacks(request: &ChatRequest, own: &Capabilities) -> Option<Capability> {
    let needs = [
        (Capability::Chat, true),
        (Capability::Tools, !own.has(Capability::Tools) && request.calls_tools()),
        (Capability::Vision, !own.has(Capability::Vision) && request.shows_pictures()),
        (Capability::JsonSchema, !own.has(Capability::JsonSchema) && request.asks_for_schema()),
        (Capability::Stream, request.stream()),
    ];
    needs.into_iter().find(|(one, needed)| *needed && !own.has(*one)).map(|(one, _)| one)
}

/// Tokens of a chat at a deployment.
pub(super) fn estimate(request: &ChatRequest, route: &Route) -> Result<Estimate, GatewayError> {
    let filled = request.with_defaults(&route.defaults.chat).map_err(GatewayError::Request)?;
    let output = filled.max_tokens().map(|most| most.saturating_mul(u64::from(filled.choices())));
    Ok(Estimate { input: filled.estimated_tokens(), output })
}

/// The usage that was told, or one by lengths where nobody told any.
pub(super) fn counted(told: Option<Usage>, input: u64, weight: u64) -> Usage {
    told.unwrap_or(Usage { input, output: heddle_models_wire::tokens_of_bytes(weight), ..Usage::default() })
}

#[async_trait]
impl Kind for Chat {
    type Got = ChatResponse;
    const WORD: &'static str = "chat";

    fn capability(&self) -> Capability {
        Capability::Chat
    }

    fn lacks(&self, own: &Capabilities) -> Option<Capability> {
        lacks(&self.request, own)
    }

    fn estimate(&self, route: &Route) -> Result<Estimate, GatewayError> {
        estimate(&self.request, route)
    }

    async fn exchange(
        &self,
        gateway: &Gateway,
        route: &Route,
        until: Instant,
    ) -> Result<ChatResponse, Missed> {
        let request = self.filled(route)?;
        if route.target.is_none() {
            let (tenant, model) = (route.deployment.tenant, route.deployment.model.as_str());
            return Ok(gateway.0.ports.local.chat(tenant, model, request).await?);
        }
        let target = target(route)?;
        // Until the answer is whole nothing comes: the wait for a first piece is the whole one.
        let reply = match gateway.send(route, target.chat(&request)?, route.waits.total, until).await {
            Err(missed) if missed.withheld => {
                return Ok(ChatResponse::withheld(&self.answer(), &route.deployment.model));
            }
            other => other?,
        };
        let body = whole(reply).await?;
        Ok(target.chat_response(&request, &self.answer(), body)?)
    }

    fn kept(&self, gateway: &Gateway, caller: &Caller, named: &Route) -> Option<ChatResponse> {
        gateway.0.kept.find(&self.question(gateway, caller, named)?)
    }

    fn fits(&self, _named: &Route, _other: &Route) -> bool {
        true
    }
}

impl Gateway {
    /// Answers a chat whole, for the caller of a request.
    ///
    /// # Errors
    /// As [`Self::chat_as`].
    pub async fn chat(
        &self,
        authorized: &Authorized<DeploymentChat>,
        context: &RequestContext,
        request: ChatRequest,
        journal: CallJournal,
    ) -> Result<ChatAnswer, GatewayError> {
        self.chat_as(&Caller::of_request(context), authorized.id(), request, journal).await
    }

    /// Answers a chat whole, for a caller who was found to be allowed to.
    ///
    /// # Errors
    /// What stood against the call; one row of usage tells of it all the same, unless no deployment was found.
    pub async fn chat_as(
        &self,
        caller: &Caller,
        id: ModelDeploymentId,
        request: ChatRequest,
        journal: CallJournal,
    ) -> Result<ChatAnswer, GatewayError> {
        let request = if request.stream() { unstreamed(&request)? } else { request };
        let chat = Chat::of(self, request);
        let (response, mut running) = self.run(caller, id, &chat, journal).await?;
        if running.attempts() == 0 {
            // It was kept: nobody was asked, and nothing is paid for.
            running.note(0, Some(Usage::default()));
        } else {
            running.note(response.weight, response.usage);
            let route = running.route();
            let question = Some(route).filter(|route| route.deployment.id == id);
            if let Some(question) = question.and_then(|route| chat.question(self, caller, route)) {
                self.0.kept.keep(question, &response);
            }
        }
        let alias = running.route().deployment.alias.clone();
        let attempts = running.attempts();
        let body: Bytes = response.body.clone();
        let ended = running.answered(&body).await?;
        Ok(ChatAnswer { response, usage: ended.usage, alias, attempts })
    }
}

/// The same request for a whole answer.
fn unstreamed(request: &ChatRequest) -> Result<ChatRequest, GatewayError> {
    let mut members = serde_json::Map::new();
    members.insert("stream".to_owned(), serde_json::Value::Null);
    members.insert("stream_options".to_owned(), serde_json::Value::Null);
    request.with(&members).map_err(GatewayError::Request)
}
