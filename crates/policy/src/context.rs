//! Who acts where, when, and for which request.

use heddle_kernel::{RequestId, SessionId, TenantId, Timestamp, TokenId, UserId};

use crate::decision::PrivilegeEscalation;
use crate::facts::{Facts, RoleRules};
use crate::permission::Permission;
use crate::snapshot::Snapshot;
use crate::system_roles::OWNER;

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

/// Why the installation acts by itself, where nobody calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnReason(pub &'static str);

/// Who acts in which organisation for which request. The gate makes one from a caller's snapshot, and the installation
/// one for itself.
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

    /// Why the installation acts by itself; none when somebody called.
    #[must_use]
    pub const fn own_reason(&self) -> Option<OwnReason> {
        self.own
    }

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

    /// Whether the caller holds a permission.
    #[must_use]
    pub fn holds(&self, permission: Permission) -> bool {
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
