//! Opening of connections: for tests, deliveries and other work that speaks to their services.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::{ConnectionId, TenantId};
use heddle_usecase::outside::{RunningTests, TestPlace};

use crate::ports::{ConnectionStore, SealError, Sealer};
use crate::records::{OpenConnection, StoredConnection};
use crate::secret::SecretPlace;
use crate::{Problem, UseCaseError};

/// Opens connections: cheap to clone. Who opens one has asked before whether it may be used.
#[derive(Clone)]
pub struct Opening {
    store: Arc<dyn ConnectionStore>,
    sealer: Arc<dyn Sealer>,
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
    pub fn new(store: Arc<dyn ConnectionStore>, sealer: Arc<dyn Sealer>) -> Self {
        Self { store, sealer, running: RunningTests::default() }
    }

    /// A place for a test of a connection of the organisation, which is held while it runs.
    ///
    /// # Errors
    /// `Busy` when as many run as may.
    pub(crate) fn begin_test(&self, tenant: TenantId) -> Result<TestPlace, UseCaseError> {
        self.running.begin(tenant)
    }

    /// A connection with its secrets in the clear, all of one revision.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`secretUnreadable` at the secret) when one does not open: its key is not in the keyring, or
    /// its row was changed or copied from elsewhere; sent anew it is cured. `Unavailable`.
    pub async fn open(&self, tenant: TenantId, id: ConnectionId) -> Result<OpenConnection, UseCaseError> {
        let StoredConnection { connection, sealed } = self.store.stored(tenant, id).await?;
        let mut secrets = BTreeMap::new();
        let mut unreadable = Vec::new();
        for (field, sealed) in &sealed {
            let place = SecretPlace { tenant, connection: id, field: field.clone() };
            match self.sealer.open(&place, sealed) {
                Ok(secret) => {
                    secrets.insert(field.clone(), secret);
                }
                Err(error) => unreadable.push(problem(&place, &error)),
            }
        }
        if !unreadable.is_empty() {
            return Err(UseCaseError::Conflict(unreadable));
        }
        Ok(OpenConnection {
            tenant,
            id,
            kind: connection.kind,
            revision: connection.revision,
            config: connection.config,
            secrets,
        })
    }
}

fn problem(place: &SecretPlace, error: &SealError) -> Problem {
    // Who runs the installation must hear of it: a row was tampered with, or a key is missing.
    tracing::error!(
        organization = %place.tenant, connection = %place.connection, field = place.field, %error,
        "a sealed secret does not open"
    );
    let message = "The secret that is kept can't be opened; send it again.";
    Problem::at(format!("secrets.{}", place.field), "secretUnreadable", message)
}
