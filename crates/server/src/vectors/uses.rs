//! What names vector databases.

use async_trait::async_trait;
use heddle_kernel::{DatabaseName, TenantId};
use heddle_usecase::StoreError;
use heddle_vectors::ports::{DatabaseUses, Use};

/// No element of a workflow or a case has a setting that names a vector database: nothing keeps one from being deleted.
pub(super) struct NoDefinitionNamesOne;

#[async_trait]
impl DatabaseUses for NoDefinitionNamesOne {
    async fn uses(&self, _tenant: TenantId, _name: &DatabaseName) -> Result<Vec<Use>, StoreError> {
        Ok(Vec::new())
    }
}
