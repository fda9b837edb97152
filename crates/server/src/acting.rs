//! Acting of the installation by itself: for the demo and the command line, where nobody calls over HTTP.

use heddle_identity::ports::SessionStore as _;
use heddle_installation::error::StartError;
use heddle_installation::{own_context, stores};
use heddle_kernel::{EventId, IdSource as _, TenantId, UserId};
use heddle_policy::{OwnReason, RequestContext};
use heddle_usecase::{Actor, AuditEntry, Journal, Outcome};
use serde_json::json;

use crate::app::App;

/// Organisation among those of an account.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which<'a> {
    /// The only one.
    Only,
    /// The one with this slug.
    Slug(&'a str),
    /// The one with this id.
    Id(TenantId),
}

/// Organisation in which something is done, and user in whose name.
#[derive(Debug, Clone)]
pub struct Acting {
    user: UserId,
    tenant: TenantId,
}

impl Acting {
    /// The installation itself, in one organisation.
    #[must_use]
    pub const fn installation(tenant: TenantId) -> Self {
        Self { user: UserId(uuid::Uuid::nil()), tenant }
    }

    /// The account that founded an organisation, in it.
    #[must_use]
    pub const fn founder(tenant: TenantId, user: UserId) -> Self {
        Self { user, tenant }
    }

    /// An account in one of its organisations.
    ///
    /// # Errors
    /// `NotFound` for the account or the organisation; `Refused` when it has several and none is named.
    pub(crate) async fn find(app: &App, email: &str, which: Which<'_>) -> Result<Self, StartError> {
        let store = stores::identity(app.db.clone());
        let email = email.trim().to_lowercase();
        let user = store.user_by_email(&email).await?;
        let user = user.ok_or_else(|| StartError::NotFound(format!("there is no account `{email}`")))?;
        let mut own = store.organizations_of(user.id, app.now()).await?;
        match which {
            Which::Only => {}
            Which::Slug(slug) => own.retain(|one| one.organization.slug == slug),
            Which::Id(id) => own.retain(|one| one.organization.id == id),
        }
        if own.len() > 1 {
            let slugs: Vec<_> = own.iter().map(|one| one.organization.slug.as_str()).collect();
            let slugs = slugs.join(", ");
            return Err(StartError::Refused(format!(
                "`{email}` belongs to {slugs}: name one with --organization"
            )));
        }
        let Some(found) = own.pop() else {
            let which = match which {
                Which::Only => "any organisation".to_owned(),
                Which::Slug(slug) => format!("`{slug}`"),
                Which::Id(id) => format!("`{id}`"),
            };
            return Err(StartError::NotFound(format!("`{email}` does not belong to {which}")));
        };
        Ok(Self { user: user.id, tenant: found.organization.id })
    }

    /// Account in whose name it is done.
    pub(crate) const fn user(&self) -> UserId {
        self.user
    }

    /// Organisation in which it is done.
    pub(crate) const fn tenant(&self) -> TenantId {
        self.tenant
    }

    pub(crate) fn context(&self, app: &App) -> RequestContext {
        own_context(OwnReason("a command of the operator"), app.now(), self.tenant, self.user)
    }
}

/// Journal beside a change that nobody called for over HTTP.
pub(crate) fn journal(app: &App, context: &RequestContext, action: &str, kind: &str, id: String) -> Journal {
    let audit = AuditEntry {
        id: EventId(app.ids.next(context.now())),
        tenant: Some(context.tenant()),
        at: context.now(),
        actor: Actor::system("heddle"),
        action: action.to_owned(),
        resource_type: kind.to_owned(),
        resource_id: Some(id),
        target: None,
        outcome: Outcome::Succeeded,
        request_id: context.request_id().as_str().to_owned(),
        client_ip: None,
        details: json!({}),
    };
    Journal { audit: Some(audit), ..Journal::default() }
}
