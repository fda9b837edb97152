//! Bounding of lanes: which of them was bounded when, so that one that does not keep up is looked at once in a while and
//! not with every errand.

use std::collections::HashMap;

use heddle_kernel::Timestamp;
use parking_lot::Mutex;
use uuid::Uuid;

/// Seconds between two looks at how much waits in a lane that goes on.
const EVERY: i64 = 60;
/// Most lanes that are remembered.
const REMEMBERED: usize = 10_000;

/// Lanes with the time of the last look at what waits in them.
#[derive(Debug, Default)]
pub(super) struct Bounding(Mutex<HashMap<Uuid, Timestamp>>);

impl Bounding {
    /// Whether a lane is to be bounded now, which is noted.
    pub(super) fn is_due(&self, lane: Uuid, now: Timestamp) -> bool {
        let mut seen = self.0.lock();
        // A clock that was turned back makes it due, too.
        let recent = |at: &Timestamp| *at <= now && now < at.plus_seconds(EVERY);
        if seen.get(&lane).is_some_and(recent) {
            return false;
        }
        if seen.len() >= REMEMBERED {
            seen.retain(|_, at| recent(&*at));
        }
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(lane, now);
        true
    }

    /// Makes a lane due at the next look.
    pub(super) fn again(&self, lane: Uuid) {
        self.0.lock().remove(&lane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_due_once_in_a_while_and_the_memory_is_bounded() {
        let (bounding, lane) = (Bounding::default(), Uuid::from_u128(1));
        let at = |seconds| Timestamp::from_micros(0).plus_seconds(seconds);
        let due = [100, 101, 159, 160, 90].map(|seconds| bounding.is_due(lane, at(seconds)));
        assert_eq!(due, [true, false, false, true, true]);
        bounding.again(lane);
        assert!(bounding.is_due(lane, at(91)) && !bounding.is_due(lane, at(92)));
        for other in 0..3 * REMEMBERED as u128 {
            assert!(bounding.is_due(Uuid::from_u128(other + 2), at(90)));
        }
        assert!(bounding.0.lock().len() <= REMEMBERED);
    }
}
