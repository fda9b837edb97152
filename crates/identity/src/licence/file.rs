//! The licence file: one PASETO v4.public token (Ed25519) in an armour of lines.

use heddle_policy::licence::{Claims, Signer};
use pasetors::Public;
use pasetors::keys::AsymmetricSecretKey;
use pasetors::token::UntrustedToken;
use pasetors::version4::{PublicToken, V4};
use serde::{Deserialize, Serialize};

use super::keys::{INSTALLATION_KEY_ID, vendor_key};
use crate::UseCaseError;
use crate::key::InstallationKey;

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

/// Reads a licence file, with or without armour, and checks its signature. Nothing else of it is checked.
pub(crate) fn read(text: &str, key: &InstallationKey) -> Result<(Claims, Signer), FileError> {
    if text.len() > MAX_LENGTH {
        return Err(FileError::Form);
    }
    let token = UntrustedToken::<Public, V4>::try_from(unarmour(text).as_str()).or(Err(FileError::Form))?;
    let footer: Footer = serde_json::from_slice(token.untrusted_footer()).or(Err(FileError::Form))?;
    let (public, signer) = if footer.kid == INSTALLATION_KEY_ID {
        (key.verifying().or(Err(FileError::Form))?, Signer::Installation)
    } else {
        let unknown = || FileError::UnknownKey(footer.kid.chars().take(40).collect());
        (vendor_key(&footer.kid).ok_or_else(unknown)?, Signer::Vendor)
    };
    let trusted =
        PublicToken::verify(&public, &token, None, Some(ASSERTION)).or(Err(FileError::Signature))?;
    let claims = serde_json::from_str(trusted.payload());
    Ok((claims.map_err(|error| FileError::Claims(error.to_string()))?, signer))
}

/// Signs claims.
pub(crate) fn sign(
    claims: &Claims,
    key_id: &str,
    key: &AsymmetricSecretKey<V4>,
) -> Result<String, UseCaseError> {
    let fault = |error: &dyn std::fmt::Display| UseCaseError::Internal(format!("signing: {error}"));
    let payload = serde_json::to_vec(claims).map_err(|error| fault(&error))?;
    let footer = serde_json::to_vec(&Footer { kid: key_id.to_owned() }).map_err(|error| fault(&error))?;
    let token =
        PublicToken::sign(key, &payload, Some(&footer), Some(ASSERTION)).map_err(|error| fault(&error))?;
    Ok(armour(&token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::licence::testing;

    fn key() -> InstallationKey {
        InstallationKey::new([7; 32]).unwrap()
    }

    #[test]
    fn a_signed_licence_is_read_with_and_without_armour() {
        let claims = testing::claims("2026-01-01T00:00:00Z".parse().unwrap());
        let text = testing::issue(&claims);
        assert!(text.starts_with(ARMOUR_BEGIN) && text.lines().all(|line| line.len() <= LINE), "{text}");
        let bare = unarmour(&text);
        for text in [
            text.as_str(),
            &bare,
            &format!("\n Dear customer,\n{text}\nyours\n"),
            &text.replace('\n', "\r\n"),
        ] {
            assert_eq!(read(text, &key()), Ok((claims.clone(), Signer::Vendor)));
        }
    }

    #[test]
    fn what_was_changed_is_not_a_licence() {
        let claims = testing::claims("2026-01-01T00:00:00Z".parse().unwrap());
        let bare = unarmour(&testing::issue(&claims));
        for at in (10..bare.len()).step_by(7) {
            let mut changed = bare.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(read(std::str::from_utf8(&changed).unwrap(), &key()).is_err(), "at {at}");
        }
        for text in ["", "v4.public.", ARMOUR_BEGIN, &"x".repeat(MAX_LENGTH + 1), &bare.replace("v4", "v3")] {
            assert_eq!(read(text, &key()), Err(FileError::Form), "{text}");
        }
    }

    #[test]
    fn a_key_of_another_kind_or_name_does_not_count() {
        let claims = testing::claims("2026-01-01T00:00:00Z".parse().unwrap());
        let own = sign(&claims, INSTALLATION_KEY_ID, &key().signing().unwrap()).unwrap();
        assert_eq!(read(&own, &key()).unwrap().1, Signer::Installation);
        assert_eq!(read(&own, &InstallationKey::new([8; 32]).unwrap()), Err(FileError::Signature));
        let posing = sign(&claims, testing::KEY_ID, &key().signing().unwrap()).unwrap();
        assert_eq!(read(&posing, &key()), Err(FileError::Signature));
        let unknown = sign(&claims, "nobody", &key().signing().unwrap()).unwrap();
        assert_eq!(read(&unknown, &key()), Err(FileError::UnknownKey("nobody".to_owned())));
    }
}
