//! Models inside the service: the embedding models of the vector databases, and the answerer that cites passages.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use heddle_answerer as answerer;
use heddle_kernel::{Clock as _, IdSource as _, TenantId, UserId};
use heddle_models::ports::{LocalFault, LocalModel, LocalModels};
use heddle_models::records::{Capabilities, Capability, CatalogueEntry, DeploymentState};
use heddle_models_wire::{
    ChatRequest, ChatResponse, Content, FinishReason, Message, ResponseFormat, Role, Usage, WireError,
};
use heddle_runtime::{RandomIds, ServerClock};
use heddle_usecase::{Admission, Compute, computed};
use heddle_vector_service::BuiltInModels;
use heddle_vectors::ports::{Asker, EmbedError, Embedder as _, EmbeddingModel, ModelState, Priority};
use serde_json::{Value, json};
use uuid::Uuid;

/// Alias of the answerer's deployment.
const ANSWERER: &str = "built-in-answers";
/// Begin of the aliases of embedding models' deployments.
const EMBEDDING: &str = "built-in-embeddings";

/// The most bytes of texts whose tokens are counted one by one.
const COUNTED: usize = 256 << 10;

/// The models.
pub(super) struct BuiltIn {
    embedding: BuiltInModels,
    compute: Arc<dyn Compute>,
    clock: Arc<ServerClock>,
    /// Whether organisations have them.
    offered: bool,
}

impl BuiltIn {
    /// The models, which compute on these threads.
    pub(super) fn new(
        embedding: BuiltInModels,
        compute: Arc<dyn Compute>,
        clock: Arc<ServerClock>,
        offered: bool,
    ) -> Self {
        Self { embedding, compute, clock, offered }
    }
}

fn embedding(model: EmbeddingModel) -> LocalModel {
    let alias = match model.is_default {
        true => EMBEDDING.to_owned(),
        false => format!("{EMBEDDING}-{}", model.model.id),
    };
    LocalModel {
        entry: CatalogueEntry {
            model: model.model.id,
            display_name: model.display_name,
            capabilities: Capabilities::of([Capability::Embeddings]),
            context_length: Some(model.max_input_tokens),
            dimensions: Some(model.model.dimensions),
            revision: Some(model.model.revision),
            bytes: None,
        },
        alias,
        state: match model.state {
            ModelState::Ready => DeploymentState::Ready,
            ModelState::Loading => DeploymentState::Loading,
            ModelState::Missing => DeploymentState::Missing,
            ModelState::Error => DeploymentState::Error,
        },
        detail: model.state_detail,
    }
}

/// The answerer as a model. It says what it is: no language model, but sentences of the passages that come with a question.
fn extractive() -> LocalModel {
    LocalModel {
        entry: CatalogueEntry {
            model: answerer::MODEL.to_owned(),
            display_name: "Sentences of the passages that come with a question (no language model)"
                .to_owned(),
            capabilities: Capabilities::of([Capability::Chat, Capability::Stream]),
            context_length: u32::try_from(answerer::CONTEXT).ok(),
            dimensions: None,
            revision: Some(answerer::REVISION.to_owned()),
            bytes: None,
        },
        alias: ANSWERER.to_owned(),
        state: DeploymentState::Ready,
        detail: None,
    }
}

#[async_trait]
impl LocalModels for BuiltIn {
    fn models(&self) -> Vec<LocalModel> {
        if !self.offered {
            return Vec::new();
        }
        self.embedding.known().into_iter().map(embedding).chain([extractive()]).collect()
    }

    async fn looked_for(&self) -> Vec<LocalModel> {
        if !self.offered {
            return Vec::new();
        }
        self.embedding.looked_for().await.into_iter().map(embedding).chain([extractive()]).collect()
    }

    async fn embed(
        &self,
        tenant: TenantId,
        model: &str,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, LocalFault> {
        let known = self.embedding.known().into_iter().find(|known| known.model.id == model);
        let missing = || LocalFault::Missing(format!("There is no embedding model `{model}` here."));
        let used = known.ok_or_else(missing)?.model;
        // The gateway has accounted the call already; the model itself knows organisations alone.
        let asker = Asker { tenant, user: UserId(Uuid::nil()), request: String::new() };
        let embedded = self.embedding.embed(&asker, &used, &texts, Priority::Interactive).await;
        embedded.map_err(|error| match error {
            EmbedError::Missing(message) => LocalFault::Missing(message),
            EmbedError::Unavailable { message, .. } => LocalFault::Busy(message),
            EmbedError::Refused(message) => LocalFault::Refused(message),
        })
    }

    fn tokens(&self, model: &str, texts: &[String]) -> u64 {
        let estimated = |text: &String| answerer::tokens(text) as u64;
        // Counting takes the thread on which it is asked for: what is long is estimated.
        let is_short = texts.iter().map(String::len).sum::<usize>() <= COUNTED;
        match self.embedding.model(model).filter(|_| is_short) {
            Some(model) => {
                let counted = |text: &String| match model.count_tokens(text) {
                    Ok(count) => count as u64,
                    Err(_) => estimated(text),
                };
                texts.iter().map(counted).sum()
            }
            None => texts.iter().map(estimated).sum(),
        }
    }

    async fn chat(
        &self,
        tenant: TenantId,
        model: &str,
        request: ChatRequest,
    ) -> Result<ChatResponse, LocalFault> {
        if model != answerer::MODEL {
            return Err(LocalFault::Missing(format!("There is no model `{model}` here.")));
        }
        let (now, named) = (self.clock.now(), request.model().to_owned());
        let id = format!("chatcmpl-{}", RandomIds.next(now).simple());
        let (asked, options) = read(&request).map_err(|error| LocalFault::Refused(format!("{error}.")))?;
        let work = move || answerer::answer(&asked, &[], &options);
        let answered = computed(&*self.compute, tenant, Admission::Refuse, work).await;
        let answer = answered.map_err(|error| LocalFault::Busy(error.to_string()))?;
        Ok(told(&answer, &id, now.micros().div_euclid(1_000_000), &named))
    }
}

/// The conversation and the wishes of a request. What the answerer has no word for is refused by name.
fn read(request: &ChatRequest) -> Result<(Vec<answerer::Message>, answerer::Options), WireError> {
    if request.choices() > 1 {
        return Err(WireError::member("n", "must be 1: the same question has the same answer here"));
    }
    if request.member("tools").is_some_and(|tools| tools != "[]") {
        return Err(WireError::member("tools", "are not called by a model that cites passages"));
    }
    let json = match request.response_format()? {
        ResponseFormat::Text => false,
        ResponseFormat::JsonObject => true,
        ResponseFormat::JsonSchema(_) => {
            return Err(WireError::member(
                "response_format",
                "can't be a schema: the answer has one of its own",
            ));
        }
    };
    let mut stop = Vec::new();
    match request.member("stop").map(serde_json::from_str::<Value>) {
        Some(Ok(Value::String(word))) => stop.push(word),
        Some(Ok(Value::Array(words))) => {
            stop.extend(words.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        Some(Ok(_) | Err(_)) => return Err(WireError::member("stop", "must be a text or a list of texts")),
        None => {}
    }
    let messages = request.messages()?.iter().map(message).collect::<Result<Vec<_>, WireError>>()?;
    let most_tokens = request.max_tokens().and_then(|most| usize::try_from(most).ok());
    Ok((messages, answerer::Options { most_tokens, stop, json }))
}

fn message(of: &Message) -> Result<answerer::Message, WireError> {
    let text = match &of.content {
        Some(Content::Parts(parts))
            if parts.iter().any(|part| part.get("type").and_then(Value::as_str) != Some("text")) =>
        {
            return Err(WireError::member("messages", "may hold texts alone: nothing else is read here"));
        }
        Some(content) => content.text(),
        None => String::new(),
    };
    let role = match of.role {
        Role::System | Role::Developer => answerer::Role::System,
        Role::User => answerer::Role::User,
        Role::Assistant => answerer::Role::Assistant,
        Role::Tool => answerer::Role::Tool,
    };
    Ok(answerer::Message { role, text })
}

/// The answer as a chat completion, labelled as what it is.
fn told(answer: &answerer::Answer, id: &str, created: i64, model: &str) -> ChatResponse {
    let finish = match answer.end {
        answerer::End::Stop => FinishReason::Stop,
        answerer::End::Length => FinishReason::Length,
    };
    let (asked, said) = (answer.prompt_tokens as u64, answer.completion_tokens as u64);
    let body = json!({
        "id": id, "object": "chat.completion", "created": created, "model": model,
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": answer.text },
            "finish_reason": finish.as_str() }],
        "usage": { "prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said },
        "heddle": answer.label(),
    });
    ChatResponse {
        body: Bytes::from(body.to_string()),
        usage: Some(Usage { input: asked, output: said, ..Usage::default() }),
        finish: vec![finish],
        weight: answer.text.len() as u64,
    }
}
