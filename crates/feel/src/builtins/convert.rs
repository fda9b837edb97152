//! Conversions from and to texts (DMN 1.5, 10.3.4.1).

use std::fmt::Write;

use super::{Args, call};
use crate::catalog::Builtin;
use crate::error::LimitError;
use crate::machine::Machine;
use crate::program::{Node, NodeId, Program};
use crate::syntax;
use crate::value::arithmetic::negate;
use crate::value::number::Number;
use crate::value::outcome::{Outcome, null};
use crate::value::{Bound, Range, Value, json};

fn separator(args: &Args<'_>, at: usize, allowed: &[&str]) -> Outcome<Option<String>> {
    match args.single(at) {
        Value::Null => Ok(None),
        Value::String(text) if allowed.contains(&&**text) => Ok(Some(text.to_string())),
        _ => null("a separator is a space, a comma or a period"),
    }
}

pub(super) fn number(machine: &mut Machine, args: &Args<'_>) -> Outcome {
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

pub(super) fn string(machine: &mut Machine, args: &Args<'_>) -> Outcome {
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

pub(super) fn from_json(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let text = args.string(0)?;
    machine.charge(text.len() as u64)?;
    match serde_json::from_str(text) {
        Ok(read) => Ok(json::from_json(&read)),
        Err(error) => null(format!("this text is no JSON: {error}")),
    }
}

pub(super) fn to_json(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let value = args.any(0);
    machine.charge(u64::from(value.weight()) * 8)?;
    let mut bounded = Bounded { text: String::new(), room: machine.string_size() };
    if write!(bounded, "{}", json::to_json(value)).is_err() {
        return Err(LimitError::StringSize(machine.string_size()).into());
    }
    Ok(Value::string(bounded.text))
}

/// The value of a literal, which the ends of a range in a text must be; none of any other node.
fn literal(machine: &mut Machine, program: &Program, node: NodeId, at: u32) -> Outcome<Option<Value>> {
    let constant = |node: NodeId| match program.node(node) {
        Node::Const(value) => program.constants.get(value as usize).cloned(),
        _ => None,
    };
    machine.charge(2)?;
    Ok(match program.node(node) {
        Node::Negate(inner) => match constant(inner) {
            Some(value) => Some(machine.settled(negate(&value), at)?),
            None => None,
        },
        Node::Builtin {
            builtin: builtin @ (Builtin::Date | Builtin::DateAndTime | Builtin::Time | Builtin::Duration),
            arguments,
            named,
        } => {
            let values =
                program.run(arguments).iter().map(|argument| constant(*argument).map(Some)).collect();
            let Some(values) = values else { return Ok(None) };
            let outcome = call(builtin, machine, &Args::new(values, named, &program.patterns, at));
            Some(machine.settled(outcome, at)?)
        }
        _ => constant(node),
    })
}

/// The range of a text, whose ends are literals.
pub(super) fn range(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let text = args.string(0)?;
    machine.charge(text.len() as u64 / 4 + 32)?;
    let Ok(program) = syntax::shallow(text) else {
        return null("this text is no range");
    };
    let Node::Range { low, high, low_included, high_included } = program.node(program.root) else {
        return null("this text is no range");
    };
    let low = literal(machine, &program, low, args.at)?;
    let high = literal(machine, &program, high, args.at)?;
    let (Some(low), Some(high)) = (low, high) else {
        return null("the ends of a range in a text are literals");
    };
    let low = Bound { value: low, included: low_included };
    let high = Bound { value: high, included: high_included };
    match Range::between(low, high) {
        Some(range) => Ok(range),
        None => null("a range needs two ends of one kind that has an order"),
    }
}
