//! Dates, times and durations made of texts and parts (DMN 1.5, 10.3.4.1).

use super::Args;
use crate::machine::Machine;
use crate::value::Value;
use crate::value::date::{Date, DaysAndTimeDuration, LocalTime, MAX_YEAR};
use crate::value::number::Number;
use crate::value::outcome::{Outcome, null};
use crate::value::text::{Duration, parse_date, parse_date_time, parse_duration, parse_time};
use crate::value::time::{DateTime, Time};
use crate::value::zone::Zone;

fn whole(args: &Args<'_>, at: usize) -> Outcome<i64> {
    let number = args.number(at)?;
    match number.to_i64() {
        Some(whole) => Ok(whole),
        None => null(format!("argument {} is no whole number", at + 1)),
    }
}

fn no_date<T>() -> Outcome<T> {
    null("there is no such date")
}

fn no_time<T>() -> Outcome<T> {
    null("there is no such time")
}

fn year_month_day(args: &Args<'_>) -> Outcome<Date> {
    let (year, month, day) = (whole(args, 0)?, whole(args, 1)?, whole(args, 2)?);
    let date = i32::try_from(year).ok().zip(u8::try_from(month).ok().zip(u8::try_from(day).ok()));
    date.filter(|(year, _)| (-MAX_YEAR..=MAX_YEAR).contains(year))
        .and_then(|(year, (month, day))| Date::new(year, month, day))
        .map_or_else(no_date, Ok)
}

/// Hour, minute and second from that argument on; the second may have a fraction.
fn clock(args: &Args<'_>, from: usize) -> Outcome<LocalTime> {
    let (hour, minute) = (whole(args, from)?, whole(args, from + 1)?);
    let second = args.number(from + 2)?;
    let nanos = second.times(Number::from_i64(1_000_000_000))?.truncated();
    let parts = u32::try_from(hour)
        .ok()
        .zip(u32::try_from(minute).ok())
        .zip(nanos.and_then(|n| u64::try_from(n).ok()));
    parts
        .and_then(|((hour, minute), nanos)| {
            let second = u32::try_from(nanos / 1_000_000_000).ok()?;
            LocalTime::new(hour, minute, second, u32::try_from(nanos % 1_000_000_000).ok()?)
        })
        .map_or_else(no_time, Ok)
}

fn offset(duration: DaysAndTimeDuration) -> Outcome<Zone> {
    let seconds = duration.nanos() / 1_000_000_000;
    match i32::try_from(seconds) {
        Ok(seconds) if seconds.abs() <= 18 * 3600 => Ok(Zone::Offset(seconds)),
        _ => null("a zone's offset is at most 18 hours"),
    }
}

fn zone(args: &Args<'_>, at: usize) -> Outcome<Option<Zone>> {
    match args.single(at) {
        Value::Null => Ok(None),
        Value::DaysAndTimeDuration(duration) => offset(*duration).map(Some),
        Value::String(name) => {
            Zone::region(name).map_or_else(|| null(format!("there is no zone `{name}`")), |z| Ok(Some(z)))
        }
        other => null(format!("a {} is no zone", other.type_name())),
    }
}

pub(super) fn date(_: &mut Machine, args: &Args<'_>) -> Outcome {
    if args.len() == 1 { date_of(args.single(0)) } else { year_month_day(args).map(Value::Date) }
}

pub(super) fn time(_: &mut Machine, args: &Args<'_>) -> Outcome {
    if args.len() == 1 {
        return time_of(args.single(0));
    }
    let clock = clock(args, 0)?;
    let zone = match args.single(3) {
        Value::Null => None,
        Value::DaysAndTimeDuration(duration) => Some(offset(*duration)?),
        other => return null(format!("a {} is no offset", other.type_name())),
    };
    Ok(Value::time(Time { clock, zone }))
}

pub(super) fn date_and_time(_: &mut Machine, args: &Args<'_>) -> Outcome {
    match args.len() {
        1 => date_time_of(args.single(0)),
        2 => joined(args),
        _ => {
            let (date, clock) = (year_month_day(args)?, clock(args, 3)?);
            Ok(Value::date_time(DateTime { date, clock, zone: zone(args, 6)? }))
        }
    }
}

fn date_of(value: &Value) -> Outcome {
    match value {
        Value::Date(date) => Ok(Value::Date(*date)),
        Value::DateTime(time) => Ok(Value::Date(time.date)),
        Value::String(text) => parse_date(text).map_or_else(no_date, |date| Ok(Value::Date(date))),
        other => null(format!("a {} is no date", other.type_name())),
    }
}

fn time_of(value: &Value) -> Outcome {
    match value {
        Value::Time(time) => Ok(Value::Time(time.clone())),
        Value::DateTime(time) => Ok(Value::time(Time { clock: time.clock, zone: time.zone.clone() })),
        Value::Date(_) => Ok(Value::time(Time { clock: LocalTime::MIDNIGHT, zone: Some(Zone::Offset(0)) })),
        Value::String(text) => parse_time(text).map_or_else(no_time, |time| Ok(Value::time(time))),
        other => null(format!("a {} is no time", other.type_name())),
    }
}

fn date_time_of(value: &Value) -> Outcome {
    match value {
        Value::DateTime(time) => Ok(Value::DateTime(time.clone())),
        Value::Date(date) => Ok(Value::date_time(DateTime {
            date: *date,
            clock: LocalTime::MIDNIGHT,
            zone: Some(Zone::Offset(0)),
        })),
        Value::String(text) => parse_date_time(text)
            .map_or_else(|| null("there is no such date and time"), |time| Ok(Value::date_time(time))),
        other => null(format!("a {} is no date and time", other.type_name())),
    }
}

/// A date and the time of day of the second argument, or a moment in its zone.
fn joined(args: &Args<'_>) -> Outcome {
    let date = match args.single(0) {
        Value::Date(date) => *date,
        Value::DateTime(time) => match args.single(1) {
            Value::String(_) => return in_zone(time, args),
            _ => time.date,
        },
        other => return null(format!("a {} is no date", other.type_name())),
    };
    match args.single(1) {
        Value::Time(time) => {
            Ok(Value::date_time(DateTime { date, clock: time.clock, zone: time.zone.clone() }))
        }
        other => null(format!("a {} is no time", other.type_name())),
    }
}

/// The same moment on the clocks of another zone; a local value is taken to be of that zone.
fn in_zone(time: &DateTime, args: &Args<'_>) -> Outcome {
    let Some(zone) = zone(args, 1)? else { return null("a zone is needed") };
    if time.zone.is_none() {
        return Ok(Value::date_time(DateTime { zone: Some(zone), ..time.clone() }));
    }
    let shifted = DateTime::at(time.nanos(), zone);
    shifted.map_or_else(no_date, |time| Ok(Value::date_time(time)))
}

pub(super) fn duration(_: &mut Machine, args: &Args<'_>) -> Outcome {
    match args.single(0) {
        value @ (Value::DaysAndTimeDuration(_) | Value::YearsAndMonthsDuration(_)) => Ok(value.clone()),
        Value::String(text) => match parse_duration(text) {
            Some(Duration::DaysAndTime(duration)) => Ok(Value::DaysAndTimeDuration(duration)),
            Some(Duration::YearsAndMonths(months)) => Ok(Value::YearsAndMonthsDuration(months)),
            None => null("this text is no duration"),
        },
        other => null(format!("a {} is no duration", other.type_name())),
    }
}

/// Whole months between two dates, counted towards the later one; of dates and times only the dates count.
pub(super) fn years_and_months_duration(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let (from, to) = (args.date(0)?, args.date(1)?);
    let index = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month());
    let mut months = index(to) - index(from);
    if months > 0 && to.day() < from.day() {
        months -= 1;
    } else if months < 0 && to.day() > from.day() {
        months += 1;
    }
    Ok(Value::YearsAndMonthsDuration(months))
}
