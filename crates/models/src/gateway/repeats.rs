//! Repeats: how often, after which wait, and how many of all calls at most.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::ports::Random;

/// Exchanges with one deployment for one call at most.
pub(crate) const TRIES: u32 = 3;
/// The longest wait that a provider may ask for and get.
const ASKED: Duration = Duration::from_secs(30);
/// Base of the waits.
const BASE: Duration = Duration::from_millis(250);
/// Longest wait of our own.
const LONGEST: Duration = Duration::from_secs(4);
/// Hundredths of a repeat that a call earns: 10 of 100 calls may be repeated.
const EARNED: u32 = 10;
/// Hundredths that are kept at most, and at the start.
const KEPT: u32 = 2_000;

/// The repeats that a node may make: a tenth of its calls, and twenty at once. So many failing calls don't become many
/// more.
#[derive(Debug)]
pub(crate) struct Repeats(Mutex<u32>);

impl Default for Repeats {
    fn default() -> Self {
        Self(Mutex::new(KEPT))
    }
}

impl Repeats {
    /// Earns what a call brings.
    pub(crate) fn earn(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = kept.saturating_add(EARNED).min(KEPT);
    }

    /// Spends a repeat; false when there is none.
    pub(crate) fn spend(&self) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.checked_sub(100) {
            Some(rest) => {
                *kept = rest;
                true
            }
            None => false,
        }
    }
}

/// The wait before a repeat, the first being 1: what the provider asks for, else full jitter over a doubling bound. None
/// when it asks for more than is waited for.
pub(crate) fn wait(repeat: u32, asked: Option<Duration>, random: &dyn Random) -> Option<Duration> {
    match asked {
        Some(asked) if asked > ASKED => None,
        Some(asked) => Some(asked),
        None => {
            let bound = BASE.saturating_mul(1 << repeat.min(8)).min(LONGEST);
            Some(bound.mul_f64(random.fraction().clamp(0.0, 1.0)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(f64);

    impl Random for Fixed {
        fn fraction(&self) -> f64 {
            self.0
        }
    }

    #[test]
    fn a_provider_s_wait_is_kept_to_and_a_long_one_is_no_repeat() {
        let seconds = Duration::from_secs;
        assert_eq!(wait(1, Some(seconds(30)), &Fixed(0.0)), Some(seconds(30)));
        assert_eq!(wait(1, Some(seconds(31)), &Fixed(0.0)), None);
        assert_eq!(wait(1, None, &Fixed(1.0)), Some(BASE * 2));
        assert_eq!(wait(9, None, &Fixed(1.0)), Some(LONGEST));
        assert_eq!(wait(2, None, &Fixed(0.0)), Some(Duration::ZERO));
    }

    #[test]
    fn a_storm_of_failures_is_repeated_a_tenth() {
        let repeats = Repeats::default();
        let burst = (0..100).filter(|_| repeats.spend()).count();
        assert_eq!(burst, 20);
        let later = (0..1_000)
            .filter(|_| {
                repeats.earn();
                repeats.spend()
            })
            .count();
        assert_eq!(later, 100);
    }
}
