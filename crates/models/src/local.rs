//! Sync: deployments in line with the models of local runtimes, and those inside this service.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heddle_kernel::{IdSource, ModelConnectionId, ModelDeploymentId, Revision, TenantId};
use heddle_policy::capability::{DeploymentSync, ModelConnectionRead};
use heddle_policy::{AuthorizedKind, RequestContext};
use heddle_usecase::{Journal, StoreError};

use crate::catalogue::{failed, fresh, numbered, tidied};
use crate::inside::{ABSENT, LocalStates, begin, other};
use crate::keys::Opening;
use crate::names::{OneAtATime, alias_of, taken};
use crate::ports::{
    BoundsSource, CatalogueWrite, ConnectionWrite, Dependents, DeploymentChange, LocalModel, LocalModels,
    ModelStore, Runtimes, SeenState,
};
use crate::records::{
    Capability, CatalogueEntry, ConnectionSettings, Deployment, DeploymentState, Limits, ModelConnection,
    Observed, Timeouts,
};
use crate::types::ProviderKind;
use crate::{JournalFor, UseCaseError};

/// Name of the connection to the models inside this service.
const BUILT_IN: &str = "Built-in models";
/// The most deployments that one sync makes.
const MADE: usize = 500;
/// Tries to find an alias that nobody has.
const TRIES: u32 = 100;
/// The most connections of an organisation.
const MOST: u64 = 1_000;

/// A sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncRequest {
    /// Connection that is looked at; none: all local ones that the caller may read.
    pub connection: Option<ModelConnectionId>,
    /// Whether nothing is changed.
    pub dry_run: bool,
    /// Whether deployments go whose models are there no more and that nothing uses.
    pub prune: bool,
}

/// A connection that did not tell its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreached {
    /// The connection.
    pub connection: ModelConnectionId,
    /// A sentence for people.
    pub message: String,
}

/// Outcome of a sync.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SyncOutcome {
    /// Deployments that were made, or would be.
    pub created: Vec<Deployment>,
    /// Deployments whose revision, context, dimensions or presence changed, as they are now.
    pub updated: Vec<Deployment>,
    /// Deployments whose models are there no more.
    pub missing: Vec<Deployment>,
    /// Those of them that were deleted, or would be.
    pub deleted: Vec<ModelDeploymentId>,
    /// Number of those that are as they were.
    pub unchanged: u64,
    /// Connections that did not answer; their deployments stay as they are.
    pub unreached: Vec<Unreached>,
    /// Whether nothing was changed.
    pub dry_run: bool,
}

/// Ports of the sync.
#[derive(Clone)]
pub struct SyncPorts {
    /// Rows.
    pub store: Arc<dyn ModelStore>,
    /// Opening of connections.
    pub opening: Opening,
    /// Runtimes.
    pub runtimes: Arc<dyn Runtimes>,
    /// Models inside this service.
    pub local: Arc<dyn LocalModels>,
    /// States of these.
    pub states: LocalStates,
    /// Things that depend on deployments.
    pub dependents: Arc<dyn Dependents>,
    /// Bounds of organisations.
    pub bounds: Arc<dyn BoundsSource>,
    /// Ids.
    pub ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for SyncPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SyncPorts").finish_non_exhaustive()
    }
}

/// The use case of the sync.
#[derive(Debug, Clone)]
pub struct LocalSync {
    ports: SyncPorts,
    turns: OneAtATime,
}

/// A connection as it is now.
#[derive(Clone, Copy)]
struct Here<'a> {
    connection: &'a ModelConnection,
    /// Models that it has.
    entries: &'a [CatalogueEntry],
    /// The models inside this service, where it leads to them.
    inside: Option<&'a [LocalModel]>,
}

/// Changes that a sync makes.
#[derive(Default)]
struct Plan {
    change: DeploymentChange,
    seen: Vec<SeenState>,
    revised: Vec<(ModelDeploymentId, String)>,
    catalogues: Vec<(ModelConnectionId, Vec<CatalogueEntry>)>,
    outcome: SyncOutcome,
}

impl LocalSync {
    /// Builds the use case on its ports.
    #[must_use]
    pub fn new(ports: SyncPorts) -> Self {
        Self { ports, turns: OneAtATime::default() }
    }

    /// Brings deployments in line with what local runtimes have: what is new is deployed, what changed is noted, what is
    /// gone is told, and deleted only with `prune` and where nothing uses it. Called again it changes nothing.
    ///
    /// # Errors
    /// `Invalid` (`notFound`) for the connection; `Conflict` (`syncRunning` while another of the organisation runs, `notLocal`,
    /// `discoveryFailed` of the connection that was named, `quotaExceeded`); `LimitReached`; `Unavailable`.
    pub async fn sync(
        &self,
        _: &AuthorizedKind<DeploymentSync>,
        context: &RequestContext,
        request: SyncRequest,
        record: &JournalFor<'_, SyncOutcome>,
    ) -> Result<SyncOutcome, UseCaseError> {
        let running = || UseCaseError::conflict("syncRunning", "A sync of the organisation runs.");
        let _turn = self.turns.begin(context.tenant()).ok_or_else(running)?;
        let connections = self.chosen(context, request).await?;
        let inside = self.inside(&connections).await;
        self.bring(context, &connections, &inside, request, record).await
    }

    /// Makes the deployments of the models inside this service, where they are not there: for a new organisation. Models that
    /// are being read are not waited for: their deployments are told as such.
    ///
    /// # Errors
    /// `Conflict` (`quotaExceeded`); `LimitReached`; `Unavailable`.
    pub async fn ensure_built_in(
        &self,
        context: &RequestContext,
        record: &JournalFor<'_, SyncOutcome>,
    ) -> Result<SyncOutcome, UseCaseError> {
        let local = self.ports.store.local_connections(context.tenant()).await?;
        let connection = self.built_in(context, &local, false).await?;
        let inside = self.ports.local.models();
        self.bring(context, &[connection], &inside, SyncRequest::default(), record).await
    }

    /// The connections that are looked at.
    async fn chosen(
        &self,
        context: &RequestContext,
        request: SyncRequest,
    ) -> Result<Vec<ModelConnection>, UseCaseError> {
        let tenant = context.tenant();
        let may_read =
            |id: ModelConnectionId| context.snapshot().authorize_one::<ModelConnectionRead>(id, ()).is_ok();
        if let Some(id) = request.connection {
            // One that may not be read and one that is not there are told alike.
            let message = "There is no such connection in this organisation.";
            let absent = || UseCaseError::invalid("connectionId", "notFound", message);
            if !may_read(id) {
                return Err(absent());
            }
            let connection = match self.ports.store.connection(tenant, id).await {
                Err(StoreError::NotFound) => return Err(absent()),
                found => found?,
            };
            if !connection.kind.provider().is_local {
                let message =
                    "Only connections to local runtimes are brought in line: import from the others.";
                return Err(UseCaseError::conflict("notLocal", message));
            }
            return Ok(vec![connection]);
        }
        let mut local = self.ports.store.local_connections(tenant).await?;
        let built_in = self.built_in(context, &local, request.dry_run).await?;
        if !local.iter().any(|connection| connection.id == built_in.id) {
            local.push(built_in);
        }
        let is_made_now = |connection: &ModelConnection| connection.created_at == context.now();
        local.retain(|connection| connection.enabled && (may_read(connection.id) || is_made_now(connection)));
        Ok(local)
    }

    /// The connection to the models inside this service; made where it is not there.
    async fn built_in(
        &self,
        context: &RequestContext,
        local: &[ModelConnection],
        dry_run: bool,
    ) -> Result<ModelConnection, UseCaseError> {
        if let Some(there) = local.iter().find(|connection| connection.kind == ProviderKind::Local) {
            return Ok(there.clone());
        }
        let now = context.now();
        let mut connection = ModelConnection {
            tenant: context.tenant(),
            id: ModelConnectionId(self.ports.ids.next(now)),
            name: BUILT_IN.to_owned(),
            kind: ProviderKind::Local,
            settings: ConnectionSettings::default(),
            api_key: None,
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            enabled: true,
            revision: Revision::FIRST,
            last_test: None,
            discovered_at: None,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        if dry_run {
            return Ok(connection);
        }
        // Somebody may have given the name to a connection of theirs.
        for number in 1..=TRIES {
            if number > 1 {
                connection.name = format!("{BUILT_IN} {number}");
            }
            let write = ConnectionWrite { connection: &connection, sealed: None };
            match self.ports.store.insert_connection(write, MOST, &Journal::default()).await {
                Ok(()) => return Ok(connection),
                Err(StoreError::Duplicate(_)) => {}
                Err(error) => return Err(taken(error, "connection")),
            }
        }
        let message = "No name is free for the connection to the built-in models.";
        Err(UseCaseError::not_unique("name", message))
    }

    /// Models inside this service, where one of the connections leads to them. Those that are being read are waited for, so
    /// that another sync finds all as this one left it.
    async fn inside(&self, connections: &[ModelConnection]) -> Vec<LocalModel> {
        if !connections.iter().any(|connection| connection.kind == ProviderKind::Local) {
            return Vec::new();
        }
        // The look reads nothing that nobody asked for: here somebody does.
        drop(self.ports.local.models());
        self.ports.local.looked_for().await
    }

    async fn bring(
        &self,
        context: &RequestContext,
        connections: &[ModelConnection],
        inside: &[LocalModel],
        request: SyncRequest,
        record: &JournalFor<'_, SyncOutcome>,
    ) -> Result<SyncOutcome, UseCaseError> {
        let tenant = context.tenant();
        let mut plan = Plan::default();
        plan.outcome.dry_run = request.dry_run;
        let mut names = BTreeSet::new();
        for connection in connections {
            match self.entries(connection, inside).await {
                Ok(entries) => {
                    let inside = (connection.kind == ProviderKind::Local).then_some(inside);
                    let here = Here { connection, entries: &entries, inside };
                    self.compare(context, here, request, &mut names, &mut plan).await?;
                    plan.catalogues.push((connection.id, entries));
                }
                Err(error) if request.connection.is_some() => return Err(error),
                Err(error) => plan
                    .outcome
                    .unreached
                    .push(Unreached { connection: connection.id, message: error.in_words() }),
            }
        }
        let Plan { change, seen, revised, catalogues, outcome } = plan;
        let journal = record(&outcome);
        if request.dry_run {
            let none = DeploymentChange::default();
            self.write(tenant, &none, &journal).await?;
            return Ok(outcome);
        }
        self.write(tenant, &change, &journal).await?;
        let leads_inside = connections.iter().any(|connection| connection.kind == ProviderKind::Local);
        if leads_inside && !change.insert.is_empty() {
            self.ports.states.made();
        }
        self.ports.store.seen(&seen).await?;
        for (id, revision) in &revised {
            self.ports.dependents.revised(tenant, *id, revision).await?;
        }
        for (connection, entries) in &catalogues {
            let write = CatalogueWrite {
                tenant,
                connection: *connection,
                entries: entries.as_slice(),
                at: context.now(),
            };
            match self.ports.store.discovered(write, &Journal::default()).await {
                // A later discovery knows more.
                Ok(()) | Err(StoreError::Stale) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(outcome)
    }

    async fn write(
        &self,
        tenant: TenantId,
        change: &DeploymentChange,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let most = self.ports.bounds.bounds(tenant).most();
        let written = self.ports.store.change_deployments(tenant, change, most, journal).await;
        written.map_err(|error| taken(error, "deployment"))
    }

    /// Models that a connection has now.
    async fn entries(
        &self,
        connection: &ModelConnection,
        inside: &[LocalModel],
    ) -> Result<Vec<CatalogueEntry>, UseCaseError> {
        if connection.kind == ProviderKind::Local {
            return tidied(inside.iter().map(|model| model.entry.clone()).collect());
        }
        let opened = self.ports.opening.open(connection.tenant, connection.id).await?;
        let listed = self.ports.runtimes.models(&opened).await.map_err(|fault| failed(&fault))?;
        tidied(listed)
    }

    async fn compare(
        &self,
        context: &RequestContext,
        here: Here<'_>,
        request: SyncRequest,
        names: &mut BTreeSet<String>,
        plan: &mut Plan,
    ) -> Result<(), UseCaseError> {
        let tenant = context.tenant();
        let Here { connection, entries, inside } = here;
        let present = match self.ports.store.deployments_of(tenant, connection.id).await {
            // Of a connection that a dry run would make there are none.
            Err(StoreError::NotFound) => Vec::new(),
            found => found?,
        };
        let of_model: BTreeMap<&str, &CatalogueEntry> =
            entries.iter().map(|entry| (entry.model.as_str(), entry)).collect();
        for deployment in &present {
            match of_model.get(deployment.model.as_str()) {
                Some(entry) => noted(context, deployment, entry, inside, plan),
                None => self.gone(context, deployment, request.prune, plan).await?,
            }
        }
        let deployed: BTreeSet<&str> = present.iter().map(|one| one.model.as_str()).collect();
        for entry in entries.iter().filter(|entry| !deployed.contains(entry.model.as_str())) {
            if plan.change.insert.len() >= MADE {
                break;
            }
            let name = self.alias(inside, entry, tenant, names).await?;
            let mut made = fresh(context, &*self.ports.ids, connection.id, name, entry);
            if let Some(models) = inside {
                begin(&mut made, models, context.now());
            }
            plan.outcome.created.push(made.clone());
            plan.change.insert.push(made);
        }
        Ok(())
    }

    /// An alias that nobody has.
    async fn alias(
        &self,
        inside: Option<&[LocalModel]>,
        entry: &CatalogueEntry,
        tenant: TenantId,
        names: &mut BTreeSet<String>,
    ) -> Result<String, UseCaseError> {
        let own = inside.and_then(|models| models.iter().find(|model| model.entry.model == entry.model));
        let base = own.map_or_else(|| alias_of(&entry.model), |model| model.alias.clone());
        for number in 1..=TRIES {
            let name = if number == 1 { base.clone() } else { numbered(&base, number) };
            if names.contains(&name) {
                continue;
            }
            match self.ports.store.by_alias(tenant, &name).await {
                Err(StoreError::NotFound) => {
                    names.insert(name.clone());
                    return Ok(name);
                }
                Err(error) => return Err(error.into()),
                Ok(_taken) => {}
            }
        }
        let message = format!("No alias is free for `{}`.", entry.model);
        Err(UseCaseError::not_unique("alias", message))
    }

    /// Notes a deployment whose model is there no more.
    async fn gone(
        &self,
        context: &RequestContext,
        deployment: &Deployment,
        prune: bool,
        plan: &mut Plan,
    ) -> Result<(), UseCaseError> {
        plan.outcome.missing.push(deployment.clone());
        let tenant = context.tenant();
        let may = || {
            let snapshot = context.snapshot();
            snapshot.authorize_one::<heddle_policy::capability::DeploymentDelete>(deployment.id, ()).is_ok()
        };
        if prune && may() {
            let uses = self.ports.dependents.uses(tenant, deployment.id, &deployment.alias).await?;
            if uses.is_empty() && !self.ports.store.is_fallback(tenant, deployment.id).await? {
                plan.change.delete.push(deployment.id);
                plan.outcome.deleted.push(deployment.id);
                return Ok(());
            }
        }
        if deployment.state != DeploymentState::Missing {
            plan.seen.push(SeenState {
                tenant,
                id: deployment.id,
                state: DeploymentState::Missing,
                detail: Some(ABSENT.to_owned()),
                observed: Observed::default(),
            });
        }
        Ok(())
    }
}

/// Notes a deployment whose model is there: one of a runtime answers, one inside this service says itself what it does.
fn noted(
    context: &RequestContext,
    deployment: &Deployment,
    entry: &CatalogueEntry,
    inside: Option<&[LocalModel]>,
    plan: &mut Plan,
) {
    let mut after = deployment.clone();
    after.model_revision = entry.revision.clone().or(after.model_revision);
    after.context_length = entry.context_length.or(after.context_length);
    after.dimensions = entry.dimensions.or(after.dimensions);
    let is_changed = after != *deployment;
    let seen = match inside {
        Some(models) => other(deployment, models, context.now()),
        None => (deployment.state == DeploymentState::Missing).then(|| SeenState {
            tenant: deployment.tenant,
            id: deployment.id,
            state: DeploymentState::Ready,
            detail: None,
            observed: Observed::default(),
        }),
    };
    if !is_changed && seen.is_none() {
        plan.outcome.unchanged += 1;
        return;
    }
    if let Some(seen) = seen {
        after.state = seen.state;
        after.state_detail.clone_from(&seen.detail);
        after.observed = seen.observed.clone();
        plan.seen.push(seen);
    }
    if is_changed {
        if let Some(revision) = &after.model_revision
            && after.model_revision != deployment.model_revision
            && after.capabilities.has(Capability::Embeddings)
        {
            plan.revised.push((deployment.id, revision.clone()));
        }
        after.revision = deployment.revision.next();
        after.updated_at = context.now();
        after.updated_by = context.user_id();
        plan.change.update.push((after.clone(), deployment.revision));
    }
    plan.outcome.updated.push(after);
}
