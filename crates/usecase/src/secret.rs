//! Secrets: as they come in, as they are kept, and what is shown of them.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// The least characters of a secret whose end is shown.
const HINTED: usize = 16;
/// Characters of a hint.
const HINT: usize = 4;

/// A secret in the clear. Its memory is overwritten when it goes; it has no JSON form and shows nothing in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// From its text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text, for whoever sends or seals it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A hint so that a person can tell one secret from another: `…` and its last four characters. A secret of less
    /// than 16 characters has none: four would be too much of it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let length = self.0.chars().count();
        (length >= HINTED).then(|| format!("…{}", self.0.chars().skip(length - HINT).collect::<String>()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

/// A sealed secret, as a store keeps it.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// Id of the key under which it is sealed.
    pub key: String,
    /// The sealed form: an opaque text.
    pub text: String,
}

impl fmt::Debug for SealedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedSecret").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Reason for which a secret was not sealed or opened. It says nothing of the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The keyring has no key of this id.
    #[error("the keyring has no key `{0}`")]
    UnknownKey(String),
    /// The keyring's key of this id is another one.
    #[error("the keyring's key `{0}` is another one of that name")]
    WrongKey(String),
    /// The sealed form does not open here: it was changed, or it was sealed in another place.
    #[error("the sealed form does not open in this place")]
    DoesNotOpen,
    /// No randomness, or no memory: nothing was sealed.
    #[error("the secret could not be sealed: {0}")]
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_secret_has_a_hint() {
        for (text, hint) in [
            ("", None),
            ("fifteen letters", None),
            ("sixteen letters!", Some("…ers!")),
            ("ümläüte äöü äöü äöüß", Some("…äöüß")),
        ] {
            assert_eq!(Secret::new(text).hint().as_deref(), hint, "{text}");
        }
    }

    #[test]
    fn nothing_of_a_secret_is_in_its_debug_text() {
        let sealed = SealedSecret { key: "k1".to_owned(), text: "canary-7".to_owned() };
        let told = format!("{:?} {sealed:?}", Secret::new("canary-7"));
        assert!(!told.contains("canary"), "{told}");
    }
}
