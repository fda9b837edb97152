//! The port of runs in memory.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;
use heddle_kernel::{
    DefinitionKind, EventId, Page, PageRequest, RunId, TaskId, TenantId, Timestamp, WorkflowId,
};
use heddle_policy::{InstanceFilter, InstanceKey, Person};
use heddle_usecase::{Journal, StoreError};
use serde_json::Value;

use super::memory::{Memory, Tables};
use crate::ports::{
    EventSlice, FeedEnd, FeedPosition, FeedRead, MatchedSubscription, RunFilter, RunStore, TaskFilter,
    Transaction,
};
use crate::records::{
    BindingKind, CalledRun, HumanTask, InboxEvent, InboxState, Progress, Run, StartBinding, TaskState,
    WorkflowState,
};

impl Tables {
    fn run_of(&self, tenant: TenantId, id: RunId) -> Result<&Run, StoreError> {
        self.runs.get(&id).filter(|run| run.tenant == tenant).ok_or(StoreError::NotFound)
    }

    fn task_of(&self, tenant: TenantId, id: TaskId) -> Result<&HumanTask, StoreError> {
        self.tasks.iter().find(|task| task.id == id && task.tenant == tenant).ok_or(StoreError::NotFound)
    }

    /// Whether a run is a person's own.
    fn is_own(&self, run: &Run, person: &Person) -> bool {
        let is_named = |name: &String| person.names.contains(&name.to_ascii_lowercase());
        let is_theirs = |task: &HumanTask| match (task.state, &task.assignee) {
            (TaskState::Open, Some(name)) => is_named(name),
            (TaskState::Open, None) => {
                task.candidate_users.iter().any(is_named)
                    || task.candidate_groups.iter().any(|group| person.groups.contains(group))
            }
            (TaskState::Completed | TaskState::Cancelled, _) => task.completed_by == Some(person.id),
        };
        run.created_by == Some(person.id)
            || self.tasks.iter().any(|task| task.run == run.id && is_theirs(task))
    }

    pub(crate) fn listening(
        &self,
        kind: BindingKind,
        name: &str,
        key: Option<&str>,
    ) -> Vec<MatchedSubscription> {
        let matches = self.subscriptions.iter().filter(|(_, row)| {
            let same_key =
                kind == BindingKind::Signal || (key.is_some() && row.correlation_key.as_deref() == key);
            row.kind == kind && row.name == name && same_key
        });
        let found = |(run, row): &(RunId, crate::records::SubscriptionRow)| MatchedSubscription {
            run: *run,
            subscription_id: row.subscription_id.clone(),
        };
        matches.map(found).collect()
    }
}

#[async_trait]
impl RunStore for Memory {
    async fn commit(&self, units: Vec<Transaction>) -> Vec<Result<(), StoreError>> {
        let mut answers = Vec::new();
        for unit in units {
            answers.push(crate::ports::Committer::commit(self, unit).await);
        }
        answers
    }

    async fn find(&self, key: &InstanceKey) -> Result<Run, StoreError> {
        let tables = self.0.lock();
        let run = tables.run_of(key.tenant(), key.id())?;
        let is_theirs = key.owner().is_none_or(|person| tables.is_own(run, person));
        if run.key() == *key && is_theirs { Ok(run.clone()) } else { Err(StoreError::NotFound) }
    }

    async fn progress(&self, key: &InstanceKey) -> Result<Progress, StoreError> {
        let run = self.find(key).await?;
        Ok(Progress { state: run.state, last_sequence: run.last_sequence })
    }

    async fn own_among(
        &self,
        tenant: TenantId,
        person: &Person,
        runs: &[RunId],
    ) -> Result<HashSet<RunId>, StoreError> {
        let tables = self.0.lock();
        let is_own = |id: &RunId| tables.run_of(tenant, *id).is_ok_and(|run| tables.is_own(run, person));
        Ok(runs.iter().copied().filter(is_own).collect())
    }

    async fn instance_keys(&self, tenant: TenantId, runs: &[RunId]) -> Result<Vec<InstanceKey>, StoreError> {
        let tables = self.0.lock();
        let found = runs.iter().filter_map(|id| tables.run_of(tenant, *id).ok());
        Ok(found.map(|run| InstanceKey::of_stored(run.tenant, run.kind, run.id, run.workflow)).collect())
    }

    async fn data_stores(
        &self,
        tenant: TenantId,
        names: &[String],
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        let tables = self.0.lock();
        let known = |name: &String| Some((name.clone(), tables.stores.get(&(tenant, name.clone()))?.clone()));
        Ok(names.iter().filter_map(known).collect())
    }

    async fn load(&self, tenant: TenantId, kind: DefinitionKind, run: RunId) -> Result<Run, StoreError> {
        let tables = self.0.lock();
        let run = tables.run_of(tenant, run)?;
        if run.kind == kind { Ok(run.clone()) } else { Err(StoreError::NotFound) }
    }

    async fn load_any(&self, tenant: TenantId, run: RunId) -> Result<Run, StoreError> {
        self.0.lock().run_of(tenant, run).cloned()
    }

    async fn list(
        &self,
        tenant: TenantId,
        workflow: WorkflowId,
        filter: &RunFilter,
        access: &InstanceFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>, StoreError> {
        let mut tables = self.0.lock();
        tables.run_filters.push(filter.clone());
        tables.kept(tenant, workflow)?;
        let rows = tables.runs.values().rev();
        let rows = rows.filter(|run| run.workflow == workflow && access.permits(&run.key()));
        let rows = rows.map(|run| Run { input: serde_json::Value::Null, ..run.clone() });
        Ok(Page::from_surplus(rows.collect(), page.limit, |run: &Run| run.id))
    }

    async fn list_all(
        &self,
        tenant: TenantId,
        filter: &RunFilter,
        access: &InstanceFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>, StoreError> {
        let mut tables = self.0.lock();
        tables.run_filters.push(filter.clone());
        let rows = tables.runs.values().rev();
        let rows = rows.filter(|run| run.tenant == tenant && access.permits(&run.key()));
        let rows = rows.map(|run| Run { input: serde_json::Value::Null, ..run.clone() });
        Ok(Page::from_surplus(rows.collect(), page.limit, |run: &Run| run.id))
    }

    async fn feed_end(&self, _: TenantId) -> Result<FeedEnd, StoreError> {
        Err(StoreError::Unavailable("no stream over all runs in memory".to_owned()))
    }

    async fn feed(
        &self,
        _: TenantId,
        _: Option<WorkflowId>,
        _: &[InstanceFilter],
        _: FeedPosition,
        _: usize,
    ) -> Result<FeedRead, StoreError> {
        Err(StoreError::Unavailable("no stream over all runs in memory".to_owned()))
    }

    async fn events(&self, key: &InstanceKey, after: u64, limit: i64) -> Result<Vec<EventSlice>, StoreError> {
        let tables = self.0.lock();
        let is_there = tables.runs.get(&key.id()).is_some_and(|run| run.key() == *key);
        let slices = tables.slices.get(&key.id()).filter(|_| is_there).into_iter().flatten();
        let behind = slices.filter(|slice| slice.last_sequence > after);
        Ok(behind.take(usize::try_from(limit).unwrap()).cloned().collect())
    }

    async fn called_by(&self, key: &InstanceKey, _: i64) -> Result<Vec<CalledRun>, StoreError> {
        let (tables, tenant, caller) = (self.0.lock(), key.tenant(), key.id());
        let called = |run: &Run| {
            let parent = run.trigger.parent.as_ref().filter(|parent| parent.run == caller)?;
            let node_id = parent.node_id.clone();
            let called =
                CalledRun { kind: run.kind, id: run.id, workflow: run.workflow, node_id, state: run.state };
            (run.tenant == tenant).then_some(called)
        };
        Ok(tables.runs.values().filter_map(called).collect())
    }

    async fn purge(&self, key: &InstanceKey, unit: &Journal) -> Result<(), StoreError> {
        let (mut tables, tenant, run) = (self.0.lock(), key.tenant(), key.id());
        let workflow = tables.run_of(tenant, run)?.workflow;
        tables.runs.remove(&run);
        tables.slices.remove(&run);
        tables.purged.push((workflow, run));
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn was_purged(&self, key: &InstanceKey) -> Result<bool, StoreError> {
        Ok(self.0.lock().purged.contains(&(key.within(), key.id())))
    }

    async fn matching<'a>(
        &self,
        tenant: TenantId,
        kind: BindingKind,
        name: &'a str,
        correlation_key: Option<&'a str>,
    ) -> Result<Vec<MatchedSubscription>, StoreError> {
        let tables = self.0.lock();
        let mut found = tables.listening(kind, name, correlation_key);
        found.retain(|one| tables.runs[&one.run].tenant == tenant);
        Ok(found)
    }

    async fn matching_starts(
        &self,
        tenant: TenantId,
        kind: BindingKind,
        name: &str,
    ) -> Result<Vec<StartBinding>, StoreError> {
        let tables = self.0.lock();
        let published = |id: &WorkflowId| tables.workflows[id].workflow.state == WorkflowState::Published;
        let found = tables.bindings.iter().filter(|binding| {
            (binding.tenant, binding.kind, binding.name.as_str()) == (tenant, kind, name)
                && published(&binding.workflow)
        });
        Ok(found.cloned().collect())
    }

    async fn tasks(
        &self,
        tenant: TenantId,
        filter: &TaskFilter,
        access: &[InstanceFilter],
        page: &PageRequest,
    ) -> Result<Page<HumanTask>, StoreError> {
        let mut tables = self.0.lock();
        tables.task_filters.push(filter.clone());
        let reached = |task: &HumanTask| {
            let key = tables.runs[&task.run].key();
            access.iter().any(|of| of.permits(&key))
        };
        let shown = tables.tasks.iter().filter(|task| task.tenant == tenant && reached(task));
        Ok(Page::from_surplus(shown.cloned().collect(), page.limit, |task: &HumanTask| task.id))
    }

    async fn task_run(&self, tenant: TenantId, task: TaskId) -> Result<InstanceKey, StoreError> {
        let tables = self.0.lock();
        Ok(tables.runs[&tables.task_of(tenant, task)?.run].key())
    }

    async fn task(&self, tenant: TenantId, task: TaskId) -> Result<HumanTask, StoreError> {
        self.0.lock().task_of(tenant, task).cloned()
    }

    async fn inbox_event(&self, tenant: TenantId, id: EventId) -> Result<InboxEvent, StoreError> {
        let tables = self.0.lock();
        let found = tables.inbox.iter().find(|event| event.id == id && event.tenant == tenant);
        found.cloned().ok_or(StoreError::NotFound)
    }

    async fn inbox_by_key(&self, tenant: TenantId, key: &str) -> Result<Option<InboxEvent>, StoreError> {
        let tables = self.0.lock();
        let same = |event: &&InboxEvent| event.tenant == tenant && event.idempotency_key == key;
        Ok(tables.inbox.iter().find(same).cloned())
    }

    async fn buffered<'a>(
        &self,
        tenant: TenantId,
        event_type: &'a str,
        correlation_key: Option<&'a str>,
        now: Timestamp,
    ) -> Result<Vec<InboxEvent>, StoreError> {
        let tables = self.0.lock();
        let kept = tables.inbox.iter().filter(|event| {
            event.tenant == tenant
                && event.state == InboxState::Buffered
                && event.event_type == event_type
                && event.correlation_key.as_deref() == correlation_key
                && event.expires_at.is_some_and(|end| end > now)
        });
        Ok(kept.cloned().collect())
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut tables = self.0.lock();
        let before = tables.sources.len();
        tables.sources.retain(|(_, expires_at)| *expires_at > now);
        Ok(u64::try_from(before - tables.sources.len()).unwrap())
    }
}
