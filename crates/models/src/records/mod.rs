//! Records: connections to providers, their catalogues, deployments, budgets and usage.

mod deployment;
mod provider;
mod usage;

pub use deployment::{
    Capabilities, Capability, Defaults, Deployment, DeploymentState, Limits, Memory, MemoryPolicy, Observed,
    PriceTable, Timeouts,
};
pub use provider::ProviderKind;
pub use usage::{
    Budget, BudgetPeriod, BudgetScope, CallOutcome, CallTokens, Cap, Reservation, Settlement, UsageAxis,
    UsageKey, UsageRow, UsageSums, UsageTotal,
};

use std::collections::BTreeMap;

use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Revision, TenantId, Timestamp, UserId};
use heddle_usecase::secret::{SealedSecret, Secret};
use serde::{Deserialize, Serialize};

pub use heddle_usecase::outside::{Phase, TestResult};

/// The part of a key that is shown: that it is there, since when, and its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretState {
    /// Instant at which it was last set.
    pub updated_at: Timestamp,
    /// End of the key, where it is long enough.
    pub hint: Option<String>,
}

/// Settings of a connection beside its type: what is sent where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConnectionSettings {
    /// Address to which the paths of the wire are added, without a final `/`; none: that of the type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Headers that go with each call, by name; no secrets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Version of the provider's interface, where the type has one (Azure, Anthropic).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Certificates (PEM) of authorities that are trusted beside the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<String>,
}

/// A connection to a provider of models, or to a runtime.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConnection {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the connection.
    pub id: ModelConnectionId,
    /// Name, unique in the organisation.
    pub name: String,
    /// Type of the provider; never changes.
    pub kind: ProviderKind,
    /// Address, headers and the like.
    pub settings: ConnectionSettings,
    /// The key, if there is one.
    pub api_key: Option<SecretState>,
    /// Waits that its deployments have where they name none.
    pub timeouts: Timeouts,
    /// Limits over all of its deployments.
    pub limits: Limits,
    /// Whether its deployments are called.
    pub enabled: bool,
    /// Grows with each change; a test or a discovery is none.
    pub revision: Revision,
    /// Result of the last test.
    pub last_test: Option<TestResult>,
    /// Instant of the last discovery that succeeded.
    pub discovered_at: Option<Timestamp>,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// The user who created it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// The user who changed it last.
    pub updated_by: UserId,
}

/// A connection with its sealed key, both of one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredModelConnection {
    /// The connection.
    pub connection: ModelConnection,
    /// The sealed key.
    pub sealed: Option<SealedSecret>,
}

/// A connection whose key was opened: for whoever speaks to the provider.
#[derive(Debug, Clone)]
pub struct OpenModelConnection {
    /// The connection.
    pub connection: ModelConnection,
    /// The key.
    pub api_key: Option<Secret>,
}

impl OpenModelConnection {
    /// The address to which the paths of the wire are added, without a final `/`; none where neither the connection nor
    /// its type has one.
    #[must_use]
    pub fn base_url(&self) -> Option<&str> {
        let preset = self.connection.kind.provider().default_base_url;
        self.connection.settings.base_url.as_deref().or(preset).map(|url| url.trim_end_matches('/'))
    }
}

/// A model of a connection's catalogue, as its provider told it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogueEntry {
    /// Name that the provider knows the model by.
    pub model: String,
    /// Name for people.
    pub display_name: String,
    /// Abilities, as told or guessed from the name.
    pub capabilities: Capabilities,
    /// The most tokens of a call, question and answer together.
    pub context_length: Option<u32>,
    /// Dimensions of its vectors, where it makes any.
    pub dimensions: Option<u32>,
    /// Digest or revision, where the provider tells one.
    pub revision: Option<String>,
    /// Bytes of its weights, where the runtime tells them.
    pub bytes: Option<u64>,
}

/// A model of a catalogue with what became of it here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueModel {
    /// As the provider told it.
    pub entry: CatalogueEntry,
    /// The deployment of it, if one was made.
    pub deployment: Option<ModelDeploymentId>,
    /// Instant at which it was last seen.
    pub discovered_at: Timestamp,
}

/// Outcome of a discovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// Names of models that were not there before, sorted.
    pub added: Vec<String>,
    /// Names of models that are there no more, sorted.
    pub removed: Vec<String>,
    /// Number of those that are as they were.
    pub unchanged: u64,
    /// Instant of the discovery.
    pub discovered_at: Timestamp,
    /// The catalogue as it is now, by name.
    pub items: Vec<CatalogueModel>,
}

/// A thing that uses another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// Type of the thing: `deployment`, `workflow`, `vector-database`.
    pub kind: &'static str,
    /// Id of the thing.
    pub id: String,
    /// Name of the thing.
    pub name: String,
}
