//! Who acts where, when, and for which request.

use heddle_kernel::{RequestId, SessionId, TenantId, Timestamp, TokenId, UserId};

use crate::capability::Capability;
use crate::facts::RoleRules;
use crate::snapshot::{Authorized, DenialError, PrivilegeEscalation, Snapshot, Target};

/// How the caller proved who he is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// By a session opened with a sign-in.
    Session(SessionId),
    /// By an API token.
    ApiToken(TokenId),
}

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The user.
    pub user_id: UserId,
    /// How he proved it.
    pub session: SessionKind,
    /// His e-mail address.
    pub email: String,
    /// His name for people.
    pub display: String,
    /// The names of the groups and roles that he has in the organisation; a human task may name them as candidates.
    pub groups: Vec<String>,
}

/// What is known of a request before anything is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFacts {
    /// Its correlation identifier.
    pub request_id: RequestId,
    /// When it came.
    pub now: Timestamp,
    /// From where, if that is known.
    pub client_ip: Option<String>,
}

/// Who acts in which organisation for which request. Only [`Snapshot::context`] makes one.
#[derive(Debug, Clone)]
pub struct RequestContext {
    principal: Principal,
    request: RequestFacts,
    snapshot: Snapshot,
}

impl Snapshot {
    /// The context of a request of this snapshot's caller in this snapshot's organisation.
    ///
    /// The caller is whom the snapshot is about, whatever the principal's `user_id` says.
    #[must_use]
    pub fn context(&self, principal: Principal, request: RequestFacts) -> RequestContext {
        let principal = Principal { user_id: self.user_id(), ..principal };
        RequestContext { principal, request, snapshot: self.clone() }
    }
}

impl RequestContext {
    /// The organisation.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.snapshot.tenant()
    }

    /// Who acts.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The user who acts.
    #[must_use]
    pub const fn user_id(&self) -> UserId {
        self.principal.user_id
    }

    /// The request's correlation identifier.
    #[must_use]
    pub const fn request_id(&self) -> &RequestId {
        &self.request.request_id
    }

    /// What is known of the request.
    #[must_use]
    pub const fn request(&self) -> &RequestFacts {
        &self.request
    }

    /// When the request came.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.request.now
    }

    /// From where, if that is known.
    #[must_use]
    pub fn client_ip(&self) -> Option<&str> {
        self.request.client_ip.as_deref()
    }

    /// Decides whether the caller may do `C` to what was loaded.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize<C: Capability>(&self, target: &Target) -> Result<Authorized<C>, DenialError> {
        self.snapshot.authorize(target)
    }

    /// Whether the caller holds a permission.
    #[must_use]
    pub fn holds(&self, permission: &str) -> bool {
        self.snapshot.holds(permission)
    }

    /// Whether the caller has all that these rules give: nobody gives away more than he has.
    ///
    /// # Errors
    /// With the first right that the caller lacks.
    pub fn covers(&self, rules: &RoleRules) -> Result<(), PrivilegeEscalation> {
        self.snapshot.covers(rules)
    }

    /// What decides for this caller.
    #[must_use]
    pub const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}
