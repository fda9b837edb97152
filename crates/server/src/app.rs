//! Application state: the service as every handler reaches it.

use std::sync::Arc;

use heddle_blobs::BlobStore;
use heddle_cases::Cases;
use heddle_cases::definitions::CaseTypes;
use heddle_connections::rotation::Keys;
use heddle_connections::{Connections, Hooks, Webhooks};
use heddle_edge::Edge;
use heddle_egress::Egress;
use heddle_identity::Identity;
use heddle_installation::audit_keeper::AuditKeeper;
use heddle_installation::config::Config;
use heddle_installation::denials::Denials;
use heddle_installation::keyring::InstallationKeyring;
use heddle_installation::sign_ins::SignIns;
use heddle_kernel::{Clock as _, IdSource as _, RequestId, TenantId, Timestamp, WebhookId};
use heddle_runtime::{ComputePool, EventNotifier, RandomIds, ServerClock, WebhookChanges, Worker};
use heddle_store::Db;
use heddle_vector_service::Vectors;
use heddle_workflows::definitions::Definitions;
use heddle_workflows::runs::Runs;
use tokio::sync::watch;

use crate::last_write::LastWrite;
use crate::models::Models;

/// The composed service.
pub struct App {
    /// Configuration that it was started with.
    pub config: Config,
    /// The database, for the health checks alone.
    pub db: Db,
    /// Accounts, sessions, rights, licence, audit.
    pub identity: Arc<Identity>,
    /// Sign-in by providers.
    pub(crate) sign_ins: SignIns,
    /// Workflow definitions.
    pub definitions: Definitions,
    /// Case types.
    pub case_types: CaseTypes,
    /// Connections to services outside.
    pub connections: Connections,
    /// Webhooks.
    pub webhooks: Arc<Webhooks>,
    /// Hooks.
    pub hooks: Hooks,
    /// Receiver of changes of webhooks.
    pub(crate) webhook_changes: WebhookChanges,
    /// Vector databases.
    pub(crate) vectors: Arc<Vectors>,
    /// Models.
    pub(crate) models: Arc<Models>,
    /// The bytes of files.
    pub(crate) blobs: Arc<BlobStore>,
    /// The way out of the process.
    pub egress: Egress,
    /// Keys that secrets are sealed with.
    pub(crate) keyring: Arc<InstallationKeyring>,
    /// Use case that wraps secrets anew.
    pub(crate) keys: Keys,
    /// Runs.
    pub runs: Arc<Runs>,
    /// Cases.
    pub cases: Cases,
    /// Tells of commits.
    pub hub: Arc<EventNotifier>,
    /// Threads for what computes for long.
    pub compute: Arc<ComputePool>,
    /// The loops.
    pub worker: Arc<Worker>,
    /// The present time.
    pub clock: Arc<ServerClock>,
    /// New ids.
    pub ids: RandomIds,
    /// Refusals on their way to the audit log.
    pub denials: Denials,
    /// The audit trail's chains, and what keeps them.
    pub audit: Arc<AuditKeeper>,
    /// Counts and rates of the edge.
    pub(crate) edge: Edge,
    /// Last try to write, of the readiness.
    pub(crate) last_write: LastWrite,
    /// Turns true when the server stops.
    pub stop: watch::Receiver<bool>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").finish_non_exhaustive()
    }
}

impl App {
    /// The present time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Consequences from a change of a webhook, or of what it sends over. The change holds in any case.
    pub(crate) async fn webhook_changed(&self, tenant: TenantId, webhook: WebhookId) {
        if let Err(error) = self.webhook_changes.changed(tenant, webhook.0).await {
            tracing::warn!(%error, %webhook, "what waits for a webhook is looked at later");
        }
    }

    /// The request's id: the caller's if it is legal, else one made here.
    #[must_use]
    pub fn request_id(&self, given: Option<&str>) -> RequestId {
        given
            .and_then(RequestId::from_caller)
            .unwrap_or_else(|| RequestId::made(self.ids.next(self.clock.now())))
    }
}
