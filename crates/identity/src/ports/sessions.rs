//! Sign-in, sessions, passwords and API tokens.

use async_trait::async_trait;
use heddle_kernel::{Page, PageRequest, Revision, SessionId, TenantId, Timestamp, TokenId, UserId};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use super::factors::FactorProof;
use crate::records::{ApiToken, OwnOrganization, Session, User};
use crate::throttle::Bucket;

/// Whether a sign-in may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// Permission; the attempt already counts as a failure, until a success clears the count.
    Allowed,
    /// Refusal until an instant.
    Refused {
        /// Earliest instant of the next attempt.
        next_at: Timestamp,
    },
}

/// A session to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The session.
    pub session: Session,
    /// The account's revision at which its password was looked at.
    pub seen: Revision,
    /// Buckets whose failures are forgotten.
    pub forgotten: Vec<Bucket>,
    /// Buckets from which the one failure is taken back that the sign-in counted as.
    pub forgiven: Vec<Bucket>,
    /// A new hash of the same password, when the old one was made with lesser parameters.
    pub rehash: Option<String>,
    /// SHA-256 of the token of the session that this one takes the place of, if one was shown.
    pub replaces: Option<String>,
    /// Code of the second factor that it was opened with, which counts once.
    pub factor: Option<FactorProof>,
}

/// A password to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordChange {
    /// The user.
    pub user_id: UserId,
    /// The new hash.
    pub hash: String,
    /// The account's revision that was read.
    pub expected: Revision,
    /// The session that goes on; all others of the user end.
    pub keep: Option<SessionId>,
    /// Instant of the change.
    pub at: Timestamp,
}

/// Keeps sign-ins, sessions, passwords and API tokens.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Counts a try before its password is looked at, so that guesses made at the same time count as well: reads
    /// what is kept of each bucket, asks [`crate::throttle::next`], and writes what that says, all at once. When one
    /// of them refuses, nothing is written. What is kept is bounded: of more than
    /// [`crate::throttle::MOST_BUCKETS`] the oldest go.
    async fn attempt(&self, buckets: &[Bucket], now: Timestamp) -> Result<Attempt, StoreError>;

    /// Takes one try back that was counted, by [`crate::throttle::forgiven`]: nobody looked at its password.
    async fn forgive(&self, buckets: &[Bucket]) -> Result<(), StoreError>;

    /// Forgets the failures of these keys and of all that begin with one of them and `/`; says how many buckets that
    /// were.
    async fn forget(&self, keys: &[String], journal: &Journal) -> Result<u64, StoreError>;

    /// The account with this e-mail address (in lower case) in the whole installation.
    async fn user_by_email(&self, email: &str) -> Result<Option<User>, StoreError>;

    /// The account with this id in the whole installation.
    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError>;

    /// The organisations to which a user belongs now, by slug.
    async fn organizations_of(
        &self,
        user: UserId,
        now: Timestamp,
    ) -> Result<Vec<OwnOrganization>, StoreError>;

    /// Opens a session; forgets and forgives failures, ends the replaced session, and sets the new hash. `Stale` when
    /// the account's revision is no longer the one that was seen, in the same transaction: a session never outlives
    /// the password that opened it. `NotFound` when the code of the second factor was used before, or is none: of two who
    /// show the same one at the same time one alone gets in.
    async fn open(&self, new: &NewSession, journal: &Journal) -> Result<(), StoreError>;

    /// Writes a new hash of the same password, if the account is as it was seen. Its revision stays.
    async fn rehash(&self, user: UserId, seen: Revision, hash: &str) -> Result<(), StoreError>;

    /// A session and the home organisation of its user.
    async fn session(&self, id: SessionId) -> Result<Option<(Session, TenantId)>, StoreError>;

    /// The user's sessions that have not ended, newest first.
    async fn sessions(&self, user: UserId, now: Timestamp) -> Result<Vec<Session>, StoreError>;

    /// Ends a session, and remembers for a day that the journal's actor did. One that has ended before is fine; nothing is
    /// written then.
    async fn end(&self, id: SessionId, journal: &Journal) -> Result<(), StoreError>;

    /// Whether a user has ended this session within a day.
    async fn was_ended(&self, by: UserId, id: SessionId) -> Result<bool, StoreError>;

    /// Sets a password and ends all other sessions of the user; the account's revision grows. `Stale` when the
    /// account was changed in the meantime.
    async fn set_password(&self, change: &PasswordChange, journal: &Journal) -> Result<(), StoreError>;

    /// The user's API tokens, newest first.
    async fn tokens(&self, user: UserId, page: &PageRequest) -> Result<Page<ApiToken>, StoreError>;

    /// An API token of this user. `NotFound` when there is none.
    async fn token(&self, user: UserId, id: TokenId) -> Result<ApiToken, StoreError>;

    /// Adds an API token. `Duplicate` for a name that the user gave before; `Stale` when the rights that the journal
    /// rests on have changed.
    async fn insert_token(&self, token: &ApiToken, journal: &Journal) -> Result<(), StoreError>;

    /// Deletes an API token of this user. `NotFound` when there is and was none; a repeat is fine.
    async fn delete_token(&self, user: UserId, id: TokenId, journal: &Journal) -> Result<(), StoreError>;

    /// Removes sessions and tokens that ended, throttles last used, and taken sign-ins by providers whose time was over,
    /// before then; says how many.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}
