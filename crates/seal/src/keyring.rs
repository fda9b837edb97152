//! The ring of keys, and what is done with it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::cipher::{self, Closed, KEY_LENGTH, Secret};
use crate::place::{Purpose, VERSION};
use crate::sealed::{LONGEST, Sealed};
use crate::{Place, Random, SealError};

/// Number of keys that a ring may have.
const MOST_KEYS: usize = 64;
/// Length up to which a key's id goes, in characters.
const LONGEST_ID: usize = 64;

/// Keys that wrap data keys, by their ids. New secrets are sealed under the current one; the others open what was
/// sealed before.
///
/// As text it is one line for each key, `ID KEY` with the key in base64, the current key first; `;` parts keys like
/// the end of a line, empty lines count for nothing, and a line that begins with `#` is a remark.
#[derive(Clone)]
pub struct Keyring {
    current: RingKey,
    earlier: Vec<RingKey>,
}

#[derive(Clone)]
struct RingKey {
    id: String,
    key: Secret,
}

/// Value by which a key is known again without being told: it stands beside what the key sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckValue {
    /// The key's id.
    pub kid: String,
    /// HMAC-SHA-256 of the key over a fixed text and the id, its first 16 bytes in lower-case hex.
    pub value: String,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("ids", &self.ids().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

impl Keyring {
    /// A ring with one new key.
    ///
    /// # Errors
    /// `NoRandom`.
    pub fn generate(random: &mut dyn Random) -> Result<Self, SealError> {
        Ok(Self { current: RingKey::generate(random)?, earlier: Vec::new() })
    }

    /// Puts a new key on the ring as the current one; gives its id. What is sealed under the others still opens, and
    /// [`Self::rewrap`] brings it under the new one.
    ///
    /// # Errors
    /// `NoRandom`; `BadKeyring` for a ring that is full.
    pub fn add_current(&mut self, random: &mut dyn Random) -> Result<&str, SealError> {
        if self.ids().count() >= MOST_KEYS {
            return Err(SealError::BadKeyring(
                "it has 64 keys, and no more fit on it: take the last lines out of its file, of keys that nothing is \
                 sealed under (the database and the backups that you keep)",
            ));
        }
        let mut added = RingKey::generate(random)?;
        while self.find(&added.id).is_some() {
            added = RingKey::generate(random)?;
        }
        let before = std::mem::replace(&mut self.current, added);
        self.earlier.insert(0, before);
        Ok(&self.current.id)
    }

    /// Takes a key from the ring: nothing that is sealed under it opens any more.
    ///
    /// # Errors
    /// `UnknownKey`, `IsCurrent`.
    pub fn retire(&mut self, id: &str) -> Result<(), SealError> {
        if self.current.id == id {
            return Err(SealError::IsCurrent(id.to_owned()));
        }
        let before = self.earlier.len();
        self.earlier.retain(|key| key.id != id);
        if self.earlier.len() == before { Err(SealError::UnknownKey(id.to_owned())) } else { Ok(()) }
    }

    /// The ring with the keys of another one behind its own, as far as it lacks them: what is sealed under these still
    /// opens. The current key stays.
    #[must_use]
    pub fn with_earlier(mut self, other: &Self) -> Self {
        for key in std::iter::once(&other.current).chain(&other.earlier) {
            if self.find(&key.id).is_none() {
                self.earlier.push(key.clone());
            }
        }
        self
    }

    /// Ids of the keys, the current one first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.current).chain(&self.earlier).map(|key| key.id.as_str())
    }

    /// Id of the current key.
    #[must_use]
    pub fn current(&self) -> &str {
        &self.current.id
    }

    /// Check value of the current key.
    #[must_use]
    pub fn check_value(&self) -> CheckValue {
        self.current.check_value()
    }

    /// Holds a stored check value against the key of its id.
    ///
    /// # Errors
    /// `UnknownKey` when the ring has no key of that id, `WrongKey` when it is another one.
    pub fn verify(&self, stored: &CheckValue) -> Result<(), SealError> {
        let key = self.find(&stored.kid).ok_or_else(|| SealError::UnknownKey(stored.kid.clone()))?;
        let is_same: bool = key.check_value().value.as_bytes().ct_eq(stored.value.as_bytes()).into();
        if is_same { Ok(()) } else { Err(SealError::WrongKey(stored.kid.clone())) }
    }

    /// Seals a secret for a place, under a data key of its own.
    ///
    /// # Errors
    /// `TooLong`, `NoRandom`.
    pub fn seal(
        &self,
        place: &Place<'_>,
        secret: &[u8],
        random: &mut dyn Random,
    ) -> Result<Sealed, SealError> {
        if secret.len() > LONGEST {
            return Err(SealError::TooLong(secret.len()));
        }
        let data_key = cipher::new_key(random)?;
        let closed = cipher::encrypt(&data_key, secret, &place.associated(Purpose::Secret), random)?;
        self.wrapped(place, &data_key, closed, random)
    }

    /// Opens what was sealed for this place.
    ///
    /// # Errors
    /// `UnknownVersion`, `UnknownKey`; `DoesNotOpen` when anything was changed or the place is another.
    pub fn unseal(&self, place: &Place<'_>, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let data_key = self.data_key(place, sealed)?;
        cipher::decrypt(&data_key, sealed.n2, &sealed.ct, &place.associated(Purpose::Secret))
    }

    /// The same secret with its data key wrapped under the current key; `None` when it is already. The secret itself
    /// stays closed.
    ///
    /// # Errors
    /// As [`Self::unseal`], and `NoRandom`.
    pub fn rewrap(
        &self,
        place: &Place<'_>,
        sealed: &Sealed,
        random: &mut dyn Random,
    ) -> Result<Option<Sealed>, SealError> {
        if sealed.kid == self.current.id {
            return Ok(None);
        }
        let data_key = self.data_key(place, sealed)?;
        let closed = Closed { nonce: sealed.n2, bytes: sealed.ct.clone() };
        self.wrapped(place, &data_key, closed, random).map(Some)
    }

    fn wrapped(
        &self,
        place: &Place<'_>,
        data_key: &Secret,
        secret: Closed,
        random: &mut dyn Random,
    ) -> Result<Sealed, SealError> {
        let kid = self.current.id.clone();
        let associated = place.associated(Purpose::DataKey(&kid));
        let key = cipher::encrypt(&self.current.key, data_key.as_slice(), &associated, random)?;
        Ok(Sealed {
            v: VERSION,
            kid,
            wrapped_dek: key.bytes,
            n1: key.nonce,
            ct: secret.bytes,
            n2: secret.nonce,
        })
    }

    fn data_key(&self, place: &Place<'_>, sealed: &Sealed) -> Result<Secret, SealError> {
        if sealed.v != VERSION {
            return Err(SealError::UnknownVersion(sealed.v));
        }
        let key = self.find(&sealed.kid).ok_or_else(|| SealError::UnknownKey(sealed.kid.clone()))?;
        let associated = place.associated(Purpose::DataKey(&sealed.kid));
        let opened = cipher::decrypt(&key.key, sealed.n1, &sealed.wrapped_dek, &associated)?;
        let mut data_key = Zeroizing::new([0; KEY_LENGTH]);
        if opened.len() != KEY_LENGTH {
            return Err(SealError::DoesNotOpen);
        }
        data_key.copy_from_slice(&opened);
        Ok(data_key)
    }

    fn find(&self, id: &str) -> Option<&RingKey> {
        std::iter::once(&self.current).chain(&self.earlier).find(|key| key.id == id)
    }

    /// The ring of a text, as [`Self::to_text`] writes it.
    ///
    /// # Errors
    /// `BadKeyring`.
    pub fn from_text(text: &str) -> Result<Self, SealError> {
        let mut keys: Vec<RingKey> = Vec::new();
        let lines = text.split(['\n', ';']).map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let key = RingKey::from_line(line)?;
            if keys.iter().any(|other| other.id == key.id) {
                return Err(SealError::BadKeyring("an id stands twice"));
            }
            if keys.len() == MOST_KEYS {
                return Err(SealError::BadKeyring("it has more than 64 keys"));
            }
            keys.push(key);
        }
        let mut keys = keys.into_iter();
        let current = keys.next().ok_or(SealError::BadKeyring("it has no key"))?;
        Ok(Self { current, earlier: keys.collect() })
    }

    /// The ring as text.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        // Room for all from the beginning: a text that grows leaves copies of keys behind.
        let line = LONGEST_ID + 1 + KEY_LENGTH.div_ceil(3) * 4 + 1;
        let mut text = Zeroizing::new(String::with_capacity(line * self.ids().count()));
        for key in std::iter::once(&self.current).chain(&self.earlier) {
            text.push_str(&key.id);
            text.push(' ');
            text.push_str(&Zeroizing::new(STANDARD.encode(key.key.as_slice())));
            text.push('\n');
        }
        text
    }
}

impl RingKey {
    fn generate(random: &mut dyn Random) -> Result<Self, SealError> {
        let mut id = [0; 6];
        random.fill(&mut id)?;
        Ok(Self { id: format!("k{}", hex(&id)), key: cipher::new_key(random)? })
    }

    fn from_line(line: &str) -> Result<Self, SealError> {
        let (id, key) =
            line.split_once(char::is_whitespace).ok_or(SealError::BadKeyring("a line is `ID KEY`"))?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.len() > LONGEST_ID || !id.chars().all(is_plain) {
            return Err(SealError::BadKeyring("an id is up to 64 letters, digits, `-`, `_` and `.`"));
        }
        let not_a_key = SealError::BadKeyring("a key is 32 bytes in base64");
        let Ok(bytes) = STANDARD.decode(key.trim()).map(Zeroizing::new) else { return Err(not_a_key) };
        if bytes.len() != KEY_LENGTH {
            return Err(not_a_key);
        }
        if bytes.iter().all(|byte| *byte == 0) {
            return Err(SealError::BadKeyring("a key is all zero"));
        }
        let mut key = Zeroizing::new([0; KEY_LENGTH]);
        key.copy_from_slice(&bytes);
        Ok(Self { id: id.to_owned(), key })
    }

    fn check_value(&self) -> CheckValue {
        let mut value = String::new();
        // A key of 32 bytes is one of HMAC's: the value is never empty.
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.key.as_slice()) {
            mac.update(b"heddle/keyring/check/v1");
            mac.update(self.id.as_bytes());
            value = hex(mac.finalize().into_bytes().as_slice().split_at(16).0);
        }
        CheckValue { kid: self.id.clone(), value }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
