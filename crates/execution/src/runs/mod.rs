//! Instances, which are runs and cases: start, read, act, end; human tasks; events from outside and thrown ones; timers.

mod act;
mod advance;
mod calls;
mod claims;
mod correlation;
mod dead_letters;
mod decide;
mod due;
mod elsewhere;
mod evaluate;
mod feed;
mod forms;
mod jobs;
mod locks;
mod opening;
mod processes;
mod read;
mod recent;
mod start;
mod stepping;
mod tasks;
mod told;

pub use crate::plan::{StartOf, StartRun};
pub use correlation::{CaseEvent, MessageCall, Received, SignalCall};
pub use decide::{Cancellation, Decision, DecisionKind};
pub use evaluate::{DecisionCall, DecisionResult};
pub use feed::{FeedEvent, FeedFilter, FeedLook};
pub use heddle_engine::ProtectionViolated;
pub use jobs::{
    ActivateJobs, ActivatedJob, DEFAULT_JOBS, DEFAULT_LAPSES, DEFAULT_LOCK_MS, JobCondition, JobError,
    JobFailure, MAX_JOBS, MAX_LOCK_MS, MAX_TYPES, MAX_WAIT_MS, TakenOwn,
};
pub use locks::Locks;
pub use opening::CASE_FILE;
pub use processes::{ProcessName, PublishedProcess, instance_number, process_number};
pub use read::{EventFilter, ListedRun, RunView, StoredEvent};
pub use tasks::{Assignment, Completion, MyTasks, TaskView, item_completion};

use std::sync::Arc;
use std::time::Duration;

use heddle_engine::Budget;
use heddle_kernel::{Clock, IdSource};
use heddle_usecase::Compute;

use self::forms::Forms;
use self::jobs::{JobLines, Sifting};
use self::processes::Processes;
use self::recent::RecentRuns;
use crate::limits::Limits;
use crate::ports::{
    Always, Committer, Directory, EventSubscribers, JobStore, Kinds, Notifier, Permit, RunStore, WorkStore,
};

/// Retention of an event that nobody waits for, in seconds.
pub const BUFFER_SECONDS: i64 = 24 * 3600;

/// Time after which a step that is not done is given up: far more than the budgets allow on any machine that works.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The ports that runs need.
#[derive(Clone)]
pub struct RunPorts {
    /// Store from which runs are read.
    pub runs: Arc<dyn RunStore>,
    /// Store from which jobs are read.
    pub jobs: Arc<dyn JobStore>,
    /// Store of background work and dead letters.
    pub work: Arc<dyn WorkStore>,
    /// Group commit through which runs are written.
    pub committer: Arc<dyn Committer>,
    /// Receiver of the notices after a commit.
    pub hub: Arc<dyn Notifier>,
    /// Versions of the definitions, by kind.
    pub versions: Kinds,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
    /// Rates of each organisation.
    pub limits: Arc<Limits>,
    /// Threads for steps that turn out to be large.
    pub compute: Arc<dyn Compute>,
    /// The present time, for what no caller asked for.
    pub clock: Arc<dyn Clock>,
    /// Directory of the members whom tasks mean.
    pub directory: Arc<dyn Directory>,
}

impl std::fmt::Debug for RunPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunPorts").finish_non_exhaustive()
    }
}

/// The use cases of instances.
pub struct Runs {
    ports: RunPorts,
    locks: Locks,
    budget: Budget,
    recent: RecentRuns,
    processes: Processes,
    forms: Forms,
    patience: Duration,
    lines: JobLines,
    sifting: Sifting,
    job_poll: Option<Duration>,
    most_lapses: u32,
    subscribers: Option<Arc<dyn EventSubscribers>>,
    permit: Arc<dyn Permit>,
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").finish_non_exhaustive()
    }
}

impl Runs {
    /// Builds the use cases on their ports.
    #[must_use]
    pub fn new(ports: RunPorts) -> Self {
        Self {
            ports,
            locks: Locks::default(),
            budget: Budget::DEFAULT,
            recent: RecentRuns::new(0),
            processes: Processes::default(),
            forms: Forms::default(),
            patience: PATIENCE,
            lines: JobLines::default(),
            sifting: Sifting::default(),
            job_poll: None,
            most_lapses: jobs::DEFAULT_LAPSES,
            subscribers: None,
            permit: Arc::new(Always),
        }
    }

    /// The same with those who are told of events.
    #[must_use]
    pub fn with_subscribers(self, subscribers: Arc<dyn EventSubscribers>) -> Self {
        Self { subscribers: Some(subscribers), ..self }
    }

    /// The same where jobs are handed out only while work may begin.
    #[must_use]
    pub fn with_permit(self, permit: Arc<dyn Permit>) -> Self {
        Self { permit, ..self }
    }

    /// The same with room for so many bytes of runs that were committed last: their next step does not read them.
    #[must_use]
    pub fn with_recent(self, bytes: u64) -> Self {
        Self { recent: RecentRuns::new(bytes), ..self }
    }

    /// The same with another time after which a step is given up.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same where other nodes open jobs, too, of which nobody tells this one: workers that wait look so often.
    #[must_use]
    pub fn with_job_poll(self, poll: Option<Duration>) -> Self {
        Self { job_poll: poll, ..self }
    }

    /// The same with another number of times that the lock of a job may run out before the job is set aside.
    #[must_use]
    pub fn with_job_lapses(self, most_lapses: u32) -> Self {
        Self { most_lapses, ..self }
    }

    /// The same within other budgets of steps and runs.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }
}
