//! Functions with regular expressions (DMN 1.5, 10.3.4.3).

use std::ops::Range;
use std::sync::Arc;

use super::Args;
use crate::error::LimitError;
use crate::machine::Machine;
use crate::pattern::{Piece, Regex, replacement};
use crate::value::Value;
use crate::value::outcome::{Outcome, null};

/// The flags of an argument; none when it is null.
fn flags<'a>(args: &'a Args<'_>, at: usize) -> Outcome<&'a str> {
    match args.single(at) {
        Value::Null => Ok(""),
        Value::String(flags) => Ok(flags),
        other => null(format!("a {} is no set of flags", other.type_name())),
    }
}

/// The text of the first argument and the pattern of the second one; the work of a search is counted.
fn searched<'a>(machine: &mut Machine, args: &'a Args<'_>, flags: &str) -> Outcome<(&'a str, Arc<Regex>)> {
    let (text, pattern) = (args.string(0)?, args.string(1)?);
    let Some(regex) = args.patterns.compiled(machine, pattern, flags)? else {
        return null("the pattern is no regular expression of XPath, or too large");
    };
    regex.charge(machine, text.len())?;
    Ok((text, regex))
}

/// Refuses a pattern that divides a text everywhere.
fn not_empty(machine: &mut Machine, regex: &Regex) -> Outcome<()> {
    if regex.is_match(machine, "")? {
        return null("the pattern matches an empty text (FORX0003)");
    }
    Ok(())
}

pub(super) fn matches(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let (text, regex) = searched(machine, args, flags(args, 2)?)?;
    Ok(Value::Boolean(regex.is_match(machine, text)?))
}

/// The parts of a text between the matches.
pub(super) fn split(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let (text, regex) = searched(machine, args, "")?;
    not_empty(machine, &regex)?;
    let part = |range: Range<usize>| Value::string(text.get(range).unwrap_or_default());
    let (mut parts, mut last) = (Vec::new(), 0);
    regex.each(machine, text, false, |_, groups| {
        let whole = groups(0).unwrap_or_default();
        parts.push(part(last..whole.start));
        last = whole.end;
        Ok(())
    })?;
    parts.push(part(last..text.len()));
    Ok(Value::list(parts))
}

/// The matches in a text.
pub(super) fn extract(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let (text, regex) = searched(machine, args, "")?;
    let mut parts = Vec::new();
    regex.each(machine, text, false, |_, groups| {
        parts.push(Value::string(text.get(groups(0).unwrap_or_default()).unwrap_or_default()));
        Ok(())
    })?;
    Ok(Value::list(parts))
}

/// A text with a replacement in place of each match.
pub(super) fn replace(machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let flags = flags(args, 3)?;
    let (text, regex) = searched(machine, args, flags)?;
    not_empty(machine, &regex)?;
    let Some(pieces) = replacement(args.string(2)?, flags.contains('q'), regex.groups()) else {
        return null("`$` in a replacement is followed by a group's number");
    };
    let room = machine.string_size();
    let mut out = String::new();
    let mut add = |part: &str| -> Result<(), LimitError> {
        out.push_str(part);
        if out.len() > room { Err(LimitError::StringSize(room)) } else { Ok(()) }
    };
    let mut last = 0;
    regex.each(machine, text, true, |machine, groups| {
        let whole = groups(0).unwrap_or_default();
        // Groups are found by a slower search than whole matches.
        machine.charge((whole.len() / 8 + pieces.len() + 8) as u64)?;
        add(text.get(last..whole.start).unwrap_or_default())?;
        for piece in &pieces {
            match piece {
                Piece::Text(plain) => add(plain)?,
                Piece::Group(group) => {
                    add(groups(*group).and_then(|range| text.get(range)).unwrap_or_default())?
                }
            }
        }
        last = whole.end;
        Ok(())
    })?;
    add(text.get(last..).unwrap_or_default())?;
    Ok(Value::string(out))
}
