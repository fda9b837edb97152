//! The ports through which connections reach storage, sealing and the world.
//!
//! Obligations of every method of a store that writes: what the [`heddle_usecase::Journal`] holds is written in the same
//! transaction; `Stale` when the expected revision is not the stored one, `NotFound` when there is no such row *in that
//! organisation*, `Duplicate` with the columns of a unique value that is taken.

mod outside;
mod stores;

pub use heddle_usecase::secret::SealError;
pub use outside::{Ping, Sealer, Tested, Tester, Workflows};
pub use stores::{
    ConnectionFilter, ConnectionStore, ConnectionWrite, Deleted, HookFilter, HookStore, HookWrite, KeyCheck,
    KeyStore, Rewrap, SealedRow, StoredHook, Use, WebhookFilter, WebhookStore,
};

#[cfg(any(test, feature = "mock"))]
pub use self::{
    outside::{MockSealer, MockTester, MockWorkflows},
    stores::{MockConnectionStore, MockHookStore, MockKeyStore, MockWebhookStore},
};
