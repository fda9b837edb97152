//! The installation as a whole, its audit trail and the answers kept for repeated calls.

use async_trait::async_trait;
use heddle_kernel::{EventId, Page, PageRequest, Revision, Stored, TenantId, Timestamp};
use heddle_policy::licence::Limit;
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::StoreError;
use heddle_usecase::{ActorKind, AuditEntry, IdempotencyRecord, Journal, Outcome, Target, hex};
use serde_json::Value;
use uuid::Uuid;

use super::directory::{LimitOutcome, NewOrganization, NewUser};
use crate::chain::{AuditRecord, ChainRow, Content, INSTALLATION_TRAIL, time_of_id};
use crate::records::{InstallationState, Usage};

/// An audit event as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// Id of the event.
    pub id: EventId,
    /// The organisation; none for the installation as a whole.
    pub tenant: Option<TenantId>,
    /// Instant of the event.
    pub at: Timestamp,
    /// The kind of its actor.
    pub actor_kind: Stored<ActorKind>,
    /// The user's id, if there is a user.
    pub actor_id: Option<String>,
    /// A name for people.
    pub actor_display: String,
    /// Id of the actor's session or API token, as the kind says.
    pub actor_credential: Option<String>,
    /// Action: `workflow.created`, ...
    pub action: String,
    /// Type of the resource.
    pub resource_type: String,
    /// Id of the resource; none for an action on no single one.
    pub resource_id: Option<String>,
    /// Second thing that it is about.
    pub target: Option<Target>,
    /// Outcome of the action.
    pub outcome: Stored<Outcome>,
    /// The request that asked for it.
    pub request_id: String,
    /// Address of the client.
    pub client_ip: Option<String>,
    /// Further details of the action.
    pub details: Value,
    /// Number in the chain; none before it is sealed.
    pub sequence: Option<i64>,
    /// Hash of the chain up to it, in lower-case hex; none before it is sealed.
    pub hash: Option<String>,
    /// Reason for which the stored row can't be read: all but the id and the organisation are then empty.
    pub unreadable: Option<String>,
}

impl AuditEvent {
    /// The event of a row of a trail. A kind or an outcome that this version does not know is shown as it is, and a row that
    /// can't be read as such: one event must not hide the rest of the trail.
    #[must_use]
    pub fn of_row(trail: TenantId, row: ChainRow) -> Self {
        let ChainRow { id, sequence, hash, content } = row;
        let tenant = Some(trail).filter(|trail| *trail != INSTALLATION_TRAIL);
        let hash = hash.as_deref().map(hex);
        match content {
            Content::Readable(record) => Self { sequence, hash, ..Self::of_record(tenant, *record) },
            Content::Unreadable(why) => Self {
                id,
                tenant,
                at: time_of_id(id.0),
                actor_kind: Stored::Other(String::new()),
                actor_id: None,
                actor_display: String::new(),
                actor_credential: None,
                action: String::new(),
                resource_type: String::new(),
                resource_id: None,
                target: None,
                outcome: Stored::Other(String::new()),
                request_id: String::new(),
                client_ip: None,
                details: Value::Object(serde_json::Map::new()),
                sequence,
                hash,
                unreadable: Some(why),
            },
        }
    }

    fn of_record(tenant: Option<TenantId>, record: AuditRecord) -> Self {
        Self {
            id: record.id,
            tenant,
            at: record.at,
            actor_kind: Stored::read(&record.actor_kind, ActorKind::parse),
            actor_id: record.actor_id,
            actor_display: record.actor_display,
            actor_credential: record.actor_credential,
            action: record.action,
            resource_type: record.resource_type,
            resource_id: record.resource_id,
            target: record.target_type.zip(record.target_id).map(|(kind, id)| Target { kind, id }),
            outcome: Stored::read(&record.outcome, Outcome::parse),
            request_id: record.request_id,
            client_ip: record.client_ip,
            details: record.details,
            sequence: None,
            hash: None,
            unreadable: None,
        }
    }
}

/// Filter for audit events; all that is given must fit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// The action; all that begin so when it ends in `.*`.
    pub action: Option<String>,
    /// The actor's id.
    pub actor: Option<String>,
    /// Kind of a thing that it is about: the resource or the target.
    pub resource_type: Option<String>,
    /// Id of that thing.
    pub resource_id: Option<String>,
    /// `succeeded`, `denied` or `failed`.
    pub outcome: Option<String>,
    /// Earliest instant.
    pub from: Option<Timestamp>,
    /// Instant before which they lie.
    pub to: Option<Timestamp>,
}

/// Rows that set-up writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetUp {
    /// The first organisation with its system roles; its owner is the first user.
    pub organization: NewOrganization,
    /// The first user. The membership is the same as the organisation's owner.
    pub user: NewUser,
    /// The installation's row after set-up.
    pub state: InstallationState,
    /// The row's revision that was read.
    pub expected: Revision,
}

/// Counter of something that a licence limits and that another area keeps: an area to come registers its own.
#[async_trait]
pub trait LimitCounter: Send + Sync {
    /// Name of what is counted.
    fn counts(&self) -> Limit;

    /// The present number in the whole installation.
    async fn count(&self) -> Result<u64, StoreError>;
}

/// Keeps what concerns the installation as a whole.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait InstallationStore: Send + Sync {
    /// The installation's row.
    async fn load(&self) -> Result<Option<InstallationState>, StoreError>;

    /// Writes the first row. `Duplicate` when another node was faster.
    async fn insert(&self, state: &InstallationState, journal: &Journal) -> Result<(), StoreError>;

    /// Replaces the row.
    async fn update(
        &self,
        state: &InstallationState,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Writes first organisation, first user and the row. `Duplicate` when there is any user.
    async fn set_up(&self, set_up: &SetUp, journal: &Journal) -> Result<(), StoreError>;

    /// Counts of organisations and users.
    async fn usage(&self) -> Result<Usage, StoreError>;

    /// Takes a server in, which is seen now. One that is in already is in once; those that were not seen for
    /// [`crate::records::NODE_SECONDS`] are gone. At the limit of others it is refused.
    async fn join(&self, node: Uuid, now: Timestamp, limit: Option<u64>) -> Result<LimitOutcome, StoreError>;

    /// Notes that a server, which is in, was seen now.
    async fn stay(&self, node: Uuid, now: Timestamp) -> Result<(), StoreError>;

    /// Takes a server out.
    async fn leave(&self, node: Uuid) -> Result<(), StoreError>;

    /// Number of servers that were seen within [`crate::records::NODE_SECONDS`].
    async fn nodes(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Adds an audit event that belongs to no other change: a refusal or a failed sign-in.
    async fn audit(&self, entry: &AuditEntry) -> Result<(), StoreError>;

    /// The audit events of an organisation, or without one those that belong to none, within reach (of their ids),
    /// newest first.
    async fn audit_events(
        &self,
        tenant: Option<TenantId>,
        filter: &AuditFilter,
        access: &AccessFilter<resource::AuditEvent>,
        page: &PageRequest,
    ) -> Result<Page<AuditEvent>, StoreError>;

    /// The answer kept under one of these keys that has not expired; the first of the keys counts most.
    async fn idempotent(
        &self,
        tenant: TenantId,
        operation: &str,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, StoreError>;
}
