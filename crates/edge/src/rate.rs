//! Rates of requests: a bucket of tokens for each source.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::address::Source;

/// Most sources that are remembered. Whoever comes when so many are busy at once is let through: the limits on
/// connections hold for them, too.
const SOURCES: usize = 65_536;
/// Time between two looks for sources that can be forgotten.
const SWEEP: Duration = Duration::from_secs(1);
/// Seconds whose requests may come at once.
const BURST_SECONDS: u32 = 10;

/// Rate of requests that one source may keep up, with a burst.
#[derive(Debug)]
pub(crate) struct Rate {
    per_second: f64,
    burst: f64,
    buckets: Mutex<Buckets>,
}

#[derive(Debug)]
struct Buckets {
    by_source: HashMap<Source, Bucket>,
    swept: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Rate {
    /// Rate without a limit when `per_second` is 0.
    pub(crate) fn new(per_second: u32, now: Instant) -> Self {
        let burst = f64::from(per_second.saturating_mul(BURST_SECONDS));
        let buckets = Buckets { by_source: HashMap::new(), swept: now };
        Self { per_second: f64::from(per_second), burst, buckets: Mutex::new(buckets) }
    }

    /// Takes one request of a source.
    ///
    /// # Errors
    /// Time after which the next one is taken.
    pub(crate) fn take(&self, source: Source, now: Instant) -> Result<(), Duration> {
        if self.per_second == 0.0 {
            return Ok(());
        }
        let mut buckets = self.buckets.lock();
        if let Some(bucket) = buckets.by_source.get_mut(&source) {
            bucket.tokens = self.tokens(*bucket, now);
            bucket.at = now;
            if bucket.tokens < 1.0 {
                return Err(Duration::from_secs_f64((1.0 - bucket.tokens) / self.per_second));
            }
            bucket.tokens -= 1.0;
            return Ok(());
        }
        if buckets.by_source.len() >= SOURCES && now.saturating_duration_since(buckets.swept) >= SWEEP {
            buckets.by_source.retain(|_, bucket| self.tokens(*bucket, now) < self.burst);
            buckets.swept = now;
        }
        if buckets.by_source.len() < SOURCES {
            buckets.by_source.insert(source, Bucket { tokens: self.burst - 1.0, at: now });
        }
        Ok(())
    }

    fn tokens(&self, bucket: Bucket, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        passed.mul_add(self.per_second, bucket.tokens).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(number: u32) -> Source {
        Source::of(std::net::Ipv4Addr::from_bits(number).into())
    }

    #[test]
    fn a_burst_passes_and_then_the_rate_holds_for_its_source_alone() {
        let begin = Instant::now();
        let rate = Rate::new(2, begin);
        assert!((0..20).all(|_| rate.take(source(1), begin).is_ok()));
        assert_eq!(rate.take(source(1), begin), Err(Duration::from_millis(500)));
        assert!(rate.take(source(2), begin).is_ok());
        let later = begin + Duration::from_secs(1);
        assert!((0..2).all(|_| rate.take(source(1), later).is_ok()));
        assert!(rate.take(source(1), later).is_err());
        let much_later = begin + Duration::from_secs(1000);
        assert_eq!((0..100).filter(|_| rate.take(source(1), much_later).is_ok()).count(), 20);
    }

    #[test]
    fn sources_are_forgotten_when_their_buckets_are_full() {
        let begin = Instant::now();
        let rate = Rate::new(1, begin);
        let most = u32::try_from(SOURCES).unwrap();
        for number in 0..most + 100 {
            assert!(rate.take(source(number), begin).is_ok());
        }
        assert_eq!(rate.buckets.lock().by_source.len(), SOURCES);
        assert!(rate.take(source(most + 7), begin + Duration::from_secs(20)).is_ok());
        assert_eq!(rate.buckets.lock().by_source.len(), 1);
    }

    #[test]
    fn no_limit_remembers_nobody() {
        let begin = Instant::now();
        let rate = Rate::new(0, begin);
        assert!((0..1000).all(|_| rate.take(source(1), begin).is_ok()));
        assert!(rate.buckets.lock().by_source.is_empty());
    }
}
