//! Stores of usage, budgets and the keys that are sealed.

use std::collections::BTreeMap;

use async_trait::async_trait;
use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Page, PageRequest, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::StoreError;
use heddle_usecase::secret::SealedSecret;

use super::KeyPlace;
use crate::records::{BudgetScope, Reservation, Settlement, UsageAxis, UsageTotal};

/// Outcome of setting aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// Reservation that every budget holds.
    Yes,
    /// Refusal: this budget does not hold it; nothing was set aside.
    Exhausted(BudgetScope),
}

/// Question about usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageQuery {
    /// Axis along which is summed.
    pub by: UsageAxis,
    /// First day, in days since 1970-01-01.
    pub from_day: i32,
    /// Last day, within.
    pub to_day: i32,
    /// Calls of this deployment alone.
    pub deployment: Option<ModelDeploymentId>,
}

/// Keeps usage and budgets.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait UsageStore: Send + Sync {
    /// Sets aside of every budget of a reservation, or of none: what the calls that ended in the period cost, and what is set
    /// aside, together with this does not exceed any. It is the same whether there was a budget when they ended. What expired by then is given back first. Callers at the same time never exceed a budget
    /// together.
    async fn reserve(&self, reservation: &Reservation) -> Result<Reserved, StoreError>;

    /// Gives a reservation back of which nothing was spent. One that is gone is no fault.
    async fn release(&self, reservation: &Reservation) -> Result<(), StoreError>;

    /// Writes ends of calls in one transaction: their rows and journals, and the sums, by which budgets know what was spent;
    /// what was set aside for each is given back. A call that was written before is not
    /// written again, whatever it brings. With no ends it tells whether the store is there.
    async fn settle(&self, settlements: &[Settlement]) -> Result<(), StoreError>;

    /// Gives reservations of all organisations back that expired, at most `limit`; gives their number.
    async fn expire(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// A page of sums along an axis, by the thing. Along deployments those within reach alone.
    async fn usage(
        &self,
        tenant: TenantId,
        query: &UsageQuery,
        access: &AccessFilter<resource::Deployment>,
        page: &PageRequest,
    ) -> Result<Page<UsageTotal>, StoreError>;

    /// Forgets rows of calls that ended before an instant, at most `limit`; the sums stay. Gives the number.
    async fn forget(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Keeps ends of calls beyond the process until the store has them. It writes what is given and knows nothing of it; what
/// can't be kept is told to its log alone, since a call is answered all the same.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait Spill: Send + Sync {
    /// Keeps a line, which has no line break in it. Gives the number of the part that it is in; none when it is not kept.
    fn keep(&self, line: &[u8]) -> Option<u64>;

    /// Tells that a line of a part is in the store. A part of which all are is forgotten.
    fn written(&self, part: u64);

    /// Tells that nobody but the spill has a line of a part: it is to be read again.
    fn behind(&self, part: u64);

    /// The oldest part that is to be read, with its lines, to which none is added any more: one that a process before this
    /// one left, whose last line may be torn, or one with a line that nobody else has.
    fn left(&self) -> Option<(u64, Vec<u8>)>;

    /// Forgets a part that was read: all of it is in the store.
    fn forget(&self, part: u64);
}

/// A sealed key in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedKey {
    /// Place of the key.
    pub place: KeyPlace,
    /// The sealed key.
    pub sealed: SealedSecret,
}

/// A sealed form that takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRewrap {
    /// The sealed key that was read.
    pub row: SealedKey,
    /// The new form.
    pub sealed: SealedSecret,
}

/// Gives what a rotation of the installation's keys needs, over all organisations: it shows no secret to anybody.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Ids of the keys under which secrets are sealed, each with their number.
    async fn keys_in_use(&self) -> Result<BTreeMap<String, u64>, StoreError>;

    /// Places of at most `limit` secrets that are sealed under a key.
    async fn sealed_under(&self, key: &str, limit: u32) -> Result<Vec<KeyPlace>, StoreError>;

    /// At most `limit` secrets that are sealed under another key, behind a place, in the order of their places.
    async fn sealed_under_others(
        &self,
        current: &str,
        after: Option<(TenantId, ModelConnectionId)>,
        limit: u32,
    ) -> Result<Vec<SealedKey>, StoreError>;

    /// Writes sealed forms anew, each only over the one that was read; gives the number of those that were written.
    async fn rewrapped(&self, rows: &[KeyRewrap]) -> Result<u64, StoreError>;
}
