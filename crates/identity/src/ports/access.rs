//! Users behind tokens, and their permissions.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{SessionId, TenantId, Timestamp, UserId};
use heddle_usecase::StoreError;

use crate::records::{ApiToken, GrantRow, Membership, Role, Session, User};

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
    /// The roles that the membership names.
    pub roles: Vec<Role>,
    /// Grants and denies that apply to the user, to one of these roles or to everyone; ended ones may be left
    /// out.
    pub grants: Vec<GrantRow>,
    /// The organisation's authorization revision; 0 when there is no such organisation.
    pub revision: i64,
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
