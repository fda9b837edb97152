//! The port of workflows in memory.

use async_trait::async_trait;
use heddle_kernel::{Page, PageRequest, Revision, TenantId, Timestamp, UserId, WorkflowId};
use heddle_policy::{AccessFilter, Key, resource};
use heddle_usecase::{Journal, StoreError};
use serde_json::Value;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::memory::{KeptWorkflow, Memory, Tables};
use crate::models::{process_ids, version_tags};
use crate::ports::{
    Callable, Deleted, PublishWrite, SourceQuota, WorkflowFilter, WorkflowStore, WorkflowWrite,
};
use crate::records::{
    Draft, ImportSource, RunCounts, ShownWorkflow, Version, VersionChoice, Workflow, WorkflowState,
    WorkflowView,
};
use crate::runs::process_number;

impl Tables {
    fn slug_is_free(&self, workflow: &Workflow) -> Result<(), StoreError> {
        let same = |other: &Workflow| {
            other.id != workflow.id && other.tenant == workflow.tenant && other.slug == workflow.slug
        };
        let taken = self.workflows.values().any(|kept| same(&kept.workflow));
        if taken { Err(StoreError::Duplicate("slug".to_owned())) } else { Ok(()) }
    }
}

fn view(kept: &KeptWorkflow, user: UserId) -> WorkflowView {
    WorkflowView {
        workflow: kept.workflow.clone(),
        starred: kept.stars.contains(&user),
        run_counts: RunCounts::default(),
    }
}

#[async_trait]
impl WorkflowStore for Memory {
    async fn insert<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        let mut tables = self.0.lock();
        tables.fail()?;
        tables.slug_is_free(write.workflow)?;
        let kept = KeptWorkflow {
            workflow: write.workflow.clone(),
            draft: write.draft.cloned().unwrap_or_default(),
            versions: Vec::new(),
            stars: Vec::new(),
            claims: write.claims.to_vec(),
        };
        tables.workflows.insert(write.workflow.id, kept);
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn update<'a>(&self, write: WorkflowWrite<'a>, unit: &Journal) -> Result<(), StoreError> {
        let mut tables = self.0.lock();
        tables.fail()?;
        tables.slug_is_free(write.workflow)?;
        let kept = tables.kept(write.workflow.tenant, write.workflow.id)?;
        if Some(kept.workflow.revision) != write.expected {
            return Err(StoreError::Stale);
        }
        kept.workflow = write.workflow.clone();
        kept.claims.extend(write.claims.iter().cloned());
        if let Some(draft) = write.draft {
            kept.draft = draft.clone();
        }
        let archived = write.workflow.state == WorkflowState::Archived;
        if archived || write.bindings.is_some() {
            tables.bindings.retain(|binding| binding.workflow != write.workflow.id);
        }
        if let Some(bindings) = write.bindings.filter(|_| !archived) {
            tables.bindings.extend_from_slice(bindings);
        }
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn get(&self, tenant: TenantId, id: WorkflowId, user: UserId) -> Result<WorkflowView, StoreError> {
        self.0.lock().kept(tenant, id).map(|kept| view(kept, user))
    }

    async fn shown(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        user: UserId,
        choice: VersionChoice,
    ) -> Result<ShownWorkflow, StoreError> {
        let mut tables = self.0.lock();
        let kept = tables.kept(tenant, id)?;
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
        Ok(ShownWorkflow { view: Arc::new(view(kept, user)), definition: definition.map(text) })
    }

    async fn standing(
        &self,
        tenant: TenantId,
        id: WorkflowId,
    ) -> Result<(WorkflowState, Option<i32>), StoreError> {
        let mut tables = self.0.lock();
        let kept = tables.kept(tenant, id)?;
        Ok((kept.workflow.state, kept.workflow.published_version))
    }

    async fn callable<'a>(&self, tenant: TenantId, name: &'a str) -> Result<Callable, StoreError> {
        let tables = self.0.lock();
        let published = tables
            .workflows
            .values()
            .filter(|kept| kept.workflow.tenant == tenant && kept.workflow.state == WorkflowState::Published);
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
        tenant: TenantId,
        id: WorkflowId,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError> {
        let mut tables = self.0.lock();
        let kept = tables.kept(tenant, id)?;
        let has = |definition: &Value| version_tags(definition).iter().any(|own| own == tag);
        let of = kept.versions.iter().filter(|(one, value)| versions.contains(&one.number) && has(value));
        Ok(of.map(|(one, _)| one.number).max())
    }

    async fn draft(&self, tenant: TenantId, id: WorkflowId) -> Result<Draft, StoreError> {
        self.0.lock().kept(tenant, id).map(|kept| kept.draft.clone())
    }

    async fn list(
        &self,
        tenant: TenantId,
        user: UserId,
        filter: &WorkflowFilter,
        access: &AccessFilter<resource::Workflow>,
        page: &PageRequest,
    ) -> Result<Page<WorkflowView>, StoreError> {
        let mut tables = self.0.lock();
        tables.workflow_filters.push(filter.clone());
        let shown = tables.workflows.values().filter(|kept| {
            let key = Key::of_stored(kept.workflow.tenant, kept.workflow.id, ());
            kept.workflow.tenant == tenant && access.permits(&key)
        });
        let rows = shown.map(|kept| view(kept, user)).collect();
        Ok(Page::from_surplus(rows, page.limit, |row: &WorkflowView| row.workflow.slug.clone()))
    }

    async fn delete(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        expected: Option<Revision>,
        unit: &Journal,
    ) -> Result<Deleted, StoreError> {
        let mut tables = self.0.lock();
        if tables.deleted.contains(&id) {
            return Ok(Deleted::Before);
        }
        let revision = tables.kept(tenant, id)?.workflow.revision;
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
        let kept = tables.kept(write.workflow.tenant, write.workflow.id)?;
        if kept.workflow.revision != write.expected {
            return Err(StoreError::Stale);
        }
        kept.workflow = write.workflow.clone();
        kept.versions.push((write.version.clone(), write.definition.clone()));
        tables.bindings.retain(|binding| binding.workflow != write.workflow.id);
        tables.bindings.extend_from_slice(write.bindings);
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn versions(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        page: &PageRequest,
    ) -> Result<Page<Version>, StoreError> {
        let before = page.cursor.as_ref().map(|cursor| cursor.key::<i32>());
        let before = before.transpose().or(Err(StoreError::InvalidCursor))?.unwrap_or(i32::MAX);
        let mut tables = self.0.lock();
        let kept = tables.kept(tenant, id)?;
        let active = kept.workflow.published_version;
        let newest_first = kept.versions.iter().rev().map(|(version, _)| version);
        let rows = newest_first.filter(|version| version.number < before);
        let rows = rows.map(|version| Version { active: Some(version.number) == active, ..version.clone() });
        Ok(Page::from_surplus(rows.collect(), page.limit, |version: &Version| version.number))
    }

    async fn version(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        number: i32,
    ) -> Result<(Version, Value), StoreError> {
        let mut tables = self.0.lock();
        let versions = &tables.kept(tenant, id)?.versions;
        versions.iter().find(|(version, _)| version.number == number).cloned().ok_or(StoreError::NotFound)
    }

    async fn star(
        &self,
        tenant: TenantId,
        id: WorkflowId,
        user: UserId,
        starred: bool,
        unit: &Journal,
    ) -> Result<bool, StoreError> {
        let mut tables = self.0.lock();
        let stars = &mut tables.kept(tenant, id)?.stars;
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

    async fn source(&self, tenant: TenantId, id: WorkflowId) -> Result<ImportSource, StoreError> {
        let mut tables = self.0.lock();
        let claims = tables.kept(tenant, id)?.claims.clone();
        let claimed = |claim: &String| tables.sources.iter().find(|(source, _)| source.sha256 == *claim);
        claims.iter().rev().find_map(claimed).map(|(source, _)| source.clone()).ok_or(StoreError::NotFound)
    }
}
