//! Instants, and the port through which the present time comes in.

mod text;

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::time::OffsetDateTime;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant in microseconds since 1970-01-01T00:00:00Z; written as RFC 3339 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// The text is not an RFC 3339 instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 date and time with an offset")]
pub struct TimeError(pub String);

impl Timestamp {
    /// The first instant that a text can name, -9999-01-02T01:59:59Z: in every zone it is still a date.
    pub const MIN: Self = Self(-377_705_023_201_000_000);
    /// The last instant that a text can name, within 9999-12-30T22:00:00Z: in every zone it is still a date.
    pub const MAX: Self = Self(253_402_207_200_999_999);

    /// From microseconds since the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The instant so many milliseconds later (or earlier).
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis.saturating_mul(1000)))
    }

    /// The instant so many seconds later (or earlier).
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        self.plus_millis(seconds.saturating_mul(1000))
    }

    /// The time that has passed since an earlier instant; none has since a later one.
    #[must_use]
    pub fn duration_since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// As a date and time in UTC; beyond the range, its end.
    fn to_utc(self) -> OffsetDateTime {
        let micros = self.clamp(Self::MIN, Self::MAX).0;
        let second = OffsetDateTime::from_unix_timestamp(micros.div_euclid(1_000_000));
        let within = Duration::from_micros(micros.rem_euclid(1_000_000).unsigned_abs());
        second.map_or(OffsetDateTime::UNIX_EPOCH, |second| second + within)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(f, self.to_utc())
    }
}

impl FromStr for Timestamp {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        // A part of a microsecond is dropped, towards the epoch.
        let micros = text::read(text).and_then(|nanos| i64::try_from(nanos / 1000).ok()).map(Self);
        micros
            .filter(|instant| (Self::MIN..=Self::MAX).contains(instant))
            .ok_or_else(|| TimeError(text.chars().take(80).collect()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Source of the present time.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// A clock that stands still until it is moved: for tests.
#[derive(Debug, Default)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock that stands at the given instant.
    #[must_use]
    pub const fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Moves the clock forward.
    pub fn advance_millis(&self, millis: i64) {
        self.0.fetch_add(millis * 1000, Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_in_utc_with_milliseconds() {
        let instant: Timestamp = "2026-11-21T05:00:00.123456+01:00".parse().unwrap();
        assert_eq!(instant.to_string(), "2026-11-21T04:00:00.123Z");
        assert_eq!(instant.micros() % 1_000_000, 123_456);
        assert!("2026-11-21".parse::<Timestamp>().is_err());
    }

    #[test]
    fn time_passes_from_the_earlier_to_the_later() {
        let (one, two) =
            (Timestamp::from_micros(1_000_001), Timestamp::from(UNIX_EPOCH + Duration::from_secs(2)));
        assert_eq!(two.duration_since(one), Duration::from_micros(999_999));
        assert_eq!(one.duration_since(two), Duration::ZERO);
    }

    #[test]
    fn ends_of_the_range_do_not_panic() {
        for micros in [i64::MIN, i64::MAX] {
            assert!(!Timestamp::from_micros(micros).plus_seconds(i64::MAX).to_string().is_empty());
        }
        for (micros, expected) in [
            (i64::MIN, "-009999-01-02T01:59:59.000Z"),
            (Timestamp::MIN.micros(), "-009999-01-02T01:59:59.000Z"),
            (i64::MAX, "9999-12-30T22:00:00.999Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00.000Z"),
            (-62_167_219_200_000_001, "-000001-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-1_000, "1969-12-31T23:59:59.999Z"),
            (1_999, "1970-01-01T00:00:00.001Z"),
        ] {
            let instant = Timestamp::from_micros(micros);
            assert_eq!(instant.to_string(), expected, "{micros}");
            let again: Timestamp = expected.parse().unwrap();
            let apart = instant.clamp(Timestamp::MIN, Timestamp::MAX).micros() - again.micros();
            assert!((0..1000).contains(&apart), "{expected}: {apart}");
        }
    }

    #[test]
    fn texts_are_read_as_instants() {
        for (text, expected) in [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02t03:04:05z", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02 03:04:05Z", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T03:04:05.678901234Z", "2026-01-02T03:04:05.678Z"),
            ("2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05.500Z"),
            ("2026-01-02T03:04Z", "2026-01-02T03:04:00.000Z"),
            ("2026-01-02T03Z", "2026-01-02T03:00:00.000Z"),
            ("20260102T030405Z", "2026-01-02T03:04:05.000Z"),
            ("20260102T0304Z", "2026-01-02T03:04:00.000Z"),
            ("2026-06-30T23:59:60Z", "2026-06-30T23:59:59.000Z"),
            ("2026-06-30T23:59:60.25Z", "2026-06-30T23:59:59.250Z"),
            ("2026-01-02T03:04:05+01:00", "2026-01-02T02:04:05.000Z"),
            ("2026-01-02T03:04:05-01:30", "2026-01-02T04:34:05.000Z"),
            ("2026-01-02T03:04:05-00:00", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T03:04:05+01", "2026-01-02T02:04:05.000Z"),
            ("2026-01-02T03:04:05+0130", "2026-01-02T01:34:05.000Z"),
            ("2026-01-02T03:04:05+01:30:15", "2026-01-02T01:33:50.000Z"),
            ("2026-01-02T03:04:05+25:59:59", "2026-01-01T01:04:06.000Z"),
            ("2026-01-02T03:04:05+01:00[Europe/Berlin]", "2026-01-02T02:04:05.000Z"),
            ("2026-01-02T03:04:05Z[Europe/Berlin][u-ca=iso8601]", "2026-01-02T03:04:05.000Z"),
            ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("-000001-12-31T23:59:59.999Z", "-000001-12-31T23:59:59.999Z"),
            ("+002026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
            ("9999-12-30T22:00:00.999999Z", "9999-12-30T22:00:00.999Z"),
            ("9999-12-31T23:59:59+25:59:59", "9999-12-30T22:00:00.000Z"),
            ("-009999-01-02T01:59:59Z", "-009999-01-02T01:59:59.000Z"),
            ("1969-12-31T23:59:59.9999999Z", "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2026-01-02",
            "2026-01-02T03:04:05",
            "2026-01-02_03:04:05Z",
            "2026-02-29T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-02T24:00:00Z",
            "2026-01-02T03:60:00Z",
            "2026-01-02T03:04:61Z",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04:05.1234567890Z",
            "2026-01-0203:04:05Z",
            "2026-0102T03:04:05Z",
            "202601-02T03:04:05Z",
            "2026-01-02T03:0405Z",
            "2026-01-02T0304:05Z",
            "2026-01-02T03:04:05+26:00",
            "2026-01-02T03:04:05+1:00",
            "2026-01-02T03:04:05Z ",
            " 2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05ZZ",
            "2026-01-02T03:04:05Z[Europe/Berlin",
            "2026-01-02T03:04:05Z[]",
            "2026-01-02T03:04:05Z[!u-ca=iso8601]",
            "-000000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "+010000-01-01T00:00:00Z",
            "9999-12-31T00:00:00Z",
            "9999-12-30T22:00:01Z",
            "-009999-01-02T01:59:58Z",
            "\u{0662}026-01-02T03:04:05Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
        let long = "9".repeat(200);
        assert_eq!(long.parse::<Timestamp>().unwrap_err().0.len(), 80);
    }
}
