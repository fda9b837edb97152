//! The port of workflows in memory.

use async_trait::async_trait;
use heddle_definitions::{DefinitionAccess, DefinitionKey};
use heddle_kernel::{DefinitionKind, Page, PageRequest, Revision, TenantId, Timestamp, UserId, WorkflowId};
use heddle_policy::Key;
use heddle_usecase::{Journal, StoreError};
use serde_json::Value;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::memory::{KeptWorkflow, Memory, Tables};
use crate::models::{process_ids, version_tags};
use crate::ports::{
    Callable, DefinitionStore, Deleted, PublishWrite, SourceQuota, WorkflowFilter, WorkflowWrite, bound,
};
use crate::records::{
    Draft, ImportSource, RunCounts, ShownWorkflow, Version, VersionChoice, Workflow, WorkflowState,
    WorkflowView,
};
use crate::runs::process_number;

impl KeptWorkflow {
    fn is_one_of(&self, tenant: TenantId, kind: DefinitionKind) -> bool {
        self.workflow.tenant == tenant && self.workflow.kind == kind
    }
}

impl Tables {
    fn of(&mut self, key: DefinitionKey) -> Result<&mut KeptWorkflow, StoreError> {
        let kept = self.kept(key.tenant(), key.id())?;
        if kept.workflow.kind == key.kind() { Ok(kept) } else { Err(StoreError::NotFound) }
    }

    fn slug_is_free(&self, workflow: &Workflow) -> Result<(), StoreError> {
        let same = |other: &Workflow| {
            other.id != workflow.id
                && (other.tenant, other.kind) == (workflow.tenant, workflow.kind)
                && other.slug == workflow.slug
        };
        let taken = self.workflows.values().any(|kept| same(&kept.workflow));
        if taken { Err(StoreError::Duplicate("slug".to_owned())) } else { Ok(()) }
    }
}

fn view(kept: &KeptWorkflow, user: UserId) -> WorkflowView {
    WorkflowView {
        definition: kept.workflow.clone(),
        starred: kept.stars.contains(&user),
        counts: RunCounts::default(),
    }
}

#[async_trait]
impl DefinitionStore for Memory {
    async fn insert<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        let mut tables = self.0.lock();
        tables.fail()?;
        tables.slug_is_free(write.definition)?;
        let kept = KeptWorkflow {
            workflow: write.definition.clone(),
            draft: write.draft.cloned().unwrap_or_default(),
            versions: Vec::new(),
            stars: Vec::new(),
            claims: write.claims.to_vec(),
        };
        tables.workflows.insert(write.definition.id, kept);
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn update<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        let mut tables = self.0.lock();
        tables.fail()?;
        tables.slug_is_free(write.definition)?;
        let kept = tables.of(write.definition.key())?;
        if Some(kept.workflow.revision) != write.expected {
            return Err(StoreError::Stale);
        }
        kept.workflow = write.definition.clone();
        kept.claims.extend(write.claims.iter().cloned());
        if let Some(draft) = write.draft {
            kept.draft = draft.clone();
        }
        let archived = write.definition.state == WorkflowState::Archived;
        if archived || write.starts.is_some() {
            tables.bindings.retain(|binding| binding.workflow != write.definition.id);
        }
        if let Some(starts) = write.starts.filter(|_| !archived) {
            let version = write.definition.published_version.unwrap();
            tables.bindings.extend(starts.iter().map(|start| bound(write.definition, version, start)));
        }
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn get(&self, key: DefinitionKey, user: UserId) -> Result<WorkflowView, StoreError> {
        self.0.lock().of(key).map(|kept| view(kept, user))
    }

    async fn shown(
        &self,
        key: DefinitionKey,
        user: UserId,
        choice: VersionChoice,
    ) -> Result<ShownWorkflow, StoreError> {
        let mut tables = self.0.lock();
        let kept = tables.of(key)?;
        let number = match choice {
            VersionChoice::Draft => None,
            VersionChoice::Published => Some(kept.workflow.published_version.ok_or(StoreError::NotFound)?),
            VersionChoice::Number(number) => Some(number),
        };
        let definition = match number {
            None if kept.draft == Draft::Absent => None,
            None => Some(kept.draft.value().cloned().unwrap_or(Value::Null)),
            Some(number) => {
                let found = kept.versions.iter().find(|(version, _)| version.number == number);
                Some(found.ok_or(StoreError::NotFound)?.1.clone())
            }
        };
        let text = |value| Arc::from(serde_json::value::to_raw_value(&value).unwrap());
        Ok(ShownWorkflow { view: Arc::new(view(kept, user)), document: definition.map(text) })
    }

    async fn standing(&self, key: DefinitionKey) -> Result<(WorkflowState, Option<i32>), StoreError> {
        let mut tables = self.0.lock();
        let kept = tables.of(key)?;
        Ok((kept.workflow.state, kept.workflow.published_version))
    }

    async fn callable<'a>(
        &self,
        tenant: TenantId,
        kind: DefinitionKind,
        name: &'a str,
    ) -> Result<Callable, StoreError> {
        let tables = self.0.lock();
        let own = tables.workflows.values().filter(|kept| kept.is_one_of(tenant, kind));
        let published = own.filter(|kept| kept.workflow.state == WorkflowState::Published);
        let mut found = Callable::default();
        for kept in published {
            let active =
                kept.versions.iter().find(|(one, _)| Some(one.number) == kept.workflow.published_version);
            if active.is_some_and(|(_, definition)| process_ids(definition).iter().any(|id| id == name)) {
                found.processes.push(kept.workflow.id);
            }
            if kept.workflow.slug == name {
                found.slug = Some(kept.workflow.id);
            }
        }
        Ok(found)
    }

    async fn numbered(&self, tenant: TenantId, number: i64) -> Result<Vec<WorkflowId>, StoreError> {
        let tables = self.0.lock();
        let has = |id: WorkflowId, (version, definition): &(Version, Value)| {
            process_ids(definition)
                .iter()
                .any(|process| process_number(id, version.number, process) == number)
        };
        let own = tables.workflows.values().filter(|kept| kept.workflow.tenant == tenant);
        let of = own.filter(|kept| kept.versions.iter().any(|version| has(kept.workflow.id, version)));
        Ok(of.map(|kept| kept.workflow.id).collect())
    }

    async fn tagged<'a>(
        &self,
        key: DefinitionKey,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError> {
        let mut tables = self.0.lock();
        let kept = tables.of(key)?;
        let has = |definition: &Value| version_tags(definition).iter().any(|own| own == tag);
        let of = kept.versions.iter().filter(|(one, value)| versions.contains(&one.number) && has(value));
        Ok(of.map(|(one, _)| one.number).max())
    }

    async fn draft(&self, key: DefinitionKey) -> Result<Draft, StoreError> {
        self.0.lock().of(key).map(|kept| kept.draft.clone())
    }

    async fn list<'a>(
        &self,
        tenant: TenantId,
        user: UserId,
        filter: &WorkflowFilter,
        access: DefinitionAccess<'a>,
        page: &PageRequest,
    ) -> Result<Page<WorkflowView>, StoreError> {
        let mut tables = self.0.lock();
        tables.workflow_filters.push(filter.clone());
        let permits = |id: WorkflowId| match access {
            DefinitionAccess::Workflows(filter) => filter.permits(&Key::of_stored(tenant, id, ())),
            DefinitionAccess::CaseTypes(filter) => filter.permits(&Key::of_stored(tenant, id.into(), ())),
        };
        let own = tables.workflows.values().filter(|kept| kept.is_one_of(tenant, access.kind()));
        let shown = own.filter(|kept| permits(kept.workflow.id));
        let rows = shown.map(|kept| view(kept, user)).collect();
        Ok(Page::from_surplus(rows, page.limit, |row: &WorkflowView| row.definition.slug.clone()))
    }

    async fn delete(
        &self,
        key: DefinitionKey,
        expected: Option<Revision>,
        unit: &Journal,
    ) -> Result<Deleted, StoreError> {
        let mut tables = self.0.lock();
        let id = key.id();
        if tables.deleted.contains(&id) {
            return Ok(Deleted::Before);
        }
        let revision = tables.of(key)?.workflow.revision;
        if expected.is_some_and(|expected| expected != revision) {
            return Err(StoreError::Stale);
        }
        let active =
            tables.runs.values().filter(|run| run.workflow == id && !run.state.is_terminal()).count();
        if active > 0 {
            return Ok(Deleted::InUse(i64::try_from(active).unwrap()));
        }
        tables.workflows.remove(&id);
        tables.deleted.push(id);
        tables.journals.push(unit.clone());
        Ok(Deleted::Now)
    }

    async fn publish<'a>(&self, write: PublishWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        let mut tables = self.0.lock();
        tables.fail()?;
        let kept = tables.of(write.definition.key())?;
        if kept.workflow.revision != write.expected {
            return Err(StoreError::Stale);
        }
        kept.workflow = write.definition.clone();
        kept.versions.push((write.version.clone(), write.document.clone()));
        tables.bindings.retain(|binding| binding.workflow != write.definition.id);
        let starts = write.starts.iter().map(|start| bound(write.definition, write.version.number, start));
        tables.bindings.extend(starts);
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn versions(&self, key: DefinitionKey, page: &PageRequest) -> Result<Page<Version>, StoreError> {
        let before = page.cursor.as_ref().map(|cursor| cursor.key::<i32>());
        let before = before.transpose().or(Err(StoreError::InvalidCursor))?.unwrap_or(i32::MAX);
        let mut tables = self.0.lock();
        let kept = tables.of(key)?;
        let active = kept.workflow.published_version;
        let newest_first = kept.versions.iter().rev().map(|(version, _)| version);
        let rows = newest_first.filter(|version| version.number < before);
        let rows = rows.map(|version| Version { active: Some(version.number) == active, ..version.clone() });
        Ok(Page::from_surplus(rows.collect(), page.limit, |version: &Version| version.number))
    }

    async fn version(&self, key: DefinitionKey, number: i32) -> Result<(Version, Value), StoreError> {
        let mut tables = self.0.lock();
        let versions = &tables.of(key)?.versions;
        versions.iter().find(|(version, _)| version.number == number).cloned().ok_or(StoreError::NotFound)
    }

    async fn star(
        &self,
        key: DefinitionKey,
        user: UserId,
        starred: bool,
        unit: &Journal,
    ) -> Result<bool, StoreError> {
        let mut tables = self.0.lock();
        let stars = &mut tables.of(key)?.stars;
        let changes = stars.contains(&user) != starred;
        if changes {
            stars.retain(|known| *known != user);
            stars.extend(starred.then_some(user));
            tables.journals.push(unit.clone());
        }
        Ok(changes)
    }

    async fn keep_source(
        &self,
        _: TenantId,
        source: &ImportSource,
        expires_at: Timestamp,
        _: SourceQuota,
    ) -> Result<(), StoreError> {
        self.0.lock().sources.push((source.clone(), expires_at));
        Ok(())
    }

    async fn source(&self, key: DefinitionKey) -> Result<ImportSource, StoreError> {
        let mut tables = self.0.lock();
        let claims = tables.of(key)?.claims.clone();
        let claimed = |claim: &String| tables.sources.iter().find(|(source, _)| source.sha256 == *claim);
        claims.iter().rev().find_map(claimed).map(|(source, _)| source.clone()).ok_or(StoreError::NotFound)
    }
}
