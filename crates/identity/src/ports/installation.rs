//! The installation as a whole, its audit trail and the answers kept for repeated calls.

use async_trait::async_trait;
use heddle_kernel::{EventId, Page, PageRequest, Revision, Stored, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::StoreError;
use heddle_usecase::{ActorKind, AuditEntry, IdempotencyRecord, Journal, Outcome, Target};
use serde_json::Value;

use super::directory::{NewOrganization, NewUser};
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

    /// The answer kept under a key that has not expired.
    async fn idempotent(
        &self,
        tenant: TenantId,
        operation: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, StoreError>;
}
