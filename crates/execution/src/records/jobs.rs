//! Jobs for external workers, as workers and operators see them.

use heddle_engine::OpenJob;
use heddle_kernel::{
    CaseId, CaseTypeId, DefinitionKind, JobId, RunId, TenantId, Timestamp, WorkflowId, literals,
};
use heddle_policy::resource::EitherPlace;
use heddle_policy::{InstanceKey, Key, RuleId, Within, resource};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Run;

/// The longest type of a job, in bytes: rules name jobs by it.
pub const JOB_TYPE_MAX: usize = 200;

literals! {
    /// State of an open job.
    pub enum JobState {
        /// A worker may take it.
        Ready = "ready",
        /// A worker holds it.
        Locked = "locked",
        /// Wait for the time of the next attempt.
        Delayed = "delayed",
        /// No attempt is left; an incident of the run says why.
        Failed = "failed",
        /// Suspension of the run.
        Suspended = "suspended",
    }
}

literals! {
    /// Part of its node that a job stands for.
    pub enum JobKind {
        /// The node's own work.
        Task = "task",
        /// A listener before it.
        StartListener = "startListener",
        /// A listener behind it.
        EndListener = "endListener",
        /// A listener of a human task.
        TaskListener = "taskListener",
    }
}

impl From<heddle_engine::JobKind> for JobKind {
    fn from(kind: heddle_engine::JobKind) -> Self {
        match kind {
            heddle_engine::JobKind::Task => Self::Task,
            heddle_engine::JobKind::StartListener => Self::StartListener,
            heddle_engine::JobKind::EndListener => Self::EndListener,
            heddle_engine::JobKind::TaskListener => Self::TaskListener,
        }
    }
}

literals! {
    /// End of a job.
    pub enum JobOutcome {
        /// Completion.
        Completed = "completed",
        /// End with a BPMN error.
        Error = "error",
        /// Withdrawal, not an end by a worker.
        Withdrawn = "withdrawn",
    }
}

/// Number of an id for clients that know things by numbers: positive, of 62 bits, and as unique as the random part of
/// the id.
#[must_use]
pub const fn number_of(id: Uuid) -> i64 {
    // The lower half of an id is its variant, two bits, and what is random or mixed.
    ((id.as_u128() as u64) & (u64::MAX >> 2)).cast_signed()
}

/// An open job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The organisation.
    pub tenant: TenantId,
    /// The job.
    pub id: JobId,
    /// Kind of the instance that the job is of.
    pub instance_kind: DefinitionKind,
    /// Run of the job.
    pub run: RunId,
    /// Workflow of the run.
    pub workflow: WorkflowId,
    /// Version of the workflow that the run has.
    pub version: i32,
    /// The process within the definition.
    pub process_id: String,
    /// The element's id.
    pub node_id: String,
    /// The instance of the element.
    pub node_instance_id: String,
    /// Part of the node that it stands for.
    pub kind: JobKind,
    /// Type of the job, by which workers ask for it.
    pub job_type: String,
    /// Settings of the model for the worker.
    pub headers: Map<String, Value>,
    /// The higher, the sooner.
    pub priority: i64,
    /// State as it is stored; see [`Job::state_at`].
    pub state: JobState,
    /// Attempts that are left.
    pub retries: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Instant from which on a worker may take it, where that is not at once: the end of the lock or of the delay.
    pub due_at: Option<Timestamp>,
    /// Number of times that it was taken or taken away; a worker that names another one holds it no more.
    pub epoch: i64,
    /// Worker that holds it.
    pub worker: Option<String>,
    /// Times in a row that its lock ran out without a word of the worker that held it.
    pub lapses: u32,
    /// Reason of the last failure.
    pub message: Option<String>,
    /// Place in the order in which jobs of one priority are given out: its creation, and later the more jobs of its
    /// type its run had open then.
    pub place: Timestamp,
    /// Instant of creation.
    pub created_at: Timestamp,
}

/// Seconds by which a job stands behind the one that its run opened before it: a run with many open jobs leaves room for
/// the others.
const STEP_SECONDS: i64 = 1;

impl Job {
    /// An open job of a run's state; `ahead` jobs of its type were open in the run when it came.
    #[must_use]
    pub fn opened(run: &Run, job: OpenJob, ahead: usize) -> Self {
        let behind = i64::try_from(ahead).unwrap_or(i64::MAX).saturating_mul(STEP_SECONDS);
        let stand = JobStand::of(&job, false);
        Self {
            tenant: run.tenant,
            id: job.job_id,
            instance_kind: run.kind,
            run: run.id,
            workflow: run.workflow,
            version: run.version,
            process_id: run.process_id.clone(),
            node_id: job.node_id.to_string(),
            node_instance_id: job.node_instance_id.to_string(),
            kind: job.kind.into(),
            job_type: job.job_type.to_string(),
            headers: job.headers,
            priority: job.priority.unwrap_or(0),
            state: stand.state,
            retries: stand.retries,
            attempt: stand.attempt,
            due_at: stand.due_at,
            epoch: 0,
            worker: None,
            lapses: 0,
            message: None,
            place: job.created_at.plus_seconds(behind.min(10 * 365 * 86_400)),
            created_at: job.created_at,
        }
    }

    /// Number of the job for clients that know jobs by numbers.
    #[must_use]
    pub const fn number(&self) -> i64 {
        number_of(self.id.0)
    }

    /// State at an instant: a lock and a delay that ran out leave the job to the next worker, whether or not that is
    /// written yet.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> JobState {
        match self.state {
            JobState::Locked | JobState::Delayed if self.due_at.is_none_or(|due| due <= now) => {
                JobState::Ready
            }
            state => state,
        }
    }

    /// Instant until which a worker holds it; none while nobody does.
    #[must_use]
    pub fn locked_until(&self) -> Option<Timestamp> {
        self.due_at.filter(|_| self.state == JobState::Locked)
    }

    /// Instant before which no worker gets it; none where there is no such.
    #[must_use]
    pub fn not_before(&self) -> Option<Timestamp> {
        self.due_at.filter(|_| self.state == JobState::Delayed)
    }

    /// Key of the job in access decisions.
    #[must_use]
    pub fn key(&self) -> Key<resource::Job> {
        key_of(&self.instance(), &self.job_type)
    }

    /// Key of the instance that the job is of.
    #[must_use]
    pub const fn instance(&self) -> InstanceKey {
        InstanceKey::of_stored(self.tenant, self.instance_kind, self.run, self.workflow)
    }
}

/// Key of a job of a type in access decisions.
fn key_of(of: &InstanceKey, job_type: &str) -> Key<resource::Job> {
    let (id, definition) = (of.id(), of.within());
    let place = match of.kind() {
        DefinitionKind::Workflow => EitherPlace::One(Within::at(id, Within::of(definition))),
        DefinitionKind::Case => {
            EitherPlace::Other(Within::at(CaseId::from(id), Within::of(CaseTypeId::from(definition))))
        }
    };
    Key::of_stored(of.tenant(), type_id(job_type), place)
}

/// A type of jobs as rules name it.
#[must_use]
pub fn type_id(job_type: &str) -> RuleId {
    RuleId::read(heddle_policy::ResourceType::Job, job_type).unwrap_or_else(|| RuleId::Name(job_type.into()))
}

/// Stand of an open job that a step may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStand {
    /// State of the job.
    pub state: JobState,
    /// Attempts that are left.
    pub retries: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Instant of the next attempt, where it has to wait for that.
    pub due_at: Option<Timestamp>,
}

impl JobStand {
    /// Stand of a job of a run's state.
    #[must_use]
    pub fn of(job: &OpenJob, suspended: bool) -> Self {
        let state = match (suspended, job.retries == 0, job.not_before) {
            (true, ..) => JobState::Suspended,
            (false, true, _) => JobState::Failed,
            (false, false, Some(_)) => JobState::Delayed,
            (false, false, None) => JobState::Ready,
        };
        let due_at = job.not_before.filter(|_| state == JobState::Delayed);
        Self { state, retries: job.retries, attempt: job.attempt, due_at }
    }
}

/// End of a job, kept for a while: a repeat of the worker's call is answered alike, and whoever comes too late is told
/// so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnding {
    /// The organisation.
    pub tenant: TenantId,
    /// The job.
    pub id: JobId,
    /// Type of the job.
    pub job_type: String,
    /// Kind of the instance that the job was of.
    pub instance_kind: DefinitionKind,
    /// Run of the job.
    pub run: RunId,
    /// Workflow of the run.
    pub workflow: WorkflowId,
    /// The element's id.
    pub node_id: String,
    /// Worker that held it.
    pub worker: Option<String>,
    /// Epoch under which its worker ended it; 0 when it was withdrawn.
    pub epoch: i64,
    /// Kind of the end.
    pub outcome: JobOutcome,
    /// SHA-256 (hex) of what the worker sent.
    pub digest: String,
    /// Instant of the end.
    pub ended_at: Timestamp,
}

impl JobEnding {
    /// Key of the job in access decisions.
    #[must_use]
    pub fn key(&self) -> Key<resource::Job> {
        let of = InstanceKey::of_stored(self.tenant, self.instance_kind, self.run, self.workflow);
        key_of(&of, &self.job_type)
    }
}

/// A job that is open, or that ended a while ago.
#[derive(Debug, Clone, PartialEq)]
pub enum KnownJob {
    /// Job that is open.
    Open(Box<Job>),
    /// Job that ended.
    Ended(Box<JobEnding>),
}

impl KnownJob {
    /// The job.
    #[must_use]
    pub fn id(&self) -> JobId {
        match self {
            Self::Open(job) => job.id,
            Self::Ended(ending) => ending.id,
        }
    }

    /// Key of the job in access decisions.
    #[must_use]
    pub fn key(&self) -> Key<resource::Job> {
        match self {
            Self::Open(job) => job.key(),
            Self::Ended(ending) => ending.key(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_positive_and_follows_the_id() {
        let ids = [
            "01890a5d-ac96-774b-bcce-b302099a8057",
            "01890a5d-ac96-874b-bcce-b302099a8058",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ];
        let numbers = ids.map(|id| number_of(Uuid::parse_str(id).unwrap()));
        assert!(numbers.iter().all(|number| *number > 0), "{numbers:?}");
        assert_ne!(numbers[0], numbers[1]);
    }

    #[test]
    fn a_job_of_a_case_stands_within_it_and_not_within_a_run() {
        let key = |kind| {
            let ids = (RunId(Uuid::from_u128(2)), WorkflowId(Uuid::from_u128(3)));
            key_of(&InstanceKey::of_stored(TenantId(Uuid::from_u128(1)), kind, ids.0, ids.1), "ship")
        };
        let (of_run, of_case) = (key(DefinitionKind::Workflow), key(DefinitionKind::Case));
        assert!(matches!(of_run.place(), EitherPlace::One(place) if place.id() == RunId(Uuid::from_u128(2))));
        assert!(
            matches!(of_case.place(), EitherPlace::Other(place) if place.id() == CaseId(Uuid::from_u128(2)))
        );
        assert_ne!(of_run, of_case);
    }
}
