//! Rows as the tables have them, and their conversions to and from records.

use heddle_kernel::{CaseId, Revision, RunId, TenantId, Timestamp};
use heddle_store::document::{decode, decode_sized, encode};
use heddle_store::{At, Error, Id};
use heddle_workflows::records::{
    DeadLetter, DueTimer, HumanTask, InboxEvent, Job, JobEnding, Outgoing, Run, StartBinding,
    SubscriptionRow, TimerRow, Tries, number_of,
};
use serde_json::Value;

use uuid::Uuid;

use crate::schema::{
    BindingDbRow, EndingDbRow, InboxDbRow, JobDbRow, LetterDbRow, OutgoingDbRow, RunDbRow, RunHead,
    SubscriptionDbRow, TaskDbRow, TimerDbRow,
};
use crate::words::{
    DefinitionKindWord, InboxStateWord, JobKindWord, JobOutcomeWord, JobStateWord, KindWord, ReasonWord,
    RunStateWord, TaskStateWord, ThrownWord, WorkKindWord,
};

/// The workflow of what belongs to none.
const NOWHERE: Id = Id(Uuid::nil());

/// Place in the work list of a task that is never due: behind all others.
pub(crate) const NEVER_DUE: At = At(Timestamp::from_micros(253_402_300_799_000_000));

/// A sequence number as the database has it.
pub(crate) fn sequence(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A sequence number as the records have it.
pub(crate) fn counted(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// A small number as the database has it.
pub(crate) fn count(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The tries of a row.
pub(crate) const fn tries(attempts: i32, crashes: i32) -> Tries {
    Tries { attempts: attempts.unsigned_abs(), crashes: crashes.unsigned_abs() }
}

impl RunDbRow {
    /// The row of a new run, or of a step, which leaves what never changes as it is: nothing of that is packed for it.
    pub(crate) fn of(run: Run, packed: Option<Vec<u8>>, is_new: bool) -> Result<Self, Error> {
        let (trigger, input) =
            if is_new { (encode(&run.trigger)?, encode(&run.input)?) } else { (Vec::new(), Vec::new()) };
        let snapshot = match packed {
            Some(packed) => packed,
            None => encode(&run.snapshot)?,
        };
        let stored = u64::try_from(snapshot.len()).unwrap_or(u64::MAX);
        let parent_run_id = run.trigger.parent.as_ref().map(|parent| parent.run.into());
        Ok(Self {
            bytes: sequence(stored.saturating_add(run.snapshot.event_bytes())),
            organization_id: run.tenant.into(),
            id: run.id.into(),
            kind: DefinitionKindWord(run.kind),
            workflow_id: run.workflow.into(),
            version: run.version,
            process_id: run.process_id,
            state: RunStateWord(run.state),
            has_incident: run.has_incident,
            business_key: run.business_key,
            correlation_key: run.correlation_key,
            trigger,
            input,
            snapshot,
            last_sequence: sequence(run.last_sequence),
            revision: run.revision.0,
            created_at: run.created_at.into(),
            created_by: run.created_by.map(Id::from),
            updated_at: run.updated_at.into(),
            ended_at: run.ended_at.map(At),
            waiting_since: run.waiting_since.map(At),
            parent_run_id,
        })
    }

    pub(crate) fn record(self) -> Result<Run, Error> {
        Ok(Run {
            tenant: self.organization_id.into(),
            kind: self.kind.0,
            id: self.id.into(),
            workflow: self.workflow_id.into(),
            version: self.version,
            process_id: self.process_id,
            state: self.state.0,
            has_incident: self.has_incident,
            business_key: self.business_key,
            correlation_key: self.correlation_key,
            trigger: decode(&self.trigger)?,
            input: decode(&self.input)?,
            snapshot: decode(&self.snapshot)?,
            last_sequence: counted(self.last_sequence),
            revision: Revision(self.revision),
            created_at: self.created_at.into(),
            created_by: self.created_by.map(Into::into),
            updated_at: self.updated_at.into(),
            ended_at: self.ended_at.map(Into::into),
            waiting_since: self.waiting_since.map(Into::into),
        })
    }
}

impl RunHead {
    /// The run with its stored state, and without its input; with the bytes that the state takes unpacked.
    pub(crate) fn record(self, snapshot: &[u8]) -> Result<(Run, i64), Error> {
        let (snapshot, bytes) = decode_sized(snapshot)?;
        let run = Run {
            tenant: self.organization_id.into(),
            kind: self.kind.0,
            id: self.id.into(),
            workflow: self.workflow_id.into(),
            version: self.version,
            process_id: self.process_id,
            state: self.state.0,
            has_incident: self.has_incident,
            business_key: self.business_key,
            correlation_key: self.correlation_key,
            trigger: decode(&self.trigger)?,
            input: Value::Null,
            snapshot,
            last_sequence: counted(self.last_sequence),
            revision: Revision(self.revision),
            created_at: self.created_at.into(),
            created_by: self.created_by.map(Into::into),
            updated_at: self.updated_at.into(),
            ended_at: self.ended_at.map(Into::into),
            waiting_since: self.waiting_since.map(Into::into),
        };
        Ok((run, i64::try_from(bytes).unwrap_or(i64::MAX)))
    }
}

impl TimerDbRow {
    pub(crate) fn of(tenant: TenantId, run: RunId, timer: TimerRow) -> Self {
        Self {
            organization_id: tenant.into(),
            run_id: run.into(),
            timer_id: timer.timer_id,
            node_id: timer.node_id,
            due_at: timer.due_at.into(),
            attempts: 0,
            crashes: 0,
        }
    }

    pub(crate) fn due(self) -> DueTimer {
        DueTimer {
            tenant: self.organization_id.into(),
            run: self.run_id.into(),
            timer_id: self.timer_id,
            node_id: self.node_id,
            due_at: self.due_at.into(),
        }
    }
}

impl SubscriptionDbRow {
    pub(crate) fn of(tenant: TenantId, run: RunId, subscription: SubscriptionRow) -> Self {
        Self {
            organization_id: tenant.into(),
            run_id: run.into(),
            subscription_id: subscription.subscription_id,
            kind: KindWord(subscription.kind),
            name: subscription.name,
            correlation_key: subscription.correlation_key,
            node_id: subscription.node_id,
        }
    }
}

impl TaskDbRow {
    /// The row of a task of a run that somebody started, or nobody.
    pub(crate) fn of(task: HumanTask, started_by: Option<Id>) -> Result<Self, Error> {
        Ok(Self {
            organization_id: task.tenant.into(),
            id: task.id.into(),
            instance_kind: DefinitionKindWord(task.instance_kind),
            run_id: task.run.into(),
            workflow_id: task.workflow.into(),
            node_id: task.node_id,
            node_instance_id: task.node_instance_id,
            name: task.name,
            state: TaskStateWord(task.state),
            assignee: task.assignee,
            candidate_users: encode(&task.candidate_users)?,
            candidate_groups: encode(&task.candidate_groups)?,
            due_order: task.due_at.map_or(NEVER_DUE, At),
            due_at: task.due_at.map(At),
            follow_up_at: task.follow_up_at.map(At),
            priority: task.priority,
            form: task.form.as_ref().map(encode).transpose()?,
            outcomes: encode(&task.outcomes)?,
            created_at: task.created_at.into(),
            ended_at: task.ended_at.map(At),
            completed_by: task.completed_by.map(Id::from),
            started_by,
        })
    }

    pub(crate) fn record(self) -> Result<HumanTask, Error> {
        Ok(self.record_sized()?.0)
    }

    /// The task, and the bytes that its documents take unpacked.
    pub(crate) fn record_sized(self) -> Result<(HumanTask, i64), Error> {
        let (candidate_users, users) = decode_sized(&self.candidate_users)?;
        let (candidate_groups, groups) = decode_sized(&self.candidate_groups)?;
        let (outcomes, offered) = decode_sized(&self.outcomes)?;
        let (form, fields) = self.form.as_deref().map(decode_sized).transpose()?.unzip();
        let bytes = users + groups + offered + fields.unwrap_or(0);
        let task = HumanTask {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            instance_kind: self.instance_kind.0,
            run: self.run_id.into(),
            workflow: self.workflow_id.into(),
            node_id: self.node_id,
            node_instance_id: self.node_instance_id,
            name: self.name,
            state: self.state.0,
            assignee: self.assignee,
            candidate_users,
            candidate_groups,
            due_at: self.due_at.map(Into::into),
            follow_up_at: self.follow_up_at.map(Into::into),
            priority: self.priority,
            form,
            outcomes,
            created_at: self.created_at.into(),
            ended_at: self.ended_at.map(Into::into),
            completed_by: self.completed_by.map(Into::into),
        };
        Ok((task, i64::try_from(bytes).unwrap_or(i64::MAX)))
    }
}

impl JobDbRow {
    pub(crate) fn of(job: Job) -> Result<Self, Error> {
        Ok(Self {
            number: job.number(),
            organization_id: job.tenant.into(),
            id: job.id.into(),
            instance_kind: DefinitionKindWord(job.instance_kind),
            run_id: job.run.into(),
            workflow_id: job.workflow.into(),
            version: job.version,
            process_id: job.process_id,
            node_id: job.node_id,
            node_instance_id: job.node_instance_id,
            kind: JobKindWord(job.kind),
            job_type: job.job_type,
            headers: encode(&job.headers)?,
            priority: job.priority,
            state: JobStateWord(job.state),
            retries: count(job.retries),
            attempt: count(job.attempt),
            due_at: job.due_at.map(At),
            epoch: job.epoch,
            worker: job.worker,
            lapses: count(job.lapses),
            message: job.message,
            place: job.place.into(),
            created_at: job.created_at.into(),
        })
    }

    pub(crate) fn record(self) -> Result<Job, Error> {
        Ok(Job {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            instance_kind: self.instance_kind.0,
            run: self.run_id.into(),
            workflow: self.workflow_id.into(),
            version: self.version,
            process_id: self.process_id,
            node_id: self.node_id,
            node_instance_id: self.node_instance_id,
            kind: self.kind.0,
            job_type: self.job_type,
            headers: decode(&self.headers)?,
            priority: self.priority,
            state: self.state.0,
            retries: self.retries.unsigned_abs(),
            attempt: self.attempt.unsigned_abs(),
            due_at: self.due_at.map(Into::into),
            epoch: self.epoch,
            worker: self.worker,
            lapses: self.lapses.unsigned_abs(),
            message: self.message,
            place: self.place.into(),
            created_at: self.created_at.into(),
        })
    }
}

impl EndingDbRow {
    pub(crate) fn of(ending: JobEnding) -> Self {
        Self {
            number: number_of(ending.id.0),
            organization_id: ending.tenant.into(),
            id: ending.id.into(),
            job_type: ending.job_type,
            instance_kind: DefinitionKindWord(ending.instance_kind),
            run_id: ending.run.into(),
            workflow_id: ending.workflow.into(),
            node_id: ending.node_id,
            worker: ending.worker,
            epoch: ending.epoch,
            outcome: JobOutcomeWord(ending.outcome),
            digest: ending.digest,
            ended_at: ending.ended_at.into(),
        }
    }

    pub(crate) fn record(self) -> JobEnding {
        JobEnding {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            job_type: self.job_type,
            instance_kind: self.instance_kind.0,
            run: self.run_id.into(),
            workflow: self.workflow_id.into(),
            node_id: self.node_id,
            worker: self.worker,
            epoch: self.epoch,
            outcome: self.outcome.0,
            digest: self.digest,
            ended_at: self.ended_at.into(),
        }
    }
}

/// The ids of runs as a document, sorted and without repeats.
pub(crate) fn run_ids(mut ids: Vec<RunId>) -> Result<Vec<u8>, Error> {
    ids.sort_unstable();
    ids.dedup();
    encode(&ids)
}

/// The same of cases; none where there are none, as in rows of before.
pub(crate) fn case_ids(mut ids: Vec<CaseId>) -> Result<Option<Vec<u8>>, Error> {
    ids.sort_unstable();
    ids.dedup();
    (!ids.is_empty()).then(|| encode(&ids)).transpose()
}

impl InboxDbRow {
    pub(crate) fn of(event: InboxEvent) -> Result<Self, Error> {
        Ok(Self {
            organization_id: event.tenant.into(),
            id: event.id.into(),
            idempotency_key: event.idempotency_key,
            body_sha256: event.body_sha256,
            correlation_key: event.correlation_key,
            event_type: event.event_type,
            payload: encode(&event.payload)?,
            received_at: event.received_at.into(),
            received_by: event.received_by.map(Id::from),
            state: InboxStateWord(event.state),
            run_ids: run_ids(event.run_ids)?,
            case_ids: case_ids(event.case_ids)?,
            refused: (!event.refused.is_empty()).then(|| encode(&event.refused)).transpose()?,
            expires_at: event.expires_at.map(At),
            attempts: 0,
            crashes: 0,
            retry_at: None,
            hops: i32::try_from(event.hops).unwrap_or(i32::MAX),
            awaited: false,
        })
    }

    pub(crate) fn record(self) -> Result<InboxEvent, Error> {
        Ok(InboxEvent {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            idempotency_key: self.idempotency_key,
            body_sha256: self.body_sha256,
            correlation_key: self.correlation_key,
            event_type: self.event_type,
            payload: decode(&self.payload)?,
            received_at: self.received_at.into(),
            received_by: self.received_by.map(Into::into),
            state: self.state.0,
            run_ids: decode(&self.run_ids)?,
            case_ids: self.case_ids.as_deref().map(decode).transpose()?.unwrap_or_default(),
            refused: self.refused.as_deref().map(decode).transpose()?.unwrap_or_default(),
            expires_at: self.expires_at.map(Into::into),
            hops: u32::try_from(self.hops).unwrap_or(0),
        })
    }
}

impl OutgoingDbRow {
    pub(crate) fn of(thrown: Outgoing) -> Result<Self, Error> {
        Ok(Self {
            organization_id: thrown.tenant.into(),
            id: thrown.id.into(),
            run_id: thrown.run.into(),
            kind: ThrownWord(thrown.kind),
            name: thrown.name,
            correlation_key: thrown.correlation_key,
            payload: encode(&thrown.payload)?,
            created_at: thrown.created_at.into(),
            hops: count(thrown.hops),
            attempts: 0,
            crashes: 0,
            not_before: thrown.created_at.into(),
        })
    }

    pub(crate) fn record(self) -> Result<Outgoing, Error> {
        Ok(Outgoing {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            run: self.run_id.into(),
            kind: self.kind.0,
            name: self.name,
            correlation_key: self.correlation_key,
            payload: decode(&self.payload)?,
            created_at: self.created_at.into(),
            hops: self.hops.unsigned_abs(),
        })
    }
}

impl BindingDbRow {
    pub(crate) fn of(binding: &StartBinding) -> Result<Self, Error> {
        Ok(Self {
            organization_id: binding.tenant.into(),
            instance_kind: DefinitionKindWord(binding.definition_kind),
            workflow_id: binding.workflow.into(),
            version: binding.version,
            process_id: binding.process_id.clone(),
            node_id: binding.node_id.clone(),
            kind: KindWord(binding.kind),
            name: binding.name.clone(),
            next_due_at: binding.next_due_at.map(At),
            timer: binding.timer.as_ref().map(encode).transpose()?,
            attempts: 0,
            crashes: 0,
        })
    }

    pub(crate) fn record(self) -> Result<StartBinding, Error> {
        Ok(StartBinding {
            tenant: self.organization_id.into(),
            definition_kind: self.instance_kind.0,
            workflow: self.workflow_id.into(),
            version: self.version,
            process_id: self.process_id,
            node_id: self.node_id,
            kind: self.kind.0,
            name: self.name,
            next_due_at: self.next_due_at.map(Into::into),
            timer: self.timer.as_deref().map(decode).transpose()?,
        })
    }
}

impl LetterDbRow {
    pub(crate) fn of(letter: DeadLetter) -> Result<Self, Error> {
        Ok(Self {
            organization_id: letter.tenant.into(),
            id: letter.id.into(),
            kind: WorkKindWord(letter.work.kind()),
            reason: ReasonWord(letter.reason),
            message: letter.message,
            attempts: count(letter.tries.attempts),
            crashes: count(letter.tries.crashes),
            instance_kind: DefinitionKindWord(letter.instance_kind),
            workflow_id: letter.workflow.map_or(NOWHERE, Id::from),
            run_id: letter.run.map(Id::from),
            work: encode(&letter.work)?,
            created_at: letter.created_at.into(),
        })
    }

    pub(crate) fn record(self) -> Result<DeadLetter, Error> {
        Ok(DeadLetter {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            work: decode(&self.work)?,
            reason: self.reason.0,
            message: self.message,
            tries: tries(self.attempts, self.crashes),
            instance_kind: self.instance_kind.0,
            workflow: Some(self.workflow_id).filter(|id| *id != NOWHERE).map(Into::into),
            run: self.run_id.map(Into::into),
            created_at: self.created_at.into(),
        })
    }
}
