//! Uses of vector databases: the nodes of published definitions that name them.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_definitions::DefinitionKey;
use heddle_definitions::ports::DefinitionStore;
use heddle_execution::ports::database_name;
use heddle_kernel::{DatabaseName, DefinitionKind, TenantId, UserId};
use heddle_usecase::StoreError;
use heddle_vectors::ports::{DatabaseUses, Use};
use uuid::Uuid;

/// The most definitions that are told of.
const MOST: usize = 20;

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
        let (name, nobody) = (database_name(name.as_str()), UserId(Uuid::nil()));
        let mut uses = Vec::new();
        for (kind, word) in [(DefinitionKind::Workflow, "workflow"), (DefinitionKind::Case, "case-type")] {
            let found = self.0.callable(tenant, kind, &name).await?;
            for id in found.processes {
                if uses.len() >= MOST {
                    return Ok(uses);
                }
                match self.0.get(DefinitionKey::of_stored(tenant, kind, id), nobody).await {
                    Ok(view) => {
                        uses.push(Use { kind: word, id: id.to_string(), name: view.definition.display_name })
                    }
                    // Deleted since.
                    Err(StoreError::NotFound) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(uses)
    }
}
