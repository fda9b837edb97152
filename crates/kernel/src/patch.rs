//! A member of three values: absent, null and a value are three things.

use serde::{Deserialize, Deserializer};

/// A member of a body as it was sent, or of a document as it is stored. Give the field `#[serde(default)]`, so that a
/// missing member is [`Patch::Absent`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// Not there; in a change: stays as it is.
    #[default]
    Absent,
    /// Null; in a change: is cleared.
    Null,
    /// A value; in a change: is set.
    Value(T),
}

impl<T> Patch<T> {
    /// The value, if there is one.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Value of a member after the change.
    #[must_use]
    pub fn apply_to(self, old: Option<T>) -> Option<T> {
        match self {
            Self::Absent => old,
            Self::Null => None,
            Self::Value(new) => Some(new),
        }
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Option::deserialize(deserializer)? {
            Some(value) => Self::Value(value),
            None => Self::Null,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_null_and_value_are_kept_apart() {
        #[derive(Deserialize)]
        struct Body {
            #[serde(default)]
            name: Patch<String>,
        }
        for (text, after) in
            [("{}", Some("old")), (r#"{"name":null}"#, None), (r#"{"name":"new"}"#, Some("new"))]
        {
            let body: Body = serde_json::from_str(text).unwrap();
            assert_eq!(body.name.apply_to(Some("old".to_owned())).as_deref(), after, "{text}");
        }
    }
}
