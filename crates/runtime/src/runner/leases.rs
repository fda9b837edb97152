//! Leases of this node: which errands it holds, and until when.

use std::collections::{HashMap, HashSet};

use heddle_kernel::Timestamp;
use heddle_usecase::errand::Held;
use parking_lot::Mutex;

/// Errands that are held, with the ends of their leases.
#[derive(Debug, Default)]
pub(super) struct Leases(Mutex<HashMap<Held, Timestamp>>);

impl Leases {
    /// Notes new leases.
    pub(super) fn take(&self, held: &[Held], until: Timestamp) {
        self.0.lock().extend(held.iter().map(|one| (*one, until)));
    }

    /// Forgets a lease.
    pub(super) fn end(&self, held: &Held) {
        self.0.lock().remove(held);
    }

    /// Whether a lease has not run out.
    pub(super) fn lasts(&self, held: &Held, now: Timestamp) -> bool {
        self.0.lock().get(held).is_some_and(|until| *until > now)
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Held> {
        self.0.lock().keys().copied().collect()
    }

    /// Notes which leases last longer: of the others somebody else has the errand by now.
    pub(super) fn renewed(&self, asked: &[Held], renewed: &[Held], until: Timestamp) {
        let renewed: HashSet<&Held> = renewed.iter().collect();
        let mut leases = self.0.lock();
        for one in asked {
            match leases.get_mut(one) {
                Some(end) if renewed.contains(one) => *end = until,
                // What ended in the meantime is not there.
                Some(end) => *end = Timestamp::from_micros(0),
                None => {}
            }
        }
    }
}
