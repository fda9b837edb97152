//! Ports to what is not storage: the sealer, the services themselves, the workflows.

use std::collections::BTreeMap;

use async_trait::async_trait;
use heddle_kernel::{DefinitionKind, TenantId, Timestamp, WebhookId, WorkflowId};
use heddle_usecase::StoreError;
use heddle_usecase::secret::SealError;

use super::KeyCheck;
use crate::records::{OpenConnection, Phase};
use crate::secret::{SealedSecret, Secret, SecretPlace};

/// Seals and opens secrets under the installation's keyring. A secret opens only in the place where it was sealed.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait Sealer: Send + Sync {
    /// Seals a secret under the current key.
    ///
    /// # Errors
    /// `Failed`.
    fn seal(&self, place: &SecretPlace, secret: &Secret) -> Result<SealedSecret, SealError>;

    /// Opens a sealed secret.
    ///
    /// # Errors
    /// `UnknownKey`, `DoesNotOpen`.
    fn open(&self, place: &SecretPlace, sealed: &SealedSecret) -> Result<Secret, SealError>;

    /// Wraps a sealed secret's own key anew under the current key, without opening the secret to anybody; none when it is
    /// under it already.
    ///
    /// # Errors
    /// `UnknownKey`, `DoesNotOpen`, `Failed`.
    fn rewrap(&self, place: &SecretPlace, sealed: &SealedSecret) -> Result<Option<SealedSecret>, SealError>;

    /// Id of the current key.
    fn current_key(&self) -> String;

    /// Ids of the keys of the ring.
    fn keys(&self) -> Vec<String>;

    /// A value of the current key by which it can be told from another of the same id. It tells nothing of the key.
    fn check(&self) -> KeyCheck;

    /// Holds a kept value against the key of its id.
    ///
    /// # Errors
    /// `UnknownKey`; `WrongKey` when it is the value of another key.
    fn verify(&self, check: &KeyCheck) -> Result<(), SealError>;
}

/// Outcome of a call that tests a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// Whether the service answered as it must.
    pub ok: bool,
    /// Phase in which it failed; the last one when it did not.
    pub phase: Phase,
    /// Milliseconds that it took.
    pub latency_ms: u64,
    /// A sentence for people, without a secret and without what the service answered.
    pub message: String,
}

/// A message that tells a webhook's receiver nothing but that it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ping {
    /// Id of the message.
    pub message_id: String,
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the webhook; none when the connection itself is tested.
    pub webhook: Option<WebhookId>,
    /// Instant of the message.
    pub at: Timestamp,
}

/// Speaks to the service on the other side of a connection.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Tester: Send + Sync {
    /// Calls the service as its type says, within 30 s: a fault of it is an outcome, not an error. A connection of type
    /// webhook is sent the ping; the others have no use for it.
    async fn test(&self, connection: &OpenConnection, ping: &Ping) -> Tested;
}

/// The workflows and case types, as webhooks must know them.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Workflows: Send + Sync {
    /// Kinds of those among the given workflows and case types that the organisation has.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn kinds(
        &self,
        tenant: TenantId,
        ids: &[WorkflowId],
    ) -> Result<BTreeMap<WorkflowId, DefinitionKind>, StoreError>;
}
