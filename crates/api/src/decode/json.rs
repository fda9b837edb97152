//! Strict JSON reading: duplicate keys, deep nesting and U+0000 are refused, each with its place.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::path::Place;
use super::{MAX_CONTAINERS, MAX_DEPTH, MAX_DETAILS};
use crate::error::Detail;

/// Reads one JSON document.
///
/// # Errors
/// Every duplicate key (`duplicateKey`) and U+0000 (`notAllowed`), or what stopped the reading: `malformed`
/// with line and column, `tooDeep`, `tooLarge`; and every integer that 64 bits don't hold (`outOfRange`), which would come
/// back as another number.
pub fn read(bytes: &[u8]) -> Result<Value, Vec<Detail>> {
    let (found, containers, numbers) = (RefCell::new(Vec::new()), Cell::new(0), Cell::new(0));
    let too_long = too_long_integers(bytes);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let root = Seed {
        place: Place::ROOT,
        depth: 1,
        found: &found,
        containers: &containers,
        numbers: &numbers,
        too_long: &too_long,
    };
    let outcome = root.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    let mut details = found.into_inner();
    match outcome {
        Ok(value) if details.is_empty() => Ok(value),
        Ok(_) => Err(details),
        // The reading stopped at a place of our own.
        Err(error) if error.is_data() && !details.is_empty() => Err(details),
        Err(error) => {
            details.push(malformed(&error));
            Err(details)
        }
    }
}

fn malformed(error: &serde_json::Error) -> Detail {
    let (line, column) = (error.line(), error.column());
    let message = match error.classify() {
        serde_json::error::Category::Eof => {
            format!("The JSON ends too early, at line {line}, column {column}.")
        }
        _ => format!("This is not JSON at line {line}, column {column}."),
    };
    Detail::new("malformed", message).with("line", line).with("column", column)
}

/// Integers of more than 64 bits, by their place in the order of all numbers. The reader of JSON makes floating-point
/// numbers of them and does not tell; a text has few digits in a row mostly, and then this is one look at each byte.
fn too_long_integers(bytes: &[u8]) -> Vec<usize> {
    let (mut found, mut numbers, mut at) = (Vec::new(), 0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = behind_text(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let end = behind_number(bytes, at);
                if bytes.get(at..end).is_some_and(is_too_long) {
                    found.push(numbers);
                }
                numbers += 1;
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

fn behind_text(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn behind_number(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Whether a number is an integer that neither a signed nor an unsigned one of 64 bits holds.
fn is_too_long(number: &[u8]) -> bool {
    // The longest that always fits has 18 digits.
    if number.len() <= 18 {
        return false;
    }
    let text = std::str::from_utf8(number).unwrap_or_default();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    integer && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
}

struct Seed<'a> {
    place: Place<'a>,
    depth: usize,
    found: &'a RefCell<Vec<Detail>>,
    /// Objects and arrays so far.
    containers: &'a Cell<usize>,
    /// Numbers so far.
    numbers: &'a Cell<usize>,
    /// The numbers that are integers of more than 64 bits.
    too_long: &'a [usize],
}

impl Seed<'_> {
    fn report(&self, detail: Detail) {
        let mut found = self.found.borrow_mut();
        if found.len() < MAX_DETAILS {
            found.push(detail);
        }
    }

    fn child<'b>(&'b self, place: Place<'b>) -> Seed<'b> {
        Seed {
            place,
            depth: self.depth + 1,
            found: self.found,
            containers: self.containers,
            numbers: self.numbers,
            too_long: self.too_long,
        }
    }

    /// Counts a number; reports one that would come back as another.
    fn number(&self) {
        let at = self.numbers.get();
        self.numbers.set(at + 1);
        if self.too_long.binary_search(&at).is_ok() {
            let message = "An integer may have 64 bits; send a longer one as a text.";
            self.report(Detail::at(self.place.to_string(), "outOfRange", message));
        }
    }

    fn enter<E: serde::de::Error>(&self) -> Result<(), E> {
        self.containers.set(self.containers.get() + 1);
        if self.containers.get() > MAX_CONTAINERS {
            let message = format!("The document has more than {MAX_CONTAINERS} objects and arrays.");
            self.report(
                Detail::at(self.place.to_string(), "tooLarge", message).with("limit", MAX_CONTAINERS),
            );
            return Err(E::custom("too large"));
        }
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("Objects and arrays stand in each other deeper than {MAX_DEPTH} levels.");
        self.report(Detail::at(self.place.to_string(), "tooDeep", message));
        Err(E::custom("too deep"))
    }

    fn check_text(&self, text: &str) {
        if text.contains('\0') {
            let message = "The text has the character U+0000.";
            self.report(Detail::at(self.place.to_string(), "notAllowed", message));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        self.number();
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        self.number();
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.number();
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        self.check_text(value);
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        self.check_text(&value);
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.enter::<A::Error>()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.child(self.place.item(list.len())))? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.enter::<A::Error>()?;
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let place = self.place.member(&key);
            if key.contains('\0') {
                let message = "The member's name has the character U+0000.";
                self.report(Detail::at(place.to_string(), "notAllowed", message));
            }
            if map.contains_key(&key) {
                let message = format!("The member `{}` stands twice.", super::path::shown(&key));
                self.report(Detail::at(place.to_string(), "duplicateKey", message));
            }
            let value = members.next_value_seed(self.child(place))?;
            map.insert(key, value);
            if self.found.borrow().len() >= MAX_DETAILS {
                return Err(A::Error::custom("too many problems"));
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &[u8]) -> Vec<(String, String)> {
        let details = read(text).unwrap_err();
        details.into_iter().map(|detail| (detail.field.unwrap_or_default(), detail.reason)).collect()
    }

    fn one(field: &str, reason: &str) -> Vec<(String, String)> {
        vec![(field.to_owned(), reason.to_owned())]
    }

    #[test]
    fn reads_what_serde_json_reads() {
        let texts = [
            "null",
            "[]",
            "{}",
            "-0.5e3",
            "18446744073709551615",
            "-9223372036854775808",
            "1.0",
            "\"\\u00e4\\n\"",
            r#"{"a":[1,{"b":null}],"c":true}"#,
        ];
        for text in texts {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(read(text.as_bytes()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn names_the_place_of_each_duplicate_key() {
        let found = problems(br#"{"a":1,"b":[{"x":1,"x":2}],"a":2,"c d":{"e":0,"e":1}}"#);
        let places: Vec<_> = found.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(places, ["b[0].x", "a", "[\"c d\"].e"]);
        assert!(found.iter().all(|(_, reason)| reason == "duplicateKey"));
    }

    #[test]
    fn takes_64_levels_and_no_more() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(64).as_bytes()).is_ok());
        assert_eq!(problems(nested(65).as_bytes()), one(&"[0]".repeat(64), "tooDeep"));
        assert_eq!(problems("[".repeat(1_000_000).as_bytes())[0].1, "tooDeep");
        let many = |count: usize| format!("[{}{{}}]", "{},".repeat(count - 2));
        assert!(read(many(MAX_CONTAINERS).as_bytes()).is_ok());
        assert_eq!(problems(many(MAX_CONTAINERS + 1).as_bytes())[0].1, "tooLarge");
        assert_eq!(problems("{\"a\":".repeat(100_000).as_bytes())[0].1, "tooDeep");
    }

    #[test]
    fn says_where_it_is_not_json() {
        let malformed: [&[u8]; 14] = [
            b"",
            b" ",
            b"{",
            b"{}{}",
            b"[1,]",
            b"nul",
            b"\xef\xbb\xbf{}",
            b"\"\xff\"",
            b"{'a':1}",
            b"1e999",
            b"NaN",
            b"\"\\ud800\"",
            b"PK\x03\x04",
            b"\x00",
        ];
        for text in malformed {
            assert_eq!(problems(text), one("", "malformed"), "{text:?}");
        }
        let detail = read(b"{\"a\":\n 1,\n oops}").unwrap_err().remove(0);
        assert_eq!(detail.extra["line"], 3);
    }

    #[test]
    fn refuses_integers_that_would_come_back_as_others() {
        let text = br#"{"a":12345678901234567890123,"b":["12345678901234567890123",1e30,{"c d":-9223372036854775809}],
            "d":18446744073709551615,"e":1.2345678901234567890123}"#;
        let places: Vec<_> = problems(text);
        let named = |field: &str| (field.to_owned(), "outOfRange".to_owned());
        assert_eq!(places, [named("a"), named("b[2][\"c d\"]")]);
        assert!(read(br#"{"a\"123456789012345678901234":1}"#).is_ok());
        assert_eq!(problems(b"18446744073709551616"), one("", "outOfRange"));
    }

    #[test]
    fn refuses_the_nul_character() {
        assert_eq!(problems(br#"{"a":["b","\u0000"]}"#), one("a[1]", "notAllowed"));
        assert_eq!(problems(br#"{"a\u0000":1}"#), one("[\"a\\0\"]", "notAllowed"));
    }

    #[test]
    fn a_flood_of_problems_is_cut() {
        let text = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(100_000));
        assert_eq!(read(text.as_bytes()).unwrap_err().len(), MAX_DETAILS);
    }
}
