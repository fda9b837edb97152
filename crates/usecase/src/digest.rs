//! Digests as texts.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Bytes in lower-case hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
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
    match value {
        Value::Object(members) => {
            let mut names: Vec<_> = members.keys().collect();
            names.sort_unstable();
            let member =
                |name: &String| format!("{}:{}", Value::from(name.as_str()), canonical_json(&members[name]));
            format!("{{{}}}", names.into_iter().map(member).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical_json).collect::<Vec<_>>().join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
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
