//! What is kept about organisations, people and what they may.

use heddle_kernel::{GrantId, Revision, RoleId, SessionId, TenantId, Timestamp, TokenId, UserId, literals};
use heddle_policy::{Effect, RoleRules};

/// An organisation: the tenant to whom everything belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    /// Its id.
    pub id: TenantId,
    /// Its name in addresses, unique in the installation.
    pub slug: String,
    /// Its name for people.
    pub display_name: String,
    /// Grows with each change.
    pub revision: Revision,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

literals! {
    /// Whether an account is in use.
    pub enum UserState {
        /// In use.
        Active = "active",
        /// Switched off: no sign-in, no token.
        Disabled = "disabled",
    }
}

/// An account.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// The organisation that alone may change or delete it.
    pub home: TenantId,
    /// Its e-mail address, in lower case, unique in the installation.
    pub email: String,
    /// Its name for people.
    pub display_name: String,
    /// The password's hash as a PHC text; none for who can't sign in by password.
    pub password_hash: Option<String>,
    /// Whether it is in use.
    pub state: UserState,
    /// When the password was last set.
    pub password_changed_at: Option<Timestamp>,
    /// Grows with each change.
    pub revision: Revision,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl std::fmt::Debug for User {
    // A hash has no place in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("id", &self.id).field("home", &self.home).finish_non_exhaustive()
    }
}

/// That a user belongs to an organisation, with which roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The organisation.
    pub tenant: TenantId,
    /// The user.
    pub user_id: UserId,
    /// His roles there, sorted, without repeats.
    pub roles: Vec<RoleId>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// Grows with each change.
    pub revision: Revision,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A membership with what is shown of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The membership.
    pub membership: Membership,
    /// The user's e-mail address.
    pub email: String,
    /// The user's name for people.
    pub display_name: String,
    /// Whether the account is in use.
    pub state: UserState,
    /// His roles with their names.
    pub roles: Vec<(RoleId, String)>,
}

/// A role of an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The organisation.
    pub tenant: TenantId,
    /// Its id.
    pub id: RoleId,
    /// Its name, unique in the organisation.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it is one of the roles that nobody can change.
    pub system: bool,
    /// What it gives and takes. For a system role the code's table counts, not what is stored.
    pub rules: RoleRules,
    /// Grows with each change.
    pub revision: Revision,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

literals! {
    /// Kind of a grant's principal.
    pub enum PrincipalKind {
        /// One user.
        User = "user",
        /// All with a role.
        Role = "role",
        /// All in the organisation.
        Everyone = "everyone",
    }
}

/// To whom a grant applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantPrincipal {
    /// One user.
    User(UserId),
    /// All with a role.
    Role(RoleId),
    /// All in the organisation.
    Everyone,
}

impl GrantPrincipal {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> PrincipalKind {
        match self {
            Self::User(_) => PrincipalKind::User,
            Self::Role(_) => PrincipalKind::Role,
            Self::Everyone => PrincipalKind::Everyone,
        }
    }

    /// The user's or the role's id.
    #[must_use]
    pub const fn id(&self) -> Option<uuid::Uuid> {
        match self {
            Self::User(id) => Some(id.0),
            Self::Role(id) => Some(id.0),
            Self::Everyone => None,
        }
    }

    /// The principal of a kind and an id; none when the kind needs an id or has none.
    #[must_use]
    pub const fn from_parts(kind: PrincipalKind, id: Option<uuid::Uuid>) -> Option<Self> {
        match (kind, id) {
            (PrincipalKind::User, Some(id)) => Some(Self::User(UserId(id))),
            (PrincipalKind::Role, Some(id)) => Some(Self::Role(RoleId(id))),
            (PrincipalKind::Everyone, None) => Some(Self::Everyone),
            (PrincipalKind::User | PrincipalKind::Role, None) | (PrincipalKind::Everyone, Some(_)) => None,
        }
    }
}

/// A grant or a deny. It is never changed, only created and deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// The organisation.
    pub tenant: TenantId,
    /// Its id.
    pub id: GrantId,
    /// To whom it applies.
    pub principal: GrantPrincipal,
    /// The type, or `*`.
    pub resource: String,
    /// The action, or `*`.
    pub action: String,
    /// One id, or `*`.
    pub selector: String,
    /// Gives or takes.
    pub effect: Effect,
    /// Why it was made.
    pub reason: Option<String>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// By whom.
    pub created_by: UserId,
}

/// A signed-in session. The token itself is nowhere kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The user.
    pub user_id: UserId,
    /// The organisation that counts when a request names none.
    pub tenant: TenantId,
    /// SHA-256 of the token, in lower-case hex.
    pub token_sha256: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was last used; written at most once a minute.
    pub last_seen_at: Timestamp,
    /// When it ends, however much it is used.
    pub expires_at: Timestamp,
    /// From where it was opened.
    pub client_ip: Option<String>,
    /// With what it was opened: the `User-Agent` header, cut to 300 characters.
    pub user_agent: Option<String>,
}

/// An API token. The token itself is nowhere kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Its id.
    pub id: TokenId,
    /// The user for whom it acts.
    pub user_id: UserId,
    /// The only organisation in which it acts; none: any to which the user belongs.
    pub tenant: Option<TenantId>,
    /// Its name, unique among the user's tokens.
    pub name: String,
    /// SHA-256 of the token, in lower-case hex.
    pub token_sha256: String,
    /// The last four characters of the token, to tell tokens apart.
    pub hint: String,
    /// The permissions to which it is narrowed; none: all of the user's.
    pub permissions: Option<Vec<String>>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used; written at most once a minute.
    pub last_used_at: Option<Timestamp>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

/// The failed sign-ins of an account, known or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    /// How many since the last success.
    pub failures: u32,
    /// When the last one was.
    pub last_at: Timestamp,
    /// Before then no other is looked at.
    pub next_at: Timestamp,
}

/// What is known of the installation as a whole: one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallationState {
    /// Its id; follows from the installation key.
    pub installation_id: String,
    /// SHA-256 of the set-up token, in lower-case hex, while set-up is open.
    pub setup_token_sha256: Option<String>,
    /// When the set-up token ends.
    pub setup_expires_at: Option<Timestamp>,
    /// When the installation was set up.
    pub set_up_at: Option<Timestamp>,
    /// The licence as it was installed: armour or bare token.
    pub licence: Option<String>,
    /// When it was installed.
    pub licence_installed_at: Option<Timestamp>,
    /// When the self-issued trial was started; it can be but once.
    pub trial_started_at: Option<Timestamp>,
    /// Ids of licences that hold no longer.
    pub revoked: Vec<String>,
    /// The latest time that was ever seen.
    pub high_water_mark: Timestamp,
    /// HMAC-SHA-256 (hex) over what must not be changed from outside, under a key made from the installation key.
    pub seal: String,
    /// Grows with each change.
    pub revision: Revision,
    /// When the row was created.
    pub created_at: Timestamp,
}

/// How many of what there are in the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Organisations.
    pub organizations: u64,
    /// Accounts, switched off or not.
    pub users: u64,
}

/// An organisation to which a user belongs, with the names of his roles there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnOrganization {
    /// The organisation.
    pub organization: Organization,
    /// The names of the roles, sorted.
    pub roles: Vec<String>,
}
