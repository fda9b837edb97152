//! The store of models.

use async_trait::async_trait;
use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Page, PageRequest, Revision, TenantId};
use heddle_models::ports::{
    CatalogueFilter, CatalogueWrite, ConnectionFilter, ConnectionWrite, Deleted, DeploymentChange,
    DeploymentFilter, ModelStore, Most, SeenState,
};
use heddle_models::records::{
    CatalogueModel, Deployment, ModelConnection, StoredModelConnection, TestResult,
};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{Db, StoreError, read};
use heddle_usecase::Journal;

use crate::{catalogue, deployments, provider_connections, version};

/// Keeps connections to providers, deployments, usage and budgets.
#[derive(Clone)]
pub struct SqlModelStore {
    pub(crate) db: Db,
}

impl std::fmt::Debug for SqlModelStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlModelStore").finish_non_exhaustive()
    }
}

impl SqlModelStore {
    /// Store on a database whose migrations have run.
    #[must_use]
    pub const fn new(db: Db) -> Self {
        Self { db }
    }
}

#[async_trait]
impl ModelStore for SqlModelStore {
    async fn version(&self, tenant: TenantId) -> Result<u64, StoreError> {
        version::present(&self.db, tenant).await
    }

    async fn connections(
        &self,
        tenant: TenantId,
        filter: &ConnectionFilter,
        access: &AccessFilter<resource::ModelConnection>,
        page: &PageRequest,
    ) -> Result<Page<ModelConnection>, StoreError> {
        provider_connections::list(&self.db, tenant, filter, access, page).await
    }

    async fn connection(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
    ) -> Result<ModelConnection, StoreError> {
        provider_connections::get(&self.db, tenant, id).await
    }

    async fn local_connections(&self, tenant: TenantId) -> Result<Vec<ModelConnection>, StoreError> {
        provider_connections::local(&self.db, tenant).await
    }

    async fn stored(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
    ) -> Result<StoredModelConnection, StoreError> {
        provider_connections::stored(&self.db, tenant, id).await
    }

    async fn insert_connection<'a>(
        &self,
        write: ConnectionWrite<'a>,
        most: u64,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        provider_connections::insert(&self.db, write, most, journal).await
    }

    async fn update_connection<'a>(
        &self,
        write: ConnectionWrite<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        provider_connections::update(&self.db, write, expected, journal).await
    }

    async fn delete_connection(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
        expected: Option<Revision>,
        cascade: &[ModelDeploymentId],
        journal: &Journal,
    ) -> Result<Deleted, StoreError> {
        provider_connections::delete(&self.db, (tenant, id), expected, cascade, journal).await
    }

    async fn tested(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
        result: &TestResult,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        provider_connections::tested(&self.db, (tenant, id), result, journal).await
    }

    async fn catalogue(
        &self,
        tenant: TenantId,
        connection: ModelConnectionId,
        filter: &CatalogueFilter,
        page: &PageRequest,
    ) -> Result<Page<CatalogueModel>, StoreError> {
        catalogue::list(&self.db, (tenant, connection), filter, page).await
    }

    async fn whole_catalogue(
        &self,
        tenant: TenantId,
        connection: ModelConnectionId,
    ) -> Result<Vec<CatalogueModel>, StoreError> {
        catalogue::whole(&self.db, (tenant, connection)).await
    }

    async fn discovered<'a>(&self, write: CatalogueWrite<'a>, journal: &Journal) -> Result<(), StoreError> {
        catalogue::discovered(&self.db, write, journal).await
    }

    async fn deployments(
        &self,
        tenant: TenantId,
        filter: &DeploymentFilter,
        access: &AccessFilter<resource::Deployment>,
        page: &PageRequest,
    ) -> Result<Page<Deployment>, StoreError> {
        deployments::list(&self.db, tenant, filter, access, page).await
    }

    async fn models(
        &self,
        tenant: TenantId,
        filter: &DeploymentFilter,
        access: &AccessFilter<resource::Model>,
        page: &PageRequest,
    ) -> Result<Page<Deployment>, StoreError> {
        deployments::list(&self.db, tenant, filter, access, page).await
    }

    async fn deployment(&self, tenant: TenantId, id: ModelDeploymentId) -> Result<Deployment, StoreError> {
        deployments::get(&self.db, tenant, id).await
    }

    async fn by_alias(&self, tenant: TenantId, alias: &str) -> Result<Deployment, StoreError> {
        deployments::by_alias(&self.db, tenant, alias).await
    }

    async fn deployments_of(
        &self,
        tenant: TenantId,
        connection: ModelConnectionId,
    ) -> Result<Vec<Deployment>, StoreError> {
        deployments::of_connection(&self.db, tenant, connection).await
    }

    async fn embedding_deployments(&self, tenant: TenantId) -> Result<Vec<Deployment>, StoreError> {
        deployments::embedding(&self.db, tenant).await
    }

    async fn deployments_by_id(
        &self,
        tenant: TenantId,
        ids: &[ModelDeploymentId],
    ) -> Result<Vec<Deployment>, StoreError> {
        deployments::by_id(&self.db, tenant, ids).await
    }

    async fn change_deployments(
        &self,
        tenant: TenantId,
        change: &DeploymentChange,
        most: Most,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        deployments::change(&self.db, tenant, change, most, journal).await
    }

    async fn delete_deployment(
        &self,
        tenant: TenantId,
        id: ModelDeploymentId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError> {
        deployments::delete(&self.db, tenant, id, expected, journal).await
    }

    async fn is_fallback(&self, tenant: TenantId, id: ModelDeploymentId) -> Result<bool, StoreError> {
        deployments::is_fallback(&self.db, tenant, id).await
    }

    async fn seen(&self, states: &[SeenState]) -> Result<(), StoreError> {
        deployments::seen(&self.db, states).await
    }

    async fn inside(
        &self,
        after: Option<(TenantId, ModelDeploymentId)>,
        limit: u32,
    ) -> Result<Vec<Deployment>, StoreError> {
        deployments::inside(&self.db, after, limit).await
    }

    async fn deployments_in_all(&self) -> Result<u64, StoreError> {
        read!(&self.db, |conn| version::in_all(conn).await)
    }

    async fn resident(
        &self,
        after: Option<(TenantId, ModelDeploymentId)>,
        limit: u32,
    ) -> Result<Vec<Deployment>, StoreError> {
        deployments::resident(&self.db, after, limit).await
    }
}
