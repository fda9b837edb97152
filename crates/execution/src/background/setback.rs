//! Setbacks: what becomes of work that did not succeed.

use heddle_kernel::{EventId, RunId, Timestamp};

use crate::UseCaseError;
use crate::records::{DeadLetter, PendingWork, SetAsideReason, Setback, Tries, Work};

/// Failed attempts after which work is set aside.
pub const MOST_ATTEMPTS: u32 = 10;
/// Crashes after which work is set aside.
pub const MOST_CRASHES: u32 = 3;
/// Longest back-off, in seconds.
const LONGEST: i64 = 300;

/// Kind of an error, as far as another try is concerned.
enum Verdict {
    /// Nothing is wrong with the work: there is no room for it now.
    Wait,
    /// Another try may do.
    Failed,
    /// Another try can't do as things stand.
    Refused,
}

const fn verdict(error: &UseCaseError) -> Verdict {
    match error {
        UseCaseError::Busy
        | UseCaseError::QueueFull { .. }
        | UseCaseError::Throttled { .. }
        | UseCaseError::RateLimited { .. }
        | UseCaseError::LimitReached { .. }
        | UseCaseError::Unavailable(_) => Verdict::Wait,
        UseCaseError::Conflict(_)
        | UseCaseError::NotFound
        | UseCaseError::Abandoned { .. }
        | UseCaseError::Internal(_) => Verdict::Failed,
        UseCaseError::Invalid(_) | UseCaseError::Forbidden(_) | UseCaseError::Unauthenticated => {
            Verdict::Refused
        }
    }
}

/// Time before the next try, in seconds: doubled with each failed one.
#[must_use]
pub fn back_off_seconds(attempts: u32) -> i64 {
    (1_i64 << attempts.saturating_sub(1).min(30)).min(LONGEST)
}

/// Setback after an error.
#[must_use]
pub(crate) fn after(pending: PendingWork, error: &UseCaseError, now: Timestamp, id: EventId) -> Setback {
    let PendingWork { work, tries: before } = pending;
    let tries = Tries { attempts: before.attempts.saturating_add(1), ..before };
    let reason = match verdict(error) {
        Verdict::Wait => {
            return Setback::Later { work, tries: before, not_before: now.plus_seconds(1) };
        }
        Verdict::Failed if tries.attempts < MOST_ATTEMPTS => {
            let not_before = now.plus_seconds(back_off_seconds(tries.attempts));
            return Setback::Later { work, tries, not_before };
        }
        Verdict::Failed => SetAsideReason::Failed,
        Verdict::Refused => SetAsideReason::Refused,
    };
    aside(work, tries, reason, error.in_words(), now, id)
}

/// Setback after the process ended while the work was done alone.
#[must_use]
pub(crate) fn after_crash(pending: PendingWork, now: Timestamp, id: EventId) -> Setback {
    let PendingWork { work, tries } = pending;
    let tries = Tries { crashes: tries.crashes.saturating_add(1), ..tries };
    if tries.crashes < MOST_CRASHES {
        // Not at once: whatever ends the process right after each start would meet the same piece every time.
        let not_before = now.plus_seconds(back_off_seconds(tries.crashes));
        return Setback::Later { work, tries, not_before };
    }
    let message = format!("The process ended {} times while this was done.", tries.crashes);
    aside(work, tries, SetAsideReason::Crashed, message, now, id)
}

fn aside(
    work: Work,
    tries: Tries,
    reason: SetAsideReason,
    message: String,
    now: Timestamp,
    id: EventId,
) -> Setback {
    let (tenant, workflow, run): (_, _, Option<RunId>) = (work.tenant(), work.workflow(), work.run());
    let instance_kind = work.definition_kind();
    Setback::Aside(Box::new(DeadLetter {
        tenant,
        id,
        instance_kind,
        work,
        reason,
        message,
        tries,
        workflow,
        run,
        created_at: now,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_tries_doubles_up_to_a_limit() {
        let seconds: Vec<i64> = [1, 2, 3, 9, 10, 64, u32::MAX].map(back_off_seconds).into();
        assert_eq!(seconds, [1, 2, 4, 256, 300, 300, 300]);
    }
}
