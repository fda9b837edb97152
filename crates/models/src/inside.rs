//! States of the models inside this service, as the deployments of them show them.

use std::sync::{Arc, Mutex, PoisonError};

use heddle_kernel::{Clock, Timestamp};
use heddle_usecase::StoreError;
use tokio::sync::Notify;

use crate::ports::{LocalModel, LocalModels, ModelStore, SeenState};
use crate::records::{Deployment, DeploymentState, Observed};
use crate::types::ProviderKind;

/// Words of a deployment whose connection has no such model.
pub(crate) const ABSENT: &str = "The runtime has no such model.";
/// Deployments of one page of a look.
const PAGE: u32 = 100;

/// States of deployments over the models inside this service: cheap to clone. What a node sees of its models is written
/// into the rows when it changes, so that a list asks no model whatever it shows and filters by. Nodes whose models differ
/// show what was seen last.
#[derive(Clone)]
pub struct LocalStates(Arc<Inner>);

struct Inner {
    store: Arc<dyn ModelStore>,
    local: Arc<dyn LocalModels>,
    clock: Arc<dyn Clock>,
    /// Models as the rows say them; none: rows may say something else.
    noted: Mutex<Option<Vec<LocalModel>>>,
    made: Notify,
}

impl std::fmt::Debug for LocalStates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalStates").finish_non_exhaustive()
    }
}

/// The state of a deployment of one of these models.
pub(crate) fn seen(deployment: &Deployment, models: &[LocalModel], now: Timestamp) -> SeenState {
    let found = models.iter().find(|model| model.entry.model == deployment.model);
    let (state, detail, observed) = match found {
        Some(model) => (model.state, model.detail.clone(), model.observed(now)),
        None => (DeploymentState::Missing, Some(ABSENT.to_owned()), Observed::default()),
    };
    SeenState { tenant: deployment.tenant, id: deployment.id, state, detail, observed }
}

/// The state of a deployment of one of these models, where its row says another. A model that is still being read has none
/// to write: what it is, is seen soon, and until then the row says what was seen last.
pub(crate) fn other(deployment: &Deployment, models: &[LocalModel], now: Timestamp) -> Option<SeenState> {
    let seen = seen(deployment, models, now);
    let is_same = seen.state == deployment.state && seen.detail == deployment.state_detail;
    (!is_same && seen.state != DeploymentState::Loading).then_some(seen)
}

/// Gives a new deployment of one of these models the state that it has.
pub(crate) fn begin(deployment: &mut Deployment, models: &[LocalModel], now: Timestamp) {
    let seen = seen(deployment, models, now);
    deployment.state = seen.state;
    deployment.state_detail = seen.detail;
    deployment.observed = seen.observed;
}

impl LocalStates {
    /// States on their ports.
    #[must_use]
    pub fn new(store: Arc<dyn ModelStore>, local: Arc<dyn LocalModels>, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { store, local, clock, noted: Mutex::default(), made: Notify::new() }))
    }

    /// Models of a connection of this type that are inside this service, as they are now; none where it leads elsewhere.
    pub(crate) fn models(&self, kind: ProviderKind) -> Option<Vec<LocalModel>> {
        (kind == ProviderKind::Local).then(|| self.0.local.models())
    }

    /// The present state of a deployment over a connection of this type; none where that leads elsewhere.
    pub(crate) fn of(&self, kind: ProviderKind, deployment: &Deployment) -> Option<SeenState> {
        let models = self.models(kind)?;
        Some(seen(deployment, &models, self.0.clock.now()))
    }

    /// Tells that deployments were made: a model may have changed between the look at it and their commit, so they are
    /// looked at once more.
    pub(crate) fn made(&self) {
        self.forget();
        self.0.made.notify_one();
    }

    /// Waits until deployments were made that nobody has looked at since.
    pub async fn wanted(&self) {
        self.0.made.notified().await;
    }

    /// Looks at the models, and writes the states of the deployments of all organisations that say something else; gives how
    /// many did. Where the models are as they were at the last look no row is read.
    ///
    /// # Errors
    /// When rows can't be read or written; the next look tries again.
    pub async fn look(&self) -> Result<u64, StoreError> {
        let models = self.0.local.looked_for().await;
        {
            let mut noted = self.0.noted.lock().unwrap_or_else(PoisonError::into_inner);
            if noted.as_ref() == Some(&models) {
                return Ok(0);
            }
            // Before the rows are read: whoever makes one meanwhile takes it away again.
            *noted = Some(models.clone());
        }
        let written = self.write(&models).await;
        if written.is_err() {
            self.forget();
        }
        written
    }

    fn forget(&self) {
        *self.0.noted.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Writes what rows say otherwise. A row that can't be written stops none behind it; its failure is told at the end.
    async fn write(&self, models: &[LocalModel]) -> Result<u64, StoreError> {
        let (mut after, mut written, mut failed) = (None, 0, None);
        loop {
            let page = self.0.store.inside(after, PAGE).await?;
            let Some(last) = page.last() else { return failed.map_or(Ok(written), Err) };
            after = Some((last.tenant, last.id));
            let now = self.0.clock.now();
            let others: Vec<SeenState> = page.iter().filter_map(|one| other(one, models, now)).collect();
            if others.is_empty() {
                continue;
            }
            // A page is one write; where that fails, each row has its own.
            if self.0.store.seen(&others).await.is_ok() {
                written += others.len() as u64;
                continue;
            }
            for one in &others {
                match self.0.store.seen(std::slice::from_ref(one)).await {
                    Ok(()) => written += 1,
                    Err(error) => failed = Some(error),
                }
            }
        }
    }
}
