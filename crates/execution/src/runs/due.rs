//! Due work: timers of runs and timer starts.

use std::sync::atomic::{AtomicBool, Ordering};

use heddle_bpmn_graph::Schedule;
use heddle_engine::{Command, Trigger};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use super::Runs;
use crate::UseCaseError;
use crate::plan::{Initiator, NewInstance};
use crate::ports::{BindingAdvance, Transaction};
use crate::records::{DueTimer, Run, StartBinding, TriggerKind, TriggerRecord, WorkKey};

impl Runs {
    /// Fires a timer of a run. A timer that fired already or was withdrawn is passed over, so that it fires once.
    ///
    /// # Errors
    /// `Unavailable`; `Internal`.
    pub async fn fire(&self, due: &DueTimer) -> Result<(), UseCaseError> {
        let by = Initiator::new(self.ports.clock.now().max(due.due_at), None);
        let key = match self.ports.runs.load_any(due.tenant, due.run).await {
            Ok(run) => run.key(),
            Err(StoreError::NotFound) => return self.forget(due).await,
            Err(error) => return Err(error.into()),
        };
        let gone = AtomicBool::new(false);
        let choose = |run: &Run| {
            gone.store(false, Ordering::Relaxed);
            let set = run.snapshot.timers().into_iter().any(|timer| timer.id.to_string() == due.timer_id);
            match due.timer_id.parse() {
                Ok(timer_id) if set => Ok(Some(Command::FireTimer { timer_id })),
                Ok(_) | Err(_) => {
                    gone.store(true, Ordering::Relaxed);
                    Ok(None)
                }
            }
        };
        self.advance(&key, by, choose, &|_: &Run| Journal::default()).await?;
        if gone.load(Ordering::Relaxed) { self.forget(due).await } else { Ok(()) }
    }

    /// Removes the row of a timer that its run does not have, which would be due for ever.
    async fn forget(&self, due: &DueTimer) -> Result<(), UseCaseError> {
        let key = WorkKey::Timer(due.tenant, due.run, due.timer_id.clone());
        Ok(self.ports.work.forget(&key).await?)
    }

    /// Starts a run by a timer start and moves the timer to its next slot, both or neither.
    ///
    /// # Errors
    /// `Unavailable`; `Internal`.
    pub async fn fire_start(&self, binding: &StartBinding) -> Result<(), UseCaseError> {
        let now = self.ports.clock.now();
        let Some(due) = binding.next_due_at else { return Ok(()) };
        let schedule: Option<Schedule> =
            binding.timer.as_ref().and_then(|timer| serde_json::from_value(timer.clone()).ok());
        let next = schedule.and_then(|schedule| schedule.next_after(now, self.budget.least_period_millis));
        let trigger = Trigger::Timer { node_id: binding.node_id.clone() };
        let record = TriggerRecord {
            kind: TriggerKind::Timer,
            name: None,
            node_id: Some(binding.node_id.clone()),
            event_id: None,
            parent: None,
        };
        let by = Initiator::new(now.max(due), None);
        let write = self.begin(NewInstance::of(binding, trigger, record), by).await?;
        let advance = BindingAdvance {
            binding: binding.clone(),
            next_due_at: next.as_ref().map(|next| next.due_at),
            timer: next.and_then(|next| serde_json::to_value(next).ok()),
        };
        let unit = Transaction {
            tenant: Some(binding.tenant),
            runs: vec![write],
            advance: Some(advance),
            ..Transaction::default()
        };
        match self.commit(unit).await {
            // Another node fired it, or the workflow moved to another version in the meantime.
            Ok(()) | Err(StoreError::Stale) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
