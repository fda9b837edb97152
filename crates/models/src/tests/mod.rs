//! Tests of the gateway on scripted ports, and what all tests share.

mod gateway;
mod inside;
mod residency;

use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Revision, TenantId, Timestamp, UserId};
use uuid::Uuid;

use crate::records::{
    Capabilities, Capability, ConnectionSettings, Defaults, Deployment, DeploymentState, Limits, Memory,
    ModelConnection, Observed, Timeouts,
};
use crate::types::ProviderKind;

pub(crate) const TENANT: TenantId = TenantId(Uuid::from_u128(7));
pub(crate) const USER: UserId = UserId(Uuid::from_u128(8));

pub(crate) fn now() -> Timestamp {
    Timestamp::from_micros(1_795_000_000_000_000)
}

/// A connection by its number.
pub(crate) fn connection(number: u128) -> ModelConnection {
    ModelConnection {
        tenant: TENANT,
        id: ModelConnectionId(Uuid::from_u128(number)),
        name: format!("c{number}"),
        kind: ProviderKind::Custom,
        settings: ConnectionSettings {
            base_url: Some("http://127.0.0.1:1/v1".to_owned()),
            ..ConnectionSettings::default()
        },
        api_key: None,
        timeouts: Timeouts::default(),
        limits: Limits::default(),
        enabled: true,
        revision: Revision::FIRST,
        last_test: None,
        discovered_at: None,
        created_at: now(),
        created_by: USER,
        updated_at: now(),
        updated_by: USER,
    }
}

/// A deployment by its number over the connection of the same number.
pub(crate) fn deployment(number: u128, alias: &str) -> Deployment {
    Deployment {
        tenant: TENANT,
        id: ModelDeploymentId(Uuid::from_u128(number)),
        alias: alias.to_owned(),
        connection_id: ModelConnectionId(Uuid::from_u128(number)),
        model: format!("m{number}"),
        capabilities: Capabilities::of([Capability::Chat, Capability::Embeddings, Capability::Stream]),
        context_length: None,
        dimensions: None,
        defaults: Defaults::default(),
        limits: Limits::default(),
        timeouts: Timeouts::default(),
        fallbacks: Vec::new(),
        prices: None,
        memory: Memory::default(),
        preload: false,
        enabled: true,
        state: DeploymentState::Ready,
        state_detail: None,
        observed: Observed::default(),
        model_revision: None,
        revision: Revision::FIRST,
        created_at: now(),
        created_by: USER,
        updated_at: now(),
        updated_by: USER,
    }
}
