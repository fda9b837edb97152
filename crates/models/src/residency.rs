//! Residency: which models a runtime holds in memory, the reading of revisions, and the reconciler that brings both in line.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use heddle_kernel::{Clock, ModelDeploymentId, Revision, TenantId, Timestamp};
use heddle_policy::capability::DeploymentUpdate;
use heddle_policy::{Authorized, RequestContext};
use heddle_usecase::{StoreError, check_revision};

use crate::catalogue::bytes_of;
use crate::inside::{ABSENT, LocalStates};
use crate::keys::Opening;
use crate::limits::{check_memory, check_wishes};
use crate::names::taken;
use crate::ports::{BoundsSource, Dependents, DeploymentChange, Fault, ModelStore, Runtimes, SeenState};
use crate::records::{
    Capability, Deployment, DeploymentState, Memory, MemoryPolicy, Observed, OpenModelConnection,
    ProviderKind,
};
use crate::{JournalFor, Problem, Problems, UseCaseError};

/// Time that a call waits for a model to be there.
const WAIT: Duration = Duration::from_secs(5);
/// Deployments of one page of the reconciler.
const PAGE: u32 = 100;
/// Deployments that are looked at at a time.
const AT_ONCE: usize = 4;
/// Seconds of residency left below which a pinned model is pinned anew.
const PINNED_FOR: i64 = 86_400;

/// Outcome of setting the residency.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySet {
    /// The deployment; its observed residency is the last that was seen.
    pub deployment: Deployment,
    /// Whether it was another one before.
    pub changed: bool,
}

/// Outcome of setting the preload.
#[derive(Debug, Clone, PartialEq)]
pub struct PreloadSet {
    /// The deployment.
    pub deployment: Deployment,
    /// Whether it was not set so before.
    pub changed: bool,
    /// Whether it is in memory now; false: it is still being read, or preload is off.
    pub loaded: bool,
}

/// Outcome of reading the revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Refreshed {
    /// The deployment as it is now.
    pub deployment: Deployment,
    /// Revision that it had.
    pub previous: Option<String>,
    /// Revision that it has.
    pub current: Option<String>,
    /// Whether they differ.
    pub changed: bool,
    /// Vector databases that were marked as stale, since their vectors are of another revision.
    pub stale_databases: u64,
}

/// Ports of residency.
#[derive(Clone)]
pub struct ResidencyPorts {
    /// Rows.
    pub store: Arc<dyn ModelStore>,
    /// Opening of connections.
    pub opening: Opening,
    /// Runtimes.
    pub runtimes: Arc<dyn Runtimes>,
    /// States of the models inside this service.
    pub states: LocalStates,
    /// Things that depend on deployments.
    pub dependents: Arc<dyn Dependents>,
    /// Bounds of organisations.
    pub bounds: Arc<dyn BoundsSource>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for ResidencyPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResidencyPorts").finish_non_exhaustive()
    }
}

/// The use cases of residency.
#[derive(Debug, Clone)]
pub struct Residency {
    ports: ResidencyPorts,
    reconciler: Reconciler,
}

impl Residency {
    /// Builds the use cases on their ports.
    #[must_use]
    pub fn new(ports: ResidencyPorts) -> Self {
        Self { reconciler: Reconciler::new(ports.clone()), ports }
    }

    /// The reconciler, for whoever runs it in the background.
    #[must_use]
    pub fn reconciler(&self) -> Reconciler {
        self.reconciler.clone()
    }

    /// Sets the residency that a deployment is wanted to have. It is brought about in the background: a model that is in
    /// memory is told what changed, and told again when the same is set once more.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`, also for what its runtime can't be told (`notSupported`); `Conflict` (`noResidency` where its runtime leaves it to nobody, `revisionMismatch`);
    /// `Unavailable`.
    pub async fn set_memory(
        &self,
        authorized: &Authorized<DeploymentUpdate>,
        context: &RequestContext,
        memory: Memory,
        seen: Option<Revision>,
        record: &JournalFor<'_, MemorySet>,
    ) -> Result<MemorySet, UseCaseError> {
        let mut problems = Problems::default();
        check_memory(&mut problems, &memory);
        problems.finish()?;
        let Managed { deployment: before, kind } =
            self.with_residency(context.tenant(), authorized.id()).await?;
        let mut problems = Problems::default();
        check_wishes(&mut problems, kind, &memory);
        problems.finish()?;
        check_revision(seen, before.revision)?;
        let changed = before.memory != memory;
        let after =
            if changed { changed_by(&before, context, |one| one.memory = memory) } else { before.clone() };
        let set = MemorySet { deployment: after, changed };
        let journal = record(&set).changing(Some(&before), Some(&set.deployment));
        self.write(&before, &set.deployment, changed, &journal).await?;
        let was_pinned = before.memory.policy == MemoryPolicy::Pinned;
        self.reconciler.later(set.deployment.clone(), Occasion::Change { was_pinned });
        Ok(set)
    }

    /// Sets whether a deployment is read into memory now and whenever a server starts.
    ///
    /// # Errors
    /// As [`Self::set_memory`].
    pub async fn set_preload(
        &self,
        authorized: &Authorized<DeploymentUpdate>,
        context: &RequestContext,
        enabled: bool,
        seen: Option<Revision>,
        record: &JournalFor<'_, PreloadSet>,
    ) -> Result<PreloadSet, UseCaseError> {
        let Managed { deployment: before, .. } =
            self.with_residency(context.tenant(), authorized.id()).await?;
        check_revision(seen, before.revision)?;
        let changed = before.preload != enabled;
        let after =
            if changed { changed_by(&before, context, |one| one.preload = enabled) } else { before.clone() };
        let mut set = PreloadSet { deployment: after, changed, loaded: false };
        let journal = record(&set).changing(Some(&before), Some(&set.deployment));
        self.write(&before, &set.deployment, changed, &journal).await?;
        if enabled {
            let reading = self.reconciler.later(set.deployment.clone(), Occasion::Start);
            if let Ok(Ok(Some(state))) = tokio::time::timeout(WAIT, reading).await {
                set.loaded = state.observed.loaded;
                set.deployment.state = state.state;
                set.deployment.state_detail = state.detail;
                set.deployment.observed = state.observed;
            }
        }
        Ok(set)
    }

    /// Reads the revision of a model anew. Vectors of another revision are never mixed with new ones: what was embedded
    /// under an earlier one is marked as stale.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`noRevision` where the provider tells none, `modelMissing`, `unexpectedRevision` with the
    /// present one, `discoveryFailed`, `secretUnreadable`); `Busy`; `Unavailable`.
    pub async fn refresh_revision(
        &self,
        authorized: &Authorized<DeploymentUpdate>,
        context: &RequestContext,
        expected: Option<&str>,
        record: &JournalFor<'_, Refreshed>,
    ) -> Result<Refreshed, UseCaseError> {
        let (tenant, id) = (context.tenant(), authorized.id());
        let before = self.ports.store.deployment(tenant, id).await?;
        let _place = self.ports.opening.begin(tenant)?;
        let connection = self.ports.opening.open(tenant, before.connection_id).await?;
        if !connection.connection.kind.provider().tells_revision {
            let message = "The provider tells no revision of its models.";
            return Err(UseCaseError::conflict("noRevision", message));
        }
        let read = self.ports.runtimes.revision(&connection, &before.model).await;
        let current = read.map_err(|fault| crate::catalogue::failed(&fault))?;
        if current.is_none() {
            let message =
                format!("The provider has no model `{}`, or tells no revision of it.", before.model);
            return Err(UseCaseError::conflict("modelMissing", message));
        }
        if expected.is_some_and(|expected| current.as_deref() != Some(expected)) {
            let present = current.clone().unwrap_or_default();
            let problem =
                Problem::at("expectedRevision", "unexpectedRevision", "The model is of another revision.");
            return Err(UseCaseError::Conflict(vec![problem.with("currentRevision", present)]));
        }
        let changed = before.model_revision != current;
        let set = |one: &mut Deployment| one.model_revision.clone_from(&current);
        let after = if changed { changed_by(&before, context, set) } else { before.clone() };
        let stale_databases = match (&current, before.capabilities.has(Capability::Embeddings)) {
            // Also when the row has it already: an earlier call may have ended between the two.
            (Some(revision), true) => self.ports.dependents.revised(tenant, id, revision).await?,
            _ => 0,
        };
        let previous = before.model_revision.clone();
        let refreshed = Refreshed { deployment: after, previous, current, changed, stale_databases };
        let journal = record(&refreshed).changing(Some(&before), Some(&refreshed.deployment));
        self.write(&before, &refreshed.deployment, changed, &journal).await?;
        Ok(refreshed)
    }

    /// A deployment whose runtime can be told what to hold.
    async fn with_residency(&self, tenant: TenantId, id: ModelDeploymentId) -> Result<Managed, UseCaseError> {
        let deployment = self.ports.store.deployment(tenant, id).await?;
        let connection = self.ports.store.connection(tenant, deployment.connection_id).await?;
        if connection.kind.provider().residency.is_none() {
            let message = "The provider of this deployment keeps its models as it likes.";
            return Err(UseCaseError::conflict("noResidency", message));
        }
        Ok(Managed { deployment, kind: connection.kind })
    }

    /// Writes a deployment where it was changed, and the journal in any case.
    async fn write(
        &self,
        before: &Deployment,
        after: &Deployment,
        changed: bool,
        journal: &heddle_usecase::Journal,
    ) -> Result<(), UseCaseError> {
        let update = if changed { vec![(after.clone(), before.revision)] } else { Vec::new() };
        let change = DeploymentChange { update, ..DeploymentChange::default() };
        let most = self.ports.bounds.bounds(before.tenant).most();
        let written = self.ports.store.change_deployments(before.tenant, &change, most, journal).await;
        written.map_err(|error| taken(error, "deployment"))
    }
}

/// A deployment whose residency can be set, with the type of its runtime.
struct Managed {
    deployment: Deployment,
    kind: ProviderKind,
}

/// A deployment as a change of its caller makes it.
fn changed_by(
    before: &Deployment,
    context: &RequestContext,
    change: impl FnOnce(&mut Deployment),
) -> Deployment {
    let mut after = before.clone();
    change(&mut after);
    after.revision = before.revision.next();
    after.updated_at = context.now();
    after.updated_by = context.user_id();
    after
}

/// Brings residency in line with what is wanted: cheap to clone.
#[derive(Debug, Clone)]
pub struct Reconciler {
    ports: ResidencyPorts,
}

/// Reason for which a deployment was not brought in line.
#[derive(Debug, thiserror::Error)]
enum NotInLine {
    #[error(transparent)]
    Inner(#[from] UseCaseError),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Reconciler {
    /// A reconciler on its ports.
    #[must_use]
    pub const fn new(ports: ResidencyPorts) -> Self {
        Self { ports }
    }

    /// Looks at every deployment about whose memory somebody said something, and brings it in line; with `at_start` what is
    /// to be preloaded is read. One that fails is told by its state, and keeps no other. Gives how many were looked at.
    ///
    /// # Errors
    /// When the list of them can't be read.
    pub async fn run_once(&self, at_start: bool) -> Result<u64, StoreError> {
        let (mut after, mut looked) = (None, 0);
        loop {
            let page = self.ports.store.resident(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(looked) };
            after = Some((last.tenant, last.id));
            looked += page.len() as u64;
            let occasion = if at_start { Occasion::Start } else { Occasion::Round };
            let each =
                futures::stream::iter(page).map(|one| self.settle(one, occasion)).buffer_unordered(AT_ONCE);
            each.for_each(|_seen| std::future::ready(())).await;
        }
    }

    /// Brings one in line by a task of its own.
    fn later(
        &self,
        deployment: Deployment,
        occasion: Occasion,
    ) -> tokio::task::JoinHandle<Option<SeenState>> {
        let this = self.clone();
        tokio::spawn(async move { this.settle(deployment, occasion).await })
    }

    /// Brings one in line, and writes what was seen of it; none where that was not written.
    async fn settle(&self, deployment: Deployment, occasion: Occasion) -> Option<SeenState> {
        let (tenant, id) = (deployment.tenant, deployment.id);
        let seen = match self.bring(&deployment, occasion).await {
            Ok(seen) => seen,
            Err(NotInLine::Inner(UseCaseError::Unavailable(error))) => {
                tracing::warn!(%error, "the residency of a deployment was not looked at");
                return None;
            }
            Err(error) => {
                let detail = match &error {
                    NotInLine::Inner(inner) => inner.in_words(),
                    NotInLine::Fault(fault) => fault.message.clone(),
                };
                let observed = Observed { at: Some(self.ports.clock.now()), ..Observed::default() };
                SeenState { tenant, id, state: DeploymentState::Error, detail: Some(detail), observed }
            }
        };
        match self.ports.store.seen(std::slice::from_ref(&seen)).await {
            Ok(()) => Some(seen),
            Err(error) => {
                tracing::warn!(%error, "the state of a deployment was not recorded");
                None
            }
        }
    }

    async fn bring(&self, deployment: &Deployment, occasion: Occasion) -> Result<SeenState, NotInLine> {
        let (tenant, id) = (deployment.tenant, deployment.id);
        let connection = self.ports.opening.open(tenant, deployment.connection_id).await?;
        // A model inside this service is there or it is not: no call reads it into memory or lets it go.
        if let Some(seen) = self.ports.states.of(connection.connection.kind, deployment) {
            return Ok(seen);
        }
        let state =
            |state, detail: Option<String>, observed| SeenState { tenant, id, state, detail, observed };
        let Some(observed) = self.ports.runtimes.observe(&connection, &deployment.model).await? else {
            return Ok(state(DeploymentState::Missing, Some(ABSENT.to_owned()), Observed::default()));
        };
        let now = self.ports.clock.now();
        let too_large = self.too_large(deployment, &observed).await?;
        let wish = match &too_large {
            None => wanted(deployment, &observed, occasion, now),
            Some(_) => wanted_of_too_large(&observed, occasion),
        };
        let runtimes = &self.ports.runtimes;
        match wish {
            Wanted::Nothing => {}
            Wanted::Away => runtimes.unload(&connection, &deployment.model).await?,
            Wanted::There => runtimes.load(&connection, deployment).await?,
            Wanted::Left { was_pinned } => runtimes.leave(&connection, deployment, was_pinned).await?,
        }
        let told = match wish {
            Wanted::Nothing => observed,
            Wanted::Away | Wanted::There | Wanted::Left { .. } => self.again(&connection, deployment).await?,
        };
        if too_large.is_some() {
            return Ok(state(DeploymentState::Error, too_large, told));
        }
        let present = match (told.loaded, wish) {
            (true, _) => DeploymentState::Ready,
            (false, Wanted::There) => DeploymentState::Loading,
            (false, Wanted::Nothing | Wanted::Away | Wanted::Left { .. }) => DeploymentState::Unloaded,
        };
        Ok(state(present, None, told))
    }

    async fn again(
        &self,
        connection: &OpenModelConnection,
        deployment: &Deployment,
    ) -> Result<Observed, Fault> {
        let observed = self.ports.runtimes.observe(connection, &deployment.model).await?;
        Ok(observed.unwrap_or_default())
    }

    /// Words of a model that is larger than it may be: by its runtime, else by the catalogue.
    async fn too_large(
        &self,
        deployment: &Deployment,
        observed: &Observed,
    ) -> Result<Option<String>, UseCaseError> {
        let Some(most) = deployment.memory.max_bytes else { return Ok(None) };
        let bytes = match observed.file_bytes {
            Some(bytes) => Some(bytes),
            None => bytes_of(&*self.ports.store, deployment).await?,
        };
        let bytes = bytes.filter(|bytes| *bytes > most);
        Ok(bytes.map(|bytes| format!("The model has {bytes} bytes; {most} are allowed.")))
    }
}

/// Occasion on which residency is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// A server begins, or a preload was asked for.
    Start,
    /// Somebody said what the residency shall be; `was_pinned`: until then it was held.
    Change { was_pinned: bool },
    /// A look that comes by itself.
    Round,
}

/// Residency that the policy of a model asks for at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Nothing,
    There,
    Away,
    /// Left to the runtime, within what the memory says; `was_pinned`: it was held.
    Left {
        was_pinned: bool,
    },
}

fn wanted(deployment: &Deployment, observed: &Observed, occasion: Occasion, now: Timestamp) -> Wanted {
    let soon = now.plus_seconds(PINNED_FOR);
    match (deployment.memory.policy, occasion) {
        (MemoryPolicy::Unloaded, _) if observed.loaded => Wanted::Away,
        (MemoryPolicy::Unloaded, _) => Wanted::Nothing,
        // One that is there may be there for a time or with a context that nobody wants any more.
        (MemoryPolicy::Pinned, Occasion::Change { .. }) => Wanted::There,
        (MemoryPolicy::Pinned, _) if !observed.loaded || observed.expires_at.is_some_and(|at| at < soon) => {
            Wanted::There
        }
        (MemoryPolicy::Pinned, _) => Wanted::Nothing,
        (MemoryPolicy::OnDemand, _) if !observed.loaded && is_preloaded_now(deployment, occasion) => {
            Wanted::There
        }
        (MemoryPolicy::OnDemand, Occasion::Change { was_pinned }) => Wanted::Left { was_pinned },
        (MemoryPolicy::OnDemand, _) if is_held(deployment, observed, now) => {
            Wanted::Left { was_pinned: true }
        }
        (MemoryPolicy::OnDemand, _) => Wanted::Nothing,
    }
}

/// Whether a preload is due: once, and until it came about. A model that idled out stays away until it is called.
fn is_preloaded_now(deployment: &Deployment, occasion: Occasion) -> bool {
    let came_about = match deployment.state {
        DeploymentState::Loading | DeploymentState::Error => false,
        DeploymentState::Ready | DeploymentState::Unloaded | DeploymentState::Missing => true,
    };
    deployment.preload && (occasion == Occasion::Start || !came_about)
}

/// Whether a model that is to go after a time is held for far longer: what was told when that was set did not arrive. Clocks
/// of machines that differ by less than a day change nothing.
fn is_held(deployment: &Deployment, observed: &Observed, now: Timestamp) -> bool {
    deployment.memory.idle_ttl_seconds.is_some_and(|seconds| {
        let latest = now.plus_seconds(i64::from(seconds).saturating_add(PINNED_FOR));
        observed.loaded && observed.expires_at.is_some_and(|at| at > latest)
    })
}

/// Change wanted of a model that is larger than it may be: it is not read, and let go when somebody says so.
const fn wanted_of_too_large(observed: &Observed, occasion: Occasion) -> Wanted {
    match occasion {
        Occasion::Change { .. } if observed.loaded => Wanted::Away,
        Occasion::Start | Occasion::Change { .. } | Occasion::Round => Wanted::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::deployment;

    use MemoryPolicy::{OnDemand, Pinned, Unloaded};

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000_000_000);

    fn seen(loaded: bool, seconds: Option<i64>) -> Observed {
        Observed {
            loaded,
            expires_at: seconds.map(|seconds| NOW.plus_seconds(seconds)),
            ..Observed::default()
        }
    }

    fn with(policy: MemoryPolicy, idle: Option<u32>) -> Deployment {
        let memory = Memory { policy, idle_ttl_seconds: idle, ..Memory::default() };
        Deployment { memory, ..deployment(1, "a") }
    }

    #[test]
    fn a_pinned_model_is_pinned_anew_before_it_goes_and_no_other_is_touched() {
        for (policy, observed, expected) in [
            (Pinned, seen(false, None), Wanted::There),
            (Pinned, seen(true, Some(300)), Wanted::There),
            (Pinned, seen(true, Some(PINNED_FOR * 365)), Wanted::Nothing),
            (Unloaded, seen(true, None), Wanted::Away),
            (Unloaded, seen(false, None), Wanted::Nothing),
            (OnDemand, seen(false, None), Wanted::Nothing),
            (OnDemand, seen(true, Some(PINNED_FOR * 365)), Wanted::Nothing),
        ] {
            let found = wanted(&with(policy, None), &observed, Occasion::Round, NOW);
            assert_eq!(found, expected, "{policy} {observed:?}");
        }
    }

    #[test]
    fn a_change_is_told_to_a_model_that_is_there() {
        let there = seen(true, Some(PINNED_FOR * 365));
        let change = Occasion::Change { was_pinned: true };
        let left = Wanted::Left { was_pinned: true };
        assert_eq!(wanted(&with(OnDemand, None), &there, change, NOW), left);
        assert_eq!(wanted(&with(OnDemand, Some(60)), &there, change, NOW), left);
        // Another context of one that stays pinned.
        assert_eq!(wanted(&with(Pinned, None), &there, change, NOW), Wanted::There);
        // What did not arrive is told in the next round: this one is held for good.
        assert_eq!(wanted(&with(OnDemand, Some(60)), &there, Occasion::Round, NOW), left);
        let idles = seen(true, Some(60));
        assert_eq!(wanted(&with(OnDemand, Some(60)), &idles, Occasion::Round, NOW), Wanted::Nothing);
    }

    #[test]
    fn a_preloaded_model_that_idled_out_is_not_read_again_until_a_start() {
        let preloaded = |state| Deployment { preload: true, state, ..with(OnDemand, Some(60)) };
        let away = seen(false, None);
        for (state, occasion, expected) in [
            (DeploymentState::Ready, Occasion::Start, Wanted::There),
            (DeploymentState::Ready, Occasion::Round, Wanted::Nothing),
            (DeploymentState::Unloaded, Occasion::Round, Wanted::Nothing),
            // Its runtime was not there at the start, or it is still being read.
            (DeploymentState::Error, Occasion::Round, Wanted::There),
            (DeploymentState::Loading, Occasion::Round, Wanted::There),
        ] {
            assert_eq!(wanted(&preloaded(state), &away, occasion, NOW), expected, "{state} {occasion:?}");
        }
    }

    #[test]
    fn a_model_that_is_too_large_is_let_go_by_a_change_alone() {
        let (there, away) = (seen(true, None), seen(false, None));
        let change = Occasion::Change { was_pinned: false };
        assert_eq!(wanted_of_too_large(&there, change), Wanted::Away);
        assert_eq!(wanted_of_too_large(&there, Occasion::Round), Wanted::Nothing);
        assert_eq!(wanted_of_too_large(&away, change), Wanted::Nothing);
    }
}
