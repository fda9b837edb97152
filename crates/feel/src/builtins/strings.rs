//! Functions on strings (DMN 1.5, 10.3.4.3). Positions count characters, from 1, or from the end when negative.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Args, Builtin};
use crate::eval::{Machine, Outcome, null};
use crate::value::number::Number;
use crate::{LimitError, Value};

pub(super) fn call(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    if builtin == Builtin::StringJoin {
        return join(machine, args);
    }
    let text = args.string(0)?;
    machine.charge(text.len() as u64 / 32)?;
    if let Builtin::SubstringBefore | Builtin::SubstringAfter | Builtin::Contains = builtin {
        // A search can look at the text several times where it and what is sought repeat themselves.
        machine.charge((text.len() + args.string(1)?.len()) as u64 / 12)?;
    }
    Ok(match builtin {
        Builtin::Substring => return substring(text, args),
        Builtin::StringLength => Value::Number(Number::from(text.chars().count())),
        Builtin::UpperCase => Value::string(text.to_uppercase()),
        Builtin::LowerCase => Value::string(text.to_lowercase()),
        Builtin::SubstringBefore => {
            let found = text.find(&**args.string(1)?).and_then(|at| text.get(..at));
            Value::string(found.unwrap_or_default())
        }
        Builtin::SubstringAfter => {
            let part = args.string(1)?;
            let found = text.find(&**part).and_then(|at| text.get(at + part.len()..));
            Value::string(found.unwrap_or_default())
        }
        Builtin::Contains => Value::Boolean(text.contains(&**args.string(1)?)),
        Builtin::StartsWith => Value::Boolean(text.starts_with(&**args.string(1)?)),
        Builtin::EndsWith => Value::Boolean(text.ends_with(&**args.string(1)?)),
        Builtin::Trim => Value::string(text.trim()),
        Builtin::ToBase64 => {
            machine.text(text.len() / 3 * 4 + 4)?;
            Value::string(STANDARD.encode(text.as_bytes()))
        }
        _ => Value::Boolean(text.trim().is_empty()),
    })
}

fn substring(text: &str, args: &Args<'_>) -> Outcome {
    let start = args.integer(1)?;
    let length = match args.any(2) {
        _ if !args.given(2) => usize::MAX,
        _ => match usize::try_from(args.integer(2)?) {
            Ok(length) if length > 0 => length,
            _ => return null("a length is at least 1"),
        },
    };
    let skip = match start {
        0 => return null("positions are counted from 1"),
        1.. => usize::try_from(start - 1).unwrap_or(usize::MAX),
        _ => {
            let back = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
            match text.chars().count().checked_sub(back) {
                Some(skip) => skip,
                None => return null("the position is before the string"),
            }
        }
    };
    let first = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
    let rest = text.get(first..).unwrap_or_default();
    let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
    Ok(Value::string(rest.get(..end).unwrap_or_default()))
}

fn join(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.list(0)?;
    let delimiter = match args.single(1) {
        Value::Null => "",
        Value::String(text) => text,
        other => return null(format!("a {} is no delimiter", other.type_name())),
    };
    machine.charge(items.len() as u64)?;
    let mut text = String::new();
    let mut first = true;
    for item in items.iter() {
        let part = match item {
            Value::Null => continue,
            Value::String(part) => part,
            other => return null(format!("only strings are joined, not a {}", other.type_name())),
        };
        if !first {
            text.push_str(delimiter);
        }
        first = false;
        text.push_str(part);
        if text.len() > machine.string_size() {
            return Err(LimitError::StringSize(machine.string_size()).into());
        }
    }
    Ok(Value::string(text))
}
