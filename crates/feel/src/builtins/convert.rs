//! Conversions (DMN 1.5, 10.3.4.1).

use std::fmt::Write;
use std::sync::Arc;

use super::{Args, Builtin};
use crate::eval::{Machine, Outcome, null};
use crate::program::{Node, NodeId, Program};
use crate::value::date::{Date, DateTime, DaysAndTimeDuration, LocalTime, MAX_YEAR, Time, Zone};
use crate::value::json::{from_json, to_json};
use crate::value::number::{Number, Rounding};
use crate::value::text::{Duration, parse_date, parse_date_time, parse_duration, parse_time};
use crate::{LimitError, Value, syntax};

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

pub(super) fn temporal(builtin: Builtin, args: &Args<'_>) -> Outcome {
    match (builtin, args.len()) {
        (Builtin::Date, 1) => date(args),
        (Builtin::Date, _) => year_month_day(args).map(Value::Date),
        (Builtin::Time, 1) => time(args),
        (Builtin::Time, _) => {
            let clock = clock(args, 0)?;
            let zone = match args.single(3) {
                Value::Null => None,
                Value::DaysAndTimeDuration(duration) => Some(offset(*duration)?),
                other => return null(format!("a {} is no offset", other.type_name())),
            };
            Ok(Value::time(Time { clock, zone }))
        }
        (Builtin::DateAndTime, 1) => date_time(args),
        (Builtin::DateAndTime, 2) => date_and_time(args),
        (Builtin::DateAndTime, _) => {
            let (date, clock) = (year_month_day(args)?, clock(args, 3)?);
            Ok(Value::date_time(DateTime { date, clock, zone: zone(args, 6)? }))
        }
        _ => duration(args),
    }
}

fn date(args: &Args<'_>) -> Outcome {
    match args.single(0) {
        Value::Date(date) => Ok(Value::Date(*date)),
        Value::DateTime(time) => Ok(Value::Date(time.date)),
        Value::String(text) => parse_date(text).map_or_else(no_date, |date| Ok(Value::Date(date))),
        other => null(format!("a {} is no date", other.type_name())),
    }
}

fn time(args: &Args<'_>) -> Outcome {
    match args.single(0) {
        Value::Time(time) => Ok(Value::Time(time.clone())),
        Value::DateTime(time) => Ok(Value::time(Time { clock: time.clock, zone: time.zone.clone() })),
        Value::Date(_) => Ok(Value::time(Time { clock: LocalTime::MIDNIGHT, zone: Some(Zone::Offset(0)) })),
        Value::String(text) => parse_time(text).map_or_else(no_time, |time| Ok(Value::time(time))),
        other => null(format!("a {} is no time", other.type_name())),
    }
}

fn date_time(args: &Args<'_>) -> Outcome {
    match args.single(0) {
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

fn date_and_time(args: &Args<'_>) -> Outcome {
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

fn duration(args: &Args<'_>) -> Outcome {
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

fn separator(args: &Args<'_>, at: usize, allowed: &[&str]) -> Outcome<Option<String>> {
    match args.single(at) {
        Value::Null => Ok(None),
        Value::String(text) if allowed.contains(&&**text) => Ok(Some(text.to_string())),
        _ => null("a separator is a space, a comma or a period"),
    }
}

pub(super) fn number(args: &Args<'_>, machine: &mut Machine) -> Outcome {
    if let (1, Value::Number(number)) = (args.len(), args.single(0)) {
        return Ok(Value::Number(*number));
    }
    let mut text = args.string(0)?.to_string();
    machine.charge(text.len() as u64 / 16)?;
    let grouping = separator(args, 1, &[" ", ",", "."])?;
    let decimal = separator(args, 2, &[",", "."])?;
    if grouping.is_some() && grouping == decimal {
        return null("the two separators are the same");
    }
    if let Some(grouping) = grouping {
        text = text.replace(grouping.as_str(), "");
    }
    if let Some(decimal) = decimal
        && decimal != "."
    {
        if text.contains('.') {
            return null("this text is no number");
        }
        text = text.replace(decimal.as_str(), ".");
    }
    match text.parse::<Number>() {
        Ok(number) => Ok(Value::Number(number)),
        Err(_) => null("this text is no number"),
    }
}

/// Stops writing when the text gets too long.
struct Bounded {
    text: String,
    room: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        self.room = self.room.checked_sub(part.len()).ok_or(std::fmt::Error)?;
        self.text.push_str(part);
        Ok(())
    }
}

pub(super) fn string(args: &Args<'_>, machine: &mut Machine) -> Outcome {
    match args.any(0) {
        Value::Null => Ok(Value::Null),
        Value::String(text) => Ok(Value::String(text.clone())),
        value => {
            machine.charge(u64::from(value.weight()) + 4)?;
            let mut bounded = Bounded { text: String::new(), room: machine.string_size() };
            if write!(bounded, "{value}").is_err() {
                return Err(LimitError::StringSize(machine.string_size()).into());
            }
            Ok(Value::string(bounded.text))
        }
    }
}

/// The value when the condition holds, else null for the cause given.
pub(super) fn assert(args: &Args<'_>) -> Outcome {
    match (args.any(1), args.any(2)) {
        (Value::Boolean(true), _) => Ok(args.any(0).clone()),
        (_, Value::String(cause)) => null(cause.to_string()),
        _ => null("the condition of assert() is not fulfilled"),
    }
}

pub(super) fn read_json(args: &Args<'_>, machine: &mut Machine) -> Outcome {
    let text = args.string(0)?;
    machine.charge(text.len() as u64)?;
    match serde_json::from_str(text) {
        Ok(json) => Ok(from_json(&json)),
        Err(error) => null(format!("this text is no JSON: {error}")),
    }
}

pub(super) fn write_json(args: &Args<'_>, machine: &mut Machine) -> Outcome {
    let value = args.any(0);
    machine.charge(u64::from(value.weight()) * 8)?;
    let mut bounded = Bounded { text: String::new(), room: machine.string_size() };
    if write!(bounded, "{}", to_json(value)).is_err() {
        return Err(LimitError::StringSize(machine.string_size()).into());
    }
    Ok(Value::string(bounded.text))
}

/// Whether the node is a literal, as the ends of a range in a text must be.
fn is_literal(program: &Program, node: NodeId) -> bool {
    match program.node(node) {
        Node::Const(_) => true,
        Node::Negate(inner) => matches!(program.node(inner), Node::Const(_)),
        Node::Builtin { builtin, arguments, .. } => {
            matches!(builtin, Builtin::Date | Builtin::DateAndTime | Builtin::Time | Builtin::Duration)
                && program
                    .run(arguments)
                    .iter()
                    .all(|argument| matches!(program.node(*argument), Node::Const(_)))
        }
        _ => false,
    }
}

pub(super) fn range(args: &Args<'_>, machine: &mut Machine) -> Outcome {
    let text = args.string(0)?;
    machine.charge(text.len() as u64 / 4 + 32)?;
    let Ok(program) = syntax::shallow(text) else {
        return null("this text is no range");
    };
    let Node::Range { low, high, .. } = program.node(program.root) else {
        return null("this text is no range");
    };
    if !is_literal(&program, low) || !is_literal(&program, high) {
        return null("the ends of a range in a text are literals");
    }
    Ok(machine.run(&Arc::new(program), &(), None)?)
}

/// Kept here since `decimal` and friends and the duration functions share it.
pub(super) fn scale(args: &Args<'_>, at: usize) -> Outcome<i32> {
    if !args.given(at) {
        return Ok(0);
    }
    let scale = args.number(at)?.round(0, Rounding::Down)?;
    match scale.to_i64().and_then(|scale| i32::try_from(scale).ok()) {
        Some(scale) if (-6111..=6176).contains(&scale) => Ok(scale),
        _ => null("a scale is from -6111 to 6176"),
    }
}
