//! Values written as FEEL writes them: what `string()` gives, with strings inside lists and contexts quoted.

use std::fmt::{self, Display, Write};

use super::text::months_text;
use super::{MAX_READ_DEPTH, Range, RangeForm, Value};

/// A context's key is written bare when it is a name that reads back as one.
fn plain_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '?')
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '?'))
        && !name.ends_with(' ')
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

struct Inner<'a>(&'a Value);

impl Display for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::String(text) => quoted(f, text),
            other => other.fmt(f),
        }
    }
}

fn end(f: &mut fmt::Formatter<'_>, value: Option<&Value>) -> fmt::Result {
    match value {
        None => Ok(()),
        Some(value @ (Value::Null | Value::Boolean(_) | Value::Number(_) | Value::String(_))) => {
            Inner(value).fmt(f)
        }
        Some(value) => write!(f, "@\"{value}\""),
    }
}

impl Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.low, &self.high) {
            (_, Some(same)) if matches!(self.form, RangeForm::Equal | RangeForm::NotEqual) => {
                f.write_str(if self.form == RangeForm::Equal { "(= " } else { "(!= " })?;
                end(f, Some(same))?;
                f.write_char(')')
            }
            (None, Some(high)) => {
                f.write_str(if self.high_included { "(<= " } else { "(< " })?;
                end(f, Some(high))?;
                f.write_char(')')
            }
            (Some(low), None) => {
                f.write_str(if self.low_included { "(>= " } else { "(> " })?;
                end(f, Some(low))?;
                f.write_char(')')
            }
            (low, high) => {
                f.write_char(if self.low_included { '[' } else { '(' })?;
                end(f, low.as_ref())?;
                f.write_str("..")?;
                end(f, high.as_ref())?;
                f.write_char(if self.high_included { ']' } else { ')' })
            }
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::String(text) => f.write_str(text),
            Self::Date(date) => date.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::DateTime(time) => time.fmt(f),
            Self::DaysAndTimeDuration(duration) => duration.fmt(f),
            Self::YearsAndMonthsDuration(months) => f.write_str(&months_text(*months)),
            deep if deep.depth() > MAX_READ_DEPTH => f.write_str("..."),
            Self::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    Inner(item).fmt(f)?;
                }
                f.write_char(']')
            }
            Self::Context(context) => {
                f.write_char('{')?;
                for (at, (name, value)) in context.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    if plain_name(name) {
                        f.write_str(name)?
                    } else {
                        quoted(f, name)?
                    }
                    f.write_str(": ")?;
                    Inner(value).fmt(f)?;
                }
                f.write_char('}')
            }
            Self::Range(range) => range.fmt(f),
            Self::Function(function) => write!(f, "{function:?}"),
        }
    }
}
