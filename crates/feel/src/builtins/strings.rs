//! Functions on strings (DMN 1.5, 10.3.4.3). Positions count characters, from 1, or from the end when negative.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Args;
use crate::error::LimitError;
use crate::machine::Machine;
use crate::value::Value;
use crate::value::number::Number;
use crate::value::outcome::{Outcome, null};

macro_rules! of_texts {
    ($($name:ident |$text:ident $(, $part:ident)?| $result:expr;)*) => {$(
        pub(super) fn $name(_: &mut Machine, args: &Args<'_>) -> Outcome {
            let $text: &str = args.string(0)?;
            $(let $part: &str = args.string(1)?;)?
            Ok($result)
        }
    )*};
}

of_texts! {
    string_length |text| Value::Number(Number::from(text.chars().count()));
    upper_case |text| Value::string(text.to_uppercase());
    lower_case |text| Value::string(text.to_lowercase());
    substring_before |text, part| Value::string(text.split_once(part).map_or("", |(before, _)| before));
    substring_after |text, part| Value::string(text.split_once(part).map_or("", |(_, after)| after));
    contains |text, part| Value::Boolean(text.contains(part));
    starts_with |text, part| Value::Boolean(text.starts_with(part));
    ends_with |text, part| Value::Boolean(text.ends_with(part));
    trim |text| Value::string(text.trim());
    is_blank |text| Value::Boolean(text.trim().is_empty());
}

/// A part of a string by its position and length.
pub(super) fn substring(_: &mut Machine, args: &Args<'_>) -> Outcome {
    let text = args.string(0)?;
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

/// The strings of a list, one behind the other; null items count as none.
pub(super) fn string_join(machine: &mut Machine, args: &Args<'_>) -> Outcome {
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

pub(super) fn to_base64(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let text = args.string(0)?;
    machine.text(text.len() / 3 * 4 + 4)?;
    Ok(Value::string(STANDARD.encode(text.as_bytes())))
}
