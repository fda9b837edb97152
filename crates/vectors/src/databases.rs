//! Databases: list, create, change, delete; whether a name is free; models and methodologies.

use std::collections::BTreeSet;
use std::sync::Arc;

use heddle_kernel::{
    DatabaseName, IdSource, IngestionJobId, ModelDeploymentId, NameFault, Page, PageRequest, Patch, Revision,
    VectorDatabaseId, literals,
};
use heddle_policy::capability::{
    CaseTypeRead, VectorDatabaseCreate, VectorDatabaseDelete, VectorDatabaseList, VectorDatabaseUpdate,
    WorkflowRead,
};
use heddle_policy::resource::{Place as _, ResourceId as _};
use heddle_policy::{
    Action, Authorized, AuthorizedKind, AuthorizedList, Extent, Ownership, RequestContext, ResourceType,
};
use heddle_usecase::{Journal, JournalFor, StoreError, check_revision, name, text};
use serde_json::{Map, Value, json};

use crate::bounds::QuotaSource;
use crate::metadata::check_schema;
use crate::ports::{
    Chunker, DatabaseFilter, DatabaseUpdate, DatabaseUses, EmbedError, Embedder, EmbeddingModel, Methodology,
    ModelState, PassageIndex, Use, UseKind, VectorStore,
};
use crate::records::{
    Backend, Chunking, Counts, DatabaseState, Job, JobFiles, JobKind, JobState, MetadataSchema, ModelUse,
    NextGeneration, QueryDefaults, QueryMode, Recipe, Stage, VectorDatabase,
};
use crate::retrieval::retrieval;
use crate::{Problem, Problems, UseCaseError};

/// The most characters of a display name.
const DISPLAY_NAME: usize = 200;
/// The most characters of a description.
const DESCRIPTION: usize = 4_000;
/// The most passages of an answer.
pub(crate) const MOST_PASSAGES: u32 = 100;
/// Suggestions beside a name that can't be had.
const SUGGESTIONS: usize = 3;

/// A database to create.
#[derive(Debug, Clone)]
pub struct NewVectorDatabase {
    /// Name: the address.
    pub name: String,
    /// Name for people; the name where none is given.
    pub display_name: Option<String>,
    /// Purpose.
    pub description: Option<String>,
    /// Embedding model: absent takes the preset one if it is ready, null takes none (words alone).
    pub model: Patch<String>,
    /// Methodology; the preset one where none is given.
    pub methodology: Option<String>,
    /// Options of the methodology.
    pub options: Option<Map<String, Value>>,
    /// Keeper of the index.
    pub backend: Option<Backend>,
    /// Declared members of the metadata.
    pub schema: MetadataSchema,
    /// Presets of queries.
    pub defaults: QueryDefaults,
}

/// A change of a database; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct VectorDatabasePatch {
    /// Another name for people.
    pub display_name: Option<String>,
    /// Another purpose; null takes it away.
    pub description: Patch<String>,
    /// Other presets, all of them.
    pub defaults: Option<QueryDefaults>,
    /// Further declared members; those that are there stay as they are.
    pub schema: MetadataSchema,
    /// Another methodology.
    pub methodology: Option<String>,
    /// Other options, all of them; where none are given the same methodology keeps its own.
    pub options: Option<Map<String, Value>>,
    /// Another model; null is none.
    pub model: Patch<String>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

literals! {
    /// Reason for which a name can't be had.
    pub enum AddressFault {
        /// Name of another database.
        Taken = "taken",
        /// Word that the service keeps for itself.
        Reserved = "reserved",
        /// Spelling that names do not have.
        Invalid = "invalid",
    }
}

/// Whether a name is free. Creation decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressAvailability {
    /// The name as it was asked for.
    pub name: String,
    /// The nearest name that is spelled as names are.
    pub normalized: Option<String>,
    /// Reason for which it can't be had; none when it is free.
    pub fault: Option<AddressFault>,
    /// Names like it that are free.
    pub suggestions: Vec<String>,
}

/// Ports of the use cases of databases.
#[derive(Clone)]
pub struct DatabasePorts {
    /// Rows.
    pub store: Arc<dyn VectorStore>,
    /// Models.
    pub embedder: Arc<dyn Embedder>,
    /// Methodologies.
    pub chunker: Arc<dyn Chunker>,
    /// Indexes.
    pub index: Arc<dyn PassageIndex>,
    /// Definitions that name databases.
    pub uses: Arc<dyn DatabaseUses>,
    /// Quotas.
    pub quotas: Arc<dyn QuotaSource>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for DatabasePorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabasePorts").finish_non_exhaustive()
    }
}

/// The use cases of databases.
pub struct VectorDatabases {
    ports: DatabasePorts,
}

impl std::fmt::Debug for VectorDatabases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorDatabases").finish_non_exhaustive()
    }
}

impl VectorDatabases {
    /// Builds the use cases on their ports.
    #[must_use]
    pub const fn new(ports: DatabasePorts) -> Self {
        Self { ports }
    }

    /// A page of the databases within reach.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<VectorDatabaseList>,
        context: &RequestContext,
        filter: &DatabaseFilter,
        page: &PageRequest,
    ) -> Result<Page<VectorDatabase>, UseCaseError> {
        let store = &self.ports.store;
        Ok(store.list_databases(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// A database within reach of a list.
    ///
    /// # Errors
    /// `NotFound` also when it is not within reach; `Unavailable`.
    pub async fn get(
        &self,
        authorized: &AuthorizedList<VectorDatabaseList>,
        context: &RequestContext,
        name: &DatabaseName,
    ) -> Result<VectorDatabase, UseCaseError> {
        let key = context.snapshot().claimed::<heddle_policy::resource::VectorDatabase>(name.clone(), ());
        if !authorized.filter().permits(&key) {
            return Err(UseCaseError::NotFound);
        }
        Ok(self.ports.store.database(context.tenant(), name).await?)
    }

    /// Creates a database. With a model it is hybrid, without one words alone are looked for.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule; `Conflict` (`notUnique`, `quotaExceeded`, `modelMissing`,
    /// `backendMissing`); `LimitReached` by the licence; `Unavailable`.
    pub async fn create(
        &self,
        _: &AuthorizedKind<VectorDatabaseCreate>,
        context: &RequestContext,
        new: NewVectorDatabase,
        record: &JournalFor<'_, VectorDatabase>,
    ) -> Result<VectorDatabase, UseCaseError> {
        let (tenant, now) = (context.tenant(), context.now());
        let mut problems = Problems::default();
        let address = named(&mut problems, &new.name);
        let display_name = new.display_name.unwrap_or_else(|| new.name.clone());
        check_texts(&mut problems, &display_name, new.description.as_deref());
        check_schema(&mut problems, &new.schema);
        check_defaults(&mut problems, new.defaults);
        let chunking = self.chunking(&mut problems, new.methodology.as_deref(), new.options.as_ref());
        problems.finish()?;
        let (Some(address), Some(chunking)) = (address, chunking) else {
            return Err(UseCaseError::Internal("a name and a methodology passed without a value".to_owned()));
        };
        let model = self.model(context, new.model, true).await?;
        defaults_fit(new.defaults, model.as_ref())?;
        let backend = new.backend.unwrap_or(Backend::Embedded);
        if !self.ports.index.has(backend).await {
            let message =
                format!("This installation has no `{backend}`: its PostgreSQL lacks the extension.");
            return Err(UseCaseError::Conflict(vec![Problem::at("backend", "backendMissing", message)]));
        }
        let database = VectorDatabase {
            tenant,
            id: VectorDatabaseId(self.ports.ids.next(now)),
            name: address,
            display_name,
            description: new.description,
            state: DatabaseState::Ready,
            backend,
            generation: 1,
            last_generation: 1,
            recipe: Recipe { model, chunking },
            next: None,
            schema: new.schema,
            defaults: new.defaults,
            sequence: 0,
            counts: Counts::default(),
            revision: Revision::FIRST,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
            last_ingested_at: None,
        };
        let journal = record(&database).changing(None, Some(&database));
        let quotas = self.ports.quotas.quotas(tenant);
        let written = self.ports.store.insert_database(&database, &quotas, &journal).await;
        written.map_err(|error| not_inserted(error, &database.name))?;
        Ok(database)
    }

    /// Changes what the patch names. Another model, methodology or other options are built as a generation of its own
    /// beside the one that serves (`next`, with its job), by the model in the revision that is served now.
    ///
    /// # Errors
    /// `NotFound`; as [`Self::create`]; `Conflict` (`revisionMismatch`, `reindexRunning`).
    pub async fn update(
        &self,
        authorized: &Authorized<VectorDatabaseUpdate>,
        context: &RequestContext,
        patch: VectorDatabasePatch,
        record: &JournalFor<'_, VectorDatabase>,
    ) -> Result<VectorDatabase, UseCaseError> {
        let before = self.ports.store.database(context.tenant(), &authorized.id()).await?;
        // Of what is not to be seen nothing is shown by a change either.
        if is_hidden(context, &before.name) {
            return Err(UseCaseError::NotFound);
        }
        check_revision(patch.revision, before.revision)?;
        // What is named once more while another generation is built is held against that: it is what was asked for last.
        let last = before.next.as_ref().map_or(&before.recipe, |next| &next.recipe);
        let recipe = self.recipe(context, last, &patch).await?;
        let is_another = recipe != *last;
        if is_another && before.next.is_some() {
            let message = "The database is being indexed anew; cancel that job, or wait for its end.";
            return Err(UseCaseError::conflict("reindexRunning", message));
        }
        let names_defaults = patch.defaults.is_some();
        let mut after = before.clone();
        apply(&mut after, patch)?;
        if is_another || names_defaults {
            presets_hold(after.defaults, &before.recipe, &recipe)?;
        }
        let mut job = None;
        if is_another {
            let made = self.reindex_job(&before, context);
            // A number that was given before may have leftovers that go in the background by it.
            let generation = before.last_generation + 1;
            after.last_generation = generation;
            after.next = Some(NextGeneration { generation, recipe, job: made.id });
            job = Some(made);
        }
        if after == before {
            return Ok(before);
        }
        after.revision = before.revision.next();
        after.updated_at = context.now();
        after.updated_by = context.user_id();
        if job.is_some() {
            after.state = DatabaseState::Building;
        }
        let journal = record(&after).changing(Some(&before), Some(&after));
        let reindex = after.next.as_ref().zip(job.as_ref());
        let update = DatabaseUpdate { database: &after, reindex };
        self.ports.store.update_database(update, before.revision, &journal).await?;
        Ok(after)
    }

    /// Deletes a database. Its files can't be found from then on; rows and bytes go in the background. A definition whose
    /// expression gives the name of the database is not known to use it, and keeps nobody from this.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`inUse` with `usedBy`, `revisionMismatch`); `Unavailable`.
    pub async fn delete(
        &self,
        authorized: &Authorized<VectorDatabaseDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let (tenant, name) = (context.tenant(), authorized.id());
        let found = self.ports.store.database(tenant, &name).await;
        if let Ok(present) = &found {
            check_revision(expected, present.revision)?;
            let uses = self.ports.uses.uses(tenant, &name).await?;
            if !uses.is_empty() {
                return Err(in_use(&uses, context));
            }
        }
        let journal = journal.deleting(found)?;
        self.ports.store.delete_database(tenant, &name, expected, &journal).await?;
        Ok(())
    }

    /// Whether a name is free, with names like it that are. Advisory: creation decides.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn availability(
        &self,
        _: &AuthorizedList<VectorDatabaseList>,
        context: &RequestContext,
        asked: &str,
    ) -> Result<AddressAvailability, UseCaseError> {
        let normalized = normalized(asked);
        let parsed = DatabaseName::parse(asked);
        let base = parsed.as_ref().ok().or(normalized.as_ref());
        let mut names: Vec<DatabaseName> = base.cloned().into_iter().collect();
        names.extend(base.into_iter().flat_map(variants));
        let taken: BTreeSet<DatabaseName> =
            self.ports.store.taken(context.tenant(), &names).await?.into_iter().collect();
        let fault = match &parsed {
            Ok(name) if taken.contains(name) => Some(AddressFault::Taken),
            Ok(_) => None,
            Err(NameFault::Reserved) => Some(AddressFault::Reserved),
            Err(NameFault::Invalid) => Some(AddressFault::Invalid),
        };
        let free = names.iter().filter(|name| !taken.contains(*name) && name.as_str() != asked);
        let suggestions = free.take(SUGGESTIONS).map(ToString::to_string);
        Ok(AddressAvailability {
            name: asked.to_owned(),
            normalized: normalized.map(|name| name.to_string()),
            fault,
            suggestions: fault.map(|_| suggestions.collect()).unwrap_or_default(),
        })
    }

    /// The embedding models that the organisation may use, but for deployments that are denied to the caller.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn models(
        &self,
        _: &AuthorizedList<VectorDatabaseList>,
        context: &RequestContext,
    ) -> Result<Vec<EmbeddingModel>, UseCaseError> {
        self.usable(context).await
    }

    /// The models that a caller may have a database embed by.
    async fn usable(&self, context: &RequestContext) -> Result<Vec<EmbeddingModel>, UseCaseError> {
        let mut models = self.ports.embedder.models(context.tenant()).await.map_err(model_fault)?;
        models.retain(|model| may_embed(context, &model.model.id));
        Ok(models)
    }

    /// The methodologies of cutting and of finding.
    #[must_use]
    pub fn methodologies(&self, _: &AuthorizedList<VectorDatabaseList>) -> Vec<Methodology> {
        let mut all = self.ports.chunker.methodologies();
        all.extend(retrieval());
        all
    }

    /// Recipe that a patch leads to.
    async fn recipe(
        &self,
        context: &RequestContext,
        present: &Recipe,
        patch: &VectorDatabasePatch,
    ) -> Result<Recipe, UseCaseError> {
        let chunking = self.changed_chunking(present, patch)?;
        let is_same = |id: &String| present.model.as_ref().is_some_and(|model| model.id == *id);
        let model = match (&patch.model, &present.model) {
            (Patch::Null, _) => None,
            (Patch::Value(id), _) if !is_same(id) => self.model(context, patch.model.clone(), true).await?,
            (_, None) => None,
            // All is embedded anew: by another revision than the one that is served it would fail.
            (_, Some(model)) if chunking != present.chunking => Some(self.served(context, model).await?),
            (Patch::Value(_), Some(model)) => Some(as_it_is(model, self.usable(context).await?)),
            (Patch::Absent, Some(model)) => Some(model.clone()),
        };
        Ok(Recipe { model, chunking })
    }

    /// The model of a database as it is served at this moment: the database embeds by it, whatever rights the caller has on
    /// it. One that can't embed is a conflict: nothing is begun that is sure to fail.
    async fn served(&self, context: &RequestContext, present: &ModelUse) -> Result<ModelUse, UseCaseError> {
        let models = self.ports.embedder.models(context.tenant()).await.map_err(model_fault)?;
        let Some(now) = models.into_iter().find(|one| one.model.id == present.id) else {
            let message = "The embedding model of the database is not there any more, and all files would be embedded anew: \
                           set `embeddingModelId` to another one, or to null, in the same change.";
            let problem = Problem::at("embeddingModelId", "modelMissing", message);
            return Err(UseCaseError::Conflict(vec![problem]));
        };
        match now.state {
            ModelState::Ready | ModelState::Loading => Ok(now.model),
            ModelState::Missing | ModelState::Error => Err(not_ready(&now)),
        }
    }

    /// Manner of cutting that a patch leads to.
    fn changed_chunking(
        &self,
        present: &Recipe,
        patch: &VectorDatabasePatch,
    ) -> Result<Chunking, UseCaseError> {
        let mut problems = Problems::default();
        let id = patch.methodology.as_deref().unwrap_or(&present.chunking.id);
        if id == present.chunking.id && patch.options.is_none() {
            return Ok(present.chunking.clone());
        }
        let chunking = self.chunking(&mut problems, Some(id), patch.options.as_ref());
        problems.finish()?;
        Ok(chunking.unwrap_or_else(|| present.chunking.clone()))
    }

    fn chunking(
        &self,
        problems: &mut Problems,
        id: Option<&str>,
        options: Option<&Map<String, Value>>,
    ) -> Option<Chunking> {
        let all = self.ports.chunker.methodologies();
        let preset = || all.iter().find(|one| one.is_default).or(all.first()).map(|one| one.id.as_str());
        let id = id.or_else(preset)?;
        if !all.iter().any(|one| one.id == id) {
            let known: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
            problems.add("methodologyId", "notAllowed", format!("One of {}.", known.join(", ")));
            return None;
        }
        match self.ports.chunker.check(id, options.unwrap_or(&Map::new())) {
            Ok(chunking) => Some(chunking),
            Err(faults) => {
                for fault in faults {
                    let path = match fault.path.as_str() {
                        "" => "methodologyOptions".to_owned(),
                        path => format!("methodologyOptions.{path}"),
                    };
                    problems.add(&path, fault.reason, fault.message);
                }
                None
            }
        }
    }

    /// The model that is asked for. One that is not ready is a conflict, unless nobody asked for any; a deployment that is
    /// denied to the caller is none.
    async fn model(
        &self,
        context: &RequestContext,
        asked: Patch<String>,
        must_be_ready: bool,
    ) -> Result<Option<ModelUse>, UseCaseError> {
        if asked == Patch::Null {
            return Ok(None);
        }
        let models = self.usable(context).await?;
        let is_ready = |model: &&EmbeddingModel| model.state == ModelState::Ready;
        let Patch::Value(id) = asked else {
            let preset = models.iter().find(|model| model.is_default).filter(is_ready);
            return Ok(preset.map(|model| model.model.clone()));
        };
        let Some(found) = models.iter().find(|model| model.model.id == id) else {
            let known: Vec<&str> = models.iter().map(|model| model.model.id.as_str()).collect();
            let message = format!("There is no such model; there are: {}.", known.join(", "));
            return Err(UseCaseError::invalid("embeddingModelId", "notAllowed", message));
        };
        if must_be_ready && !is_ready(&found) {
            return Err(not_ready(found));
        }
        Ok(Some(found.model.clone()))
    }

    fn reindex_job(&self, database: &VectorDatabase, context: &RequestContext) -> Job {
        let id = IngestionJobId(self.ports.ids.next(context.now()));
        new_job(database, id, JobKind::Reindex, context)
    }
}

/// A model as it is now, where it is ready, else as a database has it: named once more it is taken in the revision that is
/// served.
fn as_it_is(present: &ModelUse, models: Vec<EmbeddingModel>) -> ModelUse {
    let now = models.into_iter().find(|one| one.model.id == present.id && one.state == ModelState::Ready);
    now.map_or_else(|| present.clone(), |one| one.model)
}

/// The conflict of a model that does not embed, with what to do.
fn not_ready(model: &EmbeddingModel) -> UseCaseError {
    let detail = model.state_detail.clone().unwrap_or_default();
    let message = format!("The model is {}. {detail}", model.state);
    let problem = Problem::at("embeddingModelId", "modelMissing", message);
    UseCaseError::Conflict(vec![problem.with("state", model.state.as_str())])
}

/// A job without files.
pub(crate) fn new_job(
    database: &VectorDatabase,
    id: IngestionJobId,
    kind: JobKind,
    context: &RequestContext,
) -> Job {
    Job {
        tenant: database.tenant,
        id,
        database: database.id,
        database_name: database.name.clone(),
        kind,
        state: JobState::Queued,
        stage: Stage::Queued,
        files: JobFiles::default(),
        passages_done: 0,
        passages_total: 0,
        files_cut: 0,
        bytes: 0,
        attempts: 0,
        error: None,
        created_at: context.now(),
        created_by: context.user_id(),
        started_at: None,
        heartbeat_at: None,
        finished_at: None,
    }
}

fn named(problems: &mut Problems, text: &str) -> Option<DatabaseName> {
    match DatabaseName::parse(text) {
        Ok(name) => Some(name),
        Err(fault @ NameFault::Invalid) => {
            problems.add("name", "pattern", format!("{fault}."));
            None
        }
        Err(fault @ NameFault::Reserved) => {
            problems.add("name", "reserved", format!("{fault}."));
            None
        }
    }
}

fn check_texts(problems: &mut Problems, display_name: &str, description: Option<&str>) {
    name(problems, "displayName", display_name, DISPLAY_NAME);
    text(problems, "description", description, DESCRIPTION);
}

fn check_defaults(problems: &mut Problems, defaults: QueryDefaults) {
    if defaults.limit.is_some_and(|limit| !(1..=MOST_PASSAGES).contains(&limit)) {
        problems.add("defaults.limit", "outOfRange", format!("1 to {MOST_PASSAGES}."));
    }
}

/// Checks presets against what serves and against what is to serve: a preset query is answered before the other generation
/// serves, and once its job was cancelled.
fn presets_hold(defaults: QueryDefaults, serves: &Recipe, to_serve: &Recipe) -> Result<(), UseCaseError> {
    defaults_fit(defaults, to_serve.model.as_ref())?;
    match defaults.mode {
        Some(mode @ (QueryMode::Hybrid | QueryMode::Semantic)) if serves.model.is_none() => {
            let message = format!(
                "No query is `{mode}` before the database has been indexed with the model: set it once the job has ended."
            );
            Err(UseCaseError::invalid("defaults.mode", "notAllowed", message))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that presets can be met: without a model words alone are looked for.
fn defaults_fit(defaults: QueryDefaults, model: Option<&ModelUse>) -> Result<(), UseCaseError> {
    match defaults.mode {
        Some(mode @ (QueryMode::Hybrid | QueryMode::Semantic)) if model.is_none() => {
            let message = format!("Without an embedding model no query is `{mode}`.");
            Err(UseCaseError::invalid("defaults.mode", "notAllowed", message))
        }
        Some(_) | None => Ok(()),
    }
}

fn apply(database: &mut VectorDatabase, patch: VectorDatabasePatch) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    if let Some(display_name) = patch.display_name {
        database.display_name = display_name;
    }
    database.description = patch.description.apply_to(database.description.take());
    check_texts(&mut problems, &database.display_name, database.description.as_deref());
    if let Some(defaults) = patch.defaults {
        check_defaults(&mut problems, defaults);
        database.defaults = defaults;
    }
    for (name, member) in patch.schema {
        match database.schema.get(&name) {
            Some(present) if *present != member => {
                let message = "A declared member does not change.";
                problems.add(&format!("metadataSchema.{name}"), "notAllowed", message);
            }
            Some(_) => {}
            None => {
                database.schema.insert(name, member);
            }
        }
    }
    check_schema(&mut problems, &database.schema);
    problems.finish()
}

fn not_inserted(error: StoreError, name: &DatabaseName) -> UseCaseError {
    match error {
        StoreError::Duplicate(_) => {
            let message = format!("Another vector database has the name `{name}`.");
            UseCaseError::Conflict(vec![Problem::at("name", "notUnique", message)])
        }
        StoreError::QuotaExceeded { limit: "licensedDatabases", most, used } => {
            UseCaseError::LimitReached { limit: "vectorDatabases", licensed: most, used }
        }
        other => other.into(),
    }
}

/// Whether a caller may read a thing that uses a database.
fn may_read(context: &RequestContext, one: &Use) -> bool {
    let snapshot = context.snapshot();
    match one.kind {
        UseKind::Workflow(id) => snapshot.authorize_one::<WorkflowRead>(id, ()).is_ok(),
        UseKind::CaseType(id) => snapshot.authorize_one::<CaseTypeRead>(id, ()).is_ok(),
    }
}

/// The conflict of a database that is in use: definitions that the caller may read by their names, others by their number.
fn in_use(uses: &[Use], context: &RequestContext) -> UseCaseError {
    let (shown, hidden): (Vec<&Use>, Vec<&Use>) = uses.iter().partition(|one| may_read(context, one));
    let mut used_by: Vec<Value> = Vec::new();
    for one in shown {
        used_by.push(json!({"type": one.kind.as_str(), "id": one.kind.id(), "name": one.name}));
    }
    let kinds: BTreeSet<&str> = hidden.iter().map(|one| one.kind.as_str()).collect();
    for kind in kinds {
        let count = hidden.iter().filter(|one| one.kind.as_str() == kind).count();
        used_by.push(json!({"type": kind, "count": count}));
    }
    let message = "Published definitions name the database. Those whose expressions give its name are not among them: they \
                   are known when they work.";
    UseCaseError::Conflict(vec![Problem::new("inUse", message).with("usedBy", used_by)])
}

/// Whether a caller may have a database embed by a model. A right to databases needs none on deployments, and a deny on one
/// is heard nevertheless.
fn may_embed(context: &RequestContext, model: &str) -> bool {
    match model.parse::<ModelDeploymentId>() {
        Ok(id) => !is_denied(context, id),
        Err(_built_in) => true,
    }
}

/// Whether a rule denies a caller the vectors and scores of a deployment.
fn is_denied(context: &RequestContext, deployment: ModelDeploymentId) -> bool {
    let denied = denies(context, ResourceType::Deployment, Action::Embed);
    !denied.permits(&deployment.rule_id(), &().parents(), Ownership::Unknown)
}

/// Whether a rule denies a caller to see a database.
fn is_hidden(context: &RequestContext, name: &DatabaseName) -> bool {
    let denied = denies(context, ResourceType::VectorDatabase, Action::List);
    !denied.permits(&name.rule_id(), &().parents(), Ownership::Unknown)
}

/// Reach of a caller by an action on things of a type where denials alone count.
pub(crate) fn denies(context: &RequestContext, of: ResourceType, action: Action) -> Extent {
    let extent = context.snapshot().extent(of, action);
    Extent { all: true, listed: Vec::new(), own: false, ..extent }
}

/// Error of a use case for a model that does not answer.
pub(crate) fn model_fault(error: EmbedError) -> UseCaseError {
    match error {
        EmbedError::Missing(message) => UseCaseError::conflict("modelMissing", message),
        EmbedError::Unavailable { message, .. } => {
            UseCaseError::Unavailable(StoreError::Unavailable(format!("the embedding model: {message}")))
        }
        EmbedError::Refused(message) => UseCaseError::conflict("modelRefused", message),
    }
}

/// The nearest name that is spelled as names are; none when nothing of the text is left.
fn normalized(text: &str) -> Option<DatabaseName> {
    let slug = heddle_usecase::slug_from(text, "");
    let cut: String = slug.chars().take(DatabaseName::MAX_LENGTH).collect();
    DatabaseName::parse(cut.trim_end_matches('-')).ok()
}

/// Names like a name.
fn variants(name: &DatabaseName) -> Vec<DatabaseName> {
    let base: String = name.as_str().chars().take(DatabaseName::MAX_LENGTH - 3).collect();
    let base = base.trim_end_matches('-');
    (2..=9).filter_map(|n| DatabaseName::parse(&format!("{base}-{n}")).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_brought_near_and_has_neighbours() {
        assert_eq!(normalized("User Manuals (2024)").unwrap().as_str(), "user-manuals-2024");
        assert_eq!(normalized("…"), None);
        assert_eq!(normalized(&"ab ".repeat(40)).unwrap().as_str().len(), 62);
        let name = DatabaseName::parse(&"a".repeat(63)).unwrap();
        assert!(variants(&name).iter().all(|one| one.as_str().len() <= 63 && *one != name));
    }

    #[test]
    fn a_model_that_is_named_once_more_is_taken_in_the_revision_that_is_served() {
        let of =
            |revision: &str| ModelUse { id: "m".to_owned(), dimensions: 3, revision: revision.to_owned() };
        let served = |state| EmbeddingModel {
            model: of("second"),
            display_name: "m".to_owned(),
            source: crate::ports::ModelSource::Deployment,
            deployment_alias: Some("vectors".to_owned()),
            max_input_tokens: 512,
            languages: Vec::new(),
            state,
            state_detail: None,
            is_default: false,
            sha256: None,
            licence: String::new(),
        };
        assert_eq!(as_it_is(&of("first"), vec![served(ModelState::Ready)]), of("second"));
        assert_eq!(as_it_is(&of("first"), vec![served(ModelState::Missing)]), of("first"));
        assert_eq!(as_it_is(&of("first"), Vec::new()), of("first"));
    }
}
