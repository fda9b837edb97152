//! Uses of vector databases and deployments of models: the nodes of published definitions that name them.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_definitions::DefinitionKey;
use heddle_definitions::ports::DefinitionStore;
use heddle_execution::ports::{database_name, deployment_name};
use heddle_kernel::{DatabaseName, DefinitionKind, ModelDeploymentId, TenantId, UserId, WorkflowId};
use heddle_models::records::Use as ModelUse;
use heddle_usecase::StoreError;
use heddle_vectors::ports::{DatabaseUses, Use, UseKind};
use uuid::Uuid;

/// The most definitions that are told of.
const MOST: usize = 20;

/// A published definition that names something.
struct Naming {
    kind: DefinitionKind,
    id: WorkflowId,
    name: String,
}

/// The published workflows and case types, archived ones apart, that are found by one of these names.
async fn naming(
    definitions: &dyn DefinitionStore,
    tenant: TenantId,
    names: &[String],
) -> Result<Vec<Naming>, StoreError> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for kind in [DefinitionKind::Workflow, DefinitionKind::Case] {
        for name in names {
            for id in definitions.callable(tenant, kind, name).await?.processes {
                if found.len() >= MOST {
                    return Ok(found);
                }
                if !seen.insert(id) {
                    continue;
                }
                let key = DefinitionKey::of_stored(tenant, kind, id);
                match definitions.get(key, UserId(Uuid::nil())).await {
                    Ok(view) => {
                        let name = view.definition.display_name;
                        found.push(Naming { kind, id, name });
                    }
                    // Deleted since.
                    Err(StoreError::NotFound) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(found)
}

/// Published workflows and case types, archived ones apart, by the vector databases that their nodes name.
pub struct DefinitionsOfDatabases(Arc<dyn DefinitionStore>);

impl std::fmt::Debug for DefinitionsOfDatabases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DefinitionsOfDatabases").finish_non_exhaustive()
    }
}

impl DefinitionsOfDatabases {
    /// Over the published definitions.
    #[must_use]
    pub const fn new(definitions: Arc<dyn DefinitionStore>) -> Self {
        Self(definitions)
    }
}

#[async_trait]
impl DatabaseUses for DefinitionsOfDatabases {
    async fn uses(&self, tenant: TenantId, name: &DatabaseName) -> Result<Vec<Use>, StoreError> {
        let found = naming(&*self.0, tenant, &[database_name(name.as_str())]).await?;
        let told = |Naming { kind, id, name }| {
            let kind = match kind {
                DefinitionKind::Workflow => UseKind::Workflow(id),
                DefinitionKind::Case => UseKind::CaseType(id.into()),
            };
            Use { kind, name }
        };
        Ok(found.into_iter().map(told).collect())
    }
}

/// Published workflows and case types, archived ones apart, by the deployments of models that their nodes name.
pub struct DefinitionsOfDeployments(Arc<dyn DefinitionStore>);

impl std::fmt::Debug for DefinitionsOfDeployments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DefinitionsOfDeployments").finish_non_exhaustive()
    }
}

impl DefinitionsOfDeployments {
    /// Over the published definitions.
    #[must_use]
    pub const fn new(definitions: Arc<dyn DefinitionStore>) -> Self {
        Self(definitions)
    }

    /// The definitions that name a deployment by its id or its alias.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn uses(
        &self,
        tenant: TenantId,
        deployment: ModelDeploymentId,
        alias: &str,
    ) -> Result<Vec<ModelUse>, StoreError> {
        let names = [deployment_name(alias), deployment_name(&deployment.to_string())];
        let found = naming(&*self.0, tenant, &names).await?;
        let told = |Naming { kind, id, name }| {
            let kind = match kind {
                DefinitionKind::Workflow => "workflow",
                DefinitionKind::Case => "case-type",
            };
            ModelUse { kind, id: id.to_string(), name }
        };
        Ok(found.into_iter().map(told).collect())
    }
}
