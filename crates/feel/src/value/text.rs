//! The lexical forms of dates, times and durations: XML Schema's, with `@Region` for zones (DMN 1.5, 10.3.2.3).

use std::fmt;

use heddle_kernel::IsoDuration;

use super::date::{Date, DaysAndTimeDuration, LocalTime, NANOS};
use super::time::{DateTime, Time};
use super::zone::Zone;

struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn eat(&mut self, c: char) -> bool {
        match self.0.strip_prefix(c) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn digits(&mut self) -> &'a str {
        let end = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (head, tail) = self.0.split_at(end);
        self.0 = tail;
        head
    }

    fn two(&mut self) -> Option<u32> {
        let text = self.0.get(..2)?;
        if !text.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        self.0 = self.0.get(2..)?;
        text.parse().ok()
    }

    /// `.digits`, cut to nanoseconds.
    fn fraction(&mut self) -> Option<u32> {
        if !self.eat('.') {
            return Some(0);
        }
        if self.0.starts_with(|c: char| c.is_ascii_digit()) { Some(self.fraction_digits()) } else { None }
    }

    fn fraction_digits(&mut self) -> u32 {
        let digits = self.digits();
        let mut nanos = 0;
        for i in 0..9 {
            nanos = nanos * 10 + u32::from(digits.as_bytes().get(i).map_or(0, |b| b - b'0'));
        }
        nanos
    }

    fn date(&mut self) -> Option<Date> {
        let negative = self.eat('-');
        let digits = self.digits();
        if digits.len() < 4 || digits.len() > 9 || (digits.len() > 4 && digits.starts_with('0')) {
            return None;
        }
        let year: i32 = digits.parse().ok()?;
        if !self.eat('-') {
            return None;
        }
        let month = self.two()?;
        if !self.eat('-') {
            return None;
        }
        let day = self.two()?;
        Date::new(if negative { -year } else { year }, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
    }

    /// The wall clock and whether it was written 24:00:00.
    fn clock(&mut self) -> Option<(LocalTime, bool)> {
        let hour = self.two()?;
        if !self.eat(':') {
            return None;
        }
        let minute = self.two()?;
        if !self.eat(':') {
            return None;
        }
        let second = self.two()?;
        let nanos = self.fraction()?;
        if hour == 24 && minute == 0 && second == 0 && nanos == 0 {
            return Some((LocalTime::MIDNIGHT, true));
        }
        Some((LocalTime::new(hour, minute, second, nanos)?, false))
    }

    fn zone(&mut self) -> Option<Option<Zone>> {
        if self.0.is_empty() {
            return Some(None);
        }
        if self.eat('@') {
            let name = std::mem::take(&mut self.0);
            return Zone::region(name).map(Some);
        }
        if self.eat('Z') || self.eat('z') {
            return Some(Some(Zone::Offset(0)));
        }
        let negative = self.eat('-');
        if !negative && !self.eat('+') {
            return None;
        }
        let hours = self.two()?;
        if !self.eat(':') {
            return None;
        }
        let minutes = self.two()?;
        let seconds = if self.eat(':') { self.two()? } else { 0 };
        if hours > 18 || minutes > 59 || seconds > 59 {
            return None;
        }
        let total = i32::try_from(hours * 3600 + minutes * 60 + seconds).ok()?;
        Some(Some(Zone::Offset(if negative { -total } else { total })))
    }

    fn done<T>(&self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

/// Reads `-?YYYY-MM-DD`.
#[must_use]
pub fn parse_date(text: &str) -> Option<Date> {
    let mut at = Cursor(text);
    let date = at.date()?;
    at.done(date)
}

/// Reads `hh:mm:ss[.fraction][zone]`.
#[must_use]
pub fn parse_time(text: &str) -> Option<Time> {
    let mut at = Cursor(text);
    at.eat('T');
    let (clock, _) = at.clock()?;
    let zone = at.zone()?;
    at.done(Time { clock, zone })
}

/// Reads a date, `T`, a time; a date alone is the start of that day.
#[must_use]
pub fn parse_date_time(text: &str) -> Option<DateTime> {
    let mut at = Cursor(text);
    let date = at.date()?;
    if at.0.is_empty() {
        return Some(DateTime { date, clock: LocalTime::MIDNIGHT, zone: None });
    }
    if !at.eat('T') {
        return None;
    }
    let (clock, next_day) = at.clock()?;
    let zone = at.zone()?;
    let date = if next_day { Date::from_epoch_day(date.epoch_day() + 1)? } else { date };
    at.done(DateTime { date, clock, zone })
}

/// A duration as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Duration {
    /// Only days, hours, minutes, seconds.
    DaysAndTime(DaysAndTimeDuration),
    /// Only years and months.
    YearsAndMonths(i64),
}

/// Reads `-?PnYnM` or `-?PnDTnHnMnS`; both at once are no duration of FEEL.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let IsoDuration { negative, years, months, days, clock, .. } = IsoDuration::parse_strict(text)?;
    match (years.or(months), days.is_some() || clock.is_some()) {
        (Some(_), false) => {
            let total = years.unwrap_or(0).checked_mul(12)?.checked_add(months.unwrap_or(0))?;
            Some(Duration::YearsAndMonths(if negative { -total } else { total }))
        }
        (None, true) => {
            let nanos = i128::from(days.unwrap_or(0)) * 86_400 * NANOS + clock.unwrap_or(0);
            DaysAndTimeDuration::from_nanos(if negative { -nanos } else { nanos }).map(Duration::DaysAndTime)
        }
        (None, false) | (Some(_), true) => None,
    }
}

fn write_fraction(f: &mut fmt::Formatter<'_>, nanos: u32) -> fmt::Result {
    if nanos == 0 {
        return Ok(());
    }
    let digits = format!("{nanos:09}");
    write!(f, ".{}", digits.trim_end_matches('0'))
}

fn write_zone(f: &mut fmt::Formatter<'_>, zone: Option<&Zone>) -> fmt::Result {
    match zone {
        None => Ok(()),
        Some(Zone::Region(region)) => write!(f, "@{}", region.name()),
        Some(Zone::Offset(0)) => f.write_str("Z"),
        Some(Zone::Offset(total)) => {
            let (sign, seconds) = (if *total < 0 { '-' } else { '+' }, total.unsigned_abs());
            write!(f, "{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
            if seconds % 60 == 0 { Ok(()) } else { write!(f, ":{:02}", seconds % 60) }
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.year() < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{:02}-{:02}", self.year().unsigned_abs(), self.month(), self.day())
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.hour(), self.minute(), self.second())?;
        write_fraction(f, self.nanos())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.clock)?;
        write_zone(f, self.zone.as_ref())
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{}", self.date, self.clock)?;
        write_zone(f, self.zone.as_ref())
    }
}

impl fmt::Display for DaysAndTimeDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.nanos();
        if total == 0 {
            return f.write_str("PT0S");
        }
        let absolute = total.unsigned_abs();
        let (seconds, nanos) = (absolute / 1_000_000_000, (absolute % 1_000_000_000) as u32);
        let (days, rest) = (seconds / 86_400, seconds % 86_400);
        f.write_str(if total < 0 { "-P" } else { "P" })?;
        if days > 0 {
            write!(f, "{days}D")?;
        }
        if rest == 0 && nanos == 0 {
            return Ok(());
        }
        f.write_str("T")?;
        if rest / 3600 > 0 {
            write!(f, "{}H", rest / 3600)?;
        }
        if rest / 60 % 60 > 0 {
            write!(f, "{}M", rest / 60 % 60)?;
        }
        if rest % 60 > 0 || nanos > 0 {
            write!(f, "{}", rest % 60)?;
            write_fraction(f, nanos)?;
            f.write_str("S")?;
        }
        Ok(())
    }
}

/// Writes a years and months duration of so many months.
#[must_use]
pub(crate) fn months_text(months: i64) -> String {
    let (sign, total) = (if months < 0 { "-" } else { "" }, months.unsigned_abs());
    match (total / 12, total % 12) {
        (0, m) => format!("{sign}P{m}M"),
        (y, 0) => format!("{sign}P{y}Y"),
        (y, m) => format!("{sign}P{y}Y{m}M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_written() {
        for (text, written) in [
            ("P1D", "P1D"),
            ("PT36H", "P1DT12H"),
            ("-PT1.5S", "-PT1.5S"),
            ("P1Y14M", "P2Y2M"),
            ("P0D", "PT0S"),
            ("P0Y", "P0M"),
            ("P1DT2H3M4S", "P1DT2H3M4S"),
        ] {
            let got = match parse_duration(text) {
                Some(Duration::DaysAndTime(d)) => d.to_string(),
                Some(Duration::YearsAndMonths(m)) => months_text(m),
                None => "none".into(),
            };
            assert_eq!(got, written, "{text}");
        }
        for bad in ["P", "PT", "P1", "P1YT1H", "P1M1D", "P1H", "PT1D", "P1.5D", "PT1M1H", "P1D1D", ""] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn dates_read_and_written() {
        for text in
            ["2024-02-29", "-0001-01-01", "999999999-12-31", "-999999999-01-01", "0000-03-01", "10000-01-01"]
        {
            let date = parse_date(text).expect(text);
            assert_eq!(date.to_string(), text);
            assert_eq!(Date::from_epoch_day(date.epoch_day()), Some(date), "{text}");
        }
        for bad in [
            "2023-02-29",
            "2023-13-01",
            "23-01-01",
            "02023-01-01",
            "2023-1-1",
            "1000000000-01-01",
            "+2023-01-01",
        ] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_with_zones() {
        for (text, written) in [
            ("2017-08-10T10:20:00@Europe/Paris", "2017-08-10T10:20:00@Europe/Paris"),
            ("2017-08-10T24:00:00Z", "2017-08-11T00:00:00Z"),
            ("2017-08-10T10:20:00.120+05:30", "2017-08-10T10:20:00.12+05:30"),
            ("2017-08-10", "2017-08-10T00:00:00"),
        ] {
            assert_eq!(parse_date_time(text).expect(text).to_string(), written);
        }
        let paris = parse_date_time("2017-08-10T10:20:00@Europe/Paris").expect("date and time");
        assert_eq!(paris.offset(), Some(7200));
        let far = parse_date_time("99999-08-10T10:20:00@Europe/Paris").expect("date and time");
        assert_eq!(far.offset(), Some(7200));
        for bad in [
            "2017-08-10T10:20",
            "2017-08-10T25:00:00",
            "2017-08-10T10:20:00@No/Where",
            "2017-08-10T10:20:00+19:00",
        ] {
            assert!(parse_date_time(bad).is_none(), "{bad}");
        }
    }
}
