//! Functions on numbers (DMN 1.5, 10.3.4.5).

use super::convert::scale;
use super::{Args, Builtin};
use crate::Value;
use crate::eval::{Machine, Outcome, null};
use crate::value::date::DaysAndTimeDuration;
use crate::value::number::{Number, Rounding};

pub(super) fn rounded(args: &Args<'_>, mode: Rounding) -> Outcome {
    let number = args.number(0)?;
    Ok(Value::Number(number.round(scale(args, 1)?, mode)?))
}

fn is_odd(number: Number) -> Outcome<Option<bool>> {
    if !number.is_integer() {
        return Ok(None);
    }
    Ok(Some(number.modulo(Number::from_i64(2))? == Number::ONE))
}

/// What the function costs beyond a call, in steps.
const fn steps(builtin: Builtin) -> u64 {
    match builtin {
        Builtin::Exp | Builtin::Log => 2700,
        Builtin::Sqrt => 200,
        Builtin::Modulo => 60,
        _ => 1,
    }
}

pub(super) fn call(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    machine.charge(steps(builtin))?;
    if builtin == Builtin::Abs {
        match args.single(0) {
            Value::DaysAndTimeDuration(duration) => {
                let length = i128::try_from(duration.nanos().unsigned_abs()).ok();
                return match length.and_then(DaysAndTimeDuration::from_nanos) {
                    Some(length) => Ok(Value::DaysAndTimeDuration(length)),
                    None => null("the duration is too long"),
                };
            }
            Value::YearsAndMonthsDuration(months) => {
                return Ok(Value::YearsAndMonthsDuration(months.saturating_abs()));
            }
            _ => {}
        }
    }
    let number = args.number(0)?;
    Ok(match builtin {
        Builtin::Abs => Value::Number(number.abs()),
        Builtin::Modulo => Value::Number(number.modulo(args.number(1)?)?),
        Builtin::Sqrt => match number.sqrt() {
            Some(root) => Value::Number(root),
            None => return null("a negative number has no square root"),
        },
        Builtin::Log => match number.ln() {
            Some(logarithm) => Value::Number(logarithm),
            None => return null("only positive numbers have a logarithm"),
        },
        Builtin::Exp => Value::Number(number.exp()?),
        Builtin::Odd => is_odd(number)?.map_or(Value::Boolean(false), Value::Boolean),
        _ => is_odd(number)?.map_or(Value::Boolean(false), |odd| Value::Boolean(!odd)),
    })
}
