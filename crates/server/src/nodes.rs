//! Models for the nodes of workflows: the gateway, with the present rights of whoever started the run, or, where nobody
//! did, of who published its version.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_identity::Identity;
use heddle_kernel::{ModelDeploymentId, TenantId, UserId};
use heddle_models::{Caller as ModelCaller, Gateway, GatewayError, untold};
use heddle_models_wire::{ChatRequest, EmbeddingRequest};
use heddle_nodes::{CallFault, Caller, FaultKind, ModelCalls};
use heddle_policy::capability::{DeploymentChat, DeploymentEmbed};
use heddle_policy::{Capability, resource};
use heddle_runtime::{NodeExecutor, ServerClock};
use heddle_usecase::errand::Executor;
use heddle_usecase::{StoreError, UseCaseError};
use heddle_workflows::definitions::KnownDeployments;
use heddle_workflows::ports::WorkflowStore;
use heddle_workflows::runs::Runs;
use serde_json::{Map, Value};

/// The executor of the nodes that this service does itself.
pub(crate) fn executor(
    runs: &Arc<Runs>,
    models: &Arc<GatewayModels>,
    clock: &Arc<ServerClock>,
) -> Arc<dyn Executor> {
    Arc::new(NodeExecutor::new(Arc::clone(runs), models.clone(), Arc::clone(clock)))
}

/// Models for nodes.
pub(crate) struct GatewayModels {
    gateway: Gateway,
    identity: Arc<Identity>,
    definitions: Arc<dyn WorkflowStore>,
}

impl GatewayModels {
    /// Over the gateway, the rights of users and the versions of definitions.
    pub(crate) fn new(
        gateway: Gateway,
        identity: Arc<Identity>,
        definitions: Arc<dyn WorkflowStore>,
    ) -> Self {
        Self { gateway, identity, definitions }
    }

    /// The user in whose name a node asks.
    async fn principal(&self, caller: &Caller) -> Result<UserId, CallFault> {
        if let Some(user) = caller.started_by {
            return Ok(user);
        }
        match self.definitions.version(caller.tenant, caller.workflow, caller.version).await {
            Ok((version, _)) => Ok(version.published_by),
            Err(StoreError::NotFound) => {
                Err(fault(FaultKind::Denied, "Nobody is known in whose name the run could ask a model."))
            }
            Err(error) => Err(stored(&error)),
        }
    }

    /// The caller of a deployment, once their present rights allow it.
    async fn authorized<C>(&self, caller: &Caller, name: &str) -> Result<Allowed, CallFault>
    where
        C: Capability<On = resource::Deployment>,
    {
        let principal = self.principal(caller).await?;
        let rights = self.identity.present_rights(caller.tenant, principal).await;
        let rights = rights.map_err(|error| fault(FaultKind::Unavailable, &error.to_string()))?;
        // Whoever may not use it learns nothing about whether it is there.
        let denied = || {
            let message =
                "Whoever started the run may not use the deployment, or there is none of this name.";
            fault(FaultKind::Denied, message)
        };
        let rights = rights.ok_or_else(denied)?;
        let id = match self.gateway.find(caller.tenant, name).await {
            Ok(id) => id,
            Err(StoreError::NotFound) => return Err(denied()),
            Err(error) => return Err(stored(&error)),
        };
        if rights.authorize_one::<C>(id, ()).is_err() {
            return Err(denied());
        }
        let caller = ModelCaller {
            tenant: caller.tenant,
            principal,
            workflow: Some(caller.workflow),
            request_id: caller.key(),
            rights: Some(rights),
        };
        Ok(Allowed { caller, id })
    }
}

#[async_trait]
impl KnownDeployments for GatewayModels {
    async fn is_known(&self, tenant: TenantId, name: &str) -> Result<bool, StoreError> {
        match self.gateway.find(tenant, name).await {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A caller who may use a deployment.
struct Allowed {
    caller: ModelCaller,
    id: ModelDeploymentId,
}

#[async_trait]
impl ModelCalls for GatewayModels {
    async fn chat(
        &self,
        caller: &Caller,
        request: Map<String, Value>,
        time: Duration,
    ) -> Result<Value, CallFault> {
        let request = ChatRequest::of(&request).map_err(|error| told(&GatewayError::Request(error)))?;
        let Allowed { caller, id } = self.authorized::<DeploymentChat>(caller, request.model()).await?;
        let asked = self.gateway.chat_as(&caller, id, request, untold());
        let answer = tokio::time::timeout(time, asked).await.map_err(|_elapsed| late(time))?;
        let answer = answer.map_err(|error| told(&error))?;
        read(&answer.response.body)
    }

    async fn embed(
        &self,
        caller: &Caller,
        request: Map<String, Value>,
        time: Duration,
    ) -> Result<Value, CallFault> {
        let body =
            serde_json::to_vec(&request).map_err(|error| fault(FaultKind::Refused, &error.to_string()))?;
        let request =
            EmbeddingRequest::read(body.into()).map_err(|error| told(&GatewayError::Request(error)))?;
        let Allowed { caller, id } = self.authorized::<DeploymentEmbed>(caller, request.model()).await?;
        let asked = self.gateway.embed_as(&caller, id, request, untold());
        let answer = tokio::time::timeout(time, asked).await.map_err(|_elapsed| late(time))?;
        let answer = answer.map_err(|error| told(&error))?;
        read(&answer.response.body)
    }
}

fn read(body: &[u8]) -> Result<Value, CallFault> {
    serde_json::from_slice(body)
        .map_err(|_error| fault(FaultKind::Unavailable, "The provider's answer does not read."))
}

fn fault(kind: FaultKind, message: &str) -> CallFault {
    CallFault { kind, message: message.to_owned(), after: None }
}

fn stored(error: &StoreError) -> CallFault {
    fault(FaultKind::Unavailable, &error.to_string())
}

fn late(time: Duration) -> CallFault {
    let message = format!("The model did not answer within {} seconds.", time.as_secs());
    fault(FaultKind::Unavailable, &message)
}

/// A failure of the gateway in words for the history: nothing that a provider wrote.
fn told(error: &GatewayError) -> CallFault {
    let kind = match error {
        GatewayError::NotFound => FaultKind::Missing,
        GatewayError::Disabled | GatewayError::Incapable(_) | GatewayError::Request(_) => FaultKind::Refused,
        GatewayError::Limited { .. } | GatewayError::Busy { .. } | GatewayError::Exhausted { .. } => {
            FaultKind::Limited
        }
        GatewayError::Provider(fault) if fault.failure.is_retryable() => FaultKind::Unavailable,
        GatewayError::Provider(_) => FaultKind::Refused,
        GatewayError::Inner(UseCaseError::Unavailable(_)) => FaultKind::Unavailable,
        GatewayError::Inner(_) => FaultKind::Refused,
    };
    CallFault { kind, message: format!("{} ({}).", error, error.word()), after: error.retry_after() }
}
