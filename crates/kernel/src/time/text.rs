//! Instants as text: RFC 3339 in and out.
//!
//! What is read is wider than RFC 3339 by what ISO 8601 and RFC 9557 allow beside it: no separators (`20260101T0500Z`),
//! no seconds, a comma before the fraction, seconds in the offset, years of six digits with a sign, and a zone's name
//! in brackets, which the offset makes idle.

use std::fmt;

use time::{Date, Month, OffsetDateTime, Time, UtcOffset};

/// Reader of a text: the bytes that are still to be read.
struct Reader<'a>(&'a [u8]);

/// Nanoseconds since the epoch; none when the text is no date and time with an offset.
pub(super) fn read(text: &str) -> Option<i128> {
    let mut reader = Reader(text.as_bytes());
    let date = reader.date()?;
    if !reader.one_of(b"Tt ") {
        return None;
    }
    let time = reader.time()?;
    let offset = reader.offset()?;
    reader.annotations()?;
    Some(date.with_time(time).assume_utc().unix_timestamp_nanos() - i128::from(offset) * 1_000_000_000)
}

impl Reader<'_> {
    fn one_of(&mut self, marks: &[u8]) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if marks.contains(first) => {
                self.0 = rest;
                true
            }
            Some(_) | None => false,
        }
    }

    fn starts_with_digits(&self, count: usize) -> bool {
        self.0.get(..count).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
    }

    /// A number of so many digits.
    fn number(&mut self, digits: usize) -> Option<u32> {
        if !self.starts_with_digits(digits) {
            return None;
        }
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        Some(number.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
    }

    fn two_digits(&mut self, most: u8) -> Option<u8> {
        u8::try_from(self.number(2)?).ok().filter(|number| *number <= most)
    }

    fn date(&mut self) -> Option<Date> {
        let negative = self.0.first() == Some(&b'-');
        let year = if self.one_of(b"+-") {
            let year = i32::try_from(self.number(6)?).ok()?;
            if negative && year == 0 {
                return None;
            }
            if negative { -year } else { year }
        } else {
            i32::try_from(self.number(4)?).ok()?
        };
        let extended = self.one_of(b"-");
        let month = self.two_digits(12)?;
        if extended != self.one_of(b"-") {
            return None;
        }
        Date::from_calendar_date(year, Month::try_from(month).ok()?, self.two_digits(31)?).ok()
    }

    fn time(&mut self) -> Option<Time> {
        let hour = self.two_digits(23)?;
        let extended = self.0.first() == Some(&b':');
        let minute = if self.goes_on(extended) { Some(self.two_digits(59)?) } else { None };
        let second =
            if minute.is_some() && self.goes_on(extended) { Some(self.two_digits(60)?) } else { None };
        let nanos = if second.is_some() { self.fraction()? } else { 0 };
        // A leap second has no instant of its own: it is read as the one before it.
        Time::from_hms_nano(hour, minute.unwrap_or(0), second.unwrap_or(0).min(59), nanos).ok()
    }

    /// Whether a smaller unit follows: behind a colon, or, where there are none, at once.
    fn goes_on(&mut self, extended: bool) -> bool {
        if extended { self.one_of(b":") } else { self.starts_with_digits(2) }
    }

    /// The nanoseconds of a fraction of one to nine digits; none for more, zero without one.
    fn fraction(&mut self) -> Option<u32> {
        if !self.one_of(b".,") {
            return Some(0);
        }
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let scale = 9_u32.checked_sub(u32::try_from(digits).ok()?).filter(|scale| *scale < 9)?;
        Some(self.number(digits)? * 10_u32.pow(scale))
    }

    /// The offset from UTC in seconds.
    fn offset(&mut self) -> Option<i32> {
        if self.one_of(b"Zz") {
            return Some(0);
        }
        let negative = self.0.first() == Some(&b'-');
        if !self.one_of(b"+-") {
            return None;
        }
        let hours = self.two_digits(25)?;
        let extended = self.0.first() == Some(&b':');
        let minutes = if self.goes_on(extended) { Some(self.two_digits(59)?) } else { None };
        let seconds =
            if minutes.is_some() && self.goes_on(extended) { Some(self.two_digits(59)?) } else { None };
        let nanos = if seconds.is_some() { self.fraction()? } else { 0 };
        let rounded = i32::from(nanos >= 500_000_000);
        let offset = UtcOffset::from_hms(
            i8::try_from(hours).ok()?,
            i8::try_from(minutes.unwrap_or(0)).ok()?,
            i8::try_from(seconds.unwrap_or(0)).ok()?,
        );
        let seconds = offset.ok()?.whole_seconds() + rounded;
        (seconds < 26 * 3600).then_some(if negative { -seconds } else { seconds })
    }

    /// `[Europe/Berlin][u-ca=iso8601]` up to the end of the text.
    fn annotations(&mut self) -> Option<()> {
        while self.one_of(b"[") {
            let end = self.0.iter().position(|byte| *byte == b']').filter(|end| *end > 0)?;
            let (inside, rest) = (self.0.get(..end)?, self.0.get(end + 1..)?);
            let critical = inside.first() == Some(&b'!') && inside.contains(&b'=');
            if critical || inside.contains(&b'[') {
                return None;
            }
            self.0 = rest;
        }
        self.0.is_empty().then_some(())
    }
}

/// Writes an instant in UTC with milliseconds; a year before 0 has a sign and six digits.
pub(super) fn write(f: &mut fmt::Formatter<'_>, at: OffsetDateTime) -> fmt::Result {
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second) = at.to_hms();
    let mut text = *b"-000000-00-00T00:00:00.000Z";
    for (end, number) in [
        (7, year.unsigned_abs()),
        (10, u32::from(u8::from(month))),
        (13, u32::from(day)),
        (16, u32::from(hour)),
        (19, u32::from(minute)),
        (22, u32::from(second)),
        (26, u32::from(at.millisecond())),
    ] {
        put(text.get_mut(..end).ok_or(fmt::Error)?, number);
    }
    let begin = if year < 0 { 0 } else { 3 };
    let shown = text.get(begin..).unwrap_or_default();
    str::from_utf8(shown).map_or(Err(fmt::Error), |text| f.write_str(text))
}

/// Writes a number's digits at the end of a text.
fn put(text: &mut [u8], mut number: u32) {
    for place in text.iter_mut().rev() {
        if number == 0 {
            break;
        }
        *place = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}
