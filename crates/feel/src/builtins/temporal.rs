//! Functions on dates and the present time (DMN 1.5, 10.3.4.8 and 10.3.4.11).

use super::Args;
use crate::machine::Machine;
use crate::value::Value;
use crate::value::date::{Date, days_in_month};
use crate::value::number::Number;
use crate::value::outcome::{Outcome, null};
use crate::value::time::DateTime;

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

fn name(names: &[&'static str], at: u8) -> Outcome {
    Ok(Value::string(names.get(usize::from(at.saturating_sub(1))).copied().unwrap_or("")))
}

/// The present time in UTC.
fn present(machine: &mut Machine) -> Outcome<DateTime> {
    match DateTime::from_utc_nanos(i128::from(machine.now().micros()) * 1000) {
        Some(now) => Ok(now),
        None => null("the present time is out of range"),
    }
}

pub(super) fn now(machine: &mut Machine, _: &Args<'_>) -> Outcome {
    present(machine).map(Value::date_time)
}

pub(super) fn today(machine: &mut Machine, _: &Args<'_>) -> Outcome {
    present(machine).map(|now| Value::Date(now.date))
}

pub(super) fn day_of_year(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Number(Number::from(u32::from(args.date(0)?.day_of_year()))))
}

pub(super) fn day_of_week(_: &mut Machine, args: &Args<'_>) -> Outcome {
    name(&DAYS, args.date(0)?.weekday())
}

pub(super) fn month_of_year(_: &mut Machine, args: &Args<'_>) -> Outcome {
    name(&MONTHS, args.date(0)?.month())
}

pub(super) fn week_of_year(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Number(Number::from(u32::from(args.date(0)?.iso_week()))))
}

pub(super) fn last_day_of_month(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let day = args.date(0)?;
    let last = Date::new(day.year(), day.month(), days_in_month(day.year(), day.month()));
    Ok(last.map_or(Value::Null, Value::Date))
}
