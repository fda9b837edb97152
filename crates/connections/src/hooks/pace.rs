//! Calls of each hook a second: a bucket of tokens that fills as time passes.

use std::collections::HashMap;
use std::sync::Mutex;

use heddle_kernel::{HookId, Timestamp};

/// Most hooks of which the pace remembers something.
const REMEMBERED: usize = 10_000;
/// Seconds' worth of calls that may come at once.
const BURST_SECONDS: i64 = 2;
const MICROS: i64 = 1_000_000;

/// Pace of the calls of hooks.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<HashMap<HookId, Bucket>>);

/// Millionths of calls that may come, at an instant.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    calls: i64,
    at: Timestamp,
}

impl Pace {
    /// Takes a call of a hook; whether it may come.
    pub(super) fn take(&self, hook: HookId, per_second: u32, now: Timestamp) -> bool {
        let full = i64::from(per_second) * BURST_SECONDS * MICROS;
        // A thread that died while it counted has left numbers that are whole.
        let mut buckets = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if buckets.len() >= REMEMBERED && !buckets.contains_key(&hook) {
            buckets.clear();
        }
        let bucket = buckets.entry(hook).or_insert(Bucket { calls: full, at: now });
        let passed = now.micros().saturating_sub(bucket.at.micros()).clamp(0, BURST_SECONDS * MICROS);
        bucket.calls = bucket.calls.saturating_add(passed.saturating_mul(i64::from(per_second))).min(full);
        bucket.at = bucket.at.max(now);
        let may = bucket.calls >= MICROS;
        if may {
            bucket.calls -= MICROS;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_hook_has_its_burst_and_then_its_pace_and_takes_nothing_from_another() {
        let (pace, now) = (Pace::default(), Timestamp::from_micros(5_000_000));
        let (one, other) = (HookId(Uuid::from_u128(1)), HookId(Uuid::from_u128(2)));
        let taken = (0..100).filter(|_| pace.take(one, 5, now)).count();
        assert_eq!(taken, 10);
        assert!(pace.take(other, 5, now));
        let later = now.plus_millis(400);
        assert_eq!((0..100).filter(|_| pace.take(one, 5, later)).count(), 2);
    }
}
