//! Background work: what nobody asked for at this moment, the tries that it took, and what was set aside of it.

use heddle_kernel::{
    CaseId, CaseTypeId, DefinitionKind, EventId, RunId, TenantId, Timestamp, WorkflowId, literals,
};
use heddle_policy::resource::EitherPlace;
use heddle_policy::{Key, Within, resource};
use heddle_usecase::errand::{ErrandKind, NewErrand};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{InboxEvent, Outgoing, StartBinding, ThrownKind};

/// A timer whose time has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueTimer {
    /// The organisation.
    pub tenant: TenantId,
    /// The run.
    pub run: RunId,
    /// The timer.
    pub timer_id: String,
    /// The node that waits.
    pub node_id: String,
    /// Due time of the timer.
    pub due_at: Timestamp,
}

/// A start that refused the event that should have begun it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RefusedStart {
    /// The start.
    pub binding: StartBinding,
    /// The event.
    pub event: InboxEvent,
}

literals! {
    /// Kind of background work.
    pub enum WorkKind {
        /// A thrown message.
        Message = "message",
        /// A thrown signal.
        Signal = "signal",
        /// A timer of a run.
        Timer = "timer",
        /// A timer that starts runs.
        TimerStart = "timerStart",
        /// A kept event that a run waits for.
        Event = "event",
        /// A start by a message or a signal.
        Start = "start",
        /// A call of another run, its end or its withdrawal.
        Call = "call",
        /// A webhook's delivery.
        Webhook = "webhook",
        /// Work on a file of a vector database.
        Ingestion = "ingestion",
        /// Work of a node that the service does itself.
        Service = "service",
    }
}

literals! {
    /// Reason for which work was set aside.
    pub enum SetAsideReason {
        /// Refusal: it can never succeed as things stand.
        Refused = "refused",
        /// Failure of as many attempts as it has.
        Failed = "failed",
        /// End of the process, again and again, while it was done.
        Crashed = "crashed",
    }
}

/// A piece of background work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Work {
    /// A message, a signal, a call or its end that a run sent.
    Thrown(Outgoing),
    /// A timer of a run.
    Timer(DueTimer),
    /// A timer that starts runs.
    TimerStart(StartBinding),
    /// A kept event that a run waits for.
    Kept(InboxEvent),
    /// A start that refused its event; only among what was set aside.
    Start(Box<RefusedStart>),
    /// Work outside of the process; only among what was set aside.
    Errand(Box<NewErrand>),
}

/// Key of a piece of work, by which its row is found again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkKey {
    /// Key of a thrown message or signal.
    Thrown(TenantId, EventId),
    /// Key of a run's timer.
    Timer(TenantId, RunId, String),
    /// Key of a timer that starts runs: workflow, process and start event.
    TimerStart(TenantId, WorkflowId, String, String),
    /// Key of a kept event.
    Kept(TenantId, EventId),
    /// Key of the event that a start refused.
    Start(TenantId, EventId),
    /// Key of an errand.
    Errand(TenantId, EventId),
}

impl Work {
    /// The organisation.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        match self {
            Self::Thrown(thrown) => thrown.tenant,
            Self::Timer(timer) => timer.tenant,
            Self::TimerStart(binding) => binding.tenant,
            Self::Kept(event) => event.tenant,
            Self::Start(refused) => refused.binding.tenant,
            Self::Errand(errand) => errand.lane.tenant,
        }
    }

    /// Kind of the work.
    #[must_use]
    pub const fn kind(&self) -> WorkKind {
        match self {
            Self::Thrown(thrown) => match thrown.kind {
                ThrownKind::Message => WorkKind::Message,
                ThrownKind::Signal => WorkKind::Signal,
                ThrownKind::Call
                | ThrownKind::CallEnd
                | ThrownKind::CallEscalation
                | ThrownKind::CallCancel => WorkKind::Call,
            },
            Self::Timer(_) => WorkKind::Timer,
            Self::TimerStart(_) => WorkKind::TimerStart,
            Self::Kept(_) => WorkKind::Event,
            Self::Start(_) => WorkKind::Start,
            Self::Errand(errand) => match errand.lane.kind {
                ErrandKind::Webhook => WorkKind::Webhook,
                ErrandKind::Ingestion => WorkKind::Ingestion,
                ErrandKind::Service => WorkKind::Service,
            },
        }
    }

    /// Key of the work.
    #[must_use]
    pub fn key(&self) -> WorkKey {
        match self {
            Self::Thrown(thrown) => WorkKey::Thrown(thrown.tenant, thrown.id),
            Self::Timer(timer) => WorkKey::Timer(timer.tenant, timer.run, timer.timer_id.clone()),
            Self::TimerStart(of) => {
                WorkKey::TimerStart(of.tenant, of.workflow, of.process_id.clone(), of.node_id.clone())
            }
            Self::Kept(event) => WorkKey::Kept(event.tenant, event.id),
            Self::Start(refused) => WorkKey::Start(refused.binding.tenant, refused.event.id),
            Self::Errand(errand) => WorkKey::Errand(errand.lane.tenant, errand.id),
        }
    }

    /// The workflow, where the work names one; a run's workflow is known to its row.
    #[must_use]
    pub const fn workflow(&self) -> Option<WorkflowId> {
        match self {
            Self::TimerStart(binding) => Some(binding.workflow),
            Self::Start(refused) => Some(refused.binding.workflow),
            Self::Errand(errand) => errand.workflow,
            Self::Thrown(_) | Self::Timer(_) | Self::Kept(_) => None,
        }
    }

    /// Kind of the definition, where the work names one; that of an instance is known to its row.
    #[must_use]
    pub const fn definition_kind(&self) -> DefinitionKind {
        match self {
            Self::TimerStart(binding) => binding.definition_kind,
            Self::Start(refused) => refused.binding.definition_kind,
            Self::Errand(_) | Self::Thrown(_) | Self::Timer(_) | Self::Kept(_) => DefinitionKind::Workflow,
        }
    }

    /// The run: the one that threw it, or the one that waits for its timer.
    #[must_use]
    pub const fn run(&self) -> Option<RunId> {
        match self {
            Self::Thrown(thrown) => Some(thrown.run),
            Self::Timer(timer) => Some(timer.run),
            Self::Errand(errand) => errand.run,
            Self::TimerStart(_) | Self::Kept(_) | Self::Start(_) => None,
        }
    }

    /// Due time of a timer, in microseconds.
    #[must_use]
    pub fn due_micros(&self) -> Option<i64> {
        match self {
            Self::Timer(timer) => Some(timer.due_at.micros()),
            Self::TimerStart(binding) => binding.next_due_at.map(Timestamp::micros),
            Self::Thrown(_) | Self::Kept(_) | Self::Start(_) | Self::Errand(_) => None,
        }
    }

    /// The name of its message, signal or event type; none for a timer.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Thrown(thrown) => Some(&thrown.name),
            Self::Kept(event) => Some(&event.event_type),
            Self::Start(refused) => Some(&refused.binding.name),
            Self::Errand(errand) => Some(&errand.name),
            Self::Timer(_) | Self::TimerStart(_) => None,
        }
    }

    /// The node that waits or starts, where the work names one.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::Timer(timer) => Some(&timer.node_id),
            Self::TimerStart(binding) => Some(&binding.node_id),
            Self::Start(refused) => Some(&refused.binding.node_id),
            Self::Thrown(_) | Self::Kept(_) | Self::Errand(_) => None,
        }
    }
}

/// Tries that a piece of work took so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tries {
    /// Attempts that failed.
    pub attempts: u32,
    /// Attempts that ended the process.
    pub crashes: u32,
}

/// A piece of work that waits, with the tries that it took.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingWork {
    /// The work.
    pub work: Work,
    /// Tries so far.
    pub tries: Tries,
}

/// A piece of work that a mark names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedWork {
    /// Key of the work.
    pub key: WorkKey,
    /// Tries before it was begun.
    pub tries: Tries,
    /// Due time of a timer, whose key may be set again, in microseconds: the text of an instant has only milliseconds.
    pub due_micros: Option<i64>,
}

impl MarkedWork {
    /// A piece that is about to be begun.
    #[must_use]
    pub fn of(pending: &PendingWork) -> Self {
        Self { key: pending.work.key(), tries: pending.tries, due_micros: pending.work.due_micros() }
    }
}

/// A mark of what is being done: written before it begins, and found again after a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkMark {
    /// Whether the piece is done alone, so that a crash is its own.
    pub single: bool,
    /// The pieces.
    pub pieces: Vec<MarkedWork>,
}

/// A dead letter: work that was set aside until an operator retries or drops it.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadLetter {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the letter.
    pub id: EventId,
    /// The work.
    pub work: Work,
    /// Reason for which it was set aside.
    pub reason: SetAsideReason,
    /// The last error, in words.
    pub message: String,
    /// Tries that it took.
    pub tries: Tries,
    /// Kind of the definition and the instance that it belongs to.
    pub instance_kind: DefinitionKind,
    /// The workflow or case type that it belongs to, where there is one.
    pub workflow: Option<WorkflowId>,
    /// The run or case that it belongs to, where there is one.
    pub run: Option<RunId>,
    /// Instant at which it was set aside.
    pub created_at: Timestamp,
}

impl DeadLetter {
    /// Key of the letter in access decisions. What belongs to no instance, or to no definition, stands within the one of the
    /// nil id, which no rule names.
    #[must_use]
    pub fn key(&self) -> Key<resource::DeadLetter> {
        let definition = self.workflow.unwrap_or(WorkflowId(Uuid::nil()));
        let run = self.run.unwrap_or(RunId(Uuid::nil()));
        let place = match self.instance_kind {
            DefinitionKind::Workflow => EitherPlace::One(Within::at(run, Within::of(definition))),
            DefinitionKind::Case => {
                EitherPlace::Other(Within::at(CaseId::from(run), Within::of(CaseTypeId::from(definition))))
            }
        };
        Key::of_stored(self.tenant, self.id, place)
    }
}

/// Outcome of a try that did not succeed.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a few at a time, on the way to the store")]
pub enum Setback {
    /// Another try, not before an instant.
    Later {
        /// The work.
        work: Work,
        /// Tries from now on.
        tries: Tries,
        /// Instant before which it is not tried.
        not_before: Timestamp,
    },
    /// Setting aside: the row goes and the letter comes.
    Aside(Box<DeadLetter>),
}
