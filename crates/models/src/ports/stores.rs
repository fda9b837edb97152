//! Stores of connections to providers, their catalogues and deployments.

use async_trait::async_trait;
use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Page, PageRequest, Revision, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::secret::SealedSecret;
use heddle_usecase::{Journal, StoreError};

use crate::records::{
    Capability, CatalogueEntry, CatalogueModel, Deployment, DeploymentState, ModelConnection, Observed,
    StoredModelConnection, TestResult, Use,
};
use crate::types::ProviderKind;

/// Filter for connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectionFilter {
    /// A part of the name, in any case.
    pub q: Option<String>,
    /// The type.
    pub kind: Option<ProviderKind>,
    /// Enabled ones alone (or only others).
    pub enabled: Option<bool>,
}

/// Filter for deployments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeploymentFilter {
    /// A part of the alias or of the model's name, in any case.
    pub q: Option<String>,
    /// The connection.
    pub connection: Option<ModelConnectionId>,
    /// An ability that it has.
    pub capability: Option<Capability>,
    /// The state.
    pub state: Option<DeploymentState>,
    /// Enabled ones over enabled connections alone: those that can be called.
    pub callable: bool,
}

/// Filter for a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogueFilter {
    /// A part of the name, in any case.
    pub q: Option<String>,
    /// An ability.
    pub capability: Option<Capability>,
}

/// A connection to write.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionWrite<'a> {
    /// The connection as it shall be.
    pub connection: &'a ModelConnection,
    /// The key: none leaves it as it is, `Some(None)` takes it away.
    pub sealed: Option<&'a Option<SealedSecret>>,
}

/// A catalogue as it was discovered.
#[derive(Debug, Clone, Copy)]
pub struct CatalogueWrite<'a> {
    /// The organisation.
    pub tenant: TenantId,
    /// The connection.
    pub connection: ModelConnectionId,
    /// All models that there are.
    pub entries: &'a [CatalogueEntry],
    /// Instant of the discovery.
    pub at: Timestamp,
}

/// A change of deployments of an organisation, written whole or not at all.
#[derive(Debug, Clone, Default)]
pub struct DeploymentChange {
    /// Deployments to add.
    pub insert: Vec<Deployment>,
    /// Deployments to write over the revision behind each.
    pub update: Vec<(Deployment, Revision)>,
    /// Deployments to take away with their tombstones.
    pub delete: Vec<ModelDeploymentId>,
}

/// The most deployments; none is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Those of the organisation.
    pub own: u64,
    /// Those of all organisations together, by the licence.
    pub licensed: Option<u64>,
}

/// Name of the quota of the licence, where it is the one that is exceeded.
pub const LICENSED: &str = "licensedDeployments";

/// State of a deployment as it was seen: the row's revision stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenState {
    /// The organisation.
    pub tenant: TenantId,
    /// The deployment.
    pub id: ModelDeploymentId,
    /// The state.
    pub state: DeploymentState,
    /// Reason of the state, for people.
    pub detail: Option<String>,
    /// The residency.
    pub observed: Observed,
}

/// Outcome of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deleted {
    /// Deletion by this call.
    Now,
    /// Deletion by an earlier call.
    Before,
    /// Refusal: these use it, at most 20 of them; nothing was deleted.
    InUse(Vec<Use>),
}

/// Keeps connections, catalogues and deployments. Whatever it writes of connections and deployments (their seen states
/// aside) changes what [`Self::version`] gives.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait ModelStore: Send + Sync {
    /// Number that differs from an earlier one when connections or deployments of the organisation were changed in
    /// between: what was read of them after a number was looked at holds while it is the same.
    async fn version(&self, tenant: TenantId) -> Result<u64, StoreError>;

    /// A page of the connections within reach, by name.
    async fn connections(
        &self,
        tenant: TenantId,
        filter: &ConnectionFilter,
        access: &AccessFilter<resource::ModelConnection>,
        page: &PageRequest,
    ) -> Result<Page<ModelConnection>, StoreError>;

    /// A connection.
    async fn connection(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
    ) -> Result<ModelConnection, StoreError>;

    /// All connections of the organisation whose providers run on its own machines, or inside this service, by name;
    /// bounded by the quota of connections.
    async fn local_connections(&self, tenant: TenantId) -> Result<Vec<ModelConnection>, StoreError>;

    /// A connection with its sealed key, both of one revision: a key never goes to where another revision points.
    async fn stored(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
    ) -> Result<StoredModelConnection, StoreError>;

    /// Adds a connection. `QuotaExceeded` when the organisation has `most`, `Duplicate` for a name that is taken,
    /// `NotFound` when the organisation was deleted.
    async fn insert_connection<'a>(
        &self,
        write: ConnectionWrite<'a>,
        most: u64,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Writes a connection over the expected revision; the result of the last test and the instant of the last discovery
    /// stay. `Duplicate` for a name that is taken.
    async fn update_connection<'a>(
        &self,
        write: ConnectionWrite<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes a connection with its key and its catalogue; leaves a tombstone. `Stale` when `expected` is another
    /// revision. With deployments it is `InUse`, unless these are all of them: then they are deleted with it.
    async fn delete_connection(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
        expected: Option<Revision>,
        cascade: &[ModelDeploymentId],
        journal: &Journal,
    ) -> Result<Deleted, StoreError>;

    /// Writes the result of a test; the revision stays. A result of an older test than the one that is there is not
    /// written, its journal is.
    async fn tested(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
        result: &TestResult,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// A page of a connection's catalogue, by the model's name. `NotFound` without such a connection.
    async fn catalogue(
        &self,
        tenant: TenantId,
        connection: ModelConnectionId,
        filter: &CatalogueFilter,
        page: &PageRequest,
    ) -> Result<Page<CatalogueModel>, StoreError>;

    /// The whole catalogue of a connection, by the model's name; bounded by what a discovery may write.
    async fn whole_catalogue(
        &self,
        tenant: TenantId,
        connection: ModelConnectionId,
    ) -> Result<Vec<CatalogueModel>, StoreError>;

    /// Writes a catalogue in the place of the one that is there. `Stale` when a later discovery was written.
    async fn discovered<'a>(&self, write: CatalogueWrite<'a>, journal: &Journal) -> Result<(), StoreError>;

    /// A page of the deployments within reach, by alias.
    async fn deployments(
        &self,
        tenant: TenantId,
        filter: &DeploymentFilter,
        access: &AccessFilter<resource::Deployment>,
        page: &PageRequest,
    ) -> Result<Page<Deployment>, StoreError>;

    /// A page of what can be called: deployments within reach as models, by alias.
    async fn models(
        &self,
        tenant: TenantId,
        filter: &DeploymentFilter,
        access: &AccessFilter<resource::Model>,
        page: &PageRequest,
    ) -> Result<Page<Deployment>, StoreError>;

    /// A deployment.
    async fn deployment(&self, tenant: TenantId, id: ModelDeploymentId) -> Result<Deployment, StoreError>;

    /// A deployment by its alias.
    async fn by_alias(&self, tenant: TenantId, alias: &str) -> Result<Deployment, StoreError>;

    /// All deployments of a connection, by alias; bounded by the quota of deployments.
    async fn deployments_of(
        &self,
        tenant: TenantId,
        connection: ModelConnectionId,
    ) -> Result<Vec<Deployment>, StoreError>;

    /// Deployments that embed and can be called, by alias; bounded by the quota of deployments.
    async fn embedding_deployments(&self, tenant: TenantId) -> Result<Vec<Deployment>, StoreError>;

    /// Deployments by their ids, in any order; those that are not there are left out.
    async fn deployments_by_id(
        &self,
        tenant: TenantId,
        ids: &[ModelDeploymentId],
    ) -> Result<Vec<Deployment>, StoreError>;

    /// Writes a change of deployments, whole or not at all; what is seen of those that are written (state, residency)
    /// stays. `QuotaExceeded` when the organisation would have more than it may, with the limit [`LICENSED`] when all
    /// organisations together would; `Duplicate` for an alias that is taken; `NotFound` when a connection or a fallback is gone, `Stale` for another revision.
    async fn change_deployments(
        &self,
        tenant: TenantId,
        change: &DeploymentChange,
        most: Most,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes a deployment; leaves a tombstone. `Stale` when `expected` is another revision; `InUse` while another has
    /// it among its fallbacks.
    async fn delete_deployment(
        &self,
        tenant: TenantId,
        id: ModelDeploymentId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError>;

    /// Whether another deployment has it among its fallbacks.
    async fn is_fallback(&self, tenant: TenantId, id: ModelDeploymentId) -> Result<bool, StoreError>;

    /// Writes states as they were seen; those of deployments that are gone are dropped.
    async fn seen(&self, states: &[SeenState]) -> Result<(), StoreError>;

    /// Deployments of all organisations over connections to the models inside this service, behind a key, in the order of
    /// their keys: for whoever writes what is seen of those models.
    async fn inside(
        &self,
        after: Option<(TenantId, ModelDeploymentId)>,
        limit: u32,
    ) -> Result<Vec<Deployment>, StoreError>;

    /// Number of the deployments of all organisations together, kept and not counted: for the licence.
    async fn deployments_in_all(&self) -> Result<u64, StoreError>;

    /// Deployments of all organisations whose residency somebody has to look after (preloaded, or with a memory that is not
    /// the usual one), behind a key, in the order of their keys: for the reconciler.
    async fn resident(
        &self,
        after: Option<(TenantId, ModelDeploymentId)>,
        limit: u32,
    ) -> Result<Vec<Deployment>, StoreError>;
}
