//! Deployments: models that callers name.

use heddle_kernel::{ModelDeploymentId, Patch, Timestamp};

use super::envelope::{Instant, JsonObject};
use super::model_connections::{
    ModelCapability, ModelLimits, ModelTimeouts, SentModelLimits, SentModelTimeouts,
};
use crate::contract::{json_bodies, path_params};

words! {
    /// State of a deployment.
    enum DeploymentState {
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

    /// Residency that a deployment is to have in its runtime.
    enum MemoryPolicy {
        /// Read when a call comes, let go when it idles.
        OnDemand = "onDemand",
        /// Kept.
        Pinned = "pinned",
        /// Let go now; a call still reads it.
        Unloaded = "unloaded",
    }
}

path_params! {
    /// Path of a deployment.
    DeploymentPath { deployment_id "deploymentId": ModelDeploymentId }
}

response! {
    /// Prices, in millionths of a unit of the currency for a million tokens.
    struct ModelPrices {
        /// Number of the table: it grows with each change, and what is counted names it.
        #[schema(minimum = 1)]
        version: u32,
        /// Code of the currency (ISO 4217).
        currency: String,
        /// Tokens of the question.
        #[schema(minimum = 0)]
        input: i64,
        /// Tokens of the answer, those of reasoning among them.
        #[schema(minimum = 0)]
        output: i64,
        /// Tokens of the question that the provider had kept; null is as others of the question.
        #[schema(required = true, minimum = 0)]
        cached_input: Option<i64>,
    }

    /// Residency as the runtime told it last.
    struct ObservedMemory {
        /// Whether it is in memory.
        loaded: bool,
        /// Bytes that it takes; null where the runtime does not tell.
        #[schema(required = true, minimum = 0)]
        bytes: Option<u64>,
        /// Bytes of these on a graphics processor; null where the runtime does not tell.
        #[schema(required = true, minimum = 0)]
        vram_bytes: Option<u64>,
        /// Instant at which the runtime lets it go; null where it does not tell.
        #[schema(required = true, value_type = Option<Instant>)]
        expires_at: Option<Timestamp>,
        /// Instant at which it was looked at; null before the first time.
        #[schema(required = true, value_type = Option<Instant>)]
        at: Option<Timestamp>,
    }

    /// Residency: as it is wanted, and as it is.
    struct DeploymentMemory {
        /// The policy.
        policy: MemoryPolicy,
        /// Seconds without a call after which it is let go; null is the runtime's own.
        #[schema(required = true)]
        idle_ttl_seconds: Option<u32>,
        /// Tokens of context that it is read with; null is the runtime's own.
        #[schema(required = true)]
        context_length: Option<u32>,
        /// The most bytes that it may take; null is no bound.
        #[schema(required = true)]
        max_bytes: Option<u64>,
        /// As the runtime told it last.
        observed: ObservedMemory,
    }

    /// A deployment: a model that callers name.
    struct Deployment {
        /// Stable identifier.
        id: String,
        /// Name that callers use beside the identifier, unique within the organisation.
        alias: String,
        /// Connection over which it is called.
        connection_id: String,
        /// Name that the provider knows the model by.
        model: String,
        /// Abilities.
        capabilities: Vec<ModelCapability>,
        /// The most tokens of a call; null where it is not known.
        #[schema(required = true, minimum = 1)]
        context_length: Option<u32>,
        /// Dimensions of its vectors; null where it makes none or they are not known.
        #[schema(required = true, minimum = 1)]
        dimensions: Option<u32>,
        /// State as it was seen last.
        state: DeploymentState,
        /// Reason of the state, for people; null where there is none.
        #[schema(required = true)]
        state_detail: Option<String>,
        /// Values for what a call leaves out, by their names in a call.
        #[schema(value_type = Object)]
        defaults: JsonObject,
        /// Limits of its calls.
        limits: ModelLimits,
        /// Waits of its calls.
        timeouts: ModelTimeouts,
        /// Deployments that are asked in this order when it fails before its first piece.
        fallbacks: Vec<String>,
        /// Prices; null where calls cost nothing.
        #[schema(required = true)]
        prices: Option<ModelPrices>,
        /// Residency.
        memory: DeploymentMemory,
        /// Whether it is loaded when a server starts.
        preload: bool,
        /// Whether callers reach it.
        enabled: bool,
        /// Revision of the model; null where the provider tells none.
        #[schema(required = true)]
        model_revision: Option<String>,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
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

    /// A deployment that was brought in line, or would be.
    struct SyncedDeployment {
        /// Stable identifier; of one that would be made another one than it will have.
        id: String,
        /// Name that callers use.
        alias: String,
        /// Connection over which it is called.
        connection_id: String,
        /// Name that the runtime knows the model by.
        model: String,
    }

    /// A runtime that did not answer.
    struct UnreachedRuntime {
        /// Connection to it.
        connection_id: String,
        /// Reason, in words.
        message: String,
    }

    /// Outcome of bringing deployments in line with what runs locally.
    struct LocalSync {
        /// Whether nothing was changed, and this is what would be.
        dry_run: bool,
        /// Deployments that were made.
        created: Vec<SyncedDeployment>,
        /// Deployments that were changed.
        updated: Vec<SyncedDeployment>,
        /// Deployments whose models are there no more.
        missing: Vec<SyncedDeployment>,
        /// Identifiers of those among them that were deleted.
        deleted: Vec<String>,
        /// Number of deployments that are as they should be.
        #[schema(minimum = 0)]
        unchanged: u64,
        /// Runtimes that did not answer.
        unreached: Vec<UnreachedRuntime>,
    }

    /// Dependents on the revision of a model.
    struct AffectedByRevision {
        /// Number of vector databases whose vectors are of another revision now.
        #[schema(minimum = 0)]
        vector_databases: u64,
    }

    /// Outcome of reading the revision of a model anew.
    struct RefreshedRevision {
        /// Revision before; null where none was known.
        #[schema(required = true)]
        previous_revision: Option<String>,
        /// Revision now; null where the provider tells none.
        #[schema(required = true)]
        current_revision: Option<String>,
        /// Whether it is another one.
        changed: bool,
        /// Dependents on the revision.
        affected: AffectedByRevision,
    }
}

request! {
    /// Prices, in millionths of a unit of the currency for a million tokens.
    struct SentModelPrices {
        /// Code of the currency (ISO 4217).
        #[schema(pattern = "^[A-Z]{3}$")]
        currency: String,
        /// Tokens of the question.
        #[schema(minimum = 0)]
        input: i64,
        /// Tokens of the answer, those of reasoning among them.
        #[schema(minimum = 0)]
        output: i64,
        /// Tokens of the question that the provider had kept; as others of the question when absent.
        #[schema(nullable = false, minimum = 0)]
        cached_input: Option<i64>,
    }

    /// A new deployment.
    #[schema(examples(json!({"model": "llama3.2:3b", "alias": "assistant", "defaults": {"temperature": 0.2}})))]
    struct CreateDeployment {
        /// Name that the provider knows the model by.
        #[schema(min_length = 1, max_length = 512)]
        model: String,
        /// Name that callers use, unique within the organisation.
        #[schema(min_length = 1, max_length = 128)]
        alias: String,
        /// Abilities; those of the catalogue when absent.
        #[schema(nullable = false, max_items = 20)]
        capabilities: Option<Vec<ModelCapability>>,
        /// The most tokens of a call; that of the catalogue when absent.
        #[schema(nullable = false, minimum = 1, maximum = 100000000)]
        context_length: Option<u32>,
        /// Dimensions of its vectors; those of the catalogue when absent.
        #[schema(nullable = false, minimum = 1, maximum = 100000)]
        dimensions: Option<u32>,
        /// Values for what a call leaves out, by their names in a call: `temperature`, `max_tokens`, ...
        #[schema(nullable = false, required = false, value_type = Object)]
        defaults: Option<JsonObject>,
        /// Limits of its calls.
        #[schema(nullable = false)]
        limits: Option<SentModelLimits>,
        /// Waits of its calls; those of the connection when absent.
        #[schema(nullable = false)]
        timeouts: Option<SentModelTimeouts>,
        /// Deployments, by identifier, that are asked in this order when it fails before its first piece.
        #[schema(nullable = false, max_items = 10)]
        fallbacks: Option<Vec<String>>,
        /// Prices; calls cost nothing when absent.
        #[schema(nullable = false)]
        prices: Option<SentModelPrices>,
        /// Whether callers reach it; they do when absent.
        #[schema(nullable = false)]
        enabled: Option<bool>,
    }

    /// Changes of a deployment; absent members stay.
    #[schema(examples(json!({"limits": {"tokensPerMinute": 100000}})))]
    struct PatchDeployment {
        /// Name that callers use, unique within the organisation.
        #[schema(nullable = false, min_length = 1, max_length = 128)]
        alias: Option<String>,
        /// Abilities, all of them.
        #[schema(nullable = false, max_items = 20)]
        capabilities: Option<Vec<ModelCapability>>,
        /// The most tokens of a call; null where it is not known.
        #[serde(default)]
        #[schema(value_type = Option<u32>, minimum = 1, maximum = 100000000)]
        context_length: Patch<u32>,
        /// Dimensions of its vectors; null where they are not known.
        #[serde(default)]
        #[schema(value_type = Option<u32>, minimum = 1, maximum = 100000)]
        dimensions: Patch<u32>,
        /// Values for what a call leaves out, all of them.
        #[schema(nullable = false, required = false, value_type = Object)]
        defaults: Option<JsonObject>,
        /// Limits, all of them.
        #[schema(nullable = false)]
        limits: Option<SentModelLimits>,
        /// Waits, all of them.
        #[schema(nullable = false)]
        timeouts: Option<SentModelTimeouts>,
        /// Deployments that are asked when it fails, all of them.
        #[schema(nullable = false, max_items = 10)]
        fallbacks: Option<Vec<String>>,
        /// Prices, all of them; null takes them away.
        #[serde(default)]
        #[schema(value_type = Option<SentModelPrices>)]
        prices: Patch<SentModelPrices>,
        /// Whether callers reach it.
        #[schema(nullable = false)]
        enabled: Option<bool>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which deployments.
    struct DeploymentListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those over this connection.
        #[schema(min_length = 1, max_length = 100)]
        connection_id: Option<String>,
        /// Only those with this ability.
        capability: Option<ModelCapability>,
        /// Only those in this state.
        state: Option<DeploymentState>,
        /// Text that aliases or models must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
    }

    /// Residency, all of it.
    #[schema(examples(json!({"policy": "onDemand", "idleTtlSeconds": 300})))]
    struct SetMemory {
        /// The policy.
        policy: MemoryPolicy,
        /// Seconds without a call after which it is let go, with `onDemand` alone; the runtime's own when absent.
        #[schema(nullable = false, minimum = 1, maximum = 31536000)]
        idle_ttl_seconds: Option<u32>,
        /// Tokens of context that it is read with; the runtime's own when absent.
        #[schema(nullable = false, minimum = 1, maximum = 100000000)]
        context_length: Option<u32>,
        /// The most bytes that it may take: a larger one is not read; no bound when absent.
        #[schema(nullable = false, minimum = 1)]
        max_bytes: Option<u64>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Whether a model is loaded now and at every start.
    #[schema(examples(json!({"enabled": true})))]
    struct SetPreload {
        /// Whether it is.
        enabled: bool,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which revision is expected.
    #[schema(examples(json!({})))]
    struct RefreshRevision {
        /// Revision that the model is expected to have: another one is a 409 that changes nothing.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        expected_revision: Option<String>,
    }

    /// Extent of bringing local deployments in line.
    #[schema(examples(json!({"dryRun": true})))]
    struct SyncLocal {
        /// Only deployments over this connection; over all local ones when absent.
        #[schema(nullable = false, min_length = 1, max_length = 100)]
        connection_id: Option<String>,
        /// Whether nothing is changed and only told what would be.
        #[schema(nullable = false)]
        dry_run: Option<bool>,
        /// Whether deployments are deleted whose models are there no more and that nothing uses.
        #[schema(nullable = false)]
        prune: Option<bool>,
    }
}

json_bodies!(CreateDeployment, PatchDeployment, SetMemory, SetPreload, RefreshRevision, SyncLocal);
