//! Deployments of models for vector databases: embeddings beside the built-in models', and reranking.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{ModelDeploymentId, TenantId};
use heddle_models::ports::ModelStore;
use heddle_models::records::{Deployment, DeploymentState};
use heddle_models::types::ProviderKind;
use heddle_models::{Caller, Gateway, GatewayError, untold};
use heddle_models_wire::{EmbeddingRequest, Failure};
use heddle_policy::RequestContext;
use heddle_policy::capability::DeploymentEmbed;
use heddle_usecase::StoreError;
use heddle_vectors::ports::{
    Asker, EmbedError, Embedder, EmbeddingModel, ModelSource, ModelState, Priority, Reranker,
};
use heddle_vectors::records::ModelUse;

use super::embedder::BuiltInModels;

/// Texts of one call.
const BATCH: usize = 1_024;
/// Revision of a model of which its provider tells none.
const UNTOLD: &str = "untold";

/// The built-in models, and the deployments of organisations.
#[derive(Clone)]
pub(crate) struct WithDeployments {
    built_in: BuiltInModels,
    store: Arc<dyn ModelStore>,
    gateway: Gateway,
}

impl WithDeployments {
    /// The built-in models, and the deployments of a store over a gateway.
    pub(crate) fn new(built_in: BuiltInModels, store: Arc<dyn ModelStore>, gateway: Gateway) -> Self {
        Self { built_in, store, gateway }
    }

    /// Deployments over connections to providers; those of the built-in models are these themselves.
    async fn deployed(&self, tenant: TenantId) -> Result<Vec<Deployment>, EmbedError> {
        let all = self.store.embedding_deployments(tenant).await.map_err(|error| unavailable(&error))?;
        let local = self.store.local_connections(tenant).await.map_err(|error| unavailable(&error))?;
        let is_built_in = |deployment: &Deployment| {
            let of = |connection: &&heddle_models::records::ModelConnection| {
                connection.id == deployment.connection_id
            };
            local.iter().find(of).is_some_and(|connection| connection.kind == ProviderKind::Local)
        };
        Ok(all.into_iter().filter(|deployment| !is_built_in(deployment)).collect())
    }
}

fn unavailable(error: &StoreError) -> EmbedError {
    EmbedError::Unavailable { message: error.to_string(), retry_after_seconds: None }
}

/// Whoever has texts embedded, as the caller of a deployment. The database's own model embeds whatever rights they have.
fn caller(asker: &Asker) -> Caller {
    Caller {
        tenant: asker.tenant,
        principal: asker.user,
        workflow: None,
        request_id: asker.request.clone(),
        rights: None,
    }
}

fn model_of(deployment: &Deployment) -> ModelUse {
    ModelUse {
        id: deployment.id.to_string(),
        dimensions: deployment.dimensions.unwrap_or(0),
        revision: deployment.model_revision.clone().unwrap_or_else(|| UNTOLD.to_owned()),
    }
}

fn described(deployment: Deployment) -> EmbeddingModel {
    let (state, state_detail) = match (deployment.dimensions, deployment.state) {
        (None, _) => {
            let help = "Its dimensions are not known: set `dimensions` of the deployment.".to_owned();
            (ModelState::Error, Some(help))
        }
        (Some(_), DeploymentState::Ready | DeploymentState::Unloaded) => (ModelState::Ready, None),
        (Some(_), DeploymentState::Loading) => (ModelState::Loading, deployment.state_detail.clone()),
        (Some(_), DeploymentState::Missing) => (ModelState::Missing, deployment.state_detail.clone()),
        (Some(_), DeploymentState::Error) => (ModelState::Error, deployment.state_detail.clone()),
    };
    EmbeddingModel {
        model: model_of(&deployment),
        display_name: deployment.model.clone(),
        source: ModelSource::Deployment,
        deployment_alias: Some(deployment.alias),
        max_input_tokens: deployment.context_length.unwrap_or(512),
        languages: Vec::new(),
        state,
        state_detail,
        is_default: false,
        sha256: None,
        licence: "that of its provider".to_owned(),
    }
}

/// Meaning of a failed call to whoever embeds.
fn of_gateway(error: &GatewayError) -> EmbedError {
    let retry_after_seconds = error.retry_after().map(|wait| wait.as_secs().max(1));
    let message = error.to_string();
    let passing = EmbedError::Unavailable { message: message.clone(), retry_after_seconds };
    match error {
        GatewayError::NotFound | GatewayError::Disabled => EmbedError::Missing(message),
        GatewayError::Incapable(_) | GatewayError::Request(_) => EmbedError::Refused(message),
        GatewayError::Limited { .. }
        | GatewayError::Busy { .. }
        | GatewayError::Exhausted { .. }
        | GatewayError::Inner(_) => passing,
        GatewayError::Provider(fault) => match fault.failure {
            Failure::InvalidRequest | Failure::ContextLength => EmbedError::Refused(message),
            Failure::ModelNotFound => EmbedError::Missing(message),
            Failure::ProviderAuth
            | Failure::ProviderTimeout
            | Failure::RateLimited
            | Failure::Unavailable
            | Failure::BrokenAnswer => passing,
        },
    }
}

/// The vector of length 1 in the direction of another.
fn of_length_one(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        for value in &mut vector {
            *value = (f64::from(*value) / length) as f32;
        }
    }
    vector
}

#[async_trait]
impl Embedder for WithDeployments {
    async fn models(&self, tenant: TenantId) -> Result<Vec<EmbeddingModel>, EmbedError> {
        let mut all = self.built_in.models(tenant).await?;
        all.extend(self.deployed(tenant).await?.into_iter().map(described));
        Ok(all)
    }

    async fn embed(
        &self,
        asker: &Asker,
        model: &ModelUse,
        texts: &[String],
        priority: Priority,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let Ok(id) = model.id.parse::<ModelDeploymentId>() else {
            return self.built_in.embed(asker, model, texts, priority).await;
        };
        let deployment = match self.store.deployment(asker.tenant, id).await {
            Ok(deployment) => deployment,
            Err(StoreError::NotFound) => {
                return Err(EmbedError::Missing("the deployment of the model is gone".to_owned()));
            }
            Err(error) => return Err(unavailable(&error)),
        };
        if model_of(&deployment).revision != model.revision {
            let message = format!(
                "the model of `{}` is of another revision now: set `embeddingModelId` of the database to it again, which \
                 indexes the database anew",
                deployment.alias
            );
            return Err(EmbedError::Missing(message));
        }
        let (who, mut vectors) = (caller(asker), Vec::with_capacity(texts.len()));
        for batch in texts.chunks(BATCH) {
            let request = EmbeddingRequest::of_texts(&deployment.alias, batch, None)
                .map_err(|error| EmbedError::Refused(error.to_string()))?;
            let answer = self.gateway.embed_as(&who, id, request, untold()).await;
            let answer = answer.map_err(|error| of_gateway(&error))?;
            let read = answer.response.vectors().map_err(|error| EmbedError::Refused(error.to_string()))?;
            vectors.extend(read.into_iter().map(of_length_one));
        }
        Ok(vectors)
    }
}

#[async_trait]
impl Reranker for WithDeployments {
    async fn rerank(
        &self,
        context: &RequestContext,
        deployment: &str,
        query: &str,
        texts: &[String],
    ) -> Result<Vec<f32>, EmbedError> {
        // Whoever may not use it learns nothing about whether it is there.
        let absent = || EmbedError::Missing(format!("there is no deployment `{deployment}`"));
        let id = match self.gateway.find(context.tenant(), deployment).await {
            Ok(id) => id,
            Err(StoreError::NotFound) => return Err(absent()),
            Err(error) => return Err(unavailable(&error)),
        };
        if context.snapshot().authorize_one::<DeploymentEmbed>(id, ()).is_err() {
            return Err(absent());
        }
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let who = Caller::of_request(context);
        let ranked = self.gateway.rerank_as(&who, id, query.to_owned(), texts.to_vec(), untold()).await;
        let ranked = match ranked {
            // A deployment that does not rank is none for this.
            Err(GatewayError::Incapable(_)) => {
                return Err(EmbedError::Missing(format!("the deployment `{deployment}` does not rerank")));
            }
            other => other.map_err(|error| of_gateway(&error))?,
        };
        Ok(ranked.scores.into_iter().map(|score| score as f32).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_length_one_and_nothing_becomes_of_none() {
        assert_eq!(of_length_one(vec![3.0, 4.0]), vec![0.6, 0.8]);
        assert_eq!(of_length_one(vec![0.0, 0.0]), vec![0.0, 0.0]);
    }
}
