//! The gateway: every call of a model goes through it, from whomever it comes.
//!
//! A call passes, in this order: its deployment (with its connection, opened); the rates of organisation, connection and
//! deployment, by estimated tokens; a place among those that run at a time; its budgets, of which the most that it may cost
//! is set aside; and exchanges with the provider, repeated and handed to fallbacks until the first piece. Its end, however
//! it comes, settles rates and budgets and is one row of usage.

mod breaker;
mod call;
mod chat;
mod count;
mod embed;
mod error;
mod exchange;
mod kept;
pub(crate) mod ledger;
mod money;
mod places;
mod rates;
mod repeats;
mod rerank;
mod route;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use heddle_kernel::{Clock, IdSource, ModelDeploymentId, TenantId, UserId, WorkflowId};
use heddle_policy::{RequestContext, Snapshot};
use heddle_usecase::{Journal, StoreError};

pub use chat::ChatAnswer;
pub use embed::EmbeddingAnswer;
pub use error::{GatewayError, LimitOf, ProviderFault};
pub use ledger::LedgerWriter;
pub use rerank::RerankAnswer;
pub use stream::ChatStream;

use breaker::Breakers;
use kept::Kept;
use ledger::Ledger;
use places::Places;
use rates::Rates;
use repeats::Repeats;
use route::Routes;

use crate::keys::Opening;
use crate::ports::{BoundsSource, Dependents, LocalModels, ModelStore, Random, Spill, Upstream, UsageStore};
use crate::records::UsageRow;

/// Calls that run at a time on a node where nothing else is said.
const AT_ONCE: usize = 1_000;

/// Whoever calls a model.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The organisation.
    pub tenant: TenantId,
    /// The user in whose name it is called.
    pub principal: UserId,
    /// The workflow that calls, if one does.
    pub workflow: Option<WorkflowId>,
    /// The request, or the job, that it belongs to.
    pub request_id: String,
    /// Rights by which fallbacks are chosen: one that they don't permit is not asked. None: all fallbacks may be.
    pub rights: Option<Snapshot>,
}

impl Caller {
    /// The caller of a request.
    #[must_use]
    pub fn of_request(context: &RequestContext) -> Self {
        Self {
            tenant: context.tenant(),
            principal: context.user_id(),
            workflow: None,
            request_id: context.request_id().to_string(),
            rights: Some(context.snapshot().clone()),
        }
    }
}

/// Material of a call's journal; no prompt, and the answer for the record of a repeat alone.
#[derive(Debug)]
pub struct CallReport<'a> {
    /// The row of the call.
    pub usage: &'a UsageRow,
    /// Body of the answer, where it came whole.
    pub answer: Option<&'a [u8]>,
}

/// Builder of the journal of a call; it is called once, when the call ends.
pub type CallJournal = Arc<dyn Fn(&CallReport<'_>) -> Journal + Send + Sync>;

/// Journal of a call that is not told anywhere but in its row: for work in the background.
#[must_use]
pub fn untold() -> CallJournal {
    Arc::new(|_| Journal::default())
}

/// Ports of the gateway.
#[derive(Clone)]
pub struct GatewayPorts {
    /// Deployments.
    pub store: Arc<dyn ModelStore>,
    /// Opening of connections.
    pub opening: Opening,
    /// Usage and budgets.
    pub usage: Arc<dyn UsageStore>,
    /// Ends of calls that the store does not have yet.
    pub spill: Arc<dyn Spill>,
    /// The way to providers.
    pub upstream: Arc<dyn Upstream>,
    /// Models inside this service.
    pub local: Arc<dyn LocalModels>,
    /// Bounds of organisations.
    pub bounds: Arc<dyn BoundsSource>,
    /// Things that depend on deployments.
    pub dependents: Arc<dyn Dependents>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<dyn IdSource>,
    /// Spread of waits.
    pub random: Arc<dyn Random>,
}

impl std::fmt::Debug for GatewayPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GatewayPorts").finish_non_exhaustive()
    }
}

/// Settings of a node's gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewaySettings {
    /// Calls that run at a time, of all organisations.
    pub at_once: usize,
    /// Wait for a place where neither deployment nor connection names one.
    pub queue_timeout: Duration,
    /// Time for which whole answers at temperature 0 are kept for the same question; none is kept for zero.
    pub keep_answers: Duration,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self { at_once: AT_ONCE, queue_timeout: Duration::from_secs(10), keep_answers: Duration::ZERO }
    }
}

pub(crate) struct Shared {
    pub(crate) ports: GatewayPorts,
    pub(crate) settings: GatewaySettings,
    pub(crate) routes: Routes,
    pub(crate) rates: Rates,
    pub(crate) places: Places,
    pub(crate) breakers: Breakers,
    pub(crate) repeats: Repeats,
    pub(crate) kept: Kept,
    pub(crate) ledger: Ledger,
}

/// The gateway of a node: cheap to clone.
#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Shared>);

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").finish_non_exhaustive()
    }
}

impl Gateway {
    /// A gateway on its ports, with the writer of its ledger: whoever composes runs that until it ends.
    #[must_use]
    pub fn new(ports: GatewayPorts, settings: GatewaySettings) -> (Self, LedgerWriter) {
        let (ledger, writer) = Ledger::new(ports.usage.clone(), ports.spill.clone());
        let routes = Routes::new(ports.store.clone(), ports.opening.clone());
        let shared = Shared {
            settings,
            routes,
            rates: Rates::default(),
            places: Places::new(settings.at_once),
            breakers: Breakers::default(),
            repeats: Repeats::default(),
            kept: Kept::new(settings.keep_answers),
            ledger,
            ports,
        };
        (Self(Arc::new(shared)), writer)
    }

    /// Id of the deployment that a call names, by alias or id.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn find(&self, tenant: TenantId, name: &str) -> Result<ModelDeploymentId, StoreError> {
        self.0.routes.find(tenant, name).await
    }

    /// Waits until the ends of all calls so far are written: before the process goes, and before usage is read.
    pub async fn flush(&self) {
        self.0.ledger.flush().await;
    }

    /// Number of the calls that run: for metrics.
    #[must_use]
    pub fn running(&self) -> usize {
        self.0.places.running()
    }

    /// Whether a deployment is not asked at present, since it failed time after time.
    #[must_use]
    pub fn is_open(&self, deployment: ModelDeploymentId) -> bool {
        self.0.breakers.is_open(deployment)
    }
}
