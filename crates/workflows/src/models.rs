//! Compiled models: each published version is compiled once and shared by all of its runs.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_bpmn::diagnostic::Diagnostic;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_graph::{self as graph, Edition, Lanes, Meaning};
use heddle_dmn::Model;
use heddle_kernel::{Revision, TenantId, Timestamp, UserId, WorkflowId};
use heddle_usecase::{Admission, Compute, InPlace, StoreError, computed};
use serde_json::Value;

use crate::decisions;
use crate::ports::{
    DefinitionNames, NamedDefinitions, Standing, Versions, WorkflowStore, decision_name, used_names,
};
use crate::records::{Version, WorkflowState};
use crate::schema::Checker;
use crate::{Problem, UseCaseError};

pub use heddle_execution::compiled::{CompiledVersion, Plan};

/// The most versions kept compiled.
const CAPACITY: u64 = 2_000;
/// The most drafts of which the decisions are kept compiled.
const DRAFTS: u64 = 200;

/// Compiles a definition by the version's meaning. What can't be executed is left out: publish has refused it before.
#[must_use]
pub fn compiled(definition: &WorkflowDefinition, meaning: Meaning) -> CompiledVersion {
    let decisions = decisions::compile(definition).ok().flatten().map(|own| own.model);
    let runnable = decisions::runnable(definition, decisions.as_ref());
    let primary = runnable.bpmn.as_ref().and_then(|bpmn| bpmn.primary_process_id.clone());
    let graph::Compiled { processes, global_tasks, .. } = graph::compile_with(&runnable, meaning);
    let schemas = input_schemas(definition);
    CompiledVersion::of_processes(processes, global_tasks, primary, decisions, schemas)
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

/// The compiled versions, loaded on demand.
pub struct CompiledVersions {
    store: Arc<dyn WorkflowStore>,
    cache: moka::sync::Cache<Key, Arc<CompiledVersion>>,
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
        let (cache, drafts) = (moka::sync::Cache::new(CAPACITY), moka::sync::Cache::new(DRAFTS));
        Self { store, cache, drafts, compute: Arc::new(InPlace) }
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
        let compile = move || typed(&definition).map(|definition| compiled(&definition, meaning));
        let found = Arc::new(computed(&*self.compute, tenant, Admission::Take, compile).await??);
        self.cache.insert(key, Arc::clone(&found));
        Ok(found)
    }

    /// The decisions of the draft at a revision; none when it has none.
    ///
    /// # Errors
    /// `Conflict` (`malformedDecisions`) with each finding when a document cannot be read; `NotFound`, `Unavailable`.
    async fn decisions_of_draft(
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
}

#[async_trait]
impl Versions for CompiledVersions {
    async fn plan(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        number: i32,
    ) -> Result<Arc<CompiledVersion>, UseCaseError> {
        self.version(tenant, definition, number).await
    }

    fn known(&self, tenant: TenantId, definition: WorkflowId, number: i32) -> Option<Arc<CompiledVersion>> {
        self.cache.get(&(tenant, definition, number))
    }

    async fn standing(&self, tenant: TenantId, definition: WorkflowId) -> Result<Standing, StoreError> {
        let (state, latest) = self.store.standing(tenant, definition).await?;
        Ok(Standing { is_archived: state == WorkflowState::Archived, latest })
    }

    async fn names(&self, tenant: TenantId, definition: WorkflowId) -> Result<DefinitionNames, StoreError> {
        // What is the reader's own in it is not asked for.
        let found = self.store.get(tenant, definition, UserId(uuid::Uuid::nil())).await?.definition;
        Ok(DefinitionNames { id: found.id, slug: found.slug, display_name: found.display_name })
    }

    async fn callable<'a>(&self, tenant: TenantId, name: &'a str) -> Result<NamedDefinitions, StoreError> {
        let found = self.store.callable(tenant, name).await?;
        Ok(NamedDefinitions { processes: found.processes, slug: found.slug })
    }

    async fn numbered(&self, tenant: TenantId, number: i64) -> Result<Vec<WorkflowId>, StoreError> {
        self.store.numbered(tenant, number).await
    }

    async fn tagged<'a>(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError> {
        self.store.tagged(tenant, definition, versions, tag).await
    }

    async fn published_at(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        number: i32,
    ) -> Result<Timestamp, StoreError> {
        self.store.published_at(tenant, definition, number).await
    }

    async fn version_at(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        at: Timestamp,
    ) -> Result<Option<i32>, StoreError> {
        self.store.version_at(tenant, definition, at).await
    }

    async fn draft_decisions(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        user: UserId,
    ) -> Result<Option<Model>, UseCaseError> {
        let revision = self.store.get(tenant, definition, user).await?.definition.draft_revision;
        self.decisions_of_draft(tenant, definition, revision).await
    }
}

/// Most processes of one definition by which it can be called from another; and most decisions.
const MOST_CALLABLE: usize = 1_000;

/// Names by which a stored definition is found from others: the ids of its processes, the ids and names of its decisions,
/// each as [`decision_name`] says, and the vector databases and deployments of models that its nodes name, as
/// [`crate::ports::database_name`] and [`crate::ports::deployment_name`] say.
#[must_use]
pub fn callable_names(definition: &Value) -> Vec<String> {
    let mut found = process_ids(definition);
    let has_decisions = definition.get("dmn").is_some_and(|dmn| !dmn.is_null());
    let typed = if has_decisions { typed(definition).ok() } else { None };
    let decisions = typed.and_then(|definition| decisions::compile(&definition).ok().flatten());
    let mut names: Vec<String> =
        decisions.iter().flat_map(|own| decisions::names(&own.model)).map(decision_name).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MOST_CALLABLE);
    found.append(&mut names);
    found.extend(used_names(definition));
    found
}

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
