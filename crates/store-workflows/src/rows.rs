//! Rows as the tables have them, and their conversions to and from records.

use crate::schema::{
    case_events, human_tasks, outbox, run_events, run_subscriptions, run_timers, runs, start_bindings,
};
use diesel::{Insertable, Queryable, Selectable};
use heddle_kernel::{Revision, RunId, TenantId};
use heddle_store::document::{decode, encode};
use heddle_store::{At, Error, Id};
use heddle_workflows::records::{
    BindingKind, HumanTask, InboxEvent, InboxState, Outgoing, Run, RunState, StartBinding, SubscriptionRow,
    TaskState, TimerRow,
};

use crate::unknown;

/// A sequence number as the database has it.
pub fn sequence(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A sequence number as the records have it.
pub fn counted(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// The kind of a start binding or a subscription.
pub fn kind(word: &str) -> Result<BindingKind, Error> {
    BindingKind::parse(word).ok_or_else(|| unknown("the kind", word))
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = runs)]
pub struct RunDbRow {
    pub organization_id: Id,
    pub id: Id,
    pub workflow_id: Id,
    pub version: i32,
    pub process_id: String,
    pub state: String,
    pub has_incident: bool,
    pub business_key: Option<String>,
    pub correlation_key: Option<String>,
    pub trigger: Vec<u8>,
    pub input: Vec<u8>,
    pub snapshot: Vec<u8>,
    pub last_sequence: i64,
    pub revision: i64,
    pub created_at: At,
    pub created_by: Option<Id>,
    pub updated_at: At,
    pub ended_at: Option<At>,
    pub waiting_since: Option<At>,
}

impl RunDbRow {
    pub fn of(run: Run) -> Result<Self, Error> {
        Ok(Self {
            organization_id: run.tenant.into(),
            id: run.id.into(),
            workflow_id: run.workflow.into(),
            version: run.version,
            process_id: run.process_id,
            state: run.state.as_str().to_owned(),
            has_incident: run.has_incident,
            business_key: run.business_key,
            correlation_key: run.correlation_key,
            trigger: encode(&run.trigger)?,
            input: encode(&run.input)?,
            snapshot: encode(&run.snapshot)?,
            last_sequence: sequence(run.last_sequence),
            revision: run.revision.0,
            created_at: run.created_at.into(),
            created_by: run.created_by.map(Id::from),
            updated_at: run.updated_at.into(),
            ended_at: run.ended_at.map(At),
            waiting_since: run.waiting_since.map(At),
        })
    }

    pub fn record(self) -> Result<Run, Error> {
        Ok(Run {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            workflow: self.workflow_id.into(),
            version: self.version,
            process_id: self.process_id,
            state: RunState::parse(&self.state).ok_or_else(|| unknown("the run's state", &self.state))?,
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

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = run_events)]
pub struct EventsDbRow {
    pub organization_id: Id,
    pub run_id: Id,
    pub first_sequence: i64,
    pub last_sequence: i64,
    pub events: Vec<u8>,
}

#[derive(Debug, Insertable)]
#[diesel(table_name = run_timers)]
pub struct TimerDbRow {
    pub organization_id: Id,
    pub run_id: Id,
    pub timer_id: String,
    pub node_id: String,
    pub due_at: At,
}

impl TimerDbRow {
    pub fn of(tenant: TenantId, run: RunId, timer: TimerRow) -> Self {
        Self {
            organization_id: tenant.into(),
            run_id: run.into(),
            timer_id: timer.timer_id,
            node_id: timer.node_id,
            due_at: timer.due_at.into(),
        }
    }
}

#[derive(Debug, Insertable)]
#[diesel(table_name = run_subscriptions)]
pub struct SubscriptionDbRow {
    pub organization_id: Id,
    pub run_id: Id,
    pub subscription_id: String,
    pub kind: &'static str,
    pub name: String,
    pub correlation_key: Option<String>,
    pub node_id: String,
}

impl SubscriptionDbRow {
    pub fn of(tenant: TenantId, run: RunId, subscription: SubscriptionRow) -> Self {
        Self {
            organization_id: tenant.into(),
            run_id: run.into(),
            subscription_id: subscription.subscription_id,
            kind: subscription.kind.as_str(),
            name: subscription.name,
            correlation_key: subscription.correlation_key,
            node_id: subscription.node_id,
        }
    }
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = human_tasks)]
pub struct TaskDbRow {
    pub organization_id: Id,
    pub id: Id,
    pub run_id: Id,
    pub workflow_id: Id,
    pub node_id: String,
    pub node_instance_id: String,
    pub name: String,
    pub state: String,
    pub assignee: Option<String>,
    pub candidate_users: Vec<u8>,
    pub candidate_groups: Vec<u8>,
    pub due_at: Option<At>,
    pub priority: i32,
    pub form: Option<Vec<u8>>,
    pub outcomes: Vec<u8>,
    pub created_at: At,
    pub ended_at: Option<At>,
    pub completed_by: Option<Id>,
}

impl TaskDbRow {
    pub fn of(task: HumanTask) -> Result<Self, Error> {
        Ok(Self {
            organization_id: task.tenant.into(),
            id: task.id.into(),
            run_id: task.run.into(),
            workflow_id: task.workflow.into(),
            node_id: task.node_id,
            node_instance_id: task.node_instance_id,
            name: task.name,
            state: task.state.as_str().to_owned(),
            assignee: task.assignee,
            candidate_users: encode(&task.candidate_users)?,
            candidate_groups: encode(&task.candidate_groups)?,
            due_at: task.due_at.map(At),
            priority: task.priority,
            form: task.form.as_ref().map(encode).transpose()?,
            outcomes: encode(&task.outcomes)?,
            created_at: task.created_at.into(),
            ended_at: task.ended_at.map(At),
            completed_by: task.completed_by.map(Id::from),
        })
    }

    pub fn record(self) -> Result<HumanTask, Error> {
        Ok(HumanTask {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            run: self.run_id.into(),
            workflow: self.workflow_id.into(),
            node_id: self.node_id,
            node_instance_id: self.node_instance_id,
            name: self.name,
            state: TaskState::parse(&self.state).ok_or_else(|| unknown("the task's state", &self.state))?,
            assignee: self.assignee,
            candidate_users: decode(&self.candidate_users)?,
            candidate_groups: decode(&self.candidate_groups)?,
            due_at: self.due_at.map(Into::into),
            priority: self.priority,
            form: self.form.as_deref().map(decode).transpose()?,
            outcomes: decode(&self.outcomes)?,
            created_at: self.created_at.into(),
            ended_at: self.ended_at.map(Into::into),
            completed_by: self.completed_by.map(Into::into),
        })
    }
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = case_events)]
pub struct InboxDbRow {
    pub organization_id: Id,
    pub id: Id,
    pub idempotency_key: String,
    pub body_sha256: String,
    pub correlation_key: Option<String>,
    pub event_type: String,
    pub payload: Vec<u8>,
    pub received_at: At,
    pub received_by: Option<Id>,
    pub state: String,
    pub run_ids: Vec<u8>,
    pub expires_at: Option<At>,
}

/// The ids of runs as a document, sorted and without repeats.
pub fn run_ids(mut ids: Vec<RunId>) -> Result<Vec<u8>, Error> {
    ids.sort_unstable();
    ids.dedup();
    encode(&ids)
}

impl InboxDbRow {
    pub fn of(event: InboxEvent) -> Result<Self, Error> {
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
            state: event.state.as_str().to_owned(),
            run_ids: run_ids(event.run_ids)?,
            expires_at: event.expires_at.map(At),
        })
    }

    pub fn record(self) -> Result<InboxEvent, Error> {
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
            state: InboxState::parse(&self.state).ok_or_else(|| unknown("the event's state", &self.state))?,
            run_ids: decode(&self.run_ids)?,
            expires_at: self.expires_at.map(Into::into),
        })
    }
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = outbox)]
pub struct OutgoingDbRow {
    pub organization_id: Id,
    pub id: Id,
    pub run_id: Id,
    pub kind: String,
    pub name: String,
    pub correlation_key: Option<String>,
    pub payload: Vec<u8>,
    pub created_at: At,
}

impl OutgoingDbRow {
    pub fn of(thrown: Outgoing) -> Result<Self, Error> {
        Ok(Self {
            organization_id: thrown.tenant.into(),
            id: thrown.id.into(),
            run_id: thrown.run.into(),
            kind: thrown.kind.as_str().to_owned(),
            name: thrown.name,
            correlation_key: thrown.correlation_key,
            payload: encode(&thrown.payload)?,
            created_at: thrown.created_at.into(),
        })
    }

    pub fn record(self) -> Result<Outgoing, Error> {
        Ok(Outgoing {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            run: self.run_id.into(),
            kind: kind(&self.kind)?,
            name: self.name,
            correlation_key: self.correlation_key,
            payload: decode(&self.payload)?,
            created_at: self.created_at.into(),
        })
    }
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = start_bindings)]
pub struct BindingDbRow {
    pub organization_id: Id,
    pub workflow_id: Id,
    pub version: i32,
    pub process_id: String,
    pub node_id: String,
    pub kind: String,
    pub name: String,
    pub next_due_at: Option<At>,
    pub timer: Option<Vec<u8>>,
}

impl BindingDbRow {
    pub fn of(binding: &StartBinding) -> Result<Self, Error> {
        Ok(Self {
            organization_id: binding.tenant.into(),
            workflow_id: binding.workflow.into(),
            version: binding.version,
            process_id: binding.process_id.clone(),
            node_id: binding.node_id.clone(),
            kind: binding.kind.as_str().to_owned(),
            name: binding.name.clone(),
            next_due_at: binding.next_due_at.map(At),
            timer: binding.timer.as_ref().map(encode).transpose()?,
        })
    }

    pub fn record(self) -> Result<StartBinding, Error> {
        Ok(StartBinding {
            tenant: self.organization_id.into(),
            workflow: self.workflow_id.into(),
            version: self.version,
            process_id: self.process_id,
            node_id: self.node_id,
            kind: kind(&self.kind)?,
            name: self.name,
            next_due_at: self.next_due_at.map(Into::into),
            timer: self.timer.as_deref().map(decode).transpose()?,
        })
    }
}
