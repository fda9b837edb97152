//! The keys of whoever distributes the program: their names, their texts, and lists of the public ones.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_compact::{KeyPair, Seed};
use heddle_policy::licence::Claims;

use crate::{PublicKey, SignError, SigningKey, sign};

/// Length of a key's text form in bytes before it is written in base64url.
pub const KEY_LENGTH: usize = 32;
/// The name under which an installation signs its own trial.
pub const INSTALLATION_KEY_ID: &str = "installation";
/// The name of the key with which builds for tests accept licences.
pub const TEST_KEY_ID: &str = "test";
/// Word that begins the text of a secret key, so that nobody takes it for a public one.
const SECRET: &str = "secret:";
/// Most characters of a key's name.
const LONGEST_NAME: usize = 40;

/// Defect of a key's text. It shows nothing of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Text that is no `name=key`.
    #[error("a key is written `name=key`, the key in base64url")]
    Form,
    /// Name that no key may have.
    #[error(
        "`{0}` is no name for a key: 1 to 40 letters, digits, `.`, `-` and `_`; not `installation`, not `test`"
    )]
    Name(String),
    /// Key of a wrong length or of other characters.
    #[error("the key `{0}` is not 32 bytes in base64url")]
    Bytes(String),
    /// Name that two keys have.
    #[error("two keys have the name `{0}`")]
    Twice(String),
    /// Secret key in the place of a public one.
    #[error("the key `{0}` is a secret one: it belongs to its owner alone")]
    Secret(String),
}

/// Public keys by name. Two or more let keys change without a gap.
#[derive(Debug, Clone, Default)]
pub struct PublicKeys(BTreeMap<String, PublicKey>);

impl PublicKeys {
    /// Reads a list of keys: `name=key`, apart by white space; what follows a `#` on a line is a remark.
    ///
    /// # Errors
    /// [`KeyError`] for the first one that is wrong.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let mut all = BTreeMap::new();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        for entry in lines.flat_map(str::split_ascii_whitespace) {
            if let Some(rest) = entry.strip_prefix(SECRET) {
                let name = rest.split('=').next().unwrap_or_default();
                return Err(KeyError::Secret(name.chars().take(LONGEST_NAME).collect()));
            }
            let (name, key) = entry.split_once('=').ok_or(KeyError::Form)?;
            check_name(name)?;
            let bytes = bytes_of(name, key)?;
            let key = PublicKey::from(&bytes).or(Err(KeyError::Bytes(name.to_owned())))?;
            if all.insert(name.to_owned(), key).is_some() {
                return Err(KeyError::Twice(name.to_owned()));
            }
        }
        Ok(Self(all))
    }

    /// The key of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<PublicKey> {
        self.0.get(name).cloned()
    }

    /// The names of the keys, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// A key that signs licences. It stays with whoever distributes the program.
#[derive(Clone)]
pub struct SecretKey {
    id: String,
    seed: [u8; KEY_LENGTH],
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SecretKey {
    /// Key of a name from 32 random bytes.
    ///
    /// # Errors
    /// `Name`; `Bytes` for bytes that are all zero.
    pub fn new(id: &str, seed: [u8; KEY_LENGTH]) -> Result<Self, KeyError> {
        check_name(id)?;
        if seed == [0; KEY_LENGTH] {
            return Err(KeyError::Bytes(id.to_owned()));
        }
        Ok(Self { id: id.to_owned(), seed })
    }

    /// Reads the text of [`Self::to_text`].
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let (id, key) =
            text.trim().strip_prefix(SECRET).and_then(|rest| rest.split_once('=')).ok_or(KeyError::Form)?;
        check_name(id)?;
        Self::new(id, bytes_of(id, key)?)
    }

    /// Text of the key, `secret:name=...`, for a file that only its owner reads.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{SECRET}{}={}\n", self.id, URL_SAFE_NO_PAD.encode(self.seed))
    }

    /// The key's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The public key with its name, as a list of keys has it.
    #[must_use]
    pub fn public_text(&self) -> String {
        format!("{}={}", self.id, URL_SAFE_NO_PAD.encode(*self.pair().pk))
    }

    /// The public key; none when the library does not take it.
    #[must_use]
    pub fn public_key(&self) -> Option<PublicKey> {
        PublicKey::from(&*self.pair().pk).ok()
    }

    /// Signs claims; the licence file.
    ///
    /// # Errors
    /// [`SignError`] for a key that can't sign.
    pub fn sign(&self, claims: &Claims) -> Result<String, SignError> {
        let key = SigningKey::from(&*self.pair().sk).map_err(|error| SignError::of(&error))?;
        sign(claims, &self.id, &key)
    }

    fn pair(&self) -> KeyPair {
        KeyPair::from_seed(Seed::new(self.seed))
    }
}

fn check_name(name: &str) -> Result<(), KeyError> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let taken = name == INSTALLATION_KEY_ID || name == TEST_KEY_ID;
    if (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(fits) && !taken {
        return Ok(());
    }
    Err(KeyError::Name(name.chars().take(LONGEST_NAME).collect()))
}

fn bytes_of(name: &str, text: &str) -> Result<[u8; KEY_LENGTH], KeyError> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| KeyError::Bytes(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, seed: u8) -> SecretKey {
        SecretKey::new(name, [seed; KEY_LENGTH]).unwrap()
    }

    #[test]
    fn a_key_is_read_as_it_was_written_and_shows_nothing() {
        let one = key("2026a", 1);
        let again = SecretKey::parse(&one.to_text()).unwrap();
        assert_eq!((again.id(), again.public_text()), ("2026a", one.public_text()));
        assert!(!format!("{one:?}").contains("seed"));
    }

    #[test]
    fn keys_are_found_by_name() {
        let (a, b) = (key("2026a", 1), key("2026b", 2));
        let list = format!("# of Acme\n{}  # the first\n{}\n", a.public_text(), b.public_text());
        let keys = PublicKeys::parse(&list).unwrap();
        assert_eq!(keys.names().collect::<Vec<_>>(), ["2026a", "2026b"]);
        let bytes = |key: Option<PublicKey>| key.unwrap().as_bytes().to_vec();
        assert_eq!(bytes(keys.find("2026b")), bytes(b.public_key()));
        assert!(keys.find("2026c").is_none() && keys.find("").is_none());
        assert_eq!(PublicKeys::parse(" \n").unwrap().names().count(), 0);
    }

    #[test]
    fn what_is_no_key_is_told_without_its_text() {
        let good = key("2026a", 1);
        let public = good.public_text();
        let value = public.split_once('=').unwrap().1;
        let cases = [
            (format!("{public} {public}"), KeyError::Twice("2026a".to_owned())),
            ("2026a".to_owned(), KeyError::Form),
            ("2026a=AAAA".to_owned(), KeyError::Bytes("2026a".to_owned())),
            (format!("2026a={value}A"), KeyError::Bytes("2026a".to_owned())),
            (format!("2026a={}!", &value[1..]), KeyError::Bytes("2026a".to_owned())),
            (format!("test={value}"), KeyError::Name("test".to_owned())),
            (format!("installation={value}"), KeyError::Name("installation".to_owned())),
            (format!("ä={value}"), KeyError::Name("ä".to_owned())),
            (format!("={value}"), KeyError::Name(String::new())),
            (good.to_text(), KeyError::Secret("2026a".to_owned())),
        ];
        for (text, expected) in cases {
            assert_eq!(PublicKeys::parse(&text).map(|_| ()), Err(expected), "{text}");
        }
        assert_eq!(SecretKey::parse(&public).map(|_| ()), Err(KeyError::Form));
        assert_eq!(SecretKey::new("a b", [1; 32]).map(|_| ()), Err(KeyError::Name("a b".to_owned())));
        assert_eq!(SecretKey::new("a", [0; 32]).map(|_| ()), Err(KeyError::Bytes("a".to_owned())));
    }
}
