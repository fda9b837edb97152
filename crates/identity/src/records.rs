//! Records of organisations, people and their permissions.

use std::collections::BTreeMap;

use heddle_kernel::{
    GrantId, GroupId, Revision, RoleId, SessionId, TenantId, Timestamp, TokenId, UserId, literals,
};
use heddle_policy::{Effect, ResourceType, RoleRules, StoredSelector};

/// An organisation: the tenant to whom everything belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    /// Id of the organisation.
    pub id: TenantId,
    /// Name in addresses, unique in the installation.
    pub slug: String,
    /// Name for people.
    pub display_name: String,
    /// Grows with each change.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// Instant of the last change.
    pub updated_at: Timestamp,
}

literals! {
    /// Whether an account is in use.
    pub enum UserState {
        /// Account in use.
        Active = "active",
        /// Switched off: no sign-in, no token.
        Disabled = "disabled",
    }
}

literals! {
    /// Kind of an account.
    pub enum UserKind {
        /// A person, who signs in.
        Person = "person",
        /// A service: no password and no sign-in, only API tokens that its managers make.
        Service = "service",
    }
}

/// Instants at which roles end for whoever has them; a role that is not in it has no end.
pub type RoleEnds = BTreeMap<RoleId, Timestamp>;

/// An account.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// Id of the user.
    pub id: UserId,
    /// The organisation that alone may change or delete it.
    pub home: TenantId,
    /// Kind of the account; it never changes.
    pub kind: UserKind,
    /// E-mail address, in lower case, unique in the installation.
    pub email: String,
    /// Name for people.
    pub display_name: String,
    /// The password's hash as a PHC text; none for who can't sign in by password.
    pub password_hash: Option<String>,
    /// Whether it is in use.
    pub state: UserState,
    /// Instant at which the password was last set.
    pub password_changed_at: Option<Timestamp>,
    /// Instant at which the second factor was confirmed; none without one.
    pub totp_enrolled_at: Option<Timestamp>,
    /// Grows with each change.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// Instant of the last change.
    pub updated_at: Timestamp,
}

impl std::fmt::Debug for User {
    // A hash has no place in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("id", &self.id).field("home", &self.home).finish_non_exhaustive()
    }
}

/// Membership of a user in an organisation, with their roles there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The organisation.
    pub tenant: TenantId,
    /// The user.
    pub user_id: UserId,
    /// Roles there, sorted, without repeats; ended ones as well.
    pub roles: Vec<RoleId>,
    /// Ends of these roles.
    pub role_ends: RoleEnds,
    /// Groups there, sorted, without repeats.
    pub groups: Vec<GroupId>,
    /// Instant of its end; none: never.
    pub expires_at: Option<Timestamp>,
    /// Grows with each change.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// Instant of the last change.
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
    /// Roles of the user with their names.
    pub roles: Vec<(RoleId, String)>,
    /// Groups of the user with their names.
    pub groups: Vec<(GroupId, String)>,
}

/// A role that a group gives to its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRole {
    /// Id of the role.
    pub id: RoleId,
    /// Name of the role.
    pub name: String,
    /// Instant from which on the group does not give it; none: never.
    pub expires_at: Option<Timestamp>,
}

impl GroupRole {
    /// Whether it has not ended.
    #[must_use]
    pub fn lives(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

/// A group of members of an organisation. Groups hold no groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the group.
    pub id: GroupId,
    /// Name, unique among the groups and roles of the organisation: human tasks name either.
    pub name: String,
    /// Purpose of the group.
    pub description: Option<String>,
    /// Roles that its members have by it, by name; ended ones as well.
    pub roles: Vec<GroupRole>,
    /// Grows with each change.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// Instant of the last change.
    pub updated_at: Timestamp,
}

/// A role of an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the role.
    pub id: RoleId,
    /// Name, unique in the organisation.
    pub name: String,
    /// Purpose of the role.
    pub description: Option<String>,
    /// Whether it is one of the roles that nobody can change.
    pub system: bool,
    /// Permissions that it gives and takes. For a system role the code's table counts, not what is stored.
    pub rules: RoleRules,
    /// Grows with each change.
    pub revision: Revision,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// Instant of the last change.
    pub updated_at: Timestamp,
}

literals! {
    /// Kind of a grant's principal.
    pub enum PrincipalKind {
        /// One user.
        User = "user",
        /// All in a group.
        Group = "group",
        /// All with a role.
        Role = "role",
        /// All in the organisation.
        Everyone = "everyone",
    }
}

/// Principal to whom a grant applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantPrincipal {
    /// One user.
    User(UserId),
    /// All in a group.
    Group(GroupId),
    /// All with a role.
    Role(RoleId),
    /// All in the organisation.
    Everyone,
}

impl GrantPrincipal {
    /// Kind of the principal.
    #[must_use]
    pub const fn kind(&self) -> PrincipalKind {
        match self {
            Self::User(_) => PrincipalKind::User,
            Self::Group(_) => PrincipalKind::Group,
            Self::Role(_) => PrincipalKind::Role,
            Self::Everyone => PrincipalKind::Everyone,
        }
    }

    /// The user's, the group's or the role's id.
    #[must_use]
    pub const fn id(&self) -> Option<uuid::Uuid> {
        match self {
            Self::User(id) => Some(id.0),
            Self::Group(id) => Some(id.0),
            Self::Role(id) => Some(id.0),
            Self::Everyone => None,
        }
    }

    /// The principal of a kind and an id; none when the kind needs an id or has none.
    #[must_use]
    pub const fn from_parts(kind: PrincipalKind, id: Option<uuid::Uuid>) -> Option<Self> {
        match (kind, id) {
            (PrincipalKind::User, Some(id)) => Some(Self::User(UserId(id))),
            (PrincipalKind::Group, Some(id)) => Some(Self::Group(GroupId(id))),
            (PrincipalKind::Role, Some(id)) => Some(Self::Role(RoleId(id))),
            (PrincipalKind::Everyone, None) => Some(Self::Everyone),
            (PrincipalKind::User | PrincipalKind::Group | PrincipalKind::Role, None)
            | (PrincipalKind::Everyone, Some(_)) => None,
        }
    }
}

/// A grant or a deny. It is never changed, only created and deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the grant.
    pub id: GrantId,
    /// Principal to whom it applies.
    pub principal: GrantPrincipal,
    /// The type, or `*`.
    pub resource: String,
    /// The action, or `*`.
    pub action: String,
    /// One id, or `*`.
    pub selector: String,
    /// Gives or takes.
    pub effect: Effect,
    /// Reason for the grant.
    pub reason: Option<String>,
    /// Instant of expiry; none: never.
    pub expires_at: Option<Timestamp>,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// User who created it.
    pub created_by: UserId,
}

impl GrantRow {
    /// Whether it has not ended.
    #[must_use]
    pub fn lives(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether its selector is no id of its type in any spelling that counts: as an allow it is nothing, as a deny it
    /// takes all of its type.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        let kind = ResourceType::parse(&self.resource);
        StoredSelector::read(kind, &self.selector) == StoredSelector::Unreadable
    }
}

literals! {
    /// Proof of a sign-in beside the password.
    pub enum SecondFactor {
        /// A one-time code.
        Totp = "totp",
        /// One of the recovery codes.
        RecoveryCode = "recoveryCode",
    }
}

/// A signed-in session. The token itself is nowhere kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Id of the session.
    pub id: SessionId,
    /// The user.
    pub user_id: UserId,
    /// The organisation that counts when a request names none.
    pub tenant: TenantId,
    /// SHA-256 of the token, in lower-case hex.
    pub token_sha256: String,
    /// Instant of its opening.
    pub created_at: Timestamp,
    /// Instant of the last use; written at most once a minute.
    pub last_seen_at: Timestamp,
    /// Instant of expiry, however much it is used.
    pub expires_at: Timestamp,
    /// Address of the client that opened it.
    pub client_ip: Option<String>,
    /// Client that opened it: the `User-Agent` header, cut to 300 characters.
    pub user_agent: Option<String>,
    /// Proof that it was opened with beside the password; none for an account without a second factor.
    pub second_factor: Option<SecondFactor>,
    /// Provider by which the person signed in; none for a password.
    pub provider: Option<String>,
}

/// A person's id at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalIdentity {
    /// Name of the provider.
    pub provider: String,
    /// Issuer of the provider: under one name there may be another provider some day.
    pub issuer: String,
    /// The person's id there.
    pub subject: String,
}

/// Role that a member has by the groups that a provider tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedRole {
    /// The organisation.
    pub tenant: TenantId,
    /// The role.
    pub role: RoleId,
    /// Name of the provider.
    pub provider: String,
}

/// An API token. The token itself is nowhere kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Id of the token.
    pub id: TokenId,
    /// The user for whom it acts.
    pub user_id: UserId,
    /// The only organisation in which it acts; none: any to which the user belongs.
    pub tenant: Option<TenantId>,
    /// Name, unique among the user's tokens.
    pub name: String,
    /// SHA-256 of the token, in lower-case hex.
    pub token_sha256: String,
    /// The last four characters of the token, to tell tokens apart.
    pub hint: String,
    /// The permissions to which it is narrowed; none: all of the user's.
    pub permissions: Option<Vec<String>>,
    /// Whether the token ends in the checksum that scanners for leaked secrets know; those of before do not.
    pub checksum: bool,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// Instant of the last use; written at most once a minute.
    pub last_used_at: Option<Timestamp>,
    /// Instant of expiry; none: never.
    pub expires_at: Option<Timestamp>,
}

/// The failed tries of a bucket: of an account, known or not, or of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    /// Number of failures since the last success.
    pub failures: u32,
    /// Instant of the last failure.
    pub last_at: Timestamp,
    /// Earliest instant at which another is looked at; of a leaking bucket the instant at which it is empty.
    pub next_at: Timestamp,
}

/// State of the installation as a whole: one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallationState {
    /// Id of the installation; follows from the installation key.
    pub installation_id: String,
    /// SHA-256 of the set-up token, in lower-case hex, while set-up is open.
    pub setup_token_sha256: Option<String>,
    /// Instant at which the set-up token expires.
    pub setup_expires_at: Option<Timestamp>,
    /// Instant of the set-up; none before it.
    pub set_up_at: Option<Timestamp>,
    /// The licence as it was installed: armour or bare token.
    pub licence: Option<String>,
    /// Instant of the licence's installation.
    pub licence_installed_at: Option<Timestamp>,
    /// Instant at which the self-issued trial was started; it can be but once.
    pub trial_started_at: Option<Timestamp>,
    /// Ids of licences that hold no longer.
    pub revoked: Vec<String>,
    /// The latest time that was ever seen.
    pub high_water_mark: Timestamp,
    /// HMAC-SHA-256 (hex) over what must not be changed from outside, under a key made from the installation key.
    pub seal: String,
    /// Grows with each change.
    pub revision: Revision,
    /// Instant of the row's creation.
    pub created_at: Timestamp,
}

/// Seconds for which a server counts as running after it was last seen: three of its signs of life.
pub const NODE_SECONDS: i64 = 3 * 60;

/// Counts of organisations and accounts in the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Organisations.
    pub organizations: u64,
    /// Accounts, switched off or not.
    pub users: u64,
}

/// Organisation to which a user belongs, with the names of their roles there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnOrganization {
    /// The organisation.
    pub organization: Organization,
    /// The names of the roles, sorted.
    pub roles: Vec<String>,
}
