//! Store of jobs for external workers. Their rows are written with the steps of their runs ([`super::RunWrite`]); what
//! workers take and give back goes through the group commit as well.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{DefinitionKind, JobId, Page, PageRequest, RunId, TenantId, Timestamp, WorkflowId};
use heddle_policy::{AccessFilter, RuleId, resource};
use heddle_settings::service::is_own_type;
use heddle_usecase::StoreError;
use parking_lot::Mutex;
use uuid::Uuid;

use crate::records::{Job, JobEnding, JobStand, JobState, KnownJob, type_id};

/// A change of a job's row by a step of its run.
#[derive(Debug, Clone, PartialEq)]
pub enum JobChange {
    /// A new one.
    Open(Box<Job>),
    /// Another stand: whoever held it holds it no more, but for what `stays` says.
    Stand {
        /// The job.
        job: JobId,
        /// Type of the job.
        job_type: String,
        /// The stand from now on.
        stand: JobStand,
        /// Reason of the failure that led to it; what was said before stays without one.
        message: Option<String>,
        /// Epoch that it must have now, where a worker asks; otherwise the unit is `Stale`.
        epoch: Option<i64>,
        /// Whether it stays with whoever holds it: a job of the service, which is done to its end while its run is suspended.
        stays: bool,
    },
    /// The end by a worker, who must hold it under the ending's epoch; otherwise the unit is `Stale`.
    End(Box<JobEnding>),
    /// The end by anything else.
    Withdraw(Box<JobEnding>),
}

/// Type of jobs that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WantedType {
    /// The type.
    pub name: String,
    /// Ids of the instances and definitions of which alone it is given out; all when absent.
    pub within: Option<Vec<Uuid>>,
    /// Part to which the worker narrows it.
    pub narrowed: Narrowed,
}

/// Part of the jobs of a type that a worker asks for. What is absent narrows nothing; an empty list leaves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Narrowed {
    /// The caller's own name for the run.
    pub business_key: Option<String>,
    /// Ids of the processes.
    pub processes: Option<Vec<String>>,
    /// Versions of processes.
    pub versions: Option<Vec<ProcessVersion>>,
}

/// A version of a process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProcessVersion {
    /// Id of the process within the definition.
    pub process_id: String,
    /// Version of the workflow.
    pub version: i32,
    /// The workflow.
    pub workflow: WorkflowId,
}

/// Place in the order in which jobs are given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobPlace {
    /// Priority of the job there.
    pub priority: i64,
    /// Place of it within the priority.
    pub place: Timestamp,
    /// The job.
    pub job: JobId,
}

/// Jobs that are looked at before some of them are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    /// Types of the jobs, each once.
    pub types: Vec<WantedType>,
    /// Ids of the instances and definitions of which nothing is given out.
    pub denied: Vec<Uuid>,
    /// Kind of the instances of none of which anything is given out.
    pub denied_kind: Option<DefinitionKind>,
    /// The place behind which they stand; from the first on when absent.
    pub behind: Option<JobPlace>,
    /// The most jobs.
    pub most: u32,
}

/// Jobs that were looked at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FreeJobs {
    /// Jobs that may be had, in the order in which they are given out.
    pub jobs: Vec<TakenJob>,
    /// Number of jobs that were looked at for them.
    pub looked_at: usize,
    /// The place behind which there may be others; none at the end.
    pub behind: Option<JobPlace>,
}

/// Jobs that a worker asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    /// Types of the jobs, each once.
    pub types: Vec<WantedType>,
    /// Ids of the instances and definitions of which nothing is given out.
    pub denied: Vec<Uuid>,
    /// Kind of the instances of none of which anything is given out.
    pub denied_kind: Option<DefinitionKind>,
    /// Name of the worker.
    pub worker: String,
    /// Jobs of which alone some are taken, found before by [`Candidates`] of the same worker: they fulfil its conditions,
    /// and only their being free is looked at. Any when absent. With none it notes what ran out, and takes nothing.
    pub only: Option<Vec<JobId>>,
    /// The most jobs.
    pub most: u32,
    /// The present instant.
    pub now: Timestamp,
    /// End of the lock.
    pub until: Timestamp,
    /// Place for the jobs that were taken.
    pub taken: TakenJobs,
}

impl WantedType {
    /// Whether every job of the type is wanted.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.within.is_none() && self.narrowed == Narrowed::default()
    }
}

impl Activation {
    /// Whether it takes jobs, rather than noting what ran out.
    #[must_use]
    pub fn takes(&self) -> bool {
        self.only.as_ref().is_none_or(|only| !only.is_empty())
    }
}

/// A job that a worker took.
#[derive(Debug, Clone, PartialEq)]
pub struct TakenJob {
    /// The job.
    pub job: Job,
    /// Revision that the run had when the job was taken.
    pub run_revision: i64,
}

/// Place in which the store leaves the jobs that an activation took, in the order in which they are given out: what a
/// unit is answered says only whether it is durable. It counts when the unit was.
#[derive(Debug, Clone, Default)]
pub struct TakenJobs(Arc<Mutex<Taken>>);

/// Outcome of an activation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Taken {
    /// Jobs that were taken.
    pub jobs: Vec<TakenJob>,
    /// Number of jobs whose lock or delay was found to have run out, by type: any worker may have them now.
    pub ran_out: BTreeMap<String, usize>,
}

impl TakenJobs {
    /// Puts an outcome in the place of what a try before this one left.
    pub fn put(&self, mut taken: Taken) {
        taken.jobs.sort_by(|one, other| {
            let order = |taken: &TakenJob| (-i128::from(taken.job.priority), taken.job.place, taken.job.id);
            order(one).cmp(&order(other))
        });
        *self.0.lock() = taken;
    }

    /// Takes the outcome out.
    #[must_use]
    pub fn take(&self) -> Taken {
        std::mem::take(&mut *self.0.lock())
    }
}

impl PartialEq for TakenJobs {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for TakenJobs {}

/// A change of a lock that its holder asks for. The unit is `Stale` when the job is not held under the epoch any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockChange {
    /// The job.
    pub job: JobId,
    /// Epoch under which it is held.
    pub epoch: i64,
    /// The present instant: a lock that ran out by then is none.
    pub now: Timestamp,
    /// New end of the lock; absent gives the job back.
    pub until: Option<Timestamp>,
}

/// Filter for open jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFilter {
    /// Type of the jobs.
    pub job_type: Option<String>,
    /// State of the jobs.
    pub state: Option<JobState>,
    /// Run of the jobs.
    pub run: Option<RunId>,
    /// Workflow of the jobs.
    pub workflow: Option<WorkflowId>,
    /// Worker that holds them.
    pub worker: Option<String>,
}

/// Jobs that a caller may act on, in the words of the store: rules name jobs by their type, or by the run or workflow, or
/// the case or case type, that they stand within.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobReach {
    /// Whether every job is allowed that is not denied.
    pub all: bool,
    /// Types that are allowed, unless all are.
    pub types: Vec<RuleId>,
    /// Types that are denied.
    pub denied_types: Vec<RuleId>,
    /// Ids of the instances and definitions of which all jobs are allowed.
    pub within: Vec<Uuid>,
    /// Ids of the instances and definitions of which all jobs are denied.
    pub denied_within: Vec<Uuid>,
    /// Kind of the instances of all of which the jobs are denied; of both it is nothing that is reached.
    pub denied_kind: Option<DefinitionKind>,
}

impl JobReach {
    /// Reach of an access filter.
    #[must_use]
    pub fn of(access: &AccessFilter<resource::Job>) -> Self {
        let uuids = |ids: &[RuleId]| -> Vec<Uuid> {
            let uuid = |id: &RuleId| match id {
                RuleId::Uuid(id) => Some(*id),
                RuleId::Name(_) => None,
            };
            ids.iter().filter_map(uuid).collect()
        };
        if access.is_empty() {
            return Self::default();
        }
        let (types, denied_types) = (access.listed(), access.denied());
        let mut denied_within = uuids(&denied_types);
        denied_within.extend(access.denied_within::<resource::Run>().iter().map(|run| run.0));
        denied_within.extend(access.denied_within::<resource::Workflow>().iter().map(|workflow| workflow.0));
        denied_within.extend(access.denied_within::<resource::Case>().iter().map(|case| case.0));
        denied_within
            .extend(access.denied_within::<resource::CaseType>().iter().map(|case_type| case_type.0));
        let of_runs =
            access.denies_all_within::<resource::Run>() || access.denies_all_within::<resource::Workflow>();
        let of_cases =
            access.denies_all_within::<resource::Case>() || access.denies_all_within::<resource::CaseType>();
        let denied_kind = match (of_runs, of_cases) {
            (true, true) => return Self::default(),
            (true, false) => Some(DefinitionKind::Workflow),
            (false, true) => Some(DefinitionKind::Case),
            (false, false) => None,
        };
        let (all, within) = (access.all(), uuids(&types));
        Self { all, types, denied_types, within, denied_within, denied_kind }
    }

    /// The part of a type that is reached; none when nothing of it is.
    #[must_use]
    pub fn wanted(&self, name: &str) -> Option<WantedType> {
        let id = type_id(name);
        // The service's own are for no worker.
        if is_own_type(name) || self.denied_types.contains(&id) {
            return None;
        }
        let within = match self.all || self.types.contains(&id) {
            true => None,
            false if self.within.is_empty() => return None,
            false => Some(self.within.clone()),
        };
        Some(WantedType { name: name.to_owned(), within, narrowed: Narrowed::default() })
    }
}

/// Keeps jobs. All methods answer `Unavailable` when the database does not.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait JobStore: Send + Sync {
    /// A job that is open, or that ended a while ago.
    async fn job(&self, tenant: TenantId, job: JobId) -> Result<KnownJob, StoreError>;
    /// The same by its number; `NotFound` also where several open jobs should have it.
    async fn job_by_number(&self, tenant: TenantId, number: i64) -> Result<KnownJob, StoreError>;
    /// A page of the open jobs that `access` lets through, those of the oldest runs first.
    async fn jobs(
        &self,
        tenant: TenantId,
        filter: &JobFilter,
        access: &AccessFilter<resource::Job>,
        now: Timestamp,
        page: &PageRequest,
    ) -> Result<Page<Job>, StoreError>;
    /// The first jobs that may be taken and are not held, in the order in which they are given out; what ran out counts
    /// once an activation noted it. It goes through a bounded number of the types' jobs, whatever fits of them.
    async fn free_jobs(&self, tenant: TenantId, wanted: &Candidates) -> Result<FreeJobs, StoreError>;
    /// The earliest instant after `now` at which a lock or a delay of one of these types runs out.
    async fn next_due_job(
        &self,
        tenant: TenantId,
        types: &[WantedType],
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError>;
}
