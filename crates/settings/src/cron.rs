//! Cron expressions of other engines (`seconds minutes hours day month weekday [year]`) as ISO 8601 cycles, where there is
//! an exact one. Times are UTC.

/// A field of a cron expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Any,
    At(u32),
    /// From a value on, each so many.
    Every(u32, u32),
}

const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl Field {
    /// Reads a field whose values begin at `first`.
    fn read(text: &str, first: u32) -> Option<Self> {
        if matches!(text, "*" | "?") {
            return Some(Self::Any);
        }
        let Some((from, step)) = text.split_once('/') else { return Some(Self::At(digits(text)?)) };
        let from = if from == "*" { first } else { digits(from)? };
        let step = digits(step).filter(|step| *step > 0)?;
        Some(if step == 1 && from == first { Self::Any } else { Self::Every(from, step) })
    }

    /// First value and distance of a field whose values repeat after so many without a shorter step.
    const fn regular(self, count: u32) -> Option<(u32, u32)> {
        match self {
            Self::Any => Some((0, 1)),
            Self::Every(from, step) if count.is_multiple_of(step) && from < step => Some((from, step)),
            Self::At(_) | Self::Every(..) => None,
        }
    }
}

fn digits(text: &str) -> Option<u32> {
    if text.is_empty() || text.len() > 4 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Days of the calendar by which an expression repeats.
enum Days {
    Each,
    /// Number of the weekday, from Sunday as 0.
    Weekly(u32),
    /// Day of each month.
    Monthly(u32),
}

fn days(day: &str, weekday: &str) -> Option<Days> {
    let named = WEEKDAYS.iter().position(|own| weekday.eq_ignore_ascii_case(own));
    let weekday = match named.and_then(|at| u32::try_from(at).ok()) {
        Some(at) => Field::At(at + 1),
        None => Field::read(weekday, 1)?,
    };
    match (Field::read(day, 1)?, weekday) {
        (Field::Any, Field::Any) => Some(Days::Each),
        (Field::Any, Field::At(number @ 1..=7)) => Some(Days::Weekly(number - 1)),
        // Later days are not in every month.
        (Field::At(number @ 1..=28), Field::Any) => Some(Days::Monthly(number)),
        _ => None,
    }
}

/// The ISO 8601 cycle of a cron expression; none when the text is no such expression, or no regular one.
pub(super) fn cycle(text: &str) -> Option<String> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let (seconds, minutes, hours, day, month, weekday) = match fields.as_slice() {
        [seconds, minutes, hours, day, month, weekday] => (seconds, minutes, hours, day, month, weekday),
        [seconds, minutes, hours, day, month, weekday, "*"] => (seconds, minutes, hours, day, month, weekday),
        _ => return None,
    };
    if Field::read(month, 1)? != Field::Any {
        return None;
    }
    let days = days(day, weekday)?;
    let [seconds, minutes, hours] =
        [Field::read(seconds, 0)?, Field::read(minutes, 0)?, Field::read(hours, 0)?];
    let each = matches!(days, Days::Each);
    let (time, period) = match (seconds, minutes, hours) {
        (seconds, Field::Any, Field::Any) if each && !matches!(seconds, Field::At(_)) => {
            let (from, step) = seconds.regular(60)?;
            ([0, 0, from], format!("PT{step}S"))
        }
        (Field::At(second), minutes, Field::Any) if each && !matches!(minutes, Field::At(_)) => {
            let (from, step) = minutes.regular(60)?;
            ([0, from, second], format!("PT{step}M"))
        }
        (Field::At(second), Field::At(minute), hours) if each && !matches!(hours, Field::At(_)) => {
            let (from, step) = hours.regular(24)?;
            ([from, minute, second], format!("PT{step}H"))
        }
        (Field::At(second), Field::At(minute), Field::At(hour)) => {
            let period = match days {
                Days::Each => "P1D",
                Days::Weekly(_) => "P7D",
                Days::Monthly(_) => "P1M",
            };
            ([hour, minute, second], period.to_owned())
        }
        _ => return None,
    };
    // The second of January 2000 was a Sunday.
    let date = match days {
        Days::Each => 1,
        Days::Weekly(number) => 2 + number,
        Days::Monthly(number) => number,
    };
    let [hour, minute, second] = time;
    (hour < 24 && minute < 60 && second < 60)
        .then(|| format!("R/2000-01-{date:02}T{hour:02}:{minute:02}:{second:02}Z/{period}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_expressions_are_cycles() {
        for (cron, expected) in [
            ("0/5 0/1 * 1/1 * ?", Some("R/2000-01-01T00:00:00Z/PT5S")),
            ("0 0/20 * 1/1 * ? *", Some("R/2000-01-01T00:00:00Z/PT20M")),
            ("0 0/5 * * * ?", Some("R/2000-01-01T00:00:00Z/PT5M")),
            ("30 10 */6 * * ?", Some("R/2000-01-01T00:10:30Z/PT6H")),
            ("0 30 8 * * ?", Some("R/2000-01-01T08:30:00Z/P1D")),
            ("0 0 9 ? * MON", Some("R/2000-01-03T09:00:00Z/P7D")),
            ("0 0 9 ? * 7", Some("R/2000-01-08T09:00:00Z/P7D")),
            ("0 0 9 15 * ?", Some("R/2000-01-15T09:00:00Z/P1M")),
            ("0 0/7 * * * ?", None),
            ("0 0 9 31 * ?", None),
            ("0 0 9 ? * MON-FRI", None),
            ("0 0 9 1 1 ?", None),
            ("0 0 25 * * ?", None),
            ("0 * 8 * * ?", None),
            ("R3/PT5M", None),
            ("", None),
        ] {
            assert_eq!(cycle(cron).as_deref(), expected, "{cron}");
        }
    }
}
