//! Names that people give to things and by which the API knows them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// The longest name of a vector database, in characters.
const LONGEST: usize = 63;

/// Words that stand in paths where the name of a vector database would.
const RESERVED: [&str; 5] =
    ["address-availability", "embedding-models", "ingestion-jobs", "methodologies", "upload-policy"];

/// Reason for which a text is no name of a vector database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// Spelling that names do not have.
    #[error("1 to 63 small letters and digits, in words joined by single hyphens")]
    Invalid,
    /// Word of the service's own paths, or one that reads as an id.
    #[error("a word that the service keeps for itself")]
    Reserved,
}

/// Name of a vector database, its address: `^[a-z0-9]+(-[a-z0-9]+)*$`, 1 to 63 characters, none of the words that the
/// service keeps and nothing that reads as an id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatabaseName(Arc<str>);

impl DatabaseName {
    /// The longest name, in characters.
    pub const MAX_LENGTH: usize = LONGEST;

    /// Reads a name in its one spelling.
    ///
    /// # Errors
    /// `Invalid`, `Reserved`.
    pub fn parse(text: &str) -> Result<Self, NameFault> {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(is_letter);
        if text.len() > LONGEST || !text.split('-').all(is_word) {
            return Err(NameFault::Invalid);
        }
        if RESERVED.contains(&text) || Uuid::try_parse(text).is_ok() {
            return Err(NameFault::Reserved);
        }
        Ok(Self(text.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for DatabaseName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for DatabaseName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling_and_is_no_id() {
        for name in ["a", "manuals", "user-manuals-2", &"a".repeat(63)] {
            assert_eq!(DatabaseName::parse(name).unwrap().as_str(), name);
        }
        for other in ["", "-", "a-", "-a", "a--b", "A", "a b", "ä", "a/b", "..", &"a".repeat(64)] {
            assert_eq!(DatabaseName::parse(other), Err(NameFault::Invalid), "{other}");
        }
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        for kept in ["upload-policy", "ingestion-jobs", id, &id.replace('-', "")] {
            assert_eq!(DatabaseName::parse(kept), Err(NameFault::Reserved), "{kept}");
        }
    }
}
