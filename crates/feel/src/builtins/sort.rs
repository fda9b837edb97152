//! `sort` (DMN 1.5, 10.3.4.9).

use std::cmp::Ordering;

use super::Args;
use crate::machine::Machine;
use crate::value::outcome::{Failure, Outcome, null};
use crate::value::{Function, Value};

/// Stable merge sort, written out because the order comes from a call that can fail and may contradict itself.
pub(super) fn sort(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?.into_owned();
    let precedence = match args.any(1) {
        Value::Null if !args.given(1) => None,
        _ => Some(args.function(1)?.clone()),
    };
    let mut sorted = items;
    let mut width = 1;
    while width < sorted.len() {
        let mut next = Vec::with_capacity(sorted.len());
        for pair in sorted.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(machine, left, right, precedence.as_ref(), args.at, &mut next)?;
        }
        sorted = next;
        width *= 2;
    }
    Ok(Value::list(sorted))
}

fn merge(
    machine: &mut Machine,
    mut left: &[Value],
    mut right: &[Value],
    precedence: Option<&Function>,
    at: u32,
    out: &mut Vec<Value>,
) -> Outcome<()> {
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        machine.charge(1 + u64::from(a.weight().min(b.weight())) / 2)?;
        // The right one goes first only when it must, which keeps equal items in their order.
        if precedes(machine, b, a, precedence, at)?
            && !(precedence.is_some() && precedes(machine, a, b, precedence, at)?)
        {
            out.push(b.clone());
            right = right_rest;
        } else {
            out.push(a.clone());
            left = left_rest;
        }
    }
    out.extend_from_slice(left);
    out.extend_from_slice(right);
    Ok(())
}

fn precedes(
    machine: &mut Machine,
    a: &Value,
    b: &Value,
    precedence: Option<&Function>,
    at: u32,
) -> Result<bool, Failure> {
    match precedence {
        Some(function) => match machine.call(function, vec![a.clone(), b.clone()], at)? {
            Value::Boolean(first) => Ok(first),
            _ => null("the precedence function gives no truth value"),
        },
        None => match a.compare(b) {
            Some(order) => Ok(order == Ordering::Less),
            None => null(format!("a {} and a {} have no order", a.type_name(), b.type_name())),
        },
    }
}
