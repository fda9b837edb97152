//! Runs as they were committed last, for their next step: it begins with what is here instead of reading it again. What
//! is here may be older than what another node wrote, so that whoever takes it has it checked by the commit, which
//! compares revisions, and reads the run anew before anything is refused because of it.

use std::collections::{HashMap, VecDeque};

use heddle_kernel::RunId;
use heddle_policy::{Key, resource};
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
    pub(super) fn take(&self, key: &Key<resource::Run>) -> Option<Run> {
        if self.room == 0 {
            return None;
        }
        let run = self.kept.lock().remove(key.id())?;
        (run.tenant == key.tenant() && run.workflow == key.within()).then_some(run)
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
