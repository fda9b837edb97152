//! Connections to providers, their types and catalogues.

use heddle_api::wire::connections::{SecretState, SecretText};
use heddle_api::wire::model_connections as to;
use heddle_kernel::{Patch, Revision};
use heddle_models::records::{
    Budget, Capabilities, Capability, CatalogueModel, ConnectionSettings, Discovered, Limits,
    ModelConnection, TestResult, Timeouts,
};
use heddle_models::types::{Provider, ProviderKind};
use heddle_models::{ModelConnectionPatch, NewModelConnection, TestProbe};
use heddle_usecase::UseCaseError;
use heddle_usecase::secret::Secret;

use crate::literals::{budget_period, budget_period_of, capability, capability_of, family, test_phase};

/// The type of a provider by its word.
///
/// # Errors
/// `Invalid` at `type` for a word that is none.
pub fn kind_of(word: &str) -> Result<ProviderKind, UseCaseError> {
    let unknown = || {
        let words: Vec<&str> = ProviderKind::ALL.iter().map(|kind| kind.as_str()).collect();
        UseCaseError::invalid("type", "notAllowed", format!("One of {} is needed.", words.join(", ")))
    };
    ProviderKind::ALL.iter().copied().find(|kind| kind.as_str() == word).ok_or_else(unknown)
}

/// A key as it was sent.
fn key_of(text: &SecretText) -> Secret {
    Secret::new(text.expose())
}

/// A connection to create, as it was sent.
///
/// # Errors
/// As [`kind_of`].
pub fn new_connection(sent: &to::CreateModelConnection) -> Result<NewModelConnection, UseCaseError> {
    Ok(NewModelConnection {
        name: sent.name.clone(),
        kind: kind_of(&sent.kind)?,
        settings: ConnectionSettings {
            base_url: sent.base_url.clone(),
            headers: sent.headers.clone().unwrap_or_default(),
            api_version: sent.api_version.clone(),
            certificate_authority: sent.certificate_authority.clone(),
        },
        api_key: sent.api_key.as_ref().map(key_of),
        timeouts: sent.timeouts.as_ref().map(timeouts_of).unwrap_or_default(),
        limits: sent.limits.as_ref().map(limits_of).unwrap_or_default(),
        enabled: sent.enabled.unwrap_or(true),
    })
}

/// Changes of a connection, as they were sent, made to a revision.
#[must_use]
pub fn patch(sent: &to::PatchModelConnection, revision: Option<Revision>) -> ModelConnectionPatch {
    ModelConnectionPatch {
        name: sent.name.clone(),
        base_url: sent.base_url.clone(),
        headers: sent.headers.clone(),
        api_version: sent.api_version.clone(),
        certificate_authority: sent.certificate_authority.clone(),
        api_key: match &sent.api_key {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Value(text) => Patch::Value(key_of(text)),
        },
        timeouts: sent.timeouts.as_ref().map_or(Patch::Absent, |sent| Patch::Value(timeouts_of(sent))),
        limits: sent.limits.as_ref().map_or(Patch::Absent, |sent| Patch::Value(limits_of(sent))),
        enabled: sent.enabled,
        revision,
    }
}

/// Limits as they were sent.
#[must_use]
pub fn limits_of(sent: &to::SentModelLimits) -> Limits {
    Limits {
        requests_per_minute: sent.requests_per_minute,
        tokens_per_minute: sent.tokens_per_minute,
        concurrency: sent.concurrency,
        queue_timeout_ms: sent.queue_timeout_ms,
        budget: sent.budget.as_ref().map(|sent| Budget {
            period: budget_period_of(sent.period),
            cost_micros: sent.cost_micros,
            tokens: sent.tokens,
        }),
    }
}

/// Waits as they were sent.
#[must_use]
pub const fn timeouts_of(sent: &to::SentModelTimeouts) -> Timeouts {
    Timeouts {
        connect_ms: sent.connect_ms,
        first_token_ms: sent.first_token_ms,
        between_tokens_ms: sent.between_tokens_ms,
        total_ms: sent.total_ms,
    }
}

/// Abilities as they were sent.
#[must_use]
pub fn capabilities_of(sent: &[to::ModelCapability]) -> Capabilities {
    Capabilities::of(sent.iter().copied().map(capability_of))
}

/// Abilities as they are shown.
#[must_use]
pub fn capabilities(of: &Capabilities) -> Vec<to::ModelCapability> {
    of.all().iter().copied().map(capability).collect()
}

/// Limits as they are shown.
#[must_use]
pub fn limits(of: &Limits) -> to::ModelLimits {
    to::ModelLimits {
        requests_per_minute: of.requests_per_minute,
        tokens_per_minute: of.tokens_per_minute,
        concurrency: of.concurrency,
        queue_timeout_ms: of.queue_timeout_ms,
        budget: of.budget.as_ref().map(|budget| to::ModelBudget {
            period: budget_period(budget.period),
            cost_micros: budget.cost_micros,
            tokens: budget.tokens,
        }),
    }
}

/// Waits as they are shown.
#[must_use]
pub const fn timeouts(of: Timeouts) -> to::ModelTimeouts {
    to::ModelTimeouts {
        connect_ms: of.connect_ms,
        first_token_ms: of.first_token_ms,
        between_tokens_ms: of.between_tokens_ms,
        total_ms: of.total_ms,
    }
}

/// A type of providers as it is shown.
#[must_use]
pub fn provider_type(of: &Provider) -> to::ModelProviderType {
    to::ModelProviderType {
        id: of.kind.as_str().to_owned(),
        display_name: of.display_name.to_owned(),
        family: family(of.family),
        capabilities: to::ModelProviderCapabilities {
            chat: of.has(Capability::Chat),
            stream: of.has(Capability::Stream),
            tools: of.has(Capability::Tools),
            json_schema: of.has(Capability::JsonSchema),
            vision: of.has(Capability::Vision),
            embeddings: of.has(Capability::Embeddings),
            discover: of.discovers,
            residency: of.residency.is_some(),
            revision: of.tells_revision,
        },
        config_schema: of.config_schema(),
        secret_fields: of.secret_fields().iter().map(|&name| name.to_owned()).collect(),
        default_base_url: of.default_base_url.map(str::to_owned),
    }
}

/// A connection as it is shown: of its key only that it is there.
#[must_use]
pub fn connection(of: &ModelConnection) -> to::ModelConnection {
    to::ModelConnection {
        id: of.id.to_string(),
        name: of.name.clone(),
        kind: of.kind.as_str().to_owned(),
        family: family(of.kind.provider().family),
        base_url: of.settings.base_url.clone(),
        headers: of.settings.headers.clone(),
        api_version: of.settings.api_version.clone(),
        certificate_authority: of.settings.certificate_authority.clone(),
        api_key: SecretState {
            configured: of.api_key.is_some(),
            updated_at: of.api_key.as_ref().map(|state| state.updated_at),
            hint: of.api_key.as_ref().and_then(|state| state.hint.clone()),
        },
        timeouts: timeouts(of.timeouts),
        limits: limits(&of.limits),
        enabled: of.enabled,
        revision: of.revision.0,
        last_test: of.last_test.as_ref().map(last_test),
        discovered_at: of.discovered_at,
        created_at: of.created_at,
        created_by: of.created_by.to_string(),
        updated_at: of.updated_at,
        updated_by: of.updated_by.to_string(),
    }
}

fn last_test(of: &TestResult) -> to::LastModelConnectionTest {
    to::LastModelConnectionTest {
        ok: of.ok,
        phase: test_phase(of.phase),
        latency_ms: of.latency_ms,
        message: of.message.clone(),
        tested_at: of.tested_at,
    }
}

/// Result of a test as it is shown.
#[must_use]
pub fn tested(of: &TestProbe) -> to::ModelConnectionTest {
    to::ModelConnectionTest {
        ok: of.result.ok,
        phase: test_phase(of.result.phase),
        latency_ms: of.result.latency_ms,
        models: of.models,
        message: of.result.message.clone(),
        tested_at: of.result.tested_at,
    }
}

/// A model of a catalogue as it is shown.
#[must_use]
pub fn provider_model(of: &CatalogueModel) -> to::ProviderModel {
    to::ProviderModel {
        model: of.entry.model.clone(),
        display_name: of.entry.display_name.clone(),
        capabilities: capabilities(&of.entry.capabilities),
        context_length: of.entry.context_length,
        dimensions: of.entry.dimensions,
        revision: of.entry.revision.clone(),
        bytes: of.entry.bytes,
        deployment_id: of.deployment.map(|id| id.to_string()),
        discovered_at: of.discovered_at,
    }
}

/// Outcome of a discovery as it is shown.
#[must_use]
pub fn discovered(of: &Discovered) -> to::DiscoveredModels {
    to::DiscoveredModels {
        added: of.added.clone(),
        removed: of.removed.clone(),
        unchanged: of.unchanged,
        discovered_at: of.discovered_at,
        items: of.items.iter().map(provider_model).collect(),
    }
}
