//! Deployments: list, create, change, delete.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use heddle_kernel::{
    IdSource, ModelConnectionId, ModelDeploymentId, Page, PageRequest, Patch, Revision, TenantId,
};
use heddle_policy::capability::{
    DeploymentCreate, DeploymentDelete, DeploymentList, DeploymentRead, DeploymentUpdate, ModelConnectionRead,
};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext};
use heddle_usecase::{Journal, StoreError, check_revision};

use crate::defaults::same_shape;
use crate::inside::{LocalStates, begin};
use crate::limits::{check_limits, check_timeouts};
use crate::names::{alias, in_use, model, taken};
use crate::ports::{BoundsSource, Deleted, Dependents, DeploymentChange, DeploymentFilter, ModelStore};
use crate::records::{
    Capabilities, Capability, Defaults, Deployment, DeploymentState, Limits, Memory, ModelConnection,
    Observed, PriceTable, Timeouts,
};
use crate::{JournalFor, Problem, Problems, UseCaseError};

/// The most fallbacks of a deployment.
const FALLBACKS: usize = 10;
/// The most members of the defaults.
const DEFAULTS: usize = 50;
/// The most bytes of the defaults, as JSON.
const DEFAULTS_BYTES: usize = 16 * 1024;
/// The highest price: a million units of the currency for a million tokens.
const PRICE: i64 = 1_000_000_000_000;

/// Members of a body that no default stands for: what the caller asks, and how they are answered.
const NO_DEFAULT: &[&str] = &["messages", "model", "stream", "stream_options", "input", "n", "user"];

/// Prices that are set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPrices {
    /// Code of the currency (ISO 4217).
    pub currency: String,
    /// Millionths of a unit for a million tokens of the question.
    pub input: i64,
    /// The same for the answer.
    pub output: i64,
    /// The same for tokens that the provider had kept; none: as `input`.
    pub cached_input: Option<i64>,
}

/// A deployment to create.
#[derive(Debug, Clone)]
pub struct NewDeployment {
    /// The connection.
    pub connection_id: ModelConnectionId,
    /// Name that the provider knows the model by.
    pub model: String,
    /// Alias.
    pub alias: String,
    /// Abilities; none: those of the catalogue, else those of the provider's type.
    pub capabilities: Option<Capabilities>,
    /// The most tokens of a call; none: that of the catalogue.
    pub context_length: Option<u32>,
    /// Dimensions of its vectors; none: those of the catalogue.
    pub dimensions: Option<u32>,
    /// Values for what a body leaves out.
    pub defaults: Defaults,
    /// Limits.
    pub limits: Limits,
    /// Waits.
    pub timeouts: Timeouts,
    /// Fallbacks, in their order.
    pub fallbacks: Vec<ModelDeploymentId>,
    /// Prices.
    pub prices: Option<NewPrices>,
    /// Whether callers reach it.
    pub enabled: bool,
}

/// A change of a deployment; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct DeploymentPatch {
    /// A new alias.
    pub alias: Option<String>,
    /// Other abilities, all of them.
    pub capabilities: Option<Capabilities>,
    /// Another bound of tokens.
    pub context_length: Patch<u32>,
    /// Other dimensions.
    pub dimensions: Patch<u32>,
    /// Other defaults, all of them.
    pub defaults: Patch<Defaults>,
    /// Other limits, all of them.
    pub limits: Patch<Limits>,
    /// Other waits, all of them.
    pub timeouts: Patch<Timeouts>,
    /// Other fallbacks, all of them.
    pub fallbacks: Patch<Vec<ModelDeploymentId>>,
    /// Other prices; null takes them away.
    pub prices: Patch<NewPrices>,
    /// Whether callers reach it.
    pub enabled: Option<bool>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

/// A changed deployment.
#[derive(Debug, Clone)]
pub struct UpdatedDeployment {
    /// The deployment as it is now.
    pub deployment: Deployment,
    /// Names of what changed, sorted, for the audit trail, without values.
    pub changed: Vec<&'static str>,
}

/// Ports of the use cases of deployments.
#[derive(Clone)]
pub struct DeploymentPorts {
    /// Rows.
    pub store: Arc<dyn ModelStore>,
    /// States of the models inside this service.
    pub states: LocalStates,
    /// Things that name deployments.
    pub dependents: Arc<dyn Dependents>,
    /// Bounds of organisations.
    pub bounds: Arc<dyn BoundsSource>,
    /// Ids.
    pub ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for DeploymentPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeploymentPorts").finish_non_exhaustive()
    }
}

/// The use cases of deployments.
#[derive(Debug)]
pub struct Deployments {
    ports: DeploymentPorts,
}

impl Deployments {
    /// Builds the use cases on their ports.
    #[must_use]
    pub const fn new(ports: DeploymentPorts) -> Self {
        Self { ports }
    }

    /// A page of the deployments that the caller may read, by alias.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<DeploymentList>,
        context: &RequestContext,
        filter: &DeploymentFilter,
        page: &PageRequest,
    ) -> Result<Page<Deployment>, UseCaseError> {
        Ok(self.ports.store.deployments(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// A deployment.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<DeploymentRead>,
        context: &RequestContext,
    ) -> Result<Deployment, UseCaseError> {
        Ok(self.ports.store.deployment(context.tenant(), authorized.id()).await?)
    }

    /// Creates a deployment of a model. No provider is called.
    ///
    /// # Errors
    /// `NotFound` for the connection, also one that the caller may not read; `Invalid` with every member that breaks a
    /// rule; `Conflict` (`notUnique`, `quotaExceeded`); `LimitReached`; `Unavailable`.
    pub async fn create(
        &self,
        _: &AuthorizedKind<DeploymentCreate>,
        context: &RequestContext,
        new: NewDeployment,
        record: &JournalFor<'_, Deployment>,
    ) -> Result<Deployment, UseCaseError> {
        let tenant = context.tenant();
        if context.snapshot().authorize_one::<ModelConnectionRead>(new.connection_id, ()).is_err() {
            return Err(UseCaseError::NotFound);
        }
        let connection = self.ports.store.connection(tenant, new.connection_id).await?;
        let catalogue = self.ports.store.whole_catalogue(tenant, connection.id).await?;
        let entry = catalogue.into_iter().map(|model| model.entry).find(|entry| entry.model == new.model);
        let preset = Capabilities::of(connection.kind.provider().capabilities.iter().copied());
        let told = entry.as_ref().map(|entry| entry.capabilities.clone()).filter(|told| !told.is_empty());
        let now = context.now();
        let mut deployment = Deployment {
            tenant,
            id: ModelDeploymentId(self.ports.ids.next(now)),
            alias: new.alias,
            connection_id: connection.id,
            model: new.model,
            capabilities: new.capabilities.or(told).unwrap_or(preset),
            context_length: new.context_length.or(entry.as_ref().and_then(|entry| entry.context_length)),
            dimensions: new.dimensions.or(entry.as_ref().and_then(|entry| entry.dimensions)),
            defaults: new.defaults,
            limits: new.limits,
            timeouts: new.timeouts,
            fallbacks: new.fallbacks,
            prices: new.prices.map(|prices| table(prices, None)),
            memory: Memory::default(),
            preload: false,
            enabled: new.enabled,
            state: DeploymentState::Ready,
            state_detail: None,
            observed: Observed::default(),
            model_revision: entry.and_then(|entry| entry.revision),
            revision: Revision::FIRST,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        self.checked(context, &deployment, &connection).await?;
        let inside = self.ports.states.models(connection.kind);
        if let Some(models) = &inside {
            begin(&mut deployment, models, now);
        }
        let journal = record(&deployment).changing(None, Some(&deployment));
        let change = DeploymentChange { insert: vec![deployment.clone()], ..DeploymentChange::default() };
        self.write(tenant, &change, &journal).await?;
        if inside.is_some() {
            self.ports.states.made();
        }
        Ok(deployment)
    }

    /// Changes what the patch names.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`; `Conflict` (`revisionMismatch`, `notUnique`); `Unavailable`.
    pub async fn update(
        &self,
        authorized: &Authorized<DeploymentUpdate>,
        context: &RequestContext,
        patch: DeploymentPatch,
        record: &JournalFor<'_, UpdatedDeployment>,
    ) -> Result<UpdatedDeployment, UseCaseError> {
        let tenant = context.tenant();
        let before = self.ports.store.deployment(tenant, authorized.id()).await?;
        check_revision(patch.revision, before.revision)?;
        let mut after = before.clone();
        apply(&mut after, patch);
        let connection = self.ports.store.connection(tenant, before.connection_id).await?;
        self.checked(context, &after, &connection).await?;
        if before.alias != after.alias {
            let uses = self.ports.dependents.uses(tenant, before.id, &before.alias).await?;
            if !uses.is_empty() {
                return Err(in_use("alias", &uses, context));
            }
        }
        let changed = changed(&before, &after);
        if changed.is_empty() {
            return Ok(UpdatedDeployment { deployment: before, changed });
        }
        after.revision = before.revision.next();
        after.updated_at = context.now();
        after.updated_by = context.user_id();
        let updated = UpdatedDeployment { deployment: after, changed };
        let journal = record(&updated).changing(Some(&before), Some(&updated.deployment));
        let update = vec![(updated.deployment.clone(), before.revision)];
        self.write(tenant, &DeploymentChange { update, ..DeploymentChange::default() }, &journal).await?;
        Ok(updated)
    }

    /// Deletes a deployment.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`inUse` with `usedBy`, `revisionMismatch`); `Unavailable`.
    pub async fn delete(
        &self,
        authorized: &Authorized<DeploymentDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let (tenant, id) = (context.tenant(), authorized.id());
        let found = self.ports.store.deployment(tenant, id).await;
        if let Ok(deployment) = &found {
            let uses = self.ports.dependents.uses(tenant, id, &deployment.alias).await?;
            if !uses.is_empty() {
                return Err(in_use("deployment", &uses, context));
            }
        }
        let journal = journal.deleting(found)?;
        let deleted = match self.ports.store.delete_deployment(tenant, id, expected, &journal).await {
            Err(StoreError::Stale) => {
                let present = self.ports.store.deployment(tenant, id).await?;
                check_revision(expected, present.revision)?;
                Err(StoreError::Stale)
            }
            other => other,
        };
        match deleted? {
            Deleted::Now | Deleted::Before => Ok(()),
            Deleted::InUse(uses) => Err(in_use("deployment", &uses, context)),
        }
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

    /// Checks a deployment as it shall be.
    async fn checked(
        &self,
        context: &RequestContext,
        deployment: &Deployment,
        connection: &ModelConnection,
    ) -> Result<(), UseCaseError> {
        let mut problems = Problems::default();
        check(&mut problems, deployment, connection);
        self.check_fallbacks(&mut problems, context, deployment).await?;
        problems.finish()
    }

    /// Adds what is wrong with the fallbacks: unknown ones, also those that the caller may not read; circles; and those
    /// that can't do what the deployment does.
    async fn check_fallbacks(
        &self,
        problems: &mut Problems,
        context: &RequestContext,
        deployment: &Deployment,
    ) -> Result<(), UseCaseError> {
        let named = &deployment.fallbacks;
        if named.is_empty() {
            return Ok(());
        }
        if named.len() > FALLBACKS {
            problems.add("fallbacks", "tooMany", format!("At most {FALLBACKS}."));
            return Ok(());
        }
        let known = self.ports.store.deployments_by_id(context.tenant(), named).await?;
        let mut seen = BTreeSet::new();
        for (at, id) in named.iter().enumerate() {
            let field = format!("fallbacks[{at}]");
            let may_read = context.snapshot().authorize_one::<DeploymentRead>(*id, ()).is_ok();
            let found = known.iter().find(|other| other.id == *id).filter(|_| may_read);
            if *id == deployment.id {
                problems.add(&field, "circular", "A deployment is no fallback of itself.");
            } else if !seen.insert(*id) {
                problems.add(&field, "notUnique", "This deployment stands here twice.");
            } else if let Some(other) = found {
                let serves = |one: &Capability| other.capabilities.has(*one);
                let asked = [Capability::Chat, Capability::Embeddings];
                let common = asked.iter().any(|one| deployment.capabilities.has(*one) && serves(one));
                if !common {
                    problems.add(&field, "notAllowed", "It can't do what this deployment does.");
                } else if deployment.capabilities.has(Capability::Embeddings)
                    && !same_vectors(deployment, other)
                {
                    let message = "Vectors of another model are not compared with this one's.";
                    problems.add(&field, "notAllowed", message);
                }
            } else {
                problems.add(&field, "unknown", "There is no such deployment.");
            }
        }
        if self.leads_back(context.tenant(), deployment, known).await? {
            problems.add("fallbacks", "circular", "The fallbacks lead back to this deployment.");
        }
        Ok(())
    }

    /// Whether the fallbacks of the fallbacks, at any distance, name the deployment.
    async fn leads_back(
        &self,
        tenant: TenantId,
        of: &Deployment,
        first: Vec<Deployment>,
    ) -> Result<bool, UseCaseError> {
        let mut seen: BTreeSet<ModelDeploymentId> = first.iter().map(|one| one.id).collect();
        let mut next: VecDeque<Deployment> = first.into();
        while let Some(one) = next.pop_front() {
            if one.fallbacks.contains(&of.id) && one.id != of.id {
                return Ok(true);
            }
            let further: Vec<_> = one.fallbacks.iter().copied().filter(|id| seen.insert(*id)).collect();
            if !further.is_empty() {
                next.extend(self.ports.store.deployments_by_id(tenant, &further).await?);
            }
        }
        Ok(false)
    }
}

/// Whether vectors of two deployments may stand for each other.
pub(crate) fn same_vectors(one: &Deployment, other: &Deployment) -> bool {
    one.model == other.model
        && one.model_revision == other.model_revision
        && one.dimensions == other.dimensions
        && same_shape(one, other)
}

/// A price table behind the one that there was.
fn table(prices: NewPrices, before: Option<&PriceTable>) -> PriceTable {
    PriceTable {
        version: before.map_or(1, |table| table.version.saturating_add(1)),
        currency: prices.currency,
        input: prices.input,
        output: prices.output,
        cached_input: prices.cached_input,
    }
}

fn same_prices(table: &PriceTable, prices: &NewPrices) -> bool {
    table.currency == prices.currency
        && table.input == prices.input
        && table.output == prices.output
        && table.cached_input == prices.cached_input
}

fn apply(deployment: &mut Deployment, patch: DeploymentPatch) {
    if let Some(alias) = patch.alias {
        deployment.alias = alias;
    }
    if let Some(capabilities) = patch.capabilities {
        deployment.capabilities = capabilities;
    }
    deployment.context_length = patch.context_length.apply_to(deployment.context_length);
    deployment.dimensions = patch.dimensions.apply_to(deployment.dimensions);
    deployment.defaults =
        patch.defaults.apply_to(Some(std::mem::take(&mut deployment.defaults))).unwrap_or_default();
    deployment.limits =
        patch.limits.apply_to(Some(std::mem::take(&mut deployment.limits))).unwrap_or_default();
    deployment.timeouts = patch.timeouts.apply_to(Some(deployment.timeouts)).unwrap_or_default();
    deployment.fallbacks =
        patch.fallbacks.apply_to(Some(std::mem::take(&mut deployment.fallbacks))).unwrap_or_default();
    match patch.prices {
        Patch::Absent => {}
        Patch::Null => deployment.prices = None,
        Patch::Value(prices) => {
            let before = deployment.prices.take();
            let same = before.as_ref().is_some_and(|table| same_prices(table, &prices));
            deployment.prices = if same { before } else { Some(table(prices, before.as_ref())) };
        }
    }
    deployment.enabled = patch.enabled.unwrap_or(deployment.enabled);
}

fn check(problems: &mut Problems, deployment: &Deployment, connection: &ModelConnection) {
    alias(problems, "alias", &deployment.alias);
    model(problems, "model", &deployment.model);
    let provider = connection.kind.provider();
    if deployment.capabilities.is_empty() {
        problems.add("capabilities", "required", "A deployment has one ability at least.");
    }
    for one in deployment.capabilities.all() {
        if !provider.has(*one) {
            let message = format!("Providers of type {} have no `{one}`.", provider.kind);
            problems.push(Problem::at("capabilities", "notAllowed", message));
        }
    }
    for (field, value) in
        [("contextLength", deployment.context_length), ("dimensions", deployment.dimensions)]
    {
        if value.is_some_and(|value| !(1..=100_000_000).contains(&value)) {
            problems.add(field, "outOfRange", "A whole number from 1 to 100,000,000.");
        }
    }
    check_defaults(problems, &deployment.defaults);
    check_limits(problems, &deployment.limits);
    check_timeouts(problems, &deployment.timeouts);
    let Some(prices) = &deployment.prices else { return };
    if prices.currency.len() != 3 || !prices.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        problems.add("prices.currency", "wrongFormat", "Three capital letters (ISO 4217).");
    }
    let all = [
        ("prices.input", Some(prices.input)),
        ("prices.output", Some(prices.output)),
        ("prices.cachedInput", prices.cached_input),
    ];
    for (field, value) in all {
        if value.is_some_and(|value| !(0..=PRICE).contains(&value)) {
            problems.add(field, "outOfRange", "A whole number from 0 to 1,000,000,000,000.");
        }
    }
}

fn check_defaults(problems: &mut Problems, defaults: &Defaults) {
    let Defaults(members) = defaults;
    if members.len() > DEFAULTS {
        problems.add("defaults", "tooMany", format!("At most {DEFAULTS} members."));
    }
    if serde_json::to_vec(members).map_or(usize::MAX, |bytes| bytes.len()) > DEFAULTS_BYTES {
        problems.add("defaults", "tooLong", format!("At most {DEFAULTS_BYTES} bytes of JSON."));
    }
    for (name, value) in members {
        let field = format!("defaults.{}", heddle_kernel::shortened(name));
        if NO_DEFAULT.contains(&name.as_str()) {
            problems.add(&field, "notAllowed", "Only the caller says this.");
        }
        let right = match name.as_str() {
            "temperature" => within(value, 0.0, 2.0),
            "top_p" => within(value, 0.0, 1.0),
            "max_tokens" | "max_completion_tokens" => value.as_u64().is_some_and(|tokens| tokens > 0),
            _other => true,
        };
        if !right {
            problems.add(&field, "outOfRange", "This member takes no such value.");
        }
    }
}

fn within(value: &serde_json::Value, least: f64, most: f64) -> bool {
    value.as_f64().is_some_and(|value| (least..=most).contains(&value))
}

fn changed(before: &Deployment, after: &Deployment) -> Vec<&'static str> {
    let members = [
        ("alias", before.alias != after.alias),
        ("capabilities", before.capabilities != after.capabilities),
        ("contextLength", before.context_length != after.context_length),
        ("defaults", before.defaults != after.defaults),
        ("dimensions", before.dimensions != after.dimensions),
        ("enabled", before.enabled != after.enabled),
        ("fallbacks", before.fallbacks != after.fallbacks),
        ("limits", before.limits != after.limits),
        ("prices", before.prices != after.prices),
        ("timeouts", before.timeouts != after.timeouts),
    ];
    members.iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| *name).collect()
}
