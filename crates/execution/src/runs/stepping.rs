//! Place of a step: where it is asked for while it is small, else on the threads that compute, in the turn of its
//! organisation, with its rows. A step is pure, so that one that turns out to be large is thrown away and done there
//! anew; its version is remembered, and the next steps of it go there at once. What takes longer than any honest step
//! does is given up there, unrecorded: how long that is depends on the machine, so that it never decides what happens
//! to a run.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use heddle_cmmn::plan::{CasePlan, Work};
use heddle_engine::{Attempt, Command, Inline, Rejection, RunContext, step_inline, step_until};
use heddle_kernel::{TaskId, TenantId, UserId};
use heddle_usecase::{Admission, computed};
use serde_json::Value;
use tokio::sync::oneshot;

use super::Runs;
use super::advance::{lost, refused};
use crate::UseCaseError;
use crate::compiled::{CompiledVersion, Plan};
use crate::plan::{Initiator, StepContext, Waits, write_of};
use crate::ports::{RunWrite, StoreWrite};
use crate::records::Run;

/// Estimated bytes of a state from which on it is packed with the step.
const LARGE: u64 = 64 << 10;

/// Step of a run that is to be done.
pub(super) struct PlannedStep {
    /// The run with the state that the step begins in.
    pub run: Run,
    /// Whether it begins with this step.
    pub is_new: bool,
    /// Version of its definition.
    pub version: Arc<CompiledVersion>,
    /// The command.
    pub command: Command,
    /// Context of the command.
    pub context: RunContext,
    /// Instant of the step, and who asks for it.
    pub by: Initiator,
    /// Data stores that a step before this one writes in the same unit.
    pub written: Vec<StoreWrite>,
}

/// Large step with all that it needs.
#[derive(Clone)]
struct Apart {
    run: Run,
    is_new: bool,
    plan: Plan,
    command: Command,
    context: RunContext,
    by: Initiator,
    /// The task that the caller completes, and who that is.
    completed: Option<(TaskId, UserId)>,
}

impl Runs {
    /// Present values of the data stores that a model uses, with what the unit itself has written.
    async fn stores_of(
        &self,
        tenant: TenantId,
        plan: &Plan,
        written: Vec<StoreWrite>,
    ) -> Result<BTreeMap<String, Value>, UseCaseError> {
        let mut names = plan.stores();
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        names.dedup();
        let mut stores = self.ports.runs.data_stores(tenant, &names).await?;
        stores.extend(written.into_iter().map(|own| (own.store, own.value)));
        Ok(stores)
    }

    /// The rows of a step. A decision of another definition that a case asks for on the way is looked up, and the step is
    /// begun anew with it.
    ///
    /// # Errors
    /// A rejection of the engine; `QueueFull`; `Abandoned`; `Internal` when the version has no such process.
    pub(super) async fn stepped(&self, planned: PlannedStep) -> Result<RunWrite, UseCaseError> {
        let PlannedStep { run, is_new, version, command, mut context, by, written } = planned;
        let Some(plan) = version.plan(&run.process_id) else { return Err(lost(&run)) };
        context.stores = self.stores_of(run.tenant, &plan, written).await?;
        context.elsewhere = plan.case().map(|_| BTreeMap::new());
        let completed = if let Command::CompleteTask { task_id, .. } = &command {
            by.user.map(|user| (*task_id, user))
        } else {
            None
        };
        while !version.is_large() {
            let attempt = step_inline(plan.model(), &run.snapshot, &command, &context, Inline::DEFAULT);
            match attempt {
                Ok(Attempt::Done(step)) => {
                    let before = (!is_new).then(|| Waits::of(&run.snapshot));
                    let happening =
                        StepContext { now: by.now, completed, hops: by.hops, ids: &*self.ports.ids };
                    return write_of(run, before, step, &happening);
                }
                Ok(Attempt::Overrun) => version.found_large(),
                Err(Rejection::DecisionNeeded(name)) => {
                    self.look_up(run.tenant, &mut context, name).await?;
                }
                Err(other) => return Err(refused(run.kind, other)),
            }
        }
        self.stepped_apart(Apart { run, is_new, plan, command, context, by, completed }).await
    }

    /// The rows of a large step.
    async fn stepped_apart(&self, mut step: Apart) -> Result<RunWrite, UseCaseError> {
        let kind = step.run.kind;
        loop {
            // A step that asks for a decision begins anew: what it uses up is kept as long as it may.
            let kept = step.plan.case().filter(|plan| decides(plan)).map(|_| step.clone());
            match (self.apart(step).await?, kept) {
                (Err(Rejection::DecisionNeeded(name)), Some(mut again)) => {
                    self.look_up(again.run.tenant, &mut again.context, name).await?;
                    step = again;
                }
                (done, _) => return done.map_err(|refusal| refused(kind, refusal)),
            }
        }
    }

    /// One try of a step on the threads that compute; what the engine rejects is an answer.
    async fn apart(&self, step: Apart) -> Result<Result<RunWrite, Rejection>, UseCaseError> {
        let Apart { mut run, is_new, plan, command, context, by, completed } = step;
        let tenant = run.tenant;
        let (ids, store) = (Arc::clone(&self.ports.ids), Arc::clone(&self.ports.runs));
        let seconds = self.patience.as_secs();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let (begin, began) = oneshot::channel();
        let work = move || {
            // Nobody waits for the begin of what was given up before.
            let _ = begin.send(());
            let before = (!is_new).then(|| Waits::of(&run.snapshot));
            let state = std::mem::take(&mut run.snapshot);
            let step = match step_until(plan.model(), state, command, &context, &flag) {
                Ok(Some(step)) => step,
                Ok(None) => return Err(UseCaseError::Abandoned { seconds }),
                Err(rejection) => return Ok(Err(rejection)),
            };
            let happening = StepContext { now: by.now, completed, hops: by.hops, ids: &*ids };
            let mut write = write_of(run, before, step, &happening)?;
            if write.run.snapshot.bytes() > LARGE {
                write.packed = store.pack(&write.run.snapshot)?;
            }
            Ok(Ok(write))
        };
        let admission = if by.user.is_some() { Admission::Refuse } else { Admission::Take };
        let computing = computed(&*self.ports.compute, tenant, admission, work);
        tokio::select! {
            biased;
            written = computing => written?,
            never = give_up(began, self.patience, &stop) => match never {},
        }
    }
}

/// Whether a case may evaluate decisions.
fn decides(plan: &CasePlan) -> bool {
    plan.items.iter().any(|item| matches!(item.work, Work::Decision { .. }))
}

/// Sets the flag when so much time has passed since the begin; the work itself then says that it ended.
pub(super) async fn give_up(
    began: oneshot::Receiver<()>,
    patience: Duration,
    stop: &AtomicBool,
) -> Infallible {
    if began.await.is_ok() {
        tokio::time::sleep(patience).await;
        stop.store(true, Ordering::Relaxed);
    }
    std::future::pending().await
}
