//! One step of one run: load, decide, write, tell.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_engine::{Actor, Budget, Command, Rejection, Remark, RunContext};
use heddle_kernel::{DefinitionKind, RunId, TenantId, Timestamp};
use heddle_policy::InstanceKey;
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use super::Runs;
use super::stepping::PlannedStep;
use crate::compiled::{CompiledVersion, Plan};
use crate::plan::Initiator;
use crate::ports::{JobChange, RunWrite, StoreWrite, Transaction};
use crate::records::{BindingKind, JobState, Run};
use crate::{JournalFor, Problem, UseCaseError};

/// Most tries of a step when another node is faster.
const ATTEMPTS: u32 = 5;

/// Words and roles of the caller, beside the command.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Said<'a> {
    /// Remark of the caller about it, which the history keeps.
    pub remark: Option<&'a Remark>,
    /// Case roles of the caller: names of the groups and roles that they have.
    pub roles: &'a [String],
}

impl Runs {
    /// Loads an instance of the kind and the definition that its key claims; another one is not there.
    pub(super) async fn load(&self, key: &InstanceKey) -> Result<Run, UseCaseError> {
        Ok(self.ports.runs.find(key).await?)
    }

    /// The compiled version that an instance follows.
    pub(super) async fn version_of(&self, run: &Run) -> Result<Arc<CompiledVersion>, UseCaseError> {
        self.ports.versions.of(run.kind)?.plan(run.tenant, run.workflow, run.version).await
    }

    /// The compiled model that an instance follows.
    pub(super) async fn plan_of(&self, run: &Run) -> Result<Plan, UseCaseError> {
        self.version_of(run).await?.plan(&run.process_id).ok_or_else(|| lost(run))
    }

    /// The rows of one command on a loaded run.
    pub(super) async fn step_of(
        &self,
        run: Run,
        command: Command,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        self.step_with(run, command, by, Said::default(), Vec::new()).await
    }

    /// The same behind another step of the unit.
    pub(super) async fn step_behind(
        &self,
        first: &RunWrite,
        command: Command,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        self.step_with(first.run.clone(), command, by, Said::default(), first.stores.clone()).await
    }

    /// The same with what the caller says about it.
    async fn step_with(
        &self,
        run: Run,
        command: Command,
        by: Initiator,
        said: Said<'_>,
        written: Vec<StoreWrite>,
    ) -> Result<RunWrite, UseCaseError> {
        let model = self.version_of(&run).await?;
        let context = RunContext {
            remark: said.remark.cloned(),
            roles: said.roles.to_vec(),
            ..run_context(&run, &model, by, self.budget)
        };
        self.stepped(PlannedStep { run, is_new: false, version: model, command, context, by, written }).await
    }

    /// Carries a command out on one run: `choose` sees the run under its lock and says what to do; `None` means that
    /// nothing is left to do, and the run is the answer as it is.
    pub(super) async fn advance<C>(
        &self,
        key: &InstanceKey,
        by: Initiator,
        choose: C,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError>
    where
        C: Fn(&Run) -> Result<Option<Command>, UseCaseError> + Send + Sync,
    {
        self.advance_with(key, by, Said::default(), choose, record).await
    }

    /// The same with what the caller says about it, which the history keeps.
    pub(super) async fn advance_with<C>(
        &self,
        key: &InstanceKey,
        by: Initiator,
        said: Said<'_>,
        choose: C,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError>
    where
        C: Fn(&Run) -> Result<Option<Command>, UseCaseError> + Send + Sync,
    {
        self.advance_amended(key, by, said, choose, &|_| Ok(()), record).await
    }

    /// The same with what the step's rows have to say beside what the engine decided.
    pub(super) async fn advance_amended<C>(
        &self,
        key: &InstanceKey,
        by: Initiator,
        said: Said<'_>,
        choose: C,
        amend: &(dyn Fn(&mut RunWrite) -> Result<(), UseCaseError> + Send + Sync),
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError>
    where
        C: Fn(&Run) -> Result<Option<Command>, UseCaseError> + Send + Sync,
    {
        let held = self.locks.hold(key.id()).await;
        // Whose a run is, is told by what is stored.
        let mut kept = self.recent.take(key).filter(|_| key.owner().is_none());
        let mut attempt = 0;
        let run = loop {
            // What was kept may be older than what is stored: nothing is refused because of it.
            let is_kept = kept.is_some();
            attempt += u32::from(!is_kept);
            let run = match kept.take() {
                Some(run) => run,
                None => self.load(key).await?,
            };
            let write = match choose(&run) {
                Ok(Some(command)) => self.step_with(run, command, by, said, Vec::new()).await,
                Ok(None) if is_kept => continue,
                Ok(None) => return Ok(run),
                Err(error) => Err(error),
            };
            let write = write.and_then(|mut write| {
                amend(&mut write)?;
                Ok(write)
            });
            let write = match write {
                Ok(write) => write,
                Err(error) if is_kept && is_of_the_state(&error) => continue,
                Err(error) => return Err(error),
            };
            let run = write.run.clone();
            let unit = record(&run);
            match self.commit_runs(key.tenant(), vec![write], unit).await {
                Err(StoreError::Stale) if is_kept || attempt < ATTEMPTS => {}
                other => {
                    other?;
                    break run;
                }
            }
        };
        self.recent.keep(&run);
        drop(held);
        Ok(run)
    }

    pub(super) async fn commit_runs(
        &self,
        tenant: TenantId,
        runs: Vec<RunWrite>,
        unit: Journal,
    ) -> Result<(), StoreError> {
        self.commit(Transaction { tenant: Some(tenant), runs, unit, ..Transaction::default() }).await
    }

    /// Commits and tells everybody who waits for what is in it.
    pub(super) async fn commit(&self, mut unit: Transaction) -> Result<(), StoreError> {
        self.add_errands(&mut unit).await?;
        let asks = !unit.errands.is_empty();
        let told: Vec<CommitNotice> = unit.runs.iter().map(CommitNotice::of).collect();
        told.iter().for_each(|one| self.recent.forget(one.run));
        self.ports.committer.commit(unit).await?;
        if asks {
            self.ports.hub.errand_asked();
        }
        for one in told {
            self.ports.hub.run_changed(one.tenant, one.run, one.last_sequence);
            if let Some(due) = one.due {
                self.ports.hub.timer_set(due);
            }
            if one.thrown {
                self.ports.hub.outbox_changed();
            }
            if one.listens {
                self.ports.hub.message_awaited();
            }
            for (job_type, count) in &one.jobs {
                self.lines.opened(one.tenant, job_type, *count);
            }
            for (job_type, due) in &one.delayed {
                self.lines.due(one.tenant, job_type, *due);
            }
        }
        Ok(())
    }
}

/// Whether an error may be due to the state that a step began in.
const fn is_of_the_state(error: &UseCaseError) -> bool {
    match error {
        UseCaseError::NotFound
        | UseCaseError::Invalid(_)
        | UseCaseError::Conflict(_)
        | UseCaseError::Forbidden(_)
        | UseCaseError::Internal(_) => true,
        UseCaseError::Unauthenticated
        | UseCaseError::LimitReached { .. }
        | UseCaseError::Throttled { .. }
        | UseCaseError::RateLimited { .. }
        | UseCaseError::Busy
        | UseCaseError::QueueFull { .. }
        | UseCaseError::Abandoned { .. }
        | UseCaseError::Unavailable(_) => false,
    }
}

/// Notice of a committed step: the data that the others have to know.
struct CommitNotice {
    tenant: TenantId,
    run: RunId,
    last_sequence: u64,
    due: Option<Timestamp>,
    thrown: bool,
    listens: bool,
    /// Jobs that may be taken from now on, by type.
    jobs: BTreeMap<String, usize>,
    /// Jobs that may be taken from an instant on.
    delayed: Vec<(String, Timestamp)>,
}

impl CommitNotice {
    fn of(write: &RunWrite) -> Self {
        let (mut jobs, mut delayed) = (BTreeMap::new(), Vec::new());
        for change in &write.jobs {
            let (job_type, state, due) = match change {
                JobChange::Open(job) => (&job.job_type, job.state, job.due_at),
                JobChange::Stand { job_type, stand, .. } => (job_type, stand.state, stand.due_at),
                JobChange::End(_) | JobChange::Withdraw(_) => continue,
            };
            match (state, due) {
                (JobState::Ready, _) => *jobs.entry(job_type.clone()).or_default() += 1,
                (JobState::Delayed, Some(due)) => delayed.push((job_type.clone(), due)),
                (JobState::Delayed | JobState::Locked | JobState::Failed | JobState::Suspended, _) => {}
            }
        }
        Self {
            jobs,
            delayed,
            tenant: write.run.tenant,
            run: write.run.id,
            last_sequence: write.run.last_sequence,
            due: write.timers_added.iter().map(|timer| timer.due_at).min(),
            thrown: !write.outgoing.is_empty(),
            listens: write.subscriptions_added.iter().any(|row| row.kind == BindingKind::Message),
        }
    }
}

pub(super) fn lost(run: &Run) -> UseCaseError {
    UseCaseError::Internal(format!("version {} of {} lost `{}`", run.version, run.workflow, run.process_id))
}

pub(super) fn run_context(run: &Run, model: &CompiledVersion, by: Initiator, budget: Budget) -> RunContext {
    RunContext {
        run_id: run.id,
        now: by.now,
        correlation_key: run.correlation_key.clone(),
        actor: by.user.map(|user_id| Actor { user_id }),
        decisions: model.decisions.clone(),
        elsewhere: None,
        // A run that was called is as far from what began it as its calls.
        hops: by.hops.max(run.depth()),
        budget,
        remark: None,
        stores: BTreeMap::new(),
        roles: Vec::new(),
        people: BTreeMap::new(),
    }
}

/// Words of a refusal that name what it is about: the engine speaks of runs, whatever kind its instance is of.
fn words(kind: DefinitionKind, refusal: &Rejection) -> String {
    match (kind, refusal) {
        (DefinitionKind::Case, Rejection::AlreadyEnded) => "the case has ended".to_owned(),
        (DefinitionKind::Case, Rejection::Suspended) => "the case is suspended".to_owned(),
        (DefinitionKind::Case, Rejection::NotSuspended) => "the case is not suspended".to_owned(),
        (DefinitionKind::Case, Rejection::UnknownCall(run)) => {
            format!("the case does not wait for the run {run}")
        }
        (DefinitionKind::Case, Rejection::TooLarge { budget, most, value }) => {
            format!("the budget `{budget}` of the case allows {most} and not {value}")
        }
        (DefinitionKind::Case, Rejection::Full { budget, most }) => {
            format!("the case has used up its budget `{budget}` of {most}")
        }
        (DefinitionKind::Workflow | DefinitionKind::Case, other) => other.to_string(),
    }
}

/// Refusal of a command to an instance of a kind by the engine, in the words of the API.
pub(super) fn refused(kind: DefinitionKind, refusal: Rejection) -> UseCaseError {
    let message = words(kind, &refusal);
    let invalid =
        |field: &str, reason, message| UseCaseError::Invalid(vec![Problem::at(field, reason, message)]);
    match refusal {
        Rejection::AlreadyEnded => UseCaseError::conflict("ended", message),
        Rejection::Suspended | Rejection::ItemSuspended(_) => UseCaseError::conflict("suspended", message),
        Rejection::NotSuspended => UseCaseError::conflict("notSuspended", message),
        Rejection::StartNotDetermined(_) => invalid("startNodeId", "required", message),
        Rejection::NoConditionHolds(_) => invalid("input", "noConditionHolds", message),
        Rejection::NoInputSet(missing) => {
            let problem = |name: String| {
                Problem::at(format!("input.{name}"), "required", "An input set of the process needs it.")
            };
            UseCaseError::Invalid(missing.into_iter().map(problem).collect())
        }
        Rejection::WrongCondition { .. } => invalid("input", "wrongCondition", message),
        Rejection::UnknownStart(_) => invalid("startNodeId", "notStartable", message),
        Rejection::UnknownOutcome { .. } => invalid("outcome", "notAllowed", message),
        Rejection::InvalidTarget(_) => invalid("target", "unknownNode", message),
        Rejection::UnknownJob(_) => {
            let message = "The job was ended or withdrawn, or its run or case has ended.";
            UseCaseError::conflict("jobGone", message)
        }
        Rejection::UnknownTask(_)
        | Rejection::UnknownCall(_)
        | Rejection::UnknownTimer(_)
        | Rejection::NotDue(_)
        | Rejection::UnknownSubscription(_)
        | Rejection::UnknownIncident(_)
        | Rejection::UnknownInstance(_)
        | Rejection::NotWaiting(_) => UseCaseError::conflict("nothingWaits", message),
        // What is refused for its size, or by a run that is full, is so for whoever sends it: a message, too.
        Rejection::TooLarge { .. } | Rejection::Full { .. } => {
            UseCaseError::Invalid(vec![Problem::new("limitExceeded", message)])
        }
        Rejection::CannotSkip(_) => UseCaseError::conflict("cannotSkip", message),
        Rejection::UnknownItem(_) | Rejection::UnknownFileItem(_) => UseCaseError::NotFound,
        Rejection::WrongTransition { .. } => UseCaseError::conflict("wrongTransition", message),
        Rejection::NotCompletable { .. } => UseCaseError::conflict("notCompletable", message),
        Rejection::NotPlannable { .. } => UseCaseError::conflict("notPlannable", message),
        Rejection::OtherKind(_) => UseCaseError::conflict("otherKind", message),
        Rejection::NotAllowed { .. } => UseCaseError::Forbidden(Problem::new("roleMissing", message)),
        Rejection::WrongFileChange { .. } => invalid("value", "wrongFileChange", message),
        // A decision is looked up where a step is taken.
        Rejection::DecisionNeeded(_)
        | Rejection::NotStarted
        | Rejection::AlreadyStarted
        | Rejection::WrongGraph(_) => UseCaseError::Internal(message),
    }
}
