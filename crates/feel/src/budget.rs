//! Budget of steps that several evaluations take together.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::LimitError;
use crate::limits::Limits;

/// Budget of steps for several evaluations, beside the limits that each of them has of its own. It counts steps and
/// never time, so that what exceeds it does so on every machine.
#[derive(Debug)]
pub struct StepBudget {
    total: u64,
    left: Cell<u64>,
    stop: Option<Arc<AtomicBool>>,
}

impl StepBudget {
    /// A budget of so many steps.
    #[must_use]
    pub const fn new(steps: u64) -> Self {
        Self { total: steps, left: Cell::new(steps), stop: None }
    }

    /// The same, which ends when another thread sets the flag: whoever sets it throws away what was done.
    #[must_use]
    pub fn until(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Whether another thread has ended it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Steps that are left.
    pub(crate) const fn left(&self) -> u64 {
        self.left.get()
    }

    /// Counts work done outside of evaluations.
    ///
    /// # Errors
    /// `Budget` when more was taken than is left; nothing is left then.
    #[inline]
    pub fn charge(&self, steps: u64) -> Result<(), LimitError> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(LimitError::Budget(self.total))
            }
        }
    }

    /// Runs an evaluation within these limits and within what is left. `work` gives the steps that it took beside its
    /// result.
    ///
    /// # Errors
    /// The evaluation's own; `Budget` when it ended because nothing was left.
    pub fn within<T>(
        &self,
        limits: &Limits,
        work: impl FnOnce(&Limits, &mut u64) -> Result<T, LimitError>,
    ) -> Result<T, LimitError> {
        if let Some(stop) = &self.stop
            && limits.cancel.is_none()
        {
            let watched = Limits { cancel: Some(Arc::clone(stop)), ..limits.clone() };
            return self.within_limits(&watched, work);
        }
        self.within_limits(limits, work)
    }

    fn within_limits<T>(
        &self,
        limits: &Limits,
        work: impl FnOnce(&Limits, &mut u64) -> Result<T, LimitError>,
    ) -> Result<T, LimitError> {
        let left = self.left.get();
        let mut taken = 0;
        if left >= limits.steps {
            let result = work(limits, &mut taken);
            self.left.set(left.saturating_sub(taken));
            return result;
        }
        let result = work(&Limits { steps: left, ..limits.clone() }, &mut taken);
        if matches!(result, Err(LimitError::Steps(_))) {
            self.left.set(0);
            return Err(LimitError::Budget(self.total));
        }
        self.left.set(left.saturating_sub(taken));
        result
    }
}

/// The budget of a single evaluation within the default limits.
impl Default for StepBudget {
    fn default() -> Self {
        Self::new(Limits::DEFAULT.steps)
    }
}
