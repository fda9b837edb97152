//! Users behind tokens, and their permissions.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{GroupId, SessionId, TenantId, Timestamp, UserId};
use heddle_usecase::StoreError;

use crate::records::{ApiToken, GrantPrincipal, GrantRow, Membership, Role, RoleEnds, Session, User};

/// Kind of token that was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A session's.
    Session,
    /// An API token.
    ApiToken,
}

/// Credential to which a token belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A session.
    Session(Session),
    /// An API token.
    ApiToken(ApiToken),
    /// None: the operator names the account on the command line of the machine itself.
    CommandLine(SessionId),
}

/// Standing of a user in an organisation: membership and permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantAccess {
    /// Membership of the user, if there is one; ended ones as well.
    pub membership: Option<Membership>,
    /// The roles that the user has, by the membership or by a group, each once; ended ones as well.
    pub roles: Vec<Role>,
    /// Ends of these roles; of one that several give it is the last end, and none where one gives it without.
    pub role_ends: RoleEnds,
    /// The groups in which the user is, with their names.
    pub groups: Vec<(GroupId, String)>,
    /// Grants and denies that apply to the user, to one of these groups or roles or to everyone; ended ones may be
    /// left out.
    pub grants: Vec<GrantRow>,
    /// The organisation's authorization revision; 0 when there is no such organisation.
    pub revision: i64,
}

impl TenantAccess {
    /// Whether one of its roles has not ended.
    #[must_use]
    pub fn has(&self, role: &Role, now: Timestamp) -> bool {
        self.role_ends.get(&role.id).is_none_or(|end| now < *end)
    }

    /// Whether a grant or a deny of it has not ended, nor the role to which it is.
    #[must_use]
    pub fn applies(&self, grant: &GrantRow, now: Timestamp) -> bool {
        let role_lives = match grant.principal {
            GrantPrincipal::Role(role) => self.role_ends.get(&role).is_none_or(|end| now < *end),
            GrantPrincipal::User(_) | GrantPrincipal::Group(_) | GrantPrincipal::Everyone => true,
        };
        role_lives && grant.lives(now)
    }

    /// Words by which human tasks name what the user is here: names and ids of the living roles and of the groups.
    #[must_use]
    pub fn candidate_of(&self, now: Timestamp) -> Vec<String> {
        let roles = self.roles.iter().filter(|role| self.has(role, now));
        let roles = roles.flat_map(|role| [role.name.clone(), role.id.to_string()]);
        roles.chain(self.groups.iter().flat_map(|(id, name)| [name.clone(), id.to_string()])).collect()
    }
}

/// User for whom a token stands, with their standing in an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Credential to which the token belongs.
    pub credential: Credential,
    /// The user.
    pub user: User,
    /// The organisation asked for, or the credential's own, or the user's home.
    pub tenant: TenantId,
    /// Standing of the user there. As long as it is the same one, rights that were compiled from it hold.
    pub standing: Arc<TenantAccess>,
}

/// Reads who a token stands for. On the path of every request: as few statements as can be.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait AccessStore: Send + Sync {
    /// User for whom the token with this SHA-256 (lower-case hex) stands, with their standing in `tenant`,
    /// or, when that is none, in the credential's own organisation, or in the user's home. Also for sessions
    /// that have ended and accounts that are switched off: the use case decides.
    async fn access(
        &self,
        kind: TokenKind,
        token_sha256: &str,
        tenant: Option<TenantId>,
    ) -> Result<Option<Access>, StoreError>;

    /// User with their standing in an organisation; none for a user who is neither at home nor a member
    /// there.
    async fn standing(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Option<(User, TenantAccess)>, StoreError>;

    /// The organisations in which a user has a membership, ended ones as well.
    async fn tenants_of(&self, user: UserId) -> Result<Vec<TenantId>, StoreError>;

    /// Notes that a token was used. May be lost.
    async fn touch(&self, kind: TokenKind, token_sha256: &str, at: Timestamp) -> Result<(), StoreError>;
}
