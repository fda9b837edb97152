//! One writer per run: whoever changes a run holds its lock from reading the state to the commit.

use std::collections::HashMap;
use std::sync::Arc;

use heddle_kernel::RunId;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The locks of the runs that somebody is changing at this moment.
#[derive(Default)]
pub struct Locks(parking_lot::Mutex<HashMap<RunId, Arc<Mutex<()>>>>);

impl std::fmt::Debug for Locks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Locks").finish_non_exhaustive()
    }
}

/// Holds a run; lets go when dropped.
pub struct Held<'a> {
    locks: &'a Locks,
    run: RunId,
    guard: Option<OwnedMutexGuard<()>>,
}

impl std::fmt::Debug for Held<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

impl Locks {
    /// Waits for the run, in the order of asking.
    pub async fn hold(&self, run: RunId) -> Held<'_> {
        let lock = Arc::clone(self.0.lock().entry(run).or_default());
        // From here on a `Held` stands for the entry, so that a caller who is cut off while waiting cleans up.
        let mut held = Held { locks: self, run, guard: None };
        held.guard = Some(lock.lock_owned().await);
        held
    }

    /// Waits for several runs, always in the order of their ids, so that two callers never wait for each other.
    pub async fn hold_all(&self, mut runs: Vec<RunId>) -> Vec<Held<'_>> {
        runs.sort_unstable();
        runs.dedup();
        let mut held = Vec::with_capacity(runs.len());
        for run in runs {
            held.push(self.hold(run).await);
        }
        held
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.guard = None;
        let mut locks = self.locks.0.lock();
        // The map's own share is the last one: nobody holds the run or waits for it.
        if locks.get(&self.run).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::{IdSource as _, SequentialIds, Timestamp};

    #[tokio::test]
    async fn one_holder_at_a_time_and_no_entry_left_behind() {
        let locks = Arc::new(Locks::default());
        let run = RunId(SequentialIds::default().next(Timestamp::default()));
        let first = locks.hold(run).await;
        let waiting = tokio::spawn({
            let locks = Arc::clone(&locks);
            async move {
                let _second = locks.hold(run).await;
            }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        waiting.await.unwrap();
        assert!(locks.0.lock().is_empty());
    }
}
