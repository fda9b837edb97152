//! Secrets of connections: those of every area, and their places.

use heddle_kernel::{ConnectionId, TenantId};

pub use heddle_usecase::secret::{SealedSecret, Secret};

/// Place of a secret; sealed there, it opens nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretPlace {
    /// The organisation.
    pub tenant: TenantId,
    /// The connection.
    pub connection: ConnectionId,
    /// Name of the secret.
    pub field: String,
}
