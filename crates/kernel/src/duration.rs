//! The one reader of ISO 8601 durations.

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;

/// A duration as it is written: the units of the calendar by themselves, those of the clock together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IsoDuration {
    /// Whether a minus stands before it.
    pub negative: bool,
    /// Years.
    pub years: Option<i64>,
    /// Months.
    pub months: Option<i64>,
    /// Weeks.
    pub weeks: Option<i64>,
    /// Days.
    pub days: Option<i64>,
    /// Hours, minutes and seconds, in nanoseconds.
    pub clock: Option<i128>,
}

impl IsoDuration {
    /// Reads `P1Y2M3W4DT5H6M7.5S`, with a sign before it. The last unit of the clock may have a fraction; designators may
    /// be small, and a comma may stand for the point.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        read(text, false)
    }

    /// Reads what XML Schema and FEEL take of that: capital letters, no plus, no weeks, a fraction of seconds only.
    #[must_use]
    pub fn parse_strict(text: &str) -> Option<Self> {
        read(text, true)
    }

    /// Whether it is no time at all.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        let units = [self.years, self.months, self.weeks, self.days];
        units.into_iter().flatten().all(|amount| amount == 0) && self.clock.unwrap_or(0) == 0
    }

    /// Length in nanoseconds; none when it has years or months, whose length depends on the date.
    #[must_use]
    pub fn nanos(&self) -> Option<i128> {
        if self.years.is_some() || self.months.is_some() {
            return None;
        }
        let days = i128::from(self.weeks.unwrap_or(0)) * 7 + i128::from(self.days.unwrap_or(0));
        let nanos = days * 86_400 * SECOND + self.clock.unwrap_or(0);
        Some(if self.negative { -nanos } else { nanos })
    }
}

/// Takes the next character off when it is this designator.
fn eat(rest: &mut &str, designator: u8, strict: bool) -> bool {
    let found = rest.bytes().next().is_some_and(|own| {
        own == designator || (!strict && own.is_ascii_lowercase() && own.to_ascii_uppercase() == designator)
    });
    if found {
        *rest = rest.get(1..).unwrap_or_default();
    }
    found
}

/// Takes digits off.
fn digits<'a>(rest: &mut &'a str) -> &'a str {
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (head, tail) = rest.split_at(end);
    *rest = tail;
    head
}

/// Billionths of a fraction's digits; what is finer is cut off.
fn billionths(digits: &str) -> i128 {
    (0..9).fold(0, |sum, at| sum * 10 + digits.as_bytes().get(at).map_or(0, |own| i128::from(own - b'0')))
}

fn read(text: &str, strict: bool) -> Option<IsoDuration> {
    let mut rest = text;
    let negative = eat(&mut rest, b'-', true);
    if !negative && !strict {
        eat(&mut rest, b'+', true);
    }
    if !eat(&mut rest, b'P', strict) || rest.is_empty() {
        return None;
    }
    let mut found = IsoDuration { negative, ..IsoDuration::default() };
    // The designators that may still come.
    let mut designators: &[u8] = b"YMWD";
    while !rest.is_empty() && !eat(&mut rest, b'T', strict) {
        let amount = digits(&mut rest).parse().ok()?;
        let at = designators.iter().position(|&own| eat(&mut rest, own, strict))?;
        match designators.get(at)? {
            b'Y' => found.years = Some(amount),
            b'M' => found.months = Some(amount),
            b'W' if !strict => found.weeks = Some(amount),
            b'D' => found.days = Some(amount),
            _ => return None,
        }
        designators = designators.get(at + 1..)?;
        if rest.is_empty() {
            return Some(found);
        }
    }
    found.clock = Some(clock(rest, strict)?);
    Some(found)
}

/// The hours, minutes and seconds behind the `T`, of which there is one at least.
fn clock(mut rest: &str, strict: bool) -> Option<i128> {
    let mut units: &[(u8, i128)] = &[(b'H', 3600), (b'M', 60), (b'S', 1)];
    let mut nanos = 0;
    loop {
        let amount: i64 = digits(&mut rest).parse().ok()?;
        let point = eat(&mut rest, b'.', true) || (!strict && eat(&mut rest, b',', true));
        let fraction = if point { Some(digits(&mut rest)) } else { None };
        let at = units.iter().position(|&(own, _)| eat(&mut rest, own, strict))?;
        let &(_, seconds) = units.get(at)?;
        nanos += i128::from(amount) * seconds * SECOND;
        if let Some(fraction) = fraction {
            // Only the last unit has one.
            if (strict && seconds != 1) || (!strict && fraction.is_empty()) || !rest.is_empty() {
                return None;
            }
            nanos += billionths(fraction) * seconds;
        }
        if rest.is_empty() {
            return Some(nanos);
        }
        units = units.get(at + 1..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        let hour = 3600 * SECOND;
        for (text, nanos) in [
            ("PT2S", Some(2 * SECOND)),
            ("-pt1,5h", Some(-(hour + hour / 2))),
            ("+P1W2DT3H", Some((9 * 24 + 3) * hour)),
            ("PT36H0.25S", Some(36 * hour + SECOND / 4)),
            ("P0D", Some(0)),
            ("P1Y2M", None),
        ] {
            assert_eq!(IsoDuration::parse(text).unwrap().nanos(), nanos, "{text}");
        }
        assert!(IsoDuration::parse("P0YT0S").unwrap().is_zero());
        assert_eq!(IsoDuration::parse("P1M").unwrap().months, Some(1));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "P",
            "PT",
            "-PT",
            "P1DT",
            "P1",
            "PT5",
            "PTS",
            "P1H",
            "PT1D",
            "P1.5D",
            "PT1M1H",
            "P1D1D",
            "P1DP1D",
            "PT1.S",
            "PT.5S",
            "PT1.5H1M",
            "5 minutes",
            "P-1D",
            "PTT1S",
        ] {
            assert_eq!(IsoDuration::parse(text), None, "{text}");
        }
        for text in ["p1d", "+P1D", "P1W", "PT1,5S", "PT1.5H", "PT"] {
            assert_eq!(IsoDuration::parse_strict(text), None, "{text}");
        }
    }
}
