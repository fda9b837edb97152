//! Digests as texts.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Bytes in lower-case hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// SHA-256 of bytes, in lower-case hex.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256, in lower-case hex, of a JSON value written without white space and with its member names in byte order.
#[must_use]
pub fn canonical_sha256(value: &Value) -> String {
    sha256_hex(canonical_json(value).as_bytes())
}

/// A JSON value as text without white space and with its member names in byte order.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = Vec::new();
    write_canonical(value, &mut text);
    // What serde_json writes is UTF-8.
    String::from_utf8(text).unwrap_or_default()
}

/// Appends the text of [`canonical_json`], which is UTF-8.
pub fn write_canonical(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            text.push(b'{');
            for (at, (name, value)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                write_plain(name, text);
                text.push(b':');
                write_canonical(value, text);
            }
            text.push(b'}');
        }
        Value::Array(items) => {
            text.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                write_canonical(item, text);
            }
            text.push(b']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => write_plain(value, text),
    }
}

/// Appends the JSON of what has no members.
fn write_plain(value: &(impl Serialize + ?Sized), text: &mut Vec<u8>) {
    // Neither does memory fail here, nor is there anything that JSON has no word for.
    let _ = serde_json::to_writer(text, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_members_does_not_change_a_digest() {
        let one: Value = serde_json::from_str(r#"{"b":[1,{"d":2.50,"c":null}],"a":"é\n"}"#).unwrap();
        let other: Value = serde_json::from_str(r#"{"a":"\u00e9\n","b":[1,{"c":null,"d":2.5}]}"#).unwrap();
        assert_eq!(canonical_json(&one), "{\"a\":\"é\\n\",\"b\":[1,{\"c\":null,\"d\":2.5}]}");
        assert_eq!(canonical_sha256(&one), canonical_sha256(&other));
    }

    #[test]
    fn digests_are_lower_case_hex() {
        assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
