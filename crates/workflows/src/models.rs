//! Compiled models: each published version is compiled once and shared by all of its runs.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use heddle_bpmn::diagnostic::Diagnostic;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_graph::{self as graph, Edition, Graph, Lanes, Meaning};
use heddle_dmn::Model;
use heddle_engine::Trigger;
use heddle_kernel::{Revision, TenantId, WorkflowId};
use heddle_usecase::{Admission, Compute, InPlace, computed};
use serde_json::Value;

use crate::decisions;
use crate::ports::WorkflowStore;
use crate::records::{HumanTask, Run, Version};
use crate::schema::Checker;
use crate::{Problem, UseCaseError};

/// The most versions kept compiled.
const CAPACITY: u64 = 2_000;
/// The most drafts of which the decisions are kept compiled.
const DRAFTS: u64 = 200;

/// The processes of one version.
#[derive(Debug)]
pub struct CompiledVersion {
    /// The startable processes.
    pub processes: Vec<Arc<Graph>>,
    /// The global tasks, each as a process of one task, which only a call starts.
    pub global_tasks: Vec<Arc<Graph>>,
    /// The one that a start without a process id means.
    pub primary: Option<String>,
    /// The decisions that business rule tasks evaluate.
    pub decisions: Option<Model>,
    /// Schemas of the input by process id: start event and schema.
    input_schemas: HashMap<String, Vec<(String, Checker)>>,
    /// Whether a step of it was too large to be done where it was asked for.
    large: AtomicBool,
}

impl CompiledVersion {
    /// Compiles a definition by the version's meaning. What can't be executed is left out: publish has refused
    /// it before.
    #[must_use]
    pub fn new(definition: &WorkflowDefinition, meaning: Meaning) -> Self {
        let decisions = decisions::compile(definition).ok().flatten().map(|own| own.model);
        let runnable = decisions::runnable(definition, decisions.as_ref());
        let primary = runnable.bpmn.as_ref().and_then(|bpmn| bpmn.primary_process_id.clone());
        let graph::Compiled { processes, global_tasks, .. } = graph::compile_with(&runnable, meaning);
        let large = AtomicBool::new(false);
        let input_schemas = input_schemas(definition);
        Self { processes, global_tasks, primary, decisions, input_schemas, large }
    }

    /// Whether a step of it was found to be large.
    pub(crate) fn is_large(&self) -> bool {
        self.large.load(Ordering::Relaxed)
    }

    /// Remembers that a step of it was large.
    pub(crate) fn found_large(&self) {
        self.large.store(true, Ordering::Relaxed);
    }

    /// The process or global task with this id.
    #[must_use]
    pub fn process(&self, id: &str) -> Option<&Arc<Graph>> {
        self.processes.iter().chain(&self.global_tasks).find(|process| &*process.id == id)
    }

    /// The schema of the input of a start: `configuration.inputSchema` of the start event at which it begins.
    #[must_use]
    pub fn input_schema(&self, process: &Graph, trigger: &Trigger) -> Option<&Checker> {
        let schemas = self.input_schemas.get(&*process.id)?;
        let of = |id: &str| schemas.iter().find(|(node, _)| node == id).map(|(_, schema)| schema);
        match trigger {
            Trigger::Manual { start_node: None } => {
                process.scope(graph::ROOT).starts.iter().find_map(|start| of(&process.node(*start).id))
            }
            Trigger::Manual { start_node: Some(id) }
            | Trigger::Message { node_id: id, .. }
            | Trigger::Timer { node_id: id }
            | Trigger::Signal { node_id: id, .. } => of(id),
        }
    }

    /// The process that a start means: the named one, else the primary one, else the only one.
    ///
    /// # Errors
    /// `Invalid` at `processId` when there is none such or the choice is open.
    pub fn startable(&self, id: Option<&str>) -> Result<&Arc<Graph>, UseCaseError> {
        let wanted = id.or(self.primary.as_deref());
        match (wanted, self.processes.as_slice()) {
            (Some(id), _) => self.processes.iter().find(|process| &*process.id == id).ok_or_else(|| {
                let message = format!("The version has no executable process `{id}`.");
                UseCaseError::invalid("processId", "unknownProcess", message)
            }),
            (None, [only]) => Ok(only),
            (None, _) => {
                let ids: Vec<_> =
                    self.processes.iter().map(|process| format!("`{}`", &*process.id)).collect();
                let message = format!("Name one of the version's processes: {}.", ids.join(", "));
                Err(UseCaseError::invalid("processId", "required", message))
            }
        }
    }
}

fn input_schemas(definition: &WorkflowDefinition) -> HashMap<String, Vec<(String, Checker)>> {
    let of = |graph: heddle_bpmn::model::GraphRef<'_>| {
        let starts = graph.nodes.iter().filter(|node| node.is(heddle_bpmn::ElementKind::StartEvent));
        let schema = |node: &heddle_bpmn::model::Node| {
            let schema = node.configuration.as_ref()?.get("inputSchema")?;
            Some((node.element_id()?.to_owned(), Checker::new(schema)))
        };
        let schemas: Vec<_> = starts.filter_map(schema).collect();
        Some((graph.id?.to_owned(), schemas)).filter(|(_, schemas)| !schemas.is_empty())
    };
    heddle_bpmn::model::graphs(definition)
        .into_iter()
        .filter(|graph| graph.depth == 0)
        .filter_map(of)
        .collect()
}

type Key = (TenantId, WorkflowId, i32);
/// A draft by the revision of its own.
type DraftKey = (TenantId, WorkflowId, Revision);

/// Node of a version whose tasks have a form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FormKey {
    tenant: TenantId,
    workflow: WorkflowId,
    version: i32,
    node: String,
}

/// The compiled versions, loaded on demand, and the forms of their tasks.
pub struct CompiledVersions {
    store: Arc<dyn WorkflowStore>,
    cache: moka::sync::Cache<Key, Arc<CompiledVersion>>,
    forms: moka::sync::Cache<FormKey, Arc<Checker>>,
    drafts: moka::sync::Cache<DraftKey, Option<Model>>,
    compute: Arc<dyn Compute>,
}

impl std::fmt::Debug for CompiledVersions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledVersions").finish_non_exhaustive()
    }
}

impl CompiledVersions {
    /// Builds the cache on a store to load from.
    #[must_use]
    pub fn new(store: Arc<dyn WorkflowStore>) -> Self {
        let (cache, forms) = (moka::sync::Cache::new(CAPACITY), moka::sync::Cache::new(CAPACITY));
        let drafts = moka::sync::Cache::new(DRAFTS);
        Self { store, cache, forms, drafts, compute: Arc::new(InPlace) }
    }

    /// The same with threads on which versions are compiled.
    #[must_use]
    pub fn with_compute(self, compute: Arc<dyn Compute>) -> Self {
        Self { compute, ..self }
    }

    /// The threads on which versions are compiled.
    pub(crate) fn compute(&self) -> Arc<dyn Compute> {
        Arc::clone(&self.compute)
    }

    /// The form of a task of the run, ready to check values; a version is frozen, so that its node's form stays.
    pub(crate) fn form(&self, run: &Run, task: &HumanTask) -> Option<Arc<Checker>> {
        let form = task.form.as_ref()?;
        let key = FormKey {
            tenant: run.tenant,
            workflow: run.workflow,
            version: run.version,
            node: task.node_id.clone(),
        };
        Some(self.forms.get_with(key, || Arc::new(Checker::new(form))))
    }

    /// A version's processes.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn version(
        &self,
        tenant: TenantId,
        workflow: WorkflowId,
        number: i32,
    ) -> Result<Arc<CompiledVersion>, UseCaseError> {
        let key = (tenant, workflow, number);
        if let Some(found) = self.cache.get(&key) {
            return Ok(found);
        }
        let (version, definition) = self.store.version(tenant, workflow, number).await?;
        let meaning = meaning_of(&version);
        let compile = move || typed(&definition).map(|definition| CompiledVersion::new(&definition, meaning));
        let compiled = Arc::new(computed(&*self.compute, tenant, Admission::Take, compile).await??);
        self.cache.insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }

    /// The decisions of the draft at a revision; none when it has none.
    ///
    /// # Errors
    /// `Conflict` (`malformedDecisions`) with each finding when a document cannot be read; `NotFound`, `Unavailable`.
    pub(crate) async fn draft_decisions(
        &self,
        tenant: TenantId,
        workflow: WorkflowId,
        revision: Revision,
    ) -> Result<Option<Model>, UseCaseError> {
        let key = (tenant, workflow, revision);
        if let Some(found) = self.drafts.get(&key) {
            return Ok(found);
        }
        let draft = self.store.draft(tenant, workflow).await?;
        let compile = move || -> Result<Option<Model>, UseCaseError> {
            let Some(definition) = draft.value() else { return Ok(None) };
            let compiled = decisions::compile(&typed(definition)?).map_err(|found| {
                let problem = |one: Diagnostic| Problem::new("malformedDecisions", one.message);
                UseCaseError::Conflict(found.into_iter().map(problem).collect())
            })?;
            Ok(compiled.map(|own| own.model))
        };
        let model = computed(&*self.compute, tenant, Admission::Refuse, compile).await??;
        self.drafts.insert(key, model.clone());
        Ok(model)
    }

    /// One process of a version, if the version was used lately.
    #[must_use]
    pub fn known(
        &self,
        tenant: TenantId,
        workflow: WorkflowId,
        number: i32,
        process: &str,
    ) -> Option<Arc<Graph>> {
        self.cache.get(&(tenant, workflow, number))?.process(process).cloned()
    }

    /// One process of a version.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`; `Internal` when a stored version lacks the process.
    pub async fn process(
        &self,
        tenant: TenantId,
        workflow: WorkflowId,
        number: i32,
        process: &str,
    ) -> Result<Arc<Graph>, UseCaseError> {
        let version = self.version(tenant, workflow, number).await?;
        let missing = || UseCaseError::Internal(format!("version {number} of {workflow} lost `{process}`"));
        version.process(process).cloned().ok_or_else(missing)
    }
}

/// Most processes of one definition by which it can be called from another.
const MOST_CALLABLE: usize = 1_000;

/// Ids of the processes of a stored definition, by which another one calls it.
#[must_use]
pub fn process_ids(definition: &Value) -> Vec<String> {
    let has_nodes =
        |graph: &Value| graph.get("nodes").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    let processes = definition.pointer("/bpmn/processes").and_then(Value::as_array);
    let executable = processes.into_iter().flatten().filter(|process| {
        has_nodes(process) && process.get("executable").and_then(Value::as_bool) != Some(false)
    });
    let ids = executable.filter_map(|process| process.get("id").and_then(Value::as_str));
    let main = has_nodes(definition).then_some(heddle_bpmn::model::MAIN_PROCESS_ID);
    let mut found: Vec<String> = main.into_iter().chain(ids).map(str::to_owned).collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MOST_CALLABLE);
    found
}

/// The tags of the version that a stored definition is, each once.
#[must_use]
pub fn version_tags(definition: &Value) -> Vec<String> {
    let mut found = typed(definition).map(|definition| graph::version_tags(&definition)).unwrap_or_default();
    found.sort_unstable();
    found.dedup();
    found.retain(|tag| !tag.is_empty());
    found
}

/// Meaning of what has not always had the same, as a version was published.
pub(crate) const fn meaning_of(version: &Version) -> Meaning {
    let lanes = if version.lane_groups { Lanes::Groups } else { Lanes::Drawn };
    Meaning { lanes, edition: Edition::of(version.edition) }
}

/// The typed view of a stored definition.
///
/// # Errors
/// `Internal`: what is stored was checked before.
pub fn typed(definition: &Value) -> Result<WorkflowDefinition, UseCaseError> {
    serde::Deserialize::deserialize(definition)
        .map_err(|error| UseCaseError::Internal(format!("a stored definition does not read: {error}")))
}
