//! Runs as they were committed last, for their next step: it begins with what is here instead of reading it again. What
//! is here may be older than what another node wrote, so that whoever takes it has it checked by the commit, which
//! compares revisions, and reads the run anew before anything is refused because of it.

use std::collections::{HashMap, VecDeque};

use heddle_kernel::RunId;
use heddle_policy::InstanceKey;
use parking_lot::Mutex;

use crate::records::Run;

/// Estimated bytes of state and input of the largest run that is kept.
const LARGEST: u64 = 64 << 10;
/// Bytes that a run counts beside its state and its input.
const RUN: u64 = 1 << 10;

/// Runs that wait, the ones that were committed last; none at all with room for nothing.
pub(super) struct RecentRuns {
    room: u64,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    runs: HashMap<RunId, Entry>,
    /// Runs in the order in which they came, also those that went since.
    order: VecDeque<(RunId, u64)>,
    bytes: u64,
    count: u64,
}

struct Entry {
    run: Run,
    bytes: u64,
    number: u64,
}

impl RecentRuns {
    /// Room for so many bytes.
    pub(super) fn new(room: u64) -> Self {
        Self { room, kept: Mutex::default() }
    }

    /// Keeps a run that was committed, if it goes on and is small.
    pub(super) fn keep(&self, run: &Run) {
        if self.room == 0 || run.state.is_terminal() {
            return;
        }
        let values = run.snapshot.bytes() + heddle_feel::size_of_json(&run.input);
        if values > LARGEST {
            return;
        }
        let bytes = RUN + values;
        let run = run.clone();
        let mut kept = self.kept.lock();
        kept.count += 1;
        let (id, number) = (run.id, kept.count);
        kept.remove(id);
        kept.bytes += bytes;
        kept.runs.insert(id, Entry { run, bytes, number });
        kept.order.push_back((id, number));
        kept.shrink(self.room);
    }

    /// Takes a run out, if it is kept: whoever takes it steps it, and keeps what comes of it.
    pub(super) fn take(&self, key: &InstanceKey) -> Option<Run> {
        if self.room == 0 {
            return None;
        }
        let mut kept = self.kept.lock();
        let run = &kept.runs.get(&key.id())?.run;
        let is_own = run.tenant == key.tenant() && run.kind == key.kind() && run.workflow == key.within();
        if is_own { kept.remove(key.id()) } else { None }
    }

    /// A run as it is kept, if it has this revision.
    pub(super) fn look(&self, run: RunId, revision: i64) -> Option<Run> {
        if self.room == 0 {
            return None;
        }
        let kept = self.kept.lock();
        kept.runs.get(&run).map(|entry| &entry.run).filter(|run| run.revision.0 == revision).cloned()
    }

    /// Forgets a run that is about to change.
    pub(super) fn forget(&self, run: RunId) {
        if self.room > 0 {
            self.kept.lock().remove(run);
        }
    }
}

impl Kept {
    fn remove(&mut self, id: RunId) -> Option<Run> {
        let entry = self.runs.remove(&id)?;
        self.bytes = self.bytes.saturating_sub(entry.bytes);
        Some(entry.run)
    }

    /// Lets those go that came first.
    fn shrink(&mut self, room: u64) {
        while self.bytes > room {
            let Some((id, number)) = self.order.pop_front() else { break };
            if self.runs.get(&id).is_some_and(|entry| entry.number == number) {
                self.remove(id);
            }
        }
        if self.order.len() > 2 * self.runs.len() + 64 {
            let runs = &self.runs;
            self.order.retain(|(id, number)| runs.get(id).is_some_and(|entry| entry.number == *number));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::plan::{Initiator, NewInstance, StartRun, new_run};
    use crate::records::{RunState, TriggerKind, TriggerRecord};
    use heddle_engine::Trigger;
    use heddle_kernel::{DefinitionKind, TenantId, Timestamp, WorkflowId};
    use serde_json::json;
    use uuid::Uuid;

    pub(crate) fn run(number: u128, input: &str) -> Run {
        let record = TriggerRecord {
            kind: TriggerKind::Manual,
            name: None,
            node_id: None,
            event_id: None,
            parent: None,
        };
        let beginning = NewInstance {
            tenant: TenantId(Uuid::from_u128(1)),
            kind: DefinitionKind::Workflow,
            workflow: WorkflowId(Uuid::from_u128(2)),
            version: 1,
            trigger: Trigger::Manual { start_node: None },
            record,
            request: StartRun {
                input: json!({ "text": input }).as_object().unwrap().clone(),
                ..StartRun::default()
            },
        };
        let by = Initiator::new(Timestamp::default(), None);
        Run { state: RunState::Waiting, ..new_run(&beginning, "p", RunId(Uuid::from_u128(number)), by) }
    }

    #[test]
    fn a_run_is_taken_once_by_its_own_key() {
        let recent = RecentRuns::new(1 << 20);
        let one = run(1, "");
        recent.keep(&one);
        let elsewhere = Run { workflow: WorkflowId(Uuid::from_u128(9)), ..one.clone() };
        assert!(recent.take(&elsewhere.key()).is_none(), "a path only claims the workflow");
        let case = Run { kind: DefinitionKind::Case, ..one.clone() };
        assert!(recent.take(&case.key()).is_none(), "nor is a run taken with the rights on a case");
        assert_eq!(recent.take(&one.key()).map(|run| run.id), Some(one.id));
        assert!(recent.take(&one.key()).is_none());
        recent.keep(&one);
        recent.forget(one.id);
        assert!(recent.take(&one.key()).is_none());
        for gone in [Run { state: RunState::Completed, ..one.clone() }, run(2, &"x".repeat(100_000))] {
            recent.keep(&gone);
            assert!(recent.take(&gone.key()).is_none(), "it ended, or is large");
        }
        let without = RecentRuns::new(0);
        without.keep(&one);
        assert!(without.take(&one.key()).is_none());
    }

    #[test]
    fn those_that_came_first_go_first_and_nothing_grows() {
        let recent = RecentRuns::new(10 * (RUN + 200));
        for round in 0..50 {
            for number in 0..100 {
                recent.keep(&run(number, ""));
            }
            let kept = recent.kept.lock();
            assert!(kept.bytes <= recent.room && kept.runs.len() >= 5, "round {round}");
            assert!(kept.order.len() <= 2 * kept.runs.len() + 65, "round {round}");
        }
        assert!(recent.take(&run(0, "").key()).is_none());
        assert!(recent.take(&run(99, "").key()).is_some());
    }
}
