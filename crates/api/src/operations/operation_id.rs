//! The operation id that the contract's rule gives to a method and path.

#![expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a wrong position is an error")]

use super::Method;

const LONGEST: usize = 160;

/// Operation id derived at compile time: the method in small letters, then the words of the path, each but the first
/// with a capital. `POST /api/case-events/{eventId}` becomes `postapiCaseEventsEventId`.
#[derive(Debug, Clone, Copy)]
pub(super) struct DerivedId {
    bytes: [u8; LONGEST],
    length: usize,
}

impl DerivedId {
    /// Derives the id of a row.
    pub(super) const fn of(method: Method, path: &str) -> Self {
        let mut id = Self { bytes: [0; LONGEST], length: 0 };
        id = id.lowered(method.as_str().as_bytes());
        let path = path.as_bytes();
        let (mut at, mut words, mut in_word) = (0, 0, false);
        while at < path.len() {
            let byte = path[at];
            at += 1;
            if !byte.is_ascii_alphanumeric() {
                in_word = false;
                continue;
            }
            if !in_word {
                words += 1;
            }
            id = id.with(if !in_word && words > 1 { byte.to_ascii_uppercase() } else { byte });
            in_word = true;
        }
        id
    }

    /// The id's text.
    pub(super) const fn as_str(&'static self) -> &'static str {
        let (id, _) = self.bytes.split_at(self.length);
        match core::str::from_utf8(id) {
            Ok(id) => id,
            // Only alphanumeric ASCII is put in.
            Err(_) => "",
        }
    }

    const fn lowered(mut self, word: &[u8]) -> Self {
        let mut at = 0;
        while at < word.len() {
            self = self.with(word[at].to_ascii_lowercase());
            at += 1;
        }
        self
    }

    const fn with(mut self, byte: u8) -> Self {
        self.bytes[self.length] = byte;
        self.length += 1;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_of_method_and_path() {
        const CASE: DerivedId = DerivedId::of(Method::Post, "/api/case-events/{eventId}");
        const DOTTED: DerivedId = DerivedId::of(Method::Get, "/.well-known/openapi.json");
        assert_eq!(CASE.as_str(), "postapiCaseEventsEventId");
        assert_eq!(DOTTED.as_str(), "getwellKnownOpenapiJson");
    }
}
