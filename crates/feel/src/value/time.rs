//! Times of day and moments with zones (DMN 1.5, 10.3.2.3.5 and 10.3.2.3.6).

use std::cmp::Ordering;

use super::date::{Date, LocalTime, NANOS, SECONDS_PER_DAY};
use super::zone::Zone;

/// A time of day with or without a zone.
#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    /// The wall clock.
    pub clock: LocalTime,
    /// The zone, when the time has one.
    pub zone: Option<Zone>,
}

impl Time {
    /// Seconds east of UTC; a region is read on 1970-01-01, since a time alone has no date.
    #[must_use]
    pub fn offset(&self) -> Option<i32> {
        self.zone.as_ref().map(|zone| zone.offset_at(Date::EPOCH, self.clock))
    }

    /// Nanoseconds from midnight UTC, or from local midnight for a time without a zone.
    #[must_use]
    pub fn nanos(&self) -> i128 {
        self.clock.nanos_of_day() - i128::from(self.offset().unwrap_or(0)) * NANOS
    }

    /// The order of two times; none between one with and one without a zone.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        // To the second, which is what FEEL's `second` counts: fractions neither order nor distinguish times.
        (self.zone.is_some() == other.zone.is_some())
            .then(|| self.nanos().div_euclid(NANOS).cmp(&other.nanos().div_euclid(NANOS)))
    }
}

/// A date and time with or without a zone.
#[derive(Debug, Clone, PartialEq)]
pub struct DateTime {
    /// The calendar day.
    pub date: Date,
    /// The wall clock.
    pub clock: LocalTime,
    /// The zone, when the date and time has one.
    pub zone: Option<Zone>,
}

impl DateTime {
    /// Seconds east of UTC.
    #[must_use]
    pub fn offset(&self) -> Option<i32> {
        self.zone.as_ref().map(|zone| zone.offset_at(self.date, self.clock))
    }

    /// Nanoseconds since 1970 in UTC, or in local time for a value without a zone.
    #[must_use]
    pub fn nanos(&self) -> i128 {
        let day = i128::from(self.date.epoch_day()) * i128::from(SECONDS_PER_DAY);
        (day - i128::from(self.offset().unwrap_or(0))) * NANOS + self.clock.nanos_of_day()
    }

    /// The wall clock of that many nanoseconds since 1970 in local time.
    #[must_use]
    pub fn from_local_nanos(nanos: i128, zone: Option<Zone>) -> Option<Self> {
        let (clock, days) = LocalTime::from_nanos(nanos);
        Some(Self { date: Date::from_epoch_day(days)?, clock, zone })
    }

    /// The instant in UTC of that many nanoseconds since 1970.
    #[must_use]
    pub fn from_utc_nanos(nanos: i128) -> Option<Self> {
        Self::from_local_nanos(nanos, Some(Zone::Offset(0)))
    }

    /// The value so many nanoseconds later on the time line, in the same zone.
    #[must_use]
    pub fn plus_nanos(&self, nanos: i128) -> Option<Self> {
        match &self.zone {
            Some(zone @ Zone::Region(_)) => Self::at(self.nanos().checked_add(nanos)?, zone.clone()),
            zone => {
                let local = i128::from(self.date.epoch_day()) * i128::from(SECONDS_PER_DAY) * NANOS
                    + self.clock.nanos_of_day();
                Self::from_local_nanos(local.checked_add(nanos)?, zone.clone())
            }
        }
    }

    /// The moment so many nanoseconds after 1970 in UTC, on the clocks of the zone.
    #[must_use]
    pub fn at(nanos: i128, zone: Zone) -> Option<Self> {
        let utc = Self::from_utc_nanos(nanos)?;
        let offset = i128::from(zone.offset_when(utc.date, utc.clock)) * NANOS;
        Self::from_local_nanos(nanos.checked_add(offset)?, Some(zone))
    }

    /// The order of two values; none between one with and one without a zone.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        // To the second, which is what FEEL's `second` counts: fractions neither order nor distinguish times.
        (self.zone.is_some() == other.zone.is_some())
            .then(|| self.nanos().div_euclid(NANOS).cmp(&other.nanos().div_euclid(NANOS)))
    }
}
