//! Use cases of models: connections to providers with sealed keys, their catalogues, deployments with limits, prices and
//! fallbacks, residency in local runtimes, and the gateway through which every call goes; and the ports through which they
//! reach storage, providers and what depends on deployments.
//!
//! A call is authorised for the deployment that its body names, passes the limits of its organisation and deployment,
//! sets aside of their budgets what it may cost at most, is repeated and handed to fallbacks only before its first piece,
//! and ends in exactly one row of usage, also when its caller went away. No prompt, answer or key is recorded.

mod catalogue;
mod connections;
mod defaults;
mod deployments;
pub mod gateway;
mod inside;
mod keys;
mod limits;
mod listing;
mod local;
mod names;
pub mod ports;
pub mod records;
mod residency;
mod runtimes;
mod told;
pub mod types;
mod usage;

pub use catalogue::{Catalogue, CataloguePorts, Imported, ImportedModel, NewImport, SkippedModel};
pub use connections::{
    ConnectionPorts, ModelConnectionPatch, ModelConnections, NewModelConnection, TestProbe,
    UpdatedModelConnection,
};
pub use deployments::{
    DeploymentPatch, DeploymentPorts, Deployments, NewDeployment, NewPrices, UpdatedDeployment,
};
pub use gateway::{
    CallJournal, CallReport, Caller, ChatAnswer, ChatStream, EmbeddingAnswer, Gateway, GatewayError,
    GatewayPorts, GatewaySettings, LedgerWriter, LimitOf, ProviderFault, RerankAnswer, untold,
};
pub use inside::LocalStates;
pub use keys::{Opening, Unreadable, rewrap};
pub use listing::Models;
pub use local::{LocalSync, SyncOutcome, SyncPorts, SyncRequest, Unreached};
pub use residency::{MemorySet, PreloadSet, Reconciler, Refreshed, Residency, ResidencyPorts};
pub use runtimes::WireRuntimes;
pub use usage::{Usage, UsageAnswer, UsageAsked, day_at, day_text};

pub(crate) use heddle_usecase::{JournalFor, Problem, Problems, UseCaseError};

#[cfg(test)]
mod tests;
