//! Second factors: their sealed secrets and their recovery codes.

use std::collections::BTreeMap;

use async_trait::async_trait;
use heddle_kernel::{Revision, SessionId, TenantId, Timestamp, UserId};
use heddle_usecase::{Journal, StoreError};
use zeroize::Zeroizing;

use crate::UseCaseError;
use crate::records::SecondFactor;

/// Secret of one-time codes as it is kept: sealed, with the id of the key that it is sealed under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedFactor {
    /// Id of the key.
    pub key: String,
    /// Sealed form.
    pub text: String,
}

/// Place of a sealed secret; elsewhere it does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactorPlace {
    /// Home organisation of the account.
    pub home: TenantId,
    /// The account.
    pub user: UserId,
}

/// Second factor of an account, confirmed or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// The account.
    pub user: UserId,
    /// Secret of its codes.
    pub sealed: SealedFactor,
    /// Time step of the last code that was used; -1 before the first.
    pub last_step: i64,
    /// Instant at which the secret was made.
    pub begun_at: Timestamp,
    /// Instant at which a code confirmed it; none until then.
    pub confirmed_at: Option<Timestamp>,
}

/// Code of a second factor that fits, and counts once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactorProof {
    /// One-time code of a time step.
    Code {
        /// The step.
        step: i64,
    },
    /// A recovery code.
    RecoveryCode {
        /// SHA-256 under which it is kept.
        sha256: String,
    },
}

impl FactorProof {
    /// Kind of the code.
    #[must_use]
    pub const fn kind(&self) -> SecondFactor {
        match self {
            Self::Code { .. } => SecondFactor::Totp,
            Self::RecoveryCode { .. } => SecondFactor::RecoveryCode,
        }
    }
}

/// Confirmation of a second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrolment {
    /// The factor as it was read, not confirmed.
    pub pending: Factor,
    /// Time step of the code that confirms it.
    pub step: i64,
    /// SHA-256 of the recovery codes.
    pub recovery_codes: Vec<String>,
    /// The account's revision that was read.
    pub expected: Revision,
    /// The session that goes on; all others of the account end.
    pub keep: SessionId,
    /// Instant of the confirmation.
    pub at: Timestamp,
}

/// Removal of a second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The account.
    pub user: UserId,
    /// Code that was given for it; none where the password was.
    pub proof: Option<FactorProof>,
    /// The account's revision that was read.
    pub expected: Revision,
    /// The session that goes on; all others of the account end.
    pub keep: SessionId,
    /// Instant of the removal.
    pub at: Timestamp,
}

/// Seals the secrets of second factors, each in its place.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait FactorSealer: Send + Sync {
    /// Seals a secret under the current key.
    ///
    /// # Errors
    /// `Internal`.
    fn seal(&self, place: FactorPlace, secret: &[u8]) -> Result<SealedFactor, UseCaseError>;

    /// Opens a secret.
    ///
    /// # Errors
    /// `Internal` when its key is missing, or it does not open here.
    fn open(&self, place: FactorPlace, sealed: &SealedFactor) -> Result<Zeroizing<Vec<u8>>, UseCaseError>;

    /// The same secret under the current key; none when it is under that already.
    ///
    /// # Errors
    /// As [`Self::open`].
    fn rewrap(&self, place: FactorPlace, sealed: &SealedFactor)
    -> Result<Option<SealedFactor>, UseCaseError>;

    /// Id of the current key.
    fn current_key(&self) -> String;
}

/// Keeps second factors. What changes whether an account has one raises the account's revision.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait FactorStore: Send + Sync {
    /// The factor of an account, confirmed or not.
    async fn factor(&self, user: UserId) -> Result<Option<Factor>, StoreError>;

    /// Keeps a factor that is not confirmed, in the place of another such. `Stale` when the account has a confirmed one.
    async fn begin(&self, factor: &Factor, journal: &Journal) -> Result<(), StoreError>;

    /// Confirms a factor: the step of its code counts as used, the recovery codes take the place of all others, and the
    /// account's other sessions end. `Stale` when the account or the factor is no longer the one that was read.
    async fn confirm(&self, enrolment: &Enrolment, journal: &Journal) -> Result<(), StoreError>;

    /// Removes a factor with its recovery codes, and ends the account's other sessions. `Stale` when the account was
    /// changed in the meantime, `NotFound` when the code was used before, or is none.
    async fn remove(&self, removal: &Removal, journal: &Journal) -> Result<(), StoreError>;

    /// Whether the account had a factor that was removed since.
    async fn was_removed(&self, user: UserId) -> Result<bool, StoreError>;

    /// Ids of the keys under which secrets of factors are sealed, each with their number.
    async fn keys_in_use(&self) -> Result<BTreeMap<String, u64>, StoreError>;

    /// At most `limit` factors of all accounts that are sealed under another key, behind one, in the order of the
    /// accounts' ids; each with the account's home.
    async fn sealed_under_others<'a>(
        &self,
        current: &'a str,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<FactorAtHome>, StoreError>;

    /// Writes a sealed form anew over the one that was read; whether that was still there.
    async fn rewrapped(
        &self,
        user: UserId,
        before: &SealedFactor,
        sealed: &SealedFactor,
    ) -> Result<bool, StoreError>;
}

/// Sealed secret of a factor with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorAtHome {
    /// Place of the secret.
    pub place: FactorPlace,
    /// The secret.
    pub sealed: SealedFactor,
}
