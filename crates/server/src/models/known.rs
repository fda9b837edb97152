//! Deployments that definitions name, for those who check definitions.

use async_trait::async_trait;
use heddle_kernel::TenantId;
use heddle_models::Gateway;
use heddle_usecase::StoreError;
use heddle_workflows::definitions::KnownDeployments;

/// Deployments as the gateway finds them.
pub(crate) struct KnownModels(pub Gateway);

#[async_trait]
impl KnownDeployments for KnownModels {
    async fn is_known(&self, tenant: TenantId, name: &str) -> Result<bool, StoreError> {
        match self.0.find(tenant, name).await {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
