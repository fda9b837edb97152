//! Failed sign-ins slow an account down, known or not; they never lock it.

use heddle_kernel::Timestamp;

use crate::ports::Attempt;
use crate::records::Throttle;

/// Failures that cost nothing.
pub const FREE_FAILURES: u32 = 5;
/// The longest wait, in seconds.
pub const LONGEST_SECONDS: i64 = 900;
/// Seconds without a try after which the count begins anew.
pub const FORGOTTEN_SECONDS: i64 = 24 * 3600;

/// Wait in seconds after so many failures: 1, 2, 4, ... 900 from the fifth on.
#[must_use]
pub fn delay_seconds(failures: u32) -> i64 {
    match failures.checked_sub(FREE_FAILURES) {
        None => 0,
        Some(beyond) => 1_i64.checked_shl(beyond.min(30)).unwrap_or(LONGEST_SECONDS).min(LONGEST_SECONDS),
    }
}

/// Whether a sign-in may be tried, and what to keep when it may.
#[must_use]
pub fn next(kept: Option<Throttle>, now: Timestamp) -> Attempt {
    let kept = kept.filter(|kept| now < kept.last_at.plus_seconds(FORGOTTEN_SECONDS));
    if let Some(kept) = kept
        && now < kept.next_at
    {
        return Attempt::Refused { next_at: kept.next_at };
    }
    let failures = kept.map_or(0, |kept| kept.failures).saturating_add(1);
    Attempt::Allowed(Throttle { failures, last_at: now, next_at: now.plus_seconds(delay_seconds(failures)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_from_the_fifth_failure_to_a_quarter_of_an_hour() {
        let waits: Vec<i64> = (0..18).map(delay_seconds).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
        assert_eq!(delay_seconds(u32::MAX), LONGEST_SECONDS);
    }

    #[test]
    fn a_try_within_the_wait_is_refused_and_does_not_count() {
        let mut now = Timestamp::from_micros(0);
        let mut kept = None;
        for _ in 0..FREE_FAILURES {
            let Attempt::Allowed(throttle) = next(kept, now) else { panic!("refused too early") };
            kept = Some(throttle);
        }
        assert_eq!(next(kept, now), Attempt::Refused { next_at: now.plus_seconds(1) });
        now = now.plus_seconds(1);
        let Attempt::Allowed(throttle) = next(kept, now) else { panic!("refused after the wait") };
        assert_eq!((throttle.failures, throttle.next_at), (6, now.plus_seconds(2)));
        let later = now.plus_seconds(FORGOTTEN_SECONDS);
        let Attempt::Allowed(fresh) = next(Some(throttle), later) else { panic!("never forgotten") };
        assert_eq!(fresh.failures, 1);
    }
}
