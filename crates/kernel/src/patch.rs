//! A change of one member: absent, null and a value are three things.

use serde::{Deserialize, Deserializer};

/// A member of a PATCH body. Give the field `#[serde(default)]`, so that an absent member is [`Patch::Keep`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// Absent: stays as it is.
    #[default]
    Keep,
    /// Null: is cleared.
    Clear,
    /// A value: is set.
    Set(T),
}

impl<T> Patch<T> {
    /// What a member holds after the change.
    #[must_use]
    pub fn apply_to(self, old: Option<T>) -> Option<T> {
        match self {
            Self::Keep => old,
            Self::Clear => None,
            Self::Set(new) => Some(new),
        }
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Option::deserialize(deserializer)? {
            Some(value) => Self::Set(value),
            None => Self::Clear,
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
