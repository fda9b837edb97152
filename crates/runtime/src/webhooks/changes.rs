//! Changes of webhooks: what follows from them here.

use std::sync::Arc;

use heddle_kernel::TenantId;
use heddle_usecase::StoreError;
use uuid::Uuid;

use super::{WebhookDirectory, lane_of};
use crate::runner::Runner;

/// Receiver of the news that a webhook was made, changed or deleted.
#[derive(Debug, Clone)]
pub struct WebhookChanges {
    directory: Arc<WebhookDirectory>,
    runner: Arc<Runner>,
}

impl WebhookChanges {
    /// Receiver for these two.
    #[must_use]
    pub const fn new(directory: Arc<WebhookDirectory>, runner: Arc<Runner>) -> Self {
        Self { directory, runner }
    }

    /// A webhook was made, changed or deleted: from now on commits of this node know it, and what waited for it is looked
    /// at again.
    ///
    /// # Errors
    /// `Unavailable`: the change holds all the same, a little later.
    pub async fn changed(&self, tenant: TenantId, webhook: Uuid) -> Result<(), StoreError> {
        self.directory.forget(tenant);
        self.runner.hasten(&lane_of(tenant, webhook)).await
    }
}
