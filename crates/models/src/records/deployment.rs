//! Deployments: a model behind an alias, with its limits, waits, fallbacks and prices.

use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Revision, TenantId, Timestamp, UserId, literals};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::usage::Budget;

literals! {
    /// Ability of a model.
    pub enum Capability {
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
}

/// Abilities of a model, sorted and without repeats.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Capabilities(Vec<Capability>);

impl Capabilities {
    /// From a list.
    #[must_use]
    pub fn of(all: impl IntoIterator<Item = Capability>) -> Self {
        let mut all: Vec<Capability> = all.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    /// Whether it has one.
    #[must_use]
    pub fn has(&self, one: Capability) -> bool {
        self.0.contains(&one)
    }

    /// All, sorted.
    #[must_use]
    pub fn all(&self) -> &[Capability] {
        &self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

literals! {
    /// State of a deployment.
    pub enum DeploymentState {
        /// Deployment that answers.
        Ready = "ready",
        /// Deployment whose model is being read into memory.
        Loading = "loading",
        /// Deployment whose model is not in memory; a call reads it.
        Unloaded = "unloaded",
        /// Deployment whose connection has no such model (any more), or not the files of a built-in one.
        Missing = "missing",
        /// Deployment that can't be used.
        Error = "error",
    }

    /// Residency that a deployment is wanted to have in its runtime.
    pub enum MemoryPolicy {
        /// Read when a call comes, and let go when it idles.
        OnDemand = "onDemand",
        /// Kept.
        Pinned = "pinned",
        /// Let go now; a call still reads it.
        Unloaded = "unloaded",
    }
}

/// Residency as it is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The policy.
    pub policy: MemoryPolicy,
    /// Seconds without a call after which it is let go, with `onDemand` alone; none: the runtime's own.
    pub idle_ttl_seconds: Option<u32>,
    /// Tokens of context that it is read with; none: the runtime's own.
    pub context_length: Option<u32>,
    /// The most bytes that the files of the model may have; a larger one is not read. None: no bound.
    pub max_bytes: Option<u64>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { policy: MemoryPolicy::OnDemand, idle_ttl_seconds: None, context_length: None, max_bytes: None }
    }
}

/// Residency as the runtime told it last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Observed {
    /// Whether it is in memory.
    pub loaded: bool,
    /// Bytes that it takes, where the runtime tells them.
    pub bytes: Option<u64>,
    /// Bytes of these on a graphics processor.
    pub vram_bytes: Option<u64>,
    /// Bytes of the model's files, where the runtime tells them: they are known before it is read.
    pub file_bytes: Option<u64>,
    /// Instant at which the runtime lets it go.
    pub expires_at: Option<Timestamp>,
    /// Instant at which it was looked at; none: never.
    pub at: Option<Timestamp>,
}

/// Values that a call has where its body names none; each at most once, by its name on the wire of OpenAI
/// (`temperature`, `top_p`, `max_tokens`, ...).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Defaults(pub Map<String, Value>);

/// Limits of calls; none is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Calls of a minute; as many may come at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Tokens of a minute, question and answer together; estimated before a call and settled behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
    /// Calls that run at a time on a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Milliseconds that a call waits for one of these places before it is refused; none: 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_timeout_ms: Option<u32>,
    /// The most that may be spent in a period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// Waits in milliseconds; none is that of the connection, else the preset one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Timeouts {
    /// Wait until the connection stands; preset 5,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<u32>,
    /// Wait until the first piece of the answer; preset 60,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u32>,
    /// Wait between two pieces; preset 30,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between_tokens_ms: Option<u32>,
    /// Time of the whole call with its repeats; preset 600,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_ms: Option<u32>,
}

impl Timeouts {
    /// These where they are set, and others where not.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            connect_ms: self.connect_ms.or(others.connect_ms),
            first_token_ms: self.first_token_ms.or(others.first_token_ms),
            between_tokens_ms: self.between_tokens_ms.or(others.between_tokens_ms),
            total_ms: self.total_ms.or(others.total_ms),
        }
    }
}

/// Prices of a model's tokens, in millionths of a unit of the currency for a million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceTable {
    /// Number of the table: it grows with each change of the prices, and each usage row names it.
    pub version: u32,
    /// Code of the currency (ISO 4217).
    pub currency: String,
    /// Tokens of the question.
    pub input: i64,
    /// Tokens of the answer, those of reasoning among them.
    pub output: i64,
    /// Tokens of the question that the provider had kept; none: as others of the question.
    pub cached_input: Option<i64>,
}

/// A deployment: a model that callers name.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the deployment.
    pub id: ModelDeploymentId,
    /// Name that callers use beside the id, unique in the organisation.
    pub alias: String,
    /// The connection over which it is called.
    pub connection_id: ModelConnectionId,
    /// Name that the provider knows the model by.
    pub model: String,
    /// Abilities.
    pub capabilities: Capabilities,
    /// The most tokens of a call.
    pub context_length: Option<u32>,
    /// Dimensions of its vectors.
    pub dimensions: Option<u32>,
    /// Values for what a body leaves out.
    pub defaults: Defaults,
    /// Limits of its calls.
    pub limits: Limits,
    /// Waits of its calls.
    pub timeouts: Timeouts,
    /// Deployments that are asked in this order when it fails before its first piece.
    pub fallbacks: Vec<ModelDeploymentId>,
    /// Prices; none: calls cost nothing.
    pub prices: Option<PriceTable>,
    /// Wanted residency.
    pub memory: Memory,
    /// Whether it is read when a server starts.
    pub preload: bool,
    /// Whether callers reach it.
    pub enabled: bool,
    /// State as it was seen last.
    pub state: DeploymentState,
    /// Reason of the state, for people.
    pub state_detail: Option<String>,
    /// Residency as it was seen last.
    pub observed: Observed,
    /// Revision of the model: what answers under another one may answer otherwise, and its vectors are not compared.
    pub model_revision: Option<String>,
    /// Grows with each change; what is seen of it (state, residency) is none.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// The user who created it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// The user who changed it last.
    pub updated_by: UserId,
}
