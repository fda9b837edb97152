//! Sign-in by providers: people's ids there, the roles that their groups give, and the sessions so opened.

use async_trait::async_trait;
use heddle_kernel::{Revision, RoleId, Timestamp, UserId};
use heddle_usecase::{Journal, RightsSeen, StoreError};

use crate::records::{ExternalIdentity, MappedRole, Membership, Organization, Session, User};

/// A membership as the groups of a provider make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedMembership {
    /// The membership as it shall be, with all of its roles.
    pub membership: Membership,
    /// The revision that was read; none where there was no membership.
    pub expected: Option<Revision>,
    /// Those of the roles that the provider's groups give.
    pub mapped: Vec<RoleId>,
}

/// Account for which a session is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderAccount {
    /// The one that the person's id belongs to since an earlier sign-in.
    Known {
        /// The account's revision that was read.
        seen: Revision,
    },
    /// One that was there, and to which the person's id belongs from now on.
    Linked {
        /// The account's revision that was read.
        seen: Revision,
        /// Rights of the account that were looked at: only while they are the present ones, everywhere, it is linked.
        rights: RightsSeen,
    },
    /// One that is made now.
    Made {
        /// The account.
        user: Box<User>,
        /// Most accounts that the licence allows.
        limit: Option<u64>,
    },
}

/// A session to open for somebody who signed in by a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSession {
    /// The session.
    pub session: Session,
    /// Account of the session.
    pub account: ProviderAccount,
    /// The person's id at the provider.
    pub identity: ExternalIdentity,
    /// Memberships that change, in the order of their organisations.
    pub memberships: Vec<MappedMembership>,
    /// SHA-256 of the token of the session that this one takes the place of, if one was shown.
    pub replaces: Option<String>,
}

/// Outcome of a sign-in by a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderOutcome {
    /// Session opened, and all that goes with it written.
    Done,
    /// Refusal: the licence allows no more accounts.
    LimitReached,
}

/// Keeps what sign-in by providers needs.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait FederationStore: Send + Sync {
    /// Takes a sign-in that was begun; whether nobody took it before. It is remembered until that instant.
    async fn take(&self, state_sha256: &str, until: Timestamp) -> Result<bool, StoreError>;

    /// The account that a person's id belongs to.
    async fn linked_user(&self, identity: &ExternalIdentity) -> Result<Option<UserId>, StoreError>;

    /// The ids of an account's person at providers.
    async fn identities_of(&self, user: UserId) -> Result<Vec<ExternalIdentity>, StoreError>;

    /// The organisation of a slug.
    async fn organization_named(&self, slug: &str) -> Result<Option<Organization>, StoreError>;

    /// Roles that a user has by groups, of every provider.
    async fn mapped_roles(&self, user: UserId) -> Result<Vec<MappedRole>, StoreError>;

    /// Opens a session, with the account, the person's id and the memberships that go with it: all at once. `Stale` when
    /// the account or a membership is no longer what was read; `Duplicate` for an account or an id that is there by now;
    /// `LockOut` where an organisation would have no owner, or nobody who could mend its rights.
    async fn open_by_provider(
        &self,
        new: &ProviderSession,
        journals: &[Journal],
    ) -> Result<ProviderOutcome, StoreError>;
}
