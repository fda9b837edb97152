//! Records: connections, results of their tests, webhooks and the state of their deliveries, and hooks.

mod hook;

pub use hook::{Hook, HookMapping, HookSettings, HookSignature, SignatureScheme};

use std::collections::BTreeMap;

use heddle_kernel::{ConnectionId, Revision, TenantId, Timestamp, UserId, WebhookId, WorkflowId, literals};
pub use heddle_usecase::outside::{Phase, TestResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::secret::{SealedSecret, Secret};
use crate::types::{ConnectionKind, ConnectionType};

/// The part of a secret that is shown: that it is there, since when, and its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretState {
    /// Instant at which it was last set.
    pub updated_at: Timestamp,
    /// End of the secret, where it is long enough.
    pub hint: Option<String>,
}

/// A connection: the way to a service outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the connection.
    pub id: ConnectionId,
    /// Name, unique in the organisation.
    pub name: String,
    /// Type of the service; never changes.
    pub kind: ConnectionKind,
    /// Purpose of the connection.
    pub description: Option<String>,
    /// Free labels.
    pub labels: BTreeMap<String, String>,
    /// Configuration as its type has it, without what was left out.
    pub config: Map<String, Value>,
    /// The secrets that are there.
    pub secrets: BTreeMap<String, SecretState>,
    /// Grows with each change; a test is none.
    pub revision: Revision,
    /// Result of the last test.
    pub last_test: Option<TestResult>,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// The user who created it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// The user who changed it last.
    pub updated_by: UserId,
}

/// A connection with its sealed secrets, both of one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredConnection {
    /// The connection.
    pub connection: Connection,
    /// Secrets by name.
    pub sealed: BTreeMap<String, SealedSecret>,
}

/// A connection whose secrets were opened: for whoever speaks to the service.
#[derive(Debug, Clone)]
pub struct OpenConnection {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the connection.
    pub id: ConnectionId,
    /// Type of the service.
    pub kind: ConnectionKind,
    /// Revision of what was opened.
    pub revision: Revision,
    /// Configuration as its type has it.
    pub config: Map<String, Value>,
    /// Secrets by name.
    pub secrets: BTreeMap<String, Secret>,
}

impl OpenConnection {
    /// A text of the configuration, or what its type gives where it was left out.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        let preset = || ConnectionType::of(self.kind).field(name)?.preset.and_then(|preset| preset.text());
        self.config.get(name).and_then(Value::as_str).or_else(preset)
    }

    /// A port of the configuration, or what its type gives where it was left out.
    #[must_use]
    pub fn port(&self, name: &str) -> Option<u16> {
        let preset = || ConnectionType::of(self.kind).field(name)?.preset.and_then(|preset| preset.port());
        self.config
            .get(name)
            .and_then(Value::as_u64)
            .and_then(|port| u16::try_from(port).ok())
            .or_else(preset)
    }

    /// Texts of the configuration; none where they were left out.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let texts = self.config.get(name).and_then(Value::as_array);
        texts.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// A secret, if it is there.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<&Secret> {
        self.secrets.get(name)
    }
}

/// The event type that stands for all.
pub const EVERY_EVENT: &str = "*";

/// Outcome of the last delivery of a webhook, or of the last try of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Id of the message: the same for every try.
    pub message_id: String,
    /// Type of the event.
    pub event_type: String,
    /// Instant of the try.
    pub at: Timestamp,
    /// Whether the receiver took it.
    pub ok: bool,
    /// Status that the receiver answered with, if it answered.
    pub status: Option<u16>,
    /// Tries of this message so far, at least 1.
    pub attempts: u32,
    /// A sentence for people, without a secret and without what the receiver answered.
    pub message: String,
}

literals! {
    /// Reason for which a webhook is paused.
    pub enum PauseReason {
        /// Somebody paused it.
        Caller = "caller",
        /// Answer of the receiver that it is gone (410).
        ReceiverGone = "receiverGone",
    }
}

/// A webhook: events of runs that are sent over a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the webhook.
    pub id: WebhookId,
    /// Name, unique in the organisation.
    pub name: String,
    /// Connection of type webhook over which events are sent.
    pub connection_id: ConnectionId,
    /// Types of the events, sorted; [`EVERY_EVENT`] alone stands for all.
    pub event_types: Vec<String>,
    /// The workflows whose events are sent, sorted; none: of all. One that was deleted stays here and sends nothing: the
    /// webhook never becomes one of all.
    pub workflows: Option<Vec<WorkflowId>>,
    /// Reason for which nothing is sent; none: events are sent.
    pub paused: Option<PauseReason>,
    /// The last delivery or try.
    pub last_delivery: Option<Delivery>,
    /// Grows with each change; a delivery is none.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// The user who created it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// The user who changed it last.
    pub updated_by: UserId,
}

/// The part of a webhook that a dispatcher of events must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Id of the webhook.
    pub id: WebhookId,
    /// Connection over which events are sent.
    pub connection_id: ConnectionId,
    /// Types of the events; [`EVERY_EVENT`] alone stands for all.
    pub event_types: Vec<String>,
    /// The workflows whose events are sent; none: of all.
    pub workflows: Option<Vec<WorkflowId>>,
    /// Whether events wait until somebody goes on.
    pub paused: bool,
}

impl Subscription {
    /// Whether it wants the events of this type of this workflow.
    #[must_use]
    pub fn wants(&self, event_type: &str, workflow: WorkflowId) -> bool {
        let of_type = self.event_types.iter().any(|wanted| wanted == EVERY_EVENT || wanted == event_type);
        of_type && self.workflows.as_ref().is_none_or(|of| of.contains(&workflow))
    }
}

impl From<&Webhook> for Subscription {
    fn from(webhook: &Webhook) -> Self {
        Self {
            id: webhook.id,
            connection_id: webhook.connection_id,
            event_types: webhook.event_types.clone(),
            workflows: webhook.workflows.clone(),
            paused: webhook.paused.is_some(),
        }
    }
}
