//! Runtimes and providers as they tell of their models, over the way to providers.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use heddle_kernel::Clock;
use heddle_models_local::{Call, Keep, LocalError, LocalModel as Told, Reply as Heard, Runtime, Wish, root};
use heddle_models_wire::catalogue::{ListedModel, list, read_list};
use heddle_models_wire::{Failure, Family, Header, Method, UpstreamRequest, WireError};

use crate::ports::{Exchange, Fault, FaultKind, LocalModels, Runtimes, Upstream};
use crate::records::{
    Capabilities, Capability, CatalogueEntry, Deployment, Memory, MemoryPolicy, Observed,
    OpenModelConnection, Phase,
};
use crate::types::Provider;

/// Time for one call.
const EACH: Duration = Duration::from_secs(10);
/// Time for all calls of one question.
const ALL: Duration = Duration::from_secs(30);
/// The most bytes of an answer.
const ANSWER: u64 = 8 * 1024 * 1024;
/// The most models of a provider.
const MODELS: usize = 5_000;
/// Models of which more is asked, one by one.
const DESCRIBED: usize = 100;

/// Providers and runtimes over their wires, each by its type.
#[derive(Clone)]
pub struct WireRuntimes {
    upstream: Arc<dyn Upstream>,
    local: Arc<dyn LocalModels>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for WireRuntimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WireRuntimes").finish_non_exhaustive()
    }
}

struct Answer {
    status: u16,
    body: Bytes,
}

fn fault(phase: Phase, kind: FaultKind, message: impl Into<String>) -> Fault {
    Fault { phase, kind, message: message.into() }
}

fn too_long() -> Fault {
    fault(Phase::Request, FaultKind::Timeout, "The provider took longer than 30 s.")
}

/// The fault of a status of no success.
fn refused(status: u16) -> Fault {
    match status {
        401..=403 => {
            fault(Phase::Auth, FaultKind::NotAllowed, format!("The key is refused (status {status})."))
        }
        _ => fault(Phase::Request, FaultKind::Broken, format!("The provider answers with status {status}.")),
    }
}

fn of_wire(error: &WireError) -> Fault {
    match error.failure() {
        Failure::ProviderAuth => fault(Phase::Auth, FaultKind::NotAllowed, "The key is refused."),
        Failure::InvalidRequest
        | Failure::ContextLength
        | Failure::ModelNotFound
        | Failure::ProviderTimeout
        | Failure::RateLimited
        | Failure::Unavailable
        | Failure::BrokenAnswer => {
            fault(Phase::Request, FaultKind::Broken, "The provider's list of models can't be read.")
        }
    }
}

fn of_runtime(error: &LocalError) -> Fault {
    match error {
        LocalError::Refused { status: status @ 401..=403, .. } => refused(*status),
        LocalError::Unsupported { .. }
        | LocalError::UnknownModel
        | LocalError::Refused { .. }
        | LocalError::Malformed(_)
        | LocalError::Missing => fault(Phase::Request, FaultKind::Broken, error.to_string()),
    }
}

impl WireRuntimes {
    /// Runtimes on the way to providers, with the models inside this service.
    #[must_use]
    pub fn new(upstream: Arc<dyn Upstream>, local: Arc<dyn LocalModels>, clock: Arc<dyn Clock>) -> Self {
        Self { upstream, local, clock }
    }

    /// One call, with its answer whole, whatever its status.
    async fn ask(
        &self,
        connection: &OpenModelConnection,
        base: &str,
        request: UpstreamRequest,
    ) -> Result<Answer, Fault> {
        let bounds = Exchange { connect: EACH, answer: ALL, between: EACH, total: ALL, body_bytes: ANSWER };
        let mut reply = self.upstream.exchange(connection, base, request, bounds).await?;
        let mut body = BytesMut::new();
        while let Some(piece) = reply.body.next().await {
            let piece = piece?;
            if (body.len() + piece.len()) as u64 > ANSWER {
                return Err(fault(Phase::Request, FaultKind::TooLarge, "The answer is longer than 8 MiB."));
            }
            body.extend_from_slice(&piece);
        }
        Ok(Answer { status: reply.status, body: body.freeze() })
    }

    /// Calls to a runtime, in their order.
    async fn ask_runtime(
        &self,
        connection: &OpenModelConnection,
        calls: Vec<Call>,
    ) -> Result<Vec<Answer>, Fault> {
        let base = root(base_of(connection)?).to_owned();
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            answers.push(self.ask(connection, &base, request(&call)).await?);
        }
        Ok(answers)
    }

    async fn of_runtime(
        &self,
        connection: &OpenModelConnection,
        runtime: Runtime,
    ) -> Result<Vec<Told>, Fault> {
        let answers = self.ask_runtime(connection, runtime.list()).await?;
        let heard: Vec<Heard<'_>> = answers.iter().map(heard).collect();
        runtime.listed(&heard).map_err(|error| of_runtime(&error))
    }

    /// One model of a runtime.
    async fn told(
        &self,
        connection: &OpenModelConnection,
        runtime: Runtime,
        model: &str,
    ) -> Result<Option<Told>, Fault> {
        let all = self.of_runtime(connection, runtime).await?;
        Ok(all.into_iter().find(|told| is_named(&told.id, model)))
    }

    /// Models by the wire's own list, page by page.
    async fn listed(
        &self,
        connection: &OpenModelConnection,
        family: Family,
    ) -> Result<Vec<ListedModel>, Fault> {
        let base = base_of(connection)?;
        let (mut models, mut next, mut pages) = (Vec::new(), Some(list(family)), 0);
        while let Some(request) = next {
            let answer = self.ask(connection, base, request).await?;
            if !(200..300).contains(&answer.status) {
                return Err(refused(answer.status));
            }
            let page = read_list(family, pages, &answer.body).map_err(|error| of_wire(&error))?;
            models.extend(page.models);
            if models.len() > MODELS {
                return Err(fault(
                    Phase::Request,
                    FaultKind::TooLarge,
                    "The provider lists more than 5,000 models.",
                ));
            }
            (next, pages) = (page.next, pages + 1);
        }
        Ok(models)
    }

    async fn whole_list(&self, connection: &OpenModelConnection) -> Result<Vec<CatalogueEntry>, Fault> {
        let provider = connection.connection.kind.provider();
        let Some(family) = provider.family else {
            return Ok(self.local.models().into_iter().map(|model| model.entry).collect());
        };
        let Some(runtime) = Runtime::of_type(provider.kind.as_str()) else {
            let listed = self.listed(connection, family).await?;
            return Ok(listed.into_iter().map(|model| of_list(provider, model)).collect());
        };
        let mut all = self.of_runtime(connection, runtime).await?;
        for model in all.iter_mut().take(DESCRIBED) {
            let Some(call) = runtime.describe(&model.id) else { break };
            let answers = self.ask_runtime(connection, vec![call]).await?;
            if let Some(answer) = answers.first()
                && let Err(error) = runtime.described(model, &heard(answer))
            {
                // The list told of it: what can't be described is imported with what is known.
                tracing::debug!(%error, "a runtime did not describe a model");
            }
        }
        Ok(all.into_iter().map(|model| of_told(provider, model)).collect())
    }
}

fn base_of(connection: &OpenModelConnection) -> Result<&str, Fault> {
    let missing = || fault(Phase::Dns, FaultKind::NotAllowed, "The connection has no address.");
    connection.base_url().ok_or_else(missing)
}

fn heard(answer: &Answer) -> Heard<'_> {
    Heard { status: answer.status, body: &answer.body }
}

fn request(call: &Call) -> UpstreamRequest {
    let json = Header { name: "content-type", value: "application/json" };
    let body = call.body.as_ref().map(|body| Bytes::from(body.to_string()));
    UpstreamRequest {
        method: match call.method {
            heddle_models_local::Method::Get => Method::Get,
            heddle_models_local::Method::Post => Method::Post,
        },
        path: call.path.clone(),
        headers: if body.is_some() { vec![json] } else { Vec::new() },
        body: body.unwrap_or_default(),
    }
}

/// Whether a runtime's model is the one that is named: Ollama's `:latest` may be left out.
fn is_named(told: &str, name: &str) -> bool {
    told == name || told.strip_suffix(":latest") == Some(name) || name.strip_suffix(":latest") == Some(told)
}

/// Abilities as they were told; where nothing was told of chat and embeddings, by the name. A call that needs an ability
/// which a deployment doesn't have is refused: what nobody told is no reason for that, so it counts as there.
fn capabilities(provider: &Provider, model: &str, told: &[(Capability, Option<bool>)]) -> Capabilities {
    let says = |one: Capability| told.iter().find(|(known, _)| *known == one).and_then(|(_, told)| *told);
    let name = model.to_ascii_lowercase();
    let embeds_by_name =
        ["embed", "bge-", "e5-", "gte-", "minilm", "nomic"].iter().any(|part| name.contains(part));
    let ranks_by_name = name.contains("rerank");
    let ranks = says(Capability::Rerank).unwrap_or(ranks_by_name);
    let embeds = says(Capability::Embeddings).unwrap_or(embeds_by_name && !ranks);
    let chats = says(Capability::Chat).unwrap_or(!embeds && !ranks);
    let mut all = Vec::new();
    if embeds {
        all.push(Capability::Embeddings);
    }
    if ranks {
        all.push(Capability::Rerank);
    }
    if chats {
        all.extend([Capability::Chat, Capability::Stream, Capability::JsonSchema]);
        all.extend(
            [Capability::Tools, Capability::Vision].into_iter().filter(|one| says(*one).unwrap_or(true)),
        );
    }
    Capabilities::of(all.into_iter().filter(|one| provider.has(*one)))
}

fn small(number: Option<u64>) -> Option<u32> {
    number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
}

fn of_list(provider: &Provider, listed: ListedModel) -> CatalogueEntry {
    let told = [
        (Capability::Chat, listed.chats),
        (Capability::Embeddings, listed.embeds),
        (Capability::Vision, listed.sees),
        (Capability::Tools, listed.calls_tools),
    ];
    CatalogueEntry {
        capabilities: capabilities(provider, &listed.model, &told),
        display_name: listed.display_name.unwrap_or_else(|| listed.model.clone()),
        model: listed.model,
        context_length: small(listed.context_length),
        dimensions: None,
        revision: listed.revision,
        bytes: listed.bytes,
    }
}

fn of_told(provider: &Provider, told: Told) -> CatalogueEntry {
    let features = told.features;
    let abilities = [
        (Capability::Chat, features.map(|features| features.chat)),
        (Capability::Embeddings, features.map(|features| features.embeddings)),
        (Capability::Tools, features.and_then(|features| features.tools)),
        (Capability::Vision, features.and_then(|features| features.vision)),
        (Capability::Rerank, features.map(|features| features.rerank)),
    ];
    let about = [told.parameters.as_deref(), told.quantization.as_deref()];
    let about: Vec<&str> = about.into_iter().flatten().collect();
    CatalogueEntry {
        capabilities: capabilities(provider, &told.id, &abilities),
        display_name: if about.is_empty() {
            told.id.clone()
        } else {
            format!("{} ({})", told.id, about.join(", "))
        },
        context_length: small(told.context_length),
        dimensions: small(told.dimensions),
        revision: told.revision,
        bytes: told.bytes,
        model: told.id,
    }
}

fn wish(deployment: &Deployment) -> Wish {
    let can = |one| deployment.capabilities.has(one);
    Wish {
        keep: keep(&deployment.memory),
        context_length: deployment.memory.context_length.map(u64::from),
        embeds: can(Capability::Embeddings) && !can(Capability::Chat),
    }
}

fn keep(memory: &Memory) -> Keep {
    match (memory.policy, memory.idle_ttl_seconds) {
        (MemoryPolicy::Pinned, _) => Keep::Pinned,
        (MemoryPolicy::OnDemand, Some(seconds)) => Keep::IdleSeconds(u64::from(seconds)),
        (MemoryPolicy::OnDemand | MemoryPolicy::Unloaded, _) => Keep::AsSetUp,
    }
}

impl WireRuntimes {
    fn runtime(connection: &OpenModelConnection) -> Option<Runtime> {
        Runtime::of_type(connection.connection.kind.as_str())
    }

    /// Whether a model inside this service is there.
    fn built_in(&self, model: &str) -> Option<Observed> {
        let found = self.local.models().into_iter().find(|known| known.entry.model == model)?;
        Some(found.observed(self.clock.now()))
    }

    async fn seen(&self, connection: &OpenModelConnection, model: &str) -> Result<Option<Observed>, Fault> {
        if connection.connection.kind.provider().family.is_none() {
            return Ok(self.built_in(model));
        }
        let at = Some(self.clock.now());
        let Some(runtime) = Self::runtime(connection) else {
            let listed = self.whole_list(connection).await?;
            let is_there = listed.iter().any(|entry| is_named(&entry.model, model));
            return Ok(is_there.then(|| Observed { loaded: true, at, ..Observed::default() }));
        };
        let Some(told) = self.told(connection, runtime, model).await? else { return Ok(None) };
        // A runtime that tells nothing of its memory answers whenever it is asked.
        let Some(residence) = told.residence else {
            let (bytes, file_bytes) = (told.bytes, told.bytes);
            return Ok(Some(Observed { loaded: true, bytes, file_bytes, at, ..Observed::default() }));
        };
        Ok(Some(Observed {
            loaded: residence.state == heddle_models_local::Residency::Loaded,
            bytes: residence.bytes,
            vram_bytes: residence.vram_bytes,
            file_bytes: told.bytes,
            expires_at: residence.expires_at.and_then(|text| text.parse().ok()),
            at,
        }))
    }

    async fn do_call(
        &self,
        connection: &OpenModelConnection,
        runtime: Runtime,
        call: Call,
    ) -> Result<(), Fault> {
        let answers = self.ask_runtime(connection, vec![call]).await?;
        let Some(answer) = answers.first() else { return Ok(()) };
        runtime.done(&heard(answer)).map_err(|error| of_runtime(&error))
    }
}

#[async_trait]
impl Runtimes for WireRuntimes {
    async fn models(&self, connection: &OpenModelConnection) -> Result<Vec<CatalogueEntry>, Fault> {
        match tokio::time::timeout(ALL, self.whole_list(connection)).await {
            Ok(listed) => listed,
            Err(_late) => Err(too_long()),
        }
    }

    async fn observe(
        &self,
        connection: &OpenModelConnection,
        model: &str,
    ) -> Result<Option<Observed>, Fault> {
        match tokio::time::timeout(ALL, self.seen(connection, model)).await {
            Ok(seen) => seen,
            Err(_late) => Err(too_long()),
        }
    }

    async fn load(&self, connection: &OpenModelConnection, deployment: &Deployment) -> Result<(), Fault> {
        let Some(runtime) = Self::runtime(connection) else { return Ok(()) };
        let model = deployment.model.as_str();
        let work = async {
            let told = self.told(connection, runtime, model).await?;
            let residence = told.as_ref().and_then(|told| told.residence.as_ref());
            let calls =
                runtime.load(model, residence, wish(deployment)).map_err(|error| of_runtime(&error))?;
            for call in calls {
                self.do_call(connection, runtime, call).await?;
            }
            Ok(())
        };
        match tokio::time::timeout(ALL, work).await {
            Ok(done) => done,
            // It is read on: what is observed says when it is there.
            Err(_late) => Ok(()),
        }
    }

    async fn leave(
        &self,
        connection: &OpenModelConnection,
        deployment: &Deployment,
        was_pinned: bool,
    ) -> Result<(), Fault> {
        let Some(runtime) = Self::runtime(connection) else { return Ok(()) };
        let model = deployment.model.as_str();
        let work = async {
            let told = self.told(connection, runtime, model).await?;
            let residence = told.as_ref().and_then(|told| told.residence.as_ref());
            let call = runtime.leave(model, residence, wish(deployment), was_pinned);
            match call.map_err(|error| of_runtime(&error))? {
                Some(call) => self.do_call(connection, runtime, call).await,
                None => Ok(()),
            }
        };
        match tokio::time::timeout(ALL, work).await {
            Ok(done) => done,
            Err(_late) => Err(too_long()),
        }
    }

    async fn unload(&self, connection: &OpenModelConnection, model: &str) -> Result<(), Fault> {
        let Some(runtime) = Self::runtime(connection) else { return Ok(()) };
        let work = async {
            let told = self.told(connection, runtime, model).await?;
            let residence = told.as_ref().and_then(|told| told.residence.as_ref());
            let call = runtime.unload(model, residence).map_err(|error| of_runtime(&error))?;
            self.do_call(connection, runtime, call).await
        };
        match tokio::time::timeout(ALL, work).await {
            Ok(done) => done,
            Err(_late) => Err(too_long()),
        }
    }

    async fn revision(&self, connection: &OpenModelConnection, model: &str) -> Result<Option<String>, Fault> {
        let listed = self.models(connection).await?;
        Ok(listed.into_iter().find(|entry| is_named(&entry.model, model)).and_then(|entry| entry.revision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::deployment;
    use crate::types::ProviderKind;

    #[test]
    fn a_deployment_that_embeds_alone_is_read_as_such() {
        let memory = Memory { idle_ttl_seconds: Some(60), context_length: Some(512), ..Memory::default() };
        let of = |all: &[Capability]| Deployment {
            capabilities: Capabilities::of(all.iter().copied()),
            memory: memory.clone(),
            ..deployment(1, "a")
        };
        let embeds = wish(&of(&[Capability::Embeddings]));
        let expected = Wish { keep: Keep::IdleSeconds(60), context_length: Some(512), embeds: true };
        assert_eq!(embeds, expected);
        assert!(!wish(&of(&[Capability::Chat, Capability::Embeddings])).embeds);
    }

    #[test]
    fn abilities_are_told_or_guessed_from_the_name() {
        let of = |kind: ProviderKind, model: &str, told: &[(Capability, Option<bool>)]| {
            capabilities(kind.provider(), model, told).all().to_vec()
        };
        let chat = of(ProviderKind::Openai, "gpt-4o-mini", &[]);
        assert!(chat.contains(&Capability::Chat) && chat.contains(&Capability::Tools));
        assert_eq!(of(ProviderKind::Openai, "text-embedding-3-small", &[]), [Capability::Embeddings]);
        assert_eq!(of(ProviderKind::HuggingfaceTei, "BAAI/bge-reranker-base", &[]), [Capability::Rerank]);
        let told = [
            (Capability::Chat, Some(true)),
            (Capability::Embeddings, Some(false)),
            (Capability::Tools, Some(false)),
        ];
        assert!(!of(ProviderKind::Ollama, "smollm2:135m", &told).contains(&Capability::Tools));
        // What nobody told is there: a server that says nothing of tools is not kept from them.
        for kind in [ProviderKind::Vllm, ProviderKind::LlamaCpp, ProviderKind::Custom] {
            let all = of(kind, "SmolLM2-135M", &[(Capability::Vision, Some(false))]);
            assert!(all.contains(&Capability::Tools) && !all.contains(&Capability::Vision), "{kind} {all:?}");
            assert!(all.contains(&Capability::Stream) && all.contains(&Capability::JsonSchema), "{kind}");
        }
        assert!(is_named("llama3:latest", "llama3") && is_named("a", "a") && !is_named("a:b", "a"));
    }
}
