//! Chat, embeddings and the models that a caller may use: what is sent goes to the gateway as it came, and its answer back
//! as clients of OpenAI's interface read it, in the service's envelope or without. What clients of Anthropic's interface
//! send is a chat in other words, and its answer a message.

use std::sync::Arc;

use bytes::Bytes;
use heddle_api::Operation;
use heddle_api::operations::ops;
use heddle_api::wire::inference::{ChatBody, EmbeddingsBody};
use heddle_api::wire::messages::TokenCount;
use heddle_model_faces::deployments as faces;
use heddle_model_faces::literals::capability_of;
use heddle_models::ports::DeploymentFilter;
use heddle_models::records::{CallOutcome, Deployment};
use heddle_models::{CallJournal, CallReport, GatewayError};
use heddle_models_wire::{ChatRequest, EmbeddingRequest, MessageForm, Messages};
use heddle_policy::capability::{DeploymentChat, DeploymentEmbed, ModelList};
use heddle_policy::{Authorized, AuthorizedList, OnNamed, RequestContext};
use heddle_usecase::Journal;
use serde_json::json;

use crate::app::App;
use crate::audit::{self, About};
use crate::call::{Call, Meta, page, remembered};
use crate::failure::Failure;
use crate::model_stream as stream;
use crate::models::failure::unreadable;
use crate::reply::{Content, HandlerResult, Response};

/// Form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Envelope {
    /// `{"data": ...}`.
    Data,
    /// None: as OpenAI's interface has it.
    Bare,
    /// None: a message, as Anthropic's interface has it.
    Message(MessageForm),
}

impl Envelope {
    const fn of(bare: bool) -> Self {
        if bare { Self::Bare } else { Self::Data }
    }

    /// The answer of a gateway's body, which is JSON.
    ///
    /// # Errors
    /// An answer that is no message.
    fn around(&self, body: &[u8]) -> HandlerResult {
        let bytes = match self {
            Self::Bare => Bytes::copy_from_slice(body),
            Self::Message(form) => form.whole(body).map_err(|error| unreadable(&error))?,
            Self::Data => {
                let mut whole = Vec::with_capacity(body.len() + 9);
                whole.extend_from_slice(b"{\"data\":");
                whole.extend_from_slice(body);
                whole.push(b'}');
                whole.into()
            }
        };
        let content = Content::Bytes(bytes, "application/json".to_owned());
        Ok(Response { status: 200, headers: Vec::new(), content })
    }

    /// Form of the pieces of a stream.
    fn form(&self) -> stream::Form {
        match self {
            Self::Data | Self::Bare => stream::Form::Chunks,
            Self::Message(form) => stream::Form::Messages(Box::new(form.stream())),
        }
    }
}

/// Journal of a call: the audit event of the operation's row, without a word of question or answer, and the answer where
/// the caller sent an idempotency key. A call that failed, or whose caller went away, is told by its row of usage alone.
fn journal<O: Operation>(
    app: &Arc<App>,
    context: &RequestContext,
    meta: &Meta,
    envelope: &Envelope,
) -> CallJournal {
    let (app, context, key) = (Arc::clone(app), context.clone(), meta.idempotency.clone());
    let envelope = envelope.clone();
    Arc::new(move |report: &CallReport<'_>| {
        let (spec, usage) = (O::ID.spec(), report.usage);
        if usage.outcome != CallOutcome::Completed {
            return Journal::default();
        }
        let details = json!({
            "call": usage.id.to_string(),
            "inputTokens": usage.tokens.input,
            "outputTokens": usage.tokens.output,
            "costMicros": usage.cost_micros,
        });
        let about = About::from(&usage.deployment.to_string()).with(details);
        let kept = key.as_ref().zip(report.answer);
        Journal {
            audit: audit::done(&app, spec, &context, about),
            idempotency: kept
                .and_then(|(key, answer)| remembered(spec, &context, key, envelope.around(answer).ok()?)),
            ..Journal::default()
        }
    })
}

/// POST /api/chat
pub(crate) async fn chat(call: Call<ops::Chat>) -> HandlerResult {
    let envelope = Envelope::of(call.query.format.is_some());
    complete(call, envelope).await
}

/// POST /v1/chat/completions
pub(crate) async fn chat_completion(call: Call<ops::CreateChatCompletion>) -> HandlerResult {
    complete(call, Envelope::Bare).await
}

/// POST /v1/messages
pub(crate) async fn message(call: Call<ops::CreateMessage>) -> HandlerResult {
    let Call { app, context, authorized, body, meta, .. } = call;
    let Messages { request, form } =
        Messages::read(Bytes::from(body.bytes)).map_err(GatewayError::Request)?;
    let asked = Asked { app, context, authorized, meta, request, envelope: Envelope::Message(form) };
    asked.answer::<ops::CreateMessage>().await
}

/// POST /v1/messages/count_tokens
pub(crate) async fn message_tokens(call: Call<ops::CountMessageTokens>) -> HandlerResult {
    let Call { app, context, authorized, body, .. } = call;
    let prompt = Messages::prompt(Bytes::from(body.bytes)).map_err(GatewayError::Request)?;
    let input_tokens = app.models.gateway.count(&authorized, &context, &prompt).await?;
    Response::json(200, &TokenCount { input_tokens })
}

async fn complete<O>(call: Call<O>, envelope: Envelope) -> HandlerResult
where
    O: Operation<Access = OnNamed<DeploymentChat>, Body = ChatBody>,
{
    let Call { app, context, authorized, body, meta, .. } = call;
    let asked = body.request;
    let mut request = ChatRequest::read(Bytes::from(body.bytes)).map_err(GatewayError::Request)?;
    let says_usage = asked.stream_options.is_some_and(|options| options.include_usage.is_some());
    // OpenAI's clients ask for the usage; here it is told unless somebody says otherwise.
    if request.stream() && !O::ID.spec().path.starts_with("/v1/") && !says_usage {
        let told = json!({ "include_usage": true });
        let members = serde_json::Map::from_iter([("stream_options".to_owned(), told)]);
        request = request.with(&members).map_err(GatewayError::Request)?;
    }
    Asked { app, context, authorized, meta, request, envelope }.answer::<O>().await
}

/// A chat that is asked for.
struct Asked {
    app: Arc<App>,
    context: RequestContext,
    authorized: Authorized<DeploymentChat>,
    meta: Meta,
    request: ChatRequest,
    envelope: Envelope,
}

impl Asked {
    /// The answer, whole or piece by piece.
    async fn answer<O: Operation>(self) -> HandlerResult {
        let Self { app, context, authorized, meta, request, envelope } = self;
        let journal = journal::<O>(&app, &context, &meta, &envelope);
        if !request.stream() {
            let answer = app.models.gateway.chat(&authorized, &context, request, journal).await?;
            return envelope.around(&answer.response.body);
        }
        let places = app.edge.stream(context.principal().session, context.tenant())?;
        let pieces = app.models.gateway.chat_stream(&authorized, &context, request, journal).await?;
        let parts = stream::Parts {
            app,
            deployment: authorized.id(),
            token: meta.token.unwrap_or_default(),
            face: O::ID.spec().area.face(),
            form: envelope.form(),
            context,
            pieces,
            places,
        };
        let content = Content::Stream(stream::answer(parts), "text/event-stream");
        let headers = vec![("x-accel-buffering", "no".to_owned())];
        Ok(Response { status: 200, headers, content })
    }
}

/// POST /api/embeddings
pub(crate) async fn embeddings(call: Call<ops::CreateEmbeddings>) -> HandlerResult {
    let envelope = Envelope::of(call.query.format.is_some());
    embed(call, envelope).await
}

/// POST /v1/embeddings
pub(crate) async fn openai_embeddings(call: Call<ops::CreateOpenAiEmbeddings>) -> HandlerResult {
    embed(call, Envelope::Bare).await
}

async fn embed<O>(call: Call<O>, envelope: Envelope) -> HandlerResult
where
    O: Operation<Access = OnNamed<DeploymentEmbed>, Body = EmbeddingsBody>,
{
    let Call { app, context, authorized, body, meta, .. } = call;
    let request = EmbeddingRequest::read(Bytes::from(body.bytes)).map_err(GatewayError::Request)?;
    let journal = journal::<O>(&app, &context, &meta, &envelope);
    let answer = app.models.gateway.embed(&authorized, &context, request, journal).await?;
    envelope.around(&answer.response.body)
}

/// GET /api/models
pub(crate) async fn models(call: Call<ops::ListModels>) -> HandlerResult {
    let query = call.query;
    let capability = query.capability.map(capability_of);
    let filter = DeploymentFilter { capability, callable: true, ..DeploymentFilter::default() };
    if query.format.is_some() {
        return all_models(&call.app, &call.authorized, &call.context, &filter).await;
    }
    let page = page(query.limit, query.cursor);
    let found = call.app.models.listing.list(&call.authorized, &call.context, &filter, &page).await?;
    let kinds = call.app.models.providers(call.context.tenant(), &found.items).await?;
    let kind = |model: &Deployment| kinds.get(&model.connection_id).copied();
    Response::list(found, page.limit, |model| faces::callable(&model, kind(&model)))
}

/// GET /v1/models
pub(crate) async fn openai_models(call: Call<ops::ListOpenAiModels>) -> HandlerResult {
    let filter = DeploymentFilter { callable: true, ..DeploymentFilter::default() };
    all_models(&call.app, &call.authorized, &call.context, &filter).await
}

/// All models that the caller may use, as OpenAI's clients list them: they know no pages.
async fn all_models(
    app: &App,
    authorized: &AuthorizedList<ModelList>,
    context: &RequestContext,
    filter: &DeploymentFilter,
) -> Result<Response, Failure> {
    let (mut models, mut cursor) = (Vec::new(), None);
    loop {
        let part = page(Some(heddle_kernel::MAX_LIMIT), cursor);
        let found = app.models.listing.list(authorized, context, filter, &part).await?;
        models.extend(found.items);
        match found.next {
            Some(next) => cursor = Some(next.as_str().to_owned()),
            None => break,
        }
    }
    let kinds = app.models.providers(context.tenant(), &models).await?;
    let listed = models.iter().map(|model| (model, kinds.get(&model.connection_id).copied()));
    Response::json(200, &faces::openai_models(listed))
}
