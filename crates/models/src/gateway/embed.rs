//! Embeddings.

use async_trait::async_trait;
use heddle_kernel::ModelDeploymentId;
use heddle_models_wire::{EmbeddingRequest, EmbeddingResponse, Usage};
use heddle_policy::capability::DeploymentEmbed;
use heddle_policy::{Authorized, RequestContext};
use tokio::time::Instant;

use super::call::{Estimate, Kind};
use super::error::{GatewayError, Missed};
use super::exchange::{target, whole};
use super::route::Route;
use super::{CallJournal, Caller, Gateway};
use crate::deployments::same_vectors;
use crate::ports::LocalFault;
use crate::records::{Capability, UsageRow};

/// Embeddings with what they took.
#[derive(Debug)]
pub struct EmbeddingAnswer {
    /// The answer, as clients of OpenAI's interface read it.
    pub response: EmbeddingResponse,
    /// The row of the call.
    pub usage: UsageRow,
    /// Alias of the deployment that answered.
    pub alias: String,
}

struct Embedding(EmbeddingRequest);

impl Embedding {
    /// The request with what the deployment says where it says nothing.
    fn filled(&self, route: &Route) -> Result<EmbeddingRequest, Missed> {
        Ok(self.0.with_defaults(&route.defaults.embeddings)?)
    }
}

#[async_trait]
impl Kind for Embedding {
    type Got = EmbeddingResponse;
    const WORD: &'static str = "embeddings";

    fn capability(&self) -> Capability {
        Capability::Embeddings
    }

    fn estimate(&self, route: &Route) -> Result<Estimate, GatewayError> {
        let filled = self.0.with_defaults(&route.defaults.embeddings).map_err(GatewayError::Request)?;
        Ok(Estimate { input: filled.estimated_tokens(), output: Some(0) })
    }

    async fn exchange(
        &self,
        gateway: &Gateway,
        route: &Route,
        until: Instant,
    ) -> Result<EmbeddingResponse, Missed> {
        let asked = self.filled(route)?;
        if route.target.is_none() {
            return local(gateway, route, &asked).await;
        }
        let target = target(route)?;
        let batch = target.family.embedding_batch();
        let mut bodies = Vec::new();
        for request in target.embeddings(&asked, batch)? {
            let reply = gateway.send(route, request, route.waits.total, until).await?;
            bodies.push(whole(reply).await?);
        }
        Ok(target.embedding_response(&asked, batch, bodies)?)
    }

    fn fits(&self, named: &Route, other: &Route) -> bool {
        same_vectors(&named.deployment, &other.deployment)
    }
}

/// Embeddings of a model inside this service.
async fn local(
    gateway: &Gateway,
    route: &Route,
    request: &EmbeddingRequest,
) -> Result<EmbeddingResponse, Missed> {
    let deployment = &route.deployment;
    if let Some(asked) = request.dimensions()
        && deployment.dimensions.is_some_and(|has| has != asked)
    {
        let message = "This model has vectors of one length alone.".to_owned();
        return Err(LocalFault::Refused(message).into());
    }
    let texts = request.texts()?;
    let tokens = gateway.0.ports.local.tokens(&deployment.model, &texts);
    let vectors = gateway.0.ports.local.embed(deployment.tenant, &deployment.model, texts).await?;
    let usage = Usage { input: tokens, ..Usage::default() };
    Ok(EmbeddingResponse::of_vectors(&deployment.model, &vectors, request.encoding(), Some(usage))?)
}

impl Gateway {
    /// Embeds, for the caller of a request.
    ///
    /// # Errors
    /// As [`Self::embed_as`].
    pub async fn embed(
        &self,
        authorized: &Authorized<DeploymentEmbed>,
        context: &RequestContext,
        request: EmbeddingRequest,
        journal: CallJournal,
    ) -> Result<EmbeddingAnswer, GatewayError> {
        self.embed_as(&Caller::of_request(context), authorized.id(), request, journal).await
    }

    /// Embeds, for a caller who was found to be allowed to. A fallback answers only with vectors of the same model.
    ///
    /// # Errors
    /// What stood against the call.
    pub async fn embed_as(
        &self,
        caller: &Caller,
        id: ModelDeploymentId,
        request: EmbeddingRequest,
        journal: CallJournal,
    ) -> Result<EmbeddingAnswer, GatewayError> {
        let (response, mut running) = self.run(caller, id, &Embedding(request), journal).await?;
        running.note(0, response.usage);
        let alias = running.route().deployment.alias.clone();
        let body = response.body.clone();
        let ended = running.answered(&body).await?;
        Ok(EmbeddingAnswer { response, usage: ended.usage, alias })
    }
}
