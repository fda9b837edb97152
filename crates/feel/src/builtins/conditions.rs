//! Functions that test or choose a value: `not`, `is` and those beyond the standard (DMN 1.5, 10.3.4.2 and 10.3.4.6).

use super::Args;
use crate::machine::Machine;
use crate::value::Value;
use crate::value::outcome::{Outcome, null};

pub(super) fn not(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(args.single(0).as_bool().map_or(Value::Null, |value| Value::Boolean(!value)))
}

/// Sameness, which for times and dates goes further than equality: zones count as they are written.
pub(super) fn is(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let (a, b) = (args.any(0), args.any(1));
    machine.charge(u64::from(a.weight().min(b.weight())))?;
    Ok(Value::Boolean(match (a, b) {
        (Value::Time(a), Value::Time(b)) => a == b,
        (Value::DateTime(a), Value::DateTime(b)) => a == b,
        _ => a.equals(b) == Some(true),
    }))
}

pub(super) fn is_defined(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Boolean(!args.any(0).is_null()))
}

pub(super) fn get_or_else(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(if args.any(0).is_null() { args.any(1).clone() } else { args.any(0).clone() })
}

/// The value when the condition holds, else null for the cause given.
pub(super) fn assert(_: &mut Machine, args: &Args<'_>) -> Outcome {
    match (args.any(1), args.any(2)) {
        (Value::Boolean(true), _) => Ok(args.any(0).clone()),
        (_, Value::String(cause)) => null(cause.to_string()),
        _ => null("the condition of assert() is not fulfilled"),
    }
}
