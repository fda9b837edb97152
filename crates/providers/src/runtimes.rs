//! What providers and runtimes tell of their models beside answering, and the residency that they are told.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use heddle_kernel::Clock;
use heddle_models::ports::{Exchange, Fault, FaultKind, LocalModels, Runtimes};
use heddle_models::records::{
    Capabilities, Capability, CatalogueEntry, Memory, MemoryPolicy, Observed, OpenModelConnection,
};
use heddle_models_local::{Call, Features, Keep, LocalError, LocalModel, Residency, Runtime, root};
use heddle_models_wire::catalogue::{self, ListedModel};
use heddle_models_wire::{Family, Header, Method, UpstreamRequest, WireError};
use heddle_usecase::outside::Phase;

use crate::Providers;
use crate::fault::{refused, unusable};

/// Time that everything together may take.
const TOTAL: Duration = Duration::from_secs(30);
/// Bounds of one exchange.
const BOUNDS: Exchange = Exchange {
    connect: Duration::from_secs(5),
    answer: Duration::from_secs(28),
    total: Duration::from_secs(29),
    body_bytes: 8 << 20,
};
/// Models that are asked about one by one, at most.
const DESCRIBED: usize = 200;

/// Runtimes and providers over the way to them; models inside the service are listed as they are.
pub struct ProviderRuntimes {
    providers: Providers,
    local: Arc<dyn LocalModels>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for ProviderRuntimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderRuntimes").finish_non_exhaustive()
    }
}

/// An answer: its status and its body.
struct Told {
    status: u16,
    body: Bytes,
}

impl ProviderRuntimes {
    /// Runtimes over the way to providers, with the models inside the service.
    #[must_use]
    pub fn new(providers: Providers, local: Arc<dyn LocalModels>, clock: Arc<dyn Clock>) -> Self {
        Self { providers, local, clock }
    }

    async fn ask(
        &self,
        connection: &OpenModelConnection,
        base: &str,
        request: UpstreamRequest,
    ) -> Result<Told, Fault> {
        let mut answer = self.providers.send(connection, base, request, BOUNDS).await?;
        let body = Providers::whole(&mut answer.body).await?;
        Ok(Told { status: answer.status.as_u16(), body })
    }

    /// Makes the calls of a runtime one after the other.
    async fn call(&self, connection: &OpenModelConnection, calls: Vec<Call>) -> Result<Vec<Told>, Fault> {
        let base = base_of(connection)?;
        let mut told = Vec::with_capacity(calls.len());
        for call in calls {
            let answer = self.ask(connection, root(base), request(call)).await?;
            keys_taken(answer.status)?;
            told.push(answer);
        }
        Ok(told)
    }

    /// The models of a runtime with their residence.
    async fn listed(
        &self,
        connection: &OpenModelConnection,
        runtime: Runtime,
    ) -> Result<Vec<LocalModel>, Fault> {
        let told = self.call(connection, runtime.list()).await?;
        runtime.listed(&replies(&told)).map_err(|error| of_local(&error))
    }

    /// The models of a runtime with all that it tells of each.
    async fn described(
        &self,
        connection: &OpenModelConnection,
        runtime: Runtime,
    ) -> Result<Vec<CatalogueEntry>, Fault> {
        let mut models = self.listed(connection, runtime).await?;
        for model in models.iter_mut().take(DESCRIBED) {
            let Some(call) = runtime.describe(&model.id) else { break };
            let told = self.call(connection, vec![call]).await?;
            // What one of them does not tell of itself hides none of the others.
            if let Some(reply) = replies(&told).first() {
                let _ = runtime.described(model, reply);
            }
        }
        Ok(models.into_iter().map(|model| entry(connection, model)).collect())
    }

    /// The models of a provider, page after page.
    async fn pages(
        &self,
        connection: &OpenModelConnection,
        family: Family,
    ) -> Result<Vec<CatalogueEntry>, Fault> {
        let base = base_of(connection)?;
        let (mut entries, mut next, mut pages) = (Vec::new(), Some(catalogue::list(family)), 0);
        while let Some(request) = next {
            let told = self.ask(connection, base, request).await?;
            keys_taken(told.status)?;
            if !(200..300).contains(&told.status) {
                return Err(refused(Phase::Request, format!("the provider answered with status {}", told.status)));
            }
            let listing =
                catalogue::read_list(family, pages, &told.body).map_err(|error| of_wire(&error))?;
            entries.extend(listing.models.into_iter().map(|model| listed_entry(connection, model)));
            (next, pages) = (listing.next, pages + 1);
        }
        Ok(entries)
    }

    /// One model of a runtime as it is now; none where it has no such.
    async fn one(
        &self,
        connection: &OpenModelConnection,
        runtime: Runtime,
        model: &str,
    ) -> Result<Option<LocalModel>, Fault> {
        let models = self.listed(connection, runtime).await?;
        Ok(models.into_iter().find(|known| known.id == model || known.id == format!("{model}:latest")))
    }

    fn built_in(&self, model: &str) -> Option<heddle_models::ports::LocalModel> {
        self.local.models().into_iter().find(|known| known.entry.model == model)
    }
}

fn base_of(connection: &OpenModelConnection) -> Result<&str, Fault> {
    connection.base_url().ok_or_else(|| unusable(Phase::Request, "the connection has no address"))
}

fn family_of(connection: &OpenModelConnection) -> Option<Family> {
    connection.connection.kind.provider().family
}

fn runtime_of(connection: &OpenModelConnection) -> Option<Runtime> {
    Runtime::of_type(connection.connection.kind.as_str())
}

fn request(call: Call) -> UpstreamRequest {
    let method = match call.method {
        heddle_models_local::Method::Get => Method::Get,
        heddle_models_local::Method::Post => Method::Post,
    };
    let headers = match call.body {
        Some(_) => vec![Header { name: "content-type", value: "application/json" }],
        None => Vec::new(),
    };
    let body = call.body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
    UpstreamRequest { method, path: call.path, headers, body }
}

fn replies(told: &[Told]) -> Vec<heddle_models_local::Reply<'_>> {
    told.iter().map(|told| heddle_models_local::Reply { status: told.status, body: &told.body }).collect()
}

/// Whether the provider takes the key.
fn keys_taken(status: u16) -> Result<(), Fault> {
    match status {
        401 | 403 | 407 => {
            Err(unusable(Phase::Auth, format!("the provider does not take the key (status {status})")))
        }
        _ => Ok(()),
    }
}

/// A runtime's failure in words of ours: its own stay with it.
fn of_local(error: &LocalError) -> Fault {
    match error {
        LocalError::Refused { status, .. } => {
            refused(Phase::Request, format!("the runtime answered with status {status}"))
        }
        LocalError::Unsupported { .. } => unusable(Phase::Request, error.to_string()),
        LocalError::UnknownModel | LocalError::Malformed(_) | LocalError::Missing => {
            refused(Phase::Request, error.to_string())
        }
    }
}

fn of_wire(error: &WireError) -> Fault {
    refused(Phase::Request, error.to_string())
}

/// Abilities that a model's name lets expect, where nobody tells them.
fn expected(connection: &OpenModelConnection, model: &str) -> Capabilities {
    const EMBEDDING: [&str; 8] = ["embed", "bge-", "minilm", "e5-", "gte-", "-e5", "mxbai", "sentence-"];
    let name = model.to_lowercase();
    let provider = connection.connection.kind.provider();
    let of = |all: &[Capability]| Capabilities::of(all.iter().copied().filter(|one| provider.has(*one)));
    if name.contains("rerank") {
        return of(&[Capability::Rerank]);
    }
    let embeds = EMBEDDING.iter().any(|word| name.contains(word));
    if embeds || !provider.has(Capability::Chat) {
        return of(&[Capability::Embeddings]);
    }
    of(&[Capability::Chat, Capability::JsonSchema, Capability::Stream, Capability::Tools])
}

/// Abilities as far as they are told; none where nothing is.
fn told_abilities(features: &Features) -> Option<Capabilities> {
    let all = [
        (features.chat, Capability::Chat),
        (features.chat, Capability::Stream),
        (features.chat, Capability::JsonSchema),
        (features.embeddings, Capability::Embeddings),
        (features.rerank, Capability::Rerank),
        (features.tools, Capability::Tools),
        (features.vision, Capability::Vision),
    ];
    let told = Capabilities::of(all.into_iter().filter(|(has, _)| *has).map(|(_, ability)| ability));
    (!told.is_empty()).then_some(told)
}

fn short(number: u64) -> Option<u32> {
    u32::try_from(number).ok()
}

fn entry(connection: &OpenModelConnection, model: LocalModel) -> CatalogueEntry {
    let told = model.features.as_ref().and_then(told_abilities);
    CatalogueEntry {
        capabilities: told.unwrap_or_else(|| expected(connection, &model.id)),
        display_name: model.id.clone(),
        context_length: model.context_length.and_then(short),
        dimensions: model.dimensions.and_then(short),
        revision: model.revision,
        bytes: model.bytes,
        model: model.id,
    }
}

fn listed_entry(connection: &OpenModelConnection, model: ListedModel) -> CatalogueEntry {
    let features = Features {
        chat: model.chats == Some(true),
        embeddings: model.embeds == Some(true),
        tools: model.calls_tools == Some(true),
        vision: model.sees == Some(true),
        ..Features::default()
    };
    // Whoever tells of chats alone tells nothing of tools.
    let told = match (model.chats, model.calls_tools) {
        (Some(true), None) => None,
        (_, _) => told_abilities(&features),
    };
    CatalogueEntry {
        capabilities: told.unwrap_or_else(|| expected(connection, &model.model)),
        display_name: model.display_name.unwrap_or_else(|| model.model.clone()),
        context_length: model.context_length.and_then(short),
        dimensions: None,
        revision: model.revision,
        bytes: model.bytes,
        model: model.model,
    }
}

/// Everything within the time that it may take together.
async fn in_time<T>(work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let late = |_elapsed| Fault {
        phase: Phase::Request,
        kind: FaultKind::Timeout,
        message: format!("no answer within {} s", TOTAL.as_secs()),
    };
    tokio::time::timeout(TOTAL, work).await.map_err(late)?
}

fn no_residency() -> Fault {
    unusable(Phase::Request, "the provider does not leave it to its callers which models it holds in memory")
}

#[async_trait]
impl Runtimes for ProviderRuntimes {
    async fn models(&self, connection: &OpenModelConnection) -> Result<Vec<CatalogueEntry>, Fault> {
        in_time(async {
            match (runtime_of(connection), family_of(connection)) {
                (Some(runtime), _) => self.described(connection, runtime).await,
                (None, Some(family)) => self.pages(connection, family).await,
                (None, None) => Ok(self.local.models().into_iter().map(|model| model.entry).collect()),
            }
        })
        .await
    }

    async fn observe(
        &self,
        connection: &OpenModelConnection,
        model: &str,
    ) -> Result<Option<Observed>, Fault> {
        let at = Some(self.clock.now());
        let Some(runtime) = runtime_of(connection) else {
            let loaded = self.built_in(model).map(|known| known.ready);
            return Ok(loaded.map(|loaded| Observed { loaded, at, ..Observed::default() }));
        };
        let found = in_time(self.one(connection, runtime, model)).await?;
        Ok(found.map(|found| {
            let residence = found.residence.unwrap_or_default();
            Observed {
                loaded: residence.state == Residency::Loaded,
                bytes: residence.bytes,
                vram_bytes: residence.vram_bytes,
                expires_at: residence.expires_at.and_then(|text| text.parse().ok()),
                at,
            }
        }))
    }

    async fn load(&self, connection: &OpenModelConnection, model: &str, memory: &Memory) -> Result<(), Fault> {
        let Some(runtime) = runtime_of(connection) else {
            // What is inside the service is read when it is first needed, and stays.
            return if family_of(connection).is_none() { Ok(()) } else { Err(no_residency()) };
        };
        in_time(async {
            if let Some(most) = memory.max_bytes {
                let found = self.one(connection, runtime, model).await?;
                if found.and_then(|found| found.bytes).is_some_and(|bytes| bytes > most) {
                    return Err(unusable(Phase::Request, format!("the model takes more than {most} bytes")));
                }
            }
            let keep = match (memory.policy, memory.idle_ttl_seconds) {
                (MemoryPolicy::Pinned, _) => Keep::Pinned,
                (MemoryPolicy::OnDemand | MemoryPolicy::Unloaded, Some(seconds)) => {
                    Keep::IdleSeconds(u64::from(seconds))
                }
                (MemoryPolicy::OnDemand | MemoryPolicy::Unloaded, None) => Keep::AsSetUp,
            };
            let call = runtime.load(model, keep, memory.context_length.map(u64::from));
            self.done(connection, runtime, call.map_err(|error| of_local(&error))?).await
        })
        .await
    }

    async fn unload(&self, connection: &OpenModelConnection, model: &str) -> Result<(), Fault> {
        let Some(runtime) = runtime_of(connection) else { return Err(no_residency()) };
        in_time(async {
            let found = self.one(connection, runtime, model).await?;
            let residence = found.and_then(|found| found.residence);
            let call = runtime.unload(model, residence.as_ref());
            self.done(connection, runtime, call.map_err(|error| of_local(&error))?).await
        })
        .await
    }

    async fn revision(&self, connection: &OpenModelConnection, model: &str) -> Result<Option<String>, Fault> {
        if family_of(connection).is_none() {
            return Ok(self.built_in(model).and_then(|known| known.entry.revision));
        }
        let known = self.models(connection).await?.into_iter().find(|entry| entry.model == model);
        let gone = || refused(Phase::Request, "the provider has no such model any more");
        Ok(known.ok_or_else(gone)?.revision)
    }
}

impl ProviderRuntimes {
    /// Makes a call and reads whether it was done.
    async fn done(&self, connection: &OpenModelConnection, runtime: Runtime, call: Call) -> Result<(), Fault> {
        let told = self.call(connection, vec![call]).await?;
        let all = replies(&told);
        let reply = all.first().ok_or_else(|| of_local(&LocalError::Missing))?;
        runtime.done(reply).map_err(|error| of_local(&error))
    }
}
