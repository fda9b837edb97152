//! Functions on contexts (DMN 1.5, 10.3.4.10).

use std::sync::Arc;

use super::Args;
use crate::machine::Machine;
use crate::value::outcome::{Outcome, null};
use crate::value::{Context, Value};

/// The value of a key, or at the end of a path of keys.
pub(super) fn get_value(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let context = args.context(0)?;
    machine.charge(u64::from(args.any(1).weight()))?;
    match args.any(1) {
        Value::String(key) => match context.get(key) {
            Some(value) => Ok(value.clone()),
            None => null(format!("there is no entry `{key}`")),
        },
        Value::List(keys) if !keys.is_empty() => {
            let mut value = Value::Context(Arc::new(context.clone()));
            for key in keys.iter() {
                let (Value::Context(inner), Value::String(key)) = (&value, key) else {
                    return null("a path of keys leads through contexts");
                };
                let Some(next) = inner.get(key).cloned() else {
                    return null(format!("there is no entry `{key}`"));
                };
                value = next;
            }
            Ok(value)
        }
        other => null(format!("a {} is no key", other.type_name())),
    }
}

/// A context of entries, each with `key` and `value`.
pub(super) fn context(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let mut context = Context::new();
    for entry in args.list(0)?.iter() {
        let Value::Context(entry) = entry else {
            return null("an entry is a context with `key` and `value`");
        };
        match (entry.get("key"), entry.get("value")) {
            (Some(Value::String(key)), Some(value)) => {
                machine.charge(8 + key.len() as u64 / 32)?;
                if context.get(key).is_some() {
                    return null(format!("the key `{key}` is there twice"));
                }
                context.put(key.clone(), value.clone());
            }
            _ => return null("an entry is a context with `key` and `value`"),
        }
    }
    Ok(Value::context(context))
}

/// A context with one more entry, or with one in another's place.
pub(super) fn put(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let context = args.context(0)?;
    machine.charge(context.len() as u64 * 6)?;
    if !args.given(2) {
        return null("a value is needed");
    }
    // Named arguments tell a key from a path of keys; arguments in order do so by their kind.
    let (key, path) = if args.given(3) { (args.any(3), true) } else { (args.any(1), args.positional()) };
    match key {
        Value::String(key) if !args.given(3) => {
            machine.charge(key.len() as u64 / 32)?;
            let mut context = context.clone();
            context.put(key.clone(), args.any(2).clone());
            Ok(Value::context(context))
        }
        Value::List(keys) if path && !keys.is_empty() => put_at(machine, Some(context), keys, args.any(2)),
        other => null(format!("a {} is no key", other.type_name())),
    }
}

fn put_at(machine: &mut Machine, context: Option<&Context>, keys: &[Value], value: &Value) -> Outcome {
    let [Value::String(key), rest @ ..] = keys else { return null("keys are strings") };
    machine.enter()?;
    machine.charge(context.map_or(0, Context::len) as u64 * 3 + key.len() as u64 / 32)?;
    let mut changed = context.cloned().unwrap_or_default();
    let inner = if rest.is_empty() {
        value.clone()
    } else {
        match changed.get(key) {
            Some(Value::Context(inner)) => put_at(machine, Some(inner), rest, value)?,
            None | Some(Value::Null) => put_at(machine, None, rest, value)?,
            Some(other) => return null(format!("a {} has no entries", other.type_name())),
        }
    };
    machine.leave();
    changed.put(key.clone(), inner);
    Ok(machine.admit(Value::context(changed))?)
}

fn merge(machine: &mut Machine, contexts: &[Value]) -> Outcome {
    let mut merged = Context::new();
    for context in contexts {
        let Value::Context(context) = context else {
            return null(format!("only contexts are merged, not a {}", context.type_name()));
        };
        machine.charge(context.len() as u64 * 2)?;
        for (name, value) in context.iter() {
            merged.put(name.clone(), value.clone());
        }
    }
    Ok(Value::context(merged))
}

pub(super) fn get_entries(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let context = args.context(0)?;
    machine.charge(context.len() as u64 * 4)?;
    let entry = |(name, value): (&Arc<str>, &Value)| {
        let pair = [("key", Value::String(name.clone())), ("value", value.clone())];
        Value::context(pair.into_iter().collect())
    };
    Ok(Value::list(context.iter().map(entry).collect()))
}

pub(super) fn context_merge(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    merge(machine, &args.list(0)?)
}

pub(super) fn put_all(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    merge(machine, &args.items()?)
}
