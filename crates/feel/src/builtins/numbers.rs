//! Functions on numbers (DMN 1.5, 10.3.4.5).

use super::Args;
use crate::machine::Machine;
use crate::value::Value;
use crate::value::date::DaysAndTimeDuration;
use crate::value::number::{Number, Rounding};
use crate::value::outcome::{Outcome, null};

/// Decimal places of an argument; 0 when it is not given.
fn scale(args: &Args<'_>, at: usize) -> Outcome<i32> {
    if !args.given(at) {
        return Ok(0);
    }
    let scale = args.number(at)?.round(0, Rounding::Down)?;
    match scale.to_i64().and_then(|scale| i32::try_from(scale).ok()) {
        Some(scale) if (-6111..=6176).contains(&scale) => Ok(scale),
        _ => null("a scale is from -6111 to 6176"),
    }
}

fn rounded(args: &Args<'_>, mode: Rounding) -> Outcome {
    let number = args.number(0)?;
    Ok(Value::Number(number.round(scale(args, 1)?, mode)?))
}

macro_rules! roundings {
    ($($name:ident $mode:ident;)*) => {$(
        pub(super) fn $name(_: &mut Machine, args: &Args<'_>) -> Outcome {
            rounded(args, Rounding::$mode)
        }
    )*};
}

roundings! {
    decimal HalfEven;
    floor Floor;
    ceiling Ceiling;
    round_up Up;
    round_down Down;
    round_half_up HalfUp;
    round_half_down HalfDown;
}

/// The absolute value of a number or a duration.
pub(super) fn abs(_: &mut Machine, args: &Args<'_>) -> Outcome {
    match args.single(0) {
        Value::DaysAndTimeDuration(duration) => {
            let length = i128::try_from(duration.nanos().unsigned_abs()).ok();
            match length.and_then(DaysAndTimeDuration::from_nanos) {
                Some(length) => Ok(Value::DaysAndTimeDuration(length)),
                None => null("the duration is too long"),
            }
        }
        Value::YearsAndMonthsDuration(months) => Ok(Value::YearsAndMonthsDuration(months.saturating_abs())),
        _ => Ok(Value::Number(args.number(0)?.abs())),
    }
}

pub(super) fn modulo(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Number(args.number(0)?.modulo(args.number(1)?)?))
}

pub(super) fn sqrt(_: &mut Machine, args: &Args<'_>) -> Outcome {
    match args.number(0)?.sqrt() {
        Some(root) => Ok(Value::Number(root)),
        None => null("a negative number has no square root"),
    }
}

pub(super) fn log(_: &mut Machine, args: &Args<'_>) -> Outcome {
    match args.number(0)?.ln() {
        Some(logarithm) => Ok(Value::Number(logarithm)),
        None => null("only positive numbers have a logarithm"),
    }
}

pub(super) fn exp(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Number(args.number(0)?.exp()?))
}

fn is_odd(number: Number) -> Outcome<Option<bool>> {
    if !number.is_integer() {
        return Ok(None);
    }
    Ok(Some(number.modulo(Number::from_i64(2))? == Number::ONE))
}

pub(super) fn odd(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Boolean(is_odd(args.number(0)?)? == Some(true)))
}

pub(super) fn even(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Boolean(is_odd(args.number(0)?)? == Some(false)))
}
