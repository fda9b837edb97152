//! JSON as nested lists in Markdown: names and values in the order and the spelling of the file.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Read, Source, text};
use crate::builder::{Builder, one_line};
use crate::document::{Markup, PartKind};
use crate::error::{ExtractError, Limit};

pub(super) fn read(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let text = text::decoded(source);
    let value: &RawValue = serde_json::from_str(&text).map_err(ExtractError::parse)?;
    match kind(value) {
        Kind::Array => {
            for (number, item) in (1..).zip(items(value)?) {
                record(number, item, builder)?;
            }
        }
        Kind::Object | Kind::Text | Kind::Other => push(value, builder)?,
    }
    Ok(Markup::Markdown)
}

pub(super) fn lines(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let text = text::decoded(source);
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let value: &RawValue = serde_json::from_str(line)
            .map_err(|error| ExtractError::parse(format_args!("line {number}: {error}")))?;
        record(number, value, builder)?;
    }
    Ok(Markup::Markdown)
}

/// Adds a record as a part.
fn record(number: u32, value: &RawValue, builder: &mut Builder<'_>) -> Result<(), ExtractError> {
    builder.gap()?;
    let start = builder.characters();
    push(value, builder)?;
    if builder.characters() > start {
        builder.close(PartKind::Section, number, None, start);
    }
    Ok(())
}

fn push(value: &RawValue, builder: &mut Builder<'_>) -> Result<(), ExtractError> {
    let mut written = String::new();
    write(value, 0, builder.limits.nesting, &mut written)?;
    builder.push(written.trim_end())
}

/// Writes a value, each member or item on a line of its own at its depth.
fn write(value: &RawValue, depth: u64, deepest: u64, to: &mut String) -> Result<(), ExtractError> {
    if depth > deepest {
        return Err(ExtractError::limit(Limit::Nesting, deepest, depth));
    }
    match kind(value) {
        Kind::Object => {
            let Members(members) = serde_json::from_str(value.get()).map_err(ExtractError::parse)?;
            for (name, member) in members {
                bullet(depth, to);
                to.push_str(&one_line(&name));
                to.push(':');
                below(member, depth, deepest, to)?;
            }
        }
        Kind::Array => {
            for item in items(value)? {
                bullet(depth, to);
                below(item, depth, deepest, to)?;
            }
        }
        Kind::Text | Kind::Other => {
            to.push_str(&scalar(value)?);
            to.push('\n');
        }
    }
    Ok(())
}

/// Writes what stands behind a bullet: a scalar on its line, else lines below it.
fn below(value: &RawValue, depth: u64, deepest: u64, to: &mut String) -> Result<(), ExtractError> {
    if matches!(kind(value), Kind::Text | Kind::Other) {
        if !to.ends_with(' ') {
            to.push(' ');
        }
        // Lines of a text stand below its first, at its depth.
        let indent = "\n".to_owned() + &"  ".repeat(usize::try_from(depth + 1).unwrap_or_default());
        to.push_str(&scalar(value)?.replace('\n', &indent));
        to.push('\n');
        return Ok(());
    }
    to.push('\n');
    write(value, depth + 1, deepest, to)
}

fn bullet(depth: u64, to: &mut String) {
    to.extend((0..depth).map(|_| "  "));
    to.push_str("- ");
}

/// Text of a string, or the spelling of a number, a boolean or null.
fn scalar(value: &RawValue) -> Result<String, ExtractError> {
    match kind(value) {
        Kind::Text => serde_json::from_str(value.get()).map_err(ExtractError::parse),
        Kind::Object | Kind::Array | Kind::Other => Ok(value.get().to_owned()),
    }
}

fn items(value: &RawValue) -> Result<Vec<&RawValue>, ExtractError> {
    serde_json::from_str(value.get()).map_err(ExtractError::parse)
}

enum Kind {
    Object,
    Array,
    Text,
    Other,
}

fn kind(value: &RawValue) -> Kind {
    match value.get().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::Text,
        Some(_) | None => Kind::Other,
    }
}

/// Members of an object in their order.
struct Members<'v>(Vec<(String, &'v RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use crate::error::ExtractError;
    use crate::parse::tests::{read, slice};

    #[test]
    fn values_keep_their_order_and_their_spelling() {
        let json = br#"{"zeta": 12345678901234567890.10, "alpha": {"x": [1, "two\nlines"], "empty": {}}, "t": true}"#;
        let expected = "- zeta: 12345678901234567890.10\n- alpha:\n  - x:\n    - 1\n    - two\n      lines\n  - empty:\n- t: true";
        assert_eq!(read("a.json", json).unwrap().text, expected);
    }

    #[test]
    fn records_are_parts_with_their_numbers() {
        for (name, content) in
            [("a.json", "[{\"a\":1},{\"b\":\"ä\"}]"), ("a.jsonl", "{\"a\":1}\n{\"b\":\"ä\"}\n")]
        {
            let document = read(name, content.as_bytes()).unwrap();
            let parts: Vec<_> = document
                .parts
                .iter()
                .map(|part| (part.number, slice(&document.text, part.start_char, part.end_char)))
                .collect();
            assert_eq!(parts, [(1, "- a: 1".to_owned()), (2, "- b: ä".to_owned())]);
        }
    }

    #[test]
    fn what_is_no_json_says_where() {
        let error = read("a.jsonl", b"{\"a\":1}\n{oops}\n").unwrap_err();
        assert!(
            matches!(&error, ExtractError::ParseFailed { reason } if reason.starts_with("line 2: ")),
            "{error}"
        );
        assert!(matches!(
            read("a.json", "[".repeat(100_000).as_bytes()),
            Err(ExtractError::ParseFailed { .. })
        ));
    }
}
