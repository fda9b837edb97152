//! The correlation identifier of a request: header `x-request-id`.

use std::fmt;

/// A legal `x-request-id`: 1 to 200 visible ASCII characters or inner spaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// The caller's id, if it is a legal one.
    #[must_use]
    pub fn from_caller(text: &str) -> Option<Self> {
        let legal = (1..=200).contains(&text.len())
            && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
            && text.trim() == text;
        legal.then(|| Self(text.to_owned()))
    }

    /// One made here.
    #[must_use]
    pub fn made(id: uuid::Uuid) -> Self {
        Self(id.hyphenated().to_string())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_header_text_of_1_to_200_characters_is_taken() {
        assert!(RequestId::from_caller("a b-1").is_some());
        for wrong in ["", " a", "a\n", "ä", &"x".repeat(201)] {
            assert!(RequestId::from_caller(wrong).is_none(), "{wrong}");
        }
    }
}
