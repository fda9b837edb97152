//! Deployments, and models as callers see them.

use heddle_api::wire::inference::{CallableModel, OpenAiModel, OpenAiModels};
use heddle_api::wire::model_deployments as to;
use heddle_models::records::{Deployment, Memory, Observed, PriceTable};
use heddle_models::types::ProviderKind;

use crate::connections::{capabilities, limits, timeouts};
use crate::literals::{deployment_state, memory_policy};

/// A deployment as it is shown.
#[must_use]
pub fn deployment(of: &Deployment) -> to::Deployment {
    to::Deployment {
        id: of.id.to_string(),
        alias: of.alias.clone(),
        connection_id: of.connection_id.to_string(),
        model: of.model.clone(),
        capabilities: capabilities(&of.capabilities),
        context_length: of.context_length,
        dimensions: of.dimensions,
        state: deployment_state(of.state),
        state_detail: of.state_detail.clone(),
        defaults: of.defaults.0.clone(),
        limits: limits(&of.limits),
        timeouts: timeouts(of.timeouts),
        fallbacks: of.fallbacks.iter().map(ToString::to_string).collect(),
        prices: of.prices.as_ref().map(prices),
        memory: memory(&of.memory, &of.observed),
        preload: of.preload,
        enabled: of.enabled,
        model_revision: of.model_revision.clone(),
        revision: of.revision.0,
        created_at: of.created_at,
        created_by: of.created_by.to_string(),
        updated_at: of.updated_at,
        updated_by: of.updated_by.to_string(),
    }
}

fn prices(of: &PriceTable) -> to::ModelPrices {
    to::ModelPrices {
        version: of.version,
        currency: of.currency.clone(),
        input: of.input,
        output: of.output,
        cached_input: of.cached_input,
    }
}

fn memory(of: &Memory, observed: &Observed) -> to::DeploymentMemory {
    to::DeploymentMemory {
        policy: memory_policy(of.policy),
        idle_ttl_seconds: of.idle_ttl_seconds,
        context_length: of.context_length,
        max_bytes: of.max_bytes,
        observed: to::ObservedMemory {
            loaded: observed.loaded,
            bytes: observed.bytes,
            vram_bytes: observed.vram_bytes,
            expires_at: observed.expires_at,
            at: observed.at,
        },
    }
}

/// A deployment as whoever calls it sees it.
#[must_use]
pub fn callable(of: &Deployment, provider: ProviderKind) -> CallableModel {
    CallableModel {
        id: of.alias.clone(),
        deployment_id: of.id.to_string(),
        capabilities: capabilities(&of.capabilities),
        context_length: of.context_length,
        dimensions: of.dimensions,
        provider: provider.as_str().to_owned(),
        state: deployment_state(of.state),
    }
}

/// Deployments as the list that OpenAI's clients read.
#[must_use]
pub fn openai_models<'a>(all: impl Iterator<Item = (&'a Deployment, ProviderKind)>) -> OpenAiModels {
    let model = |(of, provider): (&Deployment, ProviderKind)| OpenAiModel {
        id: of.alias.clone(),
        object: "model".to_owned(),
        created: of.created_at.micros().div_euclid(1_000_000),
        owned_by: provider.as_str().to_owned(),
    };
    OpenAiModels { object: "list".to_owned(), data: all.map(model).collect() }
}
