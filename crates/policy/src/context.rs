//! Context of a request: the caller, the organisation, the instant, and the request itself.

use heddle_kernel::{RequestId, SessionId, TenantId, Timestamp, TokenId, UserId};

use crate::decision::PrivilegeEscalation;
use crate::facts::{Facts, RoleRules};
use crate::permission::Permission;
use crate::snapshot::Snapshot;
use crate::system_roles::OWNER;

/// Credential by which the caller proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// Session opened with a sign-in.
    Session(SessionId),
    /// API token.
    ApiToken(TokenId),
    /// API token of a service account.
    ServiceToken(TokenId),
    /// Command line of the machine itself: no sign-in, but the operator who names the account. The id is that of no
    /// stored session.
    CommandLine(SessionId),
}

/// Caller on whose behalf something is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The user.
    pub user_id: UserId,
    /// Credential by which they proved who they are.
    pub session: SessionKind,
    /// E-mail address of the caller.
    pub email: String,
    /// Display name of the caller.
    pub display: String,
    /// Names of the groups and roles that they have in the organisation; a human task may name them as
    /// candidates.
    pub groups: Vec<String>,
}

/// Facts about a request that are known before anything is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFacts {
    /// Correlation identifier of the request.
    pub request_id: RequestId,
    /// Instant of the request.
    pub now: Timestamp,
    /// From where, if that is known.
    pub client_ip: Option<String>,
}

/// Reason for which the installation acts by itself, where nobody calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnReason(pub &'static str);

/// Context of a request: the caller, the organisation, and the request. The gate makes one from a caller's
/// snapshot, and the installation one for itself.
#[derive(Debug, Clone)]
pub struct RequestContext {
    principal: Principal,
    request: RequestFacts,
    snapshot: Snapshot,
    own: Option<OwnReason>,
}

impl RequestContext {
    /// The context of a request of the snapshot's caller in the snapshot's organisation.
    ///
    /// The caller is whom the snapshot is about, whatever the principal's `user_id` says.
    #[must_use]
    pub fn of_caller(snapshot: &Snapshot, principal: Principal, request: RequestFacts) -> Self {
        let principal = Principal { user_id: snapshot.user_id(), ..principal };
        Self { principal, request, snapshot: snapshot.clone(), own: None }
    }

    /// The context of what the installation does by itself in an organisation, with all rights, in the name of a user:
    /// for commands of the operator and the demo. It always has a reason.
    #[must_use]
    pub fn of_the_installation(
        reason: OwnReason,
        tenant: TenantId,
        user_id: UserId,
        session: SessionId,
        request: RequestFacts,
    ) -> Self {
        let facts = Facts::member(user_id, tenant).with_system_role(OWNER);
        let principal = Principal {
            user_id,
            session: SessionKind::Session(session),
            email: "heddle".to_owned(),
            display: "heddle".to_owned(),
            groups: Vec::new(),
        };
        let snapshot = Snapshot::new(&facts, request.now);
        Self { principal, request, snapshot, own: Some(reason) }
    }

    /// Reason for which the installation acts by itself; none when somebody called.
    #[must_use]
    pub const fn own_reason(&self) -> Option<OwnReason> {
        self.own
    }

    /// The organisation.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.snapshot.tenant()
    }

    /// Caller on whose behalf it is done.
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

    /// Facts about the request.
    #[must_use]
    pub const fn request(&self) -> &RequestFacts {
        &self.request
    }

    /// Instant of the request.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.request.now
    }

    /// From where, if that is known.
    #[must_use]
    pub fn client_ip(&self) -> Option<&str> {
        self.request.client_ip.as_deref()
    }

    /// Whether the caller holds a permission.
    #[must_use]
    pub fn holds(&self, permission: Permission) -> bool {
        self.snapshot.holds(permission)
    }

    /// Whether the caller has all that these rules give: nobody gives away more than they have.
    ///
    /// # Errors
    /// With the first right that the caller lacks.
    pub fn covers(&self, rules: &RoleRules) -> Result<(), PrivilegeEscalation> {
        self.snapshot.covers(rules)
    }

    /// Snapshot of the rights that decide for this caller.
    #[must_use]
    pub const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}
