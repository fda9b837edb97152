//! Ports to what is not storage: sealing, providers, runtimes, models inside this service, what depends on deployments.

use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::Stream;
use heddle_kernel::{ModelConnectionId, ModelDeploymentId, TenantId, Timestamp};
use heddle_models_wire::{ChatRequest, ChatResponse, UpstreamRequest};
use heddle_usecase::StoreError;
use heddle_usecase::secret::{SealError, SealedSecret, Secret};

use super::Most;
use crate::records::{
    CatalogueEntry, Deployment, DeploymentState, Limits, Observed, OpenModelConnection, Phase, Use,
};

/// Place of a connection's key; sealed there, it opens nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPlace {
    /// The organisation.
    pub tenant: TenantId,
    /// The connection.
    pub connection: ModelConnectionId,
}

/// Seals and opens keys under the installation's keyring. A key opens only in the place where it was sealed.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait KeySealer: Send + Sync {
    /// Seals a key under the ring's current one.
    ///
    /// # Errors
    /// `Failed`.
    fn seal(&self, place: KeyPlace, secret: &Secret) -> Result<SealedSecret, SealError>;

    /// Opens a sealed key.
    ///
    /// # Errors
    /// `UnknownKey`, `DoesNotOpen`.
    fn open(&self, place: KeyPlace, sealed: &SealedSecret) -> Result<Secret, SealError>;

    /// Wraps a sealed key anew under the ring's current one, without opening it to anybody; none when it is already.
    ///
    /// # Errors
    /// `UnknownKey`, `DoesNotOpen`, `Failed`.
    fn rewrap(&self, place: KeyPlace, sealed: &SealedSecret) -> Result<Option<SealedSecret>, SealError>;
}

/// Random numbers for the spread of waits: nothing secret rests on them.
pub trait Random: Send + Sync {
    /// A number below 1, 0 or more, evenly spread.
    fn fraction(&self) -> f64;
}

/// Reason for which an exchange did not come to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The address may not be called from here, or is none.
    NotAllowed,
    /// The name has no address.
    Unknown,
    /// Nobody answers at the address, or it can't be reached.
    Unreachable,
    /// TLS did not come about.
    Untrusted,
    /// A wait was too long.
    Timeout,
    /// The connection broke.
    Broken,
    /// The answer is longer than it may be.
    TooLarge,
}

/// A fault of an exchange: it holds no body, no header and no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Phase in which it happened.
    pub phase: Phase,
    /// Kind of the fault.
    pub kind: FaultKind,
    /// A sentence for people.
    pub message: String,
}

/// Body of an answer, piece by piece; dropped before its end it closes the connection.
pub type Body = Pin<Box<dyn Stream<Item = Result<Bytes, Fault>> + Send>>;

/// Answer of a provider.
pub struct Reply {
    /// Status.
    pub status: u16,
    /// Headers: names in small letters, values that are texts.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Body,
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Reply {
    /// A header's value, by its name in small letters; the first of several.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Bounds of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Wait until the connection stands, TLS included.
    pub connect: Duration,
    /// Wait until the status and the headers are there.
    pub answer: Duration,
    /// Wait between two pieces of the body.
    pub between: Duration,
    /// Time of the whole exchange, the body included.
    pub total: Duration,
    /// The most bytes of the body.
    pub body_bytes: u64,
}

/// The way to providers: one HTTP exchange at a time.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Upstream: Send + Sync {
    /// Sends a request to a connection's provider: `base` and the request's path joined, the wire's headers, those of the
    /// connection ([`crate::records::ConnectionSettings::headers`]), and the key in the header of its family
    /// ([`heddle_models_wire::Family::key_header`]), with the connection's authority trusted. No redirect is followed.
    ///
    /// # Errors
    /// The fault; a status of whatever kind is none.
    async fn exchange(
        &self,
        connection: &OpenModelConnection,
        base: &str,
        request: UpstreamRequest,
        bounds: Exchange,
    ) -> Result<Reply, Fault>;
}

/// Answers of runtimes and providers about their models, and the residency that they are told. Each method takes at
/// most 30 s.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Runtimes: Send + Sync {
    /// All models of a connection, at most 5,000, each once, in any order.
    ///
    /// # Errors
    /// The fault; the phase `auth` where the key is refused.
    async fn models(&self, connection: &OpenModelConnection) -> Result<Vec<CatalogueEntry>, Fault>;

    /// Residency of a model as it is now; none where the connection has no such model.
    ///
    /// # Errors
    /// The fault.
    async fn observe(&self, connection: &OpenModelConnection, model: &str)
    -> Result<Option<Observed>, Fault>;

    /// Reads the model of a deployment into memory, or sees to it that it stays, as the deployment's memory says. Does not
    /// wait until it is there where that takes longer than the bound: what is observed afterwards says so.
    ///
    /// # Errors
    /// The fault.
    async fn load(&self, connection: &OpenModelConnection, deployment: &Deployment) -> Result<(), Fault>;

    /// Leaves the model of a deployment to the runtime, which reads it when it is called and lets it go as the deployment's
    /// memory says. `was_pinned`: it was held until now.
    ///
    /// # Errors
    /// The fault.
    async fn leave(
        &self,
        connection: &OpenModelConnection,
        deployment: &Deployment,
        was_pinned: bool,
    ) -> Result<(), Fault>;

    /// Lets a model go.
    ///
    /// # Errors
    /// The fault.
    async fn unload(&self, connection: &OpenModelConnection, model: &str) -> Result<(), Fault>;

    /// Revision or digest of a model as it is now; none where the provider tells none.
    ///
    /// # Errors
    /// The fault.
    async fn revision(&self, connection: &OpenModelConnection, model: &str) -> Result<Option<String>, Fault>;
}

/// A model inside this service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    /// Catalogue entry of the model; its `model` is the name that the other methods take.
    pub entry: CatalogueEntry,
    /// Alias that its deployment has.
    pub alias: String,
    /// State that its deployments have.
    pub state: DeploymentState,
    /// The reason where it does not answer, and what helps.
    pub detail: Option<String>,
}

impl LocalModel {
    /// Residency of the model at an instant.
    #[must_use]
    pub fn observed(&self, at: Timestamp) -> Observed {
        Observed {
            loaded: self.state == DeploymentState::Ready,
            bytes: self.entry.bytes,
            at: Some(at),
            ..Observed::default()
        }
    }
}

/// Reason for which a model inside this service gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocalFault {
    /// There is no such model, or its weights are not here.
    #[error("{0}")]
    Missing(String),
    /// Model that has as much to do as it can hold.
    #[error("{0}")]
    Busy(String),
    /// Request that the model can't answer, now or later.
    #[error("{0}")]
    Refused(String),
}

/// Models inside this service: embeddings, and answers out of the passages that a question brings.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait LocalModels: Send + Sync {
    /// All of them, with their present state.
    fn models(&self) -> Vec<LocalModel>;

    /// All of them as a look for those that can't be used finds them: it is waited for, and so is what is being read, but
    /// not for ever. Nothing is read that nobody has asked for so far.
    async fn looked_for(&self) -> Vec<LocalModel>;

    /// Vectors of texts in their order, each of length 1.
    ///
    /// # Errors
    /// The fault.
    async fn embed(
        &self,
        tenant: TenantId,
        model: &str,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, LocalFault>;

    /// Tokens of texts as the model counts them, together; an estimate where there is none.
    fn tokens(&self, model: &str, texts: &[String]) -> u64;

    /// The answer to a chat.
    ///
    /// # Errors
    /// The fault.
    async fn chat(
        &self,
        tenant: TenantId,
        model: &str,
        request: ChatRequest,
    ) -> Result<ChatResponse, LocalFault>;
}

/// Things that depend on deployments: definitions of workflows, and vector databases.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Dependents: Send + Sync {
    /// At most 20 things of the organisation that name a deployment by its id or alias.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn uses(
        &self,
        tenant: TenantId,
        deployment: ModelDeploymentId,
        alias: &str,
    ) -> Result<Vec<Use>, StoreError>;

    /// Marks what was embedded by a deployment under another revision than this as stale; gives its number. Called again
    /// it marks no more.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn revised(
        &self,
        tenant: TenantId,
        deployment: ModelDeploymentId,
        revision: &str,
    ) -> Result<u64, StoreError>;
}

/// Bounds of an organisation's calls on this node, and its budget.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bounds {
    /// Limits over all of its deployments, and its budget.
    pub limits: Limits,
    /// The most deployments that it may have; none: 1,000.
    pub deployments: Option<u64>,
    /// The most deployments of all organisations together, by the licence; none: no bound.
    pub licensed_deployments: Option<u64>,
}

/// Bounds of organisations, by the configuration and the licence.
pub trait BoundsSource: Send + Sync {
    /// Bounds of an organisation at this moment.
    fn bounds(&self, tenant: TenantId) -> Bounds;
}

impl Bounds {
    /// The most deployments.
    #[must_use]
    pub fn most(&self) -> Most {
        Most { own: self.deployments.unwrap_or(DEPLOYMENTS), licensed: self.licensed_deployments }
    }
}

/// The most deployments of an organisation where the configuration says nothing else.
const DEPLOYMENTS: u64 = 1_000;

/// The same bounds for every organisation.
#[derive(Debug, Clone, Default)]
pub struct FixedBounds(pub Bounds);

impl BoundsSource for FixedBounds {
    fn bounds(&self, _: TenantId) -> Bounds {
        self.0.clone()
    }
}
