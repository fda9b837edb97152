//! Calendar dates, times of day and durations over years ±999,999,999 (DMN 1.5, 10.3.2.3.4 to 10.3.2.3.8).

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

/// Number of days of a month.
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
    /// The day from which days are counted.
    pub(super) const EPOCH: Self = Self { year: 1970, month: 1, day: 1 };

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

/// A days and time duration to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DaysAndTimeDuration {
    // Whole seconds rounded down and the nanoseconds above them, so that the derived order is the real one.
    seconds: i64,
    nanos: u32,
}

impl DaysAndTimeDuration {
    /// The duration of so many nanoseconds; `None` beyond what any two dates can be apart.
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
