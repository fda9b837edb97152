//! Character data: from source to value and back.

use std::borrow::Cow;

/// Whether a reference (without `&` and `;`) is predefined or a legal character reference.
#[must_use]
pub fn known_reference(name: &str) -> bool {
    resolve(name).is_some()
}

fn resolve(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    u32::from_str_radix(hex, 16).ok()?
                }
                None if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse().ok()?,
                _ => return None,
            };
            char::from_u32(code).filter(|&letter| expressible(letter))
        }
    }
}

/// Whether XML 1.0 allows the character.
#[must_use]
pub fn expressible(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r') || (letter >= ' ' && letter != '\u{fffe}' && letter != '\u{ffff}')
}

/// Whether a raw attribute value is its own value: no reference, no white space but blanks, no `<`.
#[must_use]
pub fn verbatim(raw: &str) -> bool {
    // No other control character is left by now.
    !holds(raw, |byte| (byte == b'&') | (byte == b'<') | (byte < b' '))
}

/// Whether text is white space only.
#[must_use]
pub fn blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Whether a byte of the text is of a kind; without an early end, so that it takes blocks of bytes at once.
fn holds(text: &str, kind: impl Fn(u8) -> bool) -> bool {
    text.as_bytes().iter().fold(false, |any, &byte| any | kind(byte))
}

/// The first reference in the text that nothing defines.
#[must_use]
pub fn undefined_reference(raw: &str) -> Option<(usize, &str)> {
    let mut from = 0;
    while let Some(at) = raw[from..].find('&').map(|at| at + from) {
        let rest = &raw[at + 1..];
        let end = rest.find(';').unwrap_or(rest.len().min(32));
        let name = rest.get(..end).unwrap_or(rest);
        if end == rest.len() || !known_reference(name) {
            return Some((at, name));
        }
        from = at + 2 + end;
    }
    None
}

/// Puts the characters of references in their places.
fn unescape_into(raw: &str, out: &mut String) {
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let resolved = tail.find(';').and_then(|end| Some((end, resolve(&tail[..end])?)));
        match resolved {
            Some((end, letter)) => {
                out.push(letter);
                rest = &tail[end + 1..];
            }
            None => {
                out.push('&');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
}

/// The value of an attribute: white space normalised, references resolved (XML 1.0, 3.3.3).
#[must_use]
pub fn attribute_value(raw: &str) -> Cow<'_, str> {
    if !holds(raw, |byte| (byte == b'&') | (byte == b'\t') | (byte == b'\n') | (byte == b'\r')) {
        return Cow::Borrowed(raw);
    }
    let spaced = raw.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
    let mut out = String::with_capacity(spaced.len());
    unescape_into(&spaced, &mut out);
    Cow::Owned(out)
}

/// The character data within an element's content, tags left out.
#[must_use]
pub fn content_text(raw: &str) -> Cow<'_, str> {
    if !holds(raw, |byte| (byte == b'&') | (byte == b'<') | (byte == b'\r')) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('<') {
        push_text(&rest[..at], &mut out);
        let tag = &rest[at..];
        let skip = if let Some(data) = tag.strip_prefix("<![CDATA[") {
            let end = data.find("]]>").unwrap_or(data.len());
            out.push_str(&line_ends(&data[..end]));
            9 + end + 3
        } else if tag.starts_with("<!--") {
            tag.find("-->").map_or(tag.len(), |end| end + 3)
        } else if tag.starts_with("<?") {
            tag.find("?>").map_or(tag.len(), |end| end + 2)
        } else {
            tag_length(tag)
        };
        rest = tag.get(skip..).unwrap_or_default();
    }
    push_text(rest, &mut out);
    Cow::Owned(out)
}

fn push_text(raw: &str, out: &mut String) {
    unescape_into(&line_ends(raw), out);
}

fn line_ends(raw: &str) -> Cow<'_, str> {
    if raw.contains('\r') {
        Cow::Owned(raw.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(raw)
    }
}

/// Length of a tag with its brackets; a `>` within quotes does not end it.
fn tag_length(tag: &str) -> usize {
    let mut quote = 0;
    for (at, byte) in tag.bytes().enumerate() {
        match byte {
            b'"' | b'\'' if quote == 0 => quote = byte,
            _ if byte == quote => quote = 0,
            b'>' if quote == 0 => return at + 1,
            _ => {}
        }
    }
    tag.len()
}

/// Appends a value as attribute text.
pub fn escape_attribute(value: &str, out: &mut String) {
    escape(value, out, true);
}

/// Appends a value as character data.
pub fn escape_text(value: &str, out: &mut String) {
    escape(value, out, false);
}

/// Whether the text holds what is written as a reference.
fn special(value: &str) -> bool {
    holds(value, |byte| (byte == b'&') | (byte == b'<') | (byte == b'>') | (byte == b'"') | (byte < b' '))
}

fn escape(value: &str, out: &mut String, attribute: bool) {
    if !special(value) {
        out.push_str(value);
        return;
    }
    let mut from = 0;
    for (at, byte) in value.bytes().enumerate() {
        let reference = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'\r' => "&#13;",
            b'"' if attribute => "&quot;",
            b'\n' if attribute => "&#10;",
            b'\t' if attribute => "&#9;",
            _ => continue,
        };
        out.push_str(&value[from..at]);
        out.push_str(reference);
        from = at + 1;
    }
    out.push_str(&value[from..]);
}

/// Whole numbers below this one are exact as a double and as an integer.
const WHOLE: f64 = 1e15;

/// A number; the usual whole ones, with or without a fraction of zero, without a general search.
#[must_use]
pub fn parse_number(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text),
    };
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    if (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole = digits.bytes().fold(0_u32, |whole, byte| whole * 10 + u32::from(byte - b'0'));
        return Some(sign * f64::from(whole));
    }
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// The first byte that is a control character which XML 1.0 cannot express.
#[must_use]
pub fn control(text: &str) -> Option<usize> {
    let bad = |byte: u8| (byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    // Whole blocks without a branch for each byte.
    let blocks = text.as_bytes().chunks(256);
    let block = blocks.enumerate().find(|(_, block)| block.iter().fold(false, |any, &byte| any | bad(byte)));
    let (index, block) = block?;
    Some(index * 256 + block.iter().position(|&byte| bad(byte))?)
}

/// The number as XML Schema writes it: the shortest digits that tell it apart, without an exponent.
#[must_use]
pub fn number(value: f64) -> String {
    // Whole numbers, by far the most, need no search for the shortest digits.
    let negative_zero = value == 0.0 && value.is_sign_negative();
    if value.fract() == 0.0 && value.abs() < WHOLE && !negative_zero {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 10^15")]
        let whole = value as i64;
        return itoa::Buffer::new().format(whole).to_owned();
    }
    let mut buffer = zmij::Buffer::new();
    let short = buffer.format(value);
    let plain = short.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
    if plain && !short.ends_with(".0") { short.to_owned() } else { value.to_string() }
}

/// Whether the text is surely the shortest one of its number: at most 15 digits tell doubles apart.
#[must_use]
pub fn shortest_fraction(text: &str) -> bool {
    let Some((whole, fraction)) = text.strip_prefix('-').unwrap_or(text).split_once('.') else {
        return false;
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let leading = whole.len() > 1 && whole.starts_with('0');
    whole.len() + fraction.len() <= 15
        && digits(whole)
        && digits(fraction)
        && !leading
        && !fraction.ends_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_fraction_is_written_as_it_stands() {
        for text in ["0.5", "-12.25", "100.123456789", "0.00001", "123456789012.345"] {
            assert!(shortest_fraction(text), "{text}");
            assert_eq!(text.parse::<f64>().unwrap().to_string(), text);
        }
        for text in ["1", "1.0", "01.5", ".5", "5.", "1e3.5", "12.804751171874997", "", "-"] {
            assert!(!shortest_fraction(text), "{text}");
        }
    }

    #[test]
    fn character_data_is_resolved_once() {
        for (raw, text) in [
            ("plain", "plain"),
            ("a &lt; b &amp;amp; c &#65;&#x42;", "a < b &amp; c AB"),
            ("<![CDATA[a < b & c]]>", "a < b & c"),
            ("a<!-- no <b> -->b<?pi x?>c", "abc"),
            ("x <b title=\">\">bold</b> y", "x bold y"),
            ("a\r\nb\rc", "a\nb\nc"),
        ] {
            assert_eq!(content_text(raw), text, "{raw}");
        }
    }

    #[test]
    fn attribute_values_are_normalised() {
        assert_eq!(attribute_value("a\r\n\tb&#10;c&quot;"), "a  b\nc\"");
        let mut out = String::new();
        escape_attribute("a\n\t\"<&>\r", &mut out);
        assert_eq!(attribute_value(&out), "a\n\t\"<&>\r");
    }

    #[test]
    fn undefined_references_are_found() {
        for (raw, name) in
            [("a &foo; b", Some("foo")), ("&amp;&#0;", Some("#0")), ("&#x41;", None), ("a & b", Some(" b"))]
        {
            assert_eq!(undefined_reference(raw).map(|(_, name)| name), name, "{raw}");
        }
    }
}
