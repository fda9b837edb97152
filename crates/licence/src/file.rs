//! The file's text.

use heddle_policy::licence::Claims;
use pasetors::Public;
use pasetors::token::UntrustedToken;
use pasetors::version4::{PublicToken, V4};
use serde::{Deserialize, Serialize};

use crate::{PublicKey, SigningKey};

/// The armour's first line.
pub const ARMOUR_BEGIN: &str = "-----BEGIN HEDDLE LICENCE-----";
/// The armour's last line.
pub const ARMOUR_END: &str = "-----END HEDDLE LICENCE-----";
/// The longest file, in bytes.
const MAX_LENGTH: usize = 64 * 1024;
/// Binds a signature to this product and this form; PASETO's implicit assertion.
const ASSERTION: &[u8] = b"heddle/licence/v1";
const LINE: usize = 64;

/// Defect of a text that is not a licence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Malformed text.
    #[error("the text is not a licence")]
    Form,
    /// Signing key that is not known here.
    #[error("the licence is signed with a key that is not known here: `{0}`")]
    UnknownKey(String),
    /// Signature that is not right.
    #[error("the licence's signature is not right")]
    Signature,
    /// Claims that can't be read.
    #[error("the licence's claims can't be read: {0}")]
    Claims(String),
}

/// Failure of signing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("signing: {0}")]
pub struct SignError(String);

impl SignError {
    /// The failure of the signature's library.
    pub(crate) fn of(error: &dyn std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// A licence whose signature is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// Content of the licence.
    pub claims: Claims,
    /// Name of the key that signed it.
    pub key_id: String,
}

#[derive(Serialize, Deserialize)]
struct Footer {
    kid: String,
}

/// A token within its armour.
#[must_use]
pub fn armour(token: &str) -> String {
    let lines = token.as_bytes().chunks(LINE).map(String::from_utf8_lossy);
    let body: Vec<_> = lines.collect();
    format!("{ARMOUR_BEGIN}\n{}\n{ARMOUR_END}\n", body.join("\n"))
}

fn unarmour(text: &str) -> String {
    let within = text.split_once(ARMOUR_BEGIN).map_or(text, |(_, rest)| rest);
    let within = within.split_once(ARMOUR_END).map_or(within, |(body, _)| body);
    within.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Reads a licence file, with or without armour, and checks its signature with the key of the name that it bears.
/// Nothing else of it is checked.
///
/// # Errors
/// [`FileError`]; `UnknownKey` when `find` knows no key of that name.
pub fn read(text: &str, find: impl FnOnce(&str) -> Option<PublicKey>) -> Result<Signed, FileError> {
    if text.len() > MAX_LENGTH {
        return Err(FileError::Form);
    }
    let token = UntrustedToken::<Public, V4>::try_from(unarmour(text).as_str()).or(Err(FileError::Form))?;
    let footer: Footer = serde_json::from_slice(token.untrusted_footer()).or(Err(FileError::Form))?;
    let unknown = || FileError::UnknownKey(footer.kid.chars().take(40).collect());
    let key = find(&footer.kid).ok_or_else(unknown)?;
    let trusted = PublicToken::verify(&key, &token, None, Some(ASSERTION)).or(Err(FileError::Signature))?;
    let claims: Claims =
        serde_json::from_str(trusted.payload()).map_err(|error| FileError::Claims(error.to_string()))?;
    Ok(Signed { claims, key_id: footer.kid })
}

/// Signs claims; the licence file.
///
/// # Errors
/// [`SignError`] for a key that can't sign.
pub fn sign(claims: &Claims, key_id: &str, key: &SigningKey) -> Result<String, SignError> {
    let payload = serde_json::to_vec(claims).map_err(|error| SignError::of(&error))?;
    let footer =
        serde_json::to_vec(&Footer { kid: key_id.to_owned() }).map_err(|error| SignError::of(&error))?;
    let token = PublicToken::sign(key, &payload, Some(&footer), Some(ASSERTION))
        .map_err(|error| SignError::of(&error))?;
    Ok(armour(&token))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use heddle_policy::licence::{ANY_INSTALLATION, CLAIMS_VERSION, Kind};

    use super::*;
    use crate::SecretKey;

    fn key(seed: u8) -> SecretKey {
        SecretKey::new("2026a", [seed; 32]).unwrap()
    }

    fn claims() -> Claims {
        let from: heddle_kernel::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        Claims {
            v: CLAIMS_VERSION,
            jti: "lic-1".to_owned(),
            sub: "Acme".to_owned(),
            iat: from,
            nbf: from,
            exp: from.plus_seconds(3600),
            grace_days: 14,
            installation_id: ANY_INSTALLATION.to_owned(),
            kind: Kind::Production,
            entitlements: BTreeMap::from([("workflow.enabled".to_owned(), true)]),
            limits: BTreeMap::from([("users".to_owned(), 5)]),
            supersedes: Vec::new(),
            revoked: Vec::new(),
        }
    }

    fn of(key: &SecretKey) -> impl FnOnce(&str) -> Option<PublicKey> {
        let (id, public) = (key.id().to_owned(), key.public_key().unwrap());
        move |asked: &str| (asked == id).then_some(public)
    }

    #[test]
    fn a_signed_licence_is_read_with_and_without_armour() {
        let text = key(7).sign(&claims()).unwrap();
        assert!(text.starts_with(ARMOUR_BEGIN) && text.lines().all(|line| line.len() <= LINE), "{text}");
        let bare = unarmour(&text);
        for text in [
            text.as_str(),
            &bare,
            &format!("\n Dear customer,\n{text}\nyours\n"),
            &text.replace('\n', "\r\n"),
        ] {
            let signed = Signed { claims: claims(), key_id: "2026a".to_owned() };
            assert_eq!(read(text, of(&key(7))), Ok(signed));
        }
    }

    #[test]
    fn what_was_changed_is_not_a_licence() {
        let bare = unarmour(&key(7).sign(&claims()).unwrap());
        for at in 0..bare.len() {
            let mut changed = bare.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(read(std::str::from_utf8(&changed).unwrap(), of(&key(7))).is_err(), "at {at}");
        }
        for text in ["", "v4.public.", ARMOUR_BEGIN, &"x".repeat(MAX_LENGTH + 1), &bare.replace("v4", "v3")] {
            assert_eq!(read(text, of(&key(7))), Err(FileError::Form), "{text}");
        }
    }

    #[test]
    fn another_key_of_the_same_name_and_an_unknown_name_do_not_count() {
        let text = key(7).sign(&claims()).unwrap();
        assert_eq!(read(&text, of(&key(8))), Err(FileError::Signature));
        assert_eq!(read(&text, |_| None), Err(FileError::UnknownKey("2026a".to_owned())));
    }
}
