//! Rates of one organisation: so many starts and messages a second, so that one that floods leaves room for the others.

use std::collections::HashMap;
use std::sync::Arc;

use heddle_kernel::{TenantId, Timestamp};
use parking_lot::Mutex;

use crate::UseCaseError;

/// Most organisations of which a rate remembers something; one that it forgets begins anew.
const REMEMBERED: usize = 10_000;
/// Seconds' worth of a rate that may come at once.
const BURST_SECONDS: i64 = 2;
const MICROS: i64 = 1_000_000;

/// Rates by name that hold beside the configured ones (a licence's): the lower one counts.
pub trait RateSource: Send + Sync {
    /// So many a second at most; none when nothing is said of a rate of this name.
    fn licensed(&self, name: &str) -> Option<u64>;
}

/// The rates of each organisation.
#[derive(Debug)]
pub struct Limits {
    /// Runs that callers and timers start; a timer waits for its turn.
    pub starts: Rate,
    /// Case events, signals, and delivered messages.
    pub messages: Rate,
}

impl Default for Limits {
    fn default() -> Self {
        Self::per_second(Self::STARTS, Self::MESSAGES)
    }
}

impl Limits {
    /// Starts a second of one organisation, unless configured.
    pub const STARTS: u32 = 10_000;
    /// Messages a second of one organisation, unless configured.
    pub const MESSAGES: u32 = 10_000;

    /// Limits of so many starts and messages a second.
    #[must_use]
    pub fn per_second(starts: u32, messages: u32) -> Self {
        Self {
            starts: Rate::new("starts_per_second", starts),
            messages: Rate::new("messages_per_second", messages),
        }
    }

    /// The same, or lower where the source says so: it knows them as `startsPerSecond` and `messagesPerSecond`.
    #[must_use]
    pub fn within(mut self, source: Arc<dyn RateSource>) -> Self {
        self.starts.licensed = Some(Licensed { name: "startsPerSecond", source: Arc::clone(&source) });
        self.messages.licensed = Some(Licensed { name: "messagesPerSecond", source });
        self
    }
}

/// A rate, counted for each organisation by itself: a bucket of tokens that fills as time passes.
#[derive(Debug)]
pub struct Rate {
    name: &'static str,
    per_second: u32,
    licensed: Option<Licensed>,
    buckets: Mutex<HashMap<TenantId, Bucket>>,
}

/// Name of a rate in a licence, and where that is asked for.
struct Licensed {
    name: &'static str,
    source: Arc<dyn RateSource>,
}

impl std::fmt::Debug for Licensed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Licensed").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Tokens of an organisation in millionths, at an instant.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: i64,
    at: Timestamp,
}

impl Rate {
    /// A rate that is named by its key of the configuration.
    #[must_use]
    pub fn new(name: &'static str, per_second: u32) -> Self {
        Self { name, per_second: per_second.max(1), licensed: None, buckets: Mutex::default() }
    }

    /// Takes one.
    ///
    /// # Errors
    /// `RateLimited` when the organisation has had its share.
    pub fn take(&self, tenant: TenantId, now: Timestamp) -> Result<(), UseCaseError> {
        if self.take_up_to(tenant, 1, now) == 1 {
            return Ok(());
        }
        Err(UseCaseError::RateLimited {
            limit: self.name,
            per_second: u64::from(self.per_second()),
            retry_after_seconds: 1,
        })
    }

    /// The rate that holds now.
    fn per_second(&self) -> u32 {
        let licensed = self.licensed.as_ref().and_then(|of| of.source.licensed(of.name));
        licensed.map_or(self.per_second, |most| {
            self.per_second.min(u32::try_from(most).unwrap_or(u32::MAX)).max(1)
        })
    }

    /// Takes as many as there are, at most `wanted`; the number taken.
    pub fn take_up_to(&self, tenant: TenantId, wanted: usize, now: Timestamp) -> usize {
        let rate = self.per_second();
        let mut buckets = self.buckets.lock();
        if buckets.len() >= REMEMBERED && !buckets.contains_key(&tenant) {
            // A full bucket says as much as none.
            buckets.retain(|_, bucket| filled(*bucket, rate, now).tokens < full(rate));
            if buckets.len() >= REMEMBERED {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(tenant).or_insert(Bucket { tokens: full(rate), at: now });
        *bucket = filled(*bucket, rate, now);
        let there = usize::try_from(bucket.tokens / MICROS).unwrap_or(0);
        let taken = there.min(wanted);
        bucket.tokens -= i64::try_from(taken).unwrap_or(0).saturating_mul(MICROS);
        taken
    }
}

/// Millionths of tokens in a full bucket.
fn full(per_second: u32) -> i64 {
    i64::from(per_second) * BURST_SECONDS * MICROS
}

/// The bucket as it is at `now`. A clock that goes back fills nothing.
fn filled(bucket: Bucket, per_second: u32, now: Timestamp) -> Bucket {
    let passed = now.micros().saturating_sub(bucket.at.micros()).clamp(0, BURST_SECONDS * MICROS);
    let tokens = bucket.tokens.saturating_add(passed.saturating_mul(i64::from(per_second)));
    Bucket { tokens: tokens.min(full(per_second)), at: bucket.at.max(now) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);

    fn tenant(number: u128) -> TenantId {
        TenantId(Uuid::from_u128(number))
    }

    #[test]
    fn an_organisation_has_its_burst_and_then_its_rate_and_takes_nothing_from_another() {
        let rate = Rate::new("messages_per_second", 10);
        assert_eq!(rate.take_up_to(tenant(1), 100, NOW), 20);
        let refused = rate.take(tenant(1), NOW);
        assert!(
            matches!(
                refused,
                Err(UseCaseError::RateLimited { limit: "messages_per_second", per_second: 10, .. })
            ),
            "{refused:?}"
        );
        assert!(rate.take(tenant(2), NOW).is_ok());
        assert_eq!(rate.take_up_to(tenant(1), 100, NOW.plus_millis(500)), 5);
        assert_eq!(rate.take_up_to(tenant(1), 100, NOW), 0, "a clock that goes back gives nothing");
        assert_eq!(rate.take_up_to(tenant(1), 100, NOW.plus_seconds(3600)), 20);
    }

    #[test]
    fn a_licence_lowers_a_rate_and_raises_none() {
        struct Twenty;
        impl RateSource for Twenty {
            fn licensed(&self, name: &str) -> Option<u64> {
                (name == "startsPerSecond").then_some(20)
            }
        }
        for (configured, starts) in [(100, 40), (10, 20)] {
            let limits = Limits::per_second(configured, configured).within(Arc::new(Twenty));
            assert_eq!(limits.starts.take_up_to(tenant(1), 1_000, NOW), starts);
            assert_eq!(limits.messages.take_up_to(tenant(1), 1_000, NOW), 2 * configured as usize);
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let rate = Rate::new("starts_per_second", 1);
        for number in 0..REMEMBERED as u128 + 10 {
            assert!(rate.take(tenant(number), NOW).is_ok());
        }
        assert!(rate.buckets.lock().len() <= REMEMBERED);
    }
}
