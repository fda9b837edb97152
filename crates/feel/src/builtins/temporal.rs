//! Functions on dates, times and durations (DMN 1.5, 10.3.4.7 and 10.3.4.8) and the properties of values (Table 65).

use super::{Args, Builtin};
use crate::Value;
use crate::eval::{Machine, Outcome, null};
use crate::value::date::{Date, DateTime, DaysAndTimeDuration, LocalTime, Zone, days_in_month};
use crate::value::number::Number;

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn date(args: &Args<'_>, at: usize) -> Outcome<Date> {
    match args.single(at) {
        Value::Date(date) => Ok(*date),
        Value::DateTime(time) => Ok(time.date),
        other => null(format!("a {} is no date", other.type_name())),
    }
}

pub(super) fn call(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    machine.charge(4)?;
    let text =
        |names: &[&'static str], at: u8| Value::string(names.get(usize::from(at - 1)).copied().unwrap_or(""));
    Ok(match builtin {
        Builtin::Now | Builtin::Today => {
            let nanos = i128::from(machine.now().micros()) * 1000;
            let Some(now) = DateTime::from_utc_nanos(nanos) else {
                return null("the present time is out of range");
            };
            if builtin == Builtin::Now { Value::date_time(now) } else { Value::Date(now.date) }
        }
        Builtin::Is => {
            machine.charge(u64::from(args.any(0).weight().min(args.any(1).weight())))?;
            Value::Boolean(is(args.any(0), args.any(1)))
        }
        Builtin::DayOfYear => Value::Number(Number::from(u32::from(date(args, 0)?.day_of_year()))),
        Builtin::DayOfWeek => text(&DAYS, date(args, 0)?.weekday()),
        Builtin::MonthOfYear => text(&MONTHS, date(args, 0)?.month()),
        Builtin::WeekOfYear => Value::Number(Number::from(u32::from(date(args, 0)?.iso_week()))),
        Builtin::LastDayOfMonth => {
            let day = date(args, 0)?;
            let last = Date::new(day.year(), day.month(), days_in_month(day.year(), day.month()));
            last.map_or(Value::Null, Value::Date)
        }
        _ => return years_and_months(args),
    })
}

/// Whole months between two dates, counted towards the later one; of dates and times only the dates count.
fn years_and_months(args: &Args<'_>) -> Outcome {
    let (from, to) = (date(args, 0)?, date(args, 1)?);
    let index = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month());
    let mut months = index(to) - index(from);
    if months > 0 && to.day() < from.day() {
        months -= 1;
    } else if months < 0 && to.day() > from.day() {
        months += 1;
    }
    Ok(Value::YearsAndMonthsDuration(months))
}

/// Sameness, which for times and dates goes further than equality: zones count as they are written.
fn is(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Time(a), Value::Time(b)) => a == b,
        (Value::DateTime(a), Value::DateTime(b)) => a == b,
        _ => a.equals(b) == Some(true),
    }
}

fn count(number: impl TryInto<i64>) -> Value {
    number.try_into().map_or(Value::Null, Value::integer)
}

fn zone_property(offset: Option<i32>, zone: Option<&Zone>, name: &str) -> Option<Value> {
    match name {
        "time offset" => Some(offset.map_or(Value::Null, |seconds| {
            let nanos = i128::from(seconds) * 1_000_000_000;
            DaysAndTimeDuration::from_nanos(nanos).map_or(Value::Null, Value::DaysAndTimeDuration)
        })),
        "timezone" => Some(zone.and_then(Zone::name).map_or(Value::Null, Value::string)),
        _ => None,
    }
}

fn date_property(date: Date, name: &str) -> Option<Value> {
    Some(match name {
        "year" => count(date.year()),
        "month" => count(date.month()),
        "day" => count(date.day()),
        "weekday" => count(date.weekday()),
        _ => return None,
    })
}

fn clock_property(clock: LocalTime, name: &str) -> Option<Value> {
    Some(match name {
        "hour" => count(clock.hour()),
        "minute" => count(clock.minute()),
        "second" => count(clock.second()),
        _ => return None,
    })
}

/// The property of a value that is no context; `None` when it has none of that name.
pub(crate) fn property(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Date(date) => date_property(*date, name).or_else(|| clock_property(LocalTime::MIDNIGHT, name)),
        Value::Time(time) => clock_property(time.clock, name)
            .or_else(|| zone_property(time.offset(), time.zone.as_ref(), name)),
        Value::DateTime(time) => date_property(time.date, name)
            .or_else(|| clock_property(time.clock, name))
            .or_else(|| zone_property(time.offset(), time.zone.as_ref(), name)),
        Value::DaysAndTimeDuration(duration) => {
            let seconds = duration.nanos() / 1_000_000_000;
            Some(match name {
                "days" => count(seconds / 86_400),
                "hours" => count(seconds / 3600 % 24),
                "minutes" => count(seconds / 60 % 60),
                "seconds" => count(seconds % 60),
                _ => return None,
            })
        }
        Value::YearsAndMonthsDuration(months) => Some(match name {
            "years" => count(months / 12),
            "months" => count(months % 12),
            _ => return None,
        }),
        Value::Range(range) => Some(match name {
            "start" => range.low.clone().unwrap_or_default(),
            "end" => range.high.clone().unwrap_or_default(),
            "start included" => Value::Boolean(range.low_included),
            "end included" => Value::Boolean(range.high_included),
            _ => return None,
        }),
        _ => None,
    }
}
