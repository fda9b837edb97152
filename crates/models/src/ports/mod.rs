//! The ports through which models reach storage, sealing, providers, the models inside this service, and what depends on
//! deployments.
//!
//! Obligations of every method of a store that writes: what the [`heddle_usecase::Journal`] holds is written in the same
//! transaction; `Stale` when the expected revision is not the stored one, `NotFound` when there is no such row *in that
//! organisation*, `Duplicate` with the columns of a unique value that is taken.

mod outside;
mod stores;
mod usage;

pub use heddle_usecase::secret::SealError;
pub use outside::{
    Body, Bounds, BoundsSource, Dependents, Exchange, Fault, FaultKind, FixedBounds, KeyPlace, KeySealer,
    LocalFault, LocalModel, LocalModels, Random, Reply, Runtimes, Upstream,
};
pub use stores::{
    CatalogueFilter, CatalogueWrite, ConnectionFilter, ConnectionWrite, Deleted, DeploymentChange,
    DeploymentFilter, LICENSED, ModelStore, Most, SeenState,
};
pub use usage::{KeyRewrap, KeyStore, Reserved, SealedKey, Spill, UsageQuery, UsageStore};

#[cfg(any(test, feature = "mock"))]
pub use self::{
    outside::{MockDependents, MockKeySealer, MockLocalModels, MockRuntimes, MockUpstream},
    stores::MockModelStore,
    usage::{MockKeyStore, MockSpill, MockUsageStore},
};
