//! Verdicts: what becomes of an errand after a try. Pure: the time and the randomness come in.

use std::time::Duration;

use heddle_kernel::Timestamp;
use heddle_usecase::errand::{AsideReason, Errand, Outcome, Settlement, Written};

/// Waits between the tries, in seconds: a little less than 24 hours in all.
const WAITS: [u64; 10] = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 21_600, 36_000];
/// Tries that fail before an errand is set aside.
pub const MOST_TRIES: u32 = 11;
/// Crashes after which an errand is set aside.
const MOST_CRASHES: u32 = 3;
/// The longest wait that a target may ask for.
const LONGEST: Duration = Duration::from_hours(24);

/// Part of a wait that randomness adds or takes, in parts of a hundred.
const JITTER: u64 = 20;

/// Outlook of a lane behind an errand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outlook {
    /// The next one may be done.
    GoesOn,
    /// Those behind it wait.
    Waits,
    /// Those behind it wait, and may be too many.
    Grows,
    /// Nothing of it is wanted any more.
    Gone,
}

/// Wait before the next try, after so many that failed; a fifth more or less, so that those that failed together don't
/// come back together.
pub(super) fn wait(attempts: u32, random: u64) -> Duration {
    let place = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let seconds = WAITS.get(place).or(WAITS.last()).copied().unwrap_or(5);
    let part = 100 - JITTER + random % (2 * JITTER + 1);
    Duration::from_millis(seconds * 10 * part)
}

fn later(now: Timestamp, wait: Duration) -> Timestamp {
    now.plus_millis(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
}

/// The end of an errand that is not even tried: it ended the process too often.
pub(super) fn before(errand: &Errand) -> Option<Settlement> {
    (errand.crashes >= MOST_CRASHES).then(|| Settlement::Aside {
        reason: AsideReason::Crashed,
        message: format!("The process ended {} times while this was done.", errand.crashes),
        attempts: errand.attempts,
        crashes: errand.crashes,
    })
}

/// End of an errand's lease after a try, and the outlook of its lane.
pub(super) fn after(errand: &Errand, outcome: Outcome, now: Timestamp, random: u64) -> (Settlement, Outlook) {
    let attempts = errand.attempts.saturating_add(1);
    let aside = |reason, message| Settlement::Aside { reason, message, attempts, crashes: errand.crashes };
    match outcome {
        Outcome::Done => (Settlement::Done, Outlook::GoesOn),
        Outcome::Gone => (Settlement::Done, Outlook::Gone),
        Outcome::Held { wait } => {
            let not_before = later(now, wait);
            let outlook = if wait >= Duration::from_mins(1) { Outlook::Grows } else { Outlook::Waits };
            (Settlement::Later { not_before, attempts: errand.attempts }, outlook)
        }
        Outcome::Refused { message } => (aside(AsideReason::Refused, message), Outlook::GoesOn),
        Outcome::Failed { message, .. } if attempts >= MOST_TRIES => {
            (aside(AsideReason::Failed, message), Outlook::GoesOn)
        }
        Outcome::Failed { after, .. } => {
            let own = wait(attempts, random);
            let wait = after.map_or(own, |asked| own.max(asked.min(LONGEST)));
            let outlook = if wait >= Duration::from_mins(10) { Outlook::Grows } else { Outlook::Waits };
            (Settlement::Later { not_before: later(now, wait), attempts }, outlook)
        }
    }
}

/// Outlook of a lane when the end of its first errand is written: one that stays for want of room holds up the rest.
pub(super) const fn behind(written: Written, outlook: Outlook) -> Outlook {
    match written {
        Written::Settled => outlook,
        Written::Waits => Outlook::Grows,
        Written::Lost => Outlook::Waits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::{EventId, TenantId};
    use heddle_usecase::errand::{ErrandKind, Lane, NewErrand};
    use uuid::Uuid;

    const NOW: Timestamp = Timestamp::from_micros(1_750_000_000_000_000);

    fn errand(attempts: u32, crashes: u32) -> Errand {
        let lane = Lane {
            tenant: TenantId(Uuid::from_u128(1)),
            kind: ErrandKind::Webhook,
            target: "t".to_owned(),
            line: Some("l".to_owned()),
        };
        let errand = NewErrand {
            id: EventId(Uuid::from_u128(2)),
            lane,
            workflow: None,
            run: None,
            name: "n".to_owned(),
            payload: String::new(),
            created_at: NOW,
        };
        Errand { errand, epoch: 1, attempts, crashes, is_suspect: crashes > 0 }
    }

    fn failed(after: Option<u64>) -> Outcome {
        Outcome::Failed { message: "why".to_owned(), after: after.map(Duration::from_secs) }
    }

    #[test]
    fn waits_grow_over_a_day_and_randomness_moves_each_by_a_fifth() {
        let tries = u32::try_from(WAITS.len()).unwrap();
        assert_eq!(tries + 1, MOST_TRIES);
        let all = |random| (1..=tries).map(|tried| wait(tried, random).as_secs_f64() / 3600.0).sum::<f64>();
        assert!((all(20) - 23.7).abs() < 0.1, "{}", all(20));
        assert_eq!(wait(1, 0), Duration::from_secs(4));
        assert_eq!(wait(1, 40), Duration::from_secs(6));
        assert_eq!(wait(u32::MAX, 20), Duration::from_secs(36_000));
    }

    #[test]
    fn a_failure_is_tried_again_until_it_is_set_aside_and_the_lane_goes_on() {
        let (settled, outlook) = after(&errand(0, 0), failed(None), NOW, 20);
        assert_eq!(settled, Settlement::Later { not_before: NOW.plus_seconds(5), attempts: 1 });
        assert_eq!(outlook, Outlook::Waits);
        // What the target asks for is the least, within a day.
        for (asked, given) in [(1, 5), (60, 60), (1_000_000, 86_400)] {
            let (settled, _) = after(&errand(0, 0), failed(Some(asked)), NOW, 20);
            assert_eq!(settled, Settlement::Later { not_before: NOW.plus_seconds(given), attempts: 1 });
        }
        let (settled, outlook) = after(&errand(MOST_TRIES - 1, 0), failed(None), NOW, 20);
        let Settlement::Aside { reason: AsideReason::Failed, attempts, .. } = settled else {
            panic!("{settled:?}")
        };
        assert_eq!((attempts, outlook), (MOST_TRIES, Outlook::GoesOn));
        assert_eq!(after(&errand(7, 0), failed(None), NOW, 20).1, Outlook::Grows);
    }

    #[test]
    fn what_is_not_written_as_asked_holds_up_its_lane() {
        assert_eq!(behind(Written::Settled, Outlook::GoesOn), Outlook::GoesOn);
        assert_eq!(behind(Written::Waits, Outlook::GoesOn), Outlook::Grows);
        assert_eq!(behind(Written::Lost, Outlook::GoesOn), Outlook::Waits);
    }

    #[test]
    fn holding_is_no_try_and_crashes_set_aside() {
        let held = Outcome::Held { wait: Duration::from_secs(600) };
        let (settled, outlook) = after(&errand(3, 0), held, NOW, 0);
        assert_eq!(settled, Settlement::Later { not_before: NOW.plus_seconds(600), attempts: 3 });
        assert_eq!(outlook, Outlook::Grows);
        let refused = Outcome::Refused { message: "no".to_owned() };
        let (settled, outlook) = after(&errand(0, 0), refused, NOW, 0);
        assert!(matches!(settled, Settlement::Aside { reason: AsideReason::Refused, .. }), "{settled:?}");
        assert_eq!(outlook, Outlook::GoesOn);
        assert_eq!(before(&errand(0, MOST_CRASHES - 1)), None);
        let aside = before(&errand(0, MOST_CRASHES));
        assert!(matches!(aside, Some(Settlement::Aside { reason: AsideReason::Crashed, .. })), "{aside:?}");
        assert_eq!(after(&errand(0, 0), Outcome::Gone, NOW, 0), (Settlement::Done, Outlook::Gone));
    }
}
