//! The members of a JSON object as bytes: read once, copied never, written again with a few replaced.

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

use crate::bounds::{MAX_MEMBERS, check_depth};
use crate::error::WireError;

/// A member's name, and where in the body its value stands.
#[derive(Clone, PartialEq, Eq)]
struct Member {
    name: String,
    from: usize,
    to: usize,
}

/// The top level of a body. The values stay the bytes that came.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Members {
    body: Bytes,
    list: Vec<Member>,
}

/// A change of one member as a body is written again.
pub(crate) struct Change<'a> {
    /// Name.
    pub(crate) name: &'a str,
    /// JSON text of the value; none takes the member out.
    pub(crate) value: Option<String>,
}

impl<'a> Change<'a> {
    /// A member with a text.
    pub(crate) fn text(name: &'a str, value: &str) -> Self {
        Self { name, value: Some(serde_json::Value::from(value).to_string()) }
    }

    /// A member with a JSON text.
    pub(crate) fn json(name: &'a str, value: impl Into<String>) -> Self {
        Self { name, value: Some(value.into()) }
    }

    /// No such member.
    pub(crate) fn none(name: &'a str) -> Self {
        Self { name, value: None }
    }
}

struct Entry<'a> {
    name: String,
    value: &'a RawValue,
}

struct Entries<'a>(Vec<Entry<'a>>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::with_capacity(12);
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value::<&'de RawValue>()?;
            if list.len() <= MAX_MEMBERS {
                list.push(Entry { name, value });
            }
        }
        Ok(Entries(list))
    }
}

impl Members {
    /// Reads a body.
    ///
    /// # Errors
    /// `Member`: no JSON object, deeper than 96 levels, more than 128 members, a member twice.
    pub(crate) fn read(body: Bytes) -> Result<Self, WireError> {
        check_depth(&body)?;
        let Ok(Entries(entries)) = serde_json::from_slice::<Entries<'_>>(&body) else {
            return Err(WireError::member("", "is not a JSON object"));
        };
        if entries.len() > MAX_MEMBERS {
            return Err(WireError::member("", "has more than 128 members"));
        }
        let start = body.as_ptr() as usize;
        let mut list: Vec<Member> = Vec::with_capacity(entries.len());
        for Entry { name, value } in entries {
            if list.iter().any(|member| member.name == name) {
                return Err(WireError::member(name, "stands there twice"));
            }
            let from = (value.get().as_ptr() as usize).saturating_sub(start);
            list.push(Member { name, from, to: from + value.get().len() });
        }
        Ok(Self { body, list })
    }

    /// The body as it came.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// The JSON text of a member; none when it is absent or null.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let member = self.list.iter().find(|member| member.name == name)?;
        self.text(member).filter(|text| *text != "null")
    }

    fn text(&self, member: &Member) -> Option<&str> {
        self.body.get(member.from..member.to).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// The names of the members that are not null.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter(|member| self.text(member) != Some("null")).map(|member| member.name.as_str())
    }

    /// A member, read.
    ///
    /// # Errors
    /// `Member` with `reason` when it has another shape.
    pub(crate) fn read_as<'a, T: Deserialize<'a>>(
        &'a self,
        name: &str,
        reason: &'static str,
    ) -> Result<Option<T>, WireError> {
        match self.get(name) {
            None => Ok(None),
            Some(text) => match serde_json::from_str(text) {
                Ok(value) => Ok(Some(value)),
                Err(_unread) => Err(WireError::member(name, reason)),
            },
        }
    }

    /// The body with changes: what is not named keeps its bytes and its place, what is new comes last.
    pub(crate) fn with(&self, changes: &[Change<'_>]) -> Bytes {
        let added: usize = changes
            .iter()
            .map(|change| change.name.len() + change.value.as_ref().map_or(0, String::len) + 8)
            .sum();
        let mut out: Vec<u8> = Vec::with_capacity(self.body.len() + added);
        for member in &self.list {
            let change = changes.iter().find(|change| change.name == member.name);
            let value = match change {
                Some(change) => change.value.as_deref(),
                None => self.text(member),
            };
            if let Some(value) = value {
                put(&mut out, &member.name, value);
            }
        }
        for change in changes {
            if let Some(value) = &change.value
                && !self.list.iter().any(|member| member.name == change.name)
            {
                put(&mut out, change.name, value);
            }
        }
        out.push(if out.is_empty() { b'{' } else { b'}' });
        if out.len() == 1 {
            out.push(b'}');
        }
        Bytes::from(out)
    }
}

fn put(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(if out.is_empty() { b'{' } else { b',' });
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(serde_json::Value::from(name).to_string().as_bytes());
    }
    out.push(b':');
    out.extend_from_slice(value.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Result<Members, WireError> {
        Members::read(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn what_is_not_named_keeps_its_bytes_and_its_place() {
        let body =
            members(r#"{ "a" : 1.50 , "model":"x", "ü\n": [ 1,  {"b":null} ] , "gone":true}"#).unwrap();
        let changed =
            body.with(&[Change::text("model", "y\""), Change::none("gone"), Change::json("new", "[]")]);
        assert_eq!(changed, r#"{"a":1.50,"model":"y\"","ü\n":[ 1,  {"b":null} ],"new":[]}"#);
        assert_eq!(members("{}").unwrap().with(&[]), "{}");
        assert_eq!(members(r#"{"a":1}"#).unwrap().with(&[Change::none("a")]), "{}");
    }

    #[test]
    fn bodies_that_are_no_object_or_say_a_thing_twice_are_refused() {
        for (text, member) in [
            ("[]", ""),
            ("{", ""),
            (r#"{"a":1} x"#, ""),
            (r#"{"a":1,"b":2,"a":3}"#, "a"),
            ("\"text\"", ""),
            ("", ""),
        ] {
            let error = members(text).map(|_| ()).unwrap_err();
            assert_eq!(error.at(), Some(member), "{text}");
        }
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
        assert!(members(&deep).is_err());
        let text = format!(r#"{{"a":"{}"}}"#, "[".repeat(1000));
        assert!(members(&text).is_ok(), "brackets within a text nest nothing");
    }
}
