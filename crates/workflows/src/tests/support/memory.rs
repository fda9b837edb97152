//! Stores and group commit in memory; they can be told to fail.

use std::collections::{BTreeMap, HashMap, VecDeque};

use async_trait::async_trait;
use heddle_kernel::{RunId, TenantId, Timestamp, UserId, WorkflowId};
use heddle_usecase::{Journal, StoreError};
use parking_lot::Mutex;
use serde_json::Value;
use uuid::Uuid;

use crate::ports::WorkflowFilter;
use crate::ports::{
    Committer, EventSlice, InboxWrite, Queue, RunFilter, RunWrite, TaskChange, TaskFilter, Transaction,
};
use crate::records::{
    DeadLetter, Draft, HumanTask, ImportSource, InboxEvent, InboxState, Job, JobEnding, Outgoing, Run,
    StartBinding, SubscriptionRow, TimerRow, Tries, Version, WorkKey, WorkMark, Workflow,
};

/// A workflow with all that belongs to it.
#[derive(Debug, Clone)]
pub(crate) struct KeptWorkflow {
    pub workflow: Workflow,
    pub draft: Draft,
    pub versions: Vec<(Version, Value)>,
    pub stars: Vec<UserId>,
    pub claims: Vec<String>,
}

/// Everything that is kept.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub workflows: BTreeMap<WorkflowId, KeptWorkflow>,
    pub deleted: Vec<WorkflowId>,
    pub sources: Vec<(ImportSource, Timestamp)>,
    pub bindings: Vec<StartBinding>,
    pub runs: BTreeMap<RunId, Run>,
    pub purged: Vec<(WorkflowId, RunId)>,
    pub slices: BTreeMap<RunId, Vec<EventSlice>>,
    pub timers: Vec<(RunId, TimerRow)>,
    pub subscriptions: Vec<(RunId, SubscriptionRow)>,
    pub tasks: Vec<HumanTask>,
    pub jobs: Vec<Job>,
    pub endings: Vec<JobEnding>,
    pub inbox: Vec<InboxEvent>,
    pub outgoing: Vec<Outgoing>,
    /// Values of data stores.
    pub stores: HashMap<(TenantId, String), Value>,
    /// Tries of background work, and the instant before which it is not tried again.
    pub tried: HashMap<WorkKey, (Tries, Timestamp)>,
    pub marks: HashMap<(Uuid, Queue), WorkMark>,
    pub marks_written: usize,
    pub letters: Vec<DeadLetter>,
    /// The units that were committed, in order.
    pub commits: Vec<Transaction>,
    /// The journals that were written with changes, in order.
    pub journals: Vec<Journal>,
    /// Filters with which lists were asked for.
    pub workflow_filters: Vec<WorkflowFilter>,
    pub run_filters: Vec<RunFilter>,
    pub task_filters: Vec<TaskFilter>,
    /// Failures that the next writes answer instead of writing.
    pub failures: VecDeque<StoreError>,
}

/// The stores of this area.
#[derive(Debug, Default)]
pub(crate) struct Memory(pub Mutex<Tables>);

impl Memory {
    /// The next write answers this.
    pub(crate) fn fail_next(&self, error: StoreError) {
        self.0.lock().failures.push_back(error);
    }

    /// Number of committed units.
    pub(crate) fn commit_count(&self) -> usize {
        self.0.lock().commits.len()
    }

    /// Write of the last unit's only run.
    pub(crate) fn last_write(&self) -> RunWrite {
        let tables = self.0.lock();
        let [write] = tables.commits.last().unwrap().runs.as_slice() else { panic!("not one run") };
        write.clone()
    }

    /// The run as it is kept.
    pub(crate) fn run(&self, id: RunId) -> Run {
        self.0.lock().runs[&id].clone()
    }

    /// The open tasks of a run.
    pub(crate) fn open_tasks(&self, run: RunId) -> Vec<HumanTask> {
        let tables = self.0.lock();
        let open = tables.tasks.iter().filter(|task| task.run == run && task.ended_at.is_none());
        open.cloned().collect()
    }

    /// The workflow as it is kept.
    pub(crate) fn workflow(&self, id: WorkflowId) -> KeptWorkflow {
        self.0.lock().workflows[&id].clone()
    }
}

impl Tables {
    pub(crate) fn fail(&mut self) -> Result<(), StoreError> {
        self.failures.pop_front().map_or(Ok(()), Err)
    }

    pub(crate) fn kept(&mut self, tenant: TenantId, id: WorkflowId) -> Result<&mut KeptWorkflow, StoreError> {
        let kept = self.workflows.get_mut(&id).filter(|kept| kept.workflow.tenant == tenant);
        kept.ok_or(StoreError::NotFound)
    }

    /// Writes a unit, or nothing of it.
    fn commit(&mut self, unit: Transaction) -> Result<(), StoreError> {
        self.fail()?;
        self.check(&unit)?;
        for write in &unit.runs {
            self.write_run(write);
        }
        match &unit.inbox {
            Some(InboxWrite::Insert(event)) => self.inbox.push(event.clone()),
            Some(InboxWrite::Consume { id, receivers }) => {
                for event in self.inbox.iter_mut().filter(|event| event.id == *id) {
                    event.state = InboxState::Consumed;
                    event.run_ids.clone_from(&receivers.run_ids);
                    event.case_ids.clone_from(&receivers.case_ids);
                }
            }
            None => {}
        }
        self.outgoing.retain(|thrown| Some(thrown.id) != unit.delivered);
        self.letters.retain(|letter| Some(letter.id) != unit.settled);
        self.letters.extend(unit.letters.iter().cloned());
        if let Some(advance) = &unit.advance {
            for binding in self.bindings.iter_mut().filter(|binding| **binding == advance.binding) {
                binding.next_due_at = advance.next_due_at;
                binding.timer.clone_from(&advance.timer);
            }
        }
        self.lock_jobs(&unit);
        self.journals.push(unit.unit.clone());
        self.commits.push(unit);
        Ok(())
    }

    fn check(&self, unit: &Transaction) -> Result<(), StoreError> {
        let fits = |write: &RunWrite| self.runs.get(&write.run.id).map(|run| run.revision) == write.expected;
        let key = |event: &InboxEvent| (event.tenant, event.idempotency_key.clone());
        let known = |new: &InboxEvent| self.inbox.iter().any(|event| key(event) == key(new));
        let kept = |id| self.inbox.iter().any(|event| event.id == id && event.state == InboxState::Buffered);
        let inbox_fits = match &unit.inbox {
            Some(InboxWrite::Insert(event)) if known(event) => {
                return Err(StoreError::Duplicate("idempotencyKey".to_owned()));
            }
            Some(InboxWrite::Consume { id, .. }) => kept(*id),
            Some(InboxWrite::Insert(_)) | None => true,
        };
        let thrown_fits = unit.delivered.is_none_or(|id| self.outgoing.iter().any(|thrown| thrown.id == id));
        let advance_fits =
            unit.advance.as_ref().is_none_or(|advance| self.bindings.contains(&advance.binding));
        let letter_fits = unit.settled.is_none_or(|id| self.letters.iter().any(|letter| letter.id == id));
        let jobs_fit = unit.runs.iter().flat_map(|write| &write.jobs).all(|change| self.job_fits(change))
            && unit.locks.iter().all(|change| self.lock_fits(change));
        let rest_fits = inbox_fits && thrown_fits && advance_fits && letter_fits;
        let all = unit.runs.iter().all(fits) && rest_fits && jobs_fit;
        if all { Ok(()) } else { Err(StoreError::Stale) }
    }

    fn write_run(&mut self, write: &RunWrite) {
        let id = write.run.id;
        self.runs.insert(id, write.run.clone());
        if let Some(events) = &write.events {
            let slice = EventSlice {
                first_sequence: write.first_sequence,
                last_sequence: write.run.last_sequence,
                events: events.clone(),
            };
            self.slices.entry(id).or_default().push(slice);
        }
        self.timers.retain(|(run, row)| *run != id || !write.timers_removed.contains(&row.timer_id));
        self.timers.extend(write.timers_added.iter().map(|row| (id, row.clone())));
        let closed = &write.subscriptions_removed;
        self.subscriptions.retain(|(run, row)| *run != id || !closed.contains(&row.subscription_id));
        self.subscriptions.extend(write.subscriptions_added.iter().map(|row| (id, row.clone())));
        for change in &write.tasks {
            match change {
                TaskChange::Open(task) => self.tasks.push((**task).clone()),
                TaskChange::Assign(task, assignee) => {
                    for row in self.tasks.iter_mut().filter(|row| row.id == *task) {
                        row.assignee.clone_from(assignee);
                    }
                }
                TaskChange::End { task, state, at, by } => {
                    for row in self.tasks.iter_mut().filter(|row| row.id == *task) {
                        (row.state, row.ended_at, row.completed_by) = (*state, Some(*at), *by);
                    }
                }
            }
        }
        write.jobs.iter().for_each(|change| self.write_job(change));
        self.outgoing.extend(write.outgoing.iter().cloned());
        for own in &write.stores {
            self.stores.insert((write.run.tenant, own.store.clone()), own.value.clone());
        }
    }
}

#[async_trait]
impl Committer for Memory {
    async fn commit(&self, unit: Transaction) -> Result<(), StoreError> {
        self.0.lock().commit(unit)
    }
}
