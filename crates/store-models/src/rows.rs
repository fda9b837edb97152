//! Conversions of rows to and from records.

use heddle_kernel::{ModelDeploymentId, Revision};
use heddle_models::ports::{KeyPlace, SealedKey};
use heddle_models::records::{
    CallTokens, Capabilities, Capability, CatalogueEntry, CatalogueModel, Defaults, Deployment, Limits,
    Memory, ModelConnection, PriceTable, Timeouts, UsageRow, UsageSums,
};
use heddle_store::{Error, Id, document};
use heddle_usecase::secret::SealedSecret;
use serde::{Deserialize, Serialize};

use crate::schema::{CallRow, CatalogueRow, ConnectionRow, DeploymentRow, FallbackRow, KeyRow, SumRow};
use crate::words::{KindWord, OutcomeWord, StateWord};

/// Between two texts that are searched together; no key of a keyboard, so that no search spans two texts.
const BETWEEN: char = '\u{1f}';

/// Abilities as a column holds them: `,chat,tools,`, so that one is found between its commas.
pub(crate) fn capabilities_text(capabilities: &Capabilities) -> String {
    let words: Vec<&str> = capabilities.all().iter().map(|one| one.as_str()).collect();
    if words.is_empty() { String::new() } else { format!(",{},", words.join(",")) }
}

/// The pattern that finds an ability.
pub(crate) fn capability_pattern(capability: Capability) -> String {
    format!("%,{capability},%")
}

/// Abilities of a column. One that a later version wrote is not told.
fn capabilities_of(text: &str) -> Capabilities {
    Capabilities::of(text.split(',').filter_map(Capability::parse))
}

impl TryFrom<&ModelConnection> for ConnectionRow {
    type Error = Error;

    fn try_from(record: &ModelConnection) -> Result<Self, Error> {
        Ok(Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            name: record.name.clone(),
            kind: KindWord(record.kind),
            is_local: record.kind.provider().is_local,
            settings: document::encode(&record.settings)?,
            api_key: record.api_key.as_ref().map(document::encode).transpose()?,
            timeouts: document::encode(&record.timeouts)?,
            limits: document::encode(&record.limits)?,
            enabled: record.enabled,
            revision: record.revision.0,
            last_test: record.last_test.as_ref().map(document::encode).transpose()?,
            tested_at: record.last_test.as_ref().map(|test| test.tested_at.into()),
            discovered_at: record.discovered_at.map(Into::into),
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
            updated_at: record.updated_at.into(),
            updated_by: record.updated_by.into(),
            search: record.name.to_lowercase(),
        })
    }
}

impl TryFrom<ConnectionRow> for ModelConnection {
    type Error = Error;

    fn try_from(row: ConnectionRow) -> Result<Self, Error> {
        Ok(Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            name: row.name,
            kind: row.kind.0,
            settings: document::decode(&row.settings)?,
            api_key: row.api_key.as_deref().map(document::decode).transpose()?,
            timeouts: document::decode(&row.timeouts)?,
            limits: document::decode(&row.limits)?,
            enabled: row.enabled,
            revision: Revision(row.revision),
            last_test: row.last_test.as_deref().map(document::decode).transpose()?,
            discovered_at: row.discovered_at.map(Into::into),
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
            updated_at: row.updated_at.into(),
            updated_by: row.updated_by.into(),
        })
    }
}

impl From<KeyRow> for SealedKey {
    fn from(row: KeyRow) -> Self {
        Self {
            place: KeyPlace { tenant: row.organization_id.into(), connection: row.connection_id.into() },
            sealed: SealedSecret { key: row.key_id, text: row.sealed },
        }
    }
}

impl CatalogueRow {
    /// The row of a model that was discovered.
    pub(crate) fn of(
        write: &heddle_models::ports::CatalogueWrite<'_>,
        entry: &CatalogueEntry,
    ) -> Result<Self, Error> {
        Ok(Self {
            organization_id: write.tenant.into(),
            connection_id: write.connection.into(),
            model: entry.model.clone(),
            entry: document::encode(entry)?,
            capabilities: capabilities_text(&entry.capabilities),
            discovered_at: write.at.into(),
            search: format!("{}{BETWEEN}{}", entry.model, entry.display_name).to_lowercase(),
        })
    }

    /// The model, with its deployment.
    pub(crate) fn into_model(self, deployment: Option<ModelDeploymentId>) -> Result<CatalogueModel, Error> {
        Ok(CatalogueModel {
            entry: document::decode(&self.entry)?,
            deployment,
            discovered_at: self.discovered_at.into(),
        })
    }
}

/// The part of a deployment that no list asks for.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    context_length: Option<u32>,
    dimensions: Option<u32>,
    defaults: Defaults,
    limits: Limits,
    timeouts: Timeouts,
    prices: Option<PriceTable>,
    memory: Memory,
}

/// Whether the reconciler looks at a deployment.
fn looked_after(deployment: &Deployment) -> bool {
    deployment.preload || deployment.memory != Memory::default()
}

impl TryFrom<&Deployment> for DeploymentRow {
    type Error = Error;

    fn try_from(record: &Deployment) -> Result<Self, Error> {
        let settings = Settings {
            context_length: record.context_length,
            dimensions: record.dimensions,
            defaults: record.defaults.clone(),
            limits: record.limits.clone(),
            timeouts: record.timeouts,
            prices: record.prices.clone(),
            memory: record.memory.clone(),
        };
        Ok(Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            alias: record.alias.clone(),
            connection_id: record.connection_id.into(),
            model: record.model.clone(),
            capabilities: capabilities_text(&record.capabilities),
            settings: document::encode(&settings)?,
            preload: record.preload,
            enabled: record.enabled,
            looked_after: looked_after(record),
            state: StateWord(record.state),
            state_detail: record.state_detail.clone(),
            observed: document::encode(&record.observed)?,
            model_revision: record.model_revision.clone(),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
            updated_at: record.updated_at.into(),
            updated_by: record.updated_by.into(),
            search: format!("{}{BETWEEN}{}", record.alias, record.model).to_lowercase(),
        })
    }
}

impl DeploymentRow {
    /// The deployment, with its fallbacks in their order.
    pub(crate) fn into_deployment(self, fallbacks: Vec<ModelDeploymentId>) -> Result<Deployment, Error> {
        let settings: Settings = document::decode(&self.settings)?;
        Ok(Deployment {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            alias: self.alias,
            connection_id: self.connection_id.into(),
            model: self.model,
            capabilities: capabilities_of(&self.capabilities),
            context_length: settings.context_length,
            dimensions: settings.dimensions,
            defaults: settings.defaults,
            limits: settings.limits,
            timeouts: settings.timeouts,
            fallbacks,
            prices: settings.prices,
            memory: settings.memory,
            preload: self.preload,
            enabled: self.enabled,
            state: self.state.0,
            state_detail: self.state_detail,
            observed: document::decode(&self.observed)?,
            model_revision: self.model_revision,
            revision: Revision(self.revision),
            created_at: self.created_at.into(),
            created_by: self.created_by.into(),
            updated_at: self.updated_at.into(),
            updated_by: self.updated_by.into(),
        })
    }
}

/// Rows of a deployment's fallbacks.
pub(crate) fn fallbacks_of(record: &Deployment) -> Vec<FallbackRow> {
    let row = |(position, fallback): (usize, &ModelDeploymentId)| FallbackRow {
        organization_id: record.tenant.into(),
        deployment_id: record.id.into(),
        position: i64::try_from(position).unwrap_or(i64::MAX),
        fallback_id: (*fallback).into(),
    };
    record.fallbacks.iter().enumerate().map(row).collect()
}

impl From<&UsageRow> for CallRow {
    fn from(record: &UsageRow) -> Self {
        Self {
            organization_id: record.tenant.into(),
            id: Id(record.id),
            at: record.at.into(),
            principal_id: record.principal.into(),
            deployment_id: record.deployment.into(),
            requested_id: record.requested.into(),
            connection_id: record.connection.into(),
            workflow_id: record.workflow.map(Into::into),
            request_id: record.request_id.clone(),
            operation: record.operation.to_string(),
            model_revision: record.model_revision.clone(),
            input_tokens: record.tokens.input,
            output_tokens: record.tokens.output,
            cached_tokens: record.tokens.cached,
            reasoning_tokens: record.tokens.reasoning,
            estimated: record.estimated,
            cost_micros: record.cost_micros,
            price_version: record.price_version.map(i64::from),
            first_token_ms: record.first_token_ms,
            total_ms: record.total_ms,
            attempts: record.attempts,
            outcome: OutcomeWord(record.outcome),
            fault: record.fault.as_deref().map(str::to_owned),
        }
    }
}

impl SumRow {
    /// The sums of the row.
    pub(crate) const fn sums(&self) -> UsageSums {
        UsageSums {
            calls: self.calls,
            failed: self.failed,
            aborted: self.aborted,
            tokens: CallTokens {
                input: self.input_tokens,
                output: self.output_tokens,
                cached: self.cached_tokens,
                reasoning: self.reasoning_tokens,
            },
            cost_micros: self.cost_micros,
            total_ms: self.total_ms,
        }
    }
}
