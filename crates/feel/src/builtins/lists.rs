//! Functions on lists (DMN 1.5, 10.3.4.4) and `sort` (10.3.4.9). Positions are from 1, or from the end when negative.

use std::cmp::Ordering;

use super::{Args, Builtin};
use crate::LimitError;
use crate::Value;
use crate::eval::{Failure, Machine, Outcome, null};
use crate::function::Function;
use crate::value::number::Number;

/// The index of a position within a list of that length.
fn index(position: i64, length: usize) -> Option<usize> {
    match position {
        0 => None,
        1.. => usize::try_from(position - 1).ok().filter(|at| *at < length),
        _ => length.checked_sub(usize::try_from(position.unsigned_abs()).ok()?),
    }
}

fn position(args: &Args<'_>, at: usize, length: usize) -> Outcome<usize> {
    let position = args.integer(at)?;
    match index(position, length) {
        Some(index) => Ok(index),
        None => null(format!("a list of {length} items has no position {position}")),
    }
}

/// Counts the comparison of every item with something.
fn charge(machine: &mut Machine, items: &[Value]) -> Result<(), LimitError> {
    let weight = items.iter().map(|item| u64::from(item.weight())).sum::<u64>();
    machine.charge(weight / 2 + 1)
}

pub(super) fn call(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    if matches!(builtin, Builtin::Concatenate | Builtin::Union) {
        return joined(builtin, machine, args);
    }
    let items = args.list(0)?;
    match builtin {
        Builtin::Count => return Ok(Value::Number(Number::from(items.len()))),
        Builtin::IsEmpty => return Ok(Value::Boolean(items.is_empty())),
        _ => charge(machine, &items)?,
    }
    Ok(match builtin {
        Builtin::ListContains => {
            Value::Boolean(items.iter().any(|item| item.equals(args.any(1)) == Some(true)))
        }
        Builtin::IndexOf => {
            let hits = items.iter().enumerate().filter(|(_, item)| item.equals(args.any(1)) == Some(true));
            Value::list(hits.map(|(at, _)| Value::Number(Number::from(at + 1))).collect())
        }
        Builtin::ListReplace => return replace(machine, &items, args),
        Builtin::Sublist => return sublist(&items, args),
        Builtin::Append => Value::list(items.iter().chain(args.iter().skip(1)).cloned().collect()),
        Builtin::InsertBefore => {
            let at = position(args, 1, items.len())?;
            let mut items = items.into_owned();
            items.insert(at, args.any(2).clone());
            Value::list(items)
        }
        Builtin::Remove => {
            let at = position(args, 1, items.len())?;
            let mut items = items.into_owned();
            items.remove(at);
            Value::list(items)
        }
        Builtin::Reverse => Value::list(items.iter().rev().cloned().collect()),
        Builtin::DistinctValues => Value::list(distinct(machine, &items)?),
        Builtin::DuplicateValues => duplicates(machine, &items)?,
        Builtin::Flatten => {
            let mut flat = Vec::new();
            flatten(machine, &items, &mut flat)?;
            Value::list(flat)
        }
        Builtin::Partition => {
            let size = usize::try_from(args.integer(1)?).unwrap_or(0);
            if size == 0 {
                return null("a size is at least 1");
            }
            machine.charge(items.len() as u64 / size as u64 * 4)?;
            Value::list(items.chunks(size).map(|part| Value::list(part.to_vec())).collect())
        }
        _ => return sort(machine, items.into_owned(), args),
    })
}

fn joined(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let mut all = Vec::new();
    for at in 0..args.len() {
        all.extend_from_slice(&args.list(at)?);
        machine.room(all.len())?;
    }
    charge(machine, &all)?;
    Ok(Value::list(if builtin == Builtin::Union { distinct(machine, &all)? } else { all }))
}

fn sublist(items: &[Value], args: &Args<'_>) -> Outcome {
    let start = position(args, 1, items.len())?;
    let rest = items.get(start..).unwrap_or_default();
    if !args.given(2) {
        return Ok(Value::list(rest.to_vec()));
    }
    let length = usize::try_from(args.integer(2)?).ok();
    match length.and_then(|length| rest.get(..length)) {
        Some(part) => Ok(Value::list(part.to_vec())),
        None => null("the list has no so many items from there"),
    }
}

fn replace(machine: &mut Machine, items: &[Value], args: &Args<'_>) -> Outcome {
    let new = args.any(2);
    let mut items = items.to_vec();
    match args.any(1) {
        Value::Function(matches) => {
            for item in &mut items {
                match machine.call(matches, vec![item.clone(), new.clone()], args.at)? {
                    Value::Boolean(true) => *item = new.clone(),
                    Value::Boolean(false) => {}
                    _ => return null("the match function gives no truth value"),
                }
            }
        }
        _ => {
            let at = position(args, 1, items.len())?;
            if let Some(item) = items.get_mut(at) {
                *item = new.clone();
            }
        }
    }
    Ok(Value::list(items))
}

/// The first of each equal values. Numbers, strings and truth values are told apart by hash, the rest by comparison.
fn distinct(machine: &mut Machine, items: &[Value]) -> Result<Vec<Value>, LimitError> {
    let mut seen = Seen::default();
    let mut kept = Vec::new();
    for item in items {
        if seen.add(machine, item)? {
            kept.push(item.clone());
        }
    }
    Ok(kept)
}

fn duplicates(machine: &mut Machine, items: &[Value]) -> Outcome {
    let (mut seen, mut twice, mut kept) = (Seen::default(), Seen::default(), Vec::new());
    for item in items {
        if !seen.add(machine, item)? && twice.add(machine, item)? {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

#[derive(Default)]
struct Seen {
    numbers: std::collections::HashSet<Number>,
    strings: std::collections::HashSet<std::sync::Arc<str>>,
    others: Vec<Value>,
}

impl Seen {
    /// Whether the value is new.
    fn add(&mut self, machine: &mut Machine, value: &Value) -> Result<bool, LimitError> {
        Ok(match value {
            Value::Number(number) => self.numbers.insert(*number),
            Value::String(text) => self.strings.insert(text.clone()),
            other => {
                machine.charge(self.others.len() as u64 * u64::from(other.weight()) / 4 + 1)?;
                let new = !self.others.iter().any(|known| known.equals(other) == Some(true));
                if new {
                    self.others.push(other.clone());
                }
                new
            }
        })
    }
}

fn flatten(machine: &mut Machine, items: &[Value], flat: &mut Vec<Value>) -> Result<(), LimitError> {
    machine.enter()?;
    for item in items {
        match item {
            Value::List(inner) => flatten(machine, inner, flat)?,
            other => {
                machine.charge(1)?;
                machine.room(flat.len() + 1)?;
                flat.push(other.clone());
            }
        }
    }
    machine.leave();
    Ok(())
}

/// Stable merge sort, written out because the order comes from a call that can fail and may contradict itself.
fn sort(machine: &mut Machine, items: Vec<Value>, args: &Args<'_>) -> Outcome {
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
            merge(machine, (left, right), precedence.as_ref(), args.at, &mut next)?;
        }
        sorted = next;
        width *= 2;
    }
    Ok(Value::list(sorted))
}

fn merge(
    machine: &mut Machine,
    (mut left, mut right): (&[Value], &[Value]),
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
