//! Keys: the opening of connections, and the rotation of what is sealed.

use std::sync::Arc;

use heddle_kernel::{ModelConnectionId, TenantId};
use heddle_usecase::StoreError;
use heddle_usecase::outside::{RunningTests, TestPlace};

use crate::ports::{KeyPlace, KeyRewrap, KeySealer, KeyStore, ModelStore, SealError};
use crate::records::{OpenModelConnection, StoredModelConnection};
use crate::{Problem, UseCaseError};

/// Secrets of one batch of a rotation.
const BATCH: u32 = 200;

/// Opens connections: cheap to clone. Who opens one has asked before whether it may be used.
#[derive(Clone)]
pub struct Opening {
    store: Arc<dyn ModelStore>,
    sealer: Arc<dyn KeySealer>,
    running: RunningTests,
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening").finish_non_exhaustive()
    }
}

impl Opening {
    /// Opening on its ports.
    #[must_use]
    pub fn new(store: Arc<dyn ModelStore>, sealer: Arc<dyn KeySealer>) -> Self {
        Self { store, sealer, running: RunningTests::default() }
    }

    /// A place for a call that tests, discovers or looks, which is held while it runs.
    ///
    /// # Errors
    /// `Busy` when as many of the organisation run as may.
    pub(crate) fn begin(&self, tenant: TenantId) -> Result<TestPlace, UseCaseError> {
        self.running.begin(tenant)
    }

    /// A connection with its key in the clear, both of one revision.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`secretUnreadable` at the key) when it does not open: sent anew it is cured. `Unavailable`.
    pub async fn open(
        &self,
        tenant: TenantId,
        id: ModelConnectionId,
    ) -> Result<OpenModelConnection, UseCaseError> {
        let StoredModelConnection { connection, sealed } = self.store.stored(tenant, id).await?;
        let api_key = match &sealed {
            Some(sealed) => {
                let opened = self.sealer.open(KeyPlace { tenant, connection: id }, sealed);
                Some(opened.map_err(|error| unreadable(id, &error))?)
            }
            None => None,
        };
        Ok(OpenModelConnection { connection, api_key })
    }
}

fn unreadable(id: ModelConnectionId, error: &SealError) -> UseCaseError {
    tracing::warn!(connection = %id, %error, "a key of a connection to models does not open");
    let message = "The key does not open under the installation's keyring: send it again.";
    UseCaseError::Conflict(vec![Problem::at(crate::types::SECRET, "secretUnreadable", message)])
}

/// A key that did not open in a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Place of the key.
    pub place: KeyPlace,
    /// The reason.
    pub reason: SealError,
}

/// Wraps keys anew that are not under the ring's current one, batch by batch, and remembers nothing between them:
/// interrupted, it is simply called again. Gives how many were, and those that did not open; these stay as they are.
///
/// # Errors
/// `Unavailable` and its like; what was written before stays.
pub async fn rewrap(
    store: &dyn KeyStore,
    sealer: &dyn KeySealer,
    current: &str,
) -> Result<(u64, Vec<Unreadable>), StoreError> {
    let (mut rewrapped, mut unreadable, mut after) = (0, Vec::new(), None);
    loop {
        let rows = store.sealed_under_others(current, after, BATCH).await?;
        let Some(last) = rows.last() else { return Ok((rewrapped, unreadable)) };
        after = Some((last.place.tenant, last.place.connection));
        let mut anew = Vec::with_capacity(rows.len());
        for row in rows {
            match sealer.rewrap(row.place, &row.sealed) {
                Ok(Some(sealed)) => anew.push(KeyRewrap { row, sealed }),
                Ok(None) => {}
                Err(reason) => unreadable.push(Unreadable { place: row.place, reason }),
            }
        }
        if !anew.is_empty() {
            rewrapped += store.rewrapped(&anew).await?;
        }
    }
}
