//! One step of one run: load, decide, write, tell.

use heddle_engine::{Actor, Budget, Command, Rejection, Remark, RunContext};
use heddle_kernel::{RunId, TenantId, Timestamp};
use heddle_policy::{Key, resource};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use super::Runs;
use super::stepping::PlannedStep;
use crate::models::CompiledVersion;
use crate::plan::{Initiator, StepContext, write_of};
use crate::ports::{RunWrite, Transaction};
use crate::records::{BindingKind, Run};
use crate::{JournalFor, Problem, UseCaseError};

/// Most tries of a step when another node is faster.
const ATTEMPTS: usize = 5;

impl Runs {
    /// Loads a run of the workflow that its key claims; another workflow's run is not there.
    pub(super) async fn load(&self, key: &Key<resource::Run>) -> Result<Run, UseCaseError> {
        Ok(self.ports.runs.find(key).await?)
    }

    /// The rows of one command on a loaded run.
    pub(super) async fn step_of(
        &self,
        run: Run,
        command: Command,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        self.step_with(run, command, by, None).await
    }

    /// The same with what the caller says about it.
    async fn step_with(
        &self,
        run: Run,
        command: Command,
        by: Initiator,
        remark: Option<&Remark>,
    ) -> Result<RunWrite, UseCaseError> {
        let model = self.ports.models.version(run.tenant, run.workflow, run.version).await?;
        let completed = if let Command::CompleteTask { task_id, .. } = &command {
            by.user.map(|user| (*task_id, user))
        } else {
            None
        };
        let planned = PlannedStep {
            tenant: run.tenant,
            version: &model,
            process: &run.process_id,
            state: &run.snapshot,
            command,
            context: RunContext { remark: remark.cloned(), ..run_context(&run, &model, by, self.budget) },
            asked: by.user.is_some(),
        };
        let stepped = self.stepped(planned).await?.ok_or_else(|| lost(&run))?;
        let before = run.snapshot.clone();
        let happening = StepContext { now: by.now, completed, hops: by.hops, ids: &*self.ports.ids };
        write_of(run, Some(&before), stepped, &happening)
    }

    /// Carries a command out on one run: `choose` sees the run under its lock and says what to do; `None` means that
    /// nothing is left to do, and the run is the answer as it is.
    pub(super) async fn advance<C>(
        &self,
        key: &Key<resource::Run>,
        by: Initiator,
        choose: C,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError>
    where
        C: Fn(&Run) -> Result<Option<Command>, UseCaseError> + Send + Sync,
    {
        self.advance_with(key, by, None, choose, record).await
    }

    /// The same with what the caller says about it, which the history keeps.
    pub(super) async fn advance_with<C>(
        &self,
        key: &Key<resource::Run>,
        by: Initiator,
        remark: Option<&Remark>,
        choose: C,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError>
    where
        C: Fn(&Run) -> Result<Option<Command>, UseCaseError> + Send + Sync,
    {
        let held = self.locks.hold(key.id()).await;
        let mut attempt = 0;
        let run = loop {
            attempt += 1;
            let run = self.load(key).await?;
            let Some(command) = choose(&run)? else { return Ok(run) };
            let write = self.step_with(run, command, by, remark).await?;
            let run = write.run.clone();
            let unit = record(&run);
            match self.commit_runs(key.tenant(), vec![write], unit).await {
                Err(StoreError::Stale) if attempt < ATTEMPTS => {}
                other => {
                    other?;
                    break run;
                }
            }
        };
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
    pub(super) async fn commit(&self, unit: Transaction) -> Result<(), StoreError> {
        let told: Vec<CommitNotice> = unit.runs.iter().map(CommitNotice::of).collect();
        self.ports.committer.commit(unit).await?;
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
        }
        Ok(())
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
}

impl CommitNotice {
    fn of(write: &RunWrite) -> Self {
        Self {
            tenant: write.run.tenant,
            run: write.run.id,
            last_sequence: write.run.last_sequence,
            due: write.timers_added.iter().map(|timer| timer.due_at).min(),
            thrown: !write.outgoing.is_empty(),
            listens: write.subscriptions_added.iter().any(|row| row.kind == BindingKind::Message),
        }
    }
}

fn lost(run: &Run) -> UseCaseError {
    UseCaseError::Internal(format!("version {} of {} lost `{}`", run.version, run.workflow, run.process_id))
}

pub(super) fn run_context(run: &Run, model: &CompiledVersion, by: Initiator, budget: Budget) -> RunContext {
    RunContext {
        run_id: run.id,
        now: by.now,
        correlation_key: run.correlation_key.clone(),
        actor: by.user.map(|user_id| Actor { user_id }),
        decisions: model.decisions.clone(),
        hops: by.hops,
        budget,
        remark: None,
    }
}

/// Refusal of a command by the engine, in the words of the API.
pub(super) fn refused(refusal: Rejection) -> UseCaseError {
    let message = refusal.to_string();
    let invalid =
        |field: &str, reason, message| UseCaseError::Invalid(vec![Problem::at(field, reason, message)]);
    match refusal {
        Rejection::AlreadyEnded => UseCaseError::conflict("ended", message),
        Rejection::Suspended => UseCaseError::conflict("suspended", message),
        Rejection::NotSuspended => UseCaseError::conflict("notSuspended", message),
        Rejection::StartNotDetermined(_) => invalid("startNodeId", "required", message),
        Rejection::UnknownStart(_) => invalid("startNodeId", "notStartable", message),
        Rejection::UnknownOutcome { .. } => invalid("outcome", "notAllowed", message),
        Rejection::InvalidTarget(_) => invalid("target", "unknownNode", message),
        Rejection::UnknownTask(_)
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
        Rejection::NotStarted | Rejection::AlreadyStarted | Rejection::WrongGraph(_) => {
            UseCaseError::Internal(message)
        }
    }
}
