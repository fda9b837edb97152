//! Routes: deployments with their opened connections, kept between calls for as long as nothing of them was changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use heddle_kernel::{ModelDeploymentId, TenantId};
use heddle_models_wire::Target;
use heddle_usecase::StoreError;
use tokio::time::Instant;

use super::error::GatewayError;
use crate::UseCaseError;
use crate::defaults::CallDefaults;
use crate::keys::Opening;
use crate::ports::ModelStore;
use crate::records::{Deployment, Memory, MemoryPolicy, OpenModelConnection, Timeouts};

/// Routes that are kept at most.
const KEPT: usize = 10_000;
/// No route is kept for longer, should the numbers ever be wrong.
const LONGEST: Duration = Duration::from_secs(60);

/// Preset waits.
const PRESET: Timeouts = Timeouts {
    connect_ms: Some(5_000),
    first_token_ms: Some(60_000),
    between_tokens_ms: Some(30_000),
    total_ms: Some(600_000),
};

/// Waits of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waits {
    pub(crate) connect: Duration,
    pub(crate) first: Duration,
    pub(crate) between: Duration,
    pub(crate) total: Duration,
}

/// A deployment that can be called.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) deployment: Deployment,
    pub(crate) connection: OpenModelConnection,
    /// The wire; none for models inside this service.
    pub(crate) target: Option<Target>,
    pub(crate) waits: Waits,
    pub(crate) defaults: CallDefaults,
    /// Bytes of its model, where these are more than it may have: a call would read it.
    too_large: Option<u64>,
}

/// Seconds for which a runtime keeps a model behind a call; none: as it is set up.
fn keep_alive(memory: &Memory) -> Option<i64> {
    match (memory.policy, memory.idle_ttl_seconds) {
        (MemoryPolicy::Pinned, _) => Some(-1),
        (MemoryPolicy::OnDemand, Some(seconds)) => Some(i64::from(seconds)),
        (MemoryPolicy::OnDemand | MemoryPolicy::Unloaded, _) => None,
    }
}

impl Route {
    fn of(deployment: Deployment, connection: OpenModelConnection, too_large: Option<u64>) -> Self {
        let record = &connection.connection;
        let target = record.kind.provider().family.map(|family| Target {
            azure_api_version: record.settings.api_version.clone(),
            keep_alive: keep_alive(&deployment.memory),
            context_length: deployment.memory.context_length,
            ..Target::new(family, deployment.model.clone())
        });
        let timeouts = deployment.timeouts.or(record.timeouts).or(PRESET);
        let wait = |millis: Option<u32>| Duration::from_millis(u64::from(millis.unwrap_or(u32::MAX)));
        let waits = Waits {
            connect: wait(timeouts.connect_ms),
            first: wait(timeouts.first_token_ms),
            between: wait(timeouts.between_tokens_ms),
            total: wait(timeouts.total_ms),
        };
        let defaults = CallDefaults::of(&deployment);
        Self { deployment, connection, target, waits, defaults, too_large }
    }

    /// Whether callers reach it.
    pub(crate) const fn is_enabled(&self) -> bool {
        self.deployment.enabled && self.connection.connection.enabled
    }

    /// Looks whether callers reach it, and its model may be read.
    ///
    /// # Errors
    /// `Disabled`; `Inner` (`modelTooLarge`).
    pub(crate) fn check(&self) -> Result<(), GatewayError> {
        if !self.is_enabled() {
            return Err(GatewayError::Disabled);
        }
        match (self.too_large, self.deployment.memory.max_bytes) {
            (Some(bytes), Some(most)) => {
                let message = format!("The model has {bytes} bytes; {most} are allowed.");
                Err(UseCaseError::conflict("modelTooLarge", message).into())
            }
            (Some(_) | None, _) => Ok(()),
        }
    }
}

struct Kept {
    version: u64,
    since: Instant,
    route: Arc<Route>,
}

/// The routes of a node.
pub(crate) struct Routes {
    store: Arc<dyn ModelStore>,
    opening: Opening,
    kept: Mutex<HashMap<(TenantId, ModelDeploymentId), Kept>>,
    /// Ids by alias, with the version that they were read at.
    names: Mutex<HashMap<(TenantId, String), (u64, ModelDeploymentId)>>,
}

impl std::fmt::Debug for Routes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routes").finish_non_exhaustive()
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Routes {
    pub(crate) fn new(store: Arc<dyn ModelStore>, opening: Opening) -> Self {
        Self { store, opening, kept: Mutex::default(), names: Mutex::default() }
    }

    /// Id of the deployment of a name: an alias or an id.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub(crate) async fn find(&self, tenant: TenantId, name: &str) -> Result<ModelDeploymentId, StoreError> {
        let version = self.store.version(tenant).await?;
        let key = (tenant, name.to_owned());
        if let Some((at, id)) = locked(&self.names).get(&key).copied()
            && at == version
        {
            return Ok(id);
        }
        let found = match name.parse::<ModelDeploymentId>() {
            Ok(id) => self.store.deployment(tenant, id).await?.id,
            Err(_alias) => self.store.by_alias(tenant, name).await?.id,
        };
        let mut names = locked(&self.names);
        if names.len() >= KEPT {
            names.clear();
        }
        names.insert(key, (version, found));
        Ok(found)
    }

    /// Bytes of a deployment's model, where these are known to be more than it may have.
    async fn too_large(&self, deployment: &Deployment) -> Result<Option<u64>, StoreError> {
        let Some(most) = deployment.memory.max_bytes else { return Ok(None) };
        let bytes = match deployment.observed.file_bytes {
            Some(bytes) => Some(bytes),
            None => crate::catalogue::bytes_of(&*self.store, deployment).await?,
        };
        Ok(bytes.filter(|bytes| *bytes > most))
    }

    /// Route of a deployment, as it is at present.
    ///
    /// # Errors
    /// `NotFound`; `Inner` when the key does not open, or the database is not there.
    pub(crate) async fn of(
        &self,
        tenant: TenantId,
        id: ModelDeploymentId,
    ) -> Result<Arc<Route>, GatewayError> {
        let version = self.store.version(tenant).await?;
        if let Some(kept) = locked(&self.kept).get(&(tenant, id))
            && kept.version == version
            && kept.since.elapsed() < LONGEST
        {
            return Ok(kept.route.clone());
        }
        let deployment = self.store.deployment(tenant, id).await?;
        let connection = self.opening.open(tenant, deployment.connection_id).await?;
        let too_large = self.too_large(&deployment).await?;
        let route = Arc::new(Route::of(deployment, connection, too_large));
        let mut all = locked(&self.kept);
        if all.len() >= KEPT {
            all.clear();
        }
        all.insert((tenant, id), Kept { version, since: Instant::now(), route: route.clone() });
        Ok(route)
    }
}
