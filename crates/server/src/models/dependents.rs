//! Dependents on deployments: vector databases whose passages they embed, and definitions whose nodes ask them.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{MAX_LIMIT, ModelDeploymentId, PageRequest, TenantId};
use heddle_models::ports::Dependents;
use heddle_models::records::Use;
use heddle_policy::AccessFilter;
use heddle_service_nodes::DefinitionsOfDeployments;
use heddle_store::Db;
use heddle_store_vectors::SqlVectorStore;
use heddle_store_workflows::SqlWorkflowStore;
use heddle_usecase::StoreError;
use heddle_vectors::ports::{DatabaseFilter, VectorStore};
use heddle_vectors::records::VectorDatabase;

/// The most things that are named.
const NAMED: usize = 20;

/// Vector databases by the deployment that embeds for them, and definitions by those that they name.
pub(super) struct UsersOfDeployments {
    databases: Arc<dyn VectorStore>,
    definitions: DefinitionsOfDeployments,
}

impl UsersOfDeployments {
    /// Dependents in a database whose migrations have run.
    pub(super) fn new(db: &Db) -> Self {
        let definitions = DefinitionsOfDeployments::new(Arc::new(SqlWorkflowStore::new(db.clone())));
        Self { databases: Arc::new(SqlVectorStore::new(db.clone())), definitions }
    }

    /// Vector databases whose model goes by one of these names.
    async fn of(&self, tenant: TenantId, names: [&str; 2]) -> Result<Vec<VectorDatabase>, StoreError> {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = PageRequest { limit: MAX_LIMIT, cursor };
            let everything = AccessFilter::everything();
            let read =
                self.databases.list_databases(tenant, &DatabaseFilter::default(), &everything, &page).await?;
            let embeds = |database: &VectorDatabase| {
                database.recipe.model.as_ref().is_some_and(|model| names.contains(&model.id.as_str()))
            };
            found.extend(read.items.into_iter().filter(embeds));
            match read.next {
                Some(next) => cursor = Some(next),
                None => return Ok(found),
            }
        }
    }
}

#[async_trait]
impl Dependents for UsersOfDeployments {
    async fn uses(
        &self,
        tenant: TenantId,
        deployment: ModelDeploymentId,
        alias: &str,
    ) -> Result<Vec<Use>, StoreError> {
        let found = self.of(tenant, [&deployment.to_string(), alias]).await?;
        let named = found.into_iter().take(NAMED).map(|database| Use {
            kind: "vector-database",
            id: database.name.to_string(),
            name: database.name.to_string(),
        });
        let definitions = self.definitions.uses(tenant, deployment, alias).await?;
        Ok(named.chain(definitions).collect())
    }

    /// A vector database keeps the revision that its vectors are of, and whoever embeds for it refuses another one: those
    /// of other revisions are stale by that alone.
    async fn revised(
        &self,
        tenant: TenantId,
        deployment: ModelDeploymentId,
        revision: &str,
    ) -> Result<u64, StoreError> {
        let id = deployment.to_string();
        let found = self.of(tenant, [&id, &id]).await?;
        let is_stale = |database: &&VectorDatabase| {
            database.recipe.model.as_ref().is_some_and(|model| model.revision != revision)
        };
        Ok(found.iter().filter(is_stale).count() as u64)
    }
}
