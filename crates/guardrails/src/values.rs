//! Texts within JSON values: each with its place, and the value with parts of its texts replaced.

use serde_json::Value;

use crate::text::{Folded, Found};

/// Most texts of one value that are looked at.
const MOST_TEXTS: usize = 100_000;
/// Deepest value that is looked at.
const DEEPEST: usize = 128;

/// A text within a value.
#[derive(Debug)]
pub(crate) struct Text {
    /// JSON pointer (RFC 6901) of it.
    pub path: String,
    pub text: String,
    pub folded: Folded,
}

/// The texts of a value.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub all: Vec<Text>,
    /// Bytes of all of them, names of members among them.
    pub bytes: usize,
    /// Whether there is more than is looked at.
    pub is_cut: bool,
}

impl Texts {
    /// The texts of a value, up to so many bytes.
    pub(crate) fn of(value: &Value, most: usize) -> Self {
        let mut texts = Self::default();
        texts.add(value, &mut String::new(), 0, most);
        texts
    }

    fn add(&mut self, value: &Value, path: &mut String, depth: usize, most: usize) {
        if self.bytes > most || self.all.len() >= MOST_TEXTS || depth > DEEPEST {
            self.is_cut = true;
            return;
        }
        let length = path.len();
        match value {
            Value::Null | Value::Bool(_) => {}
            // The number of a card may come without quotes.
            Value::Number(number) => self.text(path, number.to_string()),
            Value::String(text) => {
                self.bytes += text.len();
                if self.bytes > most {
                    self.is_cut = true;
                    return;
                }
                self.text(path, text.clone());
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push_str(&format!("/{at}"));
                    self.add(item, path, depth + 1, most);
                    path.truncate(length);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.bytes += name.len();
                    path.push('/');
                    path.push_str(&name.replace('~', "~0").replace('/', "~1"));
                    self.add(member, path, depth + 1, most);
                    path.truncate(length);
                }
            }
        }
    }

    fn text(&mut self, path: &str, text: String) {
        if text.is_empty() {
            return;
        }
        let folded = Folded::of(&text);
        self.all.push(Text { path: path.to_owned(), text, folded });
    }
}

/// Replaces what was found in a text within a value. The places lie in order, none within another.
pub(crate) fn replace(value: &mut Value, path: &str, found: &[Found]) -> Option<()> {
    let place = value.pointer_mut(path)?;
    let own = match place {
        Value::String(text) => std::mem::take(text),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let mut text = String::with_capacity(own.len());
    let mut from = 0;
    for one in found {
        text.push_str(own.get(from..one.start).unwrap_or_default());
        text.push_str("[redacted: ");
        text.push_str(one.kind);
        text.push(']');
        from = one.end;
    }
    text.push_str(own.get(from..).unwrap_or_default());
    *place = Value::String(text);
    Some(())
}

/// Places in order, those that meet as one.
pub(crate) fn merged(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_unstable();
    let mut kept: Vec<Found> = Vec::with_capacity(found.len());
    for one in found {
        match kept.last_mut() {
            Some(last) if one.start < last.end => last.end = last.end.max(one.end),
            Some(_) | None => kept.push(one),
        }
    }
    kept
}
