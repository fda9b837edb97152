//! Calendar dates, times of day, zones and durations over years ±999,999,999 (DMN 1.5, 10.3.2.3.4 to 10.3.2.3.8).

use std::cmp::Ordering;

use jiff::tz::TimeZone;

/// The greatest year, and negated the least (XML Schema's lexical forms bounded as DMN does).
pub const MAX_YEAR: i32 = 999_999_999;
pub(crate) const SECONDS_PER_DAY: i64 = 86_400;
pub(crate) const NANOS: i128 = 1_000_000_000;

/// A date of the proleptic Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: i32,
    month: u8,
    day: u8,
}

/// How many days the month has.
#[must_use]
pub fn days_in_month(year: i32, month: u8) -> u8 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Date {
    /// A date, or `None` when there is no such day or the year is out of range.
    #[must_use]
    pub fn new(year: i32, month: u8, day: u8) -> Option<Self> {
        let real = (-MAX_YEAR..=MAX_YEAR).contains(&year)
            && (1..=12).contains(&month)
            && day >= 1
            && day <= days_in_month(year, month);
        real.then_some(Self { year, month, day })
    }

    /// The year; 0 is 1 BC.
    #[must_use]
    pub const fn year(self) -> i32 {
        self.year
    }

    /// The month, 1 to 12.
    #[must_use]
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, 1 to 31.
    #[must_use]
    pub const fn day(self) -> u8 {
        self.day
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn epoch_day(self) -> i64 {
        let y = i64::from(self.year) - i64::from(self.month <= 2);
        let era = y.div_euclid(400);
        let yoe = y.rem_euclid(400);
        let mp = (i64::from(self.month) + 9) % 12;
        let doy = (153 * mp + 2) / 5 + i64::from(self.day) - 1;
        era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
    }

    /// The date so many days after 1970-01-01.
    #[must_use]
    pub fn from_epoch_day(days: i64) -> Option<Self> {
        let z = days.checked_add(719_468)?;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = era.checked_mul(400)? + yoe + i64::from(month <= 2);
        Self::new(i32::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
    }

    /// ISO weekday, 1 = Monday to 7 = Sunday.
    #[must_use]
    pub fn weekday(self) -> u8 {
        u8::try_from((self.epoch_day() + 3).rem_euclid(7) + 1).unwrap_or(1)
    }

    /// Day of the year, from 1.
    #[must_use]
    pub fn day_of_year(self) -> u16 {
        let first = Self { year: self.year, month: 1, day: 1 };
        u16::try_from(self.epoch_day() - first.epoch_day() + 1).unwrap_or(1)
    }

    /// ISO 8601 week, 1 to 53.
    #[must_use]
    pub fn iso_week(self) -> u8 {
        // The week belongs to the year in which its Thursday lies.
        let thursday = self.epoch_day() + 4 - i64::from(self.weekday());
        let week = Self::from_epoch_day(thursday).map_or(1, |date| (date.day_of_year() - 1) / 7 + 1);
        u8::try_from(week).unwrap_or(1)
    }

    /// The same day so many months later, moved to the month's last day where it is shorter.
    #[must_use]
    pub fn plus_months(self, months: i64) -> Option<Self> {
        let index = (i64::from(self.year) * 12 + i64::from(self.month) - 1).checked_add(months)?;
        let year = i32::try_from(index.div_euclid(12)).ok()?;
        let month = u8::try_from(index.rem_euclid(12) + 1).ok()?;
        Self::new(year, month, self.day.min(days_in_month(year, month)))
    }
}

/// The zone of a time: an offset, or a region of the IANA data base.
#[derive(Debug, Clone)]
pub enum Zone {
    /// Seconds east of UTC, at most 18 hours either way (`Z`, `+02:00`).
    Offset(i32),
    /// A region, written `@Europe/Paris`.
    Region(TimeZone),
}

impl Zone {
    /// The region of that IANA name.
    #[must_use]
    pub fn region(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some()).map(Self::Region)
    }

    /// The region's name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Offset(_) => None,
            Self::Region(zone) => zone.iana_name(),
        }
    }

    /// Seconds east of UTC at that local date and time; in a gap or fold the offset before it holds.
    #[must_use]
    pub fn offset_at(&self, date: Date, time: LocalTime) -> i32 {
        let zone = match self {
            Self::Offset(seconds) => return *seconds,
            Self::Region(zone) => zone,
        };
        let instant = civil(date, time).map(|local| zone.to_ambiguous_timestamp(local).compatible());
        match instant {
            Some(Ok(instant)) => zone.to_offset(instant).seconds(),
            _ => 0,
        }
    }

    /// Seconds east of UTC at the moment when it is that date and time in UTC.
    fn offset_when(&self, date: Date, time: LocalTime) -> i32 {
        let zone = match self {
            Self::Offset(seconds) => return *seconds,
            Self::Region(zone) => zone,
        };
        match civil(date, time).map(|utc| TimeZone::UTC.to_timestamp(utc)) {
            Some(Ok(instant)) => zone.to_offset(instant).seconds(),
            _ => 0,
        }
    }
}

/// To the second as jiff has it. The rules of zones repeat with the calendar's 400 years, so a year beyond jiff's range
/// has an equal one inside.
fn civil(date: Date, time: LocalTime) -> Option<jiff::civil::DateTime> {
    let year = match date.year {
        y if y > 9000 => 2400 + (y % 400),
        y if y < -9000 => -8000 + y.rem_euclid(400),
        y => y,
    };
    let day = (i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?);
    let clock = (
        i8::try_from(time.hour()).ok()?,
        i8::try_from(time.minute()).ok()?,
        i8::try_from(time.second()).ok()?,
    );
    let year = i16::try_from(year).ok()?;
    jiff::civil::DateTime::new(year, day.0, day.1, clock.0, clock.1, clock.2, 0).ok()
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Offset(a), Self::Offset(b)) => a == b,
            (Self::Region(a), Self::Region(b)) => a.iana_name() == b.iana_name(),
            _ => false,
        }
    }
}

/// A time of day to the nanosecond, without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime {
    seconds: u32,
    nanos: u32,
}

impl LocalTime {
    /// The start of the day.
    pub const MIDNIGHT: Self = Self { seconds: 0, nanos: 0 };

    /// A time, or `None` when a part is out of range.
    #[must_use]
    pub fn new(hour: u32, minute: u32, second: u32, nanos: u32) -> Option<Self> {
        let real = hour < 24 && minute < 60 && second < 60 && nanos < 1_000_000_000;
        real.then(|| Self { seconds: hour * 3600 + minute * 60 + second, nanos })
    }

    /// The hour, 0 to 23.
    #[must_use]
    pub const fn hour(self) -> u32 {
        self.seconds / 3600
    }

    /// The minute, 0 to 59.
    #[must_use]
    pub const fn minute(self) -> u32 {
        self.seconds / 60 % 60
    }

    /// The second, 0 to 59.
    #[must_use]
    pub const fn second(self) -> u32 {
        self.seconds % 60
    }

    /// Nanoseconds within the second.
    #[must_use]
    pub const fn nanos(self) -> u32 {
        self.nanos
    }

    /// Nanoseconds since midnight.
    #[must_use]
    pub fn nanos_of_day(self) -> i128 {
        i128::from(self.seconds) * NANOS + i128::from(self.nanos)
    }

    /// The time so many nanoseconds after midnight, and the days carried.
    #[must_use]
    pub fn from_nanos(nanos: i128) -> (Self, i64) {
        let day = i128::from(SECONDS_PER_DAY) * NANOS;
        let rest = nanos.rem_euclid(day);
        let time = Self {
            seconds: u32::try_from(rest / NANOS).unwrap_or(0),
            nanos: u32::try_from(rest % NANOS).unwrap_or(0),
        };
        (time, i64::try_from(nanos.div_euclid(day)).unwrap_or(i64::MAX))
    }
}

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
        let date = Date { year: 1970, month: 1, day: 1 };
        self.zone.as_ref().map(|zone| zone.offset_at(date, self.clock))
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

/// A days and time duration to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DaysAndTimeDuration {
    // Whole seconds rounded down and the nanoseconds above them, so that the derived order is the real one.
    seconds: i64,
    nanos: u32,
}

impl DaysAndTimeDuration {
    /// From nanoseconds; `None` beyond what any two dates can be apart.
    #[must_use]
    pub fn from_nanos(nanos: i128) -> Option<Self> {
        let seconds = i64::try_from(nanos.div_euclid(NANOS)).ok()?;
        Some(Self { seconds, nanos: u32::try_from(nanos.rem_euclid(NANOS)).ok()? })
    }

    /// The length in nanoseconds.
    #[must_use]
    pub fn nanos(self) -> i128 {
        i128::from(self.seconds) * NANOS + i128::from(self.nanos)
    }
}
