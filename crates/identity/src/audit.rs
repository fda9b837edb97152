//! The audit trail: reading it, and the events that no operation's row names.

use heddle_kernel::{EventId, Page, PageRequest, RequestId, TenantId, Timestamp, UserId};
use heddle_policy::capability::{AuditList, InstallationAuditList};
use heddle_policy::{AccessFilter, AuthorizedList, RequestContext, RequestFacts, resource};
use heddle_usecase::{Actor, ActorKind, AuditEntry, IdempotencyRecord, Journal, Outcome};
use serde_json::Value;

use crate::ports::{AuditEvent, AuditFilter};
use crate::records::User;
use crate::{Identity, UseCaseError};

/// An event to write down.
pub(crate) struct Event {
    pub(crate) tenant: Option<TenantId>,
    pub(crate) actor: Actor,
    pub(crate) action: &'static str,
    pub(crate) resource: (&'static str, Option<String>),
    pub(crate) outcome: Outcome,
    pub(crate) details: Value,
}

pub(crate) fn system() -> Actor {
    Actor::system("system")
}

pub(crate) fn anonymous() -> Actor {
    Actor::anonymous()
}

pub(crate) fn acting(user: &User) -> Actor {
    Actor {
        kind: ActorKind::User,
        id: Some(user.id.to_string()),
        display: user.display_name.clone(),
        credential: None,
    }
}

impl Identity {
    pub(crate) fn entry(&self, request: &RequestFacts, event: Event) -> AuditEntry {
        let (resource_type, resource_id) = event.resource;
        AuditEntry {
            id: EventId(self.new_id(request.now)),
            tenant: event.tenant,
            at: request.now,
            actor: event.actor,
            action: event.action.to_owned(),
            resource_type: resource_type.to_owned(),
            resource_id,
            target: None,
            outcome: event.outcome,
            request_id: request.request_id.as_str().to_owned(),
            client_ip: request.client_ip.clone(),
            details: event.details,
        }
    }

    pub(crate) fn journal(&self, request: &RequestFacts, event: Event) -> Journal {
        Journal { audit: Some(self.entry(request, event)), ..Journal::default() }
    }

    /// The facts of something that no request asks for.
    pub(crate) fn own_request(&self) -> RequestFacts {
        let now = self.tools.clock.now();
        RequestFacts { request_id: RequestId::made(self.new_id(now)), now, client_ip: None }
    }

    /// A page of the organisation's audit events, newest first.
    ///
    /// # Errors
    /// `Unavailable`; `Invalid` when `from` is not before `to`.
    pub async fn audit_events(
        &self,
        authorized: &AuthorizedList<AuditList>,
        context: &RequestContext,
        filter: &AuditFilter,
        page: &PageRequest,
    ) -> Result<Page<AuditEvent>, UseCaseError> {
        in_order(filter)?;
        let tenant = Some(context.tenant());
        Ok(self.ports.installation.audit_events(tenant, filter, authorized.filter(), page).await?)
    }

    /// A page of the audit events that belong to no organisation, newest first: refused sign-ins, licence states, calls
    /// of whoever is no member of the organisation that they name.
    ///
    /// # Errors
    /// As [`Self::audit_events`].
    pub async fn installation_audit_events(
        &self,
        authorized: &AuthorizedList<InstallationAuditList>,
        filter: &AuditFilter,
        page: &PageRequest,
    ) -> Result<Page<AuditEvent>, UseCaseError> {
        in_order(filter)?;
        Ok(self.ports.installation.audit_events(None, filter, authorized.filter(), page).await?)
    }

    /// A page of the audit events of an organisation, or of those that belong to none, newest first, for a reader whose reach
    /// is looked at anew between pages.
    ///
    /// # Errors
    /// As [`Self::audit_events`].
    pub async fn audit_page(
        &self,
        tenant: Option<TenantId>,
        access: &AccessFilter<resource::AuditEvent>,
        filter: &AuditFilter,
        page: &PageRequest,
    ) -> Result<Page<AuditEvent>, UseCaseError> {
        in_order(filter)?;
        Ok(self.ports.installation.audit_events(tenant, filter, access, page).await?)
    }

    /// Writes an event that belongs to no change: a refusal.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn audit(&self, entry: &AuditEntry) -> Result<(), UseCaseError> {
        Ok(self.ports.installation.audit(entry).await?)
    }

    /// The answer kept for repeats of a call, under any of these keys.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn idempotent(
        &self,
        tenant: TenantId,
        operation: &str,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, UseCaseError> {
        Ok(self.ports.installation.idempotent(tenant, operation, keys, now).await?)
    }

    /// Code of a call of a user that is remembered for its repeats, over its parts: the installation's key makes it,
    /// so that nobody who reads the database can try bodies against it.
    ///
    /// # Errors
    /// `Internal`.
    pub fn call_code(&self, user: UserId, parts: &[&[u8]]) -> Result<String, UseCaseError> {
        let user = user.to_string();
        let whole: Vec<&[u8]> = std::iter::once(user.as_bytes()).chain(parts.iter().copied()).collect();
        self.tools.key.call_code(&whole)
    }
}

fn in_order(filter: &AuditFilter) -> Result<(), UseCaseError> {
    match (filter.from, filter.to) {
        (Some(from), Some(to)) if from >= to => {
            Err(UseCaseError::invalid("to", "outOfRange", "`to` is after `from`."))
        }
        _ => Ok(()),
    }
}
