//! Stores of connections, their sealed secrets, the checks of keys, and webhooks.

use std::collections::BTreeMap;

use async_trait::async_trait;
use heddle_kernel::{ConnectionId, HookId, Page, PageRequest, Revision, TenantId, Timestamp, WebhookId};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::{Journal, StoreError};

use crate::records::{
    Connection, Delivery, Hook, PauseReason, StoredConnection, Subscription, TestResult, Webhook,
};
use crate::secret::{SealedSecret, SecretPlace};
use crate::types::ConnectionKind;

/// Filter for connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectionFilter {
    /// A part of the name, the description or a label, in any case.
    pub q: Option<String>,
    /// The type.
    pub kind: Option<ConnectionKind>,
}

/// A connection to write.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionWrite<'a> {
    /// The connection as it shall be.
    pub connection: &'a Connection,
    /// Secrets to write by name; none takes one away. Those that are not named stay.
    pub sealed: &'a BTreeMap<String, Option<SealedSecret>>,
}

/// A thing that uses another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// Type of the thing: `webhook`.
    pub kind: &'static str,
    /// Id of the thing.
    pub id: String,
    /// Name of the thing.
    pub name: String,
}

/// Outcome of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deleted {
    /// Deletion by this call.
    Now,
    /// Deletion by an earlier call.
    Before,
    /// Refusal: these use it, at most 20 of them; nothing was deleted.
    InUse(Vec<Use>),
}

/// Keeps connections and their sealed secrets.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait ConnectionStore: Send + Sync {
    /// A page of the connections within reach, by name.
    async fn list(
        &self,
        tenant: TenantId,
        filter: &ConnectionFilter,
        access: &AccessFilter<resource::Connection>,
        page: &PageRequest,
    ) -> Result<Page<Connection>, StoreError>;

    /// A connection.
    async fn get(&self, tenant: TenantId, id: ConnectionId) -> Result<Connection, StoreError>;

    /// A connection with its sealed secrets, both of one revision: secrets never go to where another revision points.
    async fn stored(&self, tenant: TenantId, id: ConnectionId) -> Result<StoredConnection, StoreError>;

    /// Adds a connection. `QuotaExceeded` when the organisation has `most`, `Duplicate` for a name that is taken,
    /// `NotFound` when the organisation was deleted.
    async fn insert<'a>(
        &self,
        write: ConnectionWrite<'a>,
        most: u64,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Writes a connection over the expected revision; the result of the last test stays. `Duplicate` for a name that is
    /// taken.
    async fn update<'a>(
        &self,
        write: ConnectionWrite<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes a connection with its secrets; leaves a tombstone. `Stale` when `expected` is another revision.
    async fn delete(
        &self,
        tenant: TenantId,
        id: ConnectionId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError>;

    /// The webhooks that send over a connection.
    async fn subscriptions_over(
        &self,
        tenant: TenantId,
        id: ConnectionId,
    ) -> Result<Vec<Subscription>, StoreError>;

    /// Writes the result of a test; the revision stays. A result of an older test than the one that is there is not
    /// written, its journal is.
    async fn tested(
        &self,
        tenant: TenantId,
        id: ConnectionId,
        result: &TestResult,
        journal: &Journal,
    ) -> Result<(), StoreError>;
}

/// A key of the keyring by its id, and a value by which it can be told from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyCheck {
    /// Id of the key.
    pub key: String,
    /// The value: tells nothing of the key.
    pub value: String,
}

/// A sealed secret in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedRow {
    /// Place of the secret.
    pub place: SecretPlace,
    /// The sealed secret.
    pub sealed: SealedSecret,
}

/// A sealed form that takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrap {
    /// The sealed secret that was read.
    pub row: SealedRow,
    /// The new form.
    pub sealed: SealedSecret,
}

/// Keeps what a rotation of keys needs, over all organisations: it shows no secret to anybody.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// The checks of all keys that were ever used here and are not forgotten.
    async fn key_checks(&self) -> Result<Vec<KeyCheck>, StoreError>;

    /// Adds the first check of all; gives whether it was the first. With another there nothing is written.
    async fn add_first_key_check(&self, check: &KeyCheck, at: Timestamp) -> Result<bool, StoreError>;

    /// Adds checks that are not there; the value of one that is there stays, and a key that was forgotten is known again.
    async fn add_key_checks(&self, checks: &[KeyCheck], at: Timestamp) -> Result<(), StoreError>;

    /// Forgets a key unless something is sealed under it; gives the number of those secrets. From then on nothing is
    /// written that is sealed under it: whoever comes with such a secret gets `Unavailable`, also when it was sealed before.
    async fn forget_key(&self, key: &str, at: Timestamp) -> Result<u64, StoreError>;

    /// Whether a key was forgotten.
    async fn is_forgotten(&self, key: &str) -> Result<bool, StoreError>;

    /// Places of at most `limit` secrets that are sealed under a key.
    async fn sealed_under(&self, key: &str, limit: u32) -> Result<Vec<SecretPlace>, StoreError>;

    /// Ids of the keys under which secrets are sealed, each with their number.
    async fn keys_in_use(&self) -> Result<BTreeMap<String, u64>, StoreError>;

    /// At most `limit` secrets that are sealed under another key, behind a place, in the order of their places.
    async fn sealed_under_others<'a>(
        &self,
        current: &'a str,
        after: Option<&'a SecretPlace>,
        limit: u32,
    ) -> Result<Vec<SealedRow>, StoreError>;

    /// Writes sealed forms anew, each only over the one that was read; gives the number of those that were written.
    /// Revisions stay: nothing changed for anybody.
    async fn rewrapped(&self, rows: &[Rewrap]) -> Result<u64, StoreError>;
}

/// Filter for webhooks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookFilter {
    /// A part of the name, in any case.
    pub q: Option<String>,
    /// The connection.
    pub connection: Option<ConnectionId>,
    /// Paused ones alone (or only others).
    pub paused: Option<bool>,
}

/// Keeps webhooks.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait WebhookStore: Send + Sync {
    /// A page of the webhooks within reach, by name.
    async fn list(
        &self,
        tenant: TenantId,
        filter: &WebhookFilter,
        access: &AccessFilter<resource::Webhook>,
        page: &PageRequest,
    ) -> Result<Page<Webhook>, StoreError>;

    /// A webhook.
    async fn get(&self, tenant: TenantId, id: WebhookId) -> Result<Webhook, StoreError>;

    /// Adds a webhook. `QuotaExceeded` when the organisation has `most`, `Duplicate` for a name that is taken, `NotFound`
    /// when its connection or the organisation is gone.
    async fn insert(&self, webhook: &Webhook, most: u64, journal: &Journal) -> Result<(), StoreError>;

    /// Writes a webhook over the expected revision; the state of its last delivery stays. `Duplicate` for a name that is
    /// taken, `NotFound` when it or its connection is gone.
    async fn update(
        &self,
        webhook: &Webhook,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes a webhook; leaves a tombstone. `Stale` when `expected` is another revision. Never `InUse`.
    async fn delete(
        &self,
        tenant: TenantId,
        id: WebhookId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError>;

    /// Writes the journal of a test that changed nothing.
    async fn tested(&self, tenant: TenantId, id: WebhookId, journal: &Journal) -> Result<(), StoreError>;

    /// All webhooks of an organisation as a dispatcher of events must know them, paused ones too.
    async fn subscriptions(&self, tenant: TenantId) -> Result<Vec<Subscription>, StoreError>;

    /// Writes the state of the last delivery, in a row of its own: neither the webhook nor its revision changes. That of
    /// a webhook that is gone is dropped.
    async fn delivered(&self, tenant: TenantId, id: WebhookId, delivery: &Delivery)
    -> Result<(), StoreError>;

    /// Pauses a webhook that is not paused, in nobody's name; its revision grows. Gives whether it was not.
    async fn pause(
        &self,
        tenant: TenantId,
        id: WebhookId,
        reason: PauseReason,
        at: Timestamp,
        journal: &Journal,
    ) -> Result<bool, StoreError>;
}

/// Filter for hooks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookFilter {
    /// A part of the name or of the type of events, in any case.
    pub q: Option<String>,
}

/// Hook with its sealed secrets, by their names, to be written: a secret with none is taken away.
#[derive(Debug, Clone, Copy)]
pub struct HookWrite<'a> {
    /// The hook.
    pub hook: &'a Hook,
    /// Secrets to write or to take away.
    pub sealed: &'a BTreeMap<String, Option<SealedSecret>>,
}

/// A hook with its sealed secrets, both of one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHook {
    /// The hook.
    pub hook: Hook,
    /// Secrets by name.
    pub sealed: BTreeMap<String, SealedSecret>,
}

/// Keeps hooks and their sealed secrets.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait HookStore: Send + Sync {
    /// A page of the hooks within reach, by name.
    async fn list(
        &self,
        tenant: TenantId,
        filter: &HookFilter,
        access: &AccessFilter<resource::Hook>,
        page: &PageRequest,
    ) -> Result<Page<Hook>, StoreError>;

    /// A hook.
    async fn get(&self, tenant: TenantId, id: HookId) -> Result<Hook, StoreError>;

    /// The hook whose token has this digest, with its sealed secrets, whatever its organisation.
    async fn by_token(&self, token_sha256: &str) -> Result<StoredHook, StoreError>;

    /// Adds a hook. `QuotaExceeded` when the organisation has `most`, `Duplicate` for a name that is taken, `NotFound` when
    /// the organisation was deleted.
    async fn insert<'a>(&self, write: HookWrite<'a>, most: u64, journal: &Journal) -> Result<(), StoreError>;

    /// Writes a hook over the expected revision. `Duplicate` for a name that is taken.
    async fn update<'a>(
        &self,
        write: HookWrite<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes a hook with its secrets; leaves a tombstone. `Stale` when `expected` is another revision. Never `InUse`.
    async fn delete(
        &self,
        tenant: TenantId,
        id: HookId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError>;
}
