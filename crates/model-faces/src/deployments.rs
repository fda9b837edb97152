//! Deployments, and models as callers see them.

use heddle_api::wire::inference::{CallableModel, OpenAiModel, OpenAiModels};
use heddle_api::wire::model_connections as connections;
use heddle_api::wire::model_deployments as to;
use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Patch, Revision};
use heddle_models::records::{Defaults, Deployment, Memory, Observed, PriceTable};
use heddle_models::types::ProviderKind;
use heddle_models::{
    DeploymentPatch, Imported, ImportedModel, NewDeployment, NewImport, NewPrices, SkippedModel, SyncOutcome,
};
use heddle_usecase::{Problem, UseCaseError};

use crate::connections::{capabilities, capabilities_of, limits, limits_of, timeouts, timeouts_of};
use crate::literals::{deployment_state, memory_policy, memory_policy_of};

/// A deployment to create over a connection, as it was sent.
///
/// # Errors
/// `Invalid` at each fallback that is no identifier.
pub fn new_deployment(
    sent: &to::CreateDeployment,
    connection: ModelConnectionId,
) -> Result<NewDeployment, UseCaseError> {
    Ok(NewDeployment {
        connection_id: connection,
        model: sent.model.clone(),
        alias: sent.alias.clone(),
        capabilities: sent.capabilities.as_deref().map(capabilities_of),
        context_length: sent.context_length,
        dimensions: sent.dimensions,
        defaults: Defaults(sent.defaults.clone().unwrap_or_default()),
        limits: sent.limits.as_ref().map(limits_of).unwrap_or_default(),
        timeouts: sent.timeouts.as_ref().map(timeouts_of).unwrap_or_default(),
        fallbacks: sent.fallbacks.as_deref().map(fallbacks_of).transpose()?.unwrap_or_default(),
        prices: sent.prices.as_ref().map(prices_of),
        enabled: sent.enabled.unwrap_or(true),
    })
}

/// Changes of a deployment, as they were sent, made to a revision.
///
/// # Errors
/// As [`new_deployment`].
pub fn patch(
    sent: &to::PatchDeployment,
    revision: Option<Revision>,
) -> Result<DeploymentPatch, UseCaseError> {
    let fallbacks = sent.fallbacks.as_deref().map(fallbacks_of).transpose()?;
    Ok(DeploymentPatch {
        alias: sent.alias.clone(),
        capabilities: sent.capabilities.as_deref().map(capabilities_of),
        context_length: sent.context_length.clone(),
        dimensions: sent.dimensions.clone(),
        defaults: sent.defaults.clone().map_or(Patch::Absent, |all| Patch::Value(Defaults(all))),
        limits: sent.limits.as_ref().map_or(Patch::Absent, |sent| Patch::Value(limits_of(sent))),
        timeouts: sent.timeouts.as_ref().map_or(Patch::Absent, |sent| Patch::Value(timeouts_of(sent))),
        fallbacks: fallbacks.map_or(Patch::Absent, Patch::Value),
        prices: match &sent.prices {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Value(sent) => Patch::Value(prices_of(sent)),
        },
        enabled: sent.enabled,
        revision,
    })
}

fn fallbacks_of(sent: &[String]) -> Result<Vec<ModelDeploymentId>, UseCaseError> {
    let (mut ids, mut problems) = (Vec::new(), Vec::new());
    for (at, text) in sent.iter().enumerate() {
        match text.parse() {
            Ok(id) => ids.push(id),
            Err(_) => {
                let message = "The identifier of a deployment is needed.";
                problems.push(Problem::at(format!("fallbacks[{at}]"), "wrongType", message));
            }
        }
    }
    if problems.is_empty() { Ok(ids) } else { Err(UseCaseError::Invalid(problems)) }
}

fn prices_of(sent: &to::SentModelPrices) -> NewPrices {
    NewPrices {
        currency: sent.currency.clone(),
        input: sent.input,
        output: sent.output,
        cached_input: sent.cached_input,
    }
}

/// Residency as it was sent.
#[must_use]
pub const fn memory_of(sent: &to::SetMemory) -> Memory {
    Memory {
        policy: memory_policy_of(sent.policy),
        idle_ttl_seconds: sent.idle_ttl_seconds,
        context_length: sent.context_length,
        max_bytes: sent.max_bytes,
    }
}

/// An import as it was sent.
#[must_use]
pub fn import(sent: &connections::ImportModels) -> NewImport {
    let model = |sent: &connections::ImportModel| ImportedModel {
        model: sent.model.clone(),
        alias: sent.alias.clone(),
        capabilities: sent.capabilities.as_deref().map(capabilities_of),
    };
    NewImport { models: sent.models.iter().map(model).collect(), atomic: sent.atomic.unwrap_or(false) }
}

/// Outcome of an import as it is shown.
#[must_use]
pub fn imported(of: &Imported) -> connections::ImportedModels {
    let one = |of: &Deployment| connections::ImportedModel {
        model: of.model.clone(),
        deployment_id: of.id.to_string(),
        alias: of.alias.clone(),
    };
    connections::ImportedModels {
        imported: of.imported.iter().map(one).collect(),
        skipped: of.skipped.iter().map(skipped).collect(),
    }
}

fn skipped(of: &SkippedModel) -> connections::SkippedModel {
    let message = match of.reason {
        "alreadyImported" => "There is a deployment of it already.",
        "unknownModel" => "The provider has no such model, or it was not discovered.",
        "aliasTaken" => "Another deployment has the alias.",
        _ => "It can't be deployed.",
    };
    connections::SkippedModel {
        model: of.model.clone(),
        deployment_id: of.deployment.map(|id| id.to_string()),
        reason: of.reason.to_owned(),
        message: message.to_owned(),
    }
}

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

/// Word of the type of a provider; of one that is there no more an empty one.
fn word(provider: Option<ProviderKind>) -> String {
    provider.map(|kind| kind.as_str().to_owned()).unwrap_or_default()
}

/// A deployment as whoever calls it sees it, with the type of its provider.
#[must_use]
pub fn callable(of: &Deployment, provider: Option<ProviderKind>) -> CallableModel {
    CallableModel {
        id: of.alias.clone(),
        deployment_id: of.id.to_string(),
        capabilities: capabilities(&of.capabilities),
        context_length: of.context_length,
        dimensions: of.dimensions,
        provider: word(provider),
        state: deployment_state(of.state),
    }
}

/// Deployments as the list that OpenAI's clients read.
#[must_use]
pub fn openai_models<'a>(all: impl Iterator<Item = (&'a Deployment, Option<ProviderKind>)>) -> OpenAiModels {
    let model = |(of, provider): (&Deployment, Option<ProviderKind>)| OpenAiModel {
        id: of.alias.clone(),
        object: "model".to_owned(),
        created: of.created_at.micros().div_euclid(1_000_000),
        owned_by: word(provider),
    };
    OpenAiModels { object: "list".to_owned(), data: all.map(model).collect() }
}

/// Outcome of bringing deployments in line with what runs locally, as it is shown.
#[must_use]
pub fn synced(of: &SyncOutcome) -> to::LocalSync {
    let one = |of: &Deployment| to::SyncedDeployment {
        id: of.id.to_string(),
        alias: of.alias.clone(),
        connection_id: of.connection_id.to_string(),
        model: of.model.clone(),
    };
    to::LocalSync {
        dry_run: of.dry_run,
        created: of.created.iter().map(one).collect(),
        updated: of.updated.iter().map(one).collect(),
        missing: of.missing.iter().map(one).collect(),
        deleted: of.deleted.iter().map(ToString::to_string).collect(),
        unchanged: of.unchanged,
        unreached: of
            .unreached
            .iter()
            .map(|one| to::UnreachedRuntime {
                connection_id: one.connection.to_string(),
                message: one.message.clone(),
            })
            .collect(),
    }
}
