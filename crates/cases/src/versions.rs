//! Compiled versions of case types: each published version is compiled once and shared by all of its cases.

use std::ops::RangeInclusive;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_definitions::DefinitionKey;
use heddle_definitions::ports::DefinitionStore;
use heddle_definitions::records::DefinitionState;
use heddle_execution::compiled::{CompiledVersion, Decisions};
use heddle_execution::ports::{DefinitionNames, NamedDefinitions, Standing, Versions};
use heddle_kernel::{DefinitionKind, TenantId, Timestamp, UserId, WorkflowId};
use heddle_usecase::{Admission, Compute, InPlace, StoreError, UseCaseError, computed};
use serde_json::Value;
use uuid::Uuid;

use crate::definitions::{Meaning, meaning_of, typed};

/// The most versions kept compiled.
const CAPACITY: u64 = 2_000;

/// The compiled versions, loaded on demand.
pub struct CompiledCaseTypes {
    store: Arc<dyn DefinitionStore>,
    cache: moka::sync::Cache<(TenantId, WorkflowId, i32), Arc<CompiledVersion>>,
    compute: Arc<dyn Compute>,
}

impl std::fmt::Debug for CompiledCaseTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledCaseTypes").finish_non_exhaustive()
    }
}

impl CompiledCaseTypes {
    /// Builds the cache on a store to load from.
    #[must_use]
    pub fn new(store: Arc<dyn DefinitionStore>) -> Self {
        Self { store, cache: moka::sync::Cache::new(CAPACITY), compute: Arc::new(InPlace) }
    }

    /// The same with threads on which versions are compiled.
    #[must_use]
    pub fn with_compute(self, compute: Arc<dyn Compute>) -> Self {
        Self { compute, ..self }
    }
}

/// Compiles a definition by the version's meaning. What can't be executed is left out: publish has refused it before.
fn compiled(document: &Value, meaning: Meaning) -> Result<CompiledVersion, UseCaseError> {
    let definition = typed(document)?;
    let cases = heddle_cmmn::compile_with(&definition, meaning).cases;
    // Where none is named, the first is meant.
    let primary = definition.primary_case_id.or_else(|| cases.first().map(|plan| plan.id.to_string()));
    Ok(CompiledVersion::of_cases(cases, primary, None))
}

/// The key of a case type that a case, a call or a rule named.
const fn key(tenant: TenantId, id: WorkflowId) -> DefinitionKey {
    DefinitionKey::of_stored(tenant, DefinitionKind::Case, id)
}

#[async_trait]
impl Versions for CompiledCaseTypes {
    async fn plan(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        number: i32,
    ) -> Result<Arc<CompiledVersion>, UseCaseError> {
        if let Some(found) = self.known(tenant, definition, number) {
            return Ok(found);
        }
        let (version, document) = self.store.version(key(tenant, definition), number).await?;
        let meaning = meaning_of(&version);
        let compile = move || compiled(&document, meaning);
        let found = Arc::new(computed(&*self.compute, tenant, Admission::Take, compile).await??);
        self.cache.insert((tenant, definition, number), Arc::clone(&found));
        Ok(found)
    }

    fn known(&self, tenant: TenantId, definition: WorkflowId, number: i32) -> Option<Arc<CompiledVersion>> {
        self.cache.get(&(tenant, definition, number))
    }

    async fn standing(&self, tenant: TenantId, definition: WorkflowId) -> Result<Standing, StoreError> {
        let (state, latest) = self.store.standing(key(tenant, definition)).await?;
        Ok(Standing { is_archived: state == DefinitionState::Archived, latest })
    }

    async fn names(&self, tenant: TenantId, definition: WorkflowId) -> Result<DefinitionNames, StoreError> {
        // What is the reader's own in it is not asked for.
        let found = self.store.get(key(tenant, definition), UserId(Uuid::nil())).await?.definition;
        Ok(DefinitionNames { id: found.id, slug: found.slug, display_name: found.display_name })
    }

    async fn callable<'a>(&self, tenant: TenantId, name: &'a str) -> Result<NamedDefinitions, StoreError> {
        let found = self.store.callable(tenant, DefinitionKind::Case, name).await?;
        Ok(NamedDefinitions { processes: found.processes, slug: found.slug })
    }

    async fn numbered(&self, _: TenantId, _: i64) -> Result<Vec<WorkflowId>, StoreError> {
        // Clients that know processes by numbers know no cases.
        Ok(Vec::new())
    }

    async fn tagged<'a>(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError> {
        self.store.tagged(key(tenant, definition), versions, tag).await
    }

    async fn published_at(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        number: i32,
    ) -> Result<Timestamp, StoreError> {
        self.store.published_at(key(tenant, definition), number).await
    }

    async fn version_at(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        at: Timestamp,
    ) -> Result<Option<i32>, StoreError> {
        self.store.version_at(key(tenant, definition), at).await
    }

    async fn draft_decisions(
        &self,
        _: TenantId,
        _: WorkflowId,
        _: UserId,
    ) -> Result<Option<Decisions>, UseCaseError> {
        // A case type has no decisions of its own.
        Ok(None)
    }
}
