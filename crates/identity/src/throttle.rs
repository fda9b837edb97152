//! Failed tries slow down whoever makes them; they never lock an account. Tries are counted in buckets: of an account
//! from one network, of an account from anywhere, of a network whatever the account, of a device that is known.

use heddle_kernel::Timestamp;

use crate::records::Throttle;

/// Failures that cost nothing in a bucket that doubles.
pub const FREE_FAILURES: u32 = 5;
/// The longest wait of a bucket that doubles, in seconds.
pub const LONGEST_SECONDS: i64 = 900;
/// Seconds without a try after which the count of a bucket that doubles begins anew.
pub const FORGOTTEN_SECONDS: i64 = 24 * 3600;
/// Most buckets that are kept.
pub const MOST_BUCKETS: u32 = 100_000;

/// Pace at which tries of a bucket are let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Some failures cost nothing; from then on each doubles the wait.
    Doubling,
    /// So many failures cost nothing, and one more for each time that goes by.
    Leaking {
        /// Number of failures that may come at once.
        at_once: u32,
        /// Seconds in which one of them is forgotten.
        seconds: i64,
    },
}

/// Bucket in which tries are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Key under which it is kept; tells nothing of the account.
    pub key: String,
    /// Pace of the bucket.
    pub pace: Pace,
}

/// Whether a bucket lets a try through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Permission, with what to keep.
    Counted(Throttle),
    /// Refusal until an instant.
    Wait(Timestamp),
}

/// Wait in seconds after so many failures: 1, 2, 4, ... 900 from the fifth on.
#[must_use]
pub fn delay_seconds(failures: u32) -> i64 {
    match failures.checked_sub(FREE_FAILURES) {
        None => 0,
        Some(beyond) => 1_i64.checked_shl(beyond.min(30)).unwrap_or(LONGEST_SECONDS).min(LONGEST_SECONDS),
    }
}

/// Whether a bucket lets a try through, by what is kept of it.
#[must_use]
pub fn next(pace: Pace, kept: Option<Throttle>, now: Timestamp) -> Verdict {
    // A try from the future means that the clock was set back since. It holds nobody up until then: whoever puts the
    // clock or the licence right must get in. Clocks of several servers differ by less.
    let kept = kept.filter(|kept| kept.last_at <= now.plus_seconds(LONGEST_SECONDS));
    match pace {
        Pace::Doubling => doubling(kept, now),
        Pace::Leaking { at_once, seconds } => {
            let empty = kept.map_or(now, |kept| kept.next_at.max(now));
            let room = i64::from(at_once.saturating_sub(1)).saturating_mul(seconds);
            let earliest = empty.plus_seconds(-room);
            if now < earliest {
                return Verdict::Wait(earliest);
            }
            let failures = kept.map_or(0, |kept| kept.failures).saturating_add(1);
            Verdict::Counted(Throttle { failures, last_at: now, next_at: empty.plus_seconds(seconds) })
        }
    }
}

fn doubling(kept: Option<Throttle>, now: Timestamp) -> Verdict {
    let kept = kept.filter(|kept| now < kept.last_at.plus_seconds(FORGOTTEN_SECONDS));
    if let Some(kept) = kept
        && now < kept.next_at
    {
        return Verdict::Wait(kept.next_at);
    }
    let failures = kept.map_or(0, |kept| kept.failures).saturating_add(1);
    Verdict::Counted(Throttle { failures, last_at: now, next_at: now.plus_seconds(delay_seconds(failures)) })
}

/// State of a bucket once one try is taken back.
#[must_use]
pub fn forgiven(pace: Pace, kept: Throttle) -> Throttle {
    let next_at = match pace {
        Pace::Doubling => kept.last_at,
        Pace::Leaking { seconds, .. } => kept.next_at.plus_seconds(-seconds),
    };
    Throttle { failures: kept.failures.saturating_sub(1), next_at, ..kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(pace: Pace, kept: Option<Throttle>, now: Timestamp) -> Throttle {
        match next(pace, kept, now) {
            Verdict::Counted(throttle) => throttle,
            Verdict::Wait(until) => panic!("refused until {until}"),
        }
    }

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
            kept = Some(counted(Pace::Doubling, kept, now));
        }
        assert_eq!(next(Pace::Doubling, kept, now), Verdict::Wait(now.plus_seconds(1)));
        now = now.plus_seconds(1);
        let sixth = counted(Pace::Doubling, kept, now);
        assert_eq!((sixth.failures, sixth.next_at), (6, now.plus_seconds(2)));
        let later = now.plus_seconds(FORGOTTEN_SECONDS);
        assert_eq!(counted(Pace::Doubling, Some(sixth), later).failures, 1);
        let back = forgiven(Pace::Doubling, sixth);
        assert_eq!(counted(Pace::Doubling, Some(back), now).failures, 6);
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_nobody_out() {
        let then = Timestamp::from_micros(0).plus_seconds(2 * FORGOTTEN_SECONDS);
        for pace in [Pace::Doubling, Pace::Leaking { at_once: 3, seconds: 600 }] {
            let mut kept = None;
            for _ in 0..3 {
                kept = Some(counted(pace, kept, then));
            }
            let back = then.plus_seconds(-FORGOTTEN_SECONDS);
            assert_eq!(counted(pace, kept, back).failures, 1, "{pace:?}");
            let forgiven = forgiven(pace, counted(pace, None, then));
            assert_eq!(counted(pace, Some(forgiven), back).failures, 1, "{pace:?}");
            // Clocks that differ a little are none that was set back.
            let a_little = then.plus_seconds(-60);
            let kept = Throttle { failures: 9, last_at: then, next_at: then.plus_seconds(900) };
            let refused = matches!(next(Pace::Doubling, Some(kept), a_little), Verdict::Wait(_));
            assert!(refused);
        }
    }

    #[test]
    fn a_leaking_bucket_forgets_one_failure_for_each_time_that_goes_by() {
        let pace = Pace::Leaking { at_once: 3, seconds: 10 };
        let now = Timestamp::from_micros(0);
        let mut kept = None;
        for _ in 0..3 {
            kept = Some(counted(pace, kept, now));
        }
        assert_eq!(next(pace, kept, now), Verdict::Wait(now.plus_seconds(10)));
        assert_eq!(next(pace, kept, now.plus_seconds(9)), Verdict::Wait(now.plus_seconds(10)));
        // One is forgotten, and no more; a success takes its own back.
        let fourth = counted(pace, kept, now.plus_seconds(10));
        assert_eq!(next(pace, Some(fourth), now.plus_seconds(10)), Verdict::Wait(now.plus_seconds(20)));
        let back = forgiven(pace, fourth);
        let _ = counted(pace, Some(back), now.plus_seconds(10));
        // Forgotten all, whatever the count was.
        let mut kept = Some(fourth);
        for _ in 0..3 {
            kept = Some(counted(pace, kept, now.plus_seconds(3600)));
        }
    }
}
