//! Rates: the generic cell rate algorithm (GCRA, ITU-T I.371) over calls and tokens of a minute. Buckets are a node's own.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use heddle_kernel::{ModelConnectionId, ModelDeploymentId, TenantId};
use tokio::time::Instant;

/// Microseconds of a minute.
const MINUTE: u64 = 60_000_000;
/// Buckets after which those that are empty are forgotten.
const MANY: usize = 20_000;

/// Holder of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    Organisation(TenantId),
    Connection(ModelConnectionId),
    Deployment(ModelDeploymentId),
}

/// Unit that a rate counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Requests,
    Tokens,
}

/// A bucket, with what a call takes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Take {
    pub(crate) holder: Holder,
    pub(crate) unit: Unit,
    /// The most of a minute, which may come at once.
    pub(crate) per_minute: u64,
    pub(crate) amount: u64,
}

/// A bucket that has not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Short {
    pub(crate) take: Take,
    pub(crate) wait: Duration,
}

/// The buckets of a node: for each the instant at which it is full again, in microseconds since the start.
#[derive(Debug)]
pub(crate) struct Rates {
    start: Instant,
    full_at: Mutex<HashMap<(Holder, Unit), u64>>,
}

impl Default for Rates {
    fn default() -> Self {
        Self { start: Instant::now(), full_at: Mutex::new(HashMap::new()) }
    }
}

impl Rates {
    fn all(&self) -> MutexGuard<'_, HashMap<(Holder, Unit), u64>> {
        self.full_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Takes of every bucket, or of none. What is more than a whole bucket takes a full one.
    pub(crate) fn take(&self, takes: &[Take]) -> Result<(), Short> {
        if takes.is_empty() {
            return Ok(());
        }
        let now = self.now();
        let mut all = self.all();
        for take in takes {
            let full_at = all.get(&(take.holder, take.unit)).copied().unwrap_or(0).max(now);
            let then = full_at.saturating_add(time_of(take.amount.min(take.per_minute), take.per_minute));
            let over = then.saturating_sub(now).saturating_sub(MINUTE);
            if over > 0 {
                return Err(Short { take: *take, wait: Duration::from_micros(over) });
            }
        }
        for take in takes {
            let full_at = all.entry((take.holder, take.unit)).or_insert(0);
            let time = time_of(take.amount.min(take.per_minute), take.per_minute);
            *full_at = (*full_at).max(now).saturating_add(time);
        }
        if all.len() > MANY {
            all.retain(|_, full_at| *full_at > now);
        }
        Ok(())
    }

    /// Settles what was taken by what was used: the rest goes back, and what was more is owed, at most a bucket of it.
    pub(crate) fn settle(&self, take: Take, used: u64) {
        let now = self.now();
        let taken = time_of(take.amount.min(take.per_minute), take.per_minute);
        let used = time_of(used, take.per_minute);
        let mut all = self.all();
        let full_at = all.entry((take.holder, take.unit)).or_insert(0);
        *full_at = if used < taken {
            full_at.saturating_sub(taken - used)
        } else {
            let owed = now.saturating_add(2 * MINUTE);
            (*full_at).max(now).saturating_add(used - taken).min(owed.max(*full_at))
        };
    }
}

/// Time in which a rate brings so much, in microseconds.
fn time_of(amount: u64, per_minute: u64) -> u64 {
    let time = u128::from(amount) * u128::from(MINUTE) / u128::from(per_minute.max(1));
    u64::try_from(time).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn take(unit: Unit, per_minute: u64, amount: u64) -> Take {
        Take { holder: Holder::Organisation(TenantId(Uuid::from_u128(1))), unit, per_minute, amount }
    }

    #[tokio::test(start_paused = true)]
    async fn a_minute_s_worth_comes_at_once_and_the_rest_in_time() {
        let rates = Rates::default();
        let one = take(Unit::Requests, 60, 1);
        for _ in 0..60 {
            rates.take(&[one]).unwrap();
        }
        assert_eq!(rates.take(&[one]).unwrap_err().wait, Duration::from_secs(1));
        tokio::time::advance(Duration::from_secs(2)).await;
        rates.take(&[one, one]).unwrap();
        assert!(rates.take(&[one]).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_taken_of_one_when_another_has_not_enough() {
        let rates = Rates::default();
        let (calls, tokens) = (take(Unit::Requests, 2, 1), take(Unit::Tokens, 100, 100));
        rates.take(&[calls, tokens]).unwrap();
        for _ in 0..10 {
            assert_eq!(rates.take(&[calls, tokens]).unwrap_err().take, tokens);
        }
        rates.take(&[calls]).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_estimate_is_settled_both_ways() {
        let rates = Rates::default();
        let guess = take(Unit::Tokens, 600, 600);
        rates.take(&[guess]).unwrap();
        rates.settle(guess, 100);
        rates.take(&[take(Unit::Tokens, 600, 500)]).unwrap();
        rates.settle(take(Unit::Tokens, 600, 500), 560);
        let short = rates.take(&[take(Unit::Tokens, 600, 10)]).unwrap_err();
        assert_eq!(short.wait, Duration::from_secs(7));
        // One that is larger than a bucket waits for a full one, and for no more.
        let huge = take(Unit::Tokens, 600, 1_000_000);
        tokio::time::advance(Duration::from_secs(66)).await;
        rates.take(&[huge]).unwrap();
        rates.settle(huge, 1_000_000);
        assert!(rates.take(&[take(Unit::Tokens, 600, 1)]).unwrap_err().wait <= Duration::from_secs(120));
    }
}
