//! Functions on lists (DMN 1.5, 10.3.4.4). Positions are from 1, or from the end when negative.

use std::collections::HashSet;
use std::sync::Arc;

use super::Args;
use crate::error::LimitError;
use crate::machine::Machine;
use crate::value::Value;
use crate::value::number::Number;
use crate::value::outcome::{Outcome, null};

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

pub(super) fn list_contains(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    Ok(Value::Boolean(items.iter().any(|item| item.equals(args.any(1)) == Some(true))))
}

pub(super) fn count(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Number(Number::from(args.list(0)?.len())))
}

pub(super) fn is_empty(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::Boolean(args.list(0)?.is_empty()))
}

pub(super) fn index_of(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    let hits = items.iter().enumerate().filter(|(_, item)| item.equals(args.any(1)) == Some(true));
    Ok(Value::list(hits.map(|(at, _)| Value::Number(Number::from(at + 1))).collect()))
}

pub(super) fn sublist(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
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

/// A list with other items in place of one by its position or of those that a function matches.
pub(super) fn list_replace(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let new = args.any(2);
    let mut items = args.list(0)?.into_owned();
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

pub(super) fn append(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    Ok(Value::list(items.iter().chain(args.iter().skip(1)).cloned().collect()))
}

pub(super) fn insert_before(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    let at = position(args, 1, items.len())?;
    let mut items = items.into_owned();
    items.insert(at, args.any(2).clone());
    Ok(Value::list(items))
}

pub(super) fn remove(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    let at = position(args, 1, items.len())?;
    let mut items = items.into_owned();
    items.remove(at);
    Ok(Value::list(items))
}

pub(super) fn reverse(_: &mut Machine, args: &Args<'_>) -> Outcome {
    Ok(Value::list(args.list(0)?.iter().rev().cloned().collect()))
}

pub(super) fn partition(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    let size = usize::try_from(args.integer(1)?).unwrap_or(0);
    if size == 0 {
        return null("a size is at least 1");
    }
    machine.charge(items.len() as u64 / size as u64 * 4)?;
    Ok(Value::list(items.chunks(size).map(|part| Value::list(part.to_vec())).collect()))
}

/// The items of all arguments, one list behind the other.
fn joined(machine: &mut Machine, args: &Args<'_>) -> Outcome<Vec<Value>> {
    let mut all = Vec::new();
    for at in 0..args.len() {
        all.extend_from_slice(&args.list(at)?);
        machine.room(all.len())?;
    }
    super::charge_items(machine, &all)?;
    Ok(all)
}

pub(super) fn concatenate(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    joined(machine, args).map(Value::list)
}

pub(super) fn union(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let all = joined(machine, args)?;
    Ok(Value::list(distinct(machine, &all)?))
}

pub(super) fn distinct_values(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    Ok(Value::list(distinct(machine, &items)?))
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

/// The values that stand in the list more than once, each once.
pub(super) fn duplicate_values(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    let (mut seen, mut twice, mut kept) = (Seen::default(), Seen::default(), Vec::new());
    for item in items.iter() {
        if !seen.add(machine, item)? && twice.add(machine, item)? {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

/// Values met so far.
#[derive(Default)]
struct Seen {
    numbers: HashSet<Number>,
    strings: HashSet<Arc<str>>,
    others: Vec<Value>,
}

impl Seen {
    /// Adds the value; whether it is new.
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

pub(super) fn flatten(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let mut flat = Vec::new();
    flatten_into(machine, &args.list(0)?, &mut flat)?;
    Ok(Value::list(flat))
}

fn flatten_into(machine: &mut Machine, items: &[Value], flat: &mut Vec<Value>) -> Result<(), LimitError> {
    machine.enter()?;
    for item in items {
        match item {
            Value::List(inner) => flatten_into(machine, inner, flat)?,
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
