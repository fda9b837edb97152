//! Arithmetic on dates, times and durations (DMN 1.5, Tables 52 to 57).
//!
//! A reason without words ([`no_meaning`]) stands for kinds that the operator does not join.

use super::Value;
use super::date::{Date, DaysAndTimeDuration, LocalTime, NANOS, SECONDS_PER_DAY};
use super::number::{Number, Rounding};
use super::outcome::{Outcome, null};
use super::time::{DateTime, Time};
use super::zone::Zone;
use crate::error::LimitError;

const DAY: i128 = SECONDS_PER_DAY as i128 * NANOS;

fn no_meaning<T>() -> Outcome<T> {
    null("")
}

fn beyond<T>() -> Outcome<T> {
    null("the result is beyond the years of dates or the range of durations")
}

fn duration(nanos: Option<i128>) -> Outcome {
    match nanos.and_then(DaysAndTimeDuration::from_nanos) {
        Some(duration) => Ok(Value::DaysAndTimeDuration(duration)),
        None => beyond(),
    }
}

pub(crate) fn add(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::DaysAndTimeDuration(x), Value::DaysAndTimeDuration(y)) => {
            duration(x.nanos().checked_add(y.nanos()))
        }
        (Value::YearsAndMonthsDuration(x), Value::YearsAndMonthsDuration(y)) => match x.checked_add(*y) {
            Some(months) => Ok(Value::YearsAndMonthsDuration(months)),
            None => beyond(),
        },
        (_, Value::DaysAndTimeDuration(_) | Value::YearsAndMonthsDuration(_)) => shift(a, b, false),
        (Value::DaysAndTimeDuration(_) | Value::YearsAndMonthsDuration(_), _) => shift(b, a, false),
        _ => no_meaning(),
    }
}

/// A date, time or date and time moved by a duration.
fn shift(value: &Value, by: &Value, back: bool) -> Outcome {
    let moved = match by {
        Value::YearsAndMonthsDuration(months) => {
            let months = if back { months.saturating_neg() } else { *months };
            match value {
                Value::Date(date) => date.plus_months(months).map(Value::Date),
                Value::DateTime(time) => time.date.plus_months(months).map(|date| {
                    Value::date_time(DateTime { date, clock: time.clock, zone: time.zone.clone() })
                }),
                _ => return no_meaning(),
            }
        }
        Value::DaysAndTimeDuration(duration) => {
            let nanos = if back { -duration.nanos() } else { duration.nanos() };
            match value {
                Value::Date(date) => {
                    // The day of the moment reached from that day's start.
                    let days = nanos.div_euclid(DAY);
                    i64::try_from(days)
                        .ok()
                        .and_then(|d| Date::from_epoch_day(date.epoch_day() + d))
                        .map(Value::Date)
                }
                Value::DateTime(time) => time.plus_nanos(nanos).map(Value::date_time),
                Value::Time(time) => {
                    let (clock, _) = LocalTime::from_nanos(time.clock.nanos_of_day() + nanos);
                    Some(Value::time(Time { clock, zone: time.zone.clone() }))
                }
                _ => return no_meaning(),
            }
        }
        _ => return no_meaning(),
    };
    moved.map_or_else(beyond, Ok)
}

/// A date read as the start of its day in UTC, to be set against a date and time.
fn start_of_day(date: Date) -> DateTime {
    DateTime { date, clock: LocalTime::MIDNIGHT, zone: Some(Zone::Offset(0)) }
}

fn apart(a: &DateTime, b: &DateTime) -> Outcome {
    if a.zone.is_some() != b.zone.is_some() {
        return null("a date and time with a zone and one without have no distance");
    }
    duration(a.nanos().checked_sub(b.nanos()))
}

pub(crate) fn subtract(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::DaysAndTimeDuration(x), Value::DaysAndTimeDuration(y)) => {
            duration(x.nanos().checked_sub(y.nanos()))
        }
        (Value::YearsAndMonthsDuration(x), Value::YearsAndMonthsDuration(y)) => match x.checked_sub(*y) {
            Some(months) => Ok(Value::YearsAndMonthsDuration(months)),
            None => beyond(),
        },
        (Value::Date(x), Value::Date(y)) => duration(Some(i128::from(x.epoch_day() - y.epoch_day()) * DAY)),
        (Value::DateTime(x), Value::DateTime(y)) => apart(x, y),
        (Value::Date(x), Value::DateTime(y)) => apart(&start_of_day(*x), y),
        (Value::DateTime(x), Value::Date(y)) => apart(x, &start_of_day(*y)),
        (Value::Time(x), Value::Time(y)) => {
            if x.zone.is_some() != y.zone.is_some() {
                return null("a time with a zone and one without have no distance");
            }
            duration(x.nanos().checked_sub(y.nanos()))
        }
        (_, Value::DaysAndTimeDuration(_) | Value::YearsAndMonthsDuration(_)) => shift(a, b, true),
        _ => no_meaning(),
    }
}

fn nanos_number(duration: DaysAndTimeDuration) -> Outcome<Number> {
    Ok(Number::new(duration.nanos(), 0)?)
}

fn whole(number: Number) -> Outcome<i128> {
    let number = number.round(0, Rounding::Down)?;
    let (coefficient, exponent) = number.parts();
    let power = u32::try_from(exponent).ok().and_then(|e| 10i128.checked_pow(e));
    match power.and_then(|p| coefficient.checked_mul(p)) {
        Some(whole) => Ok(whole),
        None => beyond(),
    }
}

fn months(number: Number) -> Outcome {
    match i64::try_from(whole(number)?) {
        Ok(months) => Ok(Value::YearsAndMonthsDuration(months)),
        Err(_) => beyond(),
    }
}

pub(crate) fn multiply(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::DaysAndTimeDuration(d), Value::Number(n))
        | (Value::Number(n), Value::DaysAndTimeDuration(d)) => {
            duration(Some(whole(nanos_number(*d)?.times(*n)?)?))
        }
        (Value::YearsAndMonthsDuration(m), Value::Number(n))
        | (Value::Number(n), Value::YearsAndMonthsDuration(m)) => months(Number::from_i64(*m).times(*n)?),
        _ => no_meaning(),
    }
}

/// A duration by a number, or how often one duration holds another.
pub(crate) fn divide(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::DaysAndTimeDuration(d), Value::Number(n)) => {
            duration(Some(whole(nanos_number(*d)?.over(*n)?)?))
        }
        (Value::YearsAndMonthsDuration(m), Value::Number(n)) => months(Number::from_i64(*m).over(*n)?),
        (Value::DaysAndTimeDuration(x), Value::DaysAndTimeDuration(y)) => {
            Ok(Value::Number(nanos_number(*x)?.over(nanos_number(*y)?)?))
        }
        (Value::YearsAndMonthsDuration(x), Value::YearsAndMonthsDuration(y)) => {
            Ok(Value::Number(Number::from_i64(*x).over(Number::from_i64(*y))?))
        }
        _ => no_meaning(),
    }
}

/// The negative of a number or a duration.
pub(crate) fn negate(value: &Value) -> Outcome {
    Ok(match value {
        Value::Number(number) => Value::Number(number.negate()),
        Value::DaysAndTimeDuration(duration) => match DaysAndTimeDuration::from_nanos(-duration.nanos()) {
            Some(negated) => Value::DaysAndTimeDuration(negated),
            None => return Err(LimitError::Exponent.into()),
        },
        Value::YearsAndMonthsDuration(months) => Value::YearsAndMonthsDuration(months.saturating_neg()),
        other => return null(format!("a {} has no negative", other.type_name())),
    })
}
