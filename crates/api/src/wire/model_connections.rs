//! Connections to providers of models, and what the providers have. A key is only ever read here, never written.

use std::collections::BTreeMap;

use heddle_kernel::{ModelConnectionId, Patch, Timestamp};
use serde_json::Value;

use super::connections::{SecretState, SecretText, TestPhase};
use super::envelope::Instant;
use crate::contract::{json_bodies, path_params};

words! {
    /// Language that a provider speaks.
    enum ModelFamily {
        /// Chat completions as OpenAI has them.
        OpenAiCompatible = "openai-compatible",
        /// The same at the addresses of Azure.
        AzureOpenAi = "azure-openai",
        /// Messages as Anthropic has them.
        Anthropic = "anthropic",
        /// Contents as Google's Gemini has them.
        Gemini = "gemini",
        /// The own interface of Ollama.
        Ollama = "ollama",
        /// None: the model runs in the service itself.
        Local = "local",
    }

    /// Ability of a model.
    enum ModelCapability {
        /// Answers to messages.
        Chat = "chat",
        /// Embedding of texts.
        Embeddings = "embeddings",
        /// Answers in JSON by a schema.
        JsonSchema = "jsonSchema",
        /// Ranking of documents for a query.
        Rerank = "rerank",
        /// Answers that come piece by piece.
        Stream = "stream",
        /// Calls of tools.
        Tools = "tools",
        /// Reading of images.
        Vision = "vision",
    }

    /// Period of a budget, in UTC.
    enum BudgetPeriod {
        /// A day.
        Day = "day",
        /// A month of the calendar.
        Month = "month",
    }
}

path_params! {
    /// Path of a connection to a provider.
    ModelConnectionPath { connection_id "connectionId": ModelConnectionId }
}

response! {
    /// Abilities of a type of providers, as far as its models have them.
    struct ModelProviderCapabilities {
        /// Models answer messages.
        chat: bool,
        /// Answers come piece by piece.
        stream: bool,
        /// Models call tools.
        tools: bool,
        /// Models answer with JSON by a schema.
        json_schema: bool,
        /// Models read images.
        vision: bool,
        /// Models embed texts.
        embeddings: bool,
        /// The provider tells which models it has.
        discover: bool,
        /// The provider loads models and lets them go when asked to.
        residency: bool,
        /// The provider tells which revision of a model it serves.
        revision: bool,
    }

    /// A type of providers.
    struct ModelProviderType {
        /// Word of the type, as connections name it.
        id: String,
        /// Name for people.
        display_name: String,
        /// Language that it speaks.
        family: ModelFamily,
        /// Abilities.
        capabilities: ModelProviderCapabilities,
        /// JSON Schema (draft 2020-12) of what a connection of the type is made of.
        #[schema(value_type = Object)]
        config_schema: Value,
        /// Members of a connection that are sealed and never shown.
        secret_fields: Vec<String>,
        /// Address where a connection names none; null where it has to name one.
        #[schema(required = true)]
        default_base_url: Option<String>,
    }

    /// Result of a try of a connection to a provider.
    struct ModelConnectionTest {
        /// Whether the provider was reached and let us in.
        ok: bool,
        /// Phase that failed; of a success the last one.
        phase: TestPhase,
        /// Time that it took in milliseconds.
        #[schema(minimum = 0)]
        latency_ms: u64,
        /// Number of models that the provider told of; null where it was not let in or tells none.
        #[schema(required = true, minimum = 0)]
        models: Option<u64>,
        /// Outcome, in words; it holds nothing that the provider answered, and no key.
        message: String,
        /// Instant of the try.
        #[schema(value_type = Instant)]
        tested_at: Timestamp,
    }

    /// Last try of a connection to a provider.
    struct LastModelConnectionTest {
        /// Whether the provider was reached and let us in.
        ok: bool,
        /// Phase that failed; of a success the last one.
        phase: TestPhase,
        /// Time that it took in milliseconds.
        #[schema(minimum = 0)]
        latency_ms: u64,
        /// Outcome, in words.
        message: String,
        /// Instant of the try.
        #[schema(value_type = Instant)]
        tested_at: Timestamp,
    }

    /// The most that may be spent in a period.
    struct ModelBudget {
        /// The period.
        period: BudgetPeriod,
        /// Costs in millionths of a unit of the prices' currency; null is no bound.
        #[schema(required = true)]
        cost_micros: Option<i64>,
        /// Tokens, of questions and answers; null is no bound.
        #[schema(required = true)]
        tokens: Option<i64>,
    }

    /// Limits of calls; null is no limit.
    struct ModelLimits {
        /// Calls of a minute.
        #[schema(required = true)]
        requests_per_minute: Option<u32>,
        /// Tokens of a minute, of questions and answers.
        #[schema(required = true)]
        tokens_per_minute: Option<u64>,
        /// Calls that run at a time on a server.
        #[schema(required = true)]
        concurrency: Option<u32>,
        /// Milliseconds that a call waits for its place among these; null is 10,000.
        #[schema(required = true)]
        queue_timeout_ms: Option<u32>,
        /// The most that may be spent in a period.
        #[schema(required = true)]
        budget: Option<ModelBudget>,
    }

    /// Waits in milliseconds; null is the preset one.
    struct ModelTimeouts {
        /// Wait until the connection stands.
        #[schema(required = true)]
        connect_ms: Option<u32>,
        /// Wait until the first piece of the answer.
        #[schema(required = true)]
        first_token_ms: Option<u32>,
        /// Wait between two pieces.
        #[schema(required = true)]
        between_tokens_ms: Option<u32>,
        /// Time of the whole call with its repeats.
        #[schema(required = true)]
        total_ms: Option<u32>,
    }

    /// A connection to a provider of models.
    struct ModelConnection {
        /// Stable identifier.
        id: String,
        /// Unique name within the organisation.
        name: String,
        /// Type of the provider; it can't be changed.
        #[serde(rename = "type")]
        kind: String,
        /// Language that the provider speaks.
        family: ModelFamily,
        /// Address; null where it is that of the type.
        #[schema(required = true)]
        base_url: Option<String>,
        /// Headers that go with each call, by name.
        headers: BTreeMap<String, String>,
        /// Version of the provider's interface; null where it is the preset one.
        #[schema(required = true)]
        api_version: Option<String>,
        /// Certificates (PEM) of authorities that are trusted beside the usual ones; null for none.
        #[schema(required = true)]
        certificate_authority: Option<String>,
        /// Description of the key, which itself is never shown.
        api_key: SecretState,
        /// Waits that deployments have where they name none.
        timeouts: ModelTimeouts,
        /// Limits over all deployments of the connection.
        limits: ModelLimits,
        /// Whether its deployments are called.
        enabled: bool,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// The last try; null when it was never tried.
        #[schema(required = true)]
        last_test: Option<LastModelConnectionTest>,
        /// Instant of the last discovery that succeeded; null before.
        #[schema(required = true, value_type = Option<Instant>)]
        discovered_at: Option<Timestamp>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who created it.
        created_by: String,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
        /// User who last changed it.
        updated_by: String,
    }

    /// A model that a provider has.
    struct ProviderModel {
        /// Name that the provider knows it by.
        model: String,
        /// Name for people.
        display_name: String,
        /// Abilities, as the provider tells them or its name lets expect.
        capabilities: Vec<ModelCapability>,
        /// The most tokens of a call; null where it is not known.
        #[schema(required = true, minimum = 1)]
        context_length: Option<u32>,
        /// Dimensions of its vectors; null where it makes none or they are not known.
        #[schema(required = true, minimum = 1)]
        dimensions: Option<u32>,
        /// Digest or revision; null where the provider tells none.
        #[schema(required = true)]
        revision: Option<String>,
        /// Bytes of its weights; null where the provider tells none.
        #[schema(required = true, minimum = 0)]
        bytes: Option<u64>,
        /// Deployment of it; null where there is none.
        #[schema(required = true)]
        deployment_id: Option<String>,
        /// Instant at which it was last seen.
        #[schema(value_type = Instant)]
        discovered_at: Timestamp,
    }

    /// Outcome of a discovery.
    struct DiscoveredModels {
        /// Names of models that are new.
        added: Vec<String>,
        /// Names of models that are there no more.
        removed: Vec<String>,
        /// Number of models that are as they were.
        #[schema(minimum = 0)]
        unchanged: u64,
        /// Instant of the discovery.
        #[schema(value_type = Instant)]
        discovered_at: Timestamp,
        /// The models as they are now, by name.
        items: Vec<ProviderModel>,
    }

    /// A model that was deployed.
    struct ImportedModel {
        /// Name that the provider knows it by.
        model: String,
        /// Deployment that was made.
        deployment_id: String,
        /// Name that callers use.
        alias: String,
    }

    /// A model that was left out.
    struct SkippedModel {
        /// Name that the provider knows it by.
        model: String,
        /// Deployment that there is of it already; null where there is none.
        #[schema(required = true)]
        deployment_id: Option<String>,
        /// Machine word of the reason.
        reason: String,
        /// The reason in a sentence.
        message: String,
    }

    /// Outcome of an import.
    struct ImportedModels {
        /// Models that were deployed.
        imported: Vec<ImportedModel>,
        /// Models that were left out.
        skipped: Vec<SkippedModel>,
    }
}

/// Types of providers, by name.
#[derive(Debug, Clone, PartialEq, serde::Serialize, utoipa::ToSchema)]
pub struct ModelProviderTypes(pub Vec<ModelProviderType>);

request! {
    /// The most that may be spent in a period.
    struct SentModelBudget {
        /// The period.
        period: BudgetPeriod,
        /// Costs in millionths of a unit of the prices' currency; no bound when absent.
        #[schema(nullable = false, minimum = 0)]
        cost_micros: Option<i64>,
        /// Tokens, of questions and answers; no bound when absent.
        #[schema(nullable = false, minimum = 0)]
        tokens: Option<i64>,
    }

    /// Limits of calls; no limit when absent.
    struct SentModelLimits {
        /// Calls of a minute.
        #[schema(nullable = false, minimum = 1, maximum = 10000000)]
        requests_per_minute: Option<u32>,
        /// Tokens of a minute, of questions and answers.
        #[schema(nullable = false, minimum = 1, maximum = 1000000000)]
        tokens_per_minute: Option<u64>,
        /// Calls that run at a time on a server.
        #[schema(nullable = false, minimum = 1, maximum = 100000)]
        concurrency: Option<u32>,
        /// Milliseconds that a call waits for its place among these; 10,000 when absent.
        #[schema(nullable = false, minimum = 0, maximum = 600000)]
        queue_timeout_ms: Option<u32>,
        /// The most that may be spent in a period.
        #[schema(nullable = false)]
        budget: Option<SentModelBudget>,
    }

    /// Waits in milliseconds; the preset one when absent.
    struct SentModelTimeouts {
        /// Wait until the connection stands; preset 5,000.
        #[schema(nullable = false, minimum = 1, maximum = 60000)]
        connect_ms: Option<u32>,
        /// Wait until the first piece of the answer; preset 60,000.
        #[schema(nullable = false, minimum = 1, maximum = 3600000)]
        first_token_ms: Option<u32>,
        /// Wait between two pieces; preset 30,000.
        #[schema(nullable = false, minimum = 1, maximum = 3600000)]
        between_tokens_ms: Option<u32>,
        /// Time of the whole call with its repeats; preset 600,000.
        #[schema(nullable = false, minimum = 1, maximum = 3600000)]
        total_ms: Option<u32>,
    }

    /// A new connection to a provider.
    #[schema(examples(json!({"name": "ollama here", "type": "ollama", "baseUrl": "http://127.0.0.1:11434"})))]
    struct CreateModelConnection {
        /// Unique name within the organisation.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
        /// Type of the provider: one of `GET /api/model-providers/types`.
        #[serde(rename = "type")]
        #[schema(min_length = 1, max_length = 100)]
        kind: String,
        /// Address to which the paths of the provider's interface are added; that of the type when absent or null.
        #[schema(min_length = 1, max_length = 2048)]
        base_url: Option<String>,
        /// The key; none when absent or null.
        #[schema(value_type = Option<String>, min_length = 1, max_length = 8192)]
        api_key: Option<SecretText>,
        /// Headers that go with each call, by name; no secrets.
        #[schema(nullable = false)]
        headers: Option<BTreeMap<String, String>>,
        /// Version of the provider's interface, where the type has one; the preset one when absent or null.
        #[schema(min_length = 1, max_length = 100)]
        api_version: Option<String>,
        /// Certificates (PEM) of authorities that are trusted beside the usual ones.
        #[schema(min_length = 1, max_length = 65536)]
        certificate_authority: Option<String>,
        /// Waits that deployments have where they name none.
        #[schema(nullable = false)]
        timeouts: Option<SentModelTimeouts>,
        /// Limits over all deployments of the connection.
        #[schema(nullable = false)]
        limits: Option<SentModelLimits>,
        /// Whether its deployments are called; they are when absent.
        #[schema(nullable = false)]
        enabled: Option<bool>,
    }

    /// Changes of a connection to a provider; absent members stay.
    #[schema(examples(json!({"limits": {"requestsPerMinute": 600, "concurrency": 20}})))]
    struct PatchModelConnection {
        /// Unique name within the organisation.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        name: Option<String>,
        /// Address; null is that of the type. It changes only together with the key.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 2048)]
        base_url: Patch<String>,
        /// The key; null takes it away.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 8192)]
        api_key: Patch<SecretText>,
        /// Headers, all of them; null takes them away.
        #[serde(default)]
        #[schema(value_type = Option<BTreeMap<String, String>>)]
        headers: Patch<BTreeMap<String, String>>,
        /// Version of the provider's interface; null is the preset one.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 100)]
        api_version: Patch<String>,
        /// Certificates (PEM) of authorities; null takes them away.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 65536)]
        certificate_authority: Patch<String>,
        /// Waits, all of them.
        #[schema(nullable = false)]
        timeouts: Option<SentModelTimeouts>,
        /// Limits, all of them.
        #[schema(nullable = false)]
        limits: Option<SentModelLimits>,
        /// Whether its deployments are called.
        #[schema(nullable = false)]
        enabled: Option<bool>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// A model to deploy.
    struct ImportModel {
        /// Name that the provider knows it by.
        #[schema(min_length = 1, max_length = 512)]
        model: String,
        /// Name that callers use, unique within the organisation; made of the model's name when absent.
        #[schema(nullable = false, min_length = 1, max_length = 128)]
        alias: Option<String>,
        /// Abilities; those of the catalogue when absent.
        #[schema(nullable = false, max_items = 20)]
        capabilities: Option<Vec<ModelCapability>>,
    }

    /// Models to deploy.
    #[schema(examples(json!({"models": [{"model": "llama3.2:3b", "alias": "assistant"}]})))]
    struct ImportModels {
        /// The models.
        #[schema(min_items = 1, max_items = 100)]
        models: Vec<ImportModel>,
        /// Whether either all are deployed or none; else each by itself.
        #[schema(nullable = false)]
        atomic: Option<bool>,
    }

    /// Which connections to providers.
    struct ModelConnectionListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that names must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those of this type.
        #[serde(rename = "type")]
        #[schema(min_length = 1, max_length = 100)]
        kind: Option<String>,
        /// Only those that are enabled, or only others.
        enabled: Option<bool>,
    }

    /// Query of the deletion of a connection to a provider.
    struct DeleteModelConnectionQuery {
        /// Whether its deployments are deleted with it; else there may be none.
        cascade: Option<bool>,
    }

    /// Which models of a provider.
    struct ProviderModelListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that names must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those with this ability.
        capability: Option<ModelCapability>,
    }
}

json_bodies!(CreateModelConnection, PatchModelConnection, ImportModels);
