//! Catalogues: discovery of what a provider has, and the import of models as deployments.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heddle_kernel::{IdSource, ModelConnectionId, ModelDeploymentId, Page, PageRequest, Revision, TenantId};
use heddle_policy::capability::{
    DeploymentCreate, ModelConnectionDiscover, ModelConnectionImport, ModelConnectionRead,
};
use heddle_policy::{Authorized, RequestContext};
use heddle_usecase::{Journal, StoreError};

use crate::inside::{LocalStates, begin};
use crate::keys::Opening;
use crate::names::{alias, alias_of, model, taken};
use crate::ports::{
    BoundsSource, CatalogueFilter, CatalogueWrite, DeploymentChange, Fault, ModelStore, Runtimes,
};
use crate::records::{
    Capabilities, CatalogueEntry, CatalogueModel, Defaults, Deployment, DeploymentState, Discovered, Limits,
    Memory, ModelConnection, Observed, Timeouts,
};
use crate::types::ProviderKind;
use crate::{JournalFor, Problem, Problems, UseCaseError};

/// The most models of one import.
const IMPORTED: usize = 100;
/// The most models of a catalogue; a provider that lists more is told of.
const LISTED: usize = 5_000;
/// Tries to find an alias that nobody has.
const TRIES: u32 = 100;

/// A model to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedModel {
    /// Name that the provider knows it by.
    pub model: String,
    /// Alias; none: made of the model's name.
    pub alias: Option<String>,
    /// Abilities; none: those of the catalogue.
    pub capabilities: Option<Capabilities>,
}

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewImport {
    /// 1 to 100 models.
    pub models: Vec<ImportedModel>,
    /// Whether nothing is imported when one can't be.
    pub atomic: bool,
}

/// A model that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedModel {
    /// Name of the model.
    pub model: String,
    /// The machine word: `alreadyImported`, `unknownModel`, `aliasTaken`.
    pub reason: &'static str,
    /// The deployment that there is, where it was imported before.
    pub deployment: Option<ModelDeploymentId>,
}

/// Outcome of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// New deployments, in the order of the request.
    pub imported: Vec<Deployment>,
    /// Models that were left as they were.
    pub skipped: Vec<SkippedModel>,
}

/// Ports of the use cases of catalogues.
#[derive(Clone)]
pub struct CataloguePorts {
    /// Rows.
    pub store: Arc<dyn ModelStore>,
    /// Opening of connections.
    pub opening: Opening,
    /// Providers.
    pub runtimes: Arc<dyn Runtimes>,
    /// States of the models inside this service.
    pub states: LocalStates,
    /// Bounds of organisations.
    pub bounds: Arc<dyn BoundsSource>,
    /// Ids.
    pub ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for CataloguePorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CataloguePorts").finish_non_exhaustive()
    }
}

/// The use cases of catalogues.
#[derive(Debug)]
pub struct Catalogue {
    ports: CataloguePorts,
}

impl Catalogue {
    /// Builds the use cases on their ports.
    #[must_use]
    pub const fn new(ports: CataloguePorts) -> Self {
        Self { ports }
    }

    /// A page of the catalogue that was discovered last, by the model's name.
    ///
    /// # Errors
    /// `NotFound`, `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn models(
        &self,
        authorized: &Authorized<ModelConnectionRead>,
        context: &RequestContext,
        filter: &CatalogueFilter,
        page: &PageRequest,
    ) -> Result<Page<CatalogueModel>, UseCaseError> {
        Ok(self.ports.store.catalogue(context.tenant(), authorized.id(), filter, page).await?)
    }

    /// Asks the provider for its models and keeps them in the place of what there was; after a failure all stays.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`secretUnreadable`, `discoveryFailed` with the phase, `superseded`); `Busy`; `Unavailable`.
    pub async fn discover(
        &self,
        authorized: &Authorized<ModelConnectionDiscover>,
        context: &RequestContext,
        record: &JournalFor<'_, Discovered>,
    ) -> Result<Discovered, UseCaseError> {
        let (tenant, id) = (context.tenant(), authorized.id());
        let _place = self.ports.opening.begin(tenant)?;
        let opened = self.ports.opening.open(tenant, id).await?;
        let listed = self.ports.runtimes.models(&opened).await.map_err(|fault| failed(&fault))?;
        let entries = tidied(listed)?;
        let before = self.ports.store.whole_catalogue(tenant, id).await?;
        let mut discovered = compared(&before, &entries, context);
        let write = CatalogueWrite { tenant, connection: id, entries: &entries, at: context.now() };
        let journal = record(&discovered);
        match self.ports.store.discovered(write, &journal).await {
            Err(StoreError::Stale) => {
                let message = "A later discovery of this connection was written.";
                return Err(UseCaseError::conflict("superseded", message));
            }
            done => done?,
        }
        discovered.items = self.ports.store.whole_catalogue(tenant, id).await?;
        Ok(discovered)
    }

    /// Makes deployments of a catalogue's models. Called again it imports nothing twice.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`; `Conflict` (`notImported` with the models, where it is atomic; `quotaExceeded`); `Forbidden`
    /// for who may create no deployment; `LimitReached`; `Unavailable`.
    pub async fn import(
        &self,
        authorized: &Authorized<ModelConnectionImport>,
        context: &RequestContext,
        new: NewImport,
        record: &JournalFor<'_, Imported>,
    ) -> Result<Imported, UseCaseError> {
        if context.snapshot().authorize_kind::<DeploymentCreate>().is_err() {
            let message = "The caller may create no deployments.";
            return Err(UseCaseError::forbidden("exceedsOwnRights", message));
        }
        check_import(&new)?;
        let (tenant, id) = (context.tenant(), authorized.id());
        let connection = self.ports.store.connection(tenant, id).await?;
        let catalogue = self.ports.store.whole_catalogue(tenant, id).await?;
        let present = self.ports.store.deployments_of(tenant, id).await?;
        let imported = self.chosen(context, &connection, &catalogue, &present, new.models).await?;
        if new.atomic && !imported.skipped.iter().all(|one| one.deployment.is_some()) {
            return Err(not_imported(&imported.skipped));
        }
        if imported.imported.is_empty() {
            // An audit event of an import that imported nothing is still one: somebody asked for it.
            let journal = record(&imported);
            let none = DeploymentChange::default();
            let most = self.ports.bounds.bounds(tenant).most();
            self.ports.store.change_deployments(tenant, &none, most, &journal).await?;
            return Ok(imported);
        }
        let change = DeploymentChange { insert: imported.imported.clone(), ..DeploymentChange::default() };
        self.write(tenant, &change, &record(&imported)).await?;
        if connection.kind == ProviderKind::Local {
            self.ports.states.made();
        }
        Ok(imported)
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

    /// The deployments that an import makes, and what it leaves.
    async fn chosen(
        &self,
        context: &RequestContext,
        connection: &ModelConnection,
        catalogue: &[CatalogueModel],
        present: &[Deployment],
        models: Vec<ImportedModel>,
    ) -> Result<Imported, UseCaseError> {
        let known: BTreeMap<&str, &CatalogueEntry> =
            catalogue.iter().map(|model| (model.entry.model.as_str(), &model.entry)).collect();
        let mut imported = Imported { imported: Vec::new(), skipped: Vec::new() };
        let mut own = BTreeSet::new();
        let inside = self.ports.states.models(connection.kind);
        for wanted in models {
            let skipped =
                |reason, deployment| SkippedModel { model: wanted.model.clone(), reason, deployment };
            if let Some(there) = present.iter().find(|deployment| deployment.model == wanted.model) {
                imported.skipped.push(skipped("alreadyImported", Some(there.id)));
                continue;
            }
            let Some(entry) = known.get(wanted.model.as_str()) else {
                imported.skipped.push(skipped("unknownModel", None));
                continue;
            };
            match self.free_alias(context.tenant(), &wanted, &own).await? {
                Some(name) => {
                    own.insert(name.clone());
                    let mut deployment = fresh(context, &*self.ports.ids, connection.id, name, entry);
                    if let Some(capabilities) = wanted.capabilities {
                        deployment.capabilities = capabilities;
                    }
                    if let Some(models) = &inside {
                        begin(&mut deployment, models, context.now());
                    }
                    imported.imported.push(deployment);
                }
                None => imported.skipped.push(skipped("aliasTaken", None)),
            }
        }
        Ok(imported)
    }

    /// The alias that was asked for, where nobody has it; else the first free one of those that the model's name gives.
    async fn free_alias(
        &self,
        tenant: TenantId,
        wanted: &ImportedModel,
        own: &BTreeSet<String>,
    ) -> Result<Option<String>, UseCaseError> {
        let tries = if wanted.alias.is_some() { 1 } else { TRIES };
        let base = wanted.alias.clone().unwrap_or_else(|| alias_of(&wanted.model));
        for number in 1..=tries {
            let name = if number == 1 { base.clone() } else { numbered(&base, number) };
            if own.contains(&name) {
                continue;
            }
            match self.ports.store.by_alias(tenant, &name).await {
                Err(StoreError::NotFound) => return Ok(Some(name)),
                Err(error) => return Err(error.into()),
                Ok(_taken) => {}
            }
        }
        Ok(None)
    }
}

/// Bytes of the files of a deployment's model, where the catalogue tells them.
pub(crate) async fn bytes_of(
    store: &dyn ModelStore,
    deployment: &Deployment,
) -> Result<Option<u64>, StoreError> {
    let catalogue = store.whole_catalogue(deployment.tenant, deployment.connection_id).await?;
    let found = catalogue.into_iter().find(|model| model.entry.model == deployment.model);
    Ok(found.and_then(|model| model.entry.bytes))
}

/// An alias with a number, within the length of one.
pub(crate) fn numbered(base: &str, number: u32) -> String {
    let end = format!("-{number}");
    let kept: String = base.chars().take(128 - end.len()).collect();
    format!("{kept}{end}")
}

/// A deployment of a catalogue's model as it is first; of a model inside this service [`begin`] says in which state.
pub(crate) fn fresh(
    context: &RequestContext,
    ids: &dyn IdSource,
    connection: ModelConnectionId,
    alias: String,
    entry: &CatalogueEntry,
) -> Deployment {
    let now = context.now();
    Deployment {
        tenant: context.tenant(),
        id: ModelDeploymentId(ids.next(now)),
        alias,
        connection_id: connection,
        model: entry.model.clone(),
        capabilities: entry.capabilities.clone(),
        context_length: entry.context_length,
        dimensions: entry.dimensions,
        defaults: Defaults::default(),
        limits: Limits::default(),
        timeouts: Timeouts::default(),
        fallbacks: Vec::new(),
        prices: None,
        memory: Memory::default(),
        preload: false,
        enabled: true,
        state: DeploymentState::Ready,
        state_detail: None,
        observed: Observed::default(),
        model_revision: entry.revision.clone(),
        revision: Revision::FIRST,
        created_at: now,
        created_by: context.user_id(),
        updated_at: now,
        updated_by: context.user_id(),
    }
}

/// Conflict of a provider that did not list its models.
pub(crate) fn failed(fault: &Fault) -> UseCaseError {
    let problem = Problem::new("discoveryFailed", fault.message.clone()).with("phase", fault.phase.as_str());
    UseCaseError::Conflict(vec![problem])
}

/// Entries of what a provider listed, by the models' names, each once; names that no deployment could have are left out.
pub(crate) fn tidied(listed: Vec<CatalogueEntry>) -> Result<Vec<CatalogueEntry>, UseCaseError> {
    if listed.len() > LISTED {
        let message = format!("The provider lists {} models; {LISTED} are taken at most.", listed.len());
        return Err(UseCaseError::conflict("tooManyModels", message));
    }
    let legal = |entry: &CatalogueEntry| {
        let mut problems = Problems::default();
        model(&mut problems, "model", &entry.model);
        problems.into_iter().next().is_none()
    };
    let by_name: BTreeMap<String, CatalogueEntry> =
        listed.into_iter().filter(legal).map(|entry| (entry.model.clone(), entry)).collect();
    Ok(by_name.into_values().collect())
}

/// The difference between a catalogue and what was discovered.
fn compared(before: &[CatalogueModel], entries: &[CatalogueEntry], context: &RequestContext) -> Discovered {
    let old: BTreeSet<&str> = before.iter().map(|model| model.entry.model.as_str()).collect();
    let new: BTreeSet<&str> = entries.iter().map(|entry| entry.model.as_str()).collect();
    let names = |names: Vec<&&str>| names.into_iter().map(|name| (*name).to_owned()).collect();
    Discovered {
        added: names(new.difference(&old).collect()),
        removed: names(old.difference(&new).collect()),
        unchanged: new.intersection(&old).count() as u64,
        discovered_at: context.now(),
        items: Vec::new(),
    }
}

fn check_import(new: &NewImport) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    if !(1..=IMPORTED).contains(&new.models.len()) {
        problems.add("models", "outOfRange", format!("1 to {IMPORTED} models."));
    }
    let mut seen = BTreeSet::new();
    for (at, wanted) in new.models.iter().enumerate().take(IMPORTED) {
        model(&mut problems, &format!("models[{at}].model"), &wanted.model);
        if let Some(name) = &wanted.alias {
            alias(&mut problems, &format!("models[{at}].alias"), name);
        }
        if !seen.insert(wanted.model.as_str()) {
            problems.add(&format!("models[{at}].model"), "notUnique", "This model stands here twice.");
        }
        if wanted.capabilities.as_ref().is_some_and(Capabilities::is_empty) {
            problems.add(
                &format!("models[{at}].capabilities"),
                "required",
                "A model has one ability at least.",
            );
        }
    }
    problems.finish()
}

fn not_imported(skipped: &[SkippedModel]) -> UseCaseError {
    let problems = skipped.iter().filter(|one| one.deployment.is_none()).map(|one| {
        Problem::new("notImported", format!("`{}` can't be imported: {}.", one.model, one.reason))
            .with("model", one.model.clone())
            .with("why", one.reason)
    });
    UseCaseError::Conflict(problems.collect())
}
